// A scatter of points to move through: camera, gestures, and the layer of names and marks above the points.
//
// Events, with what they are about in `detail`: "hover" and "pick" (a point or null), "lasso" (points, and whether they
// replace, join or leave the selection), "move" (after the camera has moved).
import { Grid, bounds, inside } from "./grid.js";
import { NAME_FONT, placeNames } from "./names.js";
import { SHAPES, createPainter } from "./painter.js";
import { THEMES } from "./theme.js";

const REACH = 14; // pixels, the largest distance from the pointer to its point
const CLICK = 4; // pixels that a pointer may move and still click
const MARGIN = 28; // pixels around all points
const ZOOMS = [0.2, 20000]; // least and most, 1 shows all points
const FADED = 0.1; // opacity of points that are not lit
const FEW = 200; // lit points, up to which each is at least LARGE pixels wide
const LARGE = 9;
const FRAME = 40; // milliseconds that a frame may take while the map moves
const CALM = 160; // milliseconds without a move, after which all points are drawn
const STAR = 9; // pixels from the middle of a star to its tips

export class Scatter extends EventTarget {
  constructor(host) {
    super();
    this.canvas = host.appendChild(document.createElement("canvas"));
    this.overlay = host.appendChild(document.createElement("canvas"));
    this.painter = createPainter(this.canvas);
    this.canvas.addEventListener("restored", () => this.redraw());
    this.pen = this.overlay.getContext("2d");
    this.camera = { center: [0, 0], scale: [1, 1], width: 1, height: 1, ratio: 1, grow: 1 };
    this.home = { center: [0, 0], scale: [1, 1] };
    this.isHome = true;
    this.theme = THEMES.light;
    this.tool = "move"; // or "lasso" or "box"
    this.marks = { names: [], stars: [], spokes: [], isStrip: false };
    this.focus = null; // the point with a ring around it
    this.path = []; // of a lasso that is being drawn
    this.counts = { crowd: 0, front: 0, lit: null };
    this.share = 1; // of the crowd, drawn while the map moves
    this.position = new Float32Array(0);
    this.answering = new Uint8Array(0); // which points can be picked and selected
    this.listen();
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  // Typed arrays for the painter; those left out stay as they are.
  set(arrays) {
    this.painter.set(arrays);
    if ("position" in arrays) {
      this.position = arrays.position;
      this.grid = null;
      this.findHome();
    }
    this.redraw();
  }

  // Which points are drawn, those in front of the others, those that answer to the pointer, and those lit; all masks,
  // the last null if no point is singled out. The crowd is shuffled, so that no class covers another by its rows and
  // so that a part of it shows the whole.
  show(visible, front, answering, lit) {
    const n = visible.length;
    const step = coprime(n);
    const lists = { crowd: new Uint32Array(n), front: new Uint32Array(n), lit: new Uint32Array(lit === null ? 0 : n) };
    const counts = { crowd: 0, front: 0, lit: 0 };
    for (let k = 0, i = 0; k < n; k++, i = (i + step) % n) {
      if (!visible[i]) continue;
      const name = front[i] ? "front" : "crowd";
      lists[name][counts[name]++] = i;
      if (lit !== null && lit[i]) lists.lit[counts.lit++] = i;
    }
    for (const name of Object.keys(lists)) this.painter.order(name, lists[name].subarray(0, counts[name]));
    this.counts = { ...counts, lit: lit === null ? null : counts.lit };
    this.answering = answering;
    this.redraw();
  }

  // ---- camera

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    const ratio = Math.min(devicePixelRatio, 2);
    Object.assign(this.camera, { width: Math.max(1, width), height: Math.max(1, height), ratio });
    for (const canvas of [this.canvas, this.overlay]) {
      canvas.width = Math.round(this.camera.width * ratio);
      canvas.height = Math.round(this.camera.height * ratio);
    }
    this.findHome();
    this.frame(); // at once: a resized canvas is empty
  }

  // The camera that shows all points, and what it was if it showed them.
  findHome() {
    this.home = this.framing(bounds(this.position));
    if (this.isHome) Object.assign(this.camera, this.home);
    this.redraw();
  }

  framing([low, high]) {
    const { width, height } = this.camera;
    const left = this.marks.isStrip ? Math.min(width / 3, 16 + Math.max(0, ...this.marks.names.map((one) => one.width))) : 0;
    const spans = [high[0] - low[0] || 1, high[1] - low[1] || 1];
    let scale = [Math.max(50, width - 2 * MARGIN - left) / spans[0], Math.max(50, height - 2 * MARGIN) / spans[1]];
    if (!this.marks.isStretched) scale = scale.fill(Math.min(...scale));
    return { center: [(low[0] + high[0]) / 2 - left / 2 / scale[0], (low[1] + high[1]) / 2], scale };
  }

  place(x, y) {
    const { center, scale, width, height } = this.camera;
    return [(x - center[0]) * scale[0] + width / 2, height / 2 - (y - center[1]) * scale[1]];
  }

  placeOf(i) {
    return this.place(this.position[2 * i], this.position[2 * i + 1]);
  }

  dataAt(left, top) {
    const { center, scale, width, height } = this.camera;
    return [center[0] + (left - width / 2) / scale[0], center[1] + (height / 2 - top) / scale[1]];
  }

  move(camera) {
    const zoom = camera.scale[0] / this.home.scale[0];
    const bounded = Math.max(ZOOMS[0], Math.min(ZOOMS[1], zoom));
    camera.scale = camera.scale.map((scale) => (scale * bounded) / zoom);
    Object.assign(this.camera, camera);
    this.isHome = false;
    this.movedAt = performance.now();
    clearTimeout(this.calming);
    this.calming = setTimeout(() => this.redraw(), CALM);
    this.redraw();
    this.tell("move");
  }

  pan(right, down) {
    const { center, scale } = this.camera;
    this.move({ center: [center[0] - right / scale[0], center[1] + down / scale[1]], scale });
  }

  // Zoom with the data at this place of the screen standing still.
  zoom(factor, left = this.camera.width / 2, top = this.camera.height / 2) {
    const [x, y] = this.dataAt(left, top);
    const scale = this.camera.scale.map((one) => one * factor);
    const { width, height } = this.camera;
    this.move({ center: [x - (left - width / 2) / scale[0], y - (height / 2 - top) / scale[1]], scale });
  }

  // Show all points, or some of them.
  fit(index = null) {
    if (index === null) {
      this.glide(this.home, () => (this.isHome = true));
    } else {
      const { center, scale } = this.framing(bounds(this.position, index));
      const most = this.home.scale.map((one) => 12 * one); // so that one point keeps its surroundings
      this.glide({ center, scale: scale.map((one, k) => Math.min(one, most[k])) });
    }
  }

  // Move the camera in a fifth of a second, at once if the user prefers less motion.
  glide(target, end = () => {}) {
    const from = { center: [...this.camera.center], scale: [...this.camera.scale] };
    const start = performance.now();
    const duration = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 220;
    cancelAnimationFrame(this.gliding);
    const step = () => {
      const time = duration === 0 ? 1 : Math.min(1, (performance.now() - start) / duration);
      const share = 1 - (1 - time) ** 3;
      const scale = from.scale.map((one, k) => one * (target.scale[k] / one) ** share);
      this.move({ center: from.center.map((one, k) => one + share * (target.center[k] - one)), scale });
      if (time < 1) this.gliding = requestAnimationFrame(step);
      else end();
    };
    step();
  }

  // Bring a point into sight, if it is not.
  bring(i) {
    const [left, top] = this.placeOf(i);
    const { width, height, scale } = this.camera;
    if (left > MARGIN && left < width - MARGIN && top > MARGIN && top < height - MARGIN) return;
    this.glide({ center: [this.position[2 * i], this.position[2 * i + 1]], scale });
  }

  // ---- gestures

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  nearest(left, top) {
    if (this.position.length === 0) return null;
    this.grid ??= new Grid(this.position);
    return this.grid.nearest(...this.dataAt(left, top), this.camera.scale, REACH, this.answering);
  }

  // The points that answer within a path over the screen.
  within(path) {
    return inside(path.flatMap(([left, top]) => this.dataAt(left, top)), this.position, this.answering);
  }

  inSight() {
    const { width, height } = this.camera;
    return this.within([[0, 0], [width, 0], [width, height], [0, height]]);
  }

  listen() {
    const { overlay } = this;
    const fingers = new Map(); // pointers that are down, by their place
    let hasMoved = false;
    overlay.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      cancelAnimationFrame(this.gliding);
      overlay.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
      hasMoved = fingers.size > 1;
      const draws = fingers.size === 1 && (this.tool !== "move" || event.shiftKey);
      this.path = draws ? [[event.offsetX, event.offsetY]] : [];
    });
    overlay.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      const now = [event.offsetX, event.offsetY];
      if (before === undefined) {
        if (event.pointerType === "mouse") this.tell("hover", this.nearest(...now));
        return;
      }
      if (!hasMoved && distance(before, now) < CLICK) return;
      if (!hasMoved) this.tell("hover", null);
      hasMoved = true;
      if (fingers.size === 2) this.pinch(fingers, event.pointerId, now);
      else if (this.path.length > 0) this.extend(now);
      else this.pan(now[0] - before[0], now[1] - before[1]);
      fingers.set(event.pointerId, now);
    });
    const release = (event) => {
      if (!fingers.delete(event.pointerId)) return;
      const { path } = this;
      this.path = [];
      this.redraw();
      if (event.type === "pointercancel") return;
      if (!hasMoved) this.tell("pick", this.nearest(event.offsetX, event.offsetY));
      else if (path.length > 2) {
        this.tell("lasso", { rows: this.within(path), mode: event.altKey ? "remove" : event.shiftKey ? "add" : "replace" });
      }
    };
    overlay.addEventListener("pointerup", release);
    overlay.addEventListener("pointercancel", release);
    overlay.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.tell("hover", null));
    overlay.addEventListener("dblclick", (event) => this.zoom(2, event.offsetX, event.offsetY));
    overlay.addEventListener("wheel", (event) => {
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
      this.zoom(Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0015)), event.offsetX, event.offsetY);
    }, { passive: false });
  }

  pinch(fingers, moved, now) {
    const [[, other]] = [...fingers].filter(([id]) => id !== moved);
    const before = fingers.get(moved);
    this.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    const factor = distance(now, other) / Math.max(1, distance(before, other));
    this.zoom(factor, (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  extend(now) {
    const [start] = this.path;
    if (this.tool === "box") this.path = [start, [now[0], start[1]], now, [start[0], now[1]]];
    else this.path.push(now);
    this.redraw();
  }

  // ---- drawing

  redraw() {
    this.pending ??= requestAnimationFrame(() => this.frame());
  }

  frame() {
    cancelAnimationFrame(this.pending);
    this.pending = null;
    const start = performance.now();
    const isMoving = start - this.movedAt < CALM - 10;
    const { crowd, front, lit } = this.counts;
    const fade = lit === null ? 1 : FADED;
    const zoom = this.camera.scale[0] / this.home.scale[0];
    this.camera.grow = Math.max(0.7, Math.min(zoom ** 0.4, 6));
    const layers = [
      { name: "crowd", count: isMoving ? Math.ceil(this.share * crowd) : crowd, fade, least: 0 },
      { name: "front", count: front, fade, least: 0 },
      { name: "lit", count: lit ?? 0, fade: 1, least: lit <= FEW ? LARGE : 0 },
    ].filter(({ count }) => count > 0);
    this.painter.draw(this.camera, layers, this.theme);
    this.drawMarks();
    if (!isMoving) return;
    // The browser asks for the next frame when this one is painted.
    requestAnimationFrame(() => {
      const spent = performance.now() - start;
      this.share = Math.max(0.02, Math.min(1, spent < FRAME / 2 ? 1.5 * this.share : (this.share * FRAME) / spent));
    });
  }

  drawMarks() {
    const { pen, camera, theme, marks } = this;
    pen.setTransform(camera.ratio, 0, 0, camera.ratio, 0, 0);
    pen.clearRect(0, 0, camera.width, camera.height);
    pen.lineJoin = "round";
    pen.globalAlpha = 0.18;
    pen.strokeStyle = `rgb(${theme.ink})`;
    pen.lineWidth = 1;
    const middle = marks.middle === undefined ? null : this.place(...marks.middle);
    for (const end of marks.spokes) this.stroke([middle, this.place(...end)]);
    pen.globalAlpha = this.counts.lit === null ? 1 : 0.35;
    const taken = marks.stars.map((star) => this.drawStar(star));
    this.drawNames(taken);
    pen.globalAlpha = 1;
    if (this.focus !== null) this.drawFocus(...this.placeOf(this.focus));
    if (this.path.length > 1) {
      pen.strokeStyle = `rgb(${theme.ink})`;
      pen.fillStyle = `rgba(${theme.ink}, 0.07)`;
      pen.lineWidth = 1.5;
      pen.setLineDash([5, 4]);
      this.stroke([...this.path, this.path[0]]);
      pen.fill();
      pen.setLineDash([]);
    }
  }

  stroke(path) {
    this.pen.beginPath();
    for (const [left, top] of path) this.pen.lineTo(left, top);
    this.pen.stroke();
  }

  drawStar({ x, y, color }) {
    const { pen, theme } = this;
    const [left, top] = this.place(x, y);
    pen.save();
    pen.translate(left, top);
    pen.scale(STAR, STAR);
    const star = new Path2D(SHAPES["*"]);
    for (const [ink, width] of [[theme.ground, 0.75], [theme.ink, 0.35]]) {
      pen.strokeStyle = `rgb(${ink})`;
      pen.lineWidth = width;
      pen.stroke(star);
    }
    pen.fillStyle = `rgb(${color})`;
    pen.fill(star);
    pen.restore();
    return [left - STAR, top - STAR, left + STAR, top + STAR];
  }

  // Names are { text, x, y, color, width }; those of a strip stand at the left of their rows.
  drawNames(taken) {
    const { pen, camera, theme, marks } = this;
    const names = marks.names.map((one) => {
      const [left, top] = this.place(one.x, one.y);
      return marks.isStrip ? { ...one, x: 8 + one.width / 2, y: top + 18 } : { ...one, x: left, y: top };
    });
    pen.font = NAME_FONT;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.strokeStyle = `rgba(${theme.ground}, 0.88)`;
    pen.lineWidth = 4;
    this.written = placeNames(names, camera.width, camera.height, taken);
    this.written.forEach((box, k) => {
      if (box === null) return;
      pen.fillStyle = `rgb(${names[k].color})`;
      pen.strokeText(names[k].text, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2);
      pen.fillText(names[k].text, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2);
    });
  }

  drawFocus(left, top) {
    const { pen, theme } = this;
    for (const [color, width] of [[theme.ground, 5], [theme.ink, 2]]) {
      pen.strokeStyle = `rgb(${color})`;
      pen.lineWidth = width;
      pen.beginPath();
      pen.arc(left, top, 10, 0, 2 * Math.PI);
      pen.stroke();
    }
  }

  // A canvas with the picture as it is on the screen, all points drawn.
  picture() {
    this.movedAt = -Infinity;
    this.frame();
    const copy = document.createElement("canvas");
    Object.assign(copy, { width: this.canvas.width, height: this.canvas.height });
    for (const layer of [this.canvas, this.overlay]) copy.getContext("2d").drawImage(layer, 0, 0);
    return copy;
  }
}

const distance = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]);

// A step near the golden ratio of n that visits every one of n places.
function coprime(n) {
  const divisor = (a, b) => (b === 0 ? a : divisor(b, a % b));
  let step = Math.max(1, Math.round(0.618 * n));
  while (divisor(n, step) > 1) step++;
  return step;
}

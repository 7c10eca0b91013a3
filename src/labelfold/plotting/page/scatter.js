// A scatter of points to move through: gestures, layers of points, and the layer of names and marks above them.
//
// Events, with what they are about in `detail`: "hover" and "pick" (a point or null), "lasso" (rows, and whether they
// replace, join or leave the selection), "move" (the camera has moved).
import { Camera } from "./camera.js";
import { Grid, bounds, inside } from "./grid.js";
import { NAME_FONT, placeNames } from "./names.js";
import { SHAPES, createPainter } from "./painter.js";

const REACH = 14; // pixels, the largest distance from the pointer to its point
const CLICK = 4; // pixels that a pointer may move and still click
const NEAR = 12; // zoom up to which some points are shown, so that one keeps its surroundings
const FEW = 200; // lit points, up to which each is at least LARGE pixels wide
const LARGE = 9;
const FRAME = 40; // milliseconds that a frame may take while the map moves
const CALM = 160; // milliseconds without a move, after which all points are drawn
const GLIDE = 220; // milliseconds to move to another place
const STAR = 9; // pixels from the middle of a star to its tips

const distance = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]);

export class Scatter extends EventTarget {
  constructor(host) {
    super();
    [this.overlay, this.canvas] = [0, 1].map(() => document.createElement("canvas"));
    host.prepend(this.canvas, this.overlay);
    this.canvas.addEventListener("restored", () => this.redraw());
    this.painter = createPainter(this.canvas);
    this.pen = this.overlay.getContext("2d");
    this.camera = new Camera();
    this.theme = { ground: [255, 255, 255], ink: [0, 0, 0] };
    this.marks = { names: [], stars: [], spokes: [], middle: [0, 0] };
    this.tool = "move"; // or "lasso" or "box"
    this.focus = null; // the point with a ring around it
    this.path = []; // of a lasso that is being drawn
    this.counts = { crowd: 0, front: 0, lit: null };
    this.share = 1; // of the crowd, drawn while the map moves
    this.position = new Float32Array(0);
    this.answering = new Uint8Array(0); // which points can be picked and selected
    this.listen();
    this.resize();
    new ResizeObserver(() => this.resize()).observe(host);
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

  // Masks of points: those drawn, those in front of the others, those that answer to the pointer, and those lit, null
  // if none is singled out. The crowd is shuffled, so that no class covers another by its rows, and so that a part of
  // it shows the whole.
  show(visible, front, answering, lit) {
    const n = visible.length;
    const lists = { crowd: new Uint32Array(n), front: new Uint32Array(n), lit: new Uint32Array(n) };
    const counts = { crowd: 0, front: 0, lit: 0 };
    for (let k = 0, i = 0, step = coprime(n); k < n; k++, i = (i + step) % n) {
      if (!visible[i]) continue;
      const name = front[i] ? "front" : "crowd";
      lists[name][counts[name]++] = i;
      if (lit?.[i]) lists.lit[counts.lit++] = i;
    }
    for (const [name, list] of Object.entries(lists)) this.painter.order(name, list.subarray(0, counts[name]));
    this.counts = { ...counts, lit: lit === null ? null : counts.lit };
    this.answering = answering;
    this.redraw();
  }

  // ---- camera

  resize() {
    const { clientWidth, clientHeight } = this.canvas.parentElement;
    const { camera } = this;
    camera.ratio = Math.min(devicePixelRatio, 2);
    [camera.width, camera.height] = [Math.max(1, clientWidth), Math.max(1, clientHeight)];
    for (const canvas of [this.canvas, this.overlay]) {
      [canvas.width, canvas.height] = [camera.width, camera.height].map((side) => Math.round(side * camera.ratio));
    }
    this.findHome();
    this.frame(); // at once, since a resized canvas is empty
  }

  findHome() {
    const { camera } = this;
    camera.home = camera.framing(bounds(this.position), this.marks.isStretched);
    if (camera.isHome) Object.assign(camera, camera.home);
    this.redraw();
  }

  move(view) {
    this.camera.look(view);
    this.movedAt = performance.now();
    clearTimeout(this.calming);
    this.calming = setTimeout(() => this.redraw(), CALM);
    this.redraw();
    this.tell("move");
  }

  // Move with time to see where to, or at once if the user prefers less motion.
  glide(view, end = () => {}) {
    const { center, scale } = this.camera;
    const start = performance.now();
    const isQuick = matchMedia("(prefers-reduced-motion: reduce)").matches;
    cancelAnimationFrame(this.gliding);
    const step = () => {
      const time = isQuick ? 1 : Math.min(1, (performance.now() - start) / GLIDE);
      const share = 1 - (1 - time) ** 3;
      this.move({
        center: center.map((one, k) => one + share * (view.center[k] - one)),
        scale: scale.map((one, k) => one * (view.scale[k] / one) ** share),
      });
      if (time < 1) this.gliding = requestAnimationFrame(step);
      else end();
    };
    step();
  }

  // Show all points, or some of them.
  fit(rows = null) {
    const { camera } = this;
    if (rows === null) return this.glide(camera.home, () => (camera.isHome = true));
    const { center, scale } = camera.framing(bounds(this.position, rows), this.marks.isStretched);
    this.glide({ center, scale: scale.map((one, k) => Math.min(one, NEAR * camera.home.scale[k])) });
  }

  placeOf(i) {
    return this.camera.place(this.position[2 * i], this.position[2 * i + 1]);
  }

  // Bring a point into sight, if it is not.
  bring(i) {
    const center = [this.position[2 * i], this.position[2 * i + 1]];
    if (!this.camera.sees(...this.placeOf(i))) this.glide({ center, scale: this.camera.scale });
  }

  // ---- gestures

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  nearest(left, top) {
    this.grid ??= new Grid(this.position);
    return this.grid.nearest(...this.camera.dataAt(left, top), this.camera.scale, REACH, this.answering);
  }

  // The points that answer within a path over the screen, or anywhere on it.
  within(path) {
    const polygon = path.flatMap(([left, top]) => this.camera.dataAt(left, top));
    return inside(polygon, this.position, this.answering);
  }

  inSight() {
    const { width, height } = this.camera;
    return this.within([[0, 0], [width, 0], [width, height], [0, height]]);
  }

  listen() {
    const { overlay, camera } = this;
    const fingers = new Map(); // places of pointers that are down
    let hasMoved = false;
    const on = (type, act) =>
      overlay.addEventListener(type, (event) => act(event, [event.offsetX, event.offsetY]), { passive: false });
    on("pointerdown", (event, now) => {
      if (event.button !== 0) return;
      cancelAnimationFrame(this.gliding);
      overlay.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, now);
      hasMoved = fingers.size > 1;
      this.path = !hasMoved && (this.tool !== "move" || event.shiftKey) ? [now] : [];
    });
    on("pointermove", (event, now) => {
      const before = fingers.get(event.pointerId);
      if (before === undefined) {
        if (event.pointerType === "mouse") this.tell("hover", this.nearest(...now));
        return;
      }
      if (!hasMoved && distance(before, now) < CLICK) return;
      hasMoved = true;
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      if (other !== undefined) {
        const [left, top] = [0, 1].map((k) => (now[k] + other[k]) / 2);
        this.move(camera.panned((now[0] - before[0]) / 2, (now[1] - before[1]) / 2));
        this.move(camera.zoomed(distance(now, other) / Math.max(1, distance(before, other)), left, top));
      } else if (this.path.length > 0) this.extend(now);
      else this.move(camera.panned(now[0] - before[0], now[1] - before[1]));
      fingers.set(event.pointerId, now);
    });
    const release = (event, now) => {
      if (!fingers.delete(event.pointerId)) return;
      const { path } = this;
      this.path = [];
      this.redraw();
      if (event.type === "pointercancel") return;
      const mode = event.altKey ? "remove" : event.shiftKey ? "add" : "replace";
      if (!hasMoved) this.tell("pick", this.nearest(...now));
      else if (path.length > 2) this.tell("lasso", { rows: this.within(path), mode });
    };
    on("pointerup", release);
    on("pointercancel", release);
    on("pointerleave", (event) => event.pointerType === "mouse" && this.tell("hover", null));
    on("dblclick", (_, now) => this.glide(camera.zoomed(2, ...now)));
    on("wheel", (event, now) => {
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
      this.move(camera.zoomed(Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0015)), ...now));
    });
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
    const isPale = lit !== null;
    const layers = [
      { name: "crowd", count: isMoving ? Math.ceil(this.share * crowd) : crowd, isPale, least: 0 },
      { name: "front", count: front, isPale, least: 0 },
      { name: "lit", count: lit ?? 0, isPale: false, least: lit <= FEW ? LARGE : 0 },
    ];
    this.camera.grow = Math.max(0.7, Math.min(this.camera.zoom ** 0.4, 6)); // points grow slower than gaps
    this.painter.draw(this.camera, layers.filter(({ count }) => count > 0), this.theme);
    this.drawMarks();
    if (!isMoving) return;
    // The browser asks for the next frame when this one is painted.
    requestAnimationFrame(() => {
      const spent = performance.now() - start;
      const share = this.share * (spent < FRAME / 2 ? 1.5 : FRAME / spent);
      this.share = Math.max(0.02, Math.min(1, share));
    });
  }

  drawMarks() {
    const { pen, camera, theme: { ink, ground }, marks } = this;
    pen.setTransform(camera.ratio, 0, 0, camera.ratio, 0, 0);
    pen.clearRect(0, 0, camera.width, camera.height);
    pen.lineJoin = "round";
    pen.globalAlpha = 0.18;
    const middle = camera.place(...marks.middle);
    for (const end of marks.spokes) this.outline(polyline([middle, camera.place(...end)]), ink, 1);
    pen.globalAlpha = this.counts.lit === null ? 1 : 0.35;
    this.drawNames(marks.stars.map((star) => this.drawStar(star)));
    pen.globalAlpha = 1;
    if (this.focus !== null) {
      const ring = new Path2D();
      ring.arc(...this.placeOf(this.focus), 10, 0, 2 * Math.PI);
      this.outline(ring, ground, 5);
      this.outline(ring, ink, 2);
    }
    if (this.path.length > 1) {
      const lasso = polyline([...this.path, this.path[0]]);
      pen.setLineDash([5, 4]);
      this.outline(lasso, ink, 1.5);
      pen.setLineDash([]);
      pen.fillStyle = `rgba(${ink}, 0.07)`;
      pen.fill(lasso);
    }
  }

  outline(path, color, width) {
    Object.assign(this.pen, { strokeStyle: `rgb(${color})`, lineWidth: width });
    this.pen.stroke(path);
  }

  // Draws a star and returns its box.
  drawStar({ place, color }) {
    const { pen, theme } = this;
    const [left, top] = this.camera.place(...place);
    const star = new Path2D();
    star.addPath(new Path2D(SHAPES["*"]), new DOMMatrix([STAR, 0, 0, STAR, left, top]));
    this.outline(star, theme.ground, 6);
    this.outline(star, theme.ink, 3);
    pen.fillStyle = `rgb(${color})`;
    pen.fill(star);
    return [left - STAR, top - STAR, left + STAR, top + STAR];
  }

  // Names are { text, place, color, width }; those of a strip stay at the left of their rows.
  drawNames(taken) {
    const { pen, camera, theme, marks } = this;
    const names = marks.names.map((name) => {
      const [left, top] = camera.place(...name.place);
      return { ...name, x: marks.isStrip ? 8 + name.width / 2 : left, y: top };
    });
    Object.assign(pen, { font: NAME_FONT, textAlign: "center", textBaseline: "middle", lineWidth: 4 });
    pen.strokeStyle = `rgba(${theme.ground}, 0.88)`;
    this.written = placeNames(names, camera.width, camera.height, taken);
    this.written.forEach((box, k) => {
      if (box === null) return;
      const middle = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
      pen.fillStyle = `rgb(${names[k].color})`;
      pen.strokeText(names[k].text, ...middle);
      pen.fillText(names[k].text, ...middle);
    });
  }
}

function polyline(places) {
  const path = new Path2D();
  for (const place of places) path.lineTo(...place);
  return path;
}

// A step near the golden ratio of n that visits each of n places once.
function coprime(n) {
  const divisor = (a, b) => (b === 0 ? a : divisor(b, a % b));
  let step = Math.max(1, Math.round(0.618 * n));
  while (divisor(n, step) > 1) step++;
  return step;
}

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
const [FEW, LARGE] = [200, 9]; // so many lit points are at least so many pixels wide
const MANY = 100000; // points, above which those that hide each other are left out:
const [CELL, PER_CELL] = [2, 2]; // in a cell of so many pixels, so many points are drawn
const GLIDE = 220; // milliseconds to move to another place
const STAR = 9; // pixels from the middle of a star to its tips
const lessMotion = matchMedia("(prefers-reduced-motion: reduce)");

const polyline = (places) => new Path2D(`M${places.join("L")}`);
const distance = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]);

export class Scatter extends EventTarget {
  constructor(host) {
    super();
    [this.overlay, this.canvas] = [0, 1].map(() => document.createElement("canvas"));
    host.prepend(this.canvas, this.overlay);
    this.painter = createPainter(this.canvas, () => this.redraw());
    this.pen = this.overlay.getContext("2d");
    this.camera = new Camera();
    this.theme = { ground: [255, 255, 255], ink: [0, 0, 0] };
    this.marks = { names: [], stars: [], spokes: [], middle: [0, 0] };
    this.tool = "move"; // or "lasso" or "box"
    this.focus = null; // the point with a ring around it
    this.path = []; // of a lasso that is being drawn
    this.position = new Float32Array(0);
    this.order = []; // rows that are drawn, those on top last
    this.nLit = null; // rows that are singled out
    this.listen();
    this.resize();
    new ResizeObserver(() => this.resize()).observe(host);
  }

  // Typed arrays for the painter; those left out stay as they are.
  set(arrays) {
    this.painter.set(arrays);
    if ("position" in arrays) {
      Object.assign(this, { position: arrays.position, grid: null });
      this.findHome();
    }
    this.redraw();
  }

  // Masks of points: those drawn, those in front of the others, those that answer to the pointer, and those lit, null
  // if none is singled out. The order is shuffled, so that no class covers another by its rows.
  show(visible, front, answering, lit) {
    const n = visible.length;
    const [order, litOrder, step] = [new Uint32Array(n), new Uint32Array(n), coprime(n)];
    let [count, nLit] = [0, 0];
    this.ordered = new Float32Array(2 * n); // positions in this order, which is quicker to read
    for (const isFront of [0, 1]) {
      for (let k = 0, i = 0; k < n; k++, i = (i + step) % n) {
        if (!visible[i] || front[i] !== isFront) continue;
        this.ordered[2 * count] = this.position[2 * i];
        this.ordered[2 * count + 1] = this.position[2 * i + 1];
        order[count++] = i;
        if (lit?.[i]) litOrder[nLit++] = i;
      }
    }
    Object.assign(this, { order: order.subarray(0, count), nLit: lit === null ? null : nLit, answering });
    this.painter.order("all", this.order);
    this.painter.order("lit", litOrder.subarray(0, nLit));
    this.redraw();
  }

  // Of many points, leave out those under others; returns how many are drawn.
  thin() {
    const { camera: { center, scale, width, height }, order, ordered } = this;
    const [columns, rows] = [Math.ceil(width / CELL), Math.ceil(height / CELL)];
    const counts = new Uint8Array(columns * rows);
    const kept = new Uint32Array(order.length);
    let start = order.length;
    for (let k = order.length - 1; k >= 0; k--) {
      const column = Math.floor(((ordered[2 * k] - center[0]) * scale[0] + width / 2) / CELL);
      const row = Math.floor((height / 2 - (ordered[2 * k + 1] - center[1]) * scale[1]) / CELL);
      const cell = row * columns + column;
      if (column < 0 || column >= columns || row < 0 || row >= rows || counts[cell] === PER_CELL) continue;
      counts[cell]++;
      kept[--start] = order[k];
    }
    this.painter.order("all", kept.subarray(start));
    return order.length - start;
  }

  // ---- camera

  resize() {
    const { clientWidth, clientHeight } = this.canvas.parentElement;
    const [width, height, ratio] = [Math.max(1, clientWidth), Math.max(1, clientHeight), Math.min(devicePixelRatio, 2)];
    Object.assign(this.camera, { width, height, ratio });
    const size = { width: width * ratio, height: height * ratio };
    for (const canvas of [this.canvas, this.overlay]) Object.assign(canvas, size);
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
    this.redraw();
    this.tell("move");
  }

  // Move with time to see where to, or at once if the user prefers less motion.
  glide(view, start = performance.now(), from = { ...this.camera }) {
    const time = lessMotion.matches ? 1 : Math.min(1, (performance.now() - start) / GLIDE);
    const share = 1 - (1 - time) ** 3;
    const center = from.center.map((one, k) => one + share * (view.center[k] - one));
    this.move({ center, scale: from.scale.map((one, k) => one * (view.scale[k] / one) ** share) });
    this.camera.isHome = view === this.camera.home;
    cancelAnimationFrame(this.gliding);
    if (time < 1) this.gliding = requestAnimationFrame(() => this.glide(view, start, from));
  }

  // Show all points, or some of them.
  fit(rows = null) {
    const { camera } = this;
    if (rows === null) return this.glide(camera.home);
    const { center, scale } = camera.framing(bounds(this.position, rows), this.marks.isStretched);
    this.glide({ center, scale: scale.map((one, k) => Math.min(one, NEAR * camera.home.scale[k])) });
  }

  placeOf(i) { return this.camera.place(this.position[2 * i], this.position[2 * i + 1]); }

  // Bring a point into sight, if it is not.
  bring(i) {
    const center = [this.position[2 * i], this.position[2 * i + 1]];
    if (!this.camera.sees(...this.placeOf(i))) this.glide({ center, scale: this.camera.scale });
  }

  // ---- gestures

  tell(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }

  nearest(left, top) {
    this.grid ??= new Grid(this.position);
    return this.grid.nearest(...this.camera.dataAt(left, top), this.camera.scale, REACH, this.answering);
  }

  // The points that answer within a path over the screen, or anywhere on it.
  within(path = this.camera.corners) {
    return inside(path.flatMap((place) => this.camera.dataAt(...place)), this.position, this.answering);
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
      } else if (this.path.length > 0) {
        const [start] = this.path;
        this.path = this.tool === "box" ? [start, [now[0], start[1]], now, [start[0], now[1]]] : [...this.path, now];
        this.redraw();
      } else this.move(camera.panned(now[0] - before[0], now[1] - before[1]));
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

  // ---- drawing

  redraw() { this.pending ??= requestAnimationFrame(() => this.frame()); }

  frame() {
    cancelAnimationFrame(this.pending);
    this.pending = null;
    const count = this.order.length > MANY ? this.thin() : this.order.length;
    const layers = [
      { name: "all", count, isPale: this.nLit !== null, least: 0 },
      { name: "lit", count: this.nLit ?? 0, isPale: false, least: this.nLit <= FEW ? LARGE : 0 },
    ];
    this.camera.grow = Math.max(0.7, Math.min(this.camera.zoom ** 0.4, 6)); // points grow slower than gaps
    this.painter.draw(this.camera, layers.filter(({ count }) => count > 0), this.theme);
    this.drawMarks();
  }

  drawMarks() {
    const { pen, camera, theme: { ink, ground }, marks } = this;
    pen.setTransform(camera.ratio, 0, 0, camera.ratio, 0, 0);
    pen.clearRect(0, 0, camera.width, camera.height);
    pen.lineJoin = "round";
    pen.globalAlpha = 0.18;
    const middle = camera.place(...marks.middle);
    for (const end of marks.spokes) this.outline(polyline([middle, camera.place(...end)]), ink, 1);
    pen.globalAlpha = this.nLit === null ? 1 : 0.35;
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
      this.outline(lasso, ink, 1.5);
      pen.fillStyle = `rgba(${ink}, 0.07)`;
      pen.fill(lasso);
    }
  }

  outline(path, color, width) {
    Object.assign(this.pen, { strokeStyle: `rgb(${color})`, lineWidth: width }).stroke(path);
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

// A step near the golden ratio of n that visits each of n places once.
function coprime(n) {
  const divisor = (a, b) => (b === 0 ? a : divisor(b, a % b));
  for (let step = Math.max(1, Math.round(0.618 * n)); ; step++) if (divisor(n, step) === 1) return step;
}

// The viewer: a map with legend, search, details, selection and keyboard, in an element that holds viewer.html.
//
// Data are what labelfold.plotting.interactive_map.map_data describes. A page that learns calls `update` with what has
// changed, and may set `image`, a function from a row to an element for its card. Events: "select", when `selection`
// has changed, and "pick", when the card of a row is pinned.
import { Card } from "./card.js";
import { counted, grouped, listed, make, shapeIcon, told } from "./elements.js";
import { NAME_FONT, shorten } from "./names.js";
import { INK_RING, RING, SHAPE_NAMES } from "./painter.js";
import { Scatter } from "./scatter.js";
import { find } from "./search.js";

const KINDS = ["labeled", "predicted", "unlabeled", "new"];
const [LABELED, PREDICTED, UNLABELED, NEW] = KINDS.keys();
const WHOLE = 10000; // confidence of 1
const LEAST_OPACITY = 0.15; // of a point with confidence 0
const LISTED = 6; // classes of a selection
const PAUSE = 120; // milliseconds after a key, before the search
const STEP = 0.12; // of the map, moved by an arrow key

export class Viewer extends EventTarget {
  constructor(root, data) {
    super();
    Object.assign(this, { root, data, n: data.position.length / 2 });
    this.off = { classes: new Set(), kinds: new Set() }; // what the legend hides
    this.hits = this.selected = null; // masks of points, null for none
    this.scatter = new Scatter(this.part(".stage"));
    this.card = new Card(this.part(".card"));
    Object.assign(this, { status: this.part("output"), query: this.part(".query") });
    const system = matchMedia("(prefers-color-scheme: dark)");
    const theme = () => (system.matches ? "dark" : "light");
    root.dataset.theme = theme();
    system.addEventListener("change", () => this.paint(theme()));
    this.connect();
    this.listenToKeys();
    this.update(data);
  }

  part(selector) { return this.root.querySelector(selector); }

  // ---- data

  update(changes) {
    const { data, scatter } = this;
    Object.assign(data, changes);
    const { label, prediction, isNew, position, isStrip, isStretched, spokes, middle } = data;
    this.names = data.classes.map(({ name }) => name);
    this.bare = this.names.length - 1; // points without a class have the last one
    this.codes = label.map((code, i) => (code >= 0 ? code : prediction[i] >= 0 ? prediction[i] : this.bare));
    this.kinds = Uint8Array.from(label, (code, i) =>
      isNew[i] ? NEW : code >= 0 ? LABELED : prediction[i] >= 0 ? PREDICTED : UNLABELED);
    this.columns = data.columns.map((column, k) => ({ ...column, codes: data[`column${k}`] }));
    this.fields = [...this.columns, { texts: this.names, codes: label }, { texts: this.names, codes: prediction }];
    this.hits = find(this.query.value, this.fields, this.n);
    Object.assign(scatter.marks, { isStrip, isStretched, spokes, middle });
    scatter.set({ position });
    this.fillLegend();
    this.paint(this.root.dataset.theme);
    this.filter();
  }

  // Colors, sizes and shapes of the points, for a theme.
  paint(themeName) {
    const { data, n, codes, kinds, scatter, root } = this;
    root.dataset.theme = themeName;
    const { backgroundColor, color: textColor } = getComputedStyle(this.part(".stage"));
    const [ground, ink] = [backgroundColor, textColor].map((one) => one.match(/\d+/g).map(Number));
    scatter.theme = { ground, ink };
    this.colors = data.colors[themeName];
    this.colors.forEach(([color], code) => root.style.setProperty(`--class-${code}`, `rgb(${color})`));
    const outlines = data.classes.map(({ shape }) => SHAPE_NAMES.indexOf(shape));
    const rings = [kinds.includes(PREDICTED) ? RING : 0, 0, 0, INK_RING];
    const fades = this.part(".fading input").checked;
    const [color, size, shape] = [new Uint8Array(4 * n), new Float32Array(n), new Uint8Array(n)];
    for (let i = 0; i < n; i++) {
      const [code, kind] = [codes[i], kinds[i]];
      const sure = fades && kind === PREDICTED ? (data.confidence?.[i] ?? WHOLE) / WHOLE : 1;
      color.set(this.colors[code][0], 4 * i);
      color[4 * i + 3] = 255 * (LEAST_OPACITY + (1 - LEAST_OPACITY) * sure);
      size[i] = data.sizes[kind];
      shape[i] = outlines[code] + rings[kind];
    }
    scatter.set({ color, size, shape });
    this.mark();
  }

  // Names and stars of the classes that are shown.
  mark() {
    const { data, scatter, names, colors, off } = this;
    const { marks, pen } = scatter;
    const longest = marks.isStrip ? Math.max(8, Math.floor(scatter.camera.width / 24)) : undefined;
    const shown = [...names.keys()].filter((code) => !off.classes.has(code));
    const [starred, named] = [data.centers, data.anchors].map((places) => shown.filter((code) => code in places));
    marks.stars = starred.map((code) => ({ place: data.centers[code], color: colors[code][0] }));
    pen.font = NAME_FONT;
    marks.names = (this.part(".naming input").checked ? named : []).map((code) => {
      const text = shorten(names[code], longest);
      return { text, place: data.anchors[code], color: colors[code][1], width: pen.measureText(text).width + 4 };
    });
    scatter.redraw();
  }

  // ---- what is shown

  icon(code) { return shapeIcon(this.data.classes[code].shape, code); }

  fillLegend() {
    const { data, names, off } = this;
    const fill = (selector, hidden, codes, texts, icon) => {
      const counts = new Array(texts.length).fill(0);
      for (const code of codes) counts[code]++;
      const shown = [...texts.keys()].filter((code) => counts[code] > 0 || (codes === this.codes && code < this.bare));
      const lines = shown.map((code) => {
        const box = make("input", { type: "checkbox", checked: !hidden.has(code), autocomplete: "off", value: code });
        box.addEventListener("change", () => (hidden[box.checked ? "delete" : "add"](code), this.filter()));
        return listed(counts[code], texts[code], box, icon(code));
      });
      this.part(selector).replaceChildren(...lines);
    };
    fill(".classes", off.classes, this.codes, names, (code) => this.icon(code));
    const dot = (kind) => make("i", { className: `kind ${KINDS[kind]}` });
    fill(".kinds", off.kinds, data.hasKinds ? this.kinds : [], KINDS, dot);
    this.part(".naming").hidden = this.bare === 0;
    this.part(".fading").hidden = data.confidence === undefined;
  }

  filter() {
    const { codes, kinds, off } = this;
    this.visible = Uint8Array.from(codes, (_, i) => !off.classes.has(codes[i]) && !off.kinds.has(kinds[i]));
    this.hideCard();
    this.mark();
    this.light();
  }

  // Single out hits and selected points. Only visible points, and in a search only hits, answer to the pointer.
  light() {
    const { visible, hits, selected, kinds } = this;
    const answering = hits === null ? visible : visible.map((isVisible, i) => isVisible & hits[i]);
    const lit = hits === null || selected === null ? (hits ?? selected) : hits.map((isHit, i) => isHit | selected[i]);
    const hasCrowd = kinds.includes(PREDICTED) || kinds.includes(UNLABELED);
    const front = kinds.map((kind) => kind === NEW || (hasCrowd && kind === LABELED));
    this.stops = hits === null ? null : rowsOf(answering);
    this.scatter.show(visible, front, answering, lit);
    this.part(".steps").hidden = hits === null;
    const [all, nVisible] = [counted(this.n, "point"), rowsOf(visible).length];
    this.status.value = nVisible === this.n ? all : `${grouped(nVisible)} of ${all}`;
    if (hits === null) return;
    const nHidden = rowsOf(hits).length - this.stops.length;
    this.status.value = counted(this.stops.length, "hit") + (nHidden === 0 ? "" : `, ${grouped(nHidden)} hidden`);
  }

  // ---- selection

  get selection() { return this.selected === null ? new Uint32Array(0) : rowsOf(this.selected); }

  // Select rows in place of the present ones, or "add" or "remove" them.
  select(rows, mode = "replace") {
    const mask = mode === "replace" || this.selected === null ? new Uint8Array(this.n) : this.selected;
    for (const row of rows) mask[row] = mode === "remove" ? 0 : 1;
    this.selected = mask.includes(1) ? mask : null;
    this.light();
    this.summarize();
    this.dispatchEvent(new Event("select"));
  }

  // How many points of each class are selected, the largest classes first.
  summarize() {
    const rows = this.selection;
    const sizes = new Map();
    for (const row of rows) sizes.set(this.codes[row], (sizes.get(this.codes[row]) ?? 0) + 1);
    const largest = [...sizes].sort((one, other) => other[1] - one[1]);
    const lines = largest.slice(0, LISTED).map(([code, size]) => listed(size, this.names[code], this.icon(code)));
    if (largest.length > LISTED) lines.push(make("li", {}, `and ${largest.length - LISTED} more`));
    this.part(".selection").hidden = rows.length === 0;
    this.part(".selection h2").textContent = `${counted(rows.length, "point")} selected`;
    this.part(".selection ul").replaceChildren(...lines);
  }

  // ---- details

  showCard(row, isPinned) {
    if (row === null) return this.hideCard();
    this.scatter.focus = row;
    this.card.show(row, isPinned, () => this.details(row));
    this.placeCard();
    this.scatter.redraw();
    if (isPinned) this.dispatchEvent(new CustomEvent("pick", { detail: row }));
  }

  placeCard() { this.card.row !== null && this.card.place(this.scatter.placeOf(this.card.row), this.scatter.camera); }

  hideCard() {
    this.card.hide();
    this.scatter.focus = null;
    this.scatter.redraw();
  }

  details(i) {
    const { data, names } = this;
    const [code, label, guess] = [this.codes[i], data.label[i], data.prediction[i]];
    const percent = data.confidence === undefined ? "" : ` ${Math.round((100 * data.confidence[i]) / WHOLE)} %`;
    const source = label >= 0 ? "given label" : guess >= 0 ? `predicted${percent}` : "";
    const head = make("header", {}, this.icon(code), told("b", shorten(names[code], 120)), make("small", {}, source));
    if (this.kinds[i] === NEW) head.append(make("small", { className: "badge" }, "new"));
    if (label >= 0 && guess >= 0 && guess !== label) {
      head.append(make("p", {}, "predicted ", told("bdi", shorten(names[guess], 120)), percent));
    }
    const values = this.columns.map(({ name, texts, codes }) => [name, texts[codes[i]] ?? "–"]);
    return { top: data.image === undefined ? [head] : [data.image(i), head], values };
  }

  // Pin the card of the next or previous hit, otherwise selected point, otherwise point in sight, in the order of rows.
  step(direction) {
    const stops = this.stops ?? (this.selected === null ? this.scatter.within() : this.selection);
    if (stops.length === 0) return;
    const at = stops.indexOf(this.card.row);
    const next = at < 0 && direction < 0 ? stops.length - 1 : (at + direction + stops.length) % stops.length;
    this.scatter.bring(stops[next]);
    this.showCard(stops[next], true);
    if (this.stops !== null) this.status.value = `${grouped(next + 1)} of ${counted(stops.length, "hit")}`;
  }

  // ---- pointer and keys

  connect() {
    const { scatter, card, query } = this;
    scatter.addEventListener("hover", ({ detail }) => card.isPinned || this.showCard(detail, false));
    scatter.addEventListener("pick", ({ detail }) => this.showCard(detail, true));
    scatter.addEventListener("lasso", ({ detail }) => this.select(detail.rows, detail.mode));
    scatter.addEventListener("move", () => (card.isPinned ? this.placeCard() : this.hideCard()));
    new ResizeObserver(() => (this.mark(), this.placeCard())).observe(this.part(".stage"));
    this.part(".copy").addEventListener("click", () => document.execCommand("copy"));
    document.addEventListener("copy", (event) => {
      if (this.selected === null || !getSelection().isCollapsed || event.target.closest?.("input")) return;
      const { texts, codes } = this.columns[0];
      event.clipboardData.setData("text/plain", Array.from(this.selection, (i) => texts[codes[i]]).join("\n"));
      event.preventDefault();
    });
    this.part(".naming").addEventListener("change", () => this.mark());
    this.part(".fading").addEventListener("change", () => this.paint(this.root.dataset.theme));
    this.part(".clear").addEventListener("click", () => this.select([]));
    const hide = (codes) => {
      this.off.classes = new Set(codes);
      this.fillLegend();
      this.filter();
    };
    this.part(".all").addEventListener("click", () => hide([]));
    this.part(".none").addEventListener("click", () => hide(this.names.keys()));
    query.addEventListener("input", () => {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.look(), PAUSE);
    });
    query.addEventListener("keydown", (event) => {
      if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
      event.preventDefault();
      if (event.key === "Escape") query.value = "";
      this.look();
      if (event.key === "Enter" && this.hits !== null) this.step(event.shiftKey ? -1 : 1);
    });
  }

  // Search for what is in the box, unless that has been done.
  look() {
    clearTimeout(this.waiting);
    if (this.query.value === (this.searched ?? "")) return;
    this.searched = this.query.value;
    this.hits = find(this.searched, this.fields, this.n);
    this.hideCard();
    this.light();
  }

  // Every key that viewer.html lists; its elements with a `data-key` do the same. A page may add its own.
  listenToKeys() {
    const { scatter, scatter: { camera } } = this;
    const pan = (x, y) => () => scatter.move(camera.panned(x * STEP * camera.width, y * STEP * camera.height));
    const zoom = (factor) => () => scatter.glide(camera.zoomed(factor));
    const dialog = this.part("dialog");
    const choose = (tool) => () => {
      scatter.tool = this.root.dataset.tool = tool;
      for (const one of this.root.querySelectorAll("[data-tool]")) one.ariaPressed = String(one.dataset.tool === tool);
    };
    const lit = () => this.stops ?? this.selection;
    this.keys = {
      ...{ v: choose("move"), l: choose("lasso"), r: choose("box"), a: () => this.select(scatter.within()) },
      ...{ ArrowLeft: pan(1, 0), ArrowRight: pan(-1, 0), ArrowUp: pan(0, 1), ArrowDown: pan(0, -1) },
      ...{ "+": zoom(1.5), "=": zoom(1.5), "-": zoom(1 / 1.5), 0: () => scatter.fit() },
      ...{ n: () => this.step(1), p: () => this.step(-1), "/": () => this.query.select() },
      f: () => lit().length > 0 && scatter.fit(lit()),
      Escape: () => (this.card.row === null ? this.select([]) : this.hideCard()),
      ...{ t: () => this.part(".naming input").click(), c: () => this.part(".fading input").click() },
      d: () => this.paint(this.root.dataset.theme === "dark" ? "light" : "dark"),
      "?": () => (dialog.open ? dialog.close() : dialog.showModal()),
    };
    this.keys.v();
    const buttons = this.root.querySelectorAll("[data-key]");
    buttons.forEach((one) => one.addEventListener("click", () => this.keys[one.dataset.key]()));
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest("input:not([type=checkbox]), textarea, select, dialog, [contenteditable]");
      const isOurs = !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey && event.key in this.keys;
      if (event.defaultPrevented || !isOurs) return;
      event.preventDefault();
      this.keys[event.key]();
    });
  }
}

const rowsOf = (mask) => Uint32Array.from(mask, (_, row) => row).filter((row) => mask[row]);

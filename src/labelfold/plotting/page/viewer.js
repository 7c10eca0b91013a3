// The viewer: a map with legend, search, details, selection and keyboard, inside an element of any page.
//
// Data are what `unpack` returns: `position` (x and y in turn), `classes` of { name, color, shape }, `columns` of
// { name, texts } with typed arrays `column0`, `column1`... (0 means no text, k the text k - 1), and if there are any:
// `label` and `prediction` (a class each, or -1), `confidence` (in ten thousandths), `isNew`, `centers`, `spokes`.
// `image(row)` may return an element for the card. A page that learns calls `update` with arrays that have changed.
// Events: "select" when the selection changes (`viewer.selection` has the rows), "pick" when a card is pinned.
import { Card } from "./card.js";
import { counted, iconButton, make, shapeIcon, told } from "./elements.js";
import { NAME_FONT, findAnchors, shorten } from "./names.js";
import { INK_RING, RING, SHAPE_NAMES } from "./painter.js";
import { Scatter } from "./scatter.js";
import { Search } from "./search.js";
import { THEMES, parseColor, pointColor, textColor } from "./theme.js";

const KINDS = ["labeled", "predicted", "unlabeled", "new"];
const [LABELED, PREDICTED, UNLABELED, NEW] = KINDS.keys();
const LEAST_OPACITY = 0.15; // of a point with confidence 0
const LISTED = 8; // classes of a selection
const PAUSE = 120; // milliseconds after a key, before the search

const ICONS = {
  move: "M12 3v18M3 12h18M12 3l-3 3M12 3l3 3M12 21l-3-3M12 21l3-3M3 12l3-3M3 12l3 3M21 12l-3-3M21 12l-3 3",
  lasso: "M12 4c-5 0-9 2.7-9 6s4 6 9 6 9-2.7 9-6-4-6-9-6ZM7 15c-2 1-2 4 0 4s2 2 0 3",
  box: "M4 8V4h4M16 4h4v4M20 16v4h-4M8 20H4v-4M11 4h2M11 20h2M4 11v2M20 11v2",
  in: "M12 5v14M5 12h14",
  out: "M5 12h14",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5M9 12a3 3 0 1 0 6 0 3 3 0 1 0-6 0",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  save: "M12 4v11M8 11l4 4 4-4M5 20h14",
  help: "M9 9a3 3 0 1 1 4.2 2.8c-.8.4-1.2 1-1.2 2.2M12 17.5v.5M12 2.5a9.5 9.5 0 1 0 0 19 9.5 9.5 0 1 0 0-19",
  back: "M6 15l6-6 6 6",
  next: "M6 9l6 6 6-6",
};

export class Viewer extends EventTarget {
  constructor(root, data) {
    super();
    this.root = root;
    this.data = data;
    this.n = data.position.length / 2;
    this.isOn = { classes: new Map(), kinds: new Map(), names: true, confidence: true };
    this.hits = null; // masks of points
    this.selected = null;
    this.texts = data.columns.map(({ name, texts }, k) => ({ name, texts, codes: data[`column${k}`], first: 1 }));
    this.build();
    this.scatter = new Scatter(this.stage);
    this.card = new Card(this.stage);
    this.connect();
    const isDark = matchMedia("(prefers-color-scheme: dark)");
    isDark.addEventListener("change", () => this.paint(isDark.matches ? "dark" : "light"));
    root.dataset.theme = isDark.matches ? "dark" : "light";
    this.update(data);
  }

  // ---- what the data say

  // Take arrays that have changed: positions, labels, predictions, confidence, classes, centers.
  update(changes) {
    const { data, n } = this;
    Object.assign(data, changes);
    const none = new Int8Array(n).fill(-1);
    const { label = none, prediction = none, isNew = none } = data;
    this.codes = label.slice();
    this.kinds = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      if (label[i] < 0) this.codes[i] = prediction[i];
      this.kinds[i] = isNew[i] > 0 ? NEW : label[i] >= 0 ? LABELED : prediction[i] >= 0 ? PREDICTED : UNLABELED;
    }
    this.names = data.classes.map(({ name }) => name);
    let bare = "unlabeled"; // the name of points without a class, which no class has
    while (this.names.includes(bare)) bare += " points";
    this.bare = bare;
    const own = this.texts.find(({ name }) => name === "row");
    const rows = own ?? { texts: Array.from({ length: n }, (_, i) => String(i)), codes: Uint32Array.from({ length: n }, (_, i) => i), first: 0 };
    this.rows = rows;
    const fields = [rows, ...this.texts.filter((one) => one !== own)];
    for (const codes of [label, prediction]) fields.push({ texts: this.names, codes, first: 0 });
    this.search = new Search(n, fields);
    this.anchors = findAnchors(data.position, this.codes, data.classes.length);
    this.fillLegend();
    this.scatter.marks.isStrip = this.scatter.marks.isStretched = data.isStrip === true;
    this.scatter.marks.isStretched ||= data.isStretched === true;
    this.paint(this.root.dataset.theme);
    this.scatter.set({ position: data.position });
    this.filter();
  }

  // Colors, sizes and shapes of points, names and stars, for a theme.
  paint(name) {
    const { data, n, codes, kinds, scatter } = this;
    const theme = THEMES[name];
    this.root.dataset.theme = name;
    scatter.theme = theme;
    const bare = pointColor(parseColor(data.unlabeledColor), theme);
    this.colors = [...data.classes.map(({ color }) => pointColor(parseColor(color), theme)), bare];
    const outlines = [...data.classes.map(({ shape }) => SHAPE_NAMES.indexOf(shape)), 0];
    const rings = [kinds.includes(PREDICTED) ? RING : 0, 0, 0, INK_RING];
    const [color, size, shape] = [new Uint8Array(4 * n), new Float32Array(n), new Uint8Array(n)];
    const fades = this.isOn.confidence && data.confidence !== undefined;
    for (let i = 0; i < n; i++) {
      const code = codes[i] < 0 ? this.colors.length - 1 : codes[i];
      const kind = kinds[i];
      const sure = fades && kind === PREDICTED ? data.confidence[i] / 10000 : 1;
      for (let k = 0; k < 3; k++) color[4 * i + k] = this.colors[code][k];
      color[4 * i + 3] = 255 * (LEAST_OPACITY + (1 - LEAST_OPACITY) * sure);
      size[i] = data.sizes[kind];
      shape[i] = outlines[code] + rings[kind];
    }
    scatter.set({ color, size, shape });
    this.root.querySelectorAll("[data-class] .shape").forEach((icon, code) => (icon.style.fill = `rgb(${this.colors[code]})`));
    this.mark();
  }

  // Names and stars of the classes that are shown.
  mark() {
    const { data, scatter, isOn } = this;
    const pen = scatter.pen;
    pen.font = NAME_FONT;
    const longest = scatter.marks.isStrip ? Math.max(8, Math.floor(scatter.camera.width / 24)) : undefined;
    const shown = data.classes.map((_, code) => code).filter((code) => isOn.classes.get(code) !== false);
    const heights = (code) => data.rowHeights?.[code];
    scatter.marks.stars = shown.filter((code) => data.centers?.[code] !== undefined).map((code) => {
      const [x, y] = data.centers[code];
      return { x, y, color: this.colors[code] };
    });
    scatter.marks.names = (isOn.names ? shown : []).flatMap((code) => {
      const anchor = scatter.marks.isStrip ? [0, heights(code)] : (this.anchors[code] ?? data.centers?.[code]);
      if (anchor === undefined || anchor === null) return [];
      const text = shorten(this.names[code], longest);
      const color = textColor(parseColor(data.classes[code].color), scatter.theme);
      return [{ text, x: anchor[0], y: anchor[1], color, width: pen.measureText(text).width + 4 }];
    });
    if (scatter.marks.isStrip && this.kinds.includes(UNLABELED)) {
      const [x, y, text] = [0, heights(this.names.length), this.bare];
      scatter.marks.names.push({ text, x, y, color: scatter.theme.ink, width: pen.measureText(text).width + 4 });
    }
    Object.assign(scatter.marks, { spokes: data.spokes ?? [], middle: data.middle });
    scatter.redraw();
  }

  // ---- what is shown

  filter() {
    const { n, codes, kinds, isOn } = this;
    const isClassOn = Uint8Array.from({ length: this.names.length + 1 }, (_, k) => isOn.classes.get(k) !== false);
    const isKindOn = Uint8Array.from(KINDS, (_, kind) => isOn.kinds.get(kind) !== false);
    this.visible = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      this.visible[i] = isClassOn[codes[i] < 0 ? this.names.length : codes[i]] & isKindOn[kinds[i]];
    }
    this.hideCard();
    this.mark();
    this.light();
  }

  // Single out hits and selected points; only visible points, and in a search only hits, answer to the pointer.
  light() {
    const { n, visible, hits, selected, kinds } = this;
    const answering = hits === null ? visible : visible.map((isVisible, i) => isVisible & hits[i]);
    let lit = hits;
    if (selected !== null) lit = hits === null ? selected : selected.map((isSelected, i) => isSelected | hits[i]);
    const hasOthers = kinds.includes(PREDICTED) || kinds.includes(UNLABELED);
    const front = Uint8Array.from({ length: n }, (_, i) => kinds[i] === NEW || (hasOthers && kinds[i] === LABELED));
    this.stops = hits === null ? null : rowsOf(answering);
    this.scatter.show(visible, front, answering, lit);
    this.report();
  }

  report() {
    const all = counted(this.n, "point");
    const nVisible = this.visible.reduce((sum, one) => sum + one, 0);
    let text = nVisible === this.n ? all : `${nVisible.toLocaleString("en")} of ${all}`;
    if (this.hits !== null) {
      const hidden = this.hits.reduce((sum, one) => sum + one, 0) - this.stops.length;
      text = `${counted(this.stops.length, "hit")}${hidden === 0 ? "" : `, ${hidden.toLocaleString("en")} hidden`}`;
    }
    this.status.value = text;
    this.steps.hidden = this.hits === null;
  }

  // ---- selection

  get selection() {
    return this.selected === null ? new Uint32Array(0) : rowsOf(this.selected);
  }

  // Select rows in place of the present ones, or "add" or "remove" them.
  select(rows, mode = "replace") {
    const mask = mode === "replace" || this.selected === null ? new Uint8Array(this.n) : this.selected;
    for (const row of rows) mask[row] = mode === "remove" ? 0 : 1;
    this.selected = mask.includes(1) ? mask : null;
    this.light();
    this.summarize();
    this.dispatchEvent(new Event("select"));
  }

  // How many points of each class are selected.
  summarize() {
    const rows = this.selection;
    this.selectionBox.hidden = rows.length === 0;
    if (rows.length === 0) return;
    const counts = new Array(this.colors.length).fill(0);
    for (const row of rows) counts[this.codes[row] < 0 ? counts.length - 1 : this.codes[row]]++;
    const order = [...counts.keys()].filter((code) => counts[code] > 0).sort((a, b) => counts[b] - counts[a]);
    const bars = order.slice(0, LISTED).map((code) => {
      const bar = make("i");
      bar.style.width = `${(100 * counts[code]) / counts[order[0]]}%`;
      bar.style.background = `rgb(${this.colors[code]})`;
      const name = told("bdi", shorten(this.names[code] ?? this.bare, 40), { className: "name" });
      return make("li", {}, name, make("span", { className: "count" }, counts[code].toLocaleString("en")), bar);
    });
    if (order.length > LISTED) bars.push(make("li", { className: "note" }, `and ${counted(order.length - LISTED, "more class", "more classes")}`));
    const copy = make("button", { type: "button", onclick: () => this.copyRows() }, "Copy rows");
    const clear = make("button", { type: "button", onclick: () => this.select([]) }, "Clear");
    this.selectionBox.replaceChildren(
      make("h2", {}, `${rows.length.toLocaleString("en")} selected`), make("ul", {}, ...bars), make("p", { className: "buttons" }, copy, clear),
    );
  }

  // Row numbers or names, one per line. A sandboxed page has no other clipboard.
  copyRows() {
    const text = Array.from(this.selection, (i) => this.rows.texts[this.rows.codes[i] - this.rows.first] ?? "").join("\n");
    const box = this.root.appendChild(make("textarea", { className: "offstage", value: text }));
    box.select();
    document.execCommand("copy");
    box.remove();
    this.status.value = `${counted(this.selection.length, "row")} copied`;
  }

  // ---- details

  showCard(row, isPinned) {
    if (row === null) return this.hideCard();
    this.scatter.focus = row;
    this.card.show(row, isPinned, () => this.details(row));
    this.card.place(...this.scatter.placeOf(row), this.scatter.camera);
    this.scatter.redraw();
    if (isPinned) this.dispatchEvent(new CustomEvent("pick", { detail: row }));
  }

  hideCard() {
    this.card.hide();
    this.scatter.focus = null;
    this.scatter.redraw();
  }

  details(i) {
    const { data, names, kinds } = this;
    const [label, guess] = [data.label?.[i] ?? -1, data.prediction?.[i] ?? -1];
    const shown = this.codes[i];
    const icon = shapeIcon(data.classes[shown]?.shape ?? "o", this.colors.at(shown < 0 ? -1 : shown));
    const percent = data.confidence === undefined ? "" : ` ${Math.round(data.confidence[i] / 100)} %`;
    const source = label >= 0 ? "given label" : guess >= 0 ? `predicted${percent}` : "";
    const head = make("header", {}, icon, told("b", shorten(names[shown] ?? this.bare, 120)), make("small", {}, source));
    if (kinds[i] === NEW) head.append(make("small", { className: "badge" }, "new"));
    if (label >= 0 && guess >= 0 && guess !== label) {
      head.append(make("p", {}, "predicted ", told("bdi", shorten(names[guess], 120)), percent));
    }
    const { texts, codes, first } = this.rows;
    const values = [["row", texts[codes[i] - first] ?? "–"]];
    for (const column of this.texts) {
      if (column !== this.rows) values.push([column.name, column.texts[column.codes[i] - 1] ?? "–"]);
    }
    return { head, image: data.image?.(i) ?? null, values };
  }

  // Pin the card of the next or previous hit, otherwise selected point, otherwise point in sight, in the order of rows.
  step(direction) {
    const stops = this.stops ?? (this.selected === null ? this.scatter.inSight() : this.selection);
    if (stops.length === 0) return;
    const at = stops.indexOf(this.card.row);
    const next = at === -1 ? (direction > 0 ? 0 : stops.length - 1) : (at + direction + stops.length) % stops.length;
    this.scatter.bring(stops[next]);
    this.showCard(stops[next], true);
    if (this.stops !== null) this.status.value = `${(next + 1).toLocaleString("en")} of ${counted(stops.length, "hit")}`;
  }

  // ---- the page

  build() {
    const { root, data } = this;
    root.classList.add("viewer");
    this.stage = make("div", { className: "stage", tabIndex: 0, role: "application", ariaLabel: `Map of ${counted(this.n, "point")}. Press ? for keys.` });
    this.query = make("input", { type: "search", className: "query", placeholder: "Search all columns", ariaLabel: "Search", autocomplete: "off", spellcheck: false });
    this.status = make("output", {});
    this.steps = make("span", { className: "steps", hidden: true },
      iconButton("Previous hit (Shift+Enter)", ICONS.back, { onclick: () => this.step(-1) }),
      iconButton("Next hit (Enter)", ICONS.next, { onclick: () => this.step(1) }));
    this.legend = make("fieldset", { className: "classes" });
    this.kindBox = make("fieldset", { className: "kinds" });
    this.selectionBox = make("section", { className: "selection", hidden: true, ariaLive: "polite" });
    this.tools = make("div", { className: "tools", role: "toolbar", ariaLabel: "Tools" });
    this.stage.append(this.tools, make("p", { className: "caption" }, data.caption ?? ""));
    root.append(
      told("h1", data.title ?? ""), this.stage,
      make("div", { className: "panel" },
        make("div", { role: "search" }, this.query, make("p", { className: "note" }, this.status, this.steps)),
        this.selectionBox, this.legend, this.kindBox,
        make("p", { className: "note" }, "Shift and drag to select. ", make("button", { type: "button", className: "link", onclick: () => this.help() }, "All keys: ?"))),
    );
  }

  fillLegend() {
    const { data, names, kinds, isOn } = this;
    const count = (codes, size) => codes.reduce((counts, code) => (counts[code < 0 ? size : code]++, counts), new Array(size + 1).fill(0));
    const sizes = count(this.codes, names.length);
    const entry = (on, key, icon, name, size, attributes) => {
      const box = make("input", { type: "checkbox", checked: on.get(key) !== false, autocomplete: "off" });
      box.addEventListener("change", () => (on.set(key, box.checked), this.filter()));
      const text = told("bdi", name, { className: "name" });
      const line = make("label", attributes, box, icon, text, make("span", { className: "count" }, size.toLocaleString("en")));
      return make("li", {}, line);
    };
    const lines = names.map((name, code) =>
      entry(isOn.classes, code, shapeIcon(data.classes[code].shape, [0, 0, 0]), name, sizes[code], { "data-class": code }));
    if (sizes.at(-1) > 0 || names.length === 0) {
      lines.push(entry(isOn.classes, names.length, shapeIcon("o", [0, 0, 0]), this.bare, sizes.at(-1), { "data-class": names.length }));
    }
    const all = (value) => () => {
      this.legend.querySelectorAll("[data-class] input").forEach((box) => (box.checked = value));
      for (let code = 0; code <= names.length; code++) isOn.classes.set(code, value);
      this.filter();
    };
    const button = (text, value) => make("button", { type: "button", className: "link", onclick: all(value) }, text);
    const option = (name, text) => {
      const box = make("input", { type: "checkbox", checked: isOn[name], "data-option": name, onchange: () => this.toggle(name) });
      return make("label", { className: "option" }, box, text);
    };
    this.legend.replaceChildren(make("legend", {}, "Classes"), make("span", { className: "buttons" }, button("All", true), button("None", false)), make("ul", {}, ...lines));
    const kindSizes = KINDS.map((_, kind) => kinds.reduce((sum, one) => sum + (one === kind), 0));
    const present = [...KINDS.keys()].filter((kind) => kindSizes[kind] > 0);
    const kindLines = present.map((kind) => entry(isOn.kinds, kind, make("i", { className: `kind ${KINDS[kind]}` }), KINDS[kind], kindSizes[kind], { "data-kind": kind }));
    const hasKinds = present.length > 1 && (data.prediction !== undefined || data.isNew !== undefined);
    this.kindBox.replaceChildren(
      make("legend", {}, "Show"), make("ul", {}, ...(hasKinds ? kindLines : [])),
      make("p", { className: "options" }, names.length > 0 ? option("names", "Class names") : null, data.confidence === undefined ? null : option("confidence", "Confidence as opacity")),
    );
  }

  toggle(name) {
    this.isOn[name] = !this.isOn[name];
    this.root.querySelector(`[data-option=${name}]`).checked = this.isOn[name];
    this.paint(this.root.dataset.theme);
  }

  choose(tool) {
    this.scatter.tool = tool;
    this.stage.dataset.tool = tool;
    this.tools.querySelectorAll("[data-tool]").forEach((one) => one.setAttribute("aria-pressed", one.dataset.tool === tool));
  }

  connect() {
    const { scatter, card, stage, query } = this;
    const pan = (right, down) => () => scatter.pan(0.12 * right * scatter.camera.width, 0.12 * down * scatter.camera.height);
    const zoom = (factor) => () => scatter.glide(zoomed(scatter.camera, factor));
    const lit = () => (this.selected === null ? this.stops : this.selection);
    const theme = () => this.paint(this.root.dataset.theme === "dark" ? "light" : "dark");
    const tool = (name) => () => this.choose(name);
    // Keys, what they do, and for some a button: its icon and tool.
    this.shortcuts = [
      [["v"], "Move the map", tool("move"), "move", "move"],
      [["l"], "Lasso: draw around points", tool("lasso"), "lasso", "lasso"],
      [["r"], "Rectangle: drag over points", tool("box"), "box", "box"],
      [["+", "="], "Zoom in", zoom(1.5), "in"],
      [["-"], "Zoom out", zoom(1 / 1.5), "out"],
      [["0"], "Show all", () => scatter.fit(), "fit"],
      [["f"], "Zoom to selection or hits", () => lit()?.length && scatter.fit(lit())],
      [["ArrowLeft"], "Move left", pan(1, 0)],
      [["ArrowRight"], "Move right", pan(-1, 0)],
      [["ArrowUp"], "Move up", pan(0, 1)],
      [["ArrowDown"], "Move down", pan(0, -1)],
      [["a"], "Select all in sight", () => this.select(scatter.inSight())],
      [["/"], "Search", () => query.select()],
      [["n"], "Next hit, selected point or point in sight", () => this.step(1)],
      [["p"], "Previous one", () => this.step(-1)],
      [["Escape"], "Close the card, then clear the selection", () => (card.row === null ? this.select([]) : this.hideCard())],
      [["t"], "Class names on or off", () => this.names.length && this.toggle("names")],
      [["c"], "Confidence as opacity on or off", () => this.data.confidence && this.toggle("confidence")],
      [["d"], "Dark or light", theme, "theme"],
      [["s"], "Save the picture", () => this.savePicture(), "save"],
      [["?"], "Keys", () => this.help(), "help"],
    ];
    for (const [[key], text, run, icon, name] of this.shortcuts.filter((one) => one.length > 3)) {
      const attributes = name === undefined ? {} : { "data-tool": name };
      this.tools.append(iconButton(`${text} (${key})`, ICONS[icon], { onclick: run, ...attributes }));
    }
    this.choose("move");
    scatter.addEventListener("hover", ({ detail }) => card.isPinned || this.showCard(detail, false));
    scatter.addEventListener("pick", ({ detail }) => this.showCard(detail, true));
    scatter.addEventListener("lasso", ({ detail }) => this.select(detail.rows, detail.mode));
    scatter.addEventListener("move", () => {
      if (card.isPinned) card.place(...scatter.placeOf(card.row), scatter.camera);
      else this.hideCard();
    });
    new ResizeObserver(() => {
      this.mark();
      if (card.row !== null) card.place(...scatter.placeOf(card.row), scatter.camera);
    }).observe(stage);
    query.addEventListener("input", () => {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.look(), PAUSE);
    });
    query.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) this.step((this.look(), event.shiftKey ? -1 : 1));
      else if (event.key === "Escape") this.look((query.value = ""));
      else return;
      event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest("input:not([type=checkbox]), textarea, select, dialog, [contenteditable]");
      if (event.defaultPrevented || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      const found = this.shortcuts.find(([keys]) => keys.includes(event.key));
      if (found === undefined) return;
      event.preventDefault();
      found[2]();
    });
  }

  // Search for what is in the box, unless that has been done.
  look() {
    clearTimeout(this.waiting);
    if (this.query.value === this.searched) return;
    this.searched = this.query.value;
    this.hits = this.search.find(this.searched);
    this.hideCard();
    this.light();
  }

  help() {
    const rows = this.shortcuts.map(([keys, text]) => make("tr", {}, make("th", {}, make("kbd", {}, keys[0].replace("Arrow", ""))), make("td", {}, text)));
    const more = [["Enter", "Next hit, in the search box"], ["Shift+drag", "Add to the selection; with Alt, remove"], ["Wheel", "Zoom"]];
    rows.push(...more.map(([keys, text]) => make("tr", {}, make("th", {}, make("kbd", {}, keys)), make("td", {}, text))));
    const close = make("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Close");
    const dialog = make("dialog", { onclose: () => dialog.remove() }, make("h2", {}, "Keys"), make("table", {}, ...rows), close);
    this.root.append(dialog);
    dialog.showModal();
  }

  savePicture() {
    this.scatter.picture().toBlob((blob) => {
      const link = make("a", { href: URL.createObjectURL(blob), download: "map.png" });
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }
}

const zoomed = ({ center, scale }, factor) => ({ center, scale: scale.map((one) => one * factor) });

function rowsOf(mask) {
  const rows = [];
  for (let i = 0; i < mask.length; i++) if (mask[i]) rows.push(i);
  return Uint32Array.from(rows);
}

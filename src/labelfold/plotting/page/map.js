// Search, filters and details of a map that Bokeh draws. Text from the data is put into the page as
// text nodes only.
"use strict";
(async () => {
  const find = (id) => document.getElementById(id);
  const read = (id) => JSON.parse(find(id).textContent);
  const rows = read("row-data");
  const plot = read("plot-data");
  const settings = plot.doc.roots[0].attributes;
  if (settings.output_backend === "webgl" && !hasGraphicsCard()) settings.output_backend = "canvas";
  const views = await Bokeh.embed.embed_item(plot, "plot");
  const { frame } = [...views.roots][0];
  const drawing = Bokeh.documents.at(-1);
  const model = (name) => drawing.get_model_by_name(name);
  const map = model("map");
  const points = model("points");
  const { x, y } = points.data;
  const n = x.length;
  const card = find("card");
  const ring = find("ring");
  const search = find("search");

  const LONGEST = 400; // characters of a value on a card that is not pinned
  const REACH = 14; // pixels, the largest distance from the pointer to its point
  const GAP = 16; // pixels between a point and its card
  const MARGIN = 8; // pixels between the card and the edge of the screen

  // Which points pass the filters and the search.
  const visible = new Uint8Array(n).fill(1);
  let isHit = null; // null without a search

  const answers = (i) => visible[i] && (isHit === null || isHit[i]);

  // Without a graphics card, WebGL is as slow as the canvas but draws all points while they move; the
  // canvas draws some of them.
  function hasGraphicsCard() {
    const gl = document.createElement("canvas").getContext("webgl");
    if (gl === null) return false;
    const names = gl.getExtension("WEBGL_debug_renderer_info");
    const renderer = gl.getParameter(names === null ? gl.RENDERER : names.UNMASKED_RENDERER_WEBGL);
    gl.getExtension("WEBGL_lose_context")?.loseContext();
    return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);
  }

  // ---- details of a point

  const hasOwnRow = rows.columns.some(({ name }) => name === "row");

  function entries(i) {
    const found = [];
    if (!hasOwnRow) found.push(["row", String(rows.row[i])]);
    if (rows.labels[i] >= 0) found.push(["label", rows.classes[rows.labels[i]]]);
    if (rows.predictions[i] >= 0) {
      const percent = rows.confidence === null ? "" : ` (${Math.round(100 * rows.confidence[i])} %)`;
      found.push(["predicted", rows.classes[rows.predictions[i]], percent]);
    }
    if (rows.codes[i] < 0) found.push(["label", "–"]);
    if (rows.kinds[i] === 3) found.push(["new", "yes"]);
    for (const { name, values } of rows.columns) {
      const entry = [name, values[i] ?? "–"];
      if (name === "row") found.unshift(entry);
      else found.push(entry);
    }
    return found;
  }

  // Never cuts a character (surrogate pair) in half.
  function shortened(text) {
    return text.length > LONGEST ? `${text.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, "")}…` : text;
  }

  function element(tag, text) {
    const made = document.createElement(tag);
    made.dir = "auto";
    made.textContent = text;
    return made;
  }

  function fill(i) {
    const write = isPinned ? (text) => text : shortened;
    const list = document.createElement("dl");
    for (const [name, value, end = ""] of entries(i)) {
      list.append(element("dt", write(name)), element("dd", write(value) + end));
    }
    card.replaceChildren(list);
    if (rows.images !== null) {
      const image = document.createElement("img");
      image.src = rows.images[i];
      image.alt = "";
      card.prepend(image);
    }
  }

  let shown = null;
  let isPinned = false;

  // Put the ring around a point and the card beside it, on the side with more room. A pinned card
  // stays, shows each text in full, and can be scrolled.
  function show(i, pin) {
    card.hidden = ring.hidden = false;
    if (i !== shown || pin !== isPinned) {
      [shown, isPinned] = [i, pin];
      card.classList.toggle("pinned", pin);
      fill(i);
      card.scrollTop = 0;
    }
    const box = find("plot").getBoundingClientRect();
    const left = box.left + frame.x_scale.compute(x[i]);
    const top = box.top + frame.y_scale.compute(y[i]);
    place(ring, left, top);
    const above = top - GAP - MARGIN;
    const below = innerHeight - top - GAP - MARGIN;
    card.style.maxHeight = `${Math.max(above, below)}px`;
    const { width, height } = card.getBoundingClientRect();
    const isLeft = left + GAP + width > innerWidth - MARGIN;
    const isAbove = height > below;
    place(card, Math.max(MARGIN, isLeft ? left - GAP - width : left + GAP), isAbove ? top - GAP - height : top + GAP);
  }

  // Both scroll with the map.
  function place(what, left, top) {
    what.style.left = `${left + scrollX}px`;
    what.style.top = `${top + scrollY}px`;
  }

  function hide() {
    shown = null;
    isPinned = false;
    card.hidden = ring.hidden = true;
  }

  // The nearest point in reach, the upper of two at the same place; null if there is none.
  function nearest(event) {
    const across = map.inner_width / (map.x_range.end - map.x_range.start);
    const down = map.inner_height / (map.y_range.start - map.y_range.end);
    let best = REACH * REACH;
    let found = null;
    for (let i = 0; i < n; i++) {
      if (!answers(i)) continue;
      const dx = (x[i] - event.x) * across;
      const dy = (y[i] - event.y) * down;
      const distance = dx * dx + dy * dy;
      if (distance <= best) [best, found] = [distance, i];
    }
    return found;
  }

  function point(event, pin) {
    const i = nearest(event);
    if (i === null) hide();
    else show(i, pin);
  }

  map.on_event("mousemove", (event) => isPinned || point(event, false));
  map.on_event("mouseleave", () => isPinned || hide());
  for (const name of ["tap", "doubletap"]) map.on_event(name, (event) => point(event, true));
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
  addEventListener("pointerdown", ({ target }) => {
    if (!card.contains(target) && !find("plot").contains(target)) hide();
  });

  // ---- names of classes

  const boxes = [...document.querySelectorAll("[data-class]")];
  const boxOf = new Map(boxes.map((box) => [box.dataset.class, box]));
  const isClassOn = (code) => boxOf.get(code < 0 ? "none" : String(code)).checked;
  const naming = find("naming"); // null if no names are written among the points
  const widths = naming === null ? [] : measureNames(model("names").data.text);
  let written = null; // the last placement of names

  function writeNames() {
    if (naming === null) return;
    const source = model("names");
    const names = widths.map((width, k) => ({
      across: frame.x_scale.compute(source.data.x[k]),
      anchor: frame.y_scale.compute(source.data.y[k]),
      width,
      isWanted: naming.checked && isClassOn(source.data.code[k]),
    }));
    const { right, down, isWritten } = placeNames(names, frame.bbox);
    const plan = JSON.stringify([right, down, isWritten]);
    if (plan === written) return; // nothing to paint
    written = plan;
    source.data = { ...source.data, right, down };
    model("named").booleans = isWritten;
  }

  // Names beside the rows of a strip may take a third of the width.
  const axis = model("rows"); // null on a map
  let longest = null;

  function nameRows() {
    const most = Math.max(8, Math.min(32, Math.floor(find("plot").clientWidth / 24)));
    if (axis === null || most === longest) return;
    longest = most;
    const labels = [...axis.major_label_overrides].map(([row, label]) => {
      const text = cutInMiddle(rows.classes[row] ?? label.text, most);
      return [row, new label.constructor({ text })];
    });
    axis.major_label_overrides = new Map(labels);
  }

  // Called when the frame changes size: with the window, or with longer numbers along an axis.
  function fit() {
    nameRows();
    writeNames();
    if (shown !== null) show(shown, isPinned);
  }

  function move() {
    hide();
    writeNames();
  }

  naming?.addEventListener("change", writeNames);
  for (const range of [map.x_range, map.y_range]) range.change.connect(move);
  for (const name of ["inner_width", "inner_height"]) map.properties[name].change.connect(fit);

  // ---- filters

  const kindBoxes = [...document.querySelectorAll("[data-kind]")];

  function filter() {
    const isKindOn = new Map(kindBoxes.map((box) => [Number(box.dataset.kind), box.checked]));
    const booleans = new Array(n);
    for (let i = 0; i < n; i++) {
      booleans[i] = isClassOn(rows.codes[i]) && (isKindOn.get(rows.kinds[i]) ?? true);
      visible[i] = booleans[i];
    }
    hide();
    model("shown").booleans = booleans;
    if (model("centers") !== null) model("centered").booleans = Array.from(model("centers").data.code, isClassOn);
    writeNames();
    report();
  }

  for (const box of [...boxes, ...kindBoxes]) box.addEventListener("change", filter);
  for (const [id, value] of [["all", true], ["none", false]]) {
    find(id).addEventListener("click", () => {
      for (const box of boxes) box.checked = value;
      filter();
    });
  }

  // ---- search

  const DIMMED = 0.06; // opacity of points that are not hits, and
  const CLEAR = { text_alpha: { value: 1 }, background_fill_alpha: { value: 0.75 } }; // of names
  const FADED = { text_alpha: { value: 0.25 }, background_fill_alpha: { value: 0 } };
  const FEW = 200; // hits, up to which each is drawn at least
  const LARGE = 11; // pixels wide
  const ownAlpha = points.data.alpha;
  const dimmedAlpha = ownAlpha.map((own) => Math.min(own, DIMMED));
  let searched = ""; // the text that `isHit` is for
  let stops = []; // the hits that pass the filters
  let step = -1; // index of the hit that Enter has reached
  let texts = null;

  // Accents, case and spacing do not matter.
  function folded(text) {
    return text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/\s+/g, " ").trim();
  }

  // One text per row, built for the first search; line breaks separate its fields.
  function searchable() {
    texts ??= Array.from({ length: n }, (_, i) =>
      [
        hasOwnRow ? "" : String(rows.row[i]),
        rows.classes[rows.labels[i]] ?? "",
        rows.classes[rows.predictions[i]] ?? "",
        ...rows.columns.map(({ values }) => values[i] ?? ""),
      ].map(folded).join("\n"),
    );
    return texts;
  }

  function look() {
    clearTimeout(waiting);
    const wanted = folded(search.value);
    if (wanted === searched) return;
    hide();
    searched = wanted;
    isHit = wanted === "" ? null : Uint8Array.from(searchable(), (text) => text.includes(wanted));
    const alpha = isHit === null ? ownAlpha : dimmedAlpha;
    if (points.data.alpha !== alpha) points.data = { ...points.data, alpha };
    if (naming !== null) model("writing").glyph.setv(isHit === null ? CLEAR : FADED);
    report();
  }

  function report() {
    step = -1;
    stops = [];
    let nVisible = 0;
    let nHits = 0;
    for (let i = 0; i < n; i++) {
      nVisible += visible[i];
      nHits += isHit === null ? 0 : isHit[i];
      if (isHit !== null && answers(i)) stops.push(i);
    }
    drawHits();
    const count = (number) => number.toLocaleString("en");
    const all = `${count(n)} ${n === 1 ? "point" : "points"}`;
    const hidden = nHits - stops.length;
    if (isHit === null) {
      find("hits").value = nVisible === n ? all : `${count(nVisible)} of ${all}`;
    } else {
      find("hits").value = `${count(nHits)} of ${all} found${hidden ? `, ${count(hidden)} of them hidden` : ""}`;
    }
  }

  // Hits are on top of all points, and large if they are few.
  function drawHits() {
    const found = model("found");
    if (stops.length === 0 && found.data.x.length === 0) return;
    const hits = {};
    for (const [name, values] of Object.entries(points.data)) hits[name] = stops.map((i) => values[i]);
    hits.alpha = stops.map(() => 1);
    if (stops.length <= FEW) hits.size = hits.size.map((size) => Math.max(size, LARGE));
    found.data = hits;
  }

  let waiting = null;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, n > 20000 ? 250 : 60);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      search.value = "";
      look();
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      look();
      if (stops.length) visit(event.shiftKey ? -1 : 1);
    }
  });

  // Show the next or previous hit in the order of rows; move the map if the hit is outside.
  function visit(direction) {
    if (step === -1) stops.sort((a, b) => rows.row[a] - rows.row[b]);
    step = step === -1 && direction < 0 ? stops.length - 1 : (step + direction + stops.length) % stops.length;
    const i = stops[step];
    bringInto(map.x_range, x[i]);
    bringInto(map.y_range, y[i]);
    find("plot").scrollIntoView({ block: "nearest" });
    show(i, true);
  }

  function bringInto(range, value) {
    const [low, high] = [Math.min(range.start, range.end), Math.max(range.start, range.end)];
    if (value < low || value > high) shift(range, value - (low + high) / 2);
  }

  // ---- the map by keyboard

  const shift = (range, by) => range.setv({ start: range.start + by, end: range.end + by });
  const pan = (range, share) => shift(range, share * (range.end - range.start));
  function zoom(factor) {
    for (const range of [map.x_range, map.y_range]) {
      const [middle, half] = [(range.start + range.end) / 2, (factor * (range.end - range.start)) / 2];
      range.setv({ start: middle - half, end: middle + half });
    }
  }
  const keys = {
    ArrowLeft: () => pan(map.x_range, -0.1),
    ArrowRight: () => pan(map.x_range, 0.1),
    ArrowDown: () => pan(map.y_range, -0.1),
    ArrowUp: () => pan(map.y_range, 0.1),
    "+": () => zoom(0.8),
    "=": () => zoom(0.8),
    "-": () => zoom(1.25),
    0: () => map.reset.emit(),
  };
  find("plot").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });

  // Bokeh's tools are elements without a role.
  for (const { el } of views.find_one(map.toolbar)?.tool_button_views ?? []) {
    el.setAttribute("role", "button");
    el.setAttribute("aria-label", el.title);
  }

  fit();
  document.documentElement.dataset.ready = "true";
})();

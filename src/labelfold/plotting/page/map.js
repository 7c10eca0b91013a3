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
  await Bokeh.embed.embed_item(plot, "plot");
  const drawing = Bokeh.documents.at(-1);
  const model = (name) => drawing.get_model_by_name(name);
  const map = model("map");
  const points = model("points");
  const { x, y } = points.data;
  const ownAlpha = points.data.alpha;
  const n = x.length;
  const card = find("card");
  const ring = find("ring");
  const search = find("search");

  const LONGEST = 400; // characters of a value that the card shows
  const REACH = 14; // pixels from the pointer within which a point answers
  const DIMMED = 0.06; // opacity of points that a search does not find

  // What the filters and the search leave.
  const visible = new Uint8Array(n).fill(1);
  let isHit = null; // null while nothing is searched for
  let steps = -1; // the hit that Enter has come to, among `stops`
  let stops = [];

  const answers = (i) => visible[i] && (isHit === null || isHit[i]);

  // WebGL without a graphics card is as slow as the canvas, and draws all points while they move; the
  // canvas draws a part of them.
  function hasGraphicsCard() {
    const gl = document.createElement("canvas").getContext("webgl");
    if (gl === null) return false;
    const names = gl.getExtension("WEBGL_debug_renderer_info");
    const renderer = gl.getParameter(names === null ? gl.RENDERER : names.UNMASKED_RENDERER_WEBGL);
    gl.getExtension("WEBGL_lose_context")?.loseContext();
    return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);
  }

  // ---- details of a point

  function entries(i) {
    const found = [];
    if (rows.row !== null) found.push(["row", String(rows.row[i])]);
    if (rows.labels[i] >= 0) found.push(["label", rows.classes[rows.labels[i]]]);
    if (rows.predictions[i] >= 0) {
      const name = rows.classes[rows.predictions[i]];
      const percent = rows.confidence === null ? "" : ` (${Math.round(100 * rows.confidence[i])} %)`;
      found.push(["predicted", shortened(name) + percent]);
    }
    if (rows.codes[i] < 0) found.push(["label", "none"]);
    if (rows.kinds[i] === 3) found.push(["new", "yes"]);
    for (const { name, values } of rows.columns) {
      const entry = [name, values[i] ?? "–"];
      if (name === "row") found.unshift(entry);
      else found.push(entry);
    }
    return found;
  }

  function shortened(text) {
    return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  }

  function element(tag, text) {
    const made = document.createElement(tag);
    made.dir = "auto";
    made.textContent = shortened(text);
    return made;
  }

  let shown = null;

  function show(i, left, top) {
    if (i !== shown) {
      shown = i;
      const list = document.createElement("dl");
      for (const [name, value] of entries(i)) list.append(element("dt", name), element("dd", value));
      card.replaceChildren(list);
      if (rows.images !== null) {
        const image = document.createElement("img");
        image.src = rows.images[i];
        image.alt = "";
        card.prepend(image);
      }
    }
    card.hidden = false;
    const { width, height } = card.getBoundingClientRect();
    const isRight = left + 16 + width > innerWidth - 8;
    const isBelow = top + 16 + height > innerHeight - 8;
    card.style.left = `${Math.max(8, isRight ? left - 16 - width : left + 16)}px`;
    card.style.top = `${Math.max(8, isBelow ? top - 16 - height : top + 16)}px`;
  }

  function hide() {
    shown = null;
    card.hidden = ring.hidden = true;
    unmark();
  }

  // A ring drawn by Bokeh stays with its point, and has the whole map painted again.
  function mark(i) {
    ring.hidden = true;
    model("marked").data = { x: [x[i]], y: [y[i]] };
  }

  function unmark() {
    if (model("marked").data.x.length) model("marked").data = { x: [], y: [] };
  }

  // Show the nearest point in reach, the upper of two in the same place. The ring is an element of
  // the page here, so that a pointer over many points has nothing painted.
  function point(event) {
    const { x_range, y_range, inner_width, inner_height } = map;
    const across = inner_width / (x_range.end - x_range.start);
    const down = inner_height / (y_range.start - y_range.end);
    let best = REACH * REACH;
    let found = null;
    for (let i = 0; i < n; i++) {
      if (!answers(i)) continue;
      const dx = (x[i] - event.x) * across;
      const dy = (y[i] - event.y) * down;
      const distance = dx * dx + dy * dy;
      if (distance <= best) [best, found] = [distance, i];
    }
    if (found === null) return hide();
    unmark();
    const box = find("plot").getBoundingClientRect();
    const left = box.left + event.sx + (x[found] - event.x) * across;
    const top = box.top + event.sy + (y[found] - event.y) * down;
    ring.style.left = `${left}px`;
    ring.style.top = `${top}px`;
    ring.hidden = false;
    show(found, left, top);
  }

  map.on_event("mousemove", point);
  map.on_event("tap", point);
  for (const name of ["panstart", "pinchstart", "wheel", "reset"]) map.on_event(name, hide);
  // A finger leaves when it is lifted, and the details that it asked for stay.
  let isTouch = false;
  find("plot").addEventListener("pointerdown", (event) => (isTouch = event.pointerType === "touch"), true);
  find("plot").addEventListener("pointermove", (event) => (isTouch = event.pointerType === "touch"), true);
  map.on_event("mouseleave", () => isTouch || hide());
  addEventListener("scroll", hide, { passive: true });

  // ---- filters

  const boxes = [...document.querySelectorAll("[data-class]")];
  const kindBoxes = [...document.querySelectorAll("[data-kind]")];

  function filter() {
    const isOn = new Map(boxes.map((box) => [box.dataset.class, box.checked]));
    const isKindOn = new Map(kindBoxes.map((box) => [Number(box.dataset.kind), box.checked]));
    const isClassOn = (code) => isOn.get(code < 0 ? "none" : String(code));
    const booleans = new Array(n);
    for (let i = 0; i < n; i++) {
      booleans[i] = isClassOn(rows.codes[i]) && (isKindOn.get(rows.kinds[i]) ?? true);
      visible[i] = booleans[i];
    }
    hide();
    model("shown").booleans = booleans;
    for (const [source, view] of [["names", "named"], ["centers", "centered"]]) {
      if (model(source) !== null) model(view).booleans = Array.from(model(source).data.code, isClassOn);
    }
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

  let texts = null;

  // One text a row, made when the first search needs it; a line break parts what is searched.
  function searchable() {
    texts ??= Array.from({ length: n }, (_, i) =>
      [
        rows.row === null ? "" : rows.row[i],
        rows.classes[rows.labels[i]] ?? "",
        rows.classes[rows.predictions[i]] ?? "",
        ...rows.columns.map(({ values }) => values[i] ?? ""),
      ].join("\n").toLowerCase(),
    );
    return texts;
  }

  function look() {
    const wanted = search.value.trim().toLowerCase();
    hide();
    if (wanted === "" && isHit === null) return;
    isHit = wanted === "" ? null : Uint8Array.from(searchable(), (text) => text.includes(wanted));
    const alpha = isHit === null ? ownAlpha : Float32Array.from(ownAlpha, (own, i) => (isHit[i] ? 1 : Math.min(own, DIMMED)));
    points.data = { ...points.data, alpha };
    report();
  }

  function report() {
    steps = -1;
    stops = [];
    let nVisible = 0;
    let nHits = 0;
    for (let i = 0; i < n; i++) {
      nVisible += visible[i];
      nHits += isHit === null ? 0 : isHit[i];
      if (isHit !== null && answers(i)) stops.push(i);
    }
    const count = (number) => number.toLocaleString("en");
    const hidden = nHits - stops.length;
    if (isHit === null) {
      find("hits").value = nVisible === n ? `${count(n)} points` : `${count(nVisible)} of ${count(n)} points`;
    } else {
      find("hits").value = `${count(nHits)} of ${count(n)} points found${hidden ? `, ${count(hidden)} of them hidden` : ""}`;
    }
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
    } else if (event.key === "Enter") {
      event.preventDefault();
      clearTimeout(waiting);
      if (isHit === null || steps === -1) look();
      if (stops.length) visit(event.shiftKey ? -1 : 1);
    }
  });

  // Show the next hit or the one before, in the order of rows, and move the map where it is outside.
  function visit(direction) {
    if (steps === -1 && rows.row !== null) stops.sort((a, b) => rows.row[a] - rows.row[b]);
    steps = steps === -1 && direction < 0 ? stops.length - 1 : (steps + direction + stops.length) % stops.length;
    const i = stops[steps];
    bringInto(map.x_range, x[i]);
    bringInto(map.y_range, y[i]);
    const box = find("plot").getBoundingClientRect();
    mark(i);
    show(i, box.left + 40, box.top + 30);
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
    Escape: hide,
  };
  find("plot").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    if (event.key !== "Escape") hide();
    keys[event.key]();
  });

  document.documentElement.dataset.ready = "true";
})();

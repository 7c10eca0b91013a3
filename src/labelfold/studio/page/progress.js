// How far the labels have come: figures, the curve of the estimated error, and the sizes of the classes.
import { counted, grouped, make, shapeIcon, told } from "./elements.js";

const SVG = "http://www.w3.org/2000/svg";
const [LEFT, RIGHT, TOP, BOTTOM] = [38, 392, 10, 166]; // of the curve, in units of its box

const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;

function draw(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// The error against the number of labels, with its interval as a band. Of fits with the same number of labels the last
// one counts.
export function drawCurve(svg, curve) {
  const points = [...new Map(curve.map((one) => [one.n_labels, one])).values()].sort((a, b) => a.n_labels - b.n_labels);
  svg.replaceChildren();
  if (points.length === 0) return;
  const most = Math.max(2, points.at(-1).n_labels);
  const highest = Math.min(1, 1.1 * Math.max(0.05, ...points.map(({ error }) => 1.5 * error), points.at(-1).high));
  const x = (n) => LEFT + ((RIGHT - LEFT) * n) / most;
  const y = (share) => BOTTOM - ((BOTTOM - TOP) * Math.min(share, highest)) / highest;
  const path = (places) => `M${places.map(([n, share]) => `${x(n).toFixed(1)} ${y(share).toFixed(1)}`).join("L")}`;
  for (const share of [0, highest / 2, highest]) {
    svg.append(draw("line", { class: "axis", x1: LEFT, x2: RIGHT, y1: y(share), y2: y(share) }));
    svg.append(draw("text", { x: LEFT - 5, y: y(share) + 4, "text-anchor": "end" }, percent(share, 0)));
  }
  svg.append(draw("text", { x: LEFT, y: BOTTOM + 18 }, "0"));
  svg.append(draw("text", { x: RIGHT, y: BOTTOM + 18, "text-anchor": "end" }, counted(most, "label")));
  const [highs, lows] = [points.map((one) => [one.n_labels, one.high]), points.map((one) => [one.n_labels, one.low])];
  if (points.length > 1) svg.append(draw("path", { class: "band", d: `${path([...highs, ...lows.reverse()])}Z` }));
  svg.append(draw("path", { class: "line", d: path(points.map((one) => [one.n_labels, one.error])) }));
  const last = curve.at(-1); // the newest fit, which has fewer labels after an undo
  svg.append(draw("circle", { class: "dot", cx: x(last.n_labels), cy: y(last.error), r: 3.5 }));
}

export function showProgress(studio) {
  const { state, viewer } = studio;
  const { fit, nLabels, nRows, nAside, classes } = state;
  const nClasses = classes.filter(({ n }) => n > 0).length;
  const figures = [["Labels", `${grouped(nLabels)} of ${counted(nRows, "row")}`, "large"]];
  if (nAside > 0) figures.push(["Set aside", grouped(nAside), ""]);
  if (fit === null) {
    const missing = nClasses === 0 ? "label rows of two classes." : "one class only. Label a row of another class.";
    figures.push(["Error", `Nothing to fit yet: ${missing}`, ""]);
  } else {
    figures.push(["Estimated error", percent(fit.error), "large"]);
    figures.push(["", `${percent(fit.low)} to ${percent(fit.high)} (${percent(fit.level, 0)} interval)`, ""]);
    figures.push(["Last fit", `${fit.seconds} s, ${counted(fit.nLabels, "label")}`, ""]);
  }
  const line = ([name, text, className]) => [make("dt", {}, name), make("dd", { className }, text)];
  studio.part(".figures").replaceChildren(...figures.flatMap(line));
  studio.part(".promise").textContent = fit?.promise ?? "";
  drawCurve(studio.part(".curve"), state.curve);
  studio.part(".sizes-title").hidden = fit === null;
  const lines = (fit?.sizes ?? []).map(({ label, share, low, high }) => {
    const code = studio.codeOf(label);
    const icon = code === undefined || viewer === null ? make("i") : shapeIcon(viewer.data.classes[code].shape, code);
    const range = `${percent(share)} (${percent(low, 0)} to ${percent(high, 0)})`;
    const bar = make("meter", { min: 0, max: 1, value: share });
    return make("li", {}, icon, told("span", label), bar, make("span", { className: "count" }, range));
  });
  studio.part(".sizes").replaceChildren(...lines);
}

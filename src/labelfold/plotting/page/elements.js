// Elements of a page. Text becomes text nodes, so nothing that the data say is ever parsed as HTML.
import { SHAPES } from "./painter.js";

const SVG = "http://www.w3.org/2000/svg";

export function make(tag, attributes, ...children) {
  const made = Object.assign(document.createElement(tag), attributes);
  made.append(...children);
  return made;
}

// Text of the data, in its own direction.
export const told = (tag, text, className = "") => make(tag, { dir: "auto", className }, text);

// The shape of a class in its color, which the page defines as --class-0, --class-1...
export function shapeIcon(shape, code) {
  const icon = document.createElementNS(SVG, "svg");
  icon.setAttribute("viewBox", "-1.1 -1.1 2.2 2.2");
  icon.setAttribute("class", "shape");
  icon.append(document.createElementNS(SVG, "path"));
  icon.firstChild.setAttribute("d", SHAPES[shape]);
  icon.style.fill = `var(--class-${code})`;
  return icon;
}

// A line of a list, with a count at its end.
export function listed(count, name, ...icons) {
  const number = make("span", { className: "count" }, grouped(count));
  return make("li", {}, make("label", {}, ...icons, told("bdi", name, "name"), number));
}

export const grouped = (n) => n.toLocaleString("en");
export const counted = (n, word) => `${grouped(n)} ${word}${n === 1 ? "" : "s"}`;

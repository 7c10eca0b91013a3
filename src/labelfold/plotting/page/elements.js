// Elements of a page. Text becomes text nodes, so nothing that the data say is ever parsed as HTML.
import { SHAPES } from "./painter.js";

const SVG = "http://www.w3.org/2000/svg";

export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// Text of the data, in its own direction.
export const told = (tag, text, attributes = {}) => make(tag, { dir: "auto", ...attributes }, text);

function drawing(name, box, path) {
  const made = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({ class: name, viewBox: box, "aria-hidden": "true" })) made.setAttribute(key, value);
  made.append(document.createElementNS(SVG, "path"));
  made.firstChild.setAttribute("d", path);
  return made;
}

export function shapeIcon(shape, color) {
  const icon = drawing("shape", "-1.1 -1.1 2.2 2.2", SHAPES[shape]);
  icon.style.fill = `rgb(${color})`;
  return icon;
}

export function iconButton(title, path, attributes) {
  return make("button", { type: "button", title, ariaLabel: title, ...attributes }, drawing("icon", "0 0 24 24", path));
}

export const counted = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

// Rows as cards: an image, a text or columns, with the label that a row has or the one that is predicted.
import { make, shapeIcon, told } from "./elements.js";

const percent = (share) => `${Math.round(100 * share)} %`;
const SOURCES = { file: "in the file", audit: "given, audit" };

export const picture = (row) => make("img", { src: `api/image/${row}`, alt: `Row ${row + 1}`, loading: "lazy" });

// A class with its shape and color.
export function chip(studio, name, note) {
  const code = studio.codeOf(name);
  const parts = code === undefined ? [] : [shapeIcon(studio.viewer.data.classes[code].shape, code)];
  return make("span", { className: "chip" }, ...parts, told("b", name), make("small", {}, note));
}

function marks(studio, { label, source, predicted, confidence }) {
  const known = [];
  if (source === "aside") known.push(make("small", {}, "set aside"));
  else if (source !== undefined) known.push(chip(studio, label, SOURCES[source] ?? "given"));
  const isOther = predicted !== undefined && predicted !== label;
  return isOther ? [...known, chip(studio, predicted, `predicted ${percent(confidence)}`)] : known;
}

export function tile(studio, card, { drop } = {}) {
  const { form, columns } = studio.state;
  const made = make("article", { className: "tile", tabIndex: 0 });
  made.dataset.row = card.row;
  if (form === "image") made.append(picture(card.row));
  if (form === "text") made.append(told("p", card.texts[0] ?? "–"));
  const shown = columns.map((name, k) => [name, card.texts[k]]).slice(form === "text" ? 1 : 0);
  if (shown.length > 0) {
    const list = make("dl");
    for (const [name, text] of shown) list.append(told("dt", name), told("dd", text ?? "–"));
    made.append(list);
  }
  made.append(...marks(studio, card), told("span", card.id, "id"));
  made.addEventListener("click", () => studio.pointOut(card.row));
  made.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target !== made) return;
    event.preventDefault();
    studio.pointOut(card.row);
  });
  if (drop !== undefined) {
    const button = make("button", { type: "button", className: "drop", title: "Take out of the selection" }, "×");
    button.addEventListener("click", (event) => (event.stopPropagation(), drop(card.row)));
    made.append(button);
  }
  return made;
}

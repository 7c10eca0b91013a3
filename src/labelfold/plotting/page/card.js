// The card with the details of one point: its class, image, texts and columns.
import { make, told } from "./elements.js";

const SHORT = 400; // characters of a value while the card follows the pointer
const LINE = 48; // characters, from which on a value has lines of its own
const [GAP, EDGE] = [16, 8]; // pixels between a point and its card, and from there to the edge of the map

// Never cuts a character (surrogate pair) in half.
const shortened = (text) =>
  text.length > SHORT ? `${text.slice(0, SHORT).replace(/[\ud800-\udbff]$/, "")}…` : text;

export class Card {
  constructor(element) { Object.assign(this, { element, row: null, isPinned: false }); }

  // `details` returns elements for the top and pairs of texts. A pinned card shows each text in full.
  show(row, isPinned, details) {
    if (this.row === row && this.isPinned === isPinned) return;
    Object.assign(this, { row, isPinned });
    const { top, values } = details();
    const write = isPinned ? (text) => text : shortened;
    const list = make("dl");
    for (const [name, value] of values) {
      const className = value.length > LINE || value.includes("\n") ? "long" : "";
      list.append(told("dt", write(name), className), told("dd", write(value), className));
    }
    this.element.replaceChildren(...top, list);
    this.element.classList.toggle("pinned", isPinned);
    Object.assign(this.element, { hidden: false, scrollTop: 0 });
  }

  // Beside a point of the map, on the side with more room.
  place([left, top], { width, height }) {
    const { style } = this.element;
    const [above, below] = [top - GAP - EDGE, height - top - GAP - EDGE];
    style.maxHeight = `${Math.max(80, above, below)}px`;
    const { offsetWidth: wide, offsetHeight: high } = this.element;
    const start = left + GAP + wide > width - EDGE ? left - GAP - wide : left + GAP;
    style.left = `${Math.max(EDGE, Math.min(start, width - wide - EDGE))}px`;
    style.top = `${Math.max(EDGE, high > below && above > below ? top - GAP - high : top + GAP)}px`;
  }

  hide() {
    Object.assign(this, { row: null, isPinned: false });
    this.element.hidden = true;
  }
}

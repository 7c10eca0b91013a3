// The card with the details of one point: its class, image, texts and columns.
import { make, told } from "./elements.js";

const SHORT = 400; // characters of a value while the card follows the pointer
const LINE = 48; // characters, from which on a value has lines of its own
const GAP = 16; // pixels between a point and its card
const EDGE = 8; // pixels between the card and the edge of the map

export class Card {
  constructor(host) {
    this.element = host.appendChild(make("aside", { className: "card", hidden: true, tabIndex: -1, role: "status" }));
    this.isPinned = false;
    this.row = null;
  }

  // Details are { head, image, values }: elements, and pairs of texts. A pinned card shows each text in full.
  show(row, isPinned, details) {
    if (this.row === row && this.isPinned === isPinned) return;
    Object.assign(this, { row, isPinned });
    const { head, image, values } = details();
    const write = isPinned ? (text) => text : shortened;
    const list = make("dl");
    for (const [name, value] of values) {
      const isLong = value.length > LINE || value.includes("\n");
      list.append(make("div", { className: isLong ? "long" : "" }, told("dt", write(name)), told("dd", write(value))));
    }
    this.element.replaceChildren(...[image, head, list].filter((part) => part !== null));
    this.element.classList.toggle("pinned", isPinned);
    this.element.hidden = false;
    this.element.scrollTop = 0;
  }

  // Beside a point of the map, on the side with more room.
  place(left, top, { width, height }) {
    const { style } = this.element;
    const [above, below] = [top - GAP - EDGE, height - top - GAP - EDGE];
    style.maxHeight = `${Math.max(80, above, below)}px`;
    const { offsetWidth: wide, offsetHeight: high } = this.element;
    const start = left + GAP + wide > width - EDGE ? left - GAP - wide : left + GAP;
    style.left = `${Math.max(EDGE, Math.min(start, width - wide - EDGE))}px`;
    style.top = `${Math.max(EDGE, high > below && above > below ? top - GAP - high : top + GAP)}px`;
  }

  hide() {
    this.row = null;
    this.isPinned = false;
    this.element.hidden = true;
  }
}

// Never cuts a character (surrogate pair) in half.
function shortened(text) {
  return text.length > SHORT ? `${text.slice(0, SHORT).replace(/[\ud800-\udbff]$/, "")}…` : text;
}

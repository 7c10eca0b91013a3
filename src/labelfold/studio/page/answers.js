// The buttons and keys that label: one per class, digits for the first ten.
import { make, shapeIcon, told } from "./elements.js";

// The class of each digit: a class that is called by a digit has this digit, others take those that are left.
export function digitsOf(names) {
  const keys = new Map();
  for (const name of names) if (/^\d$/.test(name)) keys.set(name, name);
  const left = [..."1234567890"].filter((digit) => !keys.has(digit));
  for (const name of names) if (!/^\d$/.test(name) && left.length > 0) keys.set(left.shift(), name);
  return keys;
}

export class Answers {
  constructor(studio) {
    this.studio = studio;
    this.bar = studio.part(".classes-bar");
    this.box = studio.part(".naming-box");
    this.submit = studio.part(".answers [type=submit]");
    this.digits = new Map();
    studio.part(".answers form").addEventListener("submit", (event) => {
      event.preventDefault();
      const name = this.box.value.trim();
      if (name === "") return;
      const { isReady } = studio;
      studio.label(name);
      if (!isReady) return; // the name stays, to be used in a moment
      this.box.value = "";
      this.box.blur();
    });
    this.box.addEventListener("keydown", (event) => event.key === "Escape" && this.box.blur());
  }

  learn(names) {
    this.digits = digitsOf(names);
    const keyed = [...this.digits].sort().map(([, name]) => name);
    this.names = [...keyed, ...names.filter((name) => !keyed.includes(name))];
  }

  // Buttons of all classes; `guess` is the class that is suggested. Buttons that are there already stay, and keep the
  // focus; so does the box, in which a person may be typing.
  show(guess, isReady) {
    const { studio, bar, names } = this;
    const content = JSON.stringify(names.map((name) => [name, studio.codeOf(name)]));
    if (bar.content !== content) {
      bar.content = content;
      const focused = bar.contains(document.activeElement) ? document.activeElement.title : null;
      bar.replaceChildren(...this.makeButtons());
      [...bar.children].find(({ title }) => title === focused)?.focus();
      studio.part("#known").replaceChildren(...names.map((value) => make("option", { value })));
    }
    for (const button of bar.children) {
      button.disabled = !isReady;
      button.classList.toggle("guess", button.title === guess);
    }
    this.box.readOnly = this.submit.disabled = !studio.isOpen;
  }

  makeButtons() {
    const { studio, names } = this;
    const keyOf = new Map([...this.digits].map(([digit, name]) => [name, digit]));
    return names.map((name) => {
      const code = studio.codeOf(name);
      const icon = code === undefined ? make("i") : shapeIcon(studio.viewer.data.classes[code].shape, code);
      const button = make("button", { type: "button", title: name }, icon, told("span", name, "name"));
      if (keyOf.has(name)) button.append(make("kbd", {}, keyOf.get(name)));
      button.addEventListener("click", () => studio.label(name));
      return button;
    });
  }
}

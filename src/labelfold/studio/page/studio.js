// The labeling page: the viewer beside rows to label. The server holds all state; this page shows it and sends actions.
import { Answers } from "./answers.js";
import { follow, get, getMap, getMask, post } from "./api.js";
import { chip, picture, tile } from "./cards.js";
import { counted, grouped, make } from "./elements.js";
import { showProgress } from "./progress.js";
import { Viewer } from "./viewer.js";

const PAGE = 60; // cards that are shown at a time
const AHEAD = 6; // cards of the queue that are there before they are shown
const REASONS = {
  uncertain: "Uncertain: a label here decides most about the rows around it.",
  uncovered: "Uncovered: no label is near.",
  "unlike every labeled row": "Unlike every labeled row: perhaps a class that has no name yet.",
  suspect: "Suspect: this label looks wrong. Give it again to keep it.",
  audit: "Audit: drawn at random, so that the estimated error can be trusted.",
};
const KEYS = [
  ["1", "Label the rows shown: digits are on the class buttons"],
  ["Enter", "Type the name of a class, new or known"],
  ["y", "Accept the suggested label"],
  ["Space", "Skip to the next row of the queue"],
  ["b", "Back in the queue"],
  ["Delete", "Remove the label"],
  ["s", "Set aside: not used in the fit"],
  ["z", "Undo; Z redoes"],
  ["q", "Queue: rows to label next"],
  ["w", "Selection"],
  ["e", "Suspects: labels that look wrong"],
  ["g", "Progress"],
  ["m", "Map: search, classes, filters"],
  ["x", "Freeze the map, or let it move"],
  ["o", "Export"],
];

// A row comes again if its label looks wrong.
const keyOf = ({ row, reason }) => `${row} ${reason === "suspect"}`;

// The viewer, with search on the server, which has the whole texts.
class LabelingMap extends Viewer {
  async look() {
    clearTimeout(this.waiting);
    const text = this.query.value;
    if (text === (this.searched ?? "")) return;
    this.searched = text;
    const hits = text.trim() === "" ? null : await getMask(`search?text=${encodeURIComponent(text)}`);
    if (this.searched !== text) return;
    this.hits = hits;
    this.hideCard();
    this.light();
  }
}

class Studio {
  constructor(root) {
    Object.assign(this, { root, viewer: null, state: null, failed: null, isLost: false, notice: "" });
    Object.assign(this, { queue: [], place: 0, suspects: [], suspect: 0, shown: PAGE, cards: new Map() });
    this.answers = new Answers(this);
    for (const one of root.querySelectorAll("[data-do]")) {
      one.addEventListener("click", () => this.keys[one.dataset.do]());
    }
    this.part(".more").addEventListener("click", () => ((this.shown += PAGE), this.showSelection()));
    this.listen();
    follow((state) => this.hear(state), () => this.lose());
  }

  part(selector) {
    return this.root.querySelector(selector);
  }

  get tab() {
    return this.root.dataset.tab;
  }

  get isOpen() {
    return this.viewer !== null && !this.isLost && this.state.notSaved === "";
  }

  // The number of a class on the map; undefined for one that the map does not have yet.
  codeOf(name) {
    return this.codes?.get(name);
  }

  // ---- the server's state

  hear(state) {
    if (state.order < (this.state?.order ?? 0)) return; // overtaken by a newer one
    [this.state, this.isLost] = [state, false];
    this.root.dataset.form = state.form;
    document.title = `${state.title} – labelfold`;
    this.showState();
    if (state.hasMap) this.renew();
  }

  lose() {
    this.isLost = true;
    if (this.state !== null) this.showState();
  }

  // Fetch what belongs to the newest state, and again if there is a newer one by then.
  async renew() {
    this.isBehind = true;
    if (this.isRenewing) return;
    this.isRenewing = true;
    try {
      while (this.isBehind) {
        this.isBehind = false;
        if (this.viewer === null) this.open(await getMap("map?details=1"));
        const changes = await Promise.all([this.renewMap(), this.renewProposals()]);
        if (changes.some(Boolean)) this.showTab();
      }
    } catch (error) {
      this.giveUp(error);
    } finally {
      this.isRenewing = false;
    }
  }

  giveUp(error) {
    if (!("status" in error)) throw error;
    this.lose();
  }

  async renewMap() {
    const isNew = ["map", "event"].some((name) => this.viewer.data[name] !== this.state[name]);
    if (isNew) this.updateMap(await getMap("map"));
    return isNew;
  }

  open(data) {
    const all = this.part('[data-key="0"]'); // digits are for classes
    Object.assign(all, { title: "Show all (Home)" }).dataset.key = "Home";
    const help = this.part("dialog ul");
    help.querySelector('[data-for="0"] kbd').textContent = "Home";
    help.prepend(...KEYS.map(([key, text]) => make("li", {}, make("kbd", {}, key), ` ${text}`)));
    if (this.state.form === "image") data.image = picture;
    this.viewer = this.root.viewer = new LabelingMap(this.root, data);
    this.viewer.keys.Home = this.viewer.keys[0];
    delete this.viewer.keys[0];
    this.viewer.addEventListener("select", () => this.onSelect());
    this.learnCodes();
    this.part(".waiting").remove();
    document.documentElement.dataset.ready = "true";
  }

  updateMap(data) {
    const { focus } = this.viewer.scatter;
    this.viewer.update({ confidence: undefined, ...data }); // none while there is nothing to fit
    this.learnCodes();
    this.viewer.scatter.focus = focus;
  }

  learnCodes() {
    const { classes } = this.viewer.data;
    this.codes = new Map(classes.slice(0, -1).map(({ name }, code) => [name, code]));
  }

  async renewProposals() {
    const version = `${this.state.proposals} ${this.state.event}`;
    if (this.proposed === version) return false;
    const [queue, suspects] = await Promise.all([get("queue"), get("suspects")]);
    this.proposed = version;
    // Rows to go back to, and the row that is shown, stay, whatever the newest fit proposes.
    const seen = this.queue.slice(0, this.place + 1);
    const keys = new Set(seen.map(keyOf));
    this.queue = [...seen, ...queue.filter((one) => !keys.has(keyOf(one)))];
    const suspected = this.tab === "suspects" ? this.current?.row : undefined;
    this.suspects = suspects;
    this.suspect = Math.max(0, suspects.findIndex(({ row }) => row === suspected));
    this.cards = await this.fetchCards();
    return true;
  }

  // Cards of the rows that come next: an answer does not wait for the next row.
  async fetchCards() {
    const { queue, place, suspects, suspect } = this;
    const near = [...queue.slice(Math.max(0, place - 1), place + AHEAD), ...suspects.slice(suspect, suspect + 2)];
    const rows = [...new Set(near.map(({ row }) => row))];
    if (this.state.form === "image") rows.forEach((row) => (new Image().src = picture(row).src));
    const cards = rows.length === 0 ? [] : await post("cards", { rows });
    return new Map(cards.map((card) => [card.row, card]));
  }

  // ---- actions

  // The rows that an answer is about, and how they came up.
  get target() {
    if (this.viewer === null) return { rows: [], source: "map" };
    const isMap = this.tab === "selected" || this.tab === "legend";
    if (isMap) return { rows: Array.from(this.viewer.selection), source: "map" };
    const { row, reason } = this.current ?? {};
    const source = this.tab === "suspects" ? "suspect" : reason;
    // Only a row that is on the screen: its card may still be on the way.
    return { rows: row === undefined || row !== this.onScreen ? [] : [row], source };
  }

  get current() {
    return { suspects: this.suspects[this.suspect], queue: this.queue[this.place] }[this.tab];
  }

  get isReady() {
    return this.isOpen && this.target.rows.length > 0;
  }

  label(name) {
    return this.act({ action: "label", label: name });
  }

  // The next row of the queue is shown at once; the answer is saved meanwhile.
  async act(action) {
    const { rows, source } = this.target;
    if (!this.isReady) return this.notify(this.tab === "selected" ? "Select rows first." : "There is no row to label.");
    const step = this.tab === "queue" ? 1 : 0;
    if (step > 0) this.move(step);
    if (!(await this.send("label", { ...action, rows, source })) && step > 0) this.move(-step);
  }

  // Undo or redo; a row of the queue that loses its label so is shown again.
  async step(path) {
    const { undone } = this.state;
    if (!(await this.send(path)) || this.tab !== "queue") return;
    if (path === "undo" && this.queue[this.place - 1]?.row === this.state.undone) this.move(-1);
    if (path === "redo" && this.queue[this.place]?.row === undone) this.move(1);
  }

  notify(text) {
    this.notice = text;
    this.showAnswers();
  }

  // Send an action after those before it; it is saved when the answer comes. One that could not be saved can be tried
  // again.
  send(path, body) {
    return (this.sending = (this.sending ?? Promise.resolve()).then(() => this.sendNow(path, body)));
  }

  async sendNow(path, body) {
    try {
      const state = await post(path, body);
      [this.failed, this.notice] = [null, ""];
      this.hear(state);
      return true;
    } catch (error) {
      if (!("status" in error)) throw error;
      if (error.status === 507 || error.status === 0) this.failed = [path, body];
      if (error.status === 507) this.state.notSaved = error.message;
      else if (error.status === 0) this.isLost = true;
      else this.notice = error.message;
      this.showState();
      return false;
    }
  }

  async retry() {
    const [, body] = this.failed ?? [];
    if (this.failed === null) this.state.notSaved = "";
    else if ((await this.send(...this.failed)) && body?.rows?.[0] === this.current?.row) this.move(1);
    this.showState();
  }

  move(step) {
    if (this.tab === "suspects") this.suspect = Math.max(0, Math.min(this.suspects.length - 1, this.suspect + step));
    else this.place = Math.max(0, Math.min(this.queue.length, this.place + step));
    this.showTab();
  }

  accept() {
    const guess = this.guess;
    if (guess !== undefined) this.label(guess);
  }

  get guess() {
    const { current } = this;
    return this.tab === "suspects" ? current?.suggested : this.cards.get(current?.row)?.predicted;
  }

  // ---- what is shown

  showState() {
    const { state } = this;
    const { fit, nLabels } = state;
    const doing = state.status === "" ? "" : ` · ${state.status}${state.isError ? "" : " …"}`;
    const error = fit === null ? "" : ` · error ${(100 * fit.error).toFixed(1)} %`;
    this.part(".status").textContent = `${counted(nLabels, "label")}${error}${doing}`;
    this.part(".status").classList.toggle("is-error", state.isError);
    const waiting = this.part(".waiting");
    const opening = state.isError ? state.status : `${state.status || "opening the map"} …`;
    if (waiting !== null) waiting.textContent = opening;
    const lost = "The server does not answer: nothing can be saved. Start labelfold label again.";
    const trouble = this.isLost ? lost : state.notSaved;
    this.part(".banner").hidden = trouble === "";
    this.part(".banner span").textContent = trouble;
    this.part(".banner button").hidden = this.isLost;
    const [undo, redo, freeze] = this.root.querySelectorAll(".steps-bar button");
    for (const [button, name] of [[undo, "undo"], [redo, "redo"]]) {
      button.disabled = !this.isOpen || state[name] === null;
      button.title = `${button.textContent} (${button.dataset.do}): ${state[name] ?? "nothing"}`;
    }
    this.answers.learn(state.classes.map(({ name }) => name));
    freeze.ariaPressed = String(state.isFrozen);
    showProgress(this);
    this.part('[data-tab="suspects"] .count').textContent = state.nSuspects > 0 ? grouped(state.nSuspects) : "";
    this.showAnswers();
  }

  choose(tab) {
    this.root.dataset.tab = tab;
    this.showTab();
  }

  onSelect() {
    this.shown = PAGE;
    const n = this.viewer.selection.length;
    this.part('[data-tab="selected"] .count').textContent = n > 0 ? grouped(n) : "";
    if (n > 0 && this.tab !== "legend") this.choose("selected");
    else if (this.tab === "selected") this.showTab();
  }

  showTab() {
    for (const one of this.root.querySelectorAll("[role=tab]")) one.ariaSelected = String(one.dataset.tab === this.tab);
    if (this.viewer === null) return;
    this.turn = {}; // what an earlier call still waits for is not shown any more
    const show = { queue: this.showQueue, selected: this.showSelection, suspects: this.showSuspects };
    show[this.tab]?.call(this).catch((error) => this.giveUp(error));
    this.showAnswers();
  }

  showAnswers() {
    const { isReady, guess } = this;
    const { rows } = this.target;
    this.answers.show(guess, isReady);
    this.part(".target").textContent = this.notice || (rows.length > 1 ? `Label ${counted(rows.length, "row")}:` : "");
    for (const key of ["Delete", "s"]) this.part(`.moves [data-do="${key}"]`).disabled = !isReady;
    this.part(".accept").disabled = !isReady || guess === undefined;
    this.part(".accept").textContent = guess === undefined ? "Accept" : `Accept ${guess}`;
  }

  // Show cards in place of others. What is there already stays, and with it what has the focus.
  fill(list, cards, options) {
    const content = JSON.stringify([cards, this.codes.size]);
    if (list.content === content) return;
    list.content = content;
    const focused = list.contains(document.activeElement) ? document.activeElement.closest(".tile").dataset.row : null;
    list.replaceChildren(...cards.map((card) => tile(this, card, options)));
    if (focused !== null) list.querySelector(`[data-row="${focused}"]`)?.focus();
  }

  // The card of the row that an answer is about.
  async showCurrent(selector) {
    const { current, turn } = this;
    const row = current?.row ?? null;
    const show = () => {
      const card = this.cards.get(row);
      this.onScreen = card?.row;
      this.fill(this.part(selector), card === undefined ? [] : [card]);
    };
    this.focusOn(row);
    show();
    if (row === null || this.onScreen === row) return;
    const cards = await this.fetchCards();
    if (turn !== this.turn) return;
    this.cards = cards;
    show();
    this.showAnswers();
  }

  showQueue() {
    const { current } = this;
    const isStale = this.state.proposals !== this.state.event;
    const ended = isStale ? "More rows come with the next fit." : "All proposed rows are labeled.";
    const reason = this.part(".reason");
    if (current === undefined) reason.textContent = ended;
    else reason.replaceChildren(make("b", {}, `${this.place + 1}. `), REASONS[current.reason] ?? current.reason);
    return this.showCurrent('[data-for="queue"] .cards');
  }

  async showSelection() {
    const { turn } = this;
    const rows = this.viewer.selection;
    const none = "Nothing is selected. Drag with the lasso (l) or the rectangle (r), or press Shift and drag.";
    const amount = rows.length === 0 ? none : `${counted(rows.length, "row")} selected`;
    this.part('[data-for="selected"] .amount').textContent = amount;
    this.part(".more").hidden = rows.length <= this.shown;
    const drop = (row) => this.viewer.select([row], "remove");
    const shown = Array.from(rows.subarray(0, this.shown));
    const cards = shown.length === 0 ? [] : await post("cards", { rows: shown });
    if (turn === this.turn) this.fill(this.part('[data-for="selected"] .cards'), cards, { drop });
  }

  async showSuspects() {
    const { current, turn } = this;
    const [at, all] = [this.suspect + 1, this.suspects.length];
    const early = "Labels are compared with each other as soon as there are two classes.";
    const none = this.state.fit === null ? early : "No label looks wrong.";
    const amount = this.part('[data-for="suspects"] .amount');
    amount.textContent = current === undefined ? none : `${at} of ${all}: ${current.reason}`;
    await this.showCurrent('[data-for="suspects"] .cards');
    const { suggested, given, rows_against: others, rows_for: same } = current ?? { rows_against: [], rows_for: [] };
    const rows = [...others, ...same];
    const cards = rows.length === 0 ? [] : await post("cards", { rows });
    if (turn !== this.turn) return;
    const side = (name, some) => {
      const list = make("div", { className: "cards" }, ...some.map((card) => tile(this, card)));
      return make("div", {}, make("h2", {}, "Rows that speak for ", chip(this, name, "")), list);
    };
    const sides = [[suggested, cards.slice(0, others.length)], [given, cards.slice(others.length)]];
    this.part(".evidence").replaceChildren(...sides.filter(([, some]) => some.length > 0).map((one) => side(...one)));
  }

  // A ring around a row on the map, which comes into sight.
  focusOn(row) {
    const { scatter } = this.viewer;
    scatter.focus = row;
    if (row !== null) scatter.bring(row);
    scatter.redraw();
  }

  pointOut(row) {
    this.viewer.scatter.bring(row);
    this.viewer.showCard(row, true);
  }

  // ---- keys

  listen() {
    const dialog = this.part("dialog.exports");
    this.keys = {
      ...{ z: () => this.step("undo"), Z: () => this.step("redo"), retry: () => this.retry() },
      x: () => this.send("freeze", { isFrozen: !this.state.isFrozen }),
      o: () => (dialog.open ? dialog.close() : dialog.showModal()),
      ...{ q: () => this.choose("queue"), w: () => this.choose("selected"), e: () => this.choose("suspects") },
      ...{ g: () => this.choose("progress"), m: () => this.choose("legend") },
      ...{ y: () => this.accept(), " ": () => this.move(1), b: () => this.move(-1) },
      ...{ Delete: () => this.act({ action: "remove" }), s: () => this.act({ action: "aside" }) },
      Enter: () => this.answers.box.focus(),
    };
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest("input:not([type=checkbox]), textarea, select, dialog");
      const isPressing = event.target.closest("button, a, [type=checkbox]") && [" ", "Enter"].includes(event.key);
      if (event.defaultPrevented || isTyping || isPressing || event.altKey || this.state === null) return;
      const key = event.key;
      if (event.ctrlKey || event.metaKey) {
        const step = key.toLowerCase() === "z" ? (event.shiftKey ? "Z" : "z") : key.toLowerCase() === "y" ? "Z" : null;
        if (step !== null) (event.preventDefault(), this.keys[step]());
        return;
      }
      const name = this.answers.digits.get(key);
      if (name === undefined && (key === "retry" || !(key in this.keys))) return;
      event.preventDefault();
      if (name === undefined) this.keys[key]();
      else this.label(name);
    });
    // A button that was clicked does not take the keys, as space would press it again.
    const keep = (event) => event.target.closest(".top button, .answers button") && event.preventDefault();
    this.root.addEventListener("mousedown", keep);
    // The search is on the tab of the map.
    const find = ({ key, target }) => key === "/" && !target.closest("input") && this.choose("legend");
    document.addEventListener("keydown", find, true);
  }
}

const root = document.getElementById("map");
root.studio = new Studio(root); // to be found from the console

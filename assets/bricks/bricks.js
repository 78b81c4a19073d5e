// A line of operators as bricks: what each does and what came of it, a palette of what fits at the chosen place, and the form of the
// chosen brick. Python holds the line; what is pressed, typed or dropped here is said as one edit at a time.
//
// Data: {bricks: [brick], extra: [{title, at, outcome}], chosen: {key} | {slot}, slots: {slot: where}, palette, form, text, typed, trouble,
//        as_text, undo, redo, who, done}
//   brick: {key, title, stage, stage_words, words, given: [[label, value]], fault, outcome, moves: [slot], branch, arms: [{name, label, bricks}]}
//   palette: {where, count, groups: [{title, stage, rows: [entry]}], more, others: [{why, titles}]}
//   entry: {name, title, sentence, term, about: {text, reads, writes, used}, current, slots: [slot], bricks: [key]}
//   form: {key, title, sentence, fields: [field], arms: [name] | null, advice}
//   start: what to do where the line is empty; compact: only the line, what fits and the form, as within a dialog
//   change: see change.js; running: whether the line is at work; held: whether the line before stays; complete: whether the line can be run
// Says: {who, edits: [{n, do, ...}]}. What fits where is in the data; nothing here decides it.

import { button, changed, el, setHidden, setText } from "../board/dom.js";
import { Edits } from "../board/edits.js";
import { Theme } from "../board/theme.js";
import { Change } from "./change.js";
import { Drag } from "./drag.js";
import { BrickForm } from "./form.js";
import { Palette } from "./palette.js";
import { rowOf } from "./row.js";
import { component } from "../component.js";
import { tr } from "../wording.js";

const LEAST_PANELS = 250; // pixels of height

class BenchView {
  constructor(root) {
    this.root = root.getRootNode();
    this.edits = new Edits();
    this.memo = {};
    this.data = {};
    this.undoButton = button({ class: "tool", title: tr("Undo (Ctrl+Z)") }, tr("Undo"), "", () => this.edit({ do: "undo" }));
    this.redoButton = button({ class: "tool", title: tr("Redo (Ctrl+Y)") }, tr("Redo"), "", () => this.edit({ do: "redo" }));
    this.textButton = button("tool", tr("As text"), "", () => this.edit({ do: "as-text", on: !this.data.as_text }));
    this.keys = el("p", "keys", tr("Arrows select, Enter opens, typing searches, Delete removes, Alt+arrows move, Ctrl+D copies. Drag to reorder."));
    this.tools = el("div", "tools", this.undoButton, this.redoButton, this.textButton, this.keys);
    this.text = el("textarea", { class: "text", rows: 2, spellcheck: false, "aria-label": tr("The method as text") });
    this.take = button("tool take", tr("Apply"), "", () => this.takeText());
    this.textBox = el("div", "text-box", this.text, this.take);
    this.trouble = el("p", { class: "trouble", role: "alert" });
    this.line = el("div", { class: "row line", role: "list", "aria-label": tr("The steps of the method") });
    this.palette = new Palette(this);
    this.form = new BrickForm(this);
    this.change = new Change(this);
    this.tabs = new Tabs(this);
    this.left = el("div", "left", this.tabs.element, this.palette.element, this.form.element);
    this.panels = el("div", "panels", this.left, this.change.element);
    this.element = el("div", "hk", this.tools, this.textBox, this.trouble, this.line, this.panels);
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("click", (event) => {
      if (event.detail > 1 && event.target.closest(".entry, .mini")) event.stopPropagation(); // of a double click, what came under the pointer
    }, true);
    root.append(this.element);
    this.theme = new Theme(this.element, () => this.theme.read());
    this.element.append(this.theme.probe);
    this.drag = new Drag(this);
    this.fit = () => this.fitPanels();
    globalThis.addEventListener("resize", this.fit);
    this.watch = new ResizeObserver(this.fit);
    this.watch.observe(this.line);
  }

  update(data, say) {
    this.data = data;
    this.edits.update((said) => say("said", said), data.who, data.done);
    this.element.setAttribute("aria-busy", String(this.edits.waiting.length > 0));
    this.element.classList.toggle("compact", Boolean(data.compact));
    this.theme.read();
    this.undoButton.disabled = !data.undo;
    this.redoButton.disabled = !data.redo;
    this.textButton.setAttribute("aria-pressed", String(Boolean(data.as_text)));
    this.drawText();
    this.drawLine();
    this.palette.update(data.palette ?? { groups: [], others: [] }, data.chosen, data.slots ?? {});
    this.form.update(data.form, this.palette.pointed);
    this.tabs.update(data.form, data.palette?.count ?? 0);
    this.change.update(data.change, { running: data.running, held: data.held, complete: data.complete });
    setText(this.trouble, data.trouble);
    setHidden(this.trouble, !data.trouble);
    writeAddress(data.text);
    if (this.follow && !this.edits.waiting.length) {
      this.follow = false;
      const typing = this.root.activeElement === this.palette.search && data.chosen?.slot !== undefined; // of the next place
      if (typing) this.palette.search.scrollIntoView({ block: "nearest" });
      else this.focusChosen();
    }
    if (this.intoForm && data.form && !this.edits.waiting.length) {
      this.intoForm = false;
      this.form.element.querySelector("input, select, button")?.focus({ preventScroll: true });
    }
    this.fitPanels();
  }

  drawText() {
    setHidden(this.textBox, !this.data.as_text);
    const shown = this.data.typed ?? this.data.text ?? "";
    if (changed(this.memo, "text", shown)) this.text.value = shown;
  }

  drawLine() {
    const { bricks = [], chosen = {}, slots = {}, extra = [] } = this.data;
    if (!changed(this.memo, "line", [bricks, chosen, slots, extra])) return;
    const focused = this.root.activeElement?.dataset?.stop;
    this.line.replaceChildren(...rowOf(this, bricks, "", extra));
    this.line.classList.toggle("empty", !bricks.length);
    this.line.classList.toggle("long", bricks.length > 9);
    this.stops().forEach((stop) => { stop.tabIndex = -1; });
    const now = this.chosenStop() ?? this.stops()[0];
    if (now) now.tabIndex = 0;
    if (focused) this.stops().find((stop) => stop.dataset.stop === focused)?.focus({ preventScroll: true });
  }

  // Everything that arrows go through, in the order of the line.
  stops() {
    return [...this.line.querySelectorAll("[data-stop]")];
  }

  chosenStop() {
    const { key, slot } = this.data.chosen ?? {};
    const name = key === undefined ? `slot ${slot}` : `brick ${key}`;
    return this.stops().find((stop) => stop.dataset.stop === name);
  }

  focusChosen() {
    const stop = this.chosenStop();
    stop?.focus({ preventScroll: true });
    stop?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  focusStop(stop) {
    if (!stop) return;
    for (const one of this.stops()) one.tabIndex = one === stop ? 0 : -1;
    stop.focus();
  }

  edit(edit, follow = false) {
    this.follow ||= follow;
    this.element.setAttribute("aria-busy", "true");
    this.edits.add(edit);
  }

  choose(place, into) {
    this.palette.clear();
    this.tabs.show(place.key === undefined ? "palette" : "form");
    this.edit({ do: "choose", ...place });
    if (into === "palette") this.palette.search.focus();
    this.intoForm = into === "form";
  }

  // What is typed on a brick or a slot searches the steps that fit there.
  search(place) {
    const { key, slot } = this.data.chosen ?? {};
    if (key !== place.key || slot !== place.slot) this.choose(place);
    this.palette.clear();
    this.tabs.show("palette");
    this.palette.search.focus();
  }

  takeText() {
    this.edit({ do: "text", text: this.text.value });
  }

  key(event) {
    const typing = event.target.matches("input, textarea, select");
    const command = event.ctrlKey || event.metaKey;
    const letter = event.key.toLowerCase();
    if (event.key === "Escape" && this.drag.active) return this.done(event, () => this.drag.cancel());
    if (event.target === this.text) {
      if (command && event.key === "Enter") this.done(event, () => this.takeText());
      return;
    }
    if (command && !typing && (letter === "y" || (letter === "z" && event.shiftKey))) return this.done(event, () => this.edit({ do: "redo" }, true));
    if (command && !typing && letter === "z") return this.done(event, () => this.edit({ do: "undo" }, true));
    if (event.key === "Escape" && this.panels.contains(event.target)) return this.done(event, () => this.focusChosen());
    if (this.palette.element.contains(event.target)) return this.palette.key(event);
    if (this.line.contains(event.target)) this.lineKey(event);
  }

  lineKey(event) {
    const stops = this.stops();
    const at = stops.indexOf(event.target);
    if (at < 0) return;
    const back = ["ArrowLeft", "ArrowUp"].includes(event.key);
    const forth = ["ArrowRight", "ArrowDown"].includes(event.key);
    const key = event.target.dataset.stop.startsWith("brick ") ? Number(event.target.dataset.stop.slice(6)) : null;
    const typed = event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (key !== null && event.key === "Enter") this.done(event, () => this.choose({ key }, "form"));
    else if (typed) this.search(key === null ? { slot: event.target.dataset.stop.slice(5) } : { key });
    else if (back || forth) {
      if (event.altKey && key !== null) this.done(event, () => this.shift(key, forth));
      else if (!event.altKey) this.done(event, () => this.focusStop(stops[Math.max(0, Math.min(stops.length - 1, at + (forth ? 1 : -1)))]));
    } else if (event.key === "Home" || event.key === "End") this.done(event, () => this.focusStop(stops.at(event.key === "Home" ? 0 : -1)));
    else if ((event.key === "Delete" || event.key === "Backspace") && key !== null) this.done(event, () => this.edit({ do: "remove", key }, true));
    else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "d" && key !== null) this.done(event, () => this.edit({ do: "duplicate", key }, true));
  }

  // One place back or forth: the slots of the line are in its order, so the one before this brick and the one behind it are known.
  shift(key, forth) {
    const slots = this.stops().filter((stop) => stop.dataset.stop.startsWith("slot "));
    const brick = this.line.querySelector(`[data-brick="${key}"]`);
    const outside = slots.filter((slot) => !brick.contains(slot));
    const behind = outside.filter((slot) => brick.compareDocumentPosition(slot) & Node.DOCUMENT_POSITION_FOLLOWING);
    const before = outside.filter((slot) => brick.compareDocumentPosition(slot) & Node.DOCUMENT_POSITION_PRECEDING);
    const target = forth ? behind[1] : before.at(-2);
    if (target) this.edit({ do: "move", key, slot: target.dataset.stop.slice(5) }, true);
  }

  done(event, action) {
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  // The panels end where the window does, so that line, palette and form are on one screen.
  fitPanels() {
    const top = this.panels.getBoundingClientRect().top + scrolled(this.element);
    const room = Math.max(LEAST_PANELS, globalThis.innerHeight - top - 14);
    if (changed(this.memo, "room", Math.round(room))) this.element.style.setProperty("--room", `${Math.round(room)}px`);
  }

  destroy() {
    globalThis.removeEventListener("resize", this.fit);
    this.watch.disconnect();
    for (const part of [this.edits, this.theme, this.drag, this.change]) part.destroy();
    this.element.remove();
  }
}

// The settings of the chosen brick and what fits in its place, one at a time where there is no room for both.
class Tabs {
  constructor(bench) {
    this.form = button("tab", tr("Settings"), "", () => this.show("form"));
    this.palette = button("tab", "", "", () => this.show("palette"));
    this.element = el("div", "tabs", this.form, this.palette);
    this.bench = bench;
    this.shown = null; // until a place is chosen here: the settings, where a brick was chosen before
  }

  update(form, count) {
    setHidden(this.element, !form);
    setText(this.form, form ? tr("Settings of {title}", { title: form.title }) : tr("Settings"));
    setText(this.palette, tr("Replace with… ({count})", { count }));
    this.shown ??= form ? "form" : "palette";
    this.show(form ? this.shown : "palette", true);
  }

  show(name, forNow = false) {
    if (!forNow) this.shown = name;
    this.bench.panels?.setAttribute("data-shown", name);
    this.form.setAttribute("aria-pressed", String(name === "form"));
    this.palette.setAttribute("aria-pressed", String(name === "palette"));
  }
}

// How far what holds an element was scrolled.
function scrolled(element) {
  let node = element;
  let sum = 0;
  while (node) {
    sum += node.scrollTop ?? 0;
    node = node.parentNode ?? node.host;
  }
  return sum;
}

// The line in the address, in place: an entry of its own for each edit would stand in the way of Back.
function writeAddress(text) {
  const { location, history } = globalThis;
  if (!location.pathname.endsWith("/build")) return;
  const query = new URLSearchParams(location.search);
  const before = query.toString();
  query.delete("from");
  if (text) query.set("line", text);
  else query.delete("line");
  const after = query.toString();
  if (after !== before) history.replaceState(history.state, "", `${location.pathname}${after && "?"}${after}`);
}

export default component(BenchView);

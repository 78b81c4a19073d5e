// An input with suggestions: a combobox whose list is filled from outside.

import { button, combobox, el, pointAt } from "../board/dom.js";
import { nounOf, tr } from "../wording.js";

const SETTLED = 200; // milliseconds after the last letter
const LONGEST = 200;
let made = 0;

export class Field {
  // `eager`: the first suggestion is taken by Enter without being pointed at.
  constructor({ label, eager, onQuery, onTake, onBack }) {
    // `told`: the text that the list is for; `wanted`: a text for which Enter came before its list; `closed`: one whose list was closed.
    Object.assign(this, { eager, onQuery, onTake, onBack, options: [], active: -1, told: null, known: "", wanted: null, closed: null });
    this.list = el("ul", { class: "list", id: `he-list-${(made += 1)}`, hidden: true, "aria-label": tr("Suggestions") });
    this.input = combobox("entry", label, this.list, { maxlength: LONGEST });
    this.live = el("span", { class: "sr-only", "aria-live": "polite" });
    this.element = el("span", "field", this.input, this.list, this.live);
    this.input.addEventListener("input", () => this.typed());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => this.close());
    this.list.addEventListener("pointerdown", (event) => event.preventDefault()); // the input keeps the focus
  }

  get text() {
    return this.input.value.trim();
  }

  typed() {
    clearTimeout(this.timer);
    this.wanted = this.closed = null;
    if (!this.text) return this.close();
    this.timer = setTimeout(() => this.onQuery(this.text), SETTLED);
  }

  // The suggestions for a text; those for another text than stands here now are let go.
  show(text, options) {
    if (text !== this.text || text === this.closed || this.input.getRootNode().activeElement !== this.input) return;
    if (this.wanted === text) return this.take(options[0]?.name ?? text);
    const known = JSON.stringify(options);
    if (this.told === text && this.known === known) return;
    this.told = text;
    this.known = known;
    this.options = options;
    this.list.replaceChildren(...options.map((option, place) => this.row(option, place)));
    if (!options.length) this.list.append(this.nothing());
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", String(options.length > 0));
    this.live.textContent = options.length ? `${options.length} ${nounOf(options.length, "suggestion")}` : tr("No suggestion");
    this.point(this.eager && options.length ? 0 : -1);
  }

  row(option, place) {
    const look = { class: "option", id: `${this.list.id}-${place}`, title: option.name, role: "option" };
    const row = el("li", look, el("span", "name", option.name), el("span", "note", option.note));
    row.addEventListener("click", () => this.take(option.name));
    row.addEventListener("pointermove", () => this.point(place));
    return row;
  }

  nothing() {
    return el("li", { class: "none", role: "option", "aria-disabled": "true" }, tr("No name like this in the graph"));
  }

  point(place) {
    this.active = place;
    pointAt(this.input, [...this.list.querySelectorAll(".option")], place);
  }

  key(event) {
    if (event.isComposing) return;
    const open = !this.list.hidden && this.options.length > 0;
    if (event.key === "Enter" && this.text) {
      event.preventDefault();
      this.enter(open);
    } else if (event.key === "Escape" && (open || this.input.value)) {
      event.stopPropagation();
      if (this.list.hidden) this.input.value = "";
      this.close();
      this.closed = this.text;
    } else if (open && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      event.preventDefault();
      const count = this.options.length;
      const first = event.key === "ArrowDown" ? 0 : count - 1;
      this.point(this.active < 0 ? first : (this.active + (event.key === "ArrowDown" ? 1 : count - 1)) % count);
    } else if (event.key === "ArrowDown" && this.text) {
      this.closed = null;
      this.onQuery(this.text);
    } else if (event.key === "Backspace" && !this.input.value) {
      this.onBack();
    }
  }

  // Takes what is pointed at; where the first suggestion is meant and the list is not there yet, it is waited for.
  enter(open) {
    if (open && this.told === this.text && this.active >= 0) return this.take(this.options[this.active].name);
    if (!this.eager || this.closed === this.text) return this.take(this.text);
    if (this.told === this.text) return this.take(this.text);
    clearTimeout(this.timer);
    this.wanted = this.text;
    this.onQuery(this.text);
  }

  take(name) {
    this.input.value = "";
    this.close();
    this.onTake(name);
    this.input.focus();
  }

  close() {
    clearTimeout(this.timer);
    this.told = this.wanted = null;
    this.options = [];
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.live.textContent = "";
  }
}

// A name with a sign before it and a cross behind.
export function chip(name, mark, note, onRemove) {
  const sign = el("span", { class: "mark", "aria-hidden": "true" }, mark);
  const look = { class: "chip", title: note ? `${name}: ${note}` : name, role: "listitem" };
  return el("span", look, sign, el("span", "name", name), button("remove", "×", tr("Remove {name}", { name }), onRemove));
}

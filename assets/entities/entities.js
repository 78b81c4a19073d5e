// Where a question starts from, and its correct answers: names that can be removed, and inputs that complete while one types.
//
// Data: {entities: [{name, note}], answers: [{name, note}], hops, meant: [{name, note, text, others: [{name, note}]}],
//        asked: {list, text, options: [{name, note}]} | null, done}
// Says: {who, edits: [{n, list, op, name, instead}], query: {list, text} | null}. What is shown is
// ahead of Python.

import { button, el } from "../board/dom.js";
import { Edits } from "../board/edits.js";
import { chip, Field } from "./field.js";
import { component } from "../component.js";
import { tr } from "../wording.js";

const SHOWN = 8; // correct answers before the rest is folded away
const LISTS = {
  entities: { label: tr("Starts at"), mark: "◆", entry: tr("Starts at: add an entity"), empty: tr("filled in from the question"), more: tr("+ add") },
  answers: { label: tr("Correct answers"), mark: "★", entry: tr("Add a correct answer"), empty: tr("+ Add the correct answer to see where it is lost"), more: tr("+ add") },
};

class Line {
  constructor(root) {
    this.edits = new Edits();
    this.query = null; // what is typed, and into which list
    this.open = false;
    this.data = {};
    this.groups = Object.fromEntries(Object.keys(LISTS).map((list) => [list, this.group(list)]));
    this.meant = el("div", "meants");
    this.element = el("div", "he", el("div", "line", ...Object.values(this.groups).map((group) => group.element)), this.meant);
    root.append(this.element);
  }

  group(list) {
    const words = LISTS[list];
    const label = el("span", "label");
    const chips = el("span", "chips");
    const field = new Field({
      label: words.entry,
      eager: list === "entities",
      onQuery: (text) => this.ask({ list, text }),
      onTake: (name) => this.edit({ list, op: "add", name }),
      onBack: () => {
        const last = this.names(list).at(-1);
        if (last) this.edit({ list, op: "remove", name: last.name });
      },
    });
    return { label, chips, field, element: el("div", `group ${list}`, label, chips, field.element) };
  }

  update(data, say) {
    this.data = data;
    this.edits.update((told) => say("said", { ...told, query: this.query }), data.who, data.done);
    this.draw();
    const asked = data.asked;
    if (asked && this.groups[asked.list]) this.groups[asked.list].field.show(asked.text, asked.options);
  }

  // The names of a list with the edits that Python has not seen yet.
  names(list) {
    let names = this.data[list] ?? [];
    for (const edit of this.edits.waiting.filter((one) => one.list === list)) {
      const without = names.filter((one) => one.name !== edit.name);
      if (edit.op === "remove") names = without;
      else if (edit.op === "add") names = without.length < names.length ? names : [...names, { name: edit.name, note: "" }];
      else names = names.map((one) => (one.name === edit.instead ? { name: edit.name, note: "" } : one));
    }
    return names;
  }

  edit(edit) {
    this.query = null;
    this.edits.add({ instead: "", ...edit });
    this.draw();
  }

  // Asks for suggestions.
  ask(query) {
    this.query = query;
    this.edits.say({ who: this.edits.who, edits: this.edits.waiting });
  }

  draw() {
    for (const list of Object.keys(LISTS)) this.drawList(list, this.names(list));
    this.meant.replaceChildren(...(this.edits.waiting.length ? [] : (this.data.meant ?? []).map((one) => this.meantLine(one))));
  }

  drawList(list, names) {
    const { label, chips, field } = this.groups[list];
    const words = LISTS[list];
    label.textContent = list === "answers" && this.data.hops ? `${words.label} (${this.data.hops})` : words.label;
    const few = list === "answers" && !this.open ? names.slice(0, SHOWN) : names;
    const told = JSON.stringify([few, names.length, this.open]);
    field.input.placeholder = names.length ? words.more : words.empty;
    field.input.classList.toggle("wide", !names.length);
    if (told === chips.told) return;
    chips.told = told;
    if (names.length) chips.setAttribute("role", "list");
    else chips.removeAttribute("role");
    const held = chips.held ?? new Map(); // a chip stays the same element, so that no click on it is lost
    chips.held = new Map(few.map((one) => [JSON.stringify(one), held.get(JSON.stringify(one)) ?? this.chip(list, one)]));
    const rows = [...chips.held.values()];
    if (names.length > few.length) rows.push(this.fold(tr("and {names} more", { names: (names.length - few.length).toLocaleString("en") }), true));
    else if (list === "answers" && names.length > SHOWN) rows.push(this.fold(tr("fewer"), false));
    for (const row of [...chips.children]) if (!rows.includes(row)) row.remove();
    for (const [place, row] of rows.entries()) if (chips.children[place] !== row) chips.insertBefore(row, chips.children[place] ?? null);
  }

  chip(list, { name, note }) {
    return chip(name, LISTS[list].mark, note, () => this.remove(list, name));
  }

  remove(list, name) {
    this.edit({ list, op: "remove", name });
    this.groups[list].field.input.focus(); // the button that had the focus is gone
  }

  fold(text, open) {
    const turn = button("more", text, "", () => {
      this.open = open;
      this.draw();
    });
    return el("span", { role: "listitem" }, turn);
  }

  meantLine(one) {
    const line = el("p", "meant", one.text ? tr("Read “{text}” as ", { text: one.text }) : tr("Started at "), el("b", "", one.name), one.note ? ` (${one.note})` : "");
    for (const [place, other] of one.others.entries()) {
      line.append(place ? tr(" or ") : tr(" · did you mean "));
      line.append(button("swap", other.name, "", () => this.edit({ list: "entities", op: "swap", name: other.name, instead: one.name })));
      if (other.note) line.append(` (${other.note})`);
    }
    if (one.others.length) line.append("?");
    return line;
  }
  destroy() {
    this.edits.destroy();
    this.element.remove();
  }
}

export default component(Line);

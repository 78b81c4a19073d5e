// What fits at the chosen place, grouped by stage, or best match first where words are typed; what does not fit waits behind a line, with its
// reasons. Keys stay in the search box: arrows point at a step, Enter takes it, and the next place is searched with an empty box.

import { button, changed, el, setAttribute, setText } from "../board/dom.js";
import { bestMatches } from "../match.js";
import { nounOf, tr } from "../wording.js";

export class Palette {
  constructor(bench) {
    this.bench = bench;
    this.memo = {};
    this.queue = []; // words that were entered before the steps of their place were here
    this.title = el("h3", "");
    this.more = button("more", "", "", () => this.showOthers(this.others.hidden));
    this.list = el("div", "list scroll");
    Object.assign(this.list, { id: `hk-steps-${bench.edits.who}`, role: "listbox", ariaLabel: tr("Steps that fit") });
    this.search = el("input", "search");
    Object.assign(this.search, { type: "search", placeholder: tr("Search steps, papers, what they do"), autocomplete: "off", role: "combobox", ariaExpanded: "true", ariaAutoComplete: "list" });
    this.search.setAttribute("aria-label", tr("Search the steps that fit here"));
    this.search.setAttribute("aria-controls", this.list.id);
    this.search.addEventListener("input", () => {
      this.showOthers(false);
      this.filter();
    });
    this.none = el("p", "none", tr("No step that fits here matches all these words."));
    this.none.role = "status";
    this.others = el("div", "others scroll");
    Object.assign(this.others, { hidden: true, tabIndex: 0, role: "region", ariaLabel: tr("Do not fit here") });
    this.element = el("section", "panel palette", el("div", "panel-head", this.title, this.more), this.search, this.none, this.list, this.others);
    this.element.setAttribute("aria-label", tr("Steps that fit"));
    this.pointed = null;
  }

  update(data, chosen) {
    this.chosen = chosen;
    if (changed(this.memo, "data", [data, chosen])) this.drawn(data);
    if (this.queue.length && !this.bench.edits.waiting.length) this.takeQueued();
  }

  drawn(data) {
    this.data = data;
    if (changed(this.memo, "place", this.chosen)) {
      this.list.scrollTop = 0;
      this.pointed = null;
      this.showOthers(false);
    }
    this.title.replaceChildren(el("b", "", data.where ?? ""), `: ${data.count} ${nounOf(data.count, "step fits", "steps fit")}`);
    setText(this.more, tr("{more} do not fit here (why?)", { more: data.more }));
    this.more.hidden = !data.more;
    this.others.replaceChildren(el("h4", "", tr("Do not fit here")), ...data.others.map((one) => el("p", "other", el("b", "", one.titles.join(", ")), `: ${one.why}`)));
    this.filter();
  }

  // The entries that the words find, of all groups; in the groups where nothing is typed.
  filter() {
    const words = this.search.value.trim();
    this.list.replaceChildren(...(words ? this.matches(words).map((entry) => this.entry(entry)) : this.data.groups.map((group) => this.group(group))));
    this.none.hidden = this.list.children.length > 0;
    if (words) this.list.scrollTop = 0;
    this.activate(words ? this.list.firstChild : null);
  }

  matches(words) {
    return bestMatches(words, this.data.groups.flatMap((group) => group.rows), textsOf);
  }

  group(group) {
    const heading = el("h4", "", group.title);
    heading.role = "presentation";
    const section = el("div", "group", heading, ...group.rows.map((entry) => this.entry(entry)));
    section.setAttribute("role", "group");
    section.setAttribute("aria-label", group.title);
    section.dataset.stage = group.stage;
    return section;
  }

  entry(entry) {
    const made = button(`entry ${entry.current ? "current" : ""}`, "", "", () => this.take(entry));
    made.append(el("span", "entry-head", el("b", "", entry.title), entry.term ? el("span", "term", entry.term) : null), el("span", "sentence", entry.sentence));
    Object.assign(made, { id: `${this.list.id}-${entry.name}`, role: "option", ariaSelected: "false", tabIndex: -1, given: entry });
    made.dataset.entry = entry.name;
    if (entry.current) made.setAttribute("aria-current", "true");
    made.addEventListener("pointerenter", () => this.point(entry));
    return made;
  }

  // The step that Enter takes, none where nothing is typed and no arrow pressed.
  activate(element) {
    if (this.active) this.active.ariaSelected = "false";
    this.active = element;
    setAttribute(this.search, "aria-activedescendant", element?.id ?? "");
    if (!element) return;
    element.ariaSelected = "true";
    this.point(element.given);
  }

  point(entry) {
    if (this.pointed?.name === entry.name || this.bench.drag.active) return;
    this.pointed = entry;
    this.bench.form.update(this.bench.data.form, entry);
  }

  take(entry) {
    if (this.bench.drag.ended || this.bench.edits.waiting.length) return; // what is drawn is of another place
    const { key, slot } = this.chosen;
    if (key !== undefined && entry.current) return;
    if (key === undefined) this.bench.tabs.shown = "form"; // of the step that is chosen then, if one is
    this.clear();
    this.bench.edit(key === undefined ? { do: "insert", slot, name: entry.name, onward: true } : { do: "replace", key, name: entry.name }, true);
  }

  clear() {
    this.search.value = "";
    if (this.data) this.filter();
  }

  takeQueued() {
    const words = this.queue.shift();
    const [best] = this.matches(words);
    const typed = this.search.value; // since, for a place behind it
    if (best) this.take(best);
    else this.queue = [];
    this.search.value = best ? typed : words;
    this.filter();
  }

  showOthers(show) {
    this.others.hidden = !show;
    this.list.hidden = show;
    this.more.setAttribute("aria-expanded", String(show));
  }

  key(event) {
    if (event.target !== this.search) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) this.bench.done(event, () => this.step(by));
    else if (event.key === "Enter" && !event.isComposing) this.bench.done(event, () => this.enter());
  }

  step(by) {
    const entries = [...this.list.querySelectorAll(".entry")];
    const next = entries[Math.max(0, Math.min(entries.length - 1, entries.indexOf(this.active) + by))];
    if (!next) return;
    this.activate(next);
    next.scrollIntoView({ block: "nearest" });
  }

  enter() {
    if (this.bench.edits.waiting.length) {
      if (this.search.value.trim()) this.queue.push(this.search.value);
      this.clear();
    } else if (this.active) this.take(this.active.given);
  }
}

// What is searched of a step, the most visible first.
function textsOf({ title, sentence, term, name, about }) {
  return [title, `${sentence} ${term}`, [name, about.used, ...about.text].join(" ")];
}

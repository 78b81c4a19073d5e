// What fits at the chosen place, grouped by stage, or best match first where words are typed; what does not fit waits behind a line, with its
// reasons. Keys stay in the search box: arrows point at a step, Enter takes it, and the next place is searched with an empty box.

import { button, changed, combobox, el, setAttribute, setText } from "../board/dom.js";
import { bestMatches } from "../match.js";
import { nounOf, tr } from "../wording.js";

export class Palette {
  constructor(bench) {
    this.bench = bench;
    this.memo = {};
    this.queue = []; // words that were entered before the steps of their place were here
    this.title = el("h3", "");
    this.more = button("more", "", "", () => this.showOthers(this.others.hidden));
    this.list = el("div", { class: "list scroll", id: `hk-steps-${bench.edits.who}`, "aria-label": tr("Steps that fit") });
    const placeholder = tr("Search steps, papers, what they do");
    this.search = combobox("search", tr("Search the steps that fit here"), this.list, { type: "search", placeholder, "aria-expanded": "true" });
    this.search.addEventListener("input", () => {
      this.showOthers(false);
      this.filter();
    });
    this.none = el("p", { class: "none", role: "status" }, tr("No step that fits here matches all these words."));
    this.others = el("div", { class: "others scroll", hidden: true, tabindex: 0, role: "region", "aria-label": tr("Do not fit here") });
    this.element = el("section", { class: "panel palette", "aria-label": tr("Steps that fit") }, el("div", "panel-head", this.title, this.more), this.search, this.none, this.list, this.others);
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
    const heading = el("h4", { role: "presentation" }, group.title);
    const look = { class: "group", role: "group", "aria-label": group.title, "data-stage": group.stage };
    return el("div", look, heading, ...group.rows.map((entry) => this.entry(entry)));
  }

  entry(entry) {
    const { name, current } = entry;
    const state = { "aria-selected": "false", "aria-current": current ? "true" : null, "data-entry": name };
    const made = button({ class: `entry ${current ? "current" : ""}`, id: `${this.list.id}-${name}`, role: "option", tabindex: -1, ...state }, "", "", () => this.take(entry));
    made.append(el("span", "entry-head", el("b", "", entry.title), entry.term ? el("span", "term", entry.term) : null), el("span", "sentence", entry.sentence));
    made.given = entry;
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

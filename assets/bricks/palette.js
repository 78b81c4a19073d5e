// What fits at the chosen place, searched here, grouped by stage; what does not fit waits behind a line, with its reasons.

import { button, changed, el, setText } from "../board/dom.js";
import { nounOf, tr } from "../wording.js";

export class Palette {
  constructor(bench) {
    this.bench = bench;
    this.memo = {};
    this.title = el("h3", "");
    this.more = button("more", "", "", () => this.showOthers(this.others.hidden));
    this.search = el("input", "search");
    Object.assign(this.search, { type: "search", placeholder: tr("Search steps, papers, what they do"), autocomplete: "off" });
    this.search.setAttribute("aria-label", tr("Search the steps that fit here"));
    this.search.addEventListener("input", () => this.filter());
    this.none = el("p", "none", tr("No step that fits here matches all these words."));
    this.list = el("div", "list");
    this.others = el("div", "others");
    this.others.hidden = true;
    this.body = el("div", "scroll", this.none, this.list, this.others);
    this.element = el("section", "panel palette", el("div", "panel-head", this.title, this.more), this.search, this.body);
    this.element.setAttribute("aria-label", tr("Steps that fit"));
    this.pointed = null;
  }

  update(data, chosen) {
    this.chosen = chosen;
    if (changed(this.memo, "data", [data, chosen])) this.drawn(data, chosen);
    if (this.waiting && !this.bench.edits.waiting.length) {
      this.waiting = false;
      this.takeFirst();
    }
  }

  drawn(data, chosen) {
    const focused = this.bench.root.activeElement?.dataset?.entry;
    this.begin(chosen);
    this.replaces = chosen?.key !== undefined;
    this.title.replaceChildren(el("b", "", data.where ?? ""), `: ${data.count} ${nounOf(data.count, "step fits", "steps fit")}`);
    setText(this.more, tr("{more} do not fit here (why?)", { more: data.more }));
    this.more.hidden = !data.more;
    this.more.setAttribute("aria-expanded", String(!this.others.hidden));
    this.list.replaceChildren(...data.groups.map((group) => this.group(group)));
    this.others.replaceChildren(el("h4", "", tr("Do not fit here")), ...data.others.map((one) => el("p", "other", el("b", "", one.titles.join(", ")), `: ${one.why}`)));
    this.filter();
    if (focused) this.list.querySelector(`[data-entry="${focused}"]`)?.focus({ preventScroll: true });
  }

  // Another place: nothing is searched for yet. What is typed before its steps are here stays.
  begin(place) {
    const name = JSON.stringify(place);
    if (name === this.place) return;
    this.place = name;
    this.search.value = "";
    this.body.scrollTop = 0;
    this.pointed = null;
    this.others.hidden = true;
  }

  // The first step that is found, once those of the place that was chosen last are here.
  takeFirst() {
    if (this.bench.edits.waiting.length) this.waiting = true;
    else if (this.entries().length) this.take(this.entries()[0].given);
  }

  group(group) {
    const section = el("div", "group", el("h4", "", group.title), ...group.rows.map((entry) => this.entry(entry)));
    section.setAttribute("role", "group");
    section.setAttribute("aria-label", group.title);
    section.dataset.stage = group.stage;
    return section;
  }

  entry(entry) {
    const made = button(`entry ${entry.current ? "current" : ""}`, "", "", (event) => this.take(entry, event.detail > 0));
    made.append(el("span", "entry-head", el("b", "", entry.title), entry.term ? el("span", "term", entry.term) : null), el("span", "sentence", entry.sentence));
    made.dataset.entry = entry.name;
    if (entry.current) made.setAttribute("aria-current", "true");
    made.words = [entry.title, entry.name, entry.sentence, entry.term, entry.about.used, ...entry.about.text].join(" ").toLowerCase();
    made.given = entry;
    const point = () => this.point(entry);
    made.addEventListener("pointerenter", point);
    made.addEventListener("focus", point);
    return made;
  }

  point(entry) {
    if (this.pointed?.name === entry.name || this.bench.drag.active) return;
    this.pointed = entry;
    this.bench.form.update(this.bench.data.form, entry);
  }

  // `onward` is of a click: at the end of a row the next step is then chosen; by keys the brick is, and arrows lead on.
  take(entry, onward = false) {
    if (this.bench.drag.ended || this.bench.edits.waiting.length) return; // what is drawn is of another place
    const { key, slot } = this.chosen;
    if (key === undefined && onward) this.bench.tabs.shown = "form"; // of the step that is chosen then, if one is
    if (key === undefined) this.bench.edit({ do: "insert", slot, name: entry.name, onward }, true);
    else if (!entry.current) this.bench.edit({ do: "replace", key, name: entry.name }, true);
  }

  showOthers(show) {
    this.others.hidden = !show;
    this.more.setAttribute("aria-expanded", String(show));
    if (show) this.body.scrollTop = this.others.offsetTop - this.body.offsetTop;
  }

  entries() {
    return [...this.list.querySelectorAll(".entry:not([hidden])")];
  }

  filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const phrase = words.join(" ");
    const all = [...this.list.querySelectorAll(".entry")];
    const together = all.some((one) => one.words.includes(phrase)); // words that stand together somewhere are looked for as they stand
    for (const group of this.list.children) {
      let any = false;
      for (const one of group.querySelectorAll(".entry")) {
        one.hidden = !(together ? [phrase] : words).every((word) => one.words.includes(word));
        any ||= !one.hidden;
      }
      group.hidden = !any;
    }
    this.none.hidden = this.entries().length > 0;
    if (words.length) this.body.scrollTop = 0;
  }

  key(event) {
    const rows = this.entries();
    const at = rows.indexOf(this.bench.root.activeElement);
    if (event.key === "ArrowDown") this.bench.done(event, () => rows[Math.min(rows.length - 1, at + 1)]?.focus());
    else if (event.key === "ArrowUp") this.bench.done(event, () => (at > 0 ? rows[at - 1] : this.search).focus());
    else if (event.key === "Enter" && event.target === this.search) this.bench.done(event, () => this.takeFirst());
  }
}

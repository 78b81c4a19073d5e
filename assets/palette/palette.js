// The command palette (Ctrl+K): one field over methods, graphs, documents, questions, pages, cases and settings, best matches first.
//
// data: { list, entries: [{ kind, id, title, note }], builds }. Trigger: chosen = { kind, id, set?, build? }. `list` is the address of
// { entries, sets: { name: title } }, and with `&set=name` of { questions, total }. Every title is set as text.

import { button, combobox, el, pointAt, setText } from "../board/dom.js";
import { component } from "../component.js";
import { bestMatches } from "../match.js";
import { nounOf, tr } from "../wording.js";

const MOST_ROWS = 50;
const LEAST_LETTERS = 3; // typed before the questions are searched
const MOST_RANKED = 3000; // questions: of more, those that begin with the words come first
const ROOT = new URL("..", import.meta.url); // this code is at media/ of the app
const MARKS = /[\u0300-\u036f]/g;
// What a thing is, and what Enter does with it.
const KINDS = {
  method: [tr("Method"), tr("add to the comparison")], build: [tr("Method"), tr("open in Build")], graph: [tr("Graph"), tr("choose it")],
  corpus: [tr("Documents"), tr("choose them")], question: [tr("Question"), tr("ask it")], ask: [tr("Question"), tr("ask it")],
  page: [tr("Page"), tr("go there")], case: [tr("Saved case"), tr("open it")], setting: [tr("Action"), tr("do it")],
};
const lists = new Map(); // what was fetched by address: it outlives the page that showed it

const key = (set) => `questions of ${set}`;
const folded = (text) => text.normalize("NFKD").replace(MARKS, "").toLowerCase();

async function fetched(address) {
  const answer = await fetch(new URL(address, ROOT));
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.json();
}

class CommandPalette {
  constructor(root) {
    this.root = root;
    this.list = el("ul", { class: "found", id: "found", "aria-label": tr("Matches") });
    const placeholder = tr("Method, graph, documents, question, page, case …");
    this.field = combobox("search", tr("Search everything"), this.list, { placeholder, "aria-expanded": "true" }); // its list is there as long as the dialog is
    this.status = el("span", { class: "status", role: "status" });
    this.enter = el("span", "");
    this.build = button("build", tr("Open in Build"), "", () => this.choose(this.active, true));
    this.dialog = el("dialog", { class: "command-palette", "aria-label": tr("Search everything") }, this.field, this.list, el("div", "foot", this.status, this.enter, this.build));
    root.append(this.dialog);
    this.field.addEventListener("input", () => this.typed());
    this.dialog.addEventListener("keydown", (event) => this.key(event));
    this.dialog.addEventListener("click", ({ target }) => target === this.dialog && this.dialog.close()); // beside it
    this.dialog.addEventListener("close", () => this.origin?.focus());
    this.opens = (event) => this.opened(event);
    for (const kind of ["keydown", "click"]) globalThis.addEventListener(kind, this.opens, true);
  }

  update(data, say) {
    this.data = data;
    this.say = (chosen) => say("chosen", chosen);
    if (lists.get("of") === data.list) return;
    lists.clear();
    lists.set("of", data.list);
    this.load();
  }

  opened(event) {
    const pressed = event.key?.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if (!pressed && !(event.type === "click" && event.target.closest?.(".palette-hint"))) return;
    event.preventDefault();
    event.stopPropagation();
    if (this.dialog.open) this.dialog.close();
    else this.open();
  }

  open() {
    this.origin = document.activeElement;
    while (this.origin?.shadowRoot?.activeElement) this.origin = this.origin.shadowRoot.activeElement;
    this.field.value = "";
    // Streamlit sends a text that its field loses the focus with: a half typed question would be asked.
    const hush = (event) => event.stopImmediatePropagation();
    for (const kind of ["blur", "focusout"]) globalThis.addEventListener(kind, hush, true);
    this.dialog.showModal();
    for (const kind of ["blur", "focusout"]) globalThis.removeEventListener(kind, hush, true);
    this.typed();
    this.load();
  }

  // What is there now: a case may have been saved since.
  async load() {
    const address = this.data.list;
    try {
      const list = await fetched(address);
      if (address === this.data.list) lists.set("list", list);
      this.failed = false;
    } catch {
      this.failed = true;
    }
    this.draw();
    this.loadQuestions();
  }

  async loadQuestions() {
    const address = this.data.list;
    if (this.field.value.trim().length < LEAST_LETTERS) return;
    for (const [set, title] of Object.entries(lists.get("list")?.sets ?? {})) {
      if (lists.has(key(set)) || !this.dialog.open || address !== this.data.list) continue;
      lists.set(key(set), true);
      try {
        const { questions, total } = await fetched(`${address}&set=${encodeURIComponent(set)}`);
        const note = questions.length < total ? tr("{set}, of which the first {some} are searched", { set: title, some: questions.length }) : title;
        lists.set(key(set), questions.map((text) => ({ kind: "question", id: text, title: text, note, set, folded: folded(text) })));
      } catch {
        lists.delete(key(set));
        this.failed = true;
      }
      if (this.dialog.open) this.draw();
    }
  }

  typed() {
    this.pointed = null;
    this.draw();
    this.loadQuestions();
  }

  // Two names of a method are two things, of which the better match counts.
  matches(text) {
    const words = folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];
    const sets = Object.keys(lists.get("list")?.sets ?? {}).map((set) => lists.get(key(set))).filter(Array.isArray);
    const all = text.length < LEAST_LETTERS ? [] : sets.flatMap((set) => set.filter((one) => words.every((word) => one.folded.includes(word))));
    const begin = all.length > MOST_RANKED ? all.filter((one) => one.folded.startsWith(words.join(" "))) : [];
    const questions = [...new Set([...begin, ...all])].slice(0, MOST_RANKED);
    const entries = [...this.data.entries, ...(lists.get("list")?.entries ?? [])];
    const named = entries.flatMap((entry) => [[entry, entry.title, entry.name, entry.note], ...(entry.name ? [[entry, entry.name, entry.title]] : [])]);
    const found = bestMatches(text, [...named, ...questions.map((one) => [one, one.title, one.note])], ([, ...texts]) => texts);
    const best = [...new Set(found.map(([entry]) => entry))];
    return { best, count: best.length + all.length - questions.length };
  }

  draw() {
    const text = this.field.value.trim();
    const { best, count } = text ? this.matches(text) : { best: this.data.entries };
    this.shown = best.slice(0, MOST_ROWS);
    if (text) this.shown.push({ kind: "ask", id: text, title: tr("Ask “{text}”", { text }) });
    const waits = !lists.has("list") ? tr("Loading the list …") : Object.keys(lists.get("list").sets).some((set) => lists.get(key(set)) === true) ? tr("Loading the questions …") : "";
    const counted = text ? `${count.toLocaleString()} ${nounOf(count, "match", "matches")}` : "";
    setText(this.status, this.failed ? tr("The list could not be loaded.") : waits || counted);
    this.list.replaceChildren(...this.shown.map((entry, at) => this.row(entry, at)));
    const same = (entry) => entry.kind === this.pointed?.kind && entry.id === this.pointed.id;
    this.point(Math.max(0, this.shown.findIndex(same))); // what comes later moves nobody from where they went
  }

  row(entry, at) {
    const note = [entry.name, entry.note].filter(Boolean).join(" · ");
    const row = el("li", { id: `found-${at}`, role: "option" }, el("span", "title", entry.title), el("span", "note", note), el("span", "kind", KINDS[entry.kind][0]));
    row.addEventListener("pointermove", () => this.active !== entry && this.go(at));
    row.addEventListener("click", (event) => this.choose(entry, event.ctrlKey || event.metaKey));
    return row;
  }

  go(at) {
    this.point(at);
    this.pointed = this.active;
  }

  point(at) {
    this.active = this.shown[at];
    pointAt(this.field, [...this.list.children], at);
    const builds = this.active && this.builds(this.active);
    setText(this.enter, this.active ? tr("Enter: {act}", { act: KINDS[builds ? "build" : this.active.kind][1] }) : "");
    this.build.hidden = this.active?.kind !== "method" || builds;
  }

  builds(entry) {
    return entry.kind === "method" && (this.data.builds || !entry.adds);
  }

  key(event) {
    event.stopPropagation(); // the keys of the page behind it, such as those of a presentation
    if (event.target !== this.field || event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.shown.length) this.go((this.shown.indexOf(this.active) + step + this.shown.length) % this.shown.length);
    else if (event.key === "Enter" && this.active) this.choose(this.active, event.ctrlKey || event.metaKey);
    else return;
    event.preventDefault();
  }

  choose(entry, build) {
    this.dialog.close();
    const builds = entry.kind === "method" && (build || this.builds(entry));
    this.say({ kind: entry.kind, id: entry.id, ...(entry.set && { set: entry.set }), ...(builds && { build: "1" }) });
  }

  destroy() {
    for (const kind of ["keydown", "click"]) globalThis.removeEventListener(kind, this.opens, true);
    this.dialog.remove();
  }
}

export default component(CommandPalette);

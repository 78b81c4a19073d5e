// The chooser of methods: a search box over grouped rows, filtered in the browser; a click or Enter chooses.
//
// data: { current, groups: [{ title, rows: [{ id, label, number, sentence, line, steps: [{ stage, title }], needs, changes }] }] }. Every name
// is set as text.

import { el } from "../board/dom.js";
import { tr } from "../wording.js";

function row(entry, current, choose) {
  const button = el("button", entry.changes ? "row change" : "row");
  button.type = "button";
  button.dataset.id = entry.id;
  button.words = [entry.label, entry.number, entry.sentence, entry.line, entry.group].join(" ").toLowerCase();
  if (entry.id === current) button.setAttribute("aria-current", "true");
  const head = el("span", "head");
  head.append(el("b", "", entry.label), el("span", "number", entry.number));
  if (entry.needs) head.append(el("span", "needs", tr("not installed")));
  button.append(head, el("span", "sentence", entry.sentence), bricksOf(entry));
  if (entry.needs) button.append(el("span", "how", entry.needs));
  button.addEventListener("click", () => choose(entry.id));
  return button;
}

// The line drawn small: a brick for each step, in the colour of its stage.
function bricksOf({ steps, line }) {
  const drawn = el("span", "steps", ...steps.map(({ stage, title }) => el("span", `step ${stage}`, title)));
  drawn.title = line;
  return drawn;
}

class Chooser {
  constructor(root) {
    this.root = root;
    this.element = el("div", "chooser");
    this.search = el("input", "search");
    Object.assign(this.search, { type: "search", placeholder: tr("Search: beam, PageRank, No. 12, language model …"), autocomplete: "off" });
    this.search.setAttribute("aria-label", tr("Search methods"));
    this.none = el("p", "none", tr("No method matches all these words."));
    this.list = el("div", "list");
    this.element.append(this.search, this.none, this.list);
    root.append(this.element);
    this.search.addEventListener("input", () => this.filter());
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  update(data, choose) {
    const told = JSON.stringify(data);
    this.choose = choose;
    if (told === this.told) return;
    this.told = told;
    this.list.replaceChildren(...(data.groups ?? []).map((group) => {
      const section = el("section");
      section.setAttribute("aria-label", group.title);
      section.append(el("h4", "", group.title), ...group.rows.map((entry) => row({ ...entry, group: group.title }, data.current, (id) => this.choose(id))));
      return section;
    }));
    this.filter();
    this.list.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
    this.search.focus({ preventScroll: true });
  }

  rows() {
    return [...this.list.querySelectorAll(".row:not([hidden])")];
  }

  filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const section of this.list.children) {
      let any = false;
      for (const button of section.querySelectorAll(".row")) {
        button.hidden = !words.every((word) => button.words.includes(word));
        any ||= !button.hidden;
      }
      section.hidden = !any;
    }
    this.none.hidden = this.rows().length > 0;
    if (words.length) this.list.scrollTop = 0;
  }

  key(event) {
    const rows = this.rows();
    const at = rows.indexOf(this.root.activeElement ?? document.activeElement);
    if (event.key === "ArrowDown") rows[Math.min(rows.length - 1, at + 1)]?.focus();
    else if (event.key === "ArrowUp") (at > 0 ? rows[at - 1] : this.search).focus();
    else if (event.key === "Enter" && event.target === this.search && rows.length) this.choose(rows[0].dataset.id);
    else return;
    event.preventDefault();
  }
}

export default function chooser({ data, parentElement, setTriggerValue }) {
  parentElement.hopscopeChooser ??= new Chooser(parentElement);
  parentElement.hopscopeChooser.update(data ?? {}, (id) => setTriggerValue("choose", id));
}

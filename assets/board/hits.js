// The hits of a lane (passages, entities, relations, reports), those of one kind at a time: a row for each.

import { button, changed, el, setHidden, setText } from "./dom.js";
import { foldRows } from "./folding.js";
import { weightBar } from "./influence.js";
import { finder, marked, markedAround, shortened } from "./marked.js";
import { count, list, plural, scoreSign } from "./words.js";
import { tr } from "../wording.js";

const FEW = 4; // rows, until more are asked for

export class Hits {
  // `choose(kind)` is told the kind that something else asks to be seen.
  constructor(board, choose) {
    this.board = board;
    this.choose = choose;
    this.memo = {};
    this.open = new Set();
    this.rows = el("ol", "hit-rows");
    this.more = button("more", "", "", () => {
      this.all = !this.all;
      this.fold();
    });
    this.lost = el("ul", { class: "hit-rows lost-hits", "aria-label": tr("Passages with the evidence that were missed") });
    this.moreLost = button("more", "", "", () => {
      this.allLost = !this.allLost;
      this.fold();
    });
    this.unlisted = el("p", "quiet");
    this.note = el("p", "quiet");
    this.element = el("section", { class: "hits", "aria-label": tr("Hits") }, this.rows, this.more, this.unlisted, this.lost, this.moreLost, this.note);
  }

  // `hits` is null until all are found; `empty` says why there are none.
  update(hits, empty, weights = null) {
    const { marks } = this.board.payload;
    if (!changed(this.memo, "hits", [hits ?? null, marks, empty, weights])) return;
    this.weights = weights ?? {};
    this.tables = list(hits);
    this.found = finder(marks);
    setHidden(this.note, this.tables.length > 0);
    setText(this.note, empty);
    this.draw();
  }

  get kinds() {
    return this.tables.map((table) => table.kind);
  }

  show(kind) {
    if (kind === this.kind) return;
    this.kind = kind;
    this.all = false;
    this.draw();
  }

  draw() {
    const { rows, lost, more } = this.tables.find((table) => table.kind === this.kind) ?? {};
    this.rows.replaceChildren(...list(rows).map((row) => this.row(row)));
    this.lost.replaceChildren(...list(lost).map((row) => this.row(row)));
    setHidden(this.lost, !list(lost).length);
    setHidden(this.unlisted, !more);
    setText(this.unlisted, more ? tr("The best {listed} of {all} are listed.", { listed: count(list(rows).length), all: count(list(rows).length + more) }) : "");
    this.fold();
  }

  // Shows the hit that a sentence of the answer rests on, or that a point was noted on: its tab, its row, its place in the text; null lets
  // it go.
  point(rest) {
    const before = this.rest;
    this.rest = rest?.key ? rest : null;
    if (!before && !this.rest) return;
    if (this.rest) {
      const table = list(this.tables).find(({ rows }) => list(rows).some((row) => row.key === this.rest.key));
      if (table) this.choose(table.kind);
      if (list(table?.rows).findIndex((row) => row.key === this.rest.key) >= FEW) this.all = true;
    }
    this.draw();
    const at = this.rows.querySelector("mark.rest") ?? this.rows.querySelector(".hit.rested");
    at?.scrollIntoView({ block: "nearest", behavior: this.board.calm ? "auto" : "smooth" });
  }

  fold() {
    const size = this.rows.children.length;
    foldRows(this.rows, this.more, this.all, FEW, (number) => tr("Show all {hits}", { hits: plural(number, "hit") }));
    foldRows(this.lost, this.moreLost, this.allLost, FEW, (number) => tr("Show all {passages} that were missed", { passages: plural(number, "evidence passage") }));
    if (this.tables.length && !size) this.rows.replaceChildren(el("li", "quiet", tr("None was found.")));
  }

  row(row) {
    const title = button("hit-title", "", "", null);
    title.append(...marked(row.title ?? "", this.found));
    const head = el("div", "hit-head", title, row.gold ? gold() : null, row.unread ? el("span", "unread", tr("no room in the prompt")) : null, row.fate ? el("span", "unread", row.fate) : null);
    const parts = [head, weightBar(this.weights[row.key]), ...this.text(row), this.sources(row), this.without(row)];
    const item = el("li", { class: "hit", "data-path": row.key }, scoreSign(row.score), el("div", "hit-body", ...parts.filter(Boolean)));
    item.classList.toggle("rested", row.key === this.rest?.key);
    return item;
  }

  // A button that asks again without a passage or an entity; those that are made from passages stay.
  without({ key, fate }) {
    const what = { passage: tr("Remove this passage and ask again"), entity: tr("Remove this entity and ask again") }[this.kind];
    if (!what || fate || !this.board.payload.documents || !list(this.board.payload.ways).includes("without")) return null;
    return button("way row-without", what, "", (event) => {
      event.stopPropagation();
      this.board.options.onGo?.({ node: key, to: "without" });
    });
  }

  // Long texts are shortened around the marks until more is asked for.
  text({ key, title, text: all }) {
    const from = headLength(title, all);
    const text = all?.slice(from);
    if (!text) return [];
    const body = el("p", "hit-text");
    if (key === this.rest?.key && this.rest.place) {
      body.append(...markedAround(text, this.found, this.rest.place.map((at) => Math.max(0, at - from))));
      return [body];
    }
    const short = shortened(text, this.found);
    if (!short) {
      body.append(...marked(text, this.found));
      return [body];
    }
    const more = button("more", "", "", (event) => {
      event.stopPropagation(); // it is no click on the hit
      if (!this.open.delete(key)) this.open.add(key);
      show();
    });
    const show = () => {
      const whole = this.open.has(key);
      body.replaceChildren(...(whole ? marked(text, this.found) : short.map((part) => (typeof part === "string" ? part : part.cloneNode(true)))));
      setText(more, whole ? tr("Less") : tr("More"));
      more.setAttribute("aria-expanded", String(whole));
    };
    show();
    return [body, more];
  }

  sources({ title, place, sources }) {
    const parts = list(sources).filter((one) => one.title !== title).flatMap((one, index) => [index ? ", " : "from ", one.title ?? one.id, one.gold ? gold(" ★") : null]);
    if (!parts.length && !place) return null;
    return el("p", "hit-source", ...parts.filter(Boolean), parts.length && place ? " " : "", place ?? "");
  }
}

// How many letters of a text are its title on a line of its own, or before a colon: the row says it already.
function headLength(title, text) {
  if (!title || !text?.startsWith(title)) return 0;
  const end = /^(?:[ \t]*[:\n]\s*|\s*$)/.exec(text.slice(title.length));
  return end ? title.length + end[0].length : 0;
}

function gold(text = tr("★ evidence")) {
  return el("span", { class: "gold", title: tr("A passage with the evidence for the answer") }, text);
}

// What a language model noted on each part of what was found: the best points first, each with the parts that it was noted on.

import { button, changed, el, setHidden, setText } from "./dom.js";
import { foldRows } from "./folding.js";
import { list, plural } from "./words.js";
import { tr } from "../wording.js";

const FEW_POINTS = 3; // points, until more are asked for

export class Points {
  // `show(key)` is told the hit whose name was pressed.
  constructor(show) {
    this.show = show;
    this.memo = {};
    this.rows = el("ol", "point-rows");
    this.note = el("p", "point-note");
    this.more = button("more", "", "", () => {
      this.all = !this.all;
      this.fold();
    });
    this.element = el("section", { class: "points", "aria-label": tr("What the model noted") }, el("h4", "", tr("What the model noted")), this.note, this.rows, this.more);
  }

  // `points` is null in a lane whose model notes none.
  update(points) {
    setHidden(this.element, !points);
    if (!points || !changed(this.memo, "points", points)) return;
    setText(this.note, points.note);
    this.rows.replaceChildren(...list(points.rows).map((row) => this.row(row)));
    this.fold();
  }

  fold() {
    foldRows(this.rows, this.more, this.all, FEW_POINTS, (size) => tr("Show all {points}", { points: plural(size, "point") }));
  }

  row({ score, text, of, more, unread }) {
    const names = list(of).flatMap((one, index) => [index ? ", " : tr("from "), this.name(one), one.gold ? el("span", "gold", " ★") : null]);
    const from = el("p", "hit-source", ...names.filter(Boolean), more ? tr(" and {more} more", { more }) : "");
    const left = unread ? el("span", "unread", tr("not used in the answer")) : null;
    const item = el("li", "point", el("span", "score", String(score)), el("div", "", el("p", "point-text", text ?? ""), from, left));
    item.classList.toggle("unread-point", Boolean(unread));
    return item;
  }

  name({ key, title }) {
    return button({ class: "point-of", title: tr("Show it among the hits"), "data-path": key }, title ?? "", "", () => this.show(key));
  }
}

// Where a lane's time went, as a bar of parts; and how far a lane at work is.

import { changed, el } from "./dom.js";
import { list, span, wholeSpan } from "./words.js";
import { tr } from "../wording.js";

const KINDS = {
  preparation: tr("preparation"), waiting: tr("waiting"), retrieval: tr("retrieval"), ranking: tr("ranking"), model: tr("model"), cache: tr("reused"),
};

export class Times {
  constructor(board) {
    this.board = board;
    this.memo = {};
    this.bar = el("div", { class: "times-bar", role: "img" });
    this.legend = el("ul", "legend");
    this.element = el("section", { class: "times", "aria-label": tr("Where the time went") }, this.bar, this.legend);
  }

  // All bars have one scale, so that their lengths compare.
  update(data) {
    const spans = list(data.spans).filter((part) => part.kind in KINDS);
    this.element.classList.toggle("empty", !spans.length);
    const longest = Math.max(...list(this.board.payload.lanes).map((lane) => total(list(lane.spans))), 0.001);
    if (!changed(this.memo, "spans", [spans, longest])) return;
    this.bar.replaceChildren(...spans.map((part) => piece(part, longest)));
    const sums = Object.keys(KINDS).map((kind) => [kind, total(spans.filter((part) => part.kind === kind))])
      .filter(([kind, sum]) => sum >= 0.005 || (kind === "cache" && spans.some((part) => part.kind === kind)));
    this.bar.setAttribute("aria-label", sums.map(([kind, sum]) => `${KINDS[kind]} ${span(sum)}`).join(", ") || tr("no time"));
    this.legend.replaceChildren(...sums.map(([kind, sum]) => el("li", "", el("i", `kind-${kind}`), `${KINDS[kind]}${kind === "cache" && sum < 0.005 ? "" : ` ${span(sum)}`}`)));
  }
}

const total = (spans) => spans.reduce((sum, part) => sum + (Number(part.seconds) || 0), 0);

function piece({ kind, label, seconds }, longest) {
  const node = el("i", { class: `kind-${kind}`, title: `${label || KINDS[kind]}: ${span(Number(seconds) || 0)}` });
  node.style.flexBasis = `${(100 * (Number(seconds) || 0)) / longest}%`;
  return node;
}

// What a lane at work does, how far it is, and the best that it has. `soFar` says how much of what is ranked it shows already; `quick` that
// it is the result of the quick pass.
export function progressParts(progress, activity, soFar, quick = false) {
  const { text = activity, fraction = null, best, left = null } = progress ?? {};
  const known = Number.isFinite(fraction);
  const ahead = Number.isFinite(left);
  const parts = [text, known && !String(text).endsWith("%") ? `${Math.round(100 * fraction)} %` : "", ahead ? tr("about {time} left", { time: wholeSpan(left) }) : ""];
  const shown = quick ? tr("Quick result: {soFar}", { soFar }) : tr("Shown so far: {soFar}", { soFar });
  return {
    text: parts.filter(Boolean).join(" · "),
    best: soFar ? shown : best ? tr("Best so far: {best}", { best }) : "",
    width: known ? `${Math.round(100 * Math.max(0, Math.min(1, fraction)))}%` : "0",
    left: ahead,
  };
}

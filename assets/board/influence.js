// What a lane's answers rest on: a sentence for each, a button that measures it, and the influence of an item at its row.

import { button, el } from "./dom.js";
import { list, plural } from "./words.js";
import { tr } from "../wording.js";

// `influence` is what was measured, `measure` what can be: a label and its cost, or how far it is.
export function influenceParts(influence, measure, act) {
  const texts = list(influence?.texts).map(({ who, text, needed }) => el("p", "influence", el("b", "", `${who}:`), " ", text, ...list(needed).flatMap((one) => [" ", chip(one)])));
  return measure && act ? [...texts, measuring(measure, act, "influence")] : texts;
}

// An item that the answer needs: pointed at, it lights up in the pictures, as its row does.
function chip({ key, name }) {
  return button({ class: "needed-item", title: tr("Show it in the pictures"), "data-path": key }, name, "", null);
}

// The reader's answers to other contexts, with a sentence; `offer` is like `measure`.
export function readingParts(reading, offer, act) {
  const table = reading ? [el("p", "influence", reading.text), el("table", "readings", el("tbody", "", ...list(reading.rows).map(readingRow)))] : [];
  return offer && act ? [...table, measuring(offer, act, "reading")] : table;
}

function readingRow({ context, answer, right, tokens }) {
  const mark = right == null ? null : el("span", right ? "tag tag-good" : "tag tag-bad", right ? tr("right") : tr("wrong"));
  return el("tr", "", el("th", { scope: "row" }, context, tokens ? el("small", "", ` ${plural(tokens, "token")}`) : null), el("td", "", answer), el("td", "", mark));
}

// `what` is the action of the button; with “-stop” it is that which stops it.
function measuring({ running, text, share, label, cost, error }, act, what) {
  if (!running) return el("div", "measure", error ? el("p", "quiet", error) : null, button("way", label, "", () => act(what)), el("p", "quiet", cost));
  const fill = el("i");
  fill.style.width = `${Math.round(100 * (share ?? 0))}%`;
  const status = el("p", { class: "quiet", role: "status" }, text);
  return el("div", "measure", el("span", "track", fill), status, button("way", tr("Stop"), "", () => act(`${what}-stop`)));
}

// The bar of one item; null where its influence was not measured.
export function weightBar(weight) {
  if (!weight) return null;
  const share = Math.round(100 * weight.share);
  const fill = el("i");
  fill.style.width = `${share}%`;
  const words = weight.needed ? tr("answer needs it") : weight.changes ? tr("changes the answer") : "";
  const title = tr("Influence: without it {share} % of the answer differs{needed}", { share, needed: weight.needed ? tr("; it is one of the fewest without which the answer changes") : "" });
  return el("span", { class: `weight${weight.needed ? " needed" : ""}`, title }, el("span", "track", fill), `${share} %`, words ? ` · ${words}` : "");
}

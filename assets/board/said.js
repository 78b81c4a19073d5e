// Verdicts in words: one for all lanes above them, one for each lane under its graph, and buttons that repair what went wrong.

import { button, changed, el, setHidden } from "./dom.js";
import { influenceParts, readingParts } from "./influence.js";
import { list, plural } from "./words.js";
import { tr } from "../wording.js";

export class Band {
  constructor(board) {
    this.board = board;
    this.memo = {};
    this.element = el("section", { class: "band", "aria-label": tr("What the comparison shows") });
    this.repair = el("div", "band-repair"); // in a room it stands in the footer (together.js)
  }

  update() {
    const { verdict, edits, without } = this.board.payload;
    const changes = list(edits).join(", ");
    const taken = changes ? [el("p", "band-text taken", el("b", "", `${changes[0].toUpperCase()}${changes.slice(1)}${without ? ":" : "."}`), " ", without ?? "")] : [];
    const { length: busy } = this.board.atWork;
    const { length: all } = list(this.board.payload.lanes);
    const coming = busy && !verdict?.text ? tr("{done} of {methods} done.", { done: all - busy, methods: plural(all, "method") }) : "";
    setHidden(this.element, !verdict?.text && !taken.length && !coming);
    // In a room it is not within this element, and must go with its question.
    if (changed(this.memo, "repair", [verdict?.repair, full(this.board), Boolean(this.board.options.onRepair)])) this.repair.replaceChildren(...repairButton(this.board, verdict?.repair, verdict?.repair?.lane, "repair main-repair", tr("in its place")));
    if (this.element.hidden || !changed(this.memo, "verdict", [verdict, coming, edits, without, full(this.board), Boolean(this.board.options.onRepair)])) return;
    const [first, rest] = firstSentence(verdict?.text ?? "");
    const pending = verdict?.pending || coming ? [" ", el("span", "pending", verdict?.pending || coming)] : [];
    this.element.replaceChildren(...taken, el("p", "band-text", el("b", "", first), rest, ...pending), this.repair);
  }
}

function firstSentence(text) {
  const end = text.search(/[.!?:;](?=\s)/);
  return end < 0 ? [text, ""] : [text.slice(0, end + 1), text.slice(end + 1)];
}

// Whether there is no room for another lane: a repair then takes the place of its lane, and says so.
const full = ({ payload }) => list(payload.lanes).length >= payload.most_lanes;

// Or, where a lane makes the change already, which one.
function repairButton(board, repair, lane, className, place) {
  const { onRepair } = board.options;
  if (!repair || !onRepair) return [];
  if (repair.there) return [el("p", "quiet repaired", `${repair.label}. ${repair.there}`)];
  return [button(className, full(board) ? `${repair.label}, ${place}` : repair.label, "", () => onRepair(Number(lane)))];
}

// The sentence of one lane.
export class Said {
  constructor(board) {
    this.board = board;
    this.memo = {};
    this.element = el("section", { class: "said", "aria-label": tr("Why") });
  }

  update(data, number) {
    const { verdict_text: said, beside, influence, measure, reading, read_again: offer } = data;
    const { onLane } = this.board.options;
    const shown = Boolean(said && (said.head || said.text)) || Boolean(beside || influence || reading || ((measure || offer) && onLane));
    this.element.classList.toggle("empty", !shown);
    const tone = said?.tone ?? "good";
    if (!changed(this.memo, "said", [said, beside, influence?.texts, measure, reading, offer, data.repair, number, tone, full(this.board), Boolean(this.board.options.onRepair)])) return;
    const text = said?.head || said?.text ? [el("p", "", el("b", `said-${tone}`, said.head ?? ""), said.head ? " " : "", said.text ?? "")] : [];
    const before = beside ? [el("p", `beside beside-${beside.tone}`, el("b", "", tr("Against before:")), " ", beside.text, beside.said ? tr(" Before: {said}.", { said: beside.said.replace(/\.$/, "") }) : "", beside.count ? tr(" Correct answers {count}.", { count: beside.count }) : "")] : [];
    const act = onLane ? (what) => onLane({ lane: number, do: what }) : null;
    this.element.replaceChildren(...before, ...text, ...repairButton(this.board, data.repair, number, "repair", tr("in its place")), ...influenceParts(influence, measure, act), ...readingParts(reading, offer, act));
  }
}

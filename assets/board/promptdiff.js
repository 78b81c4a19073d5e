// Two prompts side by side, line by line: what stands in both, what only one of them says, and what the other says elsewhere.

import { button, el, setText } from "./dom.js";
import { count, laneName, list, plural } from "./words.js";
import { tr } from "../wording.js";

const MOST_CELLS = 4e6; // cells of the table that aligns two prompts; longer ones are aligned by their equal beginning and end alone

export const linesOf = (messages) => list(messages).flatMap(({ role, content }) => [{ head: role ?? "" }, ...String(content ?? "").split("\n").map((text) => ({ text }))]);

const sameLine = (a, b) => a.head === b.head && a.text === b.text;

// Rows of [left, right], null where a side has no such line: a longest common subsequence, what changed between two equal lines side by side.
export function aligned(left, right) {
  let begin = 0;
  while (begin < Math.min(left.length, right.length) && sameLine(left[begin], right[begin])) begin += 1;
  let end = 0;
  while (end < Math.min(left.length, right.length) - begin && sameLine(left[left.length - 1 - end], right[right.length - 1 - end])) end += 1;
  const [a, b] = [left.slice(begin, left.length - end), right.slice(begin, right.length - end)];
  const pairs = (from, to) => left.slice(from, to).map((line, index) => [line, right[right.length - left.length + from + index]]);
  return [...left.slice(0, begin).map((line, index) => [line, right[index]]), ...changedRows(a, b), ...pairs(left.length - end, left.length)];
}

function changedRows(a, b) {
  const rows = [];
  const only = { left: [], right: [] };
  const flush = () => {
    for (let i = 0; i < Math.max(only.left.length, only.right.length); i += 1) rows.push([only.left[i] ?? null, only.right[i] ?? null]);
    only.left = [];
    only.right = [];
  };
  const table = a.length * b.length > MOST_CELLS ? null : commonLengths(a, b);
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (table && i < a.length && j < b.length && sameLine(a[i], b[j])) {
      flush();
      rows.push([a[i++], b[j++]]);
    } else if (j >= b.length || (i < a.length && (!table || table[i + 1][j] >= table[i][j + 1]))) only.left.push(a[i++]);
    else only.right.push(b[j++]);
  }
  flush();
  return rows;
}

// By place in both the length of the longest common subsequence from there on.
function commonLengths(a, b) {
  const table = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) table[i][j] = sameLine(a[i], b[j]) ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  }
  return table;
}

// What each side alone says, and what both say at different places: the rows, and how many lines of each kind.
export function difference(left, right) {
  const rows = aligned(left, right);
  const texts = (side) => rows.filter(([a, b]) => !(a && b && sameLine(a, b))).map((row) => row[side]?.text).filter((text) => text?.trim());
  const moved = new Set(texts(0).filter((text) => new Set(texts(1)).has(text)));
  const tally = { both: 0, moved: 0, left: 0, right: 0 };
  const marked = rows.map(([a, b]) => {
    const equal = Boolean(a && b && sameLine(a, b));
    const kind = (line, side) => (!line ? "none" : equal ? "same" : moved.has(line.text) ? "moved" : side);
    const kinds = [kind(a, "left"), kind(b, "right")];
    if (equal && a.text?.trim()) tally.both += 1;
    if (kinds[0] === "moved") tally.moved += 1;
    if (kinds[0] === "left" && a.text?.trim()) tally.left += 1;
    if (kinds[1] === "right" && b.text?.trim()) tally.right += 1;
    return { left: a, right: b, kinds };
  });
  return { rows: marked, tally };
}

export class PromptDialog {
  constructor(board) {
    this.board = board;
    this.choices = [0, 1].map((side) => {
      const choice = el("select", { "aria-label": side ? tr("Prompt on the right") : tr("Prompt on the left") });
      choice.addEventListener("change", () => this.draw());
      return choice;
    });
    this.facts = [el("span", "fact"), el("span", "fact")];
    this.words = el("p", { class: "quiet", role: "status" });
    this.only = el("input", { type: "checkbox" });
    this.only.addEventListener("change", () => this.draw());
    this.body = el("div", { class: "two-prompts", tabindex: 0, role: "region", "aria-label": tr("Both prompts") });
    const sides = this.choices.map((choice, side) => el("div", "", choice, this.facts[side]));
    this.element = el("dialog", { class: "prompts", "aria-label": tr("Two prompts side by side") },
      el("header", "", el("h3", "", tr("Two prompts")), button("tool", "✕", tr("Close"), () => this.element.close())),
      el("div", "sides", ...sides), el("div", "tally", this.words, el("label", "", this.only, tr(" only differences"))), this.body);
    this.element.addEventListener("click", (event) => event.target === this.element && this.element.close());
  }

  get lanes() {
    return list(this.board.payload.lanes).filter((lane) => list(lane.prompt).length);
  }

  open(id) {
    const { lanes } = this;
    for (const choice of this.choices) choice.replaceChildren(...lanes.map((lane) => el("option", { value: lane.id }, laneName(lane))));
    this.choices[0].value = id;
    this.choices[1].value = (lanes.find((lane) => lane.id !== id) ?? lanes[0]).id;
    this.draw();
    this.element.showModal();
  }

  draw() {
    const [left, right] = this.choices.map((choice) => this.lanes.find((lane) => lane.id === choice.value));
    if (!left || !right) return;
    const { rows, tally } = difference(linesOf(left.prompt), linesOf(right.prompt));
    [left, right].forEach((lane, side) => setText(this.facts[side], Number.isFinite(lane.prompt_tokens) ? plural(lane.prompt_tokens, "token") : ""));
    const elsewhere = tally.moved ? tr(", {moved} moved", { moved: count(tally.moved) }) : "";
    const equal = !tally.moved && !tally.left && !tally.right;
    setText(this.words, equal ? tr("Both prompts are the same.") : tr("{lines} in both{elsewhere}; {left} only on the left, {right} only on the right.", { lines: plural(tally.both, "line"), elsewhere, left: count(tally.left), right: count(tally.right) }));
    const shown = this.only.checked ? rows.filter(({ kinds }) => kinds.some((kind) => kind !== "same")) : rows;
    this.body.replaceChildren(...shown.map(({ left: a, right: b, kinds }) => el("div", "pair", promptCell(a, kinds[0]), promptCell(b, kinds[1]))));
  }
}

const LINE_SIGNS = { same: "", none: "", moved: "↕", left: "−", right: "+" };
const LINE_SPOKEN = { moved: tr("moved: "), left: tr("left only: "), right: tr("right only: ") };

function promptCell(line, kind) {
  if (line?.head !== undefined) return el("div", "head-line", line.head);
  const sign = el("span", { class: "sign", "aria-hidden": "true" }, LINE_SIGNS[kind]);
  return el("div", `cell ${kind}`, sign, LINE_SPOKEN[kind] ? el("span", "sr-only", LINE_SPOKEN[kind]) : null, el("span", "text", line?.text ?? ""));
}

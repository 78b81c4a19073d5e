// A text with the words of the question and the known answers marked, whole or shortened around the marks. Always text, never HTML.

import { el } from "./dom.js";
import { list } from "./words.js";

const ENOUGH = 190; // letters of a shortened text, about
const BEFORE = 50;
const AFTER = 90;

// What finds the marks of a payload: `{words, answers}`. Answers go before words where both could stand.
export function finder(marks) {
  const answers = list(marks?.answers).map((text) => bounded(text, ""));
  const words = list(marks?.words).map((text) => bounded(text, "(?:['’]?s)?"));
  return { answers: pattern(answers), words: pattern(words) };
}

function bounded(text, ending) {
  const flexible = text.trim().split(/\s+/).map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replace(/['’]/g, "['’]")).join("\\s+");
  const letter = "[\\p{L}\\p{N}]";
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(text)) return flexible; // written without blanks
  return `(?<!${letter})${flexible}${ending}(?!${letter})`;
}

function pattern(parts) {
  const ordered = parts.filter((part) => part).sort((one, two) => two.length - one.length);
  return ordered.length ? new RegExp(ordered.join("|"), "giu") : null;
}

// The marks in a text, in order and apart: `{from, to, answer}`.
export function marksIn(text, found) {
  const ranges = [];
  for (const [expression, answer] of [[found.answers, true], [found.words, false]]) {
    for (const match of expression ? text.matchAll(expression) : []) {
      const range = { from: match.index, to: match.index + match[0].length, answer };
      if (match[0] && !ranges.some((other) => other.from < range.to && range.from < other.to)) ranges.push(range);
    }
  }
  return ranges.sort((one, two) => one.from - two.from);
}

// The text between two places as nodes, with its marks.
function markedPiece(text, from, to, ranges) {
  const parts = [];
  let at = from;
  for (const range of ranges) {
    if (range.from < from || range.to > to) continue;
    parts.push(text.slice(at, range.from), el("mark", range.answer ? "known" : "", text.slice(range.from, range.to)));
    at = range.to;
  }
  parts.push(text.slice(at, to));
  return parts.filter((part) => part !== "");
}

// The text with its marks, and the part from one place to another in a mark of its own.
export function markedAround(text, found, [from, to]) {
  const ranges = marksIn(text, found).filter((range) => range.to <= from || range.from >= to || (range.from >= from && range.to <= to));
  const inside = markedPiece(text, from, to, ranges);
  return [...markedPiece(text, 0, from, ranges), el("mark", "rest", ...inside), ...markedPiece(text, to, text.length, ranges)];
}

export function marked(text, found) {
  return markedPiece(text, 0, text.length, marksIn(text, found));
}

// The text around its marks, answers first; null where it is short enough to stand whole.
export function shortened(text, found) {
  if (text.length <= ENOUGH * 1.25) return null;
  const ranges = marksIn(text, found);
  const wanted = [...ranges.filter((range) => range.answer), ...ranges.filter((range) => !range.answer)];
  let windows = [];
  for (const range of wanted) {
    const next = merged([...windows, { from: Math.max(0, range.from - BEFORE), to: Math.min(text.length, range.to + AFTER) }]);
    if (windows.length && covered(next) > ENOUGH) continue;
    windows = next;
  }
  if (covered(windows) < ENOUGH / 2) windows = merged([...windows, { from: 0, to: windows.length ? ENOUGH / 2 : ENOUGH }]);
  return windows.flatMap(({ from, to }, index) => {
    const start = from > 0 ? wordStart(text, from) : 0;
    const end = to < text.length ? wordEnd(text, to) : text.length;
    return [index || start > 0 ? "… " : "", ...markedPiece(text, start, end, ranges), end < text.length && index === windows.length - 1 ? " …" : " "].filter((part) => part !== "");
  });
}

const covered = (windows) => windows.reduce((sum, { from, to }) => sum + to - from, 0);

function merged(windows) {
  const joined = [];
  for (const one of windows.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && one.from <= last.to + 12) last.to = Math.max(last.to, one.to);
    else joined.push({ ...one });
  }
  return joined;
}

function wordStart(text, at) {
  const next = text.slice(at, at + 24).search(/\s/);
  return next < 0 ? at : at + next + 1;
}

function wordEnd(text, at) {
  const back = text.slice(Math.max(0, at - 24), at).search(/\s\S*$/);
  return back < 0 ? at : Math.max(0, at - 24) + back;
}

// Words of an answer with what they rest on: a node, paths, lines of the prompt.

import { el } from "./dom.js";
import { list } from "./words.js";
import { tr } from "../wording.js";

// The text as nodes, in which each piece of evidence stands as a word of its own; the longest first where they overlap.
export function evidenceText(text, evidence) {
  const items = list(evidence).filter((item) => item.text).sort((one, two) => two.text.length - one.text.length);
  const parts = [];
  let plain = "";
  let at = 0;
  const used = new Set();
  while (at < text.length) {
    const item = items.find((candidate) => text.startsWith(candidate.text, at) && apart(text, at, candidate.text.length));
    if (!item) {
      plain += text[at];
      at += 1;
      continue;
    }
    if (plain) parts.push(plain);
    plain = "";
    parts.push(wordOf(item));
    used.add(item);
    at += item.text.length;
  }
  if (plain) parts.push(plain);
  return parts;
}

const LETTER = /[\p{L}\p{N}]/u;

function apart(text, at, length) {
  return !(at > 0 && LETTER.test(text[at - 1]) && LETTER.test(text[at])) && !(LETTER.test(text[at + length] ?? "") && LETTER.test(text[at + length - 1]));
}

function wordOf(item) {
  const word = el("span", { class: "word", tabindex: 0, role: "button", "aria-label": tr("{text}: show its evidence", { text: item.text }) }, item.text);
  word.evidence = item;
  return word;
}

// Whether a word rests on the path or the node that is pointed at, or is itself pointed at.
export function rests(item, { key, node, word }) {
  return item === word || (key !== null && list(item.paths).includes(key)) || (node !== null && item.node === node);
}

// Payload values as lists and words.

import { el } from "./dom.js";
import { nounOf, tr } from "../wording.js";

const FATE_WORDS = { found: tr("found"), dropped: tr("dropped"), never: tr("never reached") };

export const list = (value) => (Array.isArray(value) ? value : []);
export const count = (number) => (number === null || number === undefined ? "–" : Number(number).toLocaleString("en-US"));
export const plural = (number, word) => `${count(number)} ${nounOf(number, word)}`;
export const sized = (number, words) => `${count(number)} ${nounOf(number, words.replace(/s$/, ""), words)}`;

export function score(value) {
  if (value === null || value === undefined || !Number.isFinite(Number(value))) return "";
  const number = Number(value);
  const size = Math.abs(number);
  const text = size !== 0 && size < 0.01 ? number.toExponential(0) : number.toFixed(size < 10 ? 2 : size < 1000 ? 1 : 0);
  return text.replace("-", "−");
}

export function scoreSign(value) {
  return el("span", { class: "score", title: tr("Score by this method: it compares with others of the same list alone") }, score(value));
}

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  return value < 0.01 && value > 0 ? "<0.01" : value.toFixed(value < 10 ? 2 : 1);
}

// A span of time for people: 0.02 s, 1.4 s, 38 s, 3 min.
export function span(value) {
  if (!Number.isFinite(value)) return "";
  if (value >= 90) return tr("{minutes} min", { minutes: Math.round(value / 60) });
  return value < 0.005 ? "0 s" : `${value.toFixed(value < 0.1 ? 2 : value < 10 ? 1 : 0)} s`;
}

// An estimate for people, as it is known no better than to the second: 5 s, 3 min.
export function wholeSpan(value) {
  const whole = Math.max(1, Math.ceil(value));
  return whole < 10 ? `${whole} s` : span(whole);
}

export function fateText(fate) {
  if (!fate) return tr("not known yet");
  const word = FATE_WORDS[fate.fate] ?? "";
  const text = fate.text ?? "";
  if (fate.plain) return text;
  if (!text) return word;
  return Object.values(FATE_WORDS).some((known) => text.toLowerCase().startsWith(known)) ? text : `${word}: ${text}`;
}

// A lane's name with the paper's own beside it.
export const laneName = (lane) => [lane.title, lane.number].filter(Boolean).join(" · ");

// The verdict on what a lane says in the end: of its model where one has answered, else of its reader.
export const lastVerdict = (lane) => lane.verdict ?? lane.reader_verdict ?? null;

export function toneOf(verdict) {
  if (!verdict) return "";
  return verdict.right >= verdict.of ? "good" : verdict.right > 0 ? "warn" : "bad";
}

// What a tag says: so many of the known answers, or a word where there is one alone.
export const verdictWords = (verdict) => (verdict ? verdict.word ?? tr("{right} of {of}", { right: verdict.right, of: verdict.of }) : "");

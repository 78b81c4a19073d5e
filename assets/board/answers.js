// One answer of a lane: who says it, its text as it streams, and how much of it is right.

import { button, changed, el, setHidden, setText } from "./dom.js";
import { evidenceText } from "./evidence.js";
import { sentenceText } from "./rests.js";
import { toneOf, verdictWords } from "./words.js";
import { tr } from "../wording.js";

function verdictTag(verdict, soFar) {
  const title = tr("{right} of {of} correct answers are in it", verdict);
  return el("span", { class: `tag tag-${soFar ? "so-far" : toneOf(verdict)}`, title }, verdictWords(verdict));
}

// A speaker of an answer: label, tag, text that streams, and a toggle when it is long.
export function voice(kind) {
  const label = el("span", "voice-label");
  const tagPlace = el("span", "tag-place");
  const text = el("span");
  const caret = el("span", { class: "caret", "aria-hidden": "true" });
  const body = el("p", `voice-text ${kind}-text`, text, caret);
  const more = button({ class: "more", "aria-expanded": "false" }, tr("Show more"), "", () => {
    const open = body.classList.toggle("open");
    more.setAttribute("aria-expanded", String(open));
    setText(more, open ? tr("Show less") : tr("Show more"));
  });
  const element = el("div", `voice voice-${kind}`, el("div", "voice-head", label, more, tagPlace), body);
  const memo = {};
  const measure = () => setHidden(more, !body.classList.contains("open") && body.scrollHeight <= body.clientHeight + 2);
  new ResizeObserver(measure).observe(body);
  // `soFar` of an answer that may change, as not all that it is taken from is ranked.
  const show = (visible, { name, words, verdict, streaming = false, evidence = null, rests = null, soFar = false }) => {
    setHidden(element, !visible);
    setText(label, soFar ? tr("{name}, so far", { name }) : name);
    if (changed(memo, "words", [words, evidence, rests])) text.replaceChildren(...(rests ? sentenceText(words, rests) : evidenceText(words, evidence)));
    setHidden(caret, !streaming);
    if (changed(memo, "verdict", [verdict, soFar])) tagPlace.replaceChildren(...(verdict ? [verdictTag(verdict, soFar)] : []));
    if (visible) measure();
  };
  return { element, show };
}

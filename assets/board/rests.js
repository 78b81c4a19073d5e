// The sentences of an answer on documents: pressed, one shows the passage that it most likely rests on.

import { el, setAttribute } from "./dom.js";
import { list } from "./words.js";
import { tr } from "../wording.js";

// The text as nodes, in which each sentence stands as a thing of its own that can be pressed.
export function sentenceText(text, rests) {
  const parts = [];
  let at = 0;
  for (const rest of list(rests)) {
    if (rest.start > at) parts.push(text.slice(at, rest.start));
    parts.push(sentence(text.slice(rest.start, rest.end), rest));
    at = rest.end;
  }
  parts.push(text.slice(at));
  return parts.filter((part) => part !== "");
}

function sentence(text, rest) {
  const node = el("span", {
    class: "sentence", tabindex: 0, role: "button", "aria-pressed": "false", title: tr("Show the passage that it most likely comes from"), "data-sure": rest.sure,
  }, text);
  node.rest = rest;
  return node;
}

// Presses in an answer, by pointer, Enter or the space bar; `show(rest)` is told the one that is open, or null.
export class Resting {
  constructor(answer, note, show) {
    Object.assign(this, { answer, note, show, open: null });
    answer.addEventListener("click", (event) => this.press(event));
    answer.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") this.press(event);
      if (event.key === "Escape" && this.open) this.set(null);
    });
  }

  press(event) {
    const node = event.target.closest?.(".sentence");
    if (!node) return;
    event.preventDefault();
    this.set(this.open?.text === node.rest.text && this.open.start === node.rest.start ? null : node.rest);
  }

  set(rest) {
    this.open = rest;
    this.mark();
    this.show(rest);
  }

  // Another answer has come: what was open is let go where it is not there any more.
  refresh() {
    const there = [...this.answer.querySelectorAll(".sentence")].some(({ rest }) => JSON.stringify(rest) === JSON.stringify(this.open));
    if (this.open && !there) this.set(null);
    else this.mark();
  }

  mark() {
    for (const node of this.answer.querySelectorAll(".sentence")) setAttribute(node, "aria-pressed", String(Boolean(this.open) && node.rest.start === this.open.start && node.rest.end === this.open.end));
    this.note.hidden = !this.open;
    this.note.textContent = this.open?.text ?? "";
    this.note.dataset.sure = this.open?.sure ?? "";
  }
}

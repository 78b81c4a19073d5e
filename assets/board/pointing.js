// What is pointed at: a path, a word of an answer or a node, by the pointer, by the keyboard's focus, or pinned by a click.

import { setAttribute, setText } from "./dom.js";
import { rests } from "./evidence.js";
import { fateText, laneName, list } from "./words.js";

const keyAt = (event) => event.target.closest?.("[data-path]")?.dataset.path ?? null;
const wordAt = (event) => event.target.closest?.(".word") ?? null;

export class Pointing {
  constructor(board) {
    this.board = board;
    this.hover = this.pin = this.focused = this.hoverWord = this.word = this.node = null;
    this.listen(board.element);
  }

  listen(element) {
    element.addEventListener("pointerover", (event) => event.pointerType !== "touch" && this.setHover(keyAt(event), wordAt(event)));
    element.addEventListener("pointerleave", () => this.setHover(null, null));
    element.addEventListener("focusin", (event) => {
      const visible = event.target.matches?.(":focus-visible");
      this.focused = visible ? keyAt(event) : null;
      this.word = visible ? wordAt(event) : null;
      this.refresh(true);
    });
    element.addEventListener("focusout", () => {
      this.focused = this.word = null;
      this.refresh();
    });
    element.addEventListener("click", (event) => {
      const key = keyAt(event);
      if (key) this.setPin(this.pin === key ? null : key);
    });
    this.onKey = (event) => event.key === "Escape" && (this.board.panel.close() ? event.preventDefault() : this.clear());
    document.addEventListener("keydown", this.onKey, true);
  }

  forget(gone) {
    for (const name of ["hover", "pin", "focused"]) if (gone(this[name])) this[name] = null;
  }

  setHover(key, word) {
    clearTimeout(this.timer);
    if (key === this.hover && word === this.hoverWord) return;
    // leaving waits a little, so that going from row to row does not flash
    this.timer = setTimeout(() => {
      this.hover = key;
      this.hoverWord = word;
      this.refresh();
    }, key || word ? 0 : 90);
  }

  // The node under the pointer: words of the answers that rest on it light up.
  setNode(id) {
    if (id === this.node) return;
    this.node = id;
    this.lightWords(this.key());
  }

  setPin(key) {
    this.pin = key;
    if (!key) this.hover = this.focused = null;
    this.refresh(true);
  }

  clear() {
    this.hover = this.pin = this.focused = this.hoverWord = this.word = null;
    for (const lane of this.board.lanes.values()) lane.replay.stop();
    this.board.together.rewind();
    this.refresh();
  }

  // The path under the pointer, the focused or the pinned one.
  key() {
    return [this.hover, this.focused, this.pin].find((candidate) => this.board.path(candidate)) ?? null;
  }

  // Shows what a word of an answer rests on, or else the path pointed at, or the frame of a replay.
  refresh(speak = false) {
    const { board } = this;
    const word = [this.hoverWord, this.word].find((candidate) => candidate?.isConnected) ?? null;
    const item = word?.evidence ?? null;
    const key = item ? null : this.key();
    for (const lane of board.lanes.values()) {
      lane.show({ key, word: lane.element.contains(word) ? item : null, node: item?.node ?? null });
    }
    const lit = item ? new Set(list(item.paths)) : new Set([key]);
    for (const row of board.element.querySelectorAll("[data-path]")) {
      row.classList.toggle("active", lit.has(row.dataset.path));
      row.classList.toggle("pinned", row.dataset.path === this.pin);
      setAttribute(row.matches("button") ? row : row.querySelector("button"), "aria-pressed", String(row.dataset.path === this.pin));
    }
    this.lightWords(key, item);
    if (speak && key) setText(board.live, this.spoken(key));
  }

  lightWords(key, word = null) {
    for (const one of this.board.element.querySelectorAll(".word")) one.classList.toggle("lit", rests(one.evidence, { key, node: this.node, word }));
  }

  spoken(key) {
    return list(this.board.payload.lanes).map((lane) => `${laneName(lane)}: ${fateText(this.board.fate(key, lane.id))}`).join(". ");
  }

  destroy() {
    clearTimeout(this.timer);
    document.removeEventListener("keydown", this.onKey, true);
  }
}

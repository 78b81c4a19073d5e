// The replay: a story of a lane, frame by frame.

import { button, el, reconcile, setHidden, setText } from "./dom.js";
import { makeRow, patchRow } from "./paths.js";
import { count, list, plural } from "./words.js";

export class Replay {
  constructor(board) {
    this.board = board;
    this.memo = {};
    this.active = false;
    this.choice = el("select", "stories");
    this.choice.setAttribute("aria-label", "Story to replay");
    this.slider = el("input", "slider");
    Object.assign(this.slider, { type: "range", min: "0", step: "1", value: "0" });
    this.slider.setAttribute("aria-label", "Frame");
    this.title = el("span", "frame-title");
    this.kept = el("span", "frame-count");
    this.rows = el("ol", "rows");
    this.note = el("p", "quiet");
    this.off = button("tool off", "Clear", "Stop the replay", () => board.clear());
    this.listBox = el("div", "frame-list", this.rows, this.note);
    const bar = el("div", "replay-bar", el("b", "", "Replay"), this.choice,
      button("tool", "‹", "Previous frame", () => this.step(-1)), this.slider, button("tool", "›", "Next frame", () => this.step(1)),
      el("span", "frame-words", this.title, this.kept), this.off);
    this.element = el("section", "replay", bar, this.listBox);
    this.element.setAttribute("aria-label", "Replay");
    this.choice.addEventListener("change", () => this.start(0));
    this.slider.addEventListener("input", () => this.start(Number(this.slider.value)));
  }

  stories() {
    return list(this.board.payload.lanes).flatMap((lane) => list(lane.stories).filter((story) => list(story.frames).length)
      .map((story, index) => ({ id: `${lane.id}|${index}|${story.title}`, lane, story })));
  }

  current() {
    const stories = this.stories();
    return stories.find((entry) => entry.id === this.choice.value) ?? stories[0] ?? null;
  }

  frame() {
    const entry = this.active ? this.current() : null;
    if (!entry) return null;
    return { lane: entry.lane.id, paths: list(entry.story.frames[this.index(entry)]?.paths) };
  }

  index(entry) {
    return Math.min(Number(this.slider.value), entry.story.frames.length - 1);
  }

  update() {
    const stories = this.stories();
    setHidden(this.element, !stories.length);
    if (this.choice.value && !stories.some((entry) => entry.id === this.choice.value)) this.active = false;
    if (!stories.length) return void (this.active = false);
    reconcile(this.choice, stories, (entry) => entry.id, (entry) => Object.assign(el("option"), { value: entry.id }),
      (option, { lane, story }) => setText(option, `${lane.title} · ${story.title}`));
    this.draw();
  }

  draw() {
    const entry = this.current();
    if (!entry) return;
    const { story, lane } = entry;
    const last = String(story.frames.length - 1);
    if (this.slider.max !== last) this.slider.max = last;
    const frame = story.frames[this.index(entry)];
    const keys = list(frame.paths);
    const known = keys.filter((key) => this.board.path(key));
    const words = `${frame.title ?? ""} (${this.index(entry) + 1} of ${story.frames.length})`;
    const considered = frame.considered === null || frame.considered === undefined ? "" : ` of ${count(frame.considered)}`;
    setText(this.title, words);
    setText(this.kept, `${plural(keys.length, "path")} kept${considered}`);
    this.slider.setAttribute("aria-valuetext", `${words}, ${this.kept.textContent}`);
    setHidden(this.listBox, !this.active);
    setHidden(this.off, !this.active);
    reconcile(this.rows, known.map((key) => ({ key, lead: "", path: this.board.path(key), fate: this.board.fate(key, lane.id) })), (row) => row.key, makeRow, patchRow);
    const missing = keys.length - known.length;
    setText(this.note, missing ? `${plural(missing, "more path")} not drawn` : known.length ? "" : "No path was kept in this frame.");
    setHidden(this.note, !this.note.textContent);
  }

  start(index) {
    this.active = true;
    this.draw();
    this.slider.value = String(index);
    this.draw();
    this.board.pin = null;
    this.board.refresh();
  }

  step(by) {
    const last = Number(this.slider.max);
    this.start(Math.max(0, Math.min(last, Number(this.slider.value) + (this.active ? by : 0))));
  }

  stop() {
    this.active = false;
    this.draw();
  }
}

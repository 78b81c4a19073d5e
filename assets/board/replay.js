// The replay of a lane's story, frame by frame, in a bar over its graph. After the last frame comes what was kept, where it begins.

import { button, changed, el, reconcile, setHidden, setText } from "./dom.js";
import { makeRow, patchRow } from "./paths.js";
import { count, list, plural, score } from "./words.js";
import { nouns, tr } from "../wording.js";

export class Replay {
  constructor(board, lane) {
    this.board = board;
    this.lane = lane;
    this.memo = {};
    this.playing = false;
    this.stories = [];
    this.choice = el("select", { class: "stories", "aria-label": tr("Story to replay") });
    this.slider = el("input", { class: "slider", type: "range", min: 0, step: 1, value: 0, "aria-label": tr("Frame") });
    this.words = el("span", "frame-words");
    this.element = el("div", { class: "replay", role: "group", "aria-label": tr("Replay") }, el("b", "", tr("Replay")), this.choice, button("tool turn", "‹", tr("Previous frame"), () => this.step(-1)),
      this.slider, button("tool turn", "›", tr("Next frame"), () => this.step(1)), this.words);
    this.title = el("h4");
    this.rows = el("ol", "rows");
    this.note = el("p", "quiet");
    this.off = button("more", tr("Show the kept paths"), "", () => board.pointing.clear());
    this.list = el("div", "frame-list", this.title, this.rows, this.note, this.off);
    this.choice.addEventListener("change", () => this.start(0));
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
  }

  get story() {
    return this.stories.find((story, index) => String(index) === this.choice.value) ?? this.stories[0] ?? null;
  }

  get index() {
    return Math.min(Number(this.slider.value), this.story.frames.length - 1);
  }

  get spreads() {
    return this.story?.of === "mass";
  }

  // Keys of the paths to light, while it plays.
  frame() {
    return this.playing && this.story && !this.spreads ? list(this.story.frames[this.index].paths) : null;
  }

  // By node the share of PageRank's mass that it holds, while that plays.
  mass() {
    return this.playing && this.spreads ? list(this.story.frames[this.index].mass) : null;
  }

  update() {
    this.stories = list(this.lane.data.stories).filter((story) => list(story.frames).length);
    const shown = this.stories.length > 0;
    setHidden(this.element, !shown);
    if (changed(this.memo, "stories", this.stories.map(({ title, frames }) => [title, frames.length]))) this.playing = false;
    setHidden(this.choice, this.stories.length < 2);
    reconcile(this.choice, this.stories, (story, index) => String(index), () => el("option"), (option, story) => setText(option, story.title));
    [...this.choice.children].forEach((option, index) => (option.value = String(index)));
    this.draw();
  }

  draw() {
    const { story } = this;
    setHidden(this.list, !this.playing);
    this.element.classList.toggle("playing", this.playing);
    if (!story) return;
    this.slider.setAttribute("aria-label", tr("Frame of {title}", { title: story.title }));
    const end = String(story.frames.length);
    if (this.slider.max !== end) this.slider.max = end;
    if (!this.playing) return void this.drawEnd(story, end);
    const frame = story.frames[this.index];
    if (this.spreads) return void this.drawMass(story, frame);
    const keys = list(frame.paths);
    const considered = frame.considered === null || frame.considered === undefined ? "" : tr(" of {considered}", { considered: count(frame.considered) });
    const documents = story.of === "document";
    const noun = documents ? nouns("document") : nouns("path");
    const missed = documents ? nouns("more document") : nouns("more path");
    const done = documents ? tr("read") : tr("kept");
    const kept = `${plural(keys.length, noun)} ${done}${considered}`;
    setText(this.words, `${frame.title || tr("step {index}", { index: this.index + 1 })}: ${count(keys.length)}${considered} ${done}`);
    this.words.title = kept;
    this.slider.setAttribute("aria-valuetext", tr("{title} ({index} of {frames}), {kept}", { title: frame.title ?? "", index: this.index + 1, frames: story.frames.length, kept }));
    setText(this.title, `${story.title}, ${frame.title ?? ""}: ${kept}`);
    const known = keys.filter((key) => this.board.path(key));
    const scores = new Map(keys.map((key, index) => [key, score(list(frame.scores)[index])]));
    const row = (key) => ({ key, lead: scores.get(key), path: this.board.path(key), fate: this.board.fate(key, this.lane.data.id) });
    reconcile(this.rows, known.map(row), (entry) => entry.key, makeRow, patchRow);
    const missing = keys.length - known.length;
    setText(this.note, missing ? tr("{missing} not drawn", { missing: plural(missing, missed) }) : known.length ? frame.note ?? "" : documents ? tr("No document was read in this frame.") : tr("No path was kept in this frame."));
    setText(this.off, documents ? tr("Show the documents found") : tr("Show the kept paths"));
    setHidden(this.note, !this.note.textContent);
  }

  // What was kept is shown: the slider stands at its end.
  drawEnd(story, end) {
    this.slider.value = end;
    setText(this.words, "");
    this.words.title = "";
    this.slider.setAttribute("aria-valuetext", tr("{title}: what was kept", { title: story.title }));
  }

  drawMass(story, frame) {
    setText(this.words, frame.title);
    this.words.title = "";
    this.slider.setAttribute("aria-valuetext", tr("{title} ({index} of {frames})", { title: frame.title, index: this.index + 1, frames: story.frames.length }));
    setText(this.title, tr("{story} {frame}: where its mass is", { story: story.title, frame: frame.title }));
    const most = list(frame.best)[0]?.share || 1;
    reconcile(this.rows, list(frame.best), (entry, index) => `mass ${index}`, massRow, (row, entry) => patchMass(row, entry, most));
    setText(this.note, "");
    setHidden(this.note, true);
    setText(this.off, tr("Show the kept paths"));
  }

  start(index) {
    this.board.play(this);
    this.showAt(index);
    this.board.pointing.refresh();
  }

  // A frame; what was kept after the last one.
  go(index) {
    if (index < this.story.frames.length) this.start(index);
    else this.board.pointing.clear();
  }

  // This frame of a story, while others may play too.
  showAt(index, story = null) {
    if (story) this.choice.value = String(this.stories.indexOf(story));
    this.playing = true;
    this.draw();
    this.slider.value = String(index);
    this.draw();
    this.lane.found.fold();
  }

  // The frame before or after; round from what was kept to the first.
  step(by) {
    const places = this.story.frames.length + 1;
    this.go((Number(this.slider.value) + by + places) % places);
  }

  stop() {
    if (!this.playing) return;
    this.playing = false;
    this.draw();
    this.lane.found.fold();
  }
}

function massRow() {
  return el("li", "mass-row", el("b"), el("span", "mass-bar", el("i")), el("span", "mass-share"));
}

function patchMass(row, { name, share }, most) {
  const [title, bar, words] = row.children;
  setText(title, name);
  bar.firstChild.style.width = `${Math.round((100 * share) / most)}%`;
  setText(words, `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`);
}

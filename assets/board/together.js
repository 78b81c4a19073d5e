// The searches of all lanes played in step: a bar over the lanes with a button, a slider and the words of where they are.
//
// PageRank comes first where a lane has it, then what is searched for on what it left.

import { button, el, setHidden, setText } from "./dom.js";
import { plural } from "./words.js";
import { tr } from "../wording.js";

const PACE = 1100; // milliseconds that a frame is shown

export class Together {
  constructor(board) {
    this.board = board;
    this.play = button("tool play-all", "", "", () => (this.timer ? this.pause() : this.begin()));
    this.slider = el("input", "slider");
    Object.assign(this.slider, { type: "range", min: "0", step: "1", value: "0" });
    this.slider.setAttribute("aria-label", tr("Step of all lanes"));
    this.slider.addEventListener("input", () => {
      this.pause();
      this.show(Number(this.slider.value));
    });
    this.words = el("span", "together-words");
    this.element = el("div", "together", this.play, this.slider, this.words, this.off = button("tool", tr("End"), tr("Back to what was kept"), () => board.pointing.clear()));
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", tr("All lanes in step"));
  }

  get replays() {
    return [...this.board.lanes.values()].map((lane) => lane.replay).filter((replay) => replay.story);
  }

  // The two parts of what is played, each with the story of every lane that has one: how PageRank's mass spreads, and a search.
  get parts() {
    const { replays } = this;
    return [true, false]
      .map((mass) => new Map(replays.flatMap((replay) => replay.stories.filter((story) => (story.of === "mass") === mass).slice(0, 1).map((story) => [replay, story]))))
      .filter((part) => part.size)
      .map((stories) => ({ stories, length: Math.max(...[...stories.values()].map((story) => story.frames.length)) }));
  }

  get frames() {
    return this.parts.reduce((sum, { length }) => sum + length, 0);
  }

  update() {
    const shown = this.replays.length > 1 || (this.replays.length === 1 && Boolean(this.board.payload.present));
    setHidden(this.element, !shown);
    if (!shown) this.pause();
    const last = String(Math.max(0, this.frames - 1));
    if (this.slider.max !== last) this.slider.max = last;
    this.draw();
  }

  draw() {
    const on = this.replays.some((replay) => replay.playing);
    const running = Boolean(this.timer);
    setText(this.play, running ? tr("❚❚ Pause") : tr("▶ Play the searches in step"));
    setHidden(this.off, !on);
    setText(this.words, on ? tr("step {number} of {frames}", { number: Number(this.slider.value) + 1, frames: this.frames }) : `${plural(this.frames, "step")}`);
  }

  begin() {
    const last = this.frames - 1;
    const at = Number(this.slider.value);
    this.show(this.replays.some((replay) => replay.playing) && at < last ? at + 1 : 0);
    this.timer = setInterval(() => {
      const next = Number(this.slider.value) + 1;
      if (next >= this.frames || !this.element.isConnected) this.pause();
      else this.show(next);
    }, PACE);
    this.draw();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.draw();
  }

  // Every lane at this step. One whose search was shorter stays at its end, and one that has none in this part shows what it kept.
  show(index) {
    this.board.pointing.pin = null;
    this.slider.value = String(index);
    let at = index;
    for (const { stories, length } of this.parts) {
      if (at >= 0 && at < length) {
        for (const replay of this.replays) {
          const story = stories.get(replay);
          if (story) replay.showAt(Math.min(at, story.frames.length - 1), story);
          else replay.stop();
        }
      }
      at -= length;
    }
    this.board.pointing.refresh();
    this.draw();
  }

  // Back to the beginning, as where nothing plays any more.
  rewind() {
    this.slider.value = "0";
    this.pause();
  }

  destroy() {
    clearInterval(this.timer);
  }
}

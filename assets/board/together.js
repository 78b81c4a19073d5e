// The searches of all lanes played in step: a bar over the lanes with a button, a slider and the words of where they are. In a room it is
// the footer, with the cost and the repair.
//
// PageRank comes first where a lane has it, then what is searched for on what it left, and in the end what was kept.

import { button, changed, el, setHidden, setText } from "./dom.js";
import { plural } from "./words.js";
import { tr } from "../wording.js";

const PACE = 1100; // milliseconds that a frame is shown

export class Together {
  constructor(board) {
    this.board = board;
    this.memo = {};
    this.at = null; // the step that all lanes show; null where they do not go in step
    this.play = button("tool play-all", "", "", () => (this.timer ? this.pause() : this.begin()));
    this.slider = el("input", { class: "slider", type: "range", min: 0, step: 1, value: 0, "aria-label": tr("Step of all searches") });
    this.slider.addEventListener("input", () => {
      const at = Number(this.slider.value);
      this.pause();
      this.show(at);
    });
    this.words = el("span", "together-words");
    this.off = button("tool", tr("Show result"), "", () => board.pointing.clear());
    this.cost = button({ class: "tool cost-toggle", "aria-pressed": "false" }, tr("Cost"), tr("Where the time of each method went"), () => board.room.toggleCost(this.cost));
    this.element = el("div", { class: "together", role: "group", "aria-label": tr("All searches together") }, this.play, this.slider, this.words, this.off, this.cost);
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

  get playing() {
    return this.replays.some((replay) => replay.playing);
  }

  get frames() {
    return this.parts.reduce((sum, { length }) => sum + length, 0);
  }

  update() {
    const { band, laneBox, lanes, payload, pointing } = this.board;
    const shown = this.replays.length > (payload.present ? 0 : 1);
    for (const part of [this.play, this.slider, this.words]) setHidden(part, !shown);
    setHidden(this.element, !shown && !payload.present);
    setHidden(this.cost, !payload.present);
    const [above, home] = payload.present ? [laneBox, this.element] : [band.element, band.element];
    if (this.element.previousSibling !== above) above.after(this.element);
    if (band.repair.parentElement !== home) home.append(band.repair);
    const stories = this.replays.map(({ stories: all }) => all.map(({ title, frames }) => [title, frames.length]));
    const isNew = changed(this.memo, "lanes", [...lanes.values()].map(({ data }) => [data.id, data.title])); // as where a repair came in
    if ((changed(this.memo, "stories", stories) && this.at !== null) || (isNew && this.playing)) pointing.clear();
    if (!shown) this.pause();
    this.draw();
  }

  draw() {
    const { frames } = this;
    const end = String(frames);
    if (this.slider.max !== end) this.slider.max = end;
    this.slider.value = String(this.at ?? frames);
    setText(this.play, this.timer ? tr("❚❚ Pause") : tr("▶ Play the searches together"));
    setHidden(this.off, !this.playing);
    setText(this.words, this.at === null ? plural(frames, "step") : tr("step {number} of {frames}", { number: this.at + 1, frames }));
  }

  begin() {
    this.show(this.at === null ? 0 : this.at + 1);
    if (this.at === null) return; // it was paused on the last step
    this.timer = setInterval(() => (this.element.isConnected ? this.show(this.at + 1) : this.pause()), PACE);
    this.draw();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.draw();
  }

  // Every lane at this step, and what was kept after the last. One whose search was shorter stays at its end, and one that has none in this
  // part shows what it kept.
  show(index) {
    if (index >= this.frames) return void this.board.pointing.clear();
    this.board.pointing.pin = null;
    this.at = index;
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

  // The lanes go in step no more.
  rewind() {
    this.at = null;
    this.pause();
  }

  destroy() {
    clearInterval(this.timer);
  }
}

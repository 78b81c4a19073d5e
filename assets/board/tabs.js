// Names of the lanes above them: to switch between lanes on a narrow screen, to go to one where they scroll sideways.

import { button, el, reconcile, setAttribute, setHidden, setText } from "./dom.js";
import { lastVerdict, laneName, list, toneOf, verdictWords } from "./words.js";
import { tr } from "../wording.js";

const NARROW = 600; // width of the board below which one lane is shown at a time, as on a screen of at most 800

export class Tabs {
  constructor(board, box) {
    this.board = board;
    this.box = box;
    this.chosen = null;
    this.element = el("nav", { class: "tabs", "aria-label": tr("Methods") });
    this.observer = new ResizeObserver(() => this.measure());
    this.observer.observe(box);
    box.addEventListener("scroll", () => this.mark(), { passive: true });
  }

  update() {
    const lanes = list(this.board.payload.lanes);
    if (!lanes.some((lane) => lane.id === this.chosen)) this.chosen = lanes[0]?.id ?? null;
    reconcile(this.element, lanes, (lane) => lane.id, (lane) => this.make(lane), (tab, lane) => {
      const [name, number, tag] = tab.children;
      const verdict = lastVerdict(lane);
      setText(name, lane.title);
      setText(number, lane.number);
      setHidden(number, !lane.number || lanes.filter((other) => other.title === lane.title).length < 2);
      setAttribute(tab, "title", laneName(lane));
      setText(tag, verdictWords(verdict));
      setHidden(tag, !verdict);
      setAttribute(tag, "class", `tag tag-${lane.so_far ? "so-far" : toneOf(verdict)}`);
    });
    this.measure();
  }

  make({ id }) {
    const tab = button("tab", "", "", () => this.choose(id));
    tab.append(el("span"), el("span", "number"), el("span", "tag"));
    return tab;
  }

  choose(id) {
    this.chosen = id;
    this.mark();
    if (this.switched) return;
    const lane = this.board.lanes.get(id)?.element;
    if (lane) this.box.scrollTo({ left: lane.offsetLeft - this.box.firstChild.offsetLeft, behavior: this.board.calm ? "auto" : "smooth" });
  }

  measure() {
    const many = this.board.lanes.size > 1;
    this.switched = many && (innerWidth <= 800 || this.box.clientWidth < NARROW);
    this.box.classList.toggle("switched", this.switched);
    const scrolls = many && !this.switched && this.box.scrollWidth > this.box.clientWidth + 4;
    setHidden(this.element, !this.switched && !scrolls);
    this.mark();
  }

  mark() {
    const { left, right } = this.box.getBoundingClientRect();
    for (const [id, lane] of this.board.lanes) {
      const box = lane.element.getBoundingClientRect();
      const shown = this.switched ? id === this.chosen : box.left >= left - 4 && box.right <= right + 4;
      lane.element.classList.toggle("off", Boolean(this.switched) && !shown);
      const tab = this.element.itemsByKey?.get(id);
      if (tab) setAttribute(tab, "aria-pressed", String(shown));
    }
  }

  destroy() {
    this.observer.disconnect();
  }
}

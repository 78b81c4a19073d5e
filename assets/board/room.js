// The height of the lanes on a screen for a room, and what a low screen leaves out so that the pictures keep their size.

const MIN_HEIGHT = 440; // pixels of a lane; on a lower screen the page scrolls
const SCROLLED = "(max-width: 640px)"; // screens whose lanes are as high as what they hold (board.css)
const PICTURE_SHARE = 0.4; // of a lane's height, which its picture or list keeps at least
// Classes of the board, in the order in which parts are left out.
const LEFT_OUT = ["no-times", "no-replay", "no-labels", "no-lane-repairs", "short-sentences", "short-answers"];

const above = (node) => node.parentElement ?? node.getRootNode().host;

export class Room {
  constructor(board) {
    this.board = board;
    this.observer = new ResizeObserver(() => this.moved());
    for (let node = board.root.host ?? board.root; node; node = above(node)) this.observer.observe(node);
  }

  get top() {
    return Math.round(this.board.laneBox.getBoundingClientRect().top);
  }

  // What stands above may grow after the lanes were drawn.
  moved() {
    if (this.board.payload.present && this.top !== this.fitted) this.fit();
  }

  // Sets the height, given or what the window leaves under the lanes' top, then leaves parts out until the pictures are large.
  fit() {
    const { element, lanes, payload } = this.board;
    this.leaveOut(0);
    if (!payload.present) return;
    this.fitted = this.top;
    element.style.setProperty("--height", `${Number(payload.height) || Math.max(MIN_HEIGHT, Math.min(this.left(), innerHeight))}px`);
    if (matchMedia(SCROLLED).matches) return;
    for (let parts = 1; parts <= LEFT_OUT.length && !this.roomy; parts += 1) this.leaveOut(parts);
    for (const lane of lanes.values()) lane.found.fade();
  }

  // The first so many parts are left out, and no others.
  leaveOut(parts) {
    const { classList } = this.board.element;
    LEFT_OUT.forEach((part, index) => classList.contains(part) === index < parts || classList.toggle(part));
  }

  left() {
    let below = 6;
    for (let { element: node } = this.board; node; node = above(node)) below += Number.parseFloat(getComputedStyle(node).paddingBottom) || 0;
    return innerHeight - this.top - below;
  }

  // Whether each lane's picture, or the list of passages in its place, has its share or needs less.
  get roomy() {
    const { laneBox, lanes } = this.board;
    const share = PICTURE_SHARE * laneBox.clientHeight;
    const large = ({ graph, found }) => {
      const main = graph.stage.checkVisibility() ? graph.stage : found.element;
      return !main.checkVisibility() || main.clientHeight >= share || (main === found.element && main.scrollHeight <= main.clientHeight + 2);
    };
    return [...lanes.values()].every(large) && laneBox.scrollHeight <= laneBox.clientHeight + 1;
  }

  destroy() {
    this.observer.disconnect();
  }
}

// The height of the methods on a screen for a room, and what a low screen leaves out so that the pictures keep their share (board.css).

const MIN_HEIGHT = 440; // pixels of the methods; on a lower screen the page scrolls
const SCROLLED = "(max-width: 640px)"; // screens whose methods are as high as what they hold (board.css)
const WIDE_CARD = 540; // pixels from which name, answer and count stand in one line
// Classes of the board, in the order in which parts are left out.
const LEFT_OUT = ["no-replay", "short-answers", "short-sentences", "short-list", "one-line-sentences"];

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

  toggleCost(button) {
    button.setAttribute("aria-pressed", String(this.board.element.classList.toggle("with-cost")));
    this.fit();
  }

  // Sets the height, given or what the window leaves between the lanes' top and the footer, then leaves parts out until the rest fits.
  fit() {
    const { element, laneBox, lanes, payload } = this.board;
    this.leaveOut(0);
    if (!payload.present) return;
    this.fitted = this.top;
    element.style.setProperty("--height", `${Number(payload.height) || Math.max(MIN_HEIGHT, Math.min(this.left(), innerHeight))}px`);
    const shown = laneBox.querySelector(".lane:not(.off)");
    element.classList.toggle("wide-cards", Boolean(shown) && shown.clientWidth >= WIDE_CARD);
    if (!matchMedia(SCROLLED).matches) for (let parts = 1; parts <= LEFT_OUT.length && !this.fits; parts += 1) this.leaveOut(parts);
    for (const lane of lanes.values()) lane.found.fade();
  }

  // The first so many parts are left out, and no others.
  leaveOut(parts) {
    const { classList } = this.board.element;
    LEFT_OUT.forEach((part, index) => classList.contains(part) === index < parts || classList.toggle(part));
  }

  left() {
    let below = this.board.together.element.offsetHeight + 14;
    for (let { element: node } = this.board; node; node = above(node)) below += Number.parseFloat(getComputedStyle(node).paddingBottom) || 0;
    return innerHeight - this.top - below;
  }

  get fits() {
    const { laneBox } = this.board;
    return laneBox.scrollHeight <= laneBox.clientHeight + 1;
  }

  destroy() {
    this.observer.disconnect();
  }
}

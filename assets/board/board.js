// The board: one to four lanes side by side, their graphs on one shared layout.
//
//   renderBoard(root, payload, {cytoscape, onNode, onThumb})
//
// may be called again with a new payload on the same root; it changes only what differs. Every name is set as text.

import { el, reconcile, setHidden, setText } from "./dom.js";
import { Lane } from "./lane.js";
import { addLane } from "./lanetools.js";
import { loadCytoscape } from "./load.js";
import { Replay } from "./replay.js";
import { Theme } from "./theme.js";
import { fateText, list } from "./words.js";

const boards = new WeakMap();

export function renderBoard(root, payload, options = {}) {
  let board = boards.get(root);
  if (!board) {
    root.hopscopeBoard?.destroy(); // left by an earlier version of this module
    board = new Board(root);
    boards.set(root, board);
    root.hopscopeBoard = board;
  }
  board.update(payload, options);
  return board;
}

export default function streamlitBoard(component) {
  const { data, parentElement, setTriggerValue } = component;
  const options = {
    cytoscape: globalThis.cytoscape,
    onNode: (id) => setTriggerValue("node", id),
    onThumb: (thumb) => setTriggerValue("thumb", thumb),
    onLane: (told) => setTriggerValue("lane", told),
  };
  const board = renderBoard(parentElement, data ?? {}, options);
  if (!options.cytoscape) {
    loadCytoscape().then(
      (cytoscape) => board.update(board.payload, { ...board.options, cytoscape }),
      () => board.update(board.payload, { ...board.options, problem: "The graph cannot be drawn: app/static/cytoscape.min.js did not load." }),
    );
  }
  return () => board.destroy();
}

class Board {
  constructor(root) {
    this.root = root;
    this.lanes = new Map();
    this.payload = {};
    this.options = {};
    this.view = { k: 1, x: 0, y: 0 };
    this.hover = this.pin = this.focused = null;
    this.element = el("div", "hb");
    this.laneBox = el("div", "lanes");
    this.adding = addLane(() => this.options.onLane?.({ lane: this.lanes.size, do: "add" }));
    this.live = el("div", "sr-only");
    this.live.setAttribute("aria-live", "polite");
    this.theme = new Theme(this.element, () => this.applyTheme());
    this.replay = new Replay(this);
    this.element.append(this.laneBox, this.adding, this.replay.element, this.live, this.theme.probe);
    root.append(this.element);
    this.listen();
  }

  listen() {
    const { element } = this;
    const keyAt = (event) => event.target.closest?.("[data-path]")?.dataset.path ?? null;
    element.addEventListener("pointerover", (event) => event.pointerType !== "touch" && this.setHover(keyAt(event)));
    element.addEventListener("pointerleave", () => this.setHover(null));
    element.addEventListener("focusin", (event) => {
      this.focused = event.target.matches?.(":focus-visible") ? keyAt(event) : null;
      this.refresh(true);
    });
    element.addEventListener("focusout", () => {
      this.focused = null;
      this.refresh();
    });
    element.addEventListener("click", (event) => {
      const key = keyAt(event);
      if (key) this.setPin(this.pin === key ? null : key);
    });
    this.onKey = (event) => event.key === "Escape" && this.clear();
    document.addEventListener("keydown", this.onKey);
    document.fonts?.ready.then(() => {
      for (const lane of this.lanes.values()) lane.graph.placeLabels();
    });
  }

  update(payload, options) {
    if (this.gone) return;
    const before = this.payload;
    this.payload = payload ?? {};
    this.options = options;
    this.forget(before);
    this.element.dataset.question = this.payload.question ?? "";
    this.applyTheme();
    this.renderLanes();
    this.turn(list(this.payload.lanes).some((lane) => lane.status === "running" || lane.status === "answering"));
    this.replay.update();
    this.refresh();
  }

  // Keys and ids may come back with another meaning: what they meant before is let go, and so is the zoom.
  forget(before) {
    const same = (key) => JSON.stringify(before.paths?.[key]?.steps) === JSON.stringify(this.path(key)?.steps);
    for (const name of ["hover", "pin", "focused"]) if (!this.path(this[name]) || !same(this[name])) this[name] = null;
    const old = new Set(list(before.layout?.nodes).map((node) => node.id));
    const nodes = list(this.payload.layout?.nodes);
    if (old.size && nodes.length && !nodes.some((node) => old.has(node.id))) this.setView({ k: 1, fit: true });
  }

  // The signs of lanes at work move four times a second: an endless CSS animation would have the page painted at every frame.
  turn(busy) {
    if (busy === Boolean(this.ticking)) return;
    clearInterval(this.ticking);
    this.ticking = null;
    if (!busy || globalThis.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    let tick = 0;
    this.ticking = setInterval(() => {
      tick += 1;
      this.element.style.setProperty("--tick", String(tick % 8));
      this.element.style.setProperty("--pulse", tick % 4 < 2 ? "1" : ".3");
    }, 250);
  }

  renderLanes() {
    const lanes = list(this.payload.lanes);
    this.laneBox.dataset.count = String(Math.min(lanes.length, 4));
    const kept = new Map();
    reconcile(this.laneBox, lanes, (lane) => lane.id, () => {
      const view = new Lane(this);
      view.element.lane = view;
      return view.element;
    }, (node, lane) => {
      kept.set(lane.id, node.lane);
      node.lane.update(lane);
    });
    for (const [id, lane] of this.lanes) if (kept.get(id) !== lane) lane.destroy();
    this.lanes = kept;
    setHidden(this.adding, !this.editable || lanes.length >= (this.payload.most_lanes ?? 4));
  }

  get editable() {
    return Boolean(this.payload.editable && this.options.onLane);
  }

  indexOf(lane) {
    return list(this.payload.lanes).findIndex((told) => told.id === lane.data.id);
  }

  path(key) {
    return key ? (this.payload.paths ?? {})[key] ?? null : null;
  }

  fate(key, laneId) {
    return (this.payload.fates ?? {})[key]?.[laneId] ?? null;
  }

  get knowsAnswers() {
    return list(this.payload.lanes).some((lane) => lane.funnel) || list(this.payload.layout?.nodes).some((node) => node.role === "answer");
  }

  setHover(key) {
    clearTimeout(this.hoverTimer);
    if (key === this.hover) return;
    // leaving waits a little, so that going from row to row does not flash
    this.hoverTimer = setTimeout(() => {
      this.hover = key;
      this.refresh();
    }, key ? 0 : 90);
  }

  setPin(key) {
    this.pin = key;
    if (!key) this.hover = this.focused = null;
    this.refresh(true);
  }

  clear() {
    this.hover = this.pin = this.focused = null;
    this.replay.stop();
    this.refresh();
  }

  // Shows the path under the pointer, the focused, the pinned one, or the frame of the replay.
  refresh(speak = false) {
    const key = [this.hover, this.focused, this.pin].find((candidate) => this.path(candidate)) ?? null;
    const frame = key ? null : this.replay.frame();
    for (const lane of this.lanes.values()) lane.show(key, frame && frame.lane === lane.data.id ? frame.paths : null);
    for (const row of this.element.querySelectorAll("[data-path]")) {
      row.classList.toggle("active", row.dataset.path === key);
      row.classList.toggle("pinned", row.dataset.path === this.pin);
      row.setAttribute("aria-pressed", String(row.dataset.path === this.pin));
    }
    if (speak && key) setText(this.live, this.spoken(key));
  }

  spoken(key) {
    return list(this.payload.lanes).map((lane) => `${lane.title}: ${fateText(this.fate(key, lane.id))}`).join(". ");
  }

  setView(view) {
    this.view = view.k <= 1.001 && view.fit ? { k: 1, x: 0, y: 0 } : { k: view.k, x: view.x, y: view.y };
    cancelAnimationFrame(this.viewFrame);
    this.viewFrame = requestAnimationFrame(() => {
      for (const lane of this.lanes.values()) lane.graph.place();
    });
  }

  zoom(factor, x = 0.5, y = 0.5) {
    const { view } = this;
    const k = Math.min(8, Math.max(0.5, view.k * factor));
    const grow = k / view.k;
    this.setView({ k, x: x - (x - view.x) * grow, y: y - (y - view.y) * grow });
  }

  applyTheme() {
    if (!this.theme.read()) return;
    for (const lane of this.lanes.values()) lane.graph.restyle();
  }

  destroy() {
    this.gone = true;
    clearTimeout(this.hoverTimer);
    clearInterval(this.ticking);
    cancelAnimationFrame(this.viewFrame);
    document.removeEventListener("keydown", this.onKey);
    this.theme.destroy();
    for (const lane of this.lanes.values()) lane.destroy();
    this.element.remove();
    boards.delete(this.root);
    delete this.root.hopscopeBoard;
  }
}

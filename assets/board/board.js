// The board: one to four lanes side by side, their graphs on one shared layout.
//
//   renderBoard(root, payload, {cytoscape, ways, onGo, onThumb, onRepair})
//
// may be called again with a new payload on the same root; it changes only what differs. Every name is set as text.

import { agreement } from "./agree.js";
import { changed, el, reconcile, setAttribute, setHidden } from "./dom.js";
import { Edits } from "./edits.js";
import { Lane } from "./lane.js";
import { addLane } from "./lanetools.js";
import { loadCytoscape } from "./load.js";
import { Panel } from "./panel.js";
import { Pointing } from "./pointing.js";
import { Print } from "./print.js";
import { PromptDialog } from "./promptdiff.js";
import { Room } from "./room.js";
import { Band } from "./said.js";
import { Tabs } from "./tabs.js";
import { Theme } from "./theme.js";
import { Together } from "./together.js";
import { list } from "./words.js";
import { tr } from "../wording.js";

export function renderBoard(root, payload, options = {}) {
  const board = (root.hopscopeBoard ??= new Board(root));
  board.update(payload, options);
  return board;
}

export default function streamlitBoard(component) {
  const { data, parentElement, setTriggerValue } = component;
  const { who, done, ...payload } = data ? JSON.parse(new TextDecoder().decode(data)) : {};
  const presses = (parentElement.hopscopePresses ??= new Edits());
  presses.update((told) => setTriggerValue("pressed", told), who, done);
  const press = (kind) => (value) => presses.add({ kind, value });
  const options = {
    cytoscape: globalThis.cytoscape,
    onGo: press("go"),
    onRepair: press("repair"),
    onThumb: press("thumb"),
    onLane: press("lane"),
  };
  const board = renderBoard(parentElement, payload, options);
  if (!options.cytoscape) {
    loadCytoscape().then(
      (cytoscape) => board.update(board.payload, { ...board.options, cytoscape }),
      () => board.update(board.payload, { ...board.options, problem: tr("The graph cannot be drawn: app/static/cytoscape.min.js did not load.") }),
    );
  }
  return () => {
    board.destroy();
    presses.destroy();
    delete parentElement.hopscopePresses;
  };
}

class Board {
  constructor(root) {
    this.root = root;
    this.lanes = new Map();
    this.payload = {};
    this.options = {};
    this.view = { k: 1, x: 0, y: 0 };
    this.memo = {};
    this.revision = 0;
    this.element = el("div", "hb");
    this.laneBox = el("div", "lanes");
    this.adding = addLane(() => this.options.onLane?.({ lane: this.lanes.size, do: "add" }));
    this.live = el("div", { class: "sr-only", "aria-live": "polite" });
    this.theme = new Theme(this.element, () => this.applyTheme());
    this.panel = new Panel(this);
    this.prompts = new PromptDialog(this);
    this.band = new Band(this);
    this.tabs = new Tabs(this, this.laneBox);
    this.together = new Together(this);
    this.room = new Room(this);
    this.print = new Print(this);
    this.element.append(this.band.element, this.together.element, this.tabs.element, this.laneBox, this.adding, this.live, this.theme.probe, this.panel.element, this.prompts.element);
    root.append(this.element);
    this.pointing = new Pointing(this);
    this.onResize = () => this.room.fit();
    addEventListener("resize", this.onResize);
    document.fonts?.ready.then(() => {
      this.room.fit();
      for (const lane of this.lanes.values()) lane.graph.placeLabels();
    });
  }

  update(payload, options) {
    if (this.gone) return;
    const before = this.payload;
    this.payload = payload ?? {};
    this.options = { ...options, ways: this.payload.ways };
    if (this.payload.repairs === false) this.options.onRepair = null;
    this.forget(before);
    const states = list(this.payload.lanes).map(({ status, operators, answer }) => [status, list(operators).length, Boolean(answer)]);
    if (changed(this.memo, "clocks", [this.payload.clocks, states])) this.clocked = performance.now();
    setAttribute(this.element, "data-question", this.payload.question ?? "");
    this.element.classList.toggle("present", Boolean(this.payload.present));
    this.element.classList.toggle("documents", Boolean(this.payload.documents));
    this.element.classList.toggle("asked", Boolean(this.payload.question));
    this.element.classList.toggle("several", list(this.payload.lanes).length > 1);
    this.element.classList.toggle("untitled", Boolean(this.payload.untitled));
    this.element.classList.toggle("editable-graph", list(this.payload.ways).includes("without"));
    this.applyTheme();
    this.agreed = agreement(this);
    this.revise();
    this.band.update();
    this.renderLanes();
    this.together.update();
    this.tabs.update();
    this.panel.update();
    this.turn(this.atWork.length > 0);
    this.room.fit();
    this.pointing.refresh();
  }

  // Counts what all lanes depend on; a lane whose data and count stay the same is left as it is.
  revise() {
    const { lanes, verdict, question, clocks, ...shared } = this.payload;
    const agreed = Object.values(this.agreed).map((part) => (part instanceof Set ? [...part] : part));
    const spans = list(lanes).map((lane) => lane.spans);
    const { cytoscape, problem, onRepair } = this.options;
    if (changed(this.memo, "shared", [shared, agreed, spans, this.more, this.knowsAnswers, Boolean(cytoscape), problem, Boolean(onRepair), this.editable, list(lanes).length, this.prompts.lanes.length > 1])) this.revision += 1;
  }

  // The lanes that have not ended.
  get atWork() {
    return list(this.payload.lanes).filter(({ status }) => ["waiting", "running", "answering"].includes(status));
  }

  // Seconds that this step of a lane has run: those that were told, and those since.
  waited(lane) {
    const told = this.payload.clocks?.[lane];
    return told === undefined ? 0 : told + (performance.now() - this.clocked) / 1000;
  }

  // Whether only the few nodes that tell the story are drawn.
  get few() {
    return Boolean(this.payload.present) && !this.more;
  }

  // The replay that plays is the only one.
  play(replay) {
    this.pointing.pin = null;
    this.together.rewind();
    for (const lane of this.lanes.values()) if (lane.replay !== replay) lane.replay.stop();
  }

  showMore() {
    this.more = !this.more;
    this.setView({ k: 1, fit: true });
    this.update(this.payload, this.options);
  }

  get calm() {
    return globalThis.matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  // Keys and ids may come back with another meaning: what they meant before is let go, and so is the zoom.
  forget(before) {
    const same = (key) => JSON.stringify(before.paths?.[key]?.steps) === JSON.stringify(this.path(key)?.steps);
    this.pointing.forget((key) => !this.path(key) || !same(key));
    const old = new Set(list(before.layout?.nodes).map((node) => node.id));
    const nodes = list(this.payload.layout?.nodes);
    if (old.size && nodes.length && !nodes.some((node) => old.has(node.id))) this.setView({ k: 1, fit: true });
  }

  // The signs of lanes at work move four times a second: an endless CSS animation would have the page painted at every frame.
  turn(busy) {
    if (busy === Boolean(this.ticking)) return;
    clearInterval(this.ticking);
    this.ticking = null;
    if (!busy) return;
    let tick = 0;
    this.ticking = setInterval(() => {
      tick += 1;
      for (const lane of this.lanes.values()) lane.tick();
      if (this.calm) return;
      this.element.style.setProperty("--tick", String(tick % 8));
      this.element.style.setProperty("--pulse", tick % 4 < 2 ? "1" : ".3");
    }, 250);
  }

  renderLanes() {
    const lanes = list(this.payload.lanes);
    setAttribute(this.laneBox, "data-count", String(Math.min(lanes.length, 4)));
    const kept = new Map();
    reconcile(this.laneBox, lanes, (lane) => lane.id, () => {
      const view = new Lane(this);
      view.element.lane = view;
      return view.element;
    }, (node, lane) => kept.set(lane.id, node.lane));
    for (const [id, lane] of this.lanes) if (kept.get(id) !== lane) lane.destroy();
    this.lanes = kept;
    lanes.forEach((lane, number) => kept.get(lane.id).update(lane, number));
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
    removeEventListener("resize", this.onResize);
    clearInterval(this.ticking);
    cancelAnimationFrame(this.viewFrame);
    this.panel.close();
    for (const part of [this.pointing, this.together, this.room, this.print, this.tabs, this.theme, ...this.lanes.values()]) part.destroy();
    this.element.remove();
    delete this.root.hopscopeBoard;
  }
}

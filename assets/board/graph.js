// One lane's graph.

import { button, changed, el, setAttribute, setHidden, setText } from "./dom.js";
import { idOf, setClasses, setData } from "./items.js";
import { columnPlaces, layLabels, roomySteps } from "./labels.js";
import { laneMarks } from "./marks.js";
import { pictureChoice } from "./picture.js";
import { Pointer } from "./pointer.js";
import { FullScreen } from "./full.js";
import { clear, inColumns } from "./spacing.js";
import { LARGE, SMALL, stylesheet } from "./style.js";
import { count, laneName, list, plural } from "./words.js";
import { tr } from "../wording.js";

const PAD = { left: 30, right: 30, top: 22, bottom: 24 };
const WIDE_PAD = { left: 44, right: 52, top: 24, bottom: 30 };
const STARS = ["question", "answer"]; // roles that are drawn as the largest marks
const FEW_PAD = { left: 28, right: 0, top: 14, bottom: 18 }; // names stand to the right

export class Graph {
  constructor(board, lane) {
    this.board = board;
    this.lane = lane;
    this.memo = {};
    this.focus = { key: null, fate: null, frame: null, node: null, mass: null };
    this.clicked = null;
    this.look = this.size = SMALL;
    this.canvas = el("div", "canvas");
    this.message = el("p", "graph-message quiet");
    this.tip = el("div", { class: "tip", hidden: true });
    this.stage = el("div", { class: "stage-box", role: "img" }, this.canvas, this.message, this.tip);
    this.drawn = el("span", "drawn");
    this.fate = el("span", "fate");
    this.screen = new FullScreen(this);
    this.more = button("tool", "", "", () => board.showMore());
    this.tools = el("span", "tools",
      button("tool zoom", "−", tr("Zoom out in every graph (Ctrl + wheel)"), () => board.zoom(1 / 1.4)),
      button("tool zoom", "+", tr("Zoom in in every graph (Ctrl + wheel)"), () => board.zoom(1.4)),
      button("tool zoom fit", tr("Fit"), tr("Show the whole graph of every method"), () => board.setView({ k: 1, fit: true })));
    this.bar = el("div", "graph-bar", lane.replay.element, el("span", "tools", this.more, this.picture = pictureChoice(this), this.screen.button));
    this.element = el("section", { class: "graph", "aria-label": tr("Graph") }, this.screen.title, this.bar, this.stage, el("div", "strip", el("span", "strip-text", this.drawn, this.fate), this.tools));
    this.pointer = new Pointer(this);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.canvas);
  }

  get full() {
    return this.screen.on;
  }

  get large() {
    return this.full || Boolean(this.board.payload.present);
  }

  // The nodes to draw: on the large picture of a room the few that tell the story, until more are asked for.
  chosenNodes() {
    const nodes = list(this.board.payload.layout?.nodes);
    const few = this.board.few ? nodes.filter((node) => node.at).map((node) => ({ ...node, x: node.at[0], y: node.at[1] })) : [];
    this.columns = few.length > 0;
    return this.columns ? few : nodes;
  }

  update() {
    const { layout } = this.board.payload;
    const { cytoscape, problem } = this.board.options;
    const words = this.words(list(layout?.nodes), problem);
    setHidden(this.message, !words);
    setText(this.message, words);
    this.canvas.classList.toggle("empty", Boolean(words));
    setHidden(this.tools, Boolean(words));
    for (const part of [this.screen.button, this.picture]) setHidden(part, Boolean(words));
    this.stage.tabIndex = words ? -1 : 0;
    const nodes = this.chosenNodes();
    this.updateText(Boolean(words), nodes);
    if (words || !cytoscape) return;
    this.nodes = new Map(nodes.map((node) => [node.id, node]));
    this.edges = new Map(list(layout.edges).filter((edge) => this.nodes.has(edge.source) && this.nodes.has(edge.target)).map((edge) => [edge.id, edge]));
    if (!this.cy) this.create(cytoscape);
    this.tries = 0;
    if (changed(this.memo, "layout", [nodes.map(({ id, x, y, role }) => [id, x, y, role]), [...this.edges.values()]])) {
      this.marks = this.memo.marks = null; // of nodes and edges that may be gone
      this.syncElements();
    }
    this.rescale();
    this.paint();
  }

  words(nodes, problem) {
    const { lane } = this;
    if (problem && !this.board.options.cytoscape) return problem;
    const has = list(lane.data.nodes).length || list(lane.data.paths).length;
    if (has && nodes.length) return "";
    const what = this.board.payload.documents ? "hits" : "paths";
    if (!lane.retrieved) return lane.data.status === "running" ? (what === "hits" ? tr("Drawn once the hits are found") : tr("Drawn once the paths are found")) : lane.notYet("graph");
    if (what === "hits") return lane.data.hit_count ? tr("Nothing that it found is drawn.") : lane.graphless ? tr("Nothing found: this method reads no documents.") : tr("It found nothing.");
    return lane.graphless ? tr("No graph: the language model answers alone.") : tr("The subgraph is empty.");
  }

  updateText(empty, nodes) {
    const { drawn, paths, hit_count: hits, stands } = this.lane.data;
    const own = new Set(list(this.lane.data.nodes));
    const shown = nodes.filter((node) => own.has(node.id)).length;
    setText(this.drawn, stands !== undefined ? stands : drawn && !empty ? (shown < drawn.of ? tr("{shown} of {nodes} shown", { shown: count(shown), nodes: plural(drawn.of, "node") }) : plural(drawn.of, "node")) : "");
    const all = list(this.board.payload.layout?.nodes).length;
    setHidden(this.more, !this.board.payload.present || empty || !list(this.board.payload.layout?.nodes).some((node) => node.at) || (this.board.few && all === nodes.length));
    setText(this.more, this.board.few ? tr("Show {more} more", { more: count(all - nodes.length) }) : tr("Fewer nodes"));
    this.more.title = this.board.few ? tr("Show {nodes} for every method", { nodes: plural(all - nodes.length, "more node") }) : tr("Show only the nodes that tell the story");
    this.more.setAttribute("aria-label", this.more.title);
    this.stage.setAttribute("aria-label", empty
      ? this.message.textContent
      : tr("Graph of {lane}: {nodes}, {found}. Plus and minus zoom, arrows move, 0 fits, Enter tells about a node.", { lane: laneName(this.lane.data), nodes: plural(shown, "node"), found: [Array.isArray(paths) ? plural(paths.length, "path") : "", hits === undefined ? "" : plural(hits, "hit")].filter(Boolean).join(", ") }));
  }

  create(cytoscape) {
    this.cy = cytoscape({
      container: this.canvas, style: stylesheet(this.board.theme.colours, this.board.theme.font, this.size), layout: { name: "preset" },
      userZoomingEnabled: false, userPanningEnabled: false, boxSelectionEnabled: false, autoungrabify: true, autounselectify: true,
      minZoom: 1, maxZoom: 1,
    });
  }

  restyle() {
    this.cy?.style().fromJson(stylesheet(this.board.theme.colours, this.board.theme.font, this.size)).update();
  }

  // Small in a lane, large on the whole screen and for a room.
  rescale() {
    const look = this.large ? LARGE : SMALL;
    if (look === this.look) return;
    this.look = this.size = look;
    this.restyle();
    this.place(true);
  }

  // Marks and labels as large as they have room beside one another.
  resizeMarks(node, label) {
    if (Math.abs(node - this.size.node) < 0.01 && label === this.size.label) return;
    this.size = { ...this.look, node, label };
    this.restyle();
  }

  syncElements() {
    const { cy } = this;
    const wanted = new Set([...[...this.nodes.keys()].map((id) => `n${id}`), ...[...this.edges.keys()].map((id) => `e${id}`)]);
    cy.batch(() => {
      cy.elements().filter((item) => !wanted.has(item.id())).remove();
      const added = [...this.nodes.values()].filter(({ id }) => cy.getElementById(`n${id}`).empty());
      const somewhere = ({ x, y }) => ({ x: 100 * x, y: 100 * y }); // until the canvas has a size: Cytoscape warns of edges that have no length
      cy.add(added.map((node) => ({ data: { id: `n${node.id}`, label: "", mx: 0, my: 0 }, position: somewhere(node) })));
      cy.add([...this.edges.values()].filter((edge) => cy.getElementById(`e${edge.id}`).empty()).map((edge) => ({
        data: { id: `e${edge.id}`, source: `n${edge.source}`, target: `n${edge.target}`, step: "" },
      })));
    });
    this.place(true);
  }

  resize() {
    if (!this.cy) return;
    this.cy.resize();
    this.place(true);
  }

  // A box that has no size yet is looked at again, some times; one that stays hidden tells when it gets one.
  placeSoon() {
    this.places = null; // those of other nodes
    clearTimeout(this.soon);
    this.tries = (this.tries ?? 0) + 1;
    if (this.tries < 30) this.soon = setTimeout(() => this.place(true), 100);
  }

  // Zoom moves the nodes apart and leaves sizes and labels as they are; pan shifts the picture.
  place(force = false) {
    const { cy, board, canvas } = this;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (!cy || !this.nodes) return;
    if (!width || !height) return void this.placeSoon();
    const { k, x, y } = board.view;
    const pad = this.columns ? FEW_PAD : this.board.few ? { ...WIDE_PAD, right: width * 0.3 } : this.large ? WIDE_PAD : PAD;
    if (changed(this.memo, "scale", [k, width, height]) || force) {
      const columns = this.columns ? columnPlaces(this, pad, width, height) : null;
      const places = new Map([...this.nodes].map(([id, at]) => [id, {
        x: Math.round((columns?.get(at.x) ?? pad.left + at.x * (width - pad.left - pad.right)) * k), y: Math.round((pad.top + at.y * (height - pad.top - pad.bottom)) * k),
      }]));
      const stars = [...this.nodes.values()].filter(({ role }) => STARS.includes(role)).map(({ id }) => id);
      const box = { left: pad.left * k, right: (width - pad.right) * k, top: pad.top * k, bottom: (height - pad.bottom) * k };
      const spaced = this.columns ? inColumns(places, stars, this.look) : clear(places, stars, this.look.node, box);
      this.places = spaced.places;
      cy.batch(() => cy.nodes().positions((node) => this.places.get(idOf(node)) ?? { x: 0, y: 0 }));
      this.resizeMarks(spaced.size, spaced.label ?? this.look.label);
      this.placeLabels();
    }
    cy.pan({ x: Math.round(x * width), y: Math.round(y * height) });
  }

  // What something points at: a path by its key, the paths of a frame, a node.
  show(focus) {
    if (!changed(this.memo, "focus", focus)) return;
    this.focus = focus;
    if (this.cy && !this.canvas.classList.contains("empty")) this.paint();
  }

  markClicked(id) {
    this.clicked = id;
    if (this.cy && this.nodes) this.paint();
  }

  say(text, fate) {
    setText(this.fate, text);
    setAttribute(this.fate, "data-fate", fate);
    this.element.classList.toggle("telling", text !== null);
  }

  paint() {
    const marks = laneMarks(this);
    const mass = new Map(this.focus.mass ?? []);
    const most = Math.max(...mass.values(), 1e-9);
    const said = [[...marks.nodes], [...marks.edges], [...marks.steps], [...mass]];
    if (!changed(this.memo, "marks", said)) return;
    this.marks = marks;
    this.cy.batch(() => {
      this.cy.nodes().forEach((node) => {
        setClasses(node, `${marks.nodes.get(idOf(node)) ?? ""} ${mass.size ? (mass.get(idOf(node)) ? "mass" : "empty") : ""}`);
        setData(node, { mass: Math.sqrt((mass.get(idOf(node)) ?? 0) / most) });
      });
      this.cy.edges().forEach((edge) => setClasses(edge, marks.edges.get(idOf(edge)) ?? ""));
    });
    this.placeLabels();
  }

  placeLabels() {
    if (!this.cy || !this.marks || !this.places) return;
    const { k, x, y } = this.board.view;
    const still = k === 1 && !x && !y;
    const bounds = still ? { x1: 3, y1: 2, x2: this.canvas.clientWidth - 3, y2: this.canvas.clientHeight - 2 } : null;
    const steps = this.board.few ? new Map() : roomySteps(this); // few nodes stand in columns, a hop each
    const labels = layLabels(this, bounds, steps);
    this.cy.batch(() => {
      this.cy.nodes().forEach((node) => setData(node, labels.get(idOf(node)) ?? { label: "", mx: 0, my: 0 }));
      this.cy.edges().forEach((edge) => setData(edge, { step: steps.get(idOf(edge)) ?? "" }));
    });
  }

  destroy() {
    this.screen.leave();
    clearTimeout(this.soon);
    this.observer.disconnect();
    this.cy?.destroy();
    this.cy = null;
  }
}

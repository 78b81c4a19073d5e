// What pointer and keys do in a graph: zoom, drag, click and the tip.

import { el } from "./dom.js";
import { segmentDistance } from "./geometry.js";
import { tr } from "../wording.js";

export class Pointer {
  constructor(graph) {
    this.graph = graph;
    this.board = graph.board;
    this.stage = graph.stage;
    this.tip = graph.tip;
    this.drag = null;
    this.listen();
  }

  listen() {
    const { stage } = this;
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.startDrag(event));
    stage.addEventListener("pointermove", (event) => (this.drag ? this.moveDrag(event) : this.point(event)));
    stage.addEventListener("pointerup", (event) => this.endDrag(event));
    stage.addEventListener("pointercancel", () => (this.drag = null));
    stage.addEventListener("pointerleave", () => {
      this.hideTip();
      this.board.pointing.setNode(null);
    });
    stage.addEventListener("keydown", (event) => this.key(event));
  }

  // The page keeps its wheel: zooming asks for Ctrl or Command, or the buttons, or + and -.
  wheel(event) {
    if (!this.graph.cy || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    const { x, y } = this.fraction(event);
    this.board.zoom(Math.exp(-event.deltaY / 300), x, y);
  }

  key(event) {
    const step = 0.06;
    const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    const { view } = this.board;
    if (event.key === "+" || event.key === "=") this.board.zoom(1.25);
    else if (event.key === "-") this.board.zoom(1 / 1.25);
    else if (event.key === "0") this.board.setView({ k: 1, fit: true });
    else if (event.key === "Enter") this.nextNode();
    else if (moves[event.key]) this.board.setView({ k: view.k, x: view.x + moves[event.key][0], y: view.y + moves[event.key][1] });
    else return;
    event.preventDefault();
  }

  startDrag(event) {
    if (!this.graph.cy || event.button !== 0) return;
    this.drag = { x: event.clientX, y: event.clientY, view: this.board.view, moved: false };
    this.stage.setPointerCapture(event.pointerId);
    this.hideTip();
  }

  moveDrag(event) {
    const { drag, stage } = this;
    const dx = event.clientX - drag.x;
    const dy = event.clientY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    drag.moved = true;
    stage.classList.add("dragging");
    this.board.setView({ k: drag.view.k, x: drag.view.x + dx / stage.clientWidth, y: drag.view.y + dy / stage.clientHeight });
  }

  endDrag(event) {
    const clicked = this.drag && !this.drag.moved;
    this.drag = null;
    this.stage.classList.remove("dragging");
    const hit = clicked ? this.nodeAt(event) : null;
    if (hit) this.board.panel.open(hit, this.graph, { x: event.clientX, y: event.clientY });
  }

  // Enter goes from node to node by their labels, the question's first.
  nextNode() {
    const { graph } = this;
    if (!graph.cy) return;
    const labelled = [...graph.nodes.values()].filter((node) => graph.cy.getElementById(`n${node.id}`).data("label"))
      .sort((one, two) => (two.role === "question") - (one.role === "question") || one.x - two.x || one.y - two.y);
    const next = labelled[labelled.findIndex((node) => node.id === this.reached) + 1] ?? labelled[0];
    if (!next) return;
    this.reached = next.id;
    const box = this.stage.getBoundingClientRect();
    const at = graph.places?.get(next.id);
    this.board.panel.open(next, graph, { x: box.left + at.x + this.board.view.x * box.width, y: box.top + at.y + this.board.view.y * box.height }, true);
  }

  fraction(event) {
    const box = this.stage.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height, box };
  }

  toModel(event) {
    const { box } = this.fraction(event);
    const { view } = this.board;
    return { x: event.clientX - box.left - view.x * box.width, y: event.clientY - box.top - view.y * box.height };
  }

  nodeAt(event) {
    if (!this.graph.cy) return null;
    const at = this.toModel(event);
    let best = null;
    for (const node of this.graph.nodes.values()) {
      const place = this.graph.places?.get(node.id);
      const distance = place ? Math.hypot(place.x - at.x, place.y - at.y) : Infinity;
      if (distance < (best?.distance ?? 13)) best = { node, distance };
    }
    return best?.node ?? null;
  }

  edgeAt(event) {
    const at = this.toModel(event);
    let best = null;
    for (const edge of this.graph.edges.values()) {
      const distance = segmentDistance(at, this.graph.places?.get(edge.source), this.graph.places?.get(edge.target));
      if (distance < (best?.distance ?? 5)) best = { edge, distance };
    }
    return best?.edge ?? null;
  }

  point(event) {
    if (!this.graph.cy) return;
    const node = this.nodeAt(event);
    const edge = node ? null : this.edgeAt(event);
    this.stage.classList.toggle("on-node", Boolean(node));
    this.board.pointing.setNode(node?.id ?? null);
    if (node) return this.showTip(event, [node.name, this.nodeNote(node)]);
    if (!edge) return this.hideTip();
    const name = (id) => this.graph.nodes.get(id)?.name ?? "";
    this.showTip(event, [`${name(edge.source)} → ${name(edge.target)}`, edge.words && edge.words !== edge.relation ? `${edge.words} (${edge.relation})` : edge.relation]);
  }

  nodeNote(node) {
    const mark = this.graph.marks?.nodes.get(node.id) ?? "";
    if (mark.includes("lost")) return tr("correct answer, lost by this method");
    if (node.role === "answer") return tr("correct answer");
    if (node.role === "question") return tr("named in the question");
    return mark.includes("ghost") ? tr("not found by this method") : "";
  }

  showTip(event, [main, note]) {
    const { x, y, box } = this.fraction(event);
    this.tip.replaceChildren(el("b", "", main ?? ""), ...(note ? [el("span", "", note)] : []));
    this.tip.hidden = false;
    const width = this.tip.offsetWidth;
    const height = this.tip.offsetHeight;
    this.tip.style.left = `${Math.max(4, Math.min(box.width - width - 4, x * box.width - width / 2))}px`;
    this.tip.style.top = `${y * box.height - height - 14 < 2 ? y * box.height + 18 : y * box.height - height - 14}px`;
  }

  hideTip() {
    this.tip.hidden = true;
    this.stage.classList.remove("on-node");
  }
}

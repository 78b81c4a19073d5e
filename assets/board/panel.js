// The panel of a clicked node: how it is joined, what each lane made of it, and where to go with it.

import { button, el } from "./dom.js";
import { NodeEdit } from "./nodeedit.js";
import { count, list, plural } from "./words.js";
import { tr } from "../wording.js";

const WAYS = [["walk", tr("Walk its neighbourhood")], ["start", tr("Start from here")], ["without", tr("Remove this and ask again")]];
const FIXED = ["gold", "passage", "community"]; // roles of nodes that have no name of their own to change
const ROLES = {
  question: tr("named in the question"), answer: tr("correct answer"), gold: tr("a passage with the evidence"), passage: tr("a passage"), entity: tr("an entity"), community: tr("a community or summary"),
};

export class Panel {
  constructor(board) {
    this.board = board;
    this.element = el("div", { class: "panel", role: "dialog", tabindex: -1, hidden: true });
    this.edit = new NodeEdit(board, (node, change) => this.go(node, change), (open) => this.editing(open));
    this.outside = (event) => {
      const path = event.composedPath();
      if (!path.includes(this.element) && !(this.edit.merging && path.some((one) => one.classList?.contains("stage-box")))) this.close();
    };
  }

  // Opens beside a place on the page, in whatever fills the screen.
  open(node, graph, at, byKey = false) {
    if (this.isOpen && this.edit.take(node)) return;
    this.id = node.id;
    this.graph = graph;
    this.at = at;
    const host = graph.full ? graph.element : this.board.element;
    if (this.element.parentNode !== host) host.append(this.element);
    this.fill(node);
    this.element.hidden = false;
    this.place(host);
    (byKey ? this.element.querySelector("button") : this.element).focus({ preventScroll: true });
    document.addEventListener("pointerdown", this.outside, true);
    graph.markClicked(node.id);
  }

  get isOpen() {
    return !this.element.hidden;
  }

  close() {
    if (!this.isOpen) return false;
    const held = this.element.contains(this.element.getRootNode().activeElement);
    this.element.hidden = true;
    this.edit.close();
    document.removeEventListener("pointerdown", this.outside, true);
    this.graph.markClicked(null);
    if (held) this.graph.stage.focus({ preventScroll: true });
    return true;
  }

  // After a new payload: the same node with what is known of it now.
  update() {
    if (!this.isOpen) return;
    const node = this.graph.nodes?.get(this.id);
    if (!node) return void this.close();
    const text = JSON.stringify([node, this.board.options.ways]);
    if (text !== this.drawn) this.fill(node);
  }

  fill(node) {
    const { about } = node;
    this.drawn = JSON.stringify([node, this.board.options.ways]);
    this.element.setAttribute("aria-label", tr("About {name}", { name: node.name }));
    const close = button("panel-close", "×", tr("Close"), () => this.close());
    const parts = [el("div", "panel-head", el("div", "", el("h4", "", node.name), ROLES[node.role] ? el("p", "quiet", ROLES[node.role]) : null), close)];
    if (about?.type) parts.push(el("p", "quiet panel-type", about.type));
    if (about?.text) parts.push(el("p", "panel-text", about.text));
    if (about) parts.push(...(about.degree === undefined ? [] : relationParts(about)), el("h5", "", tr("In each method")), this.laneList(about));
    const { ways: given, onGo } = this.board.options;
    const ways = WAYS.filter(([way]) => onGo && list(given).includes(way));
    const edits = onGo && !FIXED.includes(node.role) ? this.edit.buttons(node, list(given)) : [];
    const buttons = [...ways.map(([way, words]) => button("way", words, "", () => this.go(node, { to: way }))), ...edits];
    if (buttons.length) parts.push(el("div", "panel-ways", ...buttons), this.edit.form);
    this.element.replaceChildren(...parts);
  }

  // While a node is renamed or merged its facts make room for the picture, in which the other one is clicked.
  editing(open) {
    this.element.classList.toggle("editing", open);
    if (this.isOpen) this.place(this.element.parentNode);
  }

  go(node, change) {
    this.close();
    this.board.options.onGo?.({ node: node.id, ...change });
  }

  laneList(about) {
    const rows = list(this.board.payload.lanes).map((lane) => {
      const told = about.lanes?.[lane.id];
      return el("li", told?.in ? "is-in" : "", el("b", "", [lane.title, lane.number].filter(Boolean).join(" · ")), el("span", "", told?.text || tr("not retrieved yet")));
    });
    return el("ul", "panel-lanes", ...rows);
  }

  place(host) {
    const box = host.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const { x, y } = { x: this.at.x - box.left, y: this.at.y - box.top };
    const beside = x + 18 + width <= box.width ? x + 18 : x - 18 - width >= 0 ? x - 18 - width : Math.max(0, box.width - width);
    const lowest = Math.max(0, Math.min(box.height, innerHeight - box.top) - height - 6);
    this.element.style.left = `${Math.round(beside)}px`;
    this.element.style.top = `${Math.round(Math.max(Math.min(0, lowest), Math.max(-box.top + 6, Math.min(y - 40, lowest))))}px`;
  }
}

function relationParts({ degree, relations, others, counted }) {
  const some = counted < degree ? (counted ? tr(", {counted} of them here", { counted: count(counted) }) : "") : "";
  const rows = list(relations).map(([words, size]) => el("li", "", el("span", "", words), el("b", "", count(size))));
  if (others) rows.push(el("li", "quiet", tr("and {relations}", { relations: plural(others, "more relation") })));
  return [el("p", "panel-degree", `${plural(degree, "edge")}${some}`), ...(rows.length ? [el("ul", "panel-relations", ...rows)] : [])];
}

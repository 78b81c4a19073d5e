// One lane: head, answers, funnel, graph, paths and foot.

import { voice } from "./answers.js";
import { changed, el, setHidden, setText } from "./dom.js";
import { disclosure, operatorTable, promptView } from "./foot.js";
import { funnelStages } from "./funnel.js";
import { Graph } from "./graph.js";
import { laneTools } from "./lanetools.js";
import { rowList } from "./paths.js";
import { thumbs } from "./thumbs.js";
import { fateText, list, plural, score } from "./words.js";

const SIGNS = { idle: "", waiting: "", running: "", answering: "", done: "✓", failed: "!", cancelled: "×" };

const STATUS_WORDS = {
  idle: "Not asked yet", waiting: "Waiting", running: "Running", answering: "Answering", done: "Done", failed: "Failed", cancelled: "Cancelled",
};

export class Lane {
  constructor(board) {
    this.board = board;
    this.memo = {};
    this.data = {};
    this.graph = new Graph(board, this);
    this.buildHead();
    this.buildAnswer();
    this.funnel = el("section", "funnel");
    this.funnel.setAttribute("aria-label", "Known answers that survive each stage");
    this.buildPaths();
    this.buildFoot();
    this.error = el("p", "error");
    this.element = el("article", "lane", this.head, this.answer, this.funnel, this.graph.element, this.paths, this.error, this.foot);
  }

  buildHead() {
    this.title = el("span");
    this.number = el("span", "number");
    this.subtitle = el("p", "subtitle");
    this.sign = el("span", "sign");
    this.sign.setAttribute("aria-hidden", "true");
    this.statusText = el("span");
    this.status = el("p", "status", this.sign, this.statusText);
    this.status.setAttribute("role", "status");
    this.tools = laneTools((what) => this.board.options.onLane?.({ lane: this.board.indexOf(this), do: what }));
    this.head = el("header", "head", el("h3", "", this.title, this.number), this.subtitle, el("div", "head-row", this.status, this.tools.element));
  }

  buildAnswer() {
    this.reader = voice("reader");
    this.model = voice("model");
    this.noAnswer = el("p", "quiet");
    this.thumbs = thumbs((verdict) => this.board.options.onThumb?.({ lane: this.data.id, verdict }));
    this.answer = el("section", "answer", this.reader.element, this.model.element, this.noAnswer, this.thumbs.element);
    this.answer.setAttribute("aria-label", "Answers");
  }

  buildPaths() {
    this.best = rowList("ol", 5, "path");
    this.pathNote = el("p", "quiet");
    this.lostTitle = el("h4", "", "Known answers lost here");
    this.gone = rowList("ul", 3, "lost answer");
    this.paths = el("section", "paths", this.best.element, this.pathNote, this.lostTitle, this.gone.element);
    this.paths.setAttribute("aria-label", "Paths");
  }

  buildFoot() {
    this.cost = el("p", "cost");
    this.operators = disclosure("Operators");
    this.prompt = disclosure("Prompt");
    this.foot = el("footer", "foot", this.cost, this.operators.element, this.prompt.element);
  }

  update(data) {
    this.data = data;
    const failed = data.status === "failed";
    this.element.dataset.status = data.status ?? "waiting";
    this.element.setAttribute("aria-label", data.title ?? "");
    this.updateHead();
    for (const part of [this.answer, this.funnel, this.graph.element, this.paths]) setHidden(part, failed);
    setHidden(this.error, !failed);
    setText(this.error, failed ? data.error || "This lane failed." : "");
    this.updateFoot();
    if (failed) return;
    this.updateAnswer();
    this.updateFunnel();
    this.graph.update();
    this.updatePaths();
  }

  updateHead() {
    const { title, number, subtitle, status, status_text: text } = this.data;
    setText(this.title, title);
    setText(this.number, number);
    setHidden(this.number, !number);
    this.tools.show(this.board.editable, title, list(this.board.payload.lanes).length);
    setText(this.subtitle, subtitle);
    setHidden(this.subtitle, !subtitle);
    setText(this.sign, SIGNS[status] ?? "");
    setText(this.statusText, text || STATUS_WORDS[status] || "");
  }

  get pending() {
    return ["idle", "waiting", "running", "answering"].includes(this.data.status);
  }

  get retrieved() {
    return !["idle", "waiting", "running"].includes(this.data.status);
  }

  get graphless() {
    const { nodes, paths, drawn } = this.data;
    return !list(nodes).length && !list(paths).length && !drawn;
  }

  updateAnswer() {
    const { reader, reader_verdict: readerVerdict, answer, model, verdict, status } = this.data;
    const names = Array.isArray(reader);
    const spoken = answer !== null && answer !== undefined;
    this.reader.show(names, "Graph reader", names ? reader.join(", ") || "no answer" : "", readerVerdict);
    this.model.show(spoken || status === "answering", model || "Language model", answer ?? "", verdict, status === "answering");
    setHidden(this.noAnswer, names || spoken || status === "answering");
    setText(this.noAnswer, this.pending ? "No answer yet" : "No answer");
    this.thumbs.show(this.data.thumb);
  }

  updateFunnel() {
    const { funnel } = this.data;
    const known = this.board.knowsAnswers;
    if (!changed(this.memo, "funnel", [funnel, known, this.pending])) return;
    this.funnel.replaceChildren(...(funnel || known ? funnelStages(funnel) : [el("p", "quiet", "Known answers not given")]));
  }

  updatePaths() {
    const { paths, lost, id } = this.data;
    const rows = list(paths).map((entry) => ({
      key: entry.key, lead: score(entry.score), path: this.board.path(entry.key),
      fate: this.board.fate(entry.key, id) ?? { fate: "found", text: `rank ${entry.rank}` },
    }));
    this.best.show(rows);
    setHidden(this.pathNote, rows.length > 0);
    setText(this.pathNote, this.pathsNote());
    const gone = list(lost).map((entry) => ({
      key: entry.key, lead: "", path: this.board.path(entry.key), name: entry.answer,
      fate: this.board.fate(entry.key, id) ?? { fate: "never", text: "not in this lane's paths" },
    }));
    this.gone.show(gone);
    setHidden(this.lostTitle, !gone.length);
  }

  pathsNote() {
    if (!this.retrieved) return "No paths yet";
    return this.graphless ? "No paths: this lane reads no graph." : "No path was found.";
  }

  updateFoot() {
    const { cost, operators, prompt, prompt_tokens: tokens } = this.data;
    setText(this.cost, cost);
    setHidden(this.cost, !cost);
    setHidden(this.foot, !cost && !list(operators).length && !list(prompt).length);
    setHidden(this.operators.element, !list(operators).length);
    setHidden(this.prompt.element, !list(prompt).length);
    if (changed(this.memo, "operators", operators)) this.operators.fill(plural(list(operators).length, "step"), operatorTable(list(operators)));
    if (changed(this.memo, "prompt", [prompt, tokens])) {
      this.prompt.fill(tokens === null || tokens === undefined ? "" : plural(tokens, "token"), promptView(list(prompt)));
    }
  }

  show(key, framePaths) {
    const fate = key ? this.board.fate(key, this.data.id) : null;
    this.graph.show(key, fate?.fate ?? null, framePaths);
    this.graph.say(key ? fateText(fate) : null, fate?.fate ?? "");
  }

  destroy() {
    this.graph.destroy();
    this.element.remove();
  }
}

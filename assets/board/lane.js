// One lane: head, answers, funnel, graph, paths and foot.

import { voice } from "./answers.js";
import { changed, el, setAttribute, setHidden, setText } from "./dom.js";
import { Foot } from "./foot.js";
import { Found } from "./found.js";
import { funnelStages } from "./funnel.js";
import { Graph } from "./graph.js";
import { laneTools } from "./lanetools.js";
import { Replay } from "./replay.js";
import { Resting } from "./rests.js";
import { Said } from "./said.js";
import { thumbs } from "./thumbs.js";
import { progressParts, Times } from "./times.js";
import { fateText, laneName, list, wholeSpan } from "./words.js";
import { tr } from "../wording.js";

const SIGNS = { idle: "", waiting: "", running: "", answering: "", done: "✓", failed: "!", cancelled: "×" };

const PARTS = { paths: tr("paths"), hits: tr("hits"), graph: tr("graph"), answer: tr("answer") };
const STATUS_WORDS = {
  idle: tr("Not asked yet"), waiting: tr("Waiting"), running: tr("Running"), answering: tr("Answering"), done: tr("Done"), failed: tr("Failed"), cancelled: tr("Cancelled"),
};

export class Lane {
  constructor(board) {
    this.board = board;
    this.memo = {};
    this.data = {};
    this.replay = new Replay(board, this);
    this.graph = new Graph(board, this);
    this.said = new Said(board);
    this.times = new Times(board);
    this.buildHead();
    this.buildAnswer();
    this.funnel = el("section", { class: "funnel", "aria-label": tr("Correct answers that survive each stage") });
    this.found = new Found(board, this);
    this.foot = new Foot((id) => board.prompts.open(id));
    this.error = el("p", "error");
    this.element = el("article", "lane", this.head, this.answer, this.funnel, this.graph.element, this.said.element, this.times.element, this.found.element, this.error, this.foot.element);
  }

  buildHead() {
    this.title = el("span");
    this.number = el("span", "number");
    this.subtitle = el("p", "subtitle");
    this.best = el("p", "progress-best");
    this.sign = el("span", { class: "sign", "aria-hidden": "true" });
    this.statusText = el("span");
    this.status = el("p", { class: "status", role: "status" }, this.sign, this.statusText);
    this.clock = el("span", "clock");
    this.track = el("i");
    this.thumbs = thumbs((verdict) => this.board.options.onThumb?.({ lane: this.data.id, verdict }));
    this.tools = laneTools((what) => this.board.options.onLane?.({ lane: this.board.indexOf(this), do: what }));
    this.head = el("header", "head", el("h3", "", this.title, this.number), el("div", "about", this.subtitle, this.best), el("div", "head-row", this.tools.element),
      this.state = el("div", "state", this.status, this.clock, this.thumbs.element), el("span", "track", this.track));
  }

  buildAnswer() {
    this.reader = voice("reader");
    this.model = voice("model");
    this.noAnswer = el("p", "quiet");
    const rest = el("p", { class: "rest-note", role: "status", title: tr("By the similarity of sentences: no proof that the model used it") });
    this.answer = el("section", { class: "answer", "aria-label": tr("Answers") }, this.reader.element, this.model.element, rest, this.noAnswer);
    this.resting = new Resting(this.answer, rest, (one) => this.found.hits.point(one));
  }

  update(data, number) {
    this.data = data;
    if (!changed(this.memo, "data", [data, number, this.board.revision])) return;
    const failed = data.status === "failed";
    this.element.dataset.status = data.status ?? "waiting";
    this.element.classList.toggle("so-far", this.soFar);
    this.element.classList.toggle("quick", Boolean(data.quick));
    this.element.setAttribute("aria-label", laneName(data));
    for (const part of this.element.querySelectorAll("section[aria-label]")) part.ariaLabel = `${(part.words ??= part.ariaLabel)}: ${laneName(data)}`; // each landmark has a name of its own
    this.title.parentElement.ariaLevel = this.board.payload.present ? "2" : "3"; // the question is then the heading above
    this.updateHead();
    const empty = failed && !this.retrieved; // a lane whose answer failed keeps what it retrieved
    for (const part of [this.answer, this.funnel, this.graph.element, this.said.element, this.times.element]) setHidden(part, empty);
    setHidden(this.error, !empty);
    setText(this.error, empty ? this.failure : "");
    this.foot.update(data, this.board.prompts.lanes.length > 1);
    if (empty) return void this.found.update(data, true);
    this.updateAnswer();
    this.updateFunnel();
    this.replay.update();
    this.graph.update();
    this.said.update(data, number);
    this.times.update(data);
    this.found.update(data, false);
  }

  updateHead() {
    const { title, number, subtitle, terms, status, status_text: text, progress, partly } = this.data;
    setText(this.title, title);
    setText(this.number, number);
    setHidden(this.number, !number);
    this.tools.show(this.board.editable, title, list(this.board.payload.lanes).length);
    setText(this.subtitle, subtitle);
    this.subtitle.title = [subtitle, terms].filter(Boolean).join("\n"); // long lines are cut after three rows
    setHidden(this.subtitle, !subtitle);
    const home = this.board.payload.present ? this.graph.element : this.head; // in a room it comes and goes over the picture
    if (this.state.parentElement !== home) home.append(this.state);
    const part = status === "done" && partly; // of vectors that are still being made
    setText(this.sign, part ? "◔" : SIGNS[status] ?? "");
    setText(this.statusText, part || text || STATUS_WORDS[status] || "");
    this.status.classList.toggle("partly", Boolean(part));
    const told = this.pending && !part ? progressParts(progress, text, this.soFar ? this.data.so_far : null, this.data.quick) : {};
    if (told.text) setText(this.statusText, told.text);
    this.status.title = this.statusText.textContent;
    setText(this.best, told.best);
    this.head.classList.toggle("telling", Boolean(told.best));
    this.track.style.width = told.width ?? "0";
    this.timed = this.pending && status !== "idle" && !told.left;
    this.tick();
  }

  // How long its step has run, from the first second on; an estimate of what is left takes its place.
  tick() {
    const seconds = this.timed ? this.board.waited(this.data.id) : 0;
    setText(this.clock, seconds >= 1 ? `, ${wholeSpan(Math.floor(seconds))}` : "");
  }

  // Why the lane failed; empty where it did not.
  get failure() {
    return this.data.status === "failed" ? this.data.error || tr("This method failed.") : "";
  }

  // Whether what it shows may change yet, as not all that it found is ranked.
  get soFar() {
    return Boolean(this.data.so_far);
  }

  get pending() {
    return ["idle", "waiting", "running", "answering"].includes(this.data.status);
  }

  // Whether it came to the end of its retrieval, which one that failed or was cancelled may not have.
  get retrieved() {
    return this.data.retrieved === true;
  }

  // Why a part of it that holds `what` is empty while it has not retrieved.
  notYet(part) {
    const what = PARTS[part];
    const { status, status_text: text } = this.data;
    if (status === "cancelled") return ["paths", "hits"].includes(part) ? tr("{text}: no {what}.", { text: text || tr("Cancelled"), what }) : tr("Cancelled: no {what}.", { what });
    if (status === "waiting") return tr("Not begun: no {what} yet.", { what });
    return status === "running" ? tr("No {what} yet: this method is running.", { what }) : tr("No {what} yet", { what });
  }

  // Whether its method retrieves nothing, as a language model that answers alone.
  get graphless() {
    return this.data.retrieves === false;
  }

  updateAnswer() {
    setAttribute(this.answer, "data-voices", list(this.data.voices).join(" "));
    const { reader, reader_name: readerName, reader_verdict: readerVerdict, answer, model, verdict, status, rests, answer_fault: fault } = this.data;
    const names = Array.isArray(reader);
    const spoken = answer !== null && answer !== undefined;
    const evidence = this.board.payload.evidence?.[this.data.id] ?? null;
    this.reader.show(names, { name: readerName || tr("Answer read from the graph (no AI)"), words: names ? reader.join(", ") || tr("no answer") : "", verdict: readerVerdict, evidence, rests: spoken ? null : rests, soFar: this.soFar });
    this.model.show(spoken || status === "answering", { name: model || tr("Language model"), words: answer || (fault ? tr("no answer") : ""), verdict, streaming: status === "answering", evidence, rests });
    this.resting.refresh();
    const trouble = this.failure || fault;
    setHidden(this.noAnswer, !trouble && (names || spoken || status === "answering"));
    this.noAnswer.className = this.failure ? "failure" : "quiet";
    setText(this.noAnswer, trouble || this.answerNote());
    this.thumbs.show(this.data.thumb);
  }

  answerNote() {
    if (!this.retrieved) return this.notYet("answer");
    return this.pending ? tr("No answer yet") : this.data.status === "cancelled" ? `${this.data.status_text || tr("Cancelled")}.` : tr("No answer");
  }

  updateFunnel() {
    const { funnel } = this.data;
    const known = this.board.knowsAnswers;
    const { stages } = this.board.agreed;
    if (!changed(this.memo, "funnel", [funnel, known, this.pending, this.soFar, [...stages]])) return;
    this.funnel.replaceChildren(...(funnel || known ? funnelStages(funnel, stages, this.soFar) : [el("p", "quiet", tr("No correct answer entered"))]));
  }

  // `word` is the evidence of a word of this lane's answer, `node` what any word or pointer is on.
  show({ key, word, node }) {
    const fate = key ? this.board.fate(key, this.data.id) : null;
    const frame = word ? list(word.paths).filter((one) => this.board.path(one)) : key ? null : this.replay.frame();
    this.graph.show({ key, fate: fate?.fate ?? null, frame, node, mass: key || word ? null : this.replay.mass() });
    this.graph.say(key ? fateText(fate) : null, fate?.fate ?? "");
    this.foot.showLines(word ? list(word.prompt) : []);
  }

  destroy() {
    this.graph.destroy();
    this.element.remove();
  }
}

// The board: one to four lanes side by side, their graphs on one shared layout.
//
//   renderBoard(root, payload, {cytoscape, onNode})
//
// may be called again with a new payload on the same root; it changes only what differs. Every name is set as text.

const boards = new WeakMap();
const SIGNS = { waiting: "", running: "", answering: "", done: "✓", failed: "!", cancelled: "×" };
const STATUS_WORDS = {
  waiting: "Waiting", running: "Running", answering: "Answering", done: "Done", failed: "Failed", cancelled: "Cancelled",
};
const FATE_WORDS = { found: "found", dropped: "dropped", never: "never reached" };
const STAGES = ["graph", "subgraph", "paths", "prompt", "answer"];
const COLOURS = ["card", "text", "muted", "line", "node", "edge", "ghost", "path", "path-soft", "seed", "good", "warn", "bad", "on-path"];

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
  const options = { cytoscape: globalThis.cytoscape, onNode: (id) => setTriggerValue("node", id) };
  const board = renderBoard(parentElement, data ?? {}, options);
  if (!options.cytoscape) {
    loadCytoscape().then(
      (cytoscape) => board.update(board.payload, { ...board.options, cytoscape }),
      () => board.update(board.payload, { ...board.options, problem: "The graph cannot be drawn: app/static/cytoscape.min.js did not load." }),
    );
  }
  return () => board.destroy();
}

function loadCytoscape() {
  if (globalThis.hopscopeCytoscape) return globalThis.hopscopeCytoscape;
  const own = [...document.scripts].map((script) => script.src).find((src) => /\/static\/js\/index\./.test(src));
  const base = own ? own.slice(0, own.indexOf("/static/js/") + 1) : document.baseURI;
  globalThis.hopscopeCytoscape = new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("app/static/cytoscape.min.js", base).href;
    script.onload = () => (globalThis.cytoscape ? resolve(globalThis.cytoscape) : reject(new Error("cytoscape")));
    script.onerror = () => reject(new Error("cytoscape"));
    document.head.append(script);
  });
  return globalThis.hopscopeCytoscape;
}

// ---------------------------------------------------------------- small helpers

function el(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function button(className, text, label, onClick) {
  const node = el("button", className, text);
  node.type = "button";
  if (label) {
    node.setAttribute("aria-label", label);
    node.title = label;
  }
  if (onClick) node.addEventListener("click", onClick);
  return node;
}

function setText(node, text) {
  const wanted = text ?? "";
  if (node.textContent !== wanted) node.textContent = wanted;
}

function setHidden(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

function changed(memo, name, value) {
  const text = JSON.stringify(value) ?? "";
  if (memo[name] === text) return false;
  memo[name] = text;
  return true;
}

// Keeps one child per key, reuses the old ones, moves only what is out of place.
function reconcile(parent, items, keyOf, make, patch) {
  const old = parent.itemsByKey ?? new Map();
  const next = new Map();
  let place = parent.firstChild;
  for (const [index, item] of items.entries()) {
    const key = keyOf(item, index);
    const node = old.get(key) ?? make(item);
    old.delete(key);
    next.set(key, node);
    patch(node, item);
    if (node === place) place = place.nextSibling;
    else parent.insertBefore(node, place);
  }
  for (const node of old.values()) node.remove();
  parent.itemsByKey = next;
}

const count = (number) => (number === null || number === undefined ? "–" : Number(number).toLocaleString("en-US"));
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
const list = (value) => (Array.isArray(value) ? value : []);

function score(value) {
  if (value === null || value === undefined || !Number.isFinite(Number(value))) return "";
  const number = Number(value);
  const size = Math.abs(number);
  const text = size !== 0 && size < 0.01 ? number.toExponential(0) : number.toFixed(size < 10 ? 2 : size < 1000 ? 1 : 0);
  return text.replace("-", "−");
}

function seconds(value) {
  if (value === null || value === undefined) return "–";
  return value < 0.01 && value > 0 ? "<0.01" : value.toFixed(value < 10 ? 2 : 1);
}

function verdictTag(verdict) {
  const { right, of } = verdict;
  const tone = right >= of ? "good" : right > 0 ? "warn" : "bad";
  const tag = el("span", `tag tag-${tone}`, `${right} of ${of}`);
  tag.title = `${right} of ${of} known answers are in it`;
  return tag;
}

// ---------------------------------------------------------------- one row of a path list

function pathSteps(path) {
  const parts = [];
  list(path?.steps).forEach((step, index) => {
    if (index) parts.push(" ");
    if (index % 2 === 0) return parts.push(el("b", "", step));
    const backward = list(path.forward)[(index - 1) / 2] === false;
    parts.push(el("span", "relation", backward ? `${step} ←` : step));
  });
  return parts;
}

function makeRow() {
  const row = button("row");
  row.append(el("span", "score"), el("span", "steps"), el("span", "row-fate"));
  row.memo = {};
  return el("li", "", row);
}

function patchRow(item, { key, lead, path, fate, name }) {
  const row = item.firstChild;
  if (!changed(row.memo, "row", [key, lead, path, fate, name])) return;
  const [leadPart, steps, fatePart] = row.children;
  if (key && path) row.dataset.path = key;
  else delete row.dataset.path;
  row.setAttribute("aria-pressed", "false");
  setText(leadPart, lead);
  steps.replaceChildren(...(path ? pathSteps(path) : [el("b", "", name ?? key ?? "")]));
  setText(fatePart, fate?.text);
  row.dataset.fate = fate?.fate ?? "";
}

// A list of rows that shows the first few until asked for all.
function rowList(tag, few, noun) {
  const rows = el(tag, "rows");
  let open = false;
  let size = 0;
  const more = button("more", "", "", () => {
    open = !open;
    fold();
  });
  const fold = () => {
    [...rows.children].forEach((item, index) => setHidden(item, !open && index >= few));
    setHidden(more, size <= few);
    setText(more, open ? "Show fewer" : `Show all ${plural(size, noun)}`);
    more.setAttribute("aria-expanded", String(open));
  };
  const element = el("div", "row-list", rows, more);
  const show = (items) => {
    size = items.length;
    setHidden(element, !size);
    reconcile(rows, items, (item, index) => item.key ?? `none-${index}`, makeRow, patchRow);
    fold();
  };
  return { element, show };
}

// ---------------------------------------------------------------- the board

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
    this.live = el("div", "sr-only");
    this.live.setAttribute("aria-live", "polite");
    this.probe = el("span", "sr-only");
    this.probe.setAttribute("aria-hidden", "true");
    this.replay = new Replay(this);
    this.element.append(this.laneBox, this.replay.element, this.live, this.probe);
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
    this.dark = globalThis.matchMedia("(prefers-color-scheme: dark)");
    this.onTheme = () => this.applyTheme();
    this.dark.addEventListener("change", this.onTheme);
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
    this.applyTheme();
    this.renderLanes();
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

  renderLanes() {
    const lanes = list(this.payload.lanes);
    this.laneBox.dataset.count = String(Math.min(lanes.length, 4));
    const kept = new Map();
    reconcile(this.laneBox, lanes, (lane) => lane.id, (lane) => {
      const view = new Lane(this);
      view.element.lane = view;
      return view.element;
    }, (node, lane) => {
      kept.set(lane.id, node.lane);
      node.lane.update(lane);
    });
    for (const [id, lane] of this.lanes) if (kept.get(id) !== lane) lane.destroy();
    this.lanes = kept;
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
    const host = getComputedStyle(this.element).getPropertyValue("--st-background-color").trim();
    const dark = host && host !== "unset" ? luminance(this.resolve(host)) < 0.4 : this.dark.matches;
    this.element.dataset.theme = dark ? "dark" : "light";
    const font = getComputedStyle(this.element).fontFamily;
    const colours = Object.fromEntries(COLOURS.map((name) => [name, this.resolve(`var(--${name})`)]));
    if (!changed(this, "themeText", { colours, font })) return;
    this.colours = colours;
    this.font = font;
    for (const lane of this.lanes.values()) lane.graph.restyle();
  }

  // Any CSS colour as [r, g, b]: the canvas does not read custom properties.
  resolve(colour) {
    this.probe.style.color = "";
    this.probe.style.color = colour;
    this.pixel ??= Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
    this.pixel.clearRect(0, 0, 1, 1);
    this.pixel.fillStyle = getComputedStyle(this.probe).color;
    this.pixel.fillRect(0, 0, 1, 1);
    return [...this.pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }

  destroy() {
    this.gone = true;
    clearTimeout(this.hoverTimer);
    cancelAnimationFrame(this.viewFrame);
    document.removeEventListener("keydown", this.onKey);
    this.dark.removeEventListener("change", this.onTheme);
    for (const lane of this.lanes.values()) lane.destroy();
    this.element.remove();
    boards.delete(this.root);
    delete this.root.hopscopeBoard;
  }
}

function luminance([red, green, blue]) {
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}

function fateText(fate) {
  if (!fate) return "not known yet";
  const word = FATE_WORDS[fate.fate] ?? "";
  const text = fate.text ?? "";
  if (!text) return word;
  return text.toLowerCase().startsWith(word) ? text : `${word}: ${text}`;
}

// ---------------------------------------------------------------- one lane

class Lane {
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
    this.title = el("h3");
    this.subtitle = el("p", "subtitle");
    this.sign = el("span", "sign");
    this.sign.setAttribute("aria-hidden", "true");
    this.statusText = el("span");
    this.status = el("p", "status", this.sign, this.statusText);
    this.status.setAttribute("role", "status");
    this.head = el("header", "head", this.title, this.subtitle, this.status);
  }

  buildAnswer() {
    this.reader = voice("reader");
    this.model = voice("model");
    this.noAnswer = el("p", "quiet");
    this.answer = el("section", "answer", this.reader.element, this.model.element, this.noAnswer);
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
    const { title, subtitle, status, status_text: text } = this.data;
    setText(this.title, title);
    setText(this.subtitle, subtitle);
    setHidden(this.subtitle, !subtitle);
    setText(this.sign, SIGNS[status] ?? "");
    setText(this.statusText, text || STATUS_WORDS[status] || "");
  }

  get pending() {
    return ["waiting", "running", "answering"].includes(this.data.status);
  }

  get retrieved() {
    return !["waiting", "running"].includes(this.data.status);
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
  }

  updateFunnel() {
    const { funnel } = this.data;
    const known = this.board.knowsAnswers;
    if (!changed(this.memo, "funnel", [funnel, known, this.pending])) return;
    if (funnel) return this.funnel.replaceChildren(...funnel.map((stage) => funnelStage(this.graph, stage)));
    if (!known) return this.funnel.replaceChildren(el("p", "quiet", "Known answers not given"));
    const blank = STAGES.map((stage) => funnelStage(this.graph, { stage, alive: null, of: null, lost: [] }));
    this.funnel.replaceChildren(...blank);
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

// A speaker of an answer: label, tag, text that streams, and a toggle when it is long.
function voice(kind) {
  const label = el("span", "voice-label");
  const tagPlace = el("span", "tag-place");
  const text = el("span");
  const caret = el("span", "caret");
  caret.setAttribute("aria-hidden", "true");
  const body = el("p", `voice-text ${kind}-text`, text, caret);
  const more = button("more", "Show more", "", () => {
    const open = body.classList.toggle("open");
    more.setAttribute("aria-expanded", String(open));
    setText(more, open ? "Show less" : "Show more");
  });
  more.setAttribute("aria-expanded", "false");
  const element = el("div", `voice voice-${kind}`, el("div", "voice-head", label, tagPlace), body, more);
  const memo = {};
  const measure = () => setHidden(more, !body.classList.contains("open") && body.scrollHeight <= body.clientHeight + 2);
  new ResizeObserver(measure).observe(body);
  const show = (visible, name, words, verdict, streaming = false) => {
    setHidden(element, !visible);
    setText(label, name);
    setText(text, words);
    setHidden(caret, !streaming);
    if (changed(memo, "verdict", verdict)) tagPlace.replaceChildren(...(verdict ? [verdictTag(verdict)] : []));
    if (visible) measure();
  };
  return { element, show };
}

function disclosure(title) {
  const fact = el("span", "fact");
  const body = el("div", "disclosed");
  const element = el("details", "", el("summary", "", el("span", "", title), fact), body);
  return {
    element,
    fill(text, content) {
      setText(fact, text);
      body.replaceChildren(content);
    },
  };
}

function funnelStage(graph, { stage, alive, of, lost }) {
  const known = alive !== null && alive !== undefined && of;
  const tone = !known ? "none" : alive >= of ? "good" : alive > 0 ? "warn" : "bad";
  const fill = el("i");
  fill.style.height = known ? `${Math.max(5, (100 * alive) / of)}%` : "0";
  const bar = el("span", `bar bar-${tone}`, fill, list(lost).length ? el("span", "lost-mark", `−${lost.length}`) : null);
  const node = el("div", "stage", bar, el("b", "", known ? `${alive}/${of}` : "–"), el("span", "stage-name", stage));
  const gone = list(lost).length ? `. Lost here: ${lost.join(", ")}` : "";
  const words = known ? `${stage}: ${alive} of ${of}${gone}` : `${stage}: not known yet`;
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", words);
  node.title = words;
  if (list(lost).length) node.tabIndex = 0;
  return node;
}

function operatorTable(operators) {
  const head = el("tr", "", ...["Operator", "s", "calls", "tokens"].map((name) => el("th", "", name)));
  head.children[1].title = "seconds";
  head.children[2].title = "model calls";
  head.children[3].title = "tokens in + out";
  for (const cell of head.children) cell.scope = "col";
  const table = el("table", "operators", el("thead", "", head), el("tbody", "", ...operators.flatMap(operatorRows)));
  const box = el("div", "scroll", table);
  return box;
}

function operatorRows(operator) {
  const tokens = operator.tokens_in || operator.tokens_out ? `${count(operator.tokens_in ?? 0)} + ${count(operator.tokens_out ?? 0)}` : "";
  const name = el("td", "", el("b", "", operator.label ?? ""));
  const main = el("tr", "", name, el("td", "", seconds(operator.seconds)), el("td", "", operator.calls ? count(operator.calls) : ""), el("td", "", tokens));
  const facts = Object.entries(operator.sizes ?? {}).map(([what, size]) => `${count(size)} ${what}`);
  if (operator.texts) facts.push(`${plural(operator.texts, "text")} encoded`);
  const lines = [operator.detail, facts.join(" · "), ...list(operator.notes)].filter(Boolean);
  const more = el("td", "", ...lines.map((line, index) => el("div", index && index >= lines.length - list(operator.notes).length ? "note" : "", line)));
  more.colSpan = 4;
  return [main, el("tr", "more-row", more)];
}

function promptView(messages) {
  const copy = button("copy", "Copy", "", async () => {
    setText(copy, (await copyText(messages.map((message) => `[${message.role}]\n${message.content}`).join("\n\n"))) ? "Copied" : "Select and copy by hand");
    setTimeout(() => setText(copy, "Copy"), 1600);
  });
  copy.setAttribute("aria-label", "Copy the prompt");
  const parts = messages.flatMap((message) => [el("h5", "", message.role ?? ""), el("pre", "", message.content ?? "")]);
  const box = el("div", "messages", ...parts);
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "Prompt messages");
  return el("div", "prompt", copy, box);
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

// ---------------------------------------------------------------- one lane's graph

const PAD = { left: 30, right: 30, top: 22, bottom: 24 };
const LABEL = 10.5;

class Graph {
  constructor(board, lane) {
    this.board = board;
    this.lane = lane;
    this.memo = {};
    this.focus = { key: null, fate: null, frame: null };
    this.canvas = el("div", "canvas");
    this.message = el("p", "graph-message quiet");
    this.tip = el("div", "tip");
    this.tip.hidden = true;
    this.stage = el("div", "stage-box", this.canvas, this.message, this.tip);
    this.stage.setAttribute("role", "img");
    this.drawn = el("span", "drawn");
    this.fate = el("span", "fate");
    this.tools = el("span", "tools",
      button("tool", "−", "Zoom out in every lane (Ctrl + wheel)", () => board.zoom(1 / 1.4)),
      button("tool", "+", "Zoom in in every lane (Ctrl + wheel)", () => board.zoom(1.4)),
      button("tool fit", "Fit", "Show the whole graph in every lane", () => board.setView({ k: 1, fit: true })));
    this.element = el("section", "graph", this.stage, el("div", "strip", el("span", "strip-text", this.drawn, this.fate), this.tools));
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.canvas);
  }

  listen() {
    const { stage } = this;
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.startDrag(event));
    stage.addEventListener("pointermove", (event) => (this.drag ? this.moveDrag(event) : this.point(event)));
    stage.addEventListener("pointerup", (event) => this.endDrag(event));
    stage.addEventListener("pointercancel", () => (this.drag = null));
    stage.addEventListener("pointerleave", () => this.hideTip());
    stage.addEventListener("keydown", (event) => this.key(event));
  }

  // The page keeps its wheel: zooming asks for Ctrl or Command, or the buttons, or + and -.
  wheel(event) {
    if (!this.cy || !(event.ctrlKey || event.metaKey)) return;
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
    else if (moves[event.key]) this.board.setView({ k: view.k, x: view.x + moves[event.key][0], y: view.y + moves[event.key][1] });
    else return;
    event.preventDefault();
  }

  startDrag(event) {
    if (!this.cy || event.button !== 0) return;
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
    if (hit) this.board.options.onNode?.(hit.id);
  }

  fraction(event) {
    const box = this.stage.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height, box };
  }

  // -------- what is under the pointer

  toModel(event) {
    const { box } = this.fraction(event);
    const { view } = this.board;
    return { x: event.clientX - box.left - view.x * box.width, y: event.clientY - box.top - view.y * box.height };
  }

  nodeAt(event) {
    if (!this.cy) return null;
    const at = this.toModel(event);
    let best = null;
    for (const node of this.nodes.values()) {
      const place = this.places.get(node.id);
      const distance = place ? Math.hypot(place.x - at.x, place.y - at.y) : Infinity;
      if (distance < (best?.distance ?? 13)) best = { node, distance };
    }
    return best?.node ?? null;
  }

  edgeAt(event) {
    const at = this.toModel(event);
    let best = null;
    for (const edge of this.edges.values()) {
      const distance = segmentDistance(at, this.places.get(edge.source), this.places.get(edge.target));
      if (distance < (best?.distance ?? 5)) best = { edge, distance };
    }
    return best?.edge ?? null;
  }

  point(event) {
    if (!this.cy) return;
    const node = this.nodeAt(event);
    const edge = node ? null : this.edgeAt(event);
    this.stage.classList.toggle("on-node", Boolean(node && this.board.options.onNode));
    if (node) return this.showTip(event, [node.name, this.nodeNote(node)]);
    if (!edge) return this.hideTip();
    const name = (id) => this.nodes.get(id)?.name ?? "";
    this.showTip(event, [`${name(edge.source)} → ${name(edge.target)}`, edge.relation]);
  }

  nodeNote(node) {
    const mark = this.marks?.nodes.get(node.id) ?? "";
    if (mark.includes("lost")) return "known answer, lost in this lane";
    if (node.role === "answer") return "known answer";
    if (node.role === "question") return "named in the question";
    return mark.includes("ghost") ? "not in this lane" : "";
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

  // -------- drawing

  update() {
    const { layout } = this.board.payload;
    const { cytoscape, problem } = this.board.options;
    const words = this.words(list(layout?.nodes), problem);
    setHidden(this.message, !words);
    setText(this.message, words);
    this.canvas.classList.toggle("empty", Boolean(words));
    setHidden(this.tools, Boolean(words));
    this.stage.tabIndex = words ? -1 : 0;
    this.updateText(Boolean(words));
    if (words || !cytoscape) return;
    this.nodes = new Map(list(layout.nodes).map((node) => [node.id, node]));
    this.edges = new Map(list(layout.edges).filter((edge) => this.nodes.has(edge.source) && this.nodes.has(edge.target)).map((edge) => [edge.id, edge]));
    if (!this.cy) this.create(cytoscape);
    if (changed(this.memo, "layout", layout)) this.syncElements();
    this.paint();
  }

  words(nodes, problem) {
    const { lane } = this;
    if (problem && !this.board.options.cytoscape) return problem;
    const has = list(lane.data.nodes).length || list(lane.data.paths).length;
    if (has && nodes.length) return "";
    if (!lane.retrieved) return "No subgraph yet";
    if (lane.data.status === "cancelled") return "Stopped before there was a subgraph.";
    return lane.graphless ? "No graph: the language model answers alone." : "The subgraph is empty.";
  }

  updateText(empty) {
    const { drawn, paths, title, nodes } = this.lane.data;
    const all = drawn && drawn.nodes < drawn.of ? "; all path nodes kept" : "";
    setText(this.drawn, drawn && !empty ? `drawn ${count(drawn.nodes)} of ${plural(drawn.of, "node")}${all}` : "");
    this.stage.setAttribute("aria-label", empty
      ? this.message.textContent
      : `Graph of ${title}: ${plural(list(nodes).length, "node")}, ${plural(list(paths).length, "path")}. Plus and minus zoom, arrows move, 0 fits.`);
  }

  create(cytoscape) {
    this.cy = cytoscape({
      container: this.canvas, style: stylesheet(this.board.colours, this.board.font), layout: { name: "preset" },
      userZoomingEnabled: false, userPanningEnabled: false, boxSelectionEnabled: false, autoungrabify: true, autounselectify: true,
      minZoom: 1, maxZoom: 1,
    });
  }

  restyle() {
    this.cy?.style().fromJson(stylesheet(this.board.colours, this.board.font)).update();
  }

  syncElements() {
    const { cy } = this;
    const wanted = new Set([...[...this.nodes.keys()].map((id) => `n${id}`), ...[...this.edges.keys()].map((id) => `e${id}`)]);
    cy.batch(() => {
      cy.elements().filter((item) => !wanted.has(item.id())).remove();
      cy.add([...this.nodes.keys()].filter((id) => cy.getElementById(`n${id}`).empty()).map((id) => ({ data: { id: `n${id}`, label: "", mx: 0, my: 0 } })));
      cy.add([...this.edges.values()].filter((edge) => cy.getElementById(`e${edge.id}`).empty()).map((edge) => ({
        data: { id: `e${edge.id}`, source: `n${edge.source}`, target: `n${edge.target}`, step: "" },
      })));
    });
    this.glide(basePlaces([...this.nodes.values()]));
  }

  // Nodes that were already drawn walk to their new places.
  glide(goal) {
    cancelAnimationFrame(this.glideFrame);
    const from = this.base;
    const still = !from || globalThis.matchMedia("(prefers-reduced-motion: reduce)").matches || ![...goal.keys()].some((id) => from.has(id));
    const begin = performance.now();
    const step = (now) => {
      const part = still ? 1 : Math.min(1, Math.max(0, (now - begin) / 320));
      const ease = 1 - (1 - part) ** 3;
      this.base = new Map([...goal].map(([id, at]) => [id, between(from?.get(id) ?? at, at, ease)]));
      this.place(true);
      if (part < 1) this.glideFrame = requestAnimationFrame(step);
    };
    step(begin);
  }

  resize() {
    if (!this.cy) return;
    this.cy.resize();
    this.place(true);
  }

  // Zoom moves the nodes apart and leaves sizes and labels as they are; pan shifts the picture.
  place(force = false) {
    const { cy, board, canvas } = this;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (!cy || !this.base || !width || !height) return;
    const { k, x, y } = board.view;
    if (changed(this.memo, "scale", [k, width, height]) || force) {
      this.places = new Map([...this.base].map(([id, at]) => [id, {
        x: Math.round((PAD.left + at.x * (width - PAD.left - PAD.right)) * k), y: Math.round((PAD.top + at.y * (height - PAD.top - PAD.bottom)) * k),
      }]));
      cy.batch(() => cy.nodes().positions((node) => this.places.get(idOf(node)) ?? { x: 0, y: 0 }));
      this.placeLabels();
    }
    cy.pan({ x: Math.round(x * width), y: Math.round(y * height) });
  }

  show(key, fate, frame) {
    if (!changed(this.memo, "focus", [key, fate, frame])) return;
    this.focus = { key, fate, frame };
    if (this.cy && !this.canvas.classList.contains("empty")) this.paint();
  }

  say(text, fate) {
    setText(this.fate, text);
    this.fate.dataset.fate = fate;
    this.element.classList.toggle("telling", text !== null);
  }

  paint() {
    const marks = laneMarks(this);
    const said = [[...marks.nodes], [...marks.edges], [...marks.steps]];
    if (!changed(this.memo, "marks", said)) return;
    this.marks = marks;
    this.cy.batch(() => {
      this.cy.nodes().forEach((node) => setClasses(node, marks.nodes.get(idOf(node)) ?? ""));
      this.cy.edges().forEach((edge) => setClasses(edge, marks.edges.get(idOf(edge)) ?? ""));
    });
    this.placeLabels();
  }

  placeLabels() {
    if (!this.cy || !this.marks || !this.places) return;
    const { k, x, y } = this.board.view;
    const still = k === 1 && !x && !y;
    const bounds = still ? { x1: 3, y1: 2, x2: this.canvas.clientWidth - 3, y2: this.canvas.clientHeight - 2 } : null;
    const steps = roomySteps(this);
    const labels = layLabels(this, bounds, steps);
    this.cy.batch(() => {
      this.cy.nodes().forEach((node) => setData(node, labels.get(idOf(node)) ?? { label: "", mx: 0, my: 0 }));
      this.cy.edges().forEach((edge) => setData(edge, { step: steps.get(idOf(edge)) ?? "" }));
    });
  }

  destroy() {
    cancelAnimationFrame(this.glideFrame);
    this.observer.disconnect();
    this.cy?.destroy();
    this.cy = null;
  }
}

// Cytoscape paints anew whatever is set, even to the same value.
function setData(item, wanted) {
  const now = item.data();
  if (Object.keys(wanted).some((name) => now[name] !== wanted[name])) item.data(wanted);
}

function setClasses(item, wanted) {
  const text = wanted.trim().replace(/\s+/g, " ");
  if (item.scratch("_classes") === text) return;
  item.scratch("_classes", text);
  item.classes(text);
}

const idOf = (item) => item.scratch("_id") ?? rememberId(item);

function rememberId(item) {
  const text = item.id().slice(1);
  const id = /^-?\d+$/.test(text) ? Number(text) : text;
  item.scratch("_id", id);
  return id;
}

function segmentDistance(at, from, to) {
  if (!from || !to) return Infinity;
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const part = Math.max(0, Math.min(1, ((at.x - from.x) * dx + (at.y - from.y) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(at.x - from.x - part * dx, at.y - from.y - part * dy);
}

// Positions as they came when they lie in the unit square, else squeezed into it.
function basePlaces(nodes) {
  const axis = (name) => {
    const values = nodes.map((node) => Number(node[name]) || 0);
    const low = Math.min(...values, 0);
    const high = Math.max(...values, 1);
    return (node) => ((Number(node[name]) || 0) - low) / (high - low);
  };
  const x = axis("x");
  const y = axis("y");
  return new Map(nodes.map((node) => [node.id, { x: x(node), y: y(node) }]));
}

// -------- which node and edge looks how

function laneMarks(graph) {
  const { board, lane, focus } = graph;
  const { data } = lane;
  const inside = { nodes: new Set(list(data.nodes)), edges: new Set(list(data.edges)) };
  const top = list(data.paths).map((entry) => board.path(entry.key)).filter(Boolean);
  const shown = focus.key ? [board.path(focus.key)] : focus.frame ? focus.frame.map((key) => board.path(key)).filter(Boolean) : null;
  const best = members(shown && !focus.key ? shown : top.slice(0, 1));
  const all = members(top);
  const lit = shown ? members(shown) : null;
  const tone = focus.key ? `tone-${focus.fate ?? "unknown"}` : "";
  const marks = { nodes: new Map(), edges: new Map(), steps: stepNumbers(shown ?? top) };
  const light = (kind, id) => (!lit ? "" : lit[kind].has(id) ? `lit ${tone}` : "dim");
  for (const node of graph.nodes.values()) {
    const path = all.nodes.has(node.id);
    const lost = node.role === "answer" && !path && lane.retrieved ? "lost" : "";
    const ghost = !path && !inside.nodes.has(node.id) ? "ghost" : "";
    marks.nodes.set(node.id, `${node.role ?? "plain"} ${path ? "path" : ""} ${best.nodes.has(node.id) ? "best" : ""} ${lost} ${ghost} ${light("nodes", node.id)}`);
  }
  for (const edge of graph.edges.values()) {
    const path = all.edges.has(edge.id);
    const ghost = !path && !inside.edges.has(edge.id) ? "ghost" : "";
    marks.edges.set(edge.id, `${path ? "path" : ""} ${best.edges.has(edge.id) ? "best" : ""} ${ghost} ${light("edges", edge.id)}`);
  }
  return marks;
}

function members(paths) {
  return { nodes: new Set(paths.flatMap((path) => list(path.nodes))), edges: new Set(paths.flatMap((path) => list(path.edges))) };
}

function stepNumbers(paths) {
  const steps = new Map();
  for (const path of paths) list(path.edges).forEach((edge, index) => steps.has(edge) || steps.set(edge, String(index + 1)));
  return steps;
}

// -------- labels: in order of weight, each where it covers least; the light ones give way

const measurer = document.createElement("canvas").getContext("2d");

function elide(text, font, most) {
  measurer.font = font;
  const letters = [...String(text ?? "").replace(/\s+/g, " ")];
  if (measurer.measureText(letters.join("")).width <= most) return letters.join("");
  let keep = letters.length;
  while (keep > 1 && measurer.measureText(`${letters.slice(0, keep).join("")}…`).width > most) keep -= 1;
  return `${letters.slice(0, keep).join("").trimEnd()}…`;
}

function labelWeight(mark) {
  const has = (name) => mark.split(" ").includes(name);
  if (has("dim")) return has("question") ? 1 : 0;
  if (has("lit")) return 9;
  if (has("question")) return 8;
  if (has("best")) return 7;
  if (has("answer")) return has("ghost") && !has("lost") ? 3 : 6;
  return has("path") ? 4 : 0;
}

// Step numbers of the edges long enough to carry one.
function roomySteps(graph) {
  return new Map([...graph.marks.steps].filter(([id]) => {
    const edge = graph.edges.get(id);
    if (!edge) return false;
    const [from, to] = [graph.places.get(edge.source), graph.places.get(edge.target)];
    return Math.hypot(from.x - to.x, from.y - to.y) >= (/best|lit/.test(graph.marks.edges.get(id)) ? 26 : 44);
  }));
}

function layLabels(graph, bounds, steps) {
  const font = `500 ${LABEL}px ${graph.board.font}`;
  const most = Math.max(64, Math.min(130, graph.canvas.clientWidth * 0.36));
  const taken = [];
  const dots = [...graph.places].filter(([id]) => !/dim/.test(graph.marks.nodes.get(id) ?? "")).map(([id, at]) => square(at, nodeRadius(graph.marks.nodes.get(id) ?? "") + 1));
  const badges = [...steps.keys()].map((id) => graph.edges.get(id))
    .map((edge) => square(middle(graph.places.get(edge.source), graph.places.get(edge.target)), 7));
  badges.push(...[...graph.marks.edges].filter(([, mark]) => /path|lit/.test(mark) && !/dim/.test(mark))
    .flatMap(([id]) => beads(graph.places.get(graph.edges.get(id).source), graph.places.get(graph.edges.get(id).target))));
  const ordered = [...graph.nodes.values()].map((node) => ({ node, weight: labelWeight(graph.marks.nodes.get(node.id) ?? "") }))
    .filter((entry) => entry.weight > 0).sort((one, two) => two.weight - one.weight);
  const labels = new Map();
  for (const { node, weight } of ordered) {
    const text = elide(node.name, font, most);
    const width = measurer.measureText(text).width + 4;
    const spot = bestSpot(graph.places.get(node.id), nodeRadius(graph.marks.nodes.get(node.id)), width, bounds, taken, dots, badges);
    if (weight < 6 && (spot.covered > 0 || spot.crossed > 0.3)) continue;
    taken.push(spot.box);
    labels.set(node.id, { label: text, mx: spot.dx, my: spot.dy });
  }
  return labels;
}

function nodeRadius(mark) {
  if (/question|answer/.test(mark)) return 9;
  return /path|lit|best/.test(mark) ? 6.5 : 4;
}

function bestSpot(at, radius, width, bounds, taken, dots, badges) {
  const height = LABEL + 4;
  const down = radius + height / 2 + 1;
  const side = radius + width / 2 + 2;
  const half = width / 2 - 6;
  const spots = [[0, down], [0, -down], [side, 0], [-side, 0], [half, down], [-half, down], [half, -down], [-half, -down], [0, down + height], [0, -down - height]];
  let best = null;
  spots.forEach(([dx, dy], index) => {
    const spot = fitIn({ x: at.x + dx, y: at.y + dy }, width, height, bounds);
    const covered = overlap(spot.box, taken) / (width * height);
    const moved = Math.hypot(spot.x - at.x - dx, spot.y - at.y - dy);
    const crossed = (overlap(spot.box, dots) + overlap(spot.box, badges)) / (width * height);
    const cost = covered * 10 + crossed * 4 + index * 0.04 + moved * 0.01;
    if (!best || cost < best.cost) best = { cost, covered, crossed, box: spot.box, dx: Math.round(spot.x - (width - 4) / 2) + (width - 4) / 2 - at.x, dy: Math.round(spot.y - at.y) };
  });
  return best;
}

function fitIn(centre, width, height, bounds) {
  let { x, y } = centre;
  if (bounds) {
    x = Math.min(Math.max(x, bounds.x1 + width / 2), bounds.x2 - width / 2);
    y = Math.min(Math.max(y, bounds.y1 + height / 2), bounds.y2 - height / 2);
  }
  return { x, y, box: { x1: x - width / 2, x2: x + width / 2, y1: y - height / 2, y2: y + height / 2 } };
}

// Small squares along a line, for labels to keep clear of.
function beads(from, to) {
  const pieces = Math.min(60, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 5));
  return Array.from({ length: pieces }, (_, index) => {
    const part = (index + 0.5) / pieces;
    return square({ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }, 2.5);
  });
}

const square = (at, radius) => ({ x1: at.x - radius, x2: at.x + radius, y1: at.y - radius, y2: at.y + radius });
const between = (from, to, part) => ({ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part });
const middle = (one, two) => ({ x: (one.x + two.x) / 2, y: (one.y + two.y) / 2 });

function overlap(box, others) {
  return others.reduce((sum, other) => {
    const width = Math.min(box.x2, other.x2) - Math.max(box.x1, other.x1);
    const height = Math.min(box.y2, other.y2) - Math.max(box.y1, other.y1);
    return sum + (width > 0 && height > 0 ? width * height : 0);
  }, 0);
}

function stylesheet(colours, font) {
  const colour = Object.fromEntries(Object.entries(colours).map(([name, rgb]) => [name, `rgb(${rgb.join(",")})`]));
  const tones = { found: colour.path, dropped: colour.warn, never: colour.bad, unknown: colour.muted };
  return [
    { selector: "node", style: {
      width: 7, height: 7, "background-color": colour.node, label: "data(label)", color: colour.text, "font-family": font, "font-size": LABEL, "font-weight": 500,
      "text-valign": "center", "text-halign": "center", "text-margin-x": "data(mx)", "text-margin-y": "data(my)",
      "text-background-color": colour.card, "text-background-opacity": 0.82, "text-background-padding": 1, "text-background-shape": "round-rectangle",
      "z-index": 1, "overlay-opacity": 0, "underlay-opacity": 0 } },
    { selector: "edge", style: {
      width: 1.1, "line-color": colour.edge, "curve-style": "bezier", "control-point-step-size": 26, "z-index": 0, "overlay-opacity": 0 } },
    { selector: "node.ghost", style: { width: 6, height: 6, "background-color": colour.card, "border-width": 1, "border-color": colour.ghost, "border-style": "dashed", color: colour.muted } },
    { selector: "edge.ghost", style: { "line-color": colour.ghost, "line-style": "dashed", "line-dash-pattern": [3, 4], width: 1 } },
    { selector: "node.path", style: { width: 11, height: 11, "background-color": colour["path-soft"], "z-index": 4 } },
    { selector: "node.best", style: { width: 12, height: 12, "background-color": colour.path, "z-index": 5 } },
    { selector: "edge.path", style: numbered(colour["path-soft"], colour["on-path"], font, 2.4, 2) },
    { selector: "edge.best", style: numbered(colour.path, colour["on-path"], font, 3.2, 3) },
    { selector: "node.question", style: { shape: "diamond", width: 17, height: 17, "background-color": colour.seed, "border-width": 0, "z-index": 7, "font-weight": 600, color: colour.text } },
    { selector: "node.answer", style: { shape: "star", width: 20, height: 20, "background-color": colour.good, "border-width": 0, "z-index": 6, color: colour.text } },
    { selector: "node.answer.ghost", style: { "background-color": colour.card, "border-width": 1.4, "border-color": colour.good, "border-style": "solid", color: colour.muted } },
    { selector: "node.lost", style: { "background-color": colour.card, "border-width": 1.6, "border-color": colour.bad, "border-style": "dashed" } },
    { selector: "node.dim", style: { opacity: 0.22, "z-index": 0 } },
    { selector: "edge.dim", style: { opacity: 0.16, label: "", "z-index": 0 } },
    { selector: "node.lit", style: { "z-index": 8, color: colour.text } },
    ...Object.entries(tones).flatMap(([name, tone]) => [
      { selector: `node.lit.tone-${name}`, style: { width: 12, height: 12, "border-style": "solid", ...(name === "found" ? { "background-color": tone } : { "background-color": colour.card, "border-width": 2, "border-color": tone }) } },
      { selector: `edge.lit.tone-${name}`, style: { ...numbered(tone, colour.card, font, 3.2, 8), "line-style": name === "found" ? "solid" : "dashed", "line-dash-pattern": [6, 4] } },
    ]),
    { selector: "node.lit.question", style: { width: 17, height: 17, "background-color": colour.seed, "border-width": 0 } },
    { selector: "node.lit.answer", style: { width: 20, height: 20, "background-color": colour.good, "border-width": 0 } },
    { selector: "node.lit.lost", style: { "background-color": colour.card, "border-width": 1.6, "border-color": colour.bad, "border-style": "dashed" } },
  ];
}

function numbered(line, ink, font, width, z) {
  return {
    "line-color": line, width, "line-style": "solid", label: "data(step)", color: ink, "font-family": font, "font-size": 9, "font-weight": 700,
    "text-background-color": line, "text-background-opacity": 1, "text-background-padding": 3, "text-background-shape": "circle", "z-index": z,
  };
}

// ---------------------------------------------------------------- replay

class Replay {
  constructor(board) {
    this.board = board;
    this.memo = {};
    this.active = false;
    this.choice = el("select", "stories");
    this.choice.setAttribute("aria-label", "Story to replay");
    this.slider = el("input", "slider");
    Object.assign(this.slider, { type: "range", min: "0", step: "1", value: "0" });
    this.slider.setAttribute("aria-label", "Frame");
    this.title = el("span", "frame-title");
    this.kept = el("span", "frame-count");
    this.rows = el("ol", "rows");
    this.note = el("p", "quiet");
    this.off = button("tool off", "Clear", "Stop the replay", () => board.clear());
    this.listBox = el("div", "frame-list", this.rows, this.note);
    const bar = el("div", "replay-bar", el("b", "", "Replay"), this.choice,
      button("tool", "‹", "Previous frame", () => this.step(-1)), this.slider, button("tool", "›", "Next frame", () => this.step(1)),
      el("span", "frame-words", this.title, this.kept), this.off);
    this.element = el("section", "replay", bar, this.listBox);
    this.element.setAttribute("aria-label", "Replay");
    this.choice.addEventListener("change", () => this.start(0));
    this.slider.addEventListener("input", () => this.start(Number(this.slider.value)));
  }

  stories() {
    return list(this.board.payload.lanes).flatMap((lane) => list(lane.stories).filter((story) => list(story.frames).length)
      .map((story, index) => ({ id: `${lane.id}|${index}|${story.title}`, lane, story })));
  }

  current() {
    const stories = this.stories();
    return stories.find((entry) => entry.id === this.choice.value) ?? stories[0] ?? null;
  }

  frame() {
    const entry = this.active ? this.current() : null;
    if (!entry) return null;
    return { lane: entry.lane.id, paths: list(entry.story.frames[this.index(entry)]?.paths) };
  }

  index(entry) {
    return Math.min(Number(this.slider.value), entry.story.frames.length - 1);
  }

  update() {
    const stories = this.stories();
    setHidden(this.element, !stories.length);
    if (this.choice.value && !stories.some((entry) => entry.id === this.choice.value)) this.active = false;
    if (!stories.length) return void (this.active = false);
    reconcile(this.choice, stories, (entry) => entry.id, (entry) => Object.assign(el("option"), { value: entry.id }),
      (option, { lane, story }) => setText(option, `${lane.title} · ${story.title}`));
    this.draw();
  }

  draw() {
    const entry = this.current();
    if (!entry) return;
    const { story, lane } = entry;
    const last = String(story.frames.length - 1);
    if (this.slider.max !== last) this.slider.max = last;
    const frame = story.frames[this.index(entry)];
    const keys = list(frame.paths);
    const known = keys.filter((key) => this.board.path(key));
    const words = `${frame.title ?? ""} (${this.index(entry) + 1} of ${story.frames.length})`;
    const considered = frame.considered === null || frame.considered === undefined ? "" : ` of ${count(frame.considered)}`;
    setText(this.title, words);
    setText(this.kept, `${plural(keys.length, "path")} kept${considered}`);
    this.slider.setAttribute("aria-valuetext", `${words}, ${this.kept.textContent}`);
    setHidden(this.listBox, !this.active);
    setHidden(this.off, !this.active);
    reconcile(this.rows, known.map((key) => ({ key, lead: "", path: this.board.path(key), fate: this.board.fate(key, lane.id) })), (row) => row.key, makeRow, patchRow);
    const missing = keys.length - known.length;
    setText(this.note, missing ? `${plural(missing, "more path")} not drawn` : known.length ? "" : "No path was kept in this frame.");
    setHidden(this.note, !this.note.textContent);
  }

  start(index) {
    this.active = true;
    this.draw();
    this.slider.value = String(index);
    this.draw();
    this.board.pin = null;
    this.board.refresh();
  }

  step(by) {
    const last = Number(this.slider.max);
    this.start(Math.max(0, Math.min(last, Number(this.slider.value) + (this.active ? by : 0))));
  }

  stop() {
    this.active = false;
    this.draw();
  }
}

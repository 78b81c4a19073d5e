// What the last change did to the question: figures before and now, the picture of what is new and what was dropped, and the list of it.
//
// Data: {what, facts: [{label, before, now, tone}], picture: {nodes: [{id, name, x, y, role, turn}], edges: [{source, target, turn}]},
//        rows: [{text, before, now, turn, why, star}], more, counts: {turn: number}, both, noun,
//        over: {state: offer | running | done, text, fraction, rows: [{label, before, now, difference, tone, chance, n}], mine, failed, again} | null}

import { button, changed, el, starPoints, svg } from "../board/dom.js";
import { tr } from "../wording.js";

const ROW = 27; // pixels between two nodes of a column
const LETTER = 6.7; // pixels of a letter, roughly
const LINE = 14; // pixels between the middles of two names, at least
const TURNS = { stayed: tr("kept before and now"), came: tr("new"), went: tr("dropped"), passed: tr("kept by neither") };
const ALONE = { stayed: tr("kept"), passed: tr("not kept") }; // where there was no line before
const SIGNS = { stayed: "●", came: "+", went: "−", passed: "○" };

export class Change {
  constructor(bench) {
    this.bench = bench;
    this.memo = {};
    this.element = el("section", { class: "panel change", "aria-label": tr("What the change did") });
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(this.element);
  }

  update(data, more) {
    this.element.classList.toggle("pending", Boolean(more.running));
    if (!changed(this.memo, "data", [data, more])) return;
    this.data = data;
    this.element.replaceChildren(...(data ? this.drawn(data, more) : this.empty(more)));
    this.resize(true);
  }

  empty({ running, complete }) {
    const words = running ? tr("Running. The effect of this change appears here.") : complete
      ? tr("Press Run. After that, results appear here as you change steps.")
      : tr("Add steps. Results appear here as you build.");
    return [el("div", "panel-head", el("h3", "", el("b", "", tr("What the method does")))), el("p", "none", words)];
  }

  drawn(data, more) {
    const title = el("h3", "", el("b", "", data.both ? tr("What this change did") : tr("What the method does")));
    const head = el("div", "panel-head", title, el("span", "of", data.both ? data.what || tr("another method") : tr("this question")));
    if (data.both) head.append(this.hold(more.held));
    const parts = [head, this.facts(data.facts), data.over ? this.over(data.over) : null];
    this.picture = data.picture.nodes.length ? el("div", "picture") : null;
    const label = tr("What is new and what was dropped: picture and {noun}", { noun: data.noun });
    const body = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, this.picture, this.legend(data), this.rows(data));
    return [...parts, body].filter(Boolean);
  }

  hold(held) {
    const title = held ? tr("Compare each change with the version just before it") : tr("Compare all further changes with this earlier version");
    const text = held ? tr("end this comparison") : tr("compare with this version");
    return button({ class: "more", title, "aria-pressed": String(Boolean(held)) }, text, "", () => this.bench.edit({ do: "hold", on: !held }));
  }

  facts(facts) {
    const list = el("dl", "figures");
    for (const { label, before, now, tone } of facts) {
      const value = el("dd", tone, before === null || before === now ? "" : `${before} → `, el("b", "", now));
      list.append(el("div", "", el("dt", "", label), value));
    }
    return list;
  }

  // The same over more questions, in pairs: offered with its cost, at work with Cancel, then the differences.
  over({ state, text, fraction, rows, mine, failed, again }) {
    const offer = () => button("more", text, "", () => this.bench.edit({ do: "over" }));
    const box = el("div", { class: `over ${state}`, role: "group", "aria-label": tr("Over more questions") });
    if (state === "offer") return box.append(offer()), box;
    const head = el("p", "over-head", el("b", "", text));
    if (state === "running") {
      head.append(el("progress", { max: 1, value: fraction, "aria-label": text }));
      if (mine) head.append(button("more", tr("Cancel"), "", () => this.bench.edit({ do: "cancel-over" })));
    }
    if (again) head.append(button("more", tr("Try again"), "", () => this.bench.edit({ do: "over" })));
    const list = el("dl", "pairs");
    for (const { label, before, now, difference, tone, chance, n } of rows) {
      const value = el("dd", tone, before, " → ", el("b", "", now), el("span", "interval", tr(" {difference}, {n} pairs{chance}", { difference, n, chance: chance ? ` (${chance})` : "" })));
      list.append(el("div", "", el("dt", "", label), value));
    }
    box.append(head, list, failed ? el("p", "interval", tr("Some failed: {failed}", { failed })) : "");
    return box;
  }

  legend({ both, counts, noun }) {
    const words = both ? TURNS : ALONE;
    const list = el("ul", "legend");
    for (const [turn, said] of Object.entries(words)) {
      if (!counts[turn]) continue;
      list.append(el("li", "", el("i", { class: `sample ${turn}`, "aria-hidden": "true" }), `${counts[turn].toLocaleString("en")} ${said}`));
    }
    if (!list.children.length) list.append(el("li", "", tr("No {noun} yet.", { noun })));
    return list;
  }

  rows({ rows, more, both, noun }) {
    const list = el("ol", "turns");
    for (const row of rows) {
      const sign = el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[row.turn]);
      const place = both ? `${row.before ?? "–"} → ${row.now ?? "–"}` : `${row.now ?? "–"}`;
      const what = el("span", "what", row.star ? el("span", "star", "★ ") : null, row.text, el("span", "sr-only", `: ${(both ? TURNS : ALONE)[row.turn]}`));
      const item = el("li", row.turn, sign, what, el("span", "place", place));
      if (row.why) item.append(el("span", "why", row.why));
      list.append(item);
    }
    if (more) list.append(el("li", "passed", el("span", "rest", tr("and {more} more {noun}", { more: more.toLocaleString("en"), noun }))));
    return list;
  }

  // The picture is as wide as the panel.
  resize(force = false) {
    if (!this.picture || !this.data) return;
    const width = Math.round(this.picture.clientWidth);
    if (width && (changed(this.memo, "width", width) || force)) this.picture.replaceChildren(pictureOf(this.data.picture, width));
  }

  destroy() {
    this.watch.disconnect();
  }
}

// Nodes in columns by hops; a name is above its node, in the last column right of it, and as long as there is room.
function pictureOf({ nodes, edges }, width) {
  const columns = [...new Set(nodes.map((node) => node.x))].sort((one, other) => one - other);
  const most = Math.max(...columns.map((x) => nodes.filter((node) => node.x === x).length));
  const height = Math.max(92, most * ROW + 20);
  const last = Math.min(210, width * 0.34); // pixels for the names of the last column
  const across = (x) => 14 + x * (width - 14 - last);
  const down = (y) => 14 + y * (height - 24);
  const room = (x) => (x === columns.at(-1) ? last - 22 : (across(columns[columns.indexOf(x) + 1]) - across(x)) * 0.92 - 16);
  const places = new Map(nodes.map((node) => [node.id, { x: across(node.x), y: down(node.y), first: node.x === columns[0], last: node.x === columns.at(-1) }]));
  const order = ["passed", "went", "stayed", "came"];
  const lines = [...edges].sort((one, other) => order.indexOf(one.turn) - order.indexOf(other.turn)).map(({ source, target, turn }) => {
    const [from, to] = [places.get(source), places.get(target)];
    const bend = (to.x - from.x) / 2.6;
    const d = from.x === to.x ? `M${from.x} ${from.y} Q${from.x + 34} ${(from.y + to.y) / 2} ${to.x} ${to.y}` : `M${from.x} ${from.y} C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`;
    return svg("path", { d, class: `edge ${turn}` });
  });
  const marks = nodes.map((node) => mark(node, places.get(node.id)));
  const beside = nodes.filter((node) => node.x === columns[1]).map((node) => down(node.y));
  const free = (y) => beside.every((other) => Math.abs(other - y - 20) > LINE && Math.abs(other - 8 - y - 24) > LINE);
  const names = nodes.map((node) => named(node, places.get(node.id), room(node.x) + (node.x === columns[0] && free(down(node.y)) ? 90 : 0)));
  const label = tr("Picture of {nodes} nodes: what is new and what was dropped is in the list below", { nodes: nodes.length });
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...lines, ...marks, ...names);
}

function mark({ role, turn }, { x, y }) {
  if (role === "question") return svg("rect", { x: x - 6.5, y: y - 6.5, width: 13, height: 13, transform: `rotate(45 ${x} ${y})`, class: "seed" });
  if (role !== "answer") return svg("circle", { cx: x, cy: y, r: 4.6, class: `dot ${turn}` });
  return svg("polygon", { points: starPoints({ x, y }, 8.4), class: `known ${turn}` });
}

function named({ name, role, turn }, { x, y, first, last }, room) {
  const said = role === "answer" && turn === "came" ? tr(" (new)") : role === "answer" && turn === "went" ? tr(" (dropped)") : "";
  const letters = Math.max(4, Math.floor(room / LETTER) - said.length);
  const text = svg("text", first ? { x: Math.max(4, x - 10), y: y + 24, class: "first" } : last ? { x: x + 12, y: y + 4, class: `${role} ${turn}` } : { x: x + 3, y: y - 8, class: `${role} ${turn}` });
  text.append(svg("title", {}, name), name.length > letters ? `${name.slice(0, letters - 1)}…` : name, said);
  return text;
}

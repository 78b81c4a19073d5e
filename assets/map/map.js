// The map of a graph on a canvas. A worker draws it (drawing.js); while the hand moves, the picture drawn last is moved and scaled.
//
// data: layout and names (addresses of packed bytes), topics ([title, number, hue, size]), types, highlights ({ name, colour, nodes }), height, search,
// total ([nodes, edges] of the whole graph). A click on a node triggers "clicked" with its id. All names are set as text.

import { button, el, setHidden, setText } from "../board/dom.js";
import { component } from "../component.js";
import { nounOf, tr } from "../wording.js";
import { drawing } from "./drawing.js";

const REST = 120, QUICK = 45, MARGIN = 0.12, ZOOM = 1.5, MAX_ZOOM = 400, FOUND = 8, STEP = 60;
const HUES = {
  light: ["#98a3ad", "#3f7fb5", "#dd8a2c", "#3f9a6b", "#9a6bb5", "#c8524d", "#2c9aa0", "#a98512", "#c4609a", "#7d6654"],
  dark: ["#76828e", "#6aaae0", "#eda552", "#62bd8d", "#b892d6", "#e47c76", "#58bfc4", "#d0ad3c", "#e08cbd", "#b39a86"],
};

class GraphMap {
  constructor(root) {
    Object.assign(this, { root, waiting: new Map(), count: 0, hidden: new Set(), chosen: null, byType: false });
    const source = URL.createObjectURL(new Blob([`(${drawing})()`], { type: "text/javascript" }));
    this.worker = new Worker(source);
    this.worker.onmessage = ({ data }) => {
      this.waiting.get(data.number)?.(data.reply);
      this.waiting.delete(data.number);
    };
    URL.revokeObjectURL(source);
    this.build();
  }

  build() {
    this.element = el("div", "map");
    this.search = el("input", { class: "search", type: "search", placeholder: tr("Search by name"), autocomplete: "off", "aria-label": tr("Search the map by name") });
    this.found = el("div", "found");
    this.colour = button("tool", tr("Types"), tr("Colour by type instead of topic"), () => {
      this.byType = !this.byType;
      this.drawLegend();
      this.rest(0);
    });
    this.legend = el("div", "legend");
    const tools = el("div", "tools",
      button("tool", "+", tr("Zoom in"), () => this.zoom(ZOOM)), button("tool", "−", tr("Zoom out"), () => this.zoom(1 / ZOOM)),
      button("tool", tr("Whole"), tr("Show the whole map"), () => this.move(this.wholeView())), this.colour);
    this.canvas = el("canvas", { tabindex: 0, role: "application" });
    this.tip = el("div", "tip");
    this.stage = el("div", "stage", this.canvas, this.tip);
    this.status = el("p", "status");
    this.element.append(el("div", "bar", el("div", "finder", this.search, this.found), this.legend, tools), this.stage, this.status);
    this.root.append(this.element);
    for (const part of [this.tip, this.found]) setHidden(part, true);
    this.search.addEventListener("input", () => this.lookUp());
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.listen();
    (this.resized = new ResizeObserver(() => this.resize())).observe(this.stage);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.onchange = () => this.rest(300);  // Streamlit changes its colours a little later
  }

  ask(kind, request = {}, buffers = []) {
    this.worker.postMessage({ kind, number: ++this.count, ...request }, buffers);
    return new Promise((resolve) => this.waiting.set(this.count, resolve));
  }

  update(data, say) {
    Object.assign(this, { open: (id) => say("clicked", id), data });
    this.stage.style.height = `${data.height}px`;
    setHidden(this.search.parentElement, !data.search);
    setHidden(this.colour, data.types.length < 2);
    this.drawLegend();
    if (data.layout === this.layout) this.rest(0);
    else this.load(data);
  }

  async load({ layout, names }) {
    const bytes = async (path) => {
      const reply = await fetch(new URL(`../${path}`, import.meta.url));
      if (!reply.ok) throw new Error(reply.statusText);
      return reply.arrayBuffer();
    };
    Object.assign(this, { layout, chosen: null, named: false, view: null });
    try {
      const buffer = await bytes(layout);
      this.size = await this.ask("load", { buffer }, [buffer]);
      this.resize();
      const second = await bytes(names);
      await this.ask("names", { buffer: second }, [second]);
      this.named = true;
      this.rest(0);
    } catch {
      setText(this.status, tr("The map could not be loaded. Reload the page."));
    }
  }

  resize() {
    const [width, height] = [this.stage.clientWidth, this.stage.clientHeight];
    if (!width || !this.size) return;
    const ratio = globalThis.devicePixelRatio || 1, keeps = this.view && this.width === width;
    Object.assign(this.canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    Object.assign(this, { width, height, ratio });
    if (!keeps) this.view = this.wholeView();
    this.show();
    this.rest(0);
  }

  // The view that holds all nodes.
  wholeView() {
    const { width, height, size: { across: [left, right], down: [top, bottom] } } = this;
    const scale = 0.92 * Math.min(width, width / (right - left || 1), height / (bottom - top || 1));
    return { scale, x: (width - scale * (left + right)) / 2, y: (height - scale * (top + bottom)) / 2 };
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const { view } = this, scale = this.bounded(view.scale * factor), by = scale / view.scale;
    this.move({ scale, x: x - (x - view.x) * by, y: y - (y - view.y) * by });
  }

  bounded(scale) {
    return Math.min(this.width * MAX_ZOOM, Math.max(this.wholeView().scale / 2, scale));
  }

  move(view) {
    this.view = view;
    this.canvas.dataset.moving = "true";
    setHidden(this.tip, true);
    this.show();
    this.rest(this.picture && this.picture.ms < QUICK ? 0 : REST);
  }

  // Shows the picture drawn last where the view has moved it.
  show() {
    const { picture, view, canvas, ratio } = this, context = canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (!picture || !view) return;
    const by = view.scale / picture.view.scale, x = view.x - picture.view.x * by, y = view.y - picture.view.y * by;
    context.drawImage(picture.bitmap, x * ratio, y * ratio, picture.width * by * ratio, picture.height * by * ratio);
  }

  // Draws anew once nothing has moved for some milliseconds.
  rest(ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.draw(), ms);
  }

  async draw() {
    this.wanted = Boolean(this.view);
    if (this.busy) return;
    this.busy = true;
    while (this.wanted) {
      this.wanted = false;
      const { view } = this, [side, top] = [Math.round(this.width * MARGIN), Math.round(this.height * MARGIN)];
      const marks = this.data.highlights.filter(({ name }) => !this.hidden.has(name)).sort((a, b) => b.nodes.length - a.nodes.length);
      const picture = await this.ask("draw", {
        view: { ...view, x: view.x + side, y: view.y + top }, width: this.width + 2 * side, height: this.height + 2 * top, ratio: this.ratio,
        theme: this.theme(), byType: this.byType, marks, chosen: this.chosen, titles: this.data.topics.map(([title, number]) => [title, number]),
      });
      this.picture?.bitmap.close();
      this.picture = picture;
      this.show();
      this.tell(picture, view);
    }
    this.busy = false;
  }

  tell({ nodes, edges, names, seen, ms }, view) {
    const { canvas, data, size } = this;
    Object.assign(canvas.dataset, { ...view, nodes, edges, names, named: Boolean(this.named), ms: Math.round(ms), moving: view !== this.view });
    const [n, m] = data.total, sentences = [];
    if (size.n < n) sentences.push(tr("The {drawn} best connected of {all} entities.", { drawn: size.n.toLocaleString(), all: n.toLocaleString() }));
    if (edges < seen) sentences.push(tr("{drawn} of {all} links are drawn; zoom in for more.", { drawn: edges.toLocaleString(), all: seen.toLocaleString() }));
    sentences.push(this.byType ? tr("Colours are types.") : tr("Colours are topics."), tr("Click an entity to open it."));
    setText(this.status, sentences.join(" "));
    canvas.setAttribute("aria-label", tr("Map of {n} {entities} and {m} {links}. Arrow keys move it, plus and minus zoom, 0 shows all of it.", {
      n: n.toLocaleString(), entities: nounOf(n, "entity", "entities"), m: m.toLocaleString(), links: nounOf(m, "relation"),
    }));
  }

  theme() {
    const { color: text, fontFamily: font } = getComputedStyle(this.element), paper = getComputedStyle(this.stage).backgroundColor;
    const [red, green, blue] = paper.match(/[\d.]+/g).map(Number), dark = 0.21 * red + 0.72 * green + 0.07 * blue < 110;
    return { hues: HUES[dark ? "dark" : "light"], edge: dark ? "#8794a1" : "#7f8b97", text, paper, font };
  }

  // The marked sets as switches, else the colours of types.
  drawLegend() {
    const { hues } = this.theme(), sets = this.data.highlights.map(({ name, colour, nodes }) => {
      const item = button("set", "", "", () => {
        this.hidden[this.hidden.has(name) ? "delete" : "add"](name);
        this.drawLegend();
        this.rest(0);
      });
      item.append(swatch(colour), `${name} (${nodes.length.toLocaleString()})`);
      item.setAttribute("aria-pressed", String(!this.hidden.has(name)));
      return item;
    });
    const types = this.byType ? this.data.types.map((name, number) => el("span", "type", swatch(hues[number + 1]), name)) : [];
    this.legend.replaceChildren(...sets, ...types);
    setText(this.colour, this.byType ? tr("Topics") : tr("Types"));
  }

  async lookUp() {
    const text = this.search.value.trim();
    if (!text) return setHidden(this.found, true);
    const nodes = await this.ask("find", { text, count: FOUND });
    if (text !== this.search.value.trim()) return;
    this.found.replaceChildren(...nodes.map((node) => button("hit", node.name, "", () => this.choose(node))));
    if (!nodes.length) this.found.append(el("p", "none", this.named ? tr("No name on the map contains this.") : tr("Names are loading.")));
    setHidden(this.found, false);
  }

  // Marks a node and opens it; one that was found by name comes to the middle.
  choose(node, scale = Math.max(this.view.scale, this.wholeView().scale * 2)) {
    this.chosen = node.number;
    if (scale) this.move({ scale, x: this.width / 2 - node.x * scale, y: this.height / 2 - node.y * scale });
    else this.rest(0);
    setHidden(this.found, true);
    this.open(node.id);
  }

  listen() {
    const { canvas } = this, hands = new Map();  // fingers or the mouse, where they are
    const at = ({ clientX, clientY }) => {
      const box = canvas.getBoundingClientRect();
      return [clientX - box.left, clientY - box.top];
    };
    // Middle of the hands, and how far they are from each other.
    const grip = () => {
      const [[x, y], [other, down] = [x, y]] = [...hands.values()];
      return [(x + other) / 2, (y + down) / 2, Math.hypot(x - other, y - down) || 1];
    };
    let start = null, asked = false;
    const hold = () => (start = hands.size ? { ...start, grip: grip(), view: this.view } : null);
    const on = (kind, act) => canvas.addEventListener(kind, (event) => this.view && act(event), { passive: false });
    on("pointerdown", (event) => {
      hands.set(event.pointerId, at(event));
      canvas.setPointerCapture(event.pointerId);
      hold();
    });
    on("pointermove", async (event) => {
      if (hands.has(event.pointerId)) {
        hands.set(event.pointerId, at(event));
        const [x, y, wide] = grip(), [x0, y0, wide0] = start.grip;
        start.moved ||= hands.size > 1 || Math.hypot(x - x0, y - y0) > 4;
        if (!start.moved) return;
        const scale = this.bounded((start.view.scale * wide) / wide0), by = scale / start.view.scale;
        this.move({ scale, x: x - (x0 - start.view.x) * by, y: y - (y0 - start.view.y) * by });
      } else if (!asked) {
        asked = true;
        const [x, y] = at(event), node = await this.ask("at", { x, y, view: this.view });
        asked = false;
        this.hint(node, x, y);
      }
    });
    const end = async (event) => {
      const clicked = start && !start.moved && event.type === "pointerup";
      hands.delete(event.pointerId);
      hold();
      if (!clicked) return;
      const [x, y] = at(event), node = await this.ask("at", { x, y, view: this.view });
      if (node) this.choose(node, 0);
    };
    for (const kind of ["pointerup", "pointercancel"]) on(kind, end);
    on("pointerleave", () => setHidden(this.tip, true));
    on("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-Math.sign(event.deltaY) * Math.min(0.4, Math.abs(event.deltaY) / 300)), ...at(event));
    });
    on("keydown", (event) => {
      const { view } = this, ways = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in ways) this.move({ ...view, x: view.x + ways[event.key][0], y: view.y + ways[event.key][1] });
      else if (event.key === "+" || event.key === "=") this.zoom(ZOOM);
      else if (event.key === "-") this.zoom(1 / ZOOM);
      else if (event.key === "0") this.move(this.wholeView());
      else return;
      event.preventDefault();
    });
  }

  hint(node, x, y) {
    setHidden(this.tip, !node);
    this.canvas.style.cursor = node ? "pointer" : "";
    if (!node) return;
    setText(this.tip, `${node.name} · ${node.degree.toLocaleString()} ${nounOf(node.degree, "relation")}`);
    Object.assign(this.tip.style, { left: `${Math.min(x + 12, this.width - this.tip.offsetWidth - 4)}px`, top: `${Math.min(y + 14, this.height - 30)}px` });
  }

  // Arrow keys in the list of found names; Escape closes it.
  key(event) {
    if (this.found.hidden || !this.found.parentElement.contains(event.target)) return;
    const hits = [...this.found.querySelectorAll(".hit")], index = hits.indexOf(event.target);
    if (event.key === "ArrowDown") hits[Math.min(hits.length - 1, index + 1)]?.focus();
    else if (event.key === "ArrowUp") (index > 0 ? hits[index - 1] : this.search).focus();
    else if (event.key === "Enter" && event.target === this.search) hits[0]?.click();
    else if (event.key === "Escape") setHidden(this.found, true);
    else return;
    event.preventDefault();
  }

  destroy() {
    this.worker.terminate();
    this.resized.disconnect();
    this.dark.onchange = null;
  }
}

const swatch = (colour) => el("i", { class: "swatch", style: `background: ${colour}` });

export default component(GraphMap);

// The chooser of methods: facets and a search box beside a list of two-line rows; a click or Enter chooses.
//
// data: { current, facets: [{ name, title, values: [[id, label]] }], taken: { name: id }, rows: [{ id, name, label, number, sentence, line, paper,
// seconds, needs, elsewhere, changes, pick, facets: { name: [id] } }] }, picks first. Every name is set as text.

import { button, el } from "../board/dom.js";
import { component } from "../component.js";
import { tr } from "../wording.js";

const PLACES = ["label", "number", "name", "sentence", "line", "paper"]; // where a word may stand, the best place first

// How far a row is from the typed words: 0 for its name itself, more the later they stand, Infinity where one is missing.
function distance(entry, words) {
  const texts = PLACES.map((place) => ` ${entry[place]} `.toLowerCase());
  const typed = ` ${words.join(" ")}`;
  if ([` ${entry.id} `, ...texts.slice(0, 3)].includes(`${typed} `)) return 0;
  if (words.length && texts.slice(0, 2).some((text) => text.startsWith(typed))) return 0.5;
  const far = (word) => Math.min(...texts.map((text, place) => (text.includes(word) ? 2 * place + (text.includes(` ${word}`) ? 1 : 2) : Infinity)));
  return words.reduce((sum, word) => sum + far(word), 0);
}

function row(entry, current, choose) {
  const title = [entry.sentence, entry.line, entry.needs].filter(Boolean).join("\n");
  const lacks = entry.elsewhere || (entry.needs && tr("not installed"));
  const look = { class: entry.changes ? "row change" : "row", "data-id": entry.id, "aria-current": entry.id === current ? "true" : null, title };
  const drawn = button(look, "", "", () => choose(entry.id));
  drawn.disabled = Boolean(entry.elsewhere);
  const state = el("span", lacks ? "needs" : "seconds", lacks || entry.seconds);
  drawn.append(el("span", "head", el("b", "", entry.label), el("span", "number", entry.number), state), el("span", "sentence", `${entry.name} · ${entry.sentence}`));
  return drawn;
}

class Chooser {
  constructor(root) {
    this.root = root;
    const placeholder = tr("Search: beam, PageRank, No. 12, language model …");
    this.search = el("input", { class: "search", type: "search", "aria-label": tr("Search methods"), autocomplete: "off", placeholder });
    this.facets = el("div", "facets");
    this.list = el("div", "list");
    this.element = el("div", "chooser", this.facets, el("div", "found", this.search, this.list));
    root.append(this.element);
    this.search.addEventListener("input", () => this.draw());
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  update(data, say) {
    const told = JSON.stringify(data);
    this.choose = (id) => say("choose", id);
    this.taken ??= { ...data.taken }; // the chosen value of each facet
    if (told === this.told) return;
    Object.assign(this, { told, current: data.current, entries: data.rows ?? [], names: data.facets ?? [] });
    this.draw();
    this.list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    this.search.focus({ preventScroll: true });
  }

  draw() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = this.entries.map((entry) => ({ entry, far: distance(entry, words) })).filter(({ far }) => far < Infinity);
    const fits = (entry, but) => this.names.every(({ name }) => name === but || !this.taken[name] || entry.facets[name].includes(this.taken[name]));
    const pressed = this.root.activeElement?.dataset?.facet; // the focus stays on what is drawn anew
    this.facets.replaceChildren(...this.names.map((facet) => this.facet(facet, matches.filter(({ entry }) => fits(entry, facet.name)))));
    if (pressed) this.facets.querySelector(`[data-facet="${CSS.escape(pressed)}"]`)?.focus();
    const found = matches.filter(({ entry }) => fits(entry)).sort((one, other) => Boolean(one.entry.elsewhere) - Boolean(other.entry.elsewhere) || one.far - other.far).map(({ entry }) => entry);
    const drawn = found.map((entry) => row(entry, this.current, (id) => this.choose(id)));
    const picks = found.filter(({ pick }) => pick).length;
    if (!words.length && picks < found.length) drawn.splice(picks, 0, el("h3", "", tr("More methods")));
    if (!words.length && picks) drawn.unshift(el("h3", "", tr("Hopscope's picks")));
    this.list.replaceChildren(...(drawn.length ? drawn : [el("p", "none", tr("No method matches all of this."))]));
    this.list.className = words.length ? "list ranked" : "list";
    this.list.scrollTop = 0;
  }

  facet({ name, title, values }, matches) {
    const choices = values.map(([id, label]) => {
      const look = { class: "value", "data-facet": `${name}-${id}`, "aria-pressed": String(this.taken[name] === id) };
      const value = button(look, label, "", () => ((this.taken[name] = this.taken[name] === id ? "" : id), this.draw()));
      value.append(el("span", "count", String(matches.filter(({ entry }) => entry.facets[name].includes(id)).length)));
      return value;
    });
    return el("div", { class: "facet", role: "group", "aria-label": title }, el("h3", "", title), ...choices);
  }

  key(event) {
    const rows = [...this.list.querySelectorAll(".row:enabled")];
    const at = rows.indexOf(this.root.activeElement ?? document.activeElement);
    if (event.key === "ArrowDown") rows[Math.min(rows.length - 1, at + 1)]?.focus();
    else if (event.key === "ArrowUp") (at > 0 ? rows[at - 1] : this.search).focus();
    else if (event.key === "Enter" && event.target === this.search && rows.length) this.choose(rows[0].dataset.id);
    else return at >= 0 && event.key.trim().length === 1 && !event.ctrlKey && !event.metaKey && this.search.focus(); // typing on searches on
    event.preventDefault();
  }

  destroy() {
    this.element.remove();
  }
}

export default component(Chooser);

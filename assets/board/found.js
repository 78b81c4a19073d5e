// What a lane found, by kind: its paths, then its hits, each kind under a tab of its own where there are several.

import { sameFate } from "./agree.js";
import { button, el, reconcile, setAttribute, setHidden, setText } from "./dom.js";
import { Hits } from "./hits.js";
import { rowList } from "./paths.js";
import { Points } from "./points.js";
import { count, list, score } from "./words.js";
import { nouns, tr } from "../wording.js";

const NAMES = { path: tr("paths"), passage: tr("passages"), entity: tr("entities"), summary: tr("summaries"), relation: tr("relations"), report: tr("reports") };

export class Found {
  constructor(board, lane) {
    this.board = board;
    this.lane = lane;
    this.tabs = el("div", { class: "hit-tabs", role: "tablist" });
    this.best = rowList("ol", 5, nouns("path"), (path) => board.options.onGo?.({ path, to: "without" }));
    this.note = el("p", "quiet");
    this.lostTitle = el("h4", "", tr("Correct answers lost here"));
    this.lost = rowList("ul", 3, nouns("lost answer"));
    this.paths = el("section", { class: "paths", "aria-label": tr("Paths") }, this.best.element, this.note, this.lostTitle, this.lost.element);
    this.hits = new Hits(board, (kind) => this.open(kind));
    this.points = new Points((key) => this.hits.point({ key }));
    this.element = el("div", "found", this.points.element, lane.replay.list, this.tabs, this.paths, this.hits.element);
    this.element.addEventListener("scroll", () => this.fade(), { passive: true });
  }

  // A list that goes on below its box, as in a room, says how much of it does.
  fade() {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    const bottom = this.element.getBoundingClientRect().bottom;
    const below = [...this.element.querySelectorAll("li")].filter((row) => row.checkVisibility() && row.getBoundingClientRect().bottom > bottom + 2).length;
    this.element.classList.toggle("goes-on", scrollHeight - scrollTop > clientHeight + 2 && below > 0);
    this.tabs.dataset.below = tr("{count} more below", { count: count(below) });
  }

  // Of a lane that failed only what was noted before it did, and on what.
  update(data, failed) {
    this.data = data;
    this.points.update(data.points);
    setHidden(this.element, failed && !data.points);
    const nothing = this.lane.graphless ? tr("No hits: this method reads no documents.") : tr("It found nothing.");
    const empty = failed || this.lane.retrieved ? nothing : this.lane.notYet("hits");
    this.hits.update(data.hits, empty, data.influence?.items);
    this.updatePaths();
    const kinds = [...(failed || data.paths === null ? [] : ["path"]), ...this.hits.kinds];
    const sizes = new Map([["path", list(data.paths).length], ...list(data.hits).map(({ kind, rows, more }) => [kind, list(rows).length + (more ?? 0)])]);
    reconcile(this.tabs, kinds, (kind) => kind, (kind) => this.tab(kind), (tab, kind) => {
      setText(tab.firstChild, NAMES[kind] ?? kind);
      setText(tab.lastChild, count(kind === "path" ? data.found?.kept ?? sizes.get(kind) : sizes.get(kind)));
    });
    this.single = kinds.length < 2 && !this.hits.kinds.length;
    this.open(kinds.includes(this.kind) ? this.kind : kinds.find((kind) => sizes.get(kind)) ?? kinds[0]);
  }

  tab(kind) {
    const tab = button({ class: "hit-tab", role: "tab" }, "", "", () => this.open(kind));
    tab.append(el("span", ""), " ", el("b", ""));
    return tab;
  }

  open(kind) {
    this.kind = kind;
    for (const [one, tab] of this.tabs.itemsByKey ?? []) setAttribute(tab, "aria-selected", String(one === kind));
    if (kind !== "path") this.hits.show(kind);
    this.fold();
  }

  // While the story plays its paths stand in the place of what was found.
  fold() {
    const { playing } = this.lane.replay;
    setHidden(this.tabs, playing || this.single);
    setHidden(this.paths, playing || this.kind !== "path");
    setHidden(this.hits.element, playing || this.kind === "path");
  }

  updatePaths() {
    const { paths, lost, id, found, influence } = this.data;
    const row = (key) => ({ key, path: this.board.path(key), fate: this.board.fate(key, id), weight: influence?.items?.[key] ?? null });
    const rows = list(paths).map((entry) => {
      const one = row(entry.key);
      return { ...one, lead: score(entry.score), fate: one.fate ?? { fate: "found", text: tr("rank {rank}", { rank: entry.rank }) }, same: sameFate(this.board, entry.key) };
    });
    this.best.show(rows, found);
    setHidden(this.note, rows.length > 0);
    setText(this.note, this.pathsNote());
    const lostRows = list(lost).map((entry) => {
      const one = row(entry.key);
      return { ...one, lead: "", name: entry.answer, fate: one.fate ?? { fate: "never", text: tr("not in this method's paths") } };
    });
    this.lost.show(lostRows);
    setHidden(this.lostTitle, !lostRows.length);
  }

  pathsNote() {
    if (!this.lane.retrieved) return this.lane.notYet("paths");
    return this.lane.graphless ? tr("No paths: this method reads no graph.") : tr("No path was found.");
  }
}

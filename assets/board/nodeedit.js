// Renaming a node and merging it into another, from its panel: a name is typed, or the other node is clicked in a picture.

import { button, el } from "./dom.js";
import { list } from "./words.js";
import { tr } from "../wording.js";

const LISTED = 200; // names that an input completes

// The part of a panel that edits a node; `send(node, change)` is told `{to, name}` or `{to, other}`, and `resized(open)` that the form is
// there or not.
export class NodeEdit {
  constructor(board, send, resized) {
    Object.assign(this, { board, send, resized, merging: null });
    this.form = el("form", { class: "panel-edit", hidden: true });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const name = this.input.value.trim();
      if (name) this.send(this.node, { to: this.to, name });
    });
  }

  // The buttons that open the form.
  buttons(node, ways) {
    this.close();
    this.node = node;
    const offered = { rename: tr("Rename"), merge: tr("Merge into…") };
    return Object.keys(offered).filter((way) => ways.includes(way)).map((way) => button("way", offered[way], "", () => this.open(way)));
  }

  open(to) {
    const merge = to === "merge";
    this.to = to;
    this.merging = merge ? this.node : null;
    const names = merge ? this.names() : null;
    const label = merge ? tr("Name of the node that it is merged into") : tr("New name");
    this.input = el("input", { class: "panel-input", value: merge ? "" : this.node.name, maxlength: 200, "aria-label": label, list: names?.id });
    const text = merge ? tr("Click the node that it is merged into, or type its name. Its edges go there.") : tr("Its new name, in this comparison alone.");
    const submit = button({ class: "way", type: "submit" }, merge ? tr("Merge") : tr("Rename"), "", null);
    this.form.replaceChildren(el("p", "quiet", text), this.input, names ?? "", el("div", "panel-ways", submit, button("way", tr("Cancel"), "", () => this.close())));
    this.form.hidden = false;
    this.resized(true);
    this.input.focus({ preventScroll: true });
    this.input.select();
  }

  names() {
    const names = [...new Set(list(this.board.payload.layout?.nodes).map((node) => node.name))].filter((name) => name !== this.node.name);
    return el("datalist", { id: "panel-names" }, ...names.slice(0, LISTED).map((name) => el("option", { value: name })));
  }

  // Whether a click on `other` was meant as the node that the open one is merged into.
  take(other) {
    const from = this.merging;
    if (!from || other.id === from.id) return false;
    this.send(from, { to: "merge", other: other.id });
    return true;
  }

  close() {
    const open = !this.form.hidden;
    this.merging = null;
    this.form.hidden = true;
    if (open) this.resized(false);
  }
}

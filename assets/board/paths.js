// Lists of paths: one row each, with the path's fate.

import { button, changed, el, reconcile, setHidden, setText } from "./dom.js";
import { foldRows } from "./folding.js";
import { weightBar } from "./influence.js";
import { count, list, plural, scoreSign } from "./words.js";
import { tr } from "../wording.js";

function pathSteps(path) {
  const parts = [];
  list(path?.steps).forEach((step, index) => {
    if (index) parts.push(" ");
    if (index % 2 === 0) return parts.push(el("b", "", step));
    const words = list(path.words)[(index - 1) / 2];
    const backward = list(path.forward)[(index - 1) / 2] === false;
    const relation = words === undefined ? el("span", "relation", ...breakable(step), backward ? " ←" : null) : el("span", "relation", words);
    if (words !== undefined && words !== step) relation.title = step;
    parts.push(relation);
  });
  return parts;
}

// A dotted name, people.person.place_of_birth, breaks after its dots and strokes rather than inside a word.
function breakable(name) {
  return String(name).split(/(?<=[._/])(?=[^._/])/).flatMap((part, index) => (index ? [document.createElement("wbr"), part] : [part]));
}

export function makeRow() {
  const row = button("row");
  row.append(scoreSign(null), el("span", "steps"), el("span", "row-foot", el("span", "row-fate"), el("span", "row-weight")));
  row.memo = {};
  return el("li", "", row);
}

export function patchRow(item, { key, lead, path, fate, name, weight = null, same = false }) {
  const row = item.firstChild;
  if (!changed(row.memo, "row", [key, lead, path, fate, name, weight, same])) return;
  row.classList.toggle("same", same);
  const [leadPart, steps, foot] = row.children;
  const [fatePart, weightPart] = foot.children;
  if (key && path) row.dataset.path = key;
  else delete row.dataset.path;
  row.setAttribute("aria-pressed", "false");
  setText(leadPart, lead);
  steps.replaceChildren(...(path ? pathSteps(path) : [el("b", "", name ?? key ?? "")]));
  setText(fatePart, fate?.text);
  weightPart.replaceChildren(...[weightBar(weight)].filter(Boolean));
  row.dataset.fate = fate?.fate ?? "";
}

// A list of rows that shows the first few until asked for all; a pinned one has a button that calls `onWithout` with its key.
export function rowList(tag, few, noun, onWithout = null) {
  const rows = el(tag, "rows");
  let open = false;
  let size = 0;
  let whole = {};
  const more = button("more", "", "", () => {
    open = !open;
    fold();
  });
  const fold = () => {
    const kept = whole.kept > size ? tr("{size} of {noun}", { size: count(size), noun: plural(whole.kept, noun) }) : tr("all {noun}", { noun: plural(size, noun) });
    const all = whole.ranked > (whole.kept ?? size) ? tr("{kept} kept of {ranked}", { kept, ranked: count(whole.ranked) }) : kept;
    foldRows(rows, more, open, few, () => tr("Show {all}", { all }));
  };
  const make = () => {
    const item = makeRow();
    if (onWithout) item.append(button("way row-without", tr("Remove this path and ask again"), "", () => onWithout(item.firstChild.dataset.path)));
    return item;
  };
  const element = el("div", "row-list", rows, more);
  // `total` says of how many these are the first: those that were kept, and those that were ranked before.
  const show = (items, total = null) => {
    size = items.length;
    whole = total ?? {};
    setHidden(element, !size);
    reconcile(rows, items, (item, index) => item.key ?? `none-${index}`, make, patchRow);
    fold();
  };
  return { element, show };
}

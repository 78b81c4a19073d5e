// A row of bricks with a slot before, between and behind them; a brick that holds rows is a frame around them.

import { button, el, svg } from "../board/dom.js";
import { tr } from "../wording.js";

export function rowOf(bench, bricks, prefix, extra = []) {
  const last = slot(bench, `${prefix}${bricks.length}`);
  if (!bricks.length) return [last];
  const found = [];
  for (const [at, brick] of bricks.entries()) {
    for (const one of extra) if (one.at === at) found.push(cell(el("div", "slot"), added(one)));
    found.push(cell(slot(bench, `${prefix}${at}`), brickOf(bench, brick, prefix ? "" : `${at + 1} · `)));
  }
  for (const one of extra) if (one.at >= bricks.length) found.push(cell(el("div", "slot"), added(one)));
  found.at(-1).append(last);
  return found;
}

// A slot and the brick behind it, which share a line of the screen.
function cell(...parts) {
  const made = el("div", parts[1].widest ? "cell wide" : "cell", ...parts);
  if (parts[1].widest) made.style.setProperty("--widest", parts[1].widest);
  made.setAttribute("role", "presentation");
  return made;
}

function slot(bench, name) {
  const where = bench.data.slots[name] ?? "";
  const open = button("slot-button", "+", tr("Add a step {where}", { where }), () => bench.choose({ slot: name }, "palette"));
  open.dataset.stop = `slot ${name}`;
  const chosen = bench.data.chosen?.slot === name;
  if (chosen) open.setAttribute("aria-current", "true");
  const item = el("div", chosen ? "slot chosen" : "slot", open);
  if (name === "0" && !bench.data.bricks.length) item.append(el("span", "hint", bench.data.start));
  item.setAttribute("role", "listitem");
  item.dataset.slot = name;
  return item;
}

function brickOf(bench, brick, number) {
  const chosen = bench.data.chosen?.key === brick.key;
  const classes = ["brick", brick.stage, chosen && "chosen", brick.fault && "lacking", brick.arms.length && "holder"].filter(Boolean).join(" ");
  const open = button("open", "", "", () => bench.choose({ key: brick.key }));
  open.dataset.stop = `brick ${brick.key}`;
  if (chosen) open.setAttribute("aria-current", "true");
  open.setAttribute("aria-label", labelOf(brick));
  const tool = (name, sign, words, edit) => {
    const made = button(`mini ${name}`, sign, words, () => bench.edit(edit, true));
    made.tabIndex = chosen ? 0 : -1;
    return made;
  };
  const grip = el("span", "grip", "⠿");
  grip.setAttribute("aria-hidden", "true");
  const item = el(
    "div",
    classes,
    open,
    el("div", "head", el("span", "stage", `${number}${brick.stage_words}`), el("span", "minis",
      tool("copy", icon(), tr("Copy {title}", { title: brick.title }), { do: "duplicate", key: brick.key }),
      tool("remove", "×", tr("Remove {title}", { title: brick.title }), { do: "remove", key: brick.key }), grip)),
    el("p", "name", brick.title),
    brick.given.length ? given(brick.given) : el("p", "given", brick.words),
    brick.arms.length ? arms(bench, brick) : null,
    brick.fault ? el("p", "fault", brick.fault) : null,
    brick.outcome ? outcome(brick.outcome) : null,
  );
  item.dataset.brick = String(brick.key);
  item.widest = brick.arms.length && Math.max(1, ...brick.arms.map((arm) => arm.bricks.length)); // bricks in its longest row
  item.setAttribute("role", "listitem");
  return item;
}

// Two sheets, one behind the other.
function icon() {
  const sheets = ["M5.5 5.5h8v8h-8z", "M10.5 5.5v-3h-8v8h3"].map((d) => svg("path", { d }));
  return svg("svg", { viewBox: "0 0 16 16", width: 13, height: 13, fill: "none", stroke: "currentColor", "aria-hidden": "true" }, ...sheets);
}

function labelOf(brick) {
  const said = brick.given.map(([label, value]) => `${label} ${value}`.trim());
  const out = brick.outcome ? [brick.outcome.counts, brick.outcome.alive_words, brick.outcome.lost].filter(Boolean) : [];
  return [brick.title, brick.stage_words, ...said, brick.fault, ...out].filter(Boolean).join(", ");
}

function given(pairs) {
  const line = el("p", "given");
  for (const [at, [label, value]] of pairs.entries()) {
    if (at) line.append(" · ");
    if (label) line.append(`${label.toLowerCase()} `, el("b", "", value));
    else line.append(value);
  }
  return line;
}

function arms(bench, brick) {
  const box = el("div", "arms");
  for (const arm of brick.arms) {
    const row = el("div", "row", ...rowOf(bench, arm.bricks, `${brick.key}.${arm.name}.`));
    row.setAttribute("role", "list");
    row.setAttribute("aria-label", `${brick.title}: ${arm.label}`);
    box.append(el("div", "arm", el("span", "arm-label", arm.label), row));
  }
  return box;
}

function outcome(out) {
  if (out.running) return el("div", "outcome", el("p", "counts running", out.running));
  if (out.waits && out.counts === undefined) return el("div", "outcome", el("p", "waits", out.waits));
  if (out.error) return el("div", "outcome", el("p", "lost", out.error));
  const bar = out.alive === null ? null : el("span", "bar", el("i", ""));
  if (bar) {
    bar.firstChild.style.width = `${(100 * out.alive) / Math.max(1, out.of)}%`;
    bar.className = `bar ${out.alive === out.of ? "good" : out.alive ? "warn" : "bad"}`;
  }
  const lost = out.lost ? `${out.lost}${out.lost_more ? tr(", and {lost_more} more lost", { lost_more: out.lost_more }) : ""}` : "";
  const made = el(
    "div",
    "outcome",
    out.answer ? el("p", "answer", out.answer) : null,
    el("p", "counts", [out.counts, out.cost].filter(Boolean).join(" · ")),
    bar,
    out.alive_words ? el("p", "alive", out.alive_words) : null,
    lost ? el("p", "lost", lost) : null,
    out.waits ? el("p", "waits", out.waits) : null,
  );
  if (out.notes?.length) made.title = out.notes.join("\n");
  return made;
}

// A step of the run that is no brick of the line: the reader that answers where no language model is asked.
function added(one) {
  const item = el("div", "brick added read", el("div", "head", el("span", "stage", tr("Answers without a language model"))), el("p", "name", one.title), outcome(one.outcome));
  item.setAttribute("role", "listitem");
  return item;
}

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
  const [, { widest }] = parts;
  return el("div", { class: widest ? "cell wide" : "cell", style: widest && `--widest: ${widest}`, role: "presentation" }, ...parts);
}

function slot(bench, name) {
  const where = bench.data.slots[name] ?? "";
  const chosen = bench.data.chosen?.slot === name;
  const look = { class: "slot-button", "data-stop": `slot ${name}`, "aria-current": chosen ? "true" : null };
  const open = button(look, "+", tr("Add a step {where}", { where }), () => bench.choose({ slot: name }, "palette"));
  const hint = name === "0" && !bench.data.bricks.length ? el("span", "hint", bench.data.start) : null;
  return el("div", { class: chosen ? "slot chosen" : "slot", role: "listitem", "data-slot": name }, open, hint);
}

function brickOf(bench, brick, number) {
  const chosen = bench.data.chosen?.key === brick.key;
  const classes = ["brick", brick.stage, chosen && "chosen", brick.fault && "lacking", brick.arms.length && "holder"].filter(Boolean).join(" ");
  const look = { class: "open", "data-stop": `brick ${brick.key}`, "aria-current": chosen ? "true" : null, "aria-label": labelOf(brick) };
  const open = button(look, "", "", () => bench.choose({ key: brick.key }));
  const tool = (name, sign, words, edit) => {
    return button({ class: `mini ${name}`, tabindex: chosen ? 0 : -1 }, sign, words, () => bench.edit(edit, true));
  };
  const grip = el("span", { class: "grip", "aria-hidden": "true" }, "⠿");
  const item = el(
    "div", { class: classes, role: "listitem", "data-brick": String(brick.key) },
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
  item.widest = brick.arms.length && Math.max(1, ...brick.arms.map((arm) => arm.bricks.length)); // bricks in its longest row
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
    const row = el("div", { class: "row", role: "list", "aria-label": `${brick.title}: ${arm.label}` }, ...rowOf(bench, arm.bricks, `${brick.key}.${arm.name}.`));
    box.append(el("div", "arm", el("span", "arm-label", arm.label), row));
  }
  return box;
}

function outcome(out) {
  if (out.running) return el("div", "outcome", el("p", "counts running", out.running));
  if (out.waits && out.counts === undefined) return el("div", "outcome", el("p", "waits", out.waits));
  if (out.error) return el("div", "outcome", el("p", "lost", out.error));
  const tone = out.alive === out.of ? "good" : out.alive ? "warn" : "bad";
  const bar = out.alive === null ? null : el("span", `bar ${tone}`, el("i", { style: `width: ${(100 * out.alive) / Math.max(1, out.of)}%` }));
  const lost = out.lost ? `${out.lost}${out.lost_more ? tr(", and {lost_more} more lost", { lost_more: out.lost_more }) : ""}` : "";
  return el(
    "div",
    { class: "outcome", title: out.notes?.join("\n") },
    out.answer ? el("p", "answer", out.answer) : null,
    el("p", "counts", [out.counts, out.cost].filter(Boolean).join(" · ")),
    bar,
    out.alive_words ? el("p", "alive", out.alive_words) : null,
    lost ? el("p", "lost", lost) : null,
    out.waits ? el("p", "waits", out.waits) : null,
  );
}

// A step of the run that is no brick of the line: the reader that answers where no language model is asked.
function added(one) {
  const head = el("div", "head", el("span", "stage", tr("Answers without a language model")));
  return el("div", { class: "brick added read", role: "listitem" }, head, el("p", "name", one.title), outcome(one.outcome));
}

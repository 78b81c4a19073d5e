// The foot of a lane: its operators, its prompt and its thought, folded away.

import { button, el, setText } from "./dom.js";
import { count, list, plural, seconds, sized } from "./words.js";

// A part folded away, whose content is made when it is first opened.
export function disclosure(title) {
  const fact = el("span", "fact");
  const body = el("div", "disclosed");
  const element = el("details", "", el("summary", "", el("span", "", title), fact), body);
  let make = null;
  const draw = (opening = false) => {
    if (!(element.open || opening) || !make) return;
    body.replaceChildren(make());
    make = null;
  };
  element.firstChild.addEventListener("click", () => draw(true)); // before it opens; the event that says so comes later
  element.addEventListener("toggle", () => draw());
  return {
    element,
    body,
    fill(text, making) {
      setText(fact, text);
      make = making;
      draw();
    },
    note: (text) => setText(fact, text),
  };
}

export function operatorTable(operators) {
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
  const facts = Object.entries(operator.sizes ?? {}).map(([what, size]) => sized(size, what));
  if (operator.texts) facts.push(`${plural(operator.texts, "text")} encoded`);
  const lines = [operator.detail, facts.join(" · "), ...list(operator.notes)].filter(Boolean);
  const more = el("td", "", ...lines.map((line, index) => el("div", index && index >= lines.length - list(operator.notes).length ? "note" : "", line)));
  more.colSpan = 4;
  return [main, el("tr", "more-row", more)];
}

// What the language model thought before it answered.
export function thoughtView(thought) {
  const box = el("div", "messages", el("pre", "", thought));
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "The language model's thought");
  return el("div", "prompt", box);
}

export function promptView(messages) {
  const copy = button("copy", "Copy", "", async () => {
    setText(copy, (await copyText(messages.map((message) => `[${message.role}]\n${message.content}`).join("\n\n"))) ? "Copied" : "Select and copy by hand");
    setTimeout(() => setText(copy, "Copy"), 1600);
  });
  copy.setAttribute("aria-label", "Copy the prompt");
  let number = 0;
  const lines = (content) => String(content).split("\n").flatMap((text, index) => {
    const line = el("span", "line", text);
    line.dataset.line = String(number++);
    return index ? ["\n", line] : [line];
  });
  const parts = messages.flatMap((message) => [el("h5", "", message.role ?? ""), el("pre", "", ...lines(message.content ?? ""))]);
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

// The foot of a lane: what it cost, and folded away its operators, its prompt and its thought.

import { button, changed, el, setHidden, setText } from "./dom.js";
import { count, list, plural, seconds, sized } from "./words.js";
import { nounOf, tr } from "../wording.js";

export class Foot {
  // `beside` opens the prompt of a lane beside another one's.
  constructor(beside) {
    this.memo = {};
    this.beside = beside;
    this.cost = el("p", "cost");
    this.operators = disclosure(tr("Steps"));
    this.prompt = disclosure(tr("Prompt"));
    this.thought = disclosure(tr("Thought"));
    this.element = el("footer", "foot", this.cost, this.operators.element, this.prompt.element, this.thought.element);
  }

  update({ id, cost, operators, prompt, prompt_tokens: tokens, prompt_source: source, thought }, others) {
    setText(this.cost, cost);
    setHidden(this.cost, !cost);
    setHidden(this.element, !cost && !list(operators).length && !list(prompt).length);
    setHidden(this.operators.element, !list(operators).length);
    setHidden(this.prompt.element, !list(prompt).length);
    setHidden(this.thought.element, !thought);
    if (changed(this.memo, "operators", operators)) this.operators.fill(plural(list(operators).length, "step"), () => operatorTable(list(operators)));
    const length = tokens === null || tokens === undefined ? "" : plural(tokens, "token");
    this.promptFact = [length, source].filter(Boolean).join(", ");
    if (changed(this.memo, "prompt", [prompt, tokens, source, others])) this.prompt.fill(this.promptFact, () => promptView(list(prompt), others ? () => this.beside(id) : null));
    if (changed(this.memo, "thought", thought)) this.thought.fill(tr("no part of the answer"), () => thoughtView(thought));
  }

  // Light these lines of the prompt, and have the first of them in view.
  showLines(lines) {
    if (!changed(this.memo, "lines", lines)) return;
    this.prompt.note(lines.length ? tr("{lines} {numbers} of the prompt", { lines: nounOf(lines.length, "line"), numbers: lines.slice(0, 4).map((line) => line + 1).join(", ") + (lines.length > 4 ? " …" : "") }) : this.promptFact);
    this.prompt.element.classList.toggle("lit", lines.length > 0);
    const wanted = new Set(lines.map(String));
    let first = null;
    for (const line of this.prompt.body.querySelectorAll(".line")) {
      const lit = wanted.has(line.dataset.line);
      line.classList.toggle("lit", lit);
      first ??= lit ? line : null;
    }
    const box = first?.closest(".messages");
    if (box) box.scrollTop += first.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
  }
}

// A part folded away, whose content is made when it is first opened.
function disclosure(title) {
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

function operatorTable(operators) {
  const names = { [tr("Step")]: "", s: tr("seconds"), [tr("calls")]: tr("model calls"), [tr("tokens")]: tr("tokens in + out") };
  const head = el("tr", "", ...Object.entries(names).map(([name, title]) => el("th", { scope: "col", title }, name)));
  return el("div", "scroll", el("table", "operators", el("thead", "", head), el("tbody", "", ...operators.flatMap(operatorRows))));
}

function operatorRows(operator) {
  const tokens = operator.tokens_in || operator.tokens_out ? `${count(operator.tokens_in ?? 0)} + ${count(operator.tokens_out ?? 0)}` : "";
  const name = el("td", "", el("b", "", operator.label ?? ""));
  const main = el("tr", "", name, el("td", "", seconds(operator.seconds)), el("td", "", operator.calls ? count(operator.calls) : ""), el("td", "", tokens));
  const facts = Object.entries(operator.sizes ?? {}).map(([what, size]) => sized(size, what));
  if (operator.texts) facts.push(tr("{texts} encoded", { texts: plural(operator.texts, "text") }));
  const lines = [operator.detail, facts.join(" · "), ...list(operator.notes)].filter(Boolean);
  const more = el("td", { colspan: 4 }, ...lines.map((line, index) => el("div", index && index >= lines.length - list(operator.notes).length ? "note" : "", line)));
  return [main, el("tr", "more-row", more)];
}

// What the language model thought before it answered.
function thoughtView(thought) {
  return el("div", "prompt", messagesBox(tr("The language model's thought"), el("pre", "", thought)));
}

// `beside` opens it beside the prompt of another lane, where there is one.
function promptView(messages, beside) {
  const copy = button({ class: "copy", "aria-label": tr("Copy the prompt") }, tr("Copy"), "", async () => {
    setText(copy, (await copyText(messages.map((message) => `[${message.role}]\n${message.content}`).join("\n\n"))) ? tr("Copied") : tr("Select and copy by hand"));
    setTimeout(() => setText(copy, tr("Copy")), 1600);
  });
  let number = 0;
  const lines = (content) => String(content).split("\n").flatMap((text, index) => {
    const line = el("span", { class: "line", "data-line": String(number++) }, text);
    return index ? ["\n", line] : [line];
  });
  const parts = messages.flatMap((message) => [el("h5", "", message.role ?? ""), el("pre", "", ...lines(message.content ?? ""))]);
  const compare = beside ? button("copy", tr("Beside another"), tr("This prompt beside that of another method"), beside) : null;
  return el("div", "prompt", el("div", "prompt-tools", compare, copy), messagesBox(tr("Prompt messages"), ...parts));
}

const messagesBox = (label, ...parts) => el("div", { class: "messages", tabindex: 0, role: "region", "aria-label": label }, ...parts);

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

// The head of the presented screen: the question, where it starts, how many correct answers are known, and the keys that go through the cases.
//
// data: { question, original (empty where it is the question), entities: [name], answers: [name], number, of, who, done }. Trigger: pressed = { who, edits: [{ n, by: -1 | 1 } or
// { n, leave: true }] }. Names are set as text.

import { el } from "../board/dom.js";
import { Edits } from "../board/edits.js";
import { nounOf, tr } from "../wording.js";

function key(sign, words, act) {
  const node = el("button", "key", sign);
  node.type = "button";
  node.setAttribute("aria-label", words);
  node.title = words;
  node.addEventListener("click", act);
  return node;
}

class Presenter {
  constructor(root) {
    this.element = el("header", "presenter");
    this.edits = new Edits();
    root.append(this.element);
    this.onKey = (event) => this.pressed(event);
    document.addEventListener("keydown", this.onKey);
  }

  update({ who, done, ...data }, say) {
    this.edits.update(say, who, done);
    this.data = data;
    const told = JSON.stringify(data);
    if (told === this.told) return;
    this.told = told;
    const facts = el("div", "facts");
    facts.append(...(data.entities ?? []).map((name) => el("span", "chip seed", `◆ ${name}`)));
    if (data.answers?.length) {
      const right = el("span", "chip right", `★ ${data.answers.length} ${nounOf(data.answers.length, "correct answer")}`);
      right.title = data.answers.join(", ");
      facts.append(right);
    }
    const ways = el("nav", "ways");
    ways.setAttribute("aria-label", tr("Cases"));
    if (data.of > 1) {
      ways.append(key("←", tr("Previous case"), () => this.go(-1)), el("span", "place", tr("case {number} of {of}", { number: data.number, of: data.of })), key("→", tr("Next case"), () => this.go(1)));
    }
    ways.append(key("Esc", tr("Leave the presentation"), () => this.leave()));
    facts.append(ways);
    this.element.replaceChildren(el("h1", "", data.question, data.original ? el("small", "", data.original) : null), facts);
  }

  go(by) {
    this.edits.add({ by });
  }

  leave() {
    this.edits.add({ leave: true });
  }

  // What has used the key already, or a field that arrows move in, keeps it.
  pressed(event) {
    const target = event.composedPath()[0];
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || target.matches?.("input, select, textarea, .stage-box")) return;
    const act = { ArrowLeft: () => this.go(-1), ArrowRight: () => this.go(1), Escape: () => this.leave() }[event.key];
    if (!act || (event.key !== "Escape" && !(this.data.of > 1))) return;
    event.preventDefault();
    act();
  }

  destroy() {
    this.edits.destroy();
    document.removeEventListener("keydown", this.onKey);
    this.element.remove();
  }
}

export default function presenter({ data, parentElement, setTriggerValue }) {
  const view = (parentElement.hopscopePresenter ??= new Presenter(parentElement));
  view.update(data ?? {}, (pressed) => setTriggerValue("pressed", pressed));
  return () => {
    view.destroy();
    delete parentElement.hopscopePresenter;
  };
}

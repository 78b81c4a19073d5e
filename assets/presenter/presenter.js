// The head of the presented screen: the question, where it starts, how many correct answers are known, and the keys that go through the
// cases. A slash opens a field for a question from the room.
//
// data: { question, original (empty where it is the question), entities: [name], answers: [name], number, of, who, done }. Trigger:
// pressed = { who, edits: [{ n, by: -1 | 1 }, { n, leave: true } or { n, ask: question }] }. Names are set as text.

import { button, el } from "../board/dom.js";
import { Edits } from "../board/edits.js";
import { component } from "../component.js";
import { nounOf, tr } from "../wording.js";

class Presenter {
  constructor(root) {
    this.element = el("header", "presenter");
    this.edits = new Edits();
    root.append(this.element);
    this.onKey = (event) => this.pressed(event);
    document.addEventListener("keydown", this.onKey);
  }

  update({ who, done, ...data }, say) {
    this.edits.update((pressed) => say("pressed", pressed), who, done);
    this.data = data;
    const told = JSON.stringify(data);
    if (told === this.told) return;
    this.told = told;
    const facts = el("div", "facts");
    facts.append(...(data.entities ?? []).map((name) => el("span", "chip seed", `◆ ${name}`)));
    if (data.answers?.length) {
      const right = el("span", { class: "chip right", title: data.answers.join(", ") }, `★ ${data.answers.length} ${nounOf(data.answers.length, "correct answer")}`);
      facts.append(right);
    }
    const ways = el("nav", { class: "ways", "aria-label": tr("Cases") });
    ways.append(button("key", tr("/ ask"), tr("Ask a question from the room"), () => this.open()));
    if (data.of > 1) {
      ways.append(button("key", "←", tr("Previous case"), () => this.go(-1)), el("span", "place", tr("case {number} of {of}", { number: data.number, of: data.of })), button("key", "→", tr("Next case"), () => this.go(1)));
    }
    ways.append(button("key", matchMedia("(pointer: coarse)").matches ? "×" : "Esc", tr("Leave the presentation"), () => this.leave()));
    facts.append(ways);
    this.close();
    this.element.replaceChildren(el("h1", "", data.question, ...(data.original ? [" ", el("small", "", data.original)] : [])), facts);
  }

  // A field over the verdict, in the place of the question.
  open() {
    if (this.field) return;
    this.field = el("input", { "aria-label": tr("Question from the room"), placeholder: tr("Ask with the same methods; Esc closes") });
    this.form = el("form", "question-form", this.field, button({ class: "key", type: "submit" }, tr("Ask"), tr("Ask this question"), null));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.field.value.trim()) this.edits.add({ ask: this.field.value.trim() });
    });
    this.element.classList.add("asking");
    this.element.prepend(this.form);
    this.field.focus();
  }

  close() {
    this.form?.remove();
    this.form = this.field = null;
    this.element.classList.remove("asking");
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
    if (event.key === "Escape" && this.field && !event.defaultPrevented) {
      event.preventDefault();
      return void this.close();
    }
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || target.matches?.("input, select, textarea, .stage-box")) return;
    const act = { ArrowLeft: () => this.go(-1), ArrowRight: () => this.go(1), Escape: () => this.leave(), "/": () => this.open() }[event.key];
    if (!act || (event.key.startsWith("Arrow") && !(this.data.of > 1))) return;
    event.preventDefault();
    act();
  }

  destroy() {
    this.edits.destroy();
    document.removeEventListener("keydown", this.onKey);
    this.element.remove();
  }
}

export default component(Presenter);

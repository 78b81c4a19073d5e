// The parameters of the chosen brick, a field each; where a step of the palette is pointed at, what that is.

import { button, changed, el } from "../board/dom.js";
import { tr } from "../wording.js";

const OTHER = "…"; // stands for an expression that is typed

export class BrickForm {
  constructor(bench) {
    this.bench = bench;
    this.memo = {};
    this.element = el("section", "panel form");
  }

  // The form where a brick is chosen; else what is pointed at in the palette.
  update(form, pointed) {
    if (!changed(this.memo, "data", form ? [form] : [null, pointed?.name])) return;
    const focused = this.bench.root.activeElement?.dataset?.field;
    this.element.classList.toggle("settings", Boolean(form));
    this.element.classList.toggle("idle", !form && !pointed);
    this.element.setAttribute("aria-label", form ? tr("Settings of {title}", { title: form.title }) : tr("About the step"));
    this.element.replaceChildren(...(form ? this.settings(form) : this.about(pointed)));
    if (focused) this.element.querySelector(`[data-field="${focused}"]`)?.focus({ preventScroll: true });
  }

  settings(form) {
    const fields = el("div", "fields", ...form.fields.map((field) => this.field(form.key, field)));
    const body = el("div", "scroll", el("p", "sentence", form.sentence), form.advice ? this.advice(form) : null, fields);
    if (form.arms) body.append(this.branch(form));
    if (!form.fields.length && !form.arms) body.append(el("p", "none", tr("No settings.")));
    return [el("div", "panel-head", el("h3", "", el("b", "", form.title))), body];
  }

  advice({ key, advice }) {
    const box = el("details", "advice", el("summary", "", advice.title), ...advice.reasons.map((reason) => el("p", "", reason)));
    if (advice.value !== null) box.append(button("tool", advice.button, "", () => this.bench.edit({ do: "set", key, name: advice.name, value: advice.value })));
    return box;
  }

  branch(form) {
    const box = el("div", "branch-tools", button("tool", tr("Add a row for more hops"), "", () => this.bench.edit({ do: "add-arm", key: form.key })));
    if (form.arms.length > 1)
      for (const arm of form.arms) box.append(button("tool", tr("Remove the row for {arm}", { arm }), "", () => this.bench.edit({ do: "remove-arm", key: form.key, name: arm })));
    return box;
  }

  field(key, field) {
    const set = (value) => this.bench.edit({ do: "set", key, name: field.name, value });
    const id = `hk-${key}-${field.name}`;
    const { control, more } = control_of(field, set, id);
    const label = el("label", { for: id }, field.label);
    const differs = JSON.stringify(field.value) !== JSON.stringify(field.default);
    const reset = differs ? button("reset", "↺", tr("Set {label} back to {default}", { label: field.label, default: field.default }), () => set(field.default)) : null;
    const look = { class: "help", id: `${id}-help` };
    const help = field.more ? el("details", look, el("summary", "", field.help), el("p", "", field.more)) : el("p", look, field.help);
    control.setAttribute("aria-describedby", look.id);
    const box = el("div", `field ${field.kind}${differs ? " differs" : ""}${field.curve ? " curved" : ""}`, el("div", "field-head", label, reset), control, more);
    if (field.curve) box.append(curveOf(field, set));
    if (field.error) {
      control.setAttribute("aria-invalid", "true");
      box.append(el("p", { class: "fault", role: "alert" }, field.error));
    }
    box.append(help);
    return box;
  }

  about(entry) {
    if (!entry) return [el("div", "scroll", el("p", "none", tr("Point at a step to read what it does. Click it, or drag it between two steps, or over one to replace it.")))];
    const { text, reads, writes, used } = entry.about;
    const facts = [[tr("Reads"), reads], [tr("Gives"), writes], [tr("Used in"), used]];
    const list = el("dl", "facts", ...facts.filter(([, value]) => value).map(([name, value]) => el("div", "", el("dt", "", name), el("dd", "", value))));
    return [el("div", "panel-head", el("h3", "", el("b", "", entry.title)), el("code", "", entry.name)), el("div", "scroll", list, ...text.map((part) => el("p", "prose", part)))];
  }
}

// How many answers or passages are alive for values of a parameter: a bar each, which sets it; marked where the next one comes in.
function curveOf({ label, curve }, set) {
  const { of, points } = curve;
  const bars = points.map(({ value, alive, now, next }) => {
    const count = value.toLocaleString("en");
    const look = { class: `point${now ? " now" : ""}${next ? " next" : ""}`, "aria-current": now ? "true" : null };
    const made = button(look, "", tr("{label} {count}: {alive} of {of} kept{next}", { label, count, alive, of, next: next ? tr(", one more than before") : "" }), () => set(value));
    const bar = el("i", { style: `height: ${Math.round((22 * alive) / of)}px` });
    made.append(el("span", "column", bar), el("span", "", value < 10000 ? String(value) : `${Math.round(value / 1000)}k`));
    return made;
  });
  const coming = points.find((point) => point.next);
  const most = points.at(-1).alive;
  const first = points.find((point) => point.alive === most);
  const settled = most === 1 && of === 1 ? tr("Kept with any value from {value}.", { value: first.value.toLocaleString("en") }) : most ? tr("{most} of {of} are kept with any value from {value}.", { value: first.value.toLocaleString("en"), most, of }) : tr("No value keeps any of the {of}: an earlier step lost them.", { of });
  const words = coming ? tr("With {value}, one more of the {of} is kept.", { value: coming.value.toLocaleString("en"), of }) : settled;
  const look = { class: "curve", role: "group", "aria-label": tr("Effect of {label} on this question", { label }) };
  return el("div", look, el("div", "points", ...bars), el("p", "curve-words", words));
}

// The widget of a field, and what comes below it; `set` is called with a value of the parameter's own type, or with what was typed.
function control_of(field, set, id) {
  let control;
  let more = null;
  const shown = field.typed ?? field.value;
  if (field.kind === "switch") {
    control = el("input", { type: "checkbox" });
    control.checked = field.value;
    control.addEventListener("change", () => set(control.checked));
  } else if (field.kind === "choice" || field.kind === "model") {
    control = el("select", "");
    const known = field.options.some((one) => one.value === shown);
    for (const { value, words } of field.options) control.append(new Option(words, value, false, value === shown));
    if (field.kind === "model") {
      control.append(new Option(tr("another expression…"), OTHER, false, !known));
      more = input(id, shown, field.label, (text) => set(text));
      more.placeholder = "prefilter(encoder, choose, 32)";
      more.hidden = known;
    }
    control.addEventListener("change", () => {
      if (control.value !== OTHER) set(control.value);
      else {
        more.hidden = false;
        more.focus();
      }
    });
  } else if (field.kind === "lines") {
    control = lines(shown, set);
  } else {
    control = input(id, shown, "", (text) => set(typed(field, text)));
    if (field.kind !== "text") Object.assign(control, { inputMode: field.kind === "whole" ? "numeric" : "decimal" });
    if (field.kind === "whole" || field.kind === "real") control.addEventListener("keydown", (event) => step(event, field, control, set));
  }
  control.id = id;
  control.dataset.field = field.name;
  return { control, more };
}

// A line of text that says what was typed once it is left, or at Enter.
function input(id, value, label, say) {
  const named = label && { "aria-label": tr("{label}: expression", { label }), "data-field": `${id} expression` };
  const made = el("input", { type: "text", autocomplete: "off", ...named });
  const leave = sayLeft(made, value, say);
  made.addEventListener("keydown", (event) => event.key === "Enter" && leave());
  return made;
}

// A text of several lines, said once it is left; Enter is a line more.
function lines(value, say) {
  const made = el("textarea", { class: "lines", rows: 6 });
  sayLeft(made, value, say);
  return made;
}

function sayLeft(made, value, say) {
  Object.assign(made, { value: String(value), spellcheck: false });
  let before = made.value;
  const leave = () => {
    if (made.value === before) return;
    before = made.value;
    say(before);
  };
  made.addEventListener("blur", leave);
  return leave;
}

// The arrows step a number up and down within its limits, one digit in ten of a fraction.
function step(event, field, control, set) {
  if (!["ArrowUp", "ArrowDown"].includes(event.key)) return;
  event.preventDefault();
  const by = field.kind === "whole" ? 1 : (field.high ?? 1) > 1 ? 1 : 0.05;
  const now = Number(control.value) + (event.key === "ArrowUp" ? by : -by);
  const inside = Math.max(field.low ?? -Infinity, Math.min(field.high ?? Infinity, now));
  if (Number.isFinite(inside)) set(Number(inside.toFixed(6)));
}

// A number as the parameter's; what is none as it was typed, which Python refuses with the reason.
function typed(field, text) {
  const bare = text.replaceAll(",", "").trim();
  if (field.kind === "text" || bare === "" || !Number.isFinite(Number(bare))) return text;
  return Number(bare);
}

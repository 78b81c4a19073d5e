// What a person can do with a lane: another method, one step changed, taken away; and the button that adds a lane.

import { button, changed, el, setHidden } from "./dom.js";

export function laneTools(act) {
  const memo = {};
  const other = button("lane-tool wide", "Change", "Choose another method", () => act("change"));
  const step = button("lane-tool wide", "One step", "Change one step of this method", () => act("step"));
  const remove = button("lane-tool", "×", "Remove this lane", () => act("remove"));
  const element = el("div", "lane-tools", other, step, remove);
  const show = (editable, title, lanes) => {
    if (!changed(memo, "shown", [editable, title, lanes])) return;
    setHidden(element, !editable);
    setHidden(remove, lanes < 2);
    other.setAttribute("aria-label", `Choose another method in place of ${title}`);
    step.setAttribute("aria-label", `Change one step of ${title}`);
    remove.setAttribute("aria-label", `Remove ${title}`);
  };
  return { element, show };
}

export function addLane(act) {
  return button("add-lane", "+ Add lane", "Add a lane with another method", act);
}

// What a person can do with a lane: another method, one step changed, taken away; and the button that adds a lane.

import { button, changed, el, setHidden } from "./dom.js";
import { tr } from "../wording.js";

export function laneTools(act) {
  const memo = {};
  const other = button("lane-tool wide", tr("Replace"), tr("Choose another method"), () => act("change"));
  const step = button("lane-tool wide", tr("Edit steps"), tr("Edit the steps of this method"), () => act("step"));
  const remove = button("lane-tool", "×", tr("Remove this lane"), () => act("remove"));
  const element = el("div", "lane-tools", other, step, remove);
  const show = (editable, title, lanes) => {
    if (!changed(memo, "shown", [editable, title, lanes])) return;
    setHidden(element, !editable);
    setHidden(remove, lanes < 2);
    other.setAttribute("aria-label", tr("Replace {title} with another method", { title }));
    step.setAttribute("aria-label", tr("Edit steps of {title}", { title }));
    remove.setAttribute("aria-label", tr("Remove {title}", { title }));
  };
  return { element, show };
}

export function addLane(act) {
  return button("add-lane", tr("+ Add lane"), tr("Add a lane with another method"), act);
}

// A thumb up and a thumb down on a lane's answer; pressing the pressed one takes it back.

import { button, el, setHidden, svg } from "./dom.js";
import { tr } from "../wording.js";

const HAND = "M2 11h4v10H2zM8 21h9.2c.9 0 1.6-.5 1.9-1.3l2.7-6.4c.1-.2.2-.5.2-.8V11c0-1.1-.9-2-2-2h-5.8l.9-4.2v-.3c0-.4-.2-.8-.4-1.1L13.6 2.4 8.6 7.5C8.2 7.8 8 8.3 8 8.9z";

function hand(turned) {
  return svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: HAND, ...(turned && { transform: "rotate(180 12 12)" }) }));
}

export function thumbs(onThumb) {
  let given = null;
  const buttons = [["up", tr("A good answer")], ["down", tr("A bad answer")]].map(([way, label]) => {
    const one = button({ class: "thumb", "data-thumb": way }, "", label, () => onThumb(given === way ? "none" : way));
    one.append(hand(way === "down"));
    return one;
  });
  const element = el("div", "thumbs", ...buttons);
  // undefined: nobody may rate here
  const show = (verdict) => {
    given = verdict;
    setHidden(element, verdict === undefined);
    for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.thumb === verdict));
  };
  return { element, show };
}

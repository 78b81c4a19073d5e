// The known answers that survive each stage of a lane.

import { el } from "./dom.js";
import { list } from "./words.js";
import { tr } from "../wording.js";

const STAGES = ["graph", "subgraph", "paths", "prompt", "answer"];

// One bar per stage; without numbers as long as they are not known, grey where all lanes have the same, pale where they may change yet.
export function funnelStages(funnel, agreed, soFar) {
  return (funnel || STAGES.map((stage) => ({ stage, alive: null, of: null, lost: [] }))).map((part) => funnelStage(part, agreed.has(part.stage), soFar));
}

// `held` says where the words of the answer are beside what the bar counts; `aside` that the answer does not come by way of this stage.
function funnelStage({ stage, alive, of, lost: missing, held, aside }, same, soFar) {
  const lost = soFar ? [] : list(missing); // what is not there may come yet
  const known = alive !== null && alive !== undefined && of;
  const tone = !known ? "none" : same || aside || (soFar && alive < of) ? "same" : alive >= of ? "good" : alive > 0 ? "warn" : "bad";
  const fill = el("i");
  fill.style.height = known ? `${Math.max(5, (100 * alive) / of)}%` : "0";
  const bar = el("span", `bar bar-${tone}`, fill, lost.length ? el("span", "lost-mark", `−${lost.length}`) : null);
  const gone = lost.length ? tr(". Lost here: {lost}", { lost: lost.join(", ") }) : "";
  const also = held ? tr(". Answer text present: {alive} of {of}", held) : "";
  const off = aside ? tr(". The graph reader reads all paths, and not the prompt") : "";
  const words = known ? tr("{stage}: {alive} of {of}{soFar}{off}{gone}{also}", { stage: tr(stage), alive, of, soFar: soFar ? tr(" so far") : "", off, gone, also }) : tr("{stage}: not known yet", { stage: tr(stage) });
  return el("div", { class: aside ? "stage aside" : "stage", role: "img", "aria-label": words, title: words, tabindex: lost.length ? 0 : null },
    bar, el("b", "", known ? `${alive}/${of}` : "–"), el("span", "stage-name", tr(stage)), held ? heldSign(held) : null);
}

function heldSign({ alive, of }) {
  const whole = alive >= of;
  return el("span", `held held-${whole ? "good" : "bad"}`, of > 1 ? tr("texts {alive}/{of}", { alive, of }) : whole ? tr("text ✓") : tr("text –"));
}

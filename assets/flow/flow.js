// Questions that flow from the stages of one method (left) to those of another (right). Bands are buttons, for the keyboard as well; all words
// are set as text. data: label, height, left and right (words, n, top, height), bands (key, kind, left, right, label, reason, at, title),
// chosen (a key, or nothing); pressing a band triggers "opened" with its key.

import { el, svg } from "../board/dom.js";

function stages(list, side, height) {
  const column = el("div", { class: `stages ${side}`, style: `height: ${height}px` });
  for (const { top, height: high, words, n } of list) column.append(el("div", { class: "stage", style: `top: ${top + high / 2}px` }, el("span", "", `${words} `), el("b", "", String(n))));
  return column;
}

function bars(list, height) {
  const parts = list.map(({ stage, top, height: high }) => el("i", { class: `bar ${stage}`, style: `top: ${top}px; height: ${Math.max(high, 2)}px` }));
  return el("div", { class: "bars", style: `height: ${height}px` }, ...parts);
}

function shape(band) {
  const [[a, b], [c, d]] = [band.left, band.right];
  return `M0,${a} C50,${a} 50,${c} 100,${c} L100,${d} C50,${d} 50,${b} 0,${b} Z`;
}

export default function flow({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".flow") ?? parentElement.appendChild(el("div", "flow"));
  const focused = root.getRootNode().activeElement?.dataset?.key;
  const order = [...data.bands].sort((a, b) => (a.label !== "") - (b.label !== "")); // those with words lie above
  const bands = order.map((band) => {
    const key = band.key.join(">");
    const path = svg("path", {
      d: shape(band), class: `band ${band.kind}`, role: "button", tabindex: 0, "aria-label": band.title, "aria-pressed": String(key === data.chosen), "data-key": key,
    }, svg("title", {}, band.title));
    path.onclick = () => setTriggerValue("opened", band.key);
    path.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      path.onclick();
    };
    return path;
  });
  const picture = svg("svg", { viewBox: `0 0 100 ${data.height}`, preserveAspectRatio: "none", style: `height: ${data.height}px`, role: "group", "aria-label": data.label }, ...bands);
  // The band's own name says what its label does.
  const labels = data.bands.filter((band) => band.label).map((band) => el("div", { class: `label ${band.kind}`, style: `top: ${band.at}px`, "aria-hidden": "true" },
    el("b", "", band.label), el("span", "", band.reason && `: ${band.reason}`)));
  root.replaceChildren(
    stages(data.left, "left", data.height), bars(data.left, data.height), el("div", "middle", picture, ...labels),
    bars(data.right, data.height), stages(data.right, "right", data.height));
  if (focused) bands.find((path) => path.dataset.key === focused)?.focus();
}

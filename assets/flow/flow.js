// Questions that flow from the stages of one method (left) to those of another (right). Bands are buttons, for the keyboard as well; all words
// are set as text. data: label, height, left and right (words, n, top, height), bands (key, kind, left, right, label, reason, at, title),
// chosen (a key, or nothing); pressing a band triggers "opened" with its key.
const SVG = "http://www.w3.org/2000/svg";

function made(kind, name, text = "") {
  const element = document.createElement(kind);
  element.className = name;
  element.textContent = text;
  return element;
}

function stages(list, side, height) {
  const column = made("div", `stages ${side}`);
  column.append(...list.map(one => {
    const label = made("div", "stage");
    label.style.top = `${one.top + one.height / 2}px`;
    label.append(made("span", "", one.words + " "), made("b", "", String(one.n)));
    return label;
  }));
  column.style.height = `${height}px`;
  return column;
}

function bars(list, side, height) {
  const column = made("div", "bars");
  column.style.height = `${height}px`;
  column.append(...list.map(one => {
    const bar = made("i", `bar ${one.stage}`);
    Object.assign(bar.style, { top: `${one.top}px`, height: `${Math.max(one.height, 2)}px` });
    return bar;
  }));
  return column;
}

function shape(band) {
  const [[a, b], [c, d]] = [band.left, band.right];
  return `M0,${a} C50,${a} 50,${c} 100,${c} L100,${d} C50,${d} 50,${b} 0,${b} Z`;
}

export default function ({ data, parentElement, setTriggerValue }) {
  let root = parentElement.querySelector(".flow");
  if (!root) { root = made("div", "flow"); parentElement.append(root); }
  const focused = root.getRootNode().activeElement?.dataset?.key;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 100 ${data.height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.style.height = `${data.height}px`;
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", data.label);
  const order = [...data.bands].sort((a, b) => (a.label !== "") - (b.label !== ""));  // those with words lie above
  svg.append(...order.map(band => {
    const path = document.createElementNS(SVG, "path");
    const key = band.key.join(">"), open = () => setTriggerValue("opened", band.key);
    path.setAttribute("d", shape(band));
    path.setAttribute("class", `band ${band.kind}`);
    path.setAttribute("role", "button");
    path.setAttribute("tabindex", "0");
    path.setAttribute("aria-label", band.title);
    path.setAttribute("aria-pressed", String(key === data.chosen));
    path.dataset.key = key;
    const title = document.createElementNS(SVG, "title");
    title.textContent = band.title;
    path.append(title);
    path.onclick = open;
    path.onkeydown = event => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(); }
    };
    return path;
  }));
  const middle = made("div", "middle");
  middle.append(svg, ...data.bands.filter(band => band.label).map(band => {
    const label = made("div", `label ${band.kind}`);
    label.style.top = `${band.at}px`;
    label.setAttribute("aria-hidden", "true");  // the band's own name says it
    label.append(made("b", "", band.label), made("span", "", band.reason && `: ${band.reason}`));
    return label;
  }));
  root.replaceChildren(
    stages(data.left, "left", data.height), bars(data.left, "left", data.height), middle,
    bars(data.right, "right", data.height), stages(data.right, "right", data.height));
  if (focused) [...svg.children].find(path => path.dataset.key === focused)?.focus();
}

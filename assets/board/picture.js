// Pictures of a lane's graph, or of all lanes, as SVG and PNG: drawn from what Cytoscape shows. They are saved, and printed.

import { el, starPoints, svg } from "./dom.js";
import { ROW } from "./style.js";
import { lastVerdict, laneName, verdictWords } from "./words.js";
import { tr } from "../wording.js";

const PNG_SCALE = 2; // pixels of the file for one of the screen
const PICTURE_PAD = 16;
const BROKEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu; // no letters of XML
const pictureMeasurer = document.createElement("canvas").getContext("2d");

// The graph as an SVG element, as large as its canvas.
export function graphPicture(graph) {
  const { cy, canvas, board } = graph;
  const { x, y } = cy.pan();
  const byDepth = (one, two) => one.numericStyle("z-index") - two.numericStyle("z-index");
  const marks = [...cy.edges().sort(byDepth).toArray().flatMap((edge) => edgeMarks(edge)), ...cy.nodes().sort(byDepth).toArray().flatMap((node) => nodeMarks(node))];
  const size = { width: canvas.clientWidth, height: canvas.clientHeight };
  return svg("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}`, "font-family": board.theme.font },
    svg("rect", { ...size, fill: rgb(board, "canvas") }), svg("g", { transform: `translate(${x} ${y})` }, ...marks));
}

const rgb = (board, name) => `rgb(${board.theme.colours[name].join(",")})`;
const dashes = (item, name) => (item.style(name) === "dashed" ? "4 3" : "none");

function edgeMarks(edge) {
  const [from, to] = [edge.sourceEndpoint(), edge.targetEndpoint()];
  const bends = edge.controlPoints() ?? [];
  const curve = bends.map((bend, index) => {
    const next = bends[index + 1];
    const end = next ? { x: (bend.x + next.x) / 2, y: (bend.y + next.y) / 2 } : to;
    return `Q${bend.x} ${bend.y} ${end.x} ${end.y}`;
  });
  const opacity = edge.style("opacity");
  const line = svg("path", { d: `M${from.x} ${from.y}${curve.join("") || `L${to.x} ${to.y}`}`, fill: "none", stroke: edge.style("line-color"), "stroke-width": edge.numericStyle("width"), "stroke-dasharray": dashes(edge, "line-style"), opacity });
  if (!edge.style("label")) return [line];
  const middle = edge.midpoint();
  return [line, svg("circle", { cx: middle.x, cy: middle.y, r: edge.numericStyle("font-size") * 0.75, fill: edge.style("line-color"), opacity }), ...labelMarks(edge, middle, "none")];
}

function nodeMarks(node) {
  const at = node.position();
  const look = {
    fill: node.style("background-color"), "fill-opacity": node.style("background-opacity"), stroke: node.style("border-color"), "stroke-width": node.numericStyle("border-width"),
    "stroke-opacity": node.style("border-opacity"), "stroke-dasharray": dashes(node, "border-style"),
  };
  const halo = svg("circle", { cx: at.x, cy: at.y, r: node.width() / 2 + node.numericStyle("underlay-padding"), fill: node.style("underlay-color"), opacity: node.style("underlay-opacity") });
  const label = { x: at.x + node.numericStyle("text-margin-x"), y: at.y + node.numericStyle("text-margin-y") };
  return [halo, shape(node, at, look), ...labelMarks(node, label, node.style("text-background-color"))];
}

function shape(node, { x, y }, look) {
  const [width, height] = [node.width() / 2, node.height() / 2];
  const kind = node.style("shape");
  if (kind === "round-rectangle") return svg("rect", { x: x - width, y: y - height, width: 2 * width, height: 2 * height, rx: 3, ...look });
  if (kind !== "star" && kind !== "diamond") return svg("ellipse", { cx: x, cy: y, rx: width, ry: height, ...look });
  return svg("polygon", { points: starPoints({ x, y }, width, height, kind === "star" ? 10 : 4), ...look });
}

// The rows of a label, one over the other.
function labelMarks(item, { x, y }, behind) {
  const size = item.numericStyle("font-size");
  const rows = item.style("label").replace(BROKEN, "�").split("\n");
  return rows.map((row, index) => svg("text", {
    x, y: y + (index - (rows.length - 1) / 2) * ROW * size, "text-anchor": "middle", "dominant-baseline": "central", "font-size": size, "font-weight": item.style("font-weight"), fill: item.style("color"),
    stroke: behind, "stroke-width": behind === "none" ? 0 : 3, "paint-order": "stroke", "stroke-linejoin": "round",
  }, row));
}

// All lanes as they stand on the screen, under the question and the verdict.
function boardPicture(board) {
  const lanes = [...board.lanes.values()].filter(({ graph }) => graph.canvas.clientWidth);
  const ink = { fill: rgb(board, "text") };
  const lefts = [...new Set(lanes.map(({ element }) => element.offsetLeft))].sort((one, two) => one - two);
  const wide = Math.max(...lanes.map(({ graph }) => graph.canvas.clientWidth));
  const width = PICTURE_PAD + lefts.length * (wide + PICTURE_PAD);
  const head = block(board.payload.question, { x: PICTURE_PAD, y: PICTURE_PAD, width: width - 2 * PICTURE_PAD, size: 22, weight: 650, ...ink });
  const verdict = block(board.payload.verdict?.text, { x: PICTURE_PAD, y: head.bottom + 4, width: width - 2 * PICTURE_PAD, size: 16, ...ink });
  const parts = [...head.lines, ...verdict.lines];
  const bottoms = lefts.map(() => verdict.bottom + PICTURE_PAD);
  for (const { element, graph, data } of lanes) {
    const column = lefts.indexOf(element.offsetLeft);
    const place = { x: PICTURE_PAD + column * (wide + PICTURE_PAD), width: wide, ...ink };
    const name = block([laneName(data), verdictWords(lastVerdict(data))].filter(Boolean).join(": "), { ...place, y: bottoms[column], size: 17, weight: 650 });
    const picture = graph.cy && !graph.canvas.classList.contains("empty") ? graphPicture(graph) : null;
    const message = block(picture ? "" : graph.message.textContent, { ...place, y: name.bottom, size: 14 });
    if (picture) for (const [key, value] of Object.entries({ x: place.x, y: name.bottom + 4 })) picture.setAttribute(key, value);
    const said = block([data.verdict_text?.head, data.verdict_text?.text].filter(Boolean).join(" "), { ...place, y: message.bottom + (picture ? graph.canvas.clientHeight + 8 : 0), size: 15 });
    parts.push(...name.lines, ...(picture ? [picture] : message.lines), ...said.lines);
    bottoms[column] = said.bottom + PICTURE_PAD;
  }
  const size = { width, height: Math.max(...bottoms) };
  return svg("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}`, "font-family": board.theme.font }, svg("rect", { ...size, fill: rgb(board, "card") }), ...parts);
}

// A text broken into lines of this width, and where it ends.
function block(text, { x, y, width, size, fill, weight = 400 }) {
  pictureMeasurer.font = `${weight} ${size}px sans-serif`;
  const rows = [];
  for (const word of String(text ?? "").replace(BROKEN, "�").split(/\s+/).filter(Boolean)) {
    const longer = rows.length ? `${rows.at(-1)} ${word}` : word;
    if (rows.length && pictureMeasurer.measureText(longer).width <= width) rows[rows.length - 1] = longer;
    else rows.push(word);
  }
  const height = size * 1.35;
  const lines = rows.map((row, index) => svg("text", { x, y: y + size + index * height, "font-size": size, "font-weight": weight, fill }, row));
  return { lines, bottom: y + rows.length * height };
}

async function save(picture, kind, name) {
  picture.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const text = new XMLSerializer().serializeToString(picture);
  let blob = new Blob([text], { type: "image/svg+xml" });
  if (kind === "png") {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = el("canvas", { width: PNG_SCALE * image.width, height: PNG_SCALE * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  }
  const link = el("a", { href: URL.createObjectURL(blob), download: `${name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60)}.${kind}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// The choice of what is saved: this graph or all lanes, as PNG or as SVG.
export function pictureChoice(graph) {
  const ways = { "lane png": tr("This picture as PNG"), "lane svg": tr("This picture as SVG"), "all png": tr("All methods as PNG"), "all svg": tr("All methods as SVG") };
  const label = tr("Save a picture");
  const choice = el("select", { class: "tool save-picture", "aria-label": label, title: label }, ...["⤓", ...Object.values(ways)].map((text) => el("option", "", text)));
  choice.addEventListener("change", () => {
    const [what, kind] = Object.keys(ways)[choice.selectedIndex - 1].split(" ");
    choice.selectedIndex = 0;
    const { board, lane } = graph;
    save(what === "lane" ? graphPicture(graph) : boardPicture(board), kind, [board.payload.question, what === "lane" ? lane.data.title : ""].filter(Boolean).join(" ") || "hopscope");
  });
  return choice;
}

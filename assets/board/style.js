// The Cytoscape stylesheet in the colours of the theme, small beside its neighbours or large for a room.

import { textRadius, textStyles } from "./textstyle.js";

export const SMALL = { label: 11.5, step: 9, node: 1, line: 1 };
export const ROW = 1.15; // from one row of a label to the next, of the size of its letters
export const LARGE = { label: 16, step: 12.5, node: 1.45, line: 1.4 };

export function stylesheet(colours, font, size) {
  const colour = Object.fromEntries(Object.entries(colours).map(([name, rgb]) => [name, `rgb(${rgb.join(",")})`]));
  const tones = { found: colour.path, dropped: colour.warn, never: colour.bad, unknown: colour.muted };
  const wide = (width) => ({ width: width * size.node, height: width * size.node });
  const numbered = (line, ink, width, z) => ({
    "line-color": line, width: width * size.line, "line-style": "solid", label: "data(step)", color: ink, "font-family": font, "font-size": size.step, "font-weight": 700,
    "text-background-color": line, "text-background-opacity": 1, "text-background-padding": 3, "text-background-shape": "circle", "z-index": z,
  });
  return [
    { selector: "node", style: {
      ...wide(7), "background-color": colour.node, label: "data(label)", color: colour.text, "font-family": font, "font-size": size.label, "font-weight": 500,
      "text-valign": "center", "text-halign": "center", "text-margin-x": "data(mx)", "text-margin-y": "data(my)",
      "text-background-color": colour.canvas, "text-background-opacity": 0.9, "text-background-padding": 1, "text-background-shape": "round-rectangle",
      "text-wrap": "wrap", "text-max-width": "9999px", "line-height": ROW, "text-justification": "left", "z-index": 1, "overlay-opacity": 0, "underlay-opacity": 0 } },
    { selector: "edge", style: {
      width: 1.1 * size.line, "line-color": colour.edge, "curve-style": "bezier", "control-point-step-size": 26, "z-index": 0, "overlay-opacity": 0 } },
    { selector: "node.ghost", style: { ...wide(6), "background-color": colour.canvas, "border-width": 1, "border-color": colour.ghost, "border-style": "dashed", color: colour.muted } },
    { selector: "edge.ghost", style: { "line-color": colour.ghost, "line-style": "dashed", "line-dash-pattern": [3, 4], width: size.line } },
    { selector: "node.path", style: { ...wide(10), "background-color": colour["path-soft"], "z-index": 4 } },
    { selector: "node.best", style: { ...wide(12), "background-color": colour.path, "z-index": 5 } },
    { selector: "node.same", style: { "background-color": colour.same } },
    { selector: "edge.path", style: numbered(colour["path-soft"], colour["on-soft"], 2.4, 2) },
    { selector: "edge.best", style: numbered(colour.path, colour["on-path"], 3.2, 3) },
    { selector: "edge.same", style: numbered(colour.same, colour["on-same"], 2, 2) },
    { selector: "node.question", style: { shape: "diamond", ...wide(17), "background-color": colour.seed, "border-width": 0, "z-index": 7, "font-weight": 600, color: colour.text } },
    { selector: "node.answer", style: { shape: "star", ...wide(20), "background-color": colour.good, "border-width": 0, "z-index": 6, color: colour.text } },
    { selector: "node.answer.ghost", style: { "background-color": colour.canvas, "border-width": 1.4, "border-color": colour.good, "border-style": "solid", color: colour.muted } },
    { selector: "node.lost", style: { "background-color": colour.canvas, "border-width": 1.6 * size.line, "border-color": colour.bad, "border-style": "dashed" } },
    { selector: "node.open", style: { "background-color": colour.canvas, "border-width": 1.4 * size.line, "border-color": colour.muted, "border-style": "solid" } },
    ...textStyles(colour, wide, size.line),
    { selector: "node.dim", style: { "background-opacity": 0.22, "border-opacity": 0.3, color: colour.muted, "z-index": 0 } },
    { selector: "edge.dim", style: { opacity: 0.16, label: "", "z-index": 0 } },
    { selector: "node.lit", style: { "z-index": 8, color: colour.text } },
    ...Object.entries(tones).flatMap(([name, tone]) => [
      { selector: `node.lit.tone-${name}`, style: { ...wide(12), "border-style": "solid", ...(name === "found" ? { "background-color": tone } : { "background-color": colour.canvas, "border-width": 2, "border-color": tone }) } },
      { selector: `edge.lit.tone-${name}`, style: { ...numbered(tone, colour.card, 3.2, 8), "line-style": name === "found" ? "solid" : "dashed", "line-dash-pattern": [6, 4] } },
    ]),
    { selector: "node.lit.question", style: { ...wide(17), "background-color": colour.seed, "border-width": 0 } },
    { selector: "node.lit.answer", style: { ...wide(20), "background-color": colour.good, "border-width": 0 } },
    { selector: "node.lit.lost", style: { "background-color": colour.canvas, "border-width": 1.6 * size.line, "border-color": colour.bad, "border-style": "dashed" } },
    { selector: "node.lit.open", style: { "background-color": colour.canvas, "border-width": 1.4 * size.line, "border-color": colour.muted } },
    { selector: "node.lit.gold", style: { ...wide(17), height: 13 * size.node, "background-color": colour.good, "border-width": 0 } },
    { selector: "node.lit.gold.lost", style: { "background-color": colour.canvas, "border-width": 2 * size.line, "border-color": colour.bad, "border-style": "dashed" } },
    { selector: "node.lit.community", style: { ...wide(22), "background-opacity": 0, "border-width": 3 * size.line, "border-style": "dashed" } },
    { selector: "node.lit.passage", style: { ...wide(17), height: 13 * size.node } },
    { selector: "edge.documents.lit", style: { label: "" } },
    { selector: "node.mass", style: { "underlay-color": colour.accent, "underlay-opacity": 0.34, "underlay-shape": "ellipse", "underlay-padding": `mapData(mass, 0, 1, 1, ${26 * size.node})` } },
    { selector: "node.empty", style: { "background-opacity": 0.3, "border-opacity": 0.4, color: colour.muted } },
    { selector: "node.picked", style: { "border-width": 3, "border-color": colour.accent, "border-style": "solid", "z-index": 9 } },
  ];
}

// Half the width of a node that looks so, with a little air.
export function nodeRadius(mark, size) {
  const own = textRadius(mark);
  if (own !== null) return own * size.node + 1;
  const width = /question|answer/.test(mark) ? 20 : /path|lit|best/.test(mark) ? 12 : 7;
  return (width * size.node) / 2 + 1;
}

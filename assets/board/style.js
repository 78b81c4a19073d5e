// The Cytoscape stylesheet in the colours of the theme.

export const LABEL = 10.5;

export function stylesheet(colours, font) {
  const colour = Object.fromEntries(Object.entries(colours).map(([name, rgb]) => [name, `rgb(${rgb.join(",")})`]));
  const tones = { found: colour.path, dropped: colour.warn, never: colour.bad, unknown: colour.muted };
  return [
    { selector: "node", style: {
      width: 7, height: 7, "background-color": colour.node, label: "data(label)", color: colour.text, "font-family": font, "font-size": LABEL, "font-weight": 500,
      "text-valign": "center", "text-halign": "center", "text-margin-x": "data(mx)", "text-margin-y": "data(my)",
      "text-background-color": colour.card, "text-background-opacity": 0.82, "text-background-padding": 1, "text-background-shape": "round-rectangle",
      "z-index": 1, "overlay-opacity": 0, "underlay-opacity": 0 } },
    { selector: "edge", style: {
      width: 1.1, "line-color": colour.edge, "curve-style": "bezier", "control-point-step-size": 26, "z-index": 0, "overlay-opacity": 0 } },
    { selector: "node.ghost", style: { width: 6, height: 6, "background-color": colour.card, "border-width": 1, "border-color": colour.ghost, "border-style": "dashed", color: colour.muted } },
    { selector: "edge.ghost", style: { "line-color": colour.ghost, "line-style": "dashed", "line-dash-pattern": [3, 4], width: 1 } },
    { selector: "node.path", style: { width: 11, height: 11, "background-color": colour["path-soft"], "z-index": 4 } },
    { selector: "node.best", style: { width: 12, height: 12, "background-color": colour.path, "z-index": 5 } },
    { selector: "edge.path", style: numbered(colour["path-soft"], colour["on-path"], font, 2.4, 2) },
    { selector: "edge.best", style: numbered(colour.path, colour["on-path"], font, 3.2, 3) },
    { selector: "node.question", style: { shape: "diamond", width: 17, height: 17, "background-color": colour.seed, "border-width": 0, "z-index": 7, "font-weight": 600, color: colour.text } },
    { selector: "node.answer", style: { shape: "star", width: 20, height: 20, "background-color": colour.good, "border-width": 0, "z-index": 6, color: colour.text } },
    { selector: "node.answer.ghost", style: { "background-color": colour.card, "border-width": 1.4, "border-color": colour.good, "border-style": "solid", color: colour.muted } },
    { selector: "node.lost", style: { "background-color": colour.card, "border-width": 1.6, "border-color": colour.bad, "border-style": "dashed" } },
    { selector: "node.dim", style: { opacity: 0.22, "z-index": 0 } },
    { selector: "edge.dim", style: { opacity: 0.16, label: "", "z-index": 0 } },
    { selector: "node.lit", style: { "z-index": 8, color: colour.text } },
    ...Object.entries(tones).flatMap(([name, tone]) => [
      { selector: `node.lit.tone-${name}`, style: { width: 12, height: 12, "border-style": "solid", ...(name === "found" ? { "background-color": tone } : { "background-color": colour.card, "border-width": 2, "border-color": tone }) } },
      { selector: `edge.lit.tone-${name}`, style: { ...numbered(tone, colour.card, font, 3.2, 8), "line-style": name === "found" ? "solid" : "dashed", "line-dash-pattern": [6, 4] } },
    ]),
    { selector: "node.lit.question", style: { width: 17, height: 17, "background-color": colour.seed, "border-width": 0 } },
    { selector: "node.lit.answer", style: { width: 20, height: 20, "background-color": colour.good, "border-width": 0 } },
    { selector: "node.lit.lost", style: { "background-color": colour.card, "border-width": 1.6, "border-color": colour.bad, "border-style": "dashed" } },
  ];
}

function numbered(line, ink, font, width, z) {
  return {
    "line-color": line, width, "line-style": "solid", label: "data(step)", color: ink, "font-family": font, "font-size": 9, "font-weight": 700,
    "text-background-color": line, "text-background-opacity": 1, "text-background-padding": 3, "text-background-shape": "circle", "z-index": z,
  };
}

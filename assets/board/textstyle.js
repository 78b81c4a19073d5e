// The looks of a picture of documents: passages are rectangles, entities dots, communities and summaries dashed rings; gold is green.

export function textStyles(colour, wide, line) {
  const box = (width, height, radius = 3) => ({ ...wide(width), height: wide(height).height, shape: "round-rectangle", "corner-radius": radius });
  const ring = { ...wide(22), shape: "ellipse", "background-opacity": 0, "border-width": 2 * line, "border-style": "dashed", "border-color": colour.ring };
  return [
    { selector: "node.passage", style: { ...box(15, 11), "background-color": colour.path } },
    { selector: "node.gold", style: { ...box(17, 13), "background-color": colour.good, "border-width": 0, "z-index": 6, color: colour.text } },
    { selector: "node.entity.path", style: { ...wide(11), "background-color": colour.path } },
    { selector: "node.community", style: ring },
    { selector: "node.passage.ghost", style: { ...box(12, 9), "background-color": colour.canvas, "border-width": 1, "border-color": colour.ghost, "border-style": "dashed" } },
    { selector: "node.community.ghost", style: { ...wide(18), "border-width": line, "border-color": colour.ghost } },
    { selector: "node.gold.lost", style: { "background-color": colour.canvas, "border-width": 1.8 * line, "border-color": colour.bad, "border-style": "dashed" } },
    { selector: "edge.documents", style: { "line-color": colour.edge, width: 1.2 * line, label: "" } },
    { selector: "edge.documents.path", style: { "line-color": colour["path-soft"], width: 1.8 * line } },
  ];
}

// Half the width of such a node; null for any other.
export function textRadius(mark) {
  return /\b(gold|passage)\b/.test(mark) ? 8.5 : /\bcommunity\b/.test(mark) ? 11 : null;
}

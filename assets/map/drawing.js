// What draws the map, in a worker: its source becomes a Blob, so it uses nothing of this module.
//
// Positions are numbered by rank: 0 is the best connected node. A view is { scale, x, y }: a position p from 0 to 1 is at p * scale + x in CSS
// pixels. Messages: load, names, draw, at (the node at a point), find (nodes by name); each is answered under its name.

export function drawing() {
  const MAX_EDGES = 40_000, MAX_THROUGH = 1500, MAX_NAMES = 90, STROKE_EDGES = 1500;
  let n = 0, m = 0, ids, degrees, starts, tails, xy, topicHues, typeHues, names = [], folded = [], base, baseKey = "", told = {};
  let sx, sy, radii, mean;
  const radius = (i, scale) => {
    const gap = (0.6 * scale) / Math.sqrt(n);  // between two nodes, about
    return Math.min(Math.max(2.5, Math.min(18, gap)), Math.max(0.75, gap * 0.15 * (Math.max(1, degrees[i]) / mean) ** 0.42));
  };

  const unpack = (buffer) => new Response(new Blob([buffer]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();

  function read(buffer) {
    let at = 12;
    [baseKey, names, folded] = ["", [], []];
    [n, m] = new Uint32Array(buffer, 0, 3);
    const take = (Kind, count) => {
      const values = new Kind(buffer, at, count);
      at += values.byteLength;
      return values;
    };
    [ids, degrees, starts] = [take(Uint32Array, n), take(Uint32Array, n), new Uint32Array(n + 1)];
    const counts = take(Uint32Array, n);
    tails = take(Uint32Array, m);
    [xy, topicHues, typeHues] = [take(Uint16Array, 2 * n), take(Uint8Array, n), take(Uint8Array, n)];
    for (let i = 0; i < n; i++) starts[i + 1] = starts[i] + counts[i];
    mean = Math.max(1, degrees.reduce((sum, degree) => sum + degree, 0) / n);
    [sx, sy, radii] = [new Float32Array(n), new Float32Array(n), new Float32Array(n)];
  }

  // Screen positions and radii of all nodes in a view.
  function project({ scale, x, y }) {
    for (let i = 0; i < n; i++) {
      sx[i] = (xy[2 * i] / 65535) * scale + x;
      sy[i] = (xy[2 * i + 1] / 65535) * scale + y;
      radii[i] = radius(i, scale);
    }
  }

  // Pairs of ends of the edges that cross the picture, those within a colour first. If there are too many, those
  // without an end in it are left out, and of the others a sample remains.
  function visibleEdges(width, height, hues) {
    const inner = [], outer = [], through = [], inside = (i) => sx[i] >= 0 && sx[i] <= width && sy[i] >= 0 && sy[i] <= height;
    for (let a = 0; a < n; a++) {
      for (let k = starts[a]; k < starts[a + 1]; k++) {
        const b = tails[k];
        if (Math.max(sx[a], sx[b]) < 0 || Math.min(sx[a], sx[b]) > width || Math.max(sy[a], sy[b]) < 0 || Math.min(sy[a], sy[b]) > height) continue;
        if (Math.abs(sx[a] - sx[b]) + Math.abs(sy[a] - sy[b]) < 1) continue;
        const side = (x, y) => Math.sign((sx[b] - sx[a]) * (y - sy[a]) - (sy[b] - sy[a]) * (x - sx[a]));
        if (Math.abs(side(0, 0) + side(width, 0) + side(0, height) + side(width, height)) === 4) continue;
        (!inside(a) && !inside(b) ? through : hues[a] && hues[a] === hues[b] ? inner : outer).push(a, b);
      }
    }
    const sample = (edges, room) => {
      const step = Math.ceil(edges.length / 2 / Math.max(1, room));
      return step < 2 ? edges : edges.filter((_, at) => (at >> 1) % step === 0);
    };
    const seen = (inner.length + outer.length + through.length) / 2, within = sample(inner, MAX_EDGES / 2);
    if (through.length <= 2 * MAX_THROUGH) outer.push(...through);
    return { seen, inner: within, outer: sample(outer, MAX_EDGES - within.length / 2) };
  }

  // Strokes edges in short pieces: one long path takes a canvas much longer.
  function stroke(context, edges) {
    for (let first = 0; first < edges.length; first += 2 * STROKE_EDGES) {
      context.beginPath();
      for (let at = first; at < Math.min(edges.length, first + 2 * STROKE_EDGES); at += 2) {
        context.moveTo(sx[edges[at]], sy[edges[at]]);
        context.lineTo(sx[edges[at + 1]], sy[edges[at + 1]]);
      }
      context.stroke();
    }
  }

  // Opacity with which edges cover about this part of an area.
  function opacity(edges, area, part) {
    let length = 0;
    for (let at = 0; at < edges.length; at += 2) length += Math.hypot(sx[edges[at]] - sx[edges[at + 1]], sy[edges[at]] - sy[edges[at + 1]]);
    return Math.max(0.025, Math.min(0.6, (part * area) / Math.max(1, length)));
  }

  function drawBase(context, { width, height, theme, byType }) {
    const hues = byType ? typeHues : topicHues;
    const { seen, inner, outer } = visibleEdges(width, height, hues);
    Object.assign(context, { lineWidth: 0.8, strokeStyle: theme.edge, globalAlpha: opacity(outer, width * height, 0.16) });
    stroke(context, outer);
    context.globalAlpha = opacity(inner, width * height, 0.16);
    for (let hue = 1; hue < theme.hues.length; hue++) {
      context.strokeStyle = theme.hues[hue];
      stroke(context, inner.filter((_, at) => hues[inner[at - (at % 2)]] === hue));
    }
    context.globalAlpha = 1;
    let drawn = 0;
    for (let hue = 0; hue < theme.hues.length; hue++) {
      context.fillStyle = theme.hues[hue];
      for (let i = n - 1; i >= 0; i--) {
        const r = radii[i];
        if (hues[i] !== hue || sx[i] < -r || sx[i] > width + r || sy[i] < -r || sy[i] > height + r) continue;
        drawn++;
        if (r < 1.3) context.fillRect(sx[i] - r, sy[i] - r, 2 * r, 2 * r);
        else circle(context, i, r).fill();
      }
    }
    told = { nodes: drawn, edges: (inner.length + outer.length) / 2, seen };
  }

  function circle(context, i, r) {
    context.beginPath();
    context.arc(sx[i], sy[i], r, 0, 2 * Math.PI);
    return context;
  }

  // The sets of nodes that are marked, the largest first, with the edges inside each; the rest of the map becomes pale.
  function drawMarks(context, { width, height, theme, marks, chosen }) {
    if (marks.length) {
      Object.assign(context, { globalAlpha: 0.6, fillStyle: theme.paper });
      context.fillRect(0, 0, width, height);
      context.globalAlpha = 1;
    }
    marks.forEach(({ colour, nodes }, number) => {
      const marked = new Set(nodes), edges = [], least = nodes.length > 200 ? 1.5 : 3, border = 1.8 * (marks.length - 1 - number);
      for (const a of nodes) for (let k = starts[a]; k < starts[a + 1]; k++) if (marked.has(tails[k])) edges.push(a, tails[k]);
      const globalAlpha = Math.max(0.12, opacity(edges, width * height, 0.14));
      Object.assign(context, { strokeStyle: colour, fillStyle: colour, lineWidth: edges.length > 400 ? 0.8 : 1.6, globalAlpha });
      stroke(context, edges);
      context.globalAlpha = 1;
      for (const i of nodes) circle(context, i, Math.max(least, radii[i]) + border).fill();
    });
    if (chosen !== null) {
      Object.assign(context, { strokeStyle: theme.text, lineWidth: 2.5 });
      circle(context, chosen, Math.max(4, radii[chosen]) + 4).stroke();
    }
  }

  // Names from the best connected node on, where they cover no other.
  function drawNames(context, { width, height, theme, marks, chosen, titles }) {
    const boxes = [], written = new Set();
    const write = (i, text, bold) => {
      if (!text || written.has(i) || sx[i] < 0 || sx[i] > width || sy[i] < 0 || sy[i] > height) return;
      context.font = `${bold ? 600 : 400} ${bold ? 13.5 : 12}px ${theme.font}`;
      const half = context.measureText(text).width / 2 + 3, top = sy[i] + radii[i] + 1;
      const x = Math.min(Math.max(sx[i], half), width - half), box = [x - half, top, x + half, top + 16];
      if (boxes.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) return;
      boxes.push(box);
      written.add(i);
      context.strokeText(text, x, top + 12);
      context.fillText(text, x, top + 12);
    };
    Object.assign(context, { textAlign: "center", lineJoin: "round", lineWidth: 3.5, strokeStyle: theme.paper, fillStyle: theme.text });
    if (chosen !== null) write(chosen, names[chosen], true);
    for (const { nodes } of [...marks].reverse()) for (const i of nodes.slice(0, MAX_NAMES)) if (written.size < MAX_NAMES) write(i, names[i], false);
    for (const [text, i] of titles) write(i, text, true);
    for (let i = 0; i < n && !marks.length && written.size < MAX_NAMES && radii[i] >= 2.6; i++) write(i, names[i], false);
    return written.size;
  }

  function draw(request) {
    const { width, height, ratio, view, theme, byType } = request;
    const started = performance.now(), key = JSON.stringify([width, height, ratio, view, theme, byType]);
    const fresh = () => {
      const canvas = new OffscreenCanvas(Math.round(width * ratio), Math.round(height * ratio)), context = canvas.getContext("2d");
      context.scale(ratio, ratio);
      return [canvas, context];
    };
    if (key !== baseKey) {
      project(view);
      const [canvas, context] = fresh();
      drawBase(context, request);
      [base, baseKey] = [canvas, key];
    }
    const [canvas, context] = fresh();
    context.drawImage(base, 0, 0, width, height);
    drawMarks(context, request);
    const named = drawNames(context, request);
    return { ...told, names: named, view, width, height, bitmap: canvas.transferToImageBitmap(), ms: performance.now() - started };
  }

  // The node at a point, or the nearest one that is at most some pixels away.
  function nodeAt({ x, y, view }) {
    let best = -1, least = Infinity;
    for (let i = 0; i < n; i++) {
      const dx = (xy[2 * i] / 65535) * view.scale + view.x - x, dy = (xy[2 * i + 1] / 65535) * view.scale + view.y - y;
      const away = Math.hypot(dx, dy) - radius(i, view.scale);
      if (away < 6 && away < least) [best, least] = [i, away];
    }
    return best < 0 ? null : about(best);
  }

  const about = (i) => ({ number: i, id: ids[i], name: names[i] ?? "", degree: degrees[i], x: xy[2 * i] / 65535, y: xy[2 * i + 1] / 65535 });

  // Nodes by name: those that begin with the words, then those with a word that does, then those that contain them.
  function find({ text, count }) {
    const words = fold(text), groups = [[], [], []];
    if (folded.length !== names.length) folded = names.map(fold);
    for (let i = 0; i < folded.length; i++) {
      const at = folded[i].indexOf(words);
      if (at >= 0) groups[at === 0 ? 0 : /\W/.test(folded[i][at - 1]) ? 1 : 2].push(i);
    }
    return groups.flat().slice(0, count).map(about);
  }

  const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();

  async function answer({ kind, buffer, ...request }) {
    if (kind === "load") read(await unpack(buffer));
    else if (kind === "names") names = new TextDecoder().decode(await unpack(buffer)).split("\n");
    else return { draw, at: nodeAt, find }[kind](request);
    const ends = (side) => xy.reduce(([low, high], at, i) => (i % 2 === side ? [Math.min(low, at), Math.max(high, at)] : [low, high]), [65535, 0]);
    return { n, m, across: ends(0).map((at) => at / 65535), down: ends(1).map((at) => at / 65535) };
  }

  let last = Promise.resolve();
  onmessage = ({ data }) => {
    last = last.then(async () => {
      const reply = await answer(data);
      postMessage({ number: data.number, reply }, reply?.bitmap ? [reply.bitmap] : []);
    });
  };
}

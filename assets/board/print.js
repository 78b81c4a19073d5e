// Printing: all lanes on one page, with pictures that take the size that it leaves them. On a page of the app nothing else is printed.

import { graphPicture } from "./picture.js";

const PAGE = `@page { size: landscape; margin: 8mm; }
@media print { [data-off-print] { display: none !important; }
[data-on-print] { display: block !important; position: static !important; width: auto !important; max-width: none !important; height: auto !important; min-height: 0 !important; margin: 0 !important; padding: 0 !important; overflow: visible !important; } }`;

export class Print {
  constructor(board) {
    this.board = board;
    this.events = { beforeprint: () => this.begin(), afterprint: () => this.end() };
    for (const [name, act] of Object.entries(this.events)) addEventListener(name, act);
  }

  begin() {
    const { element, lanes, payload, root } = this.board;
    this.end();
    this.sheet ??= new CSSStyleSheet(); // a style element would be refused by a strict content security policy
    this.sheet.replaceSync(PAGE);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.sheet];
    for (const { graph } of lanes.values()) {
      if (!graph.cy || !graph.canvas.clientWidth) continue;
      const picture = graphPicture(graph);
      picture.setAttribute("class", "printed");
      graph.stage.append(picture);
      this.parts.push(picture);
    }
    const alone = Boolean(root.host) && Boolean(payload.present || payload.editable);
    element.classList.toggle("printed-alone", alone);
    for (let node = root.host; alone && node && node !== document.body; node = node.parentElement ?? node.getRootNode().host) {
      node.setAttribute("data-on-print", "");
      for (const other of node.parentElement?.children ?? []) if (other !== node) other.setAttribute("data-off-print", "");
    }
  }

  end() {
    for (const part of this.parts ?? []) part.remove();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.sheet);
    this.parts = [];
    for (const name of ["data-on-print", "data-off-print"]) for (const node of document.querySelectorAll(`[${name}]`)) node.removeAttribute(name);
  }

  destroy() {
    this.end();
    for (const [name, act] of Object.entries(this.events)) removeEventListener(name, act);
  }
}

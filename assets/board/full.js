// One graph on the whole screen; Escape leaves.

import { button, el, setHidden, setText, svg } from "./dom.js";
import { laneName } from "./words.js";
import { tr } from "../wording.js";

const CORNERS = "M9 4H4v5M15 4h5v5M9 20H4v-5M15 20h5v-5";

export class FullScreen {
  constructor(graph) {
    this.graph = graph;
    this.on = false;
    this.title = el("p", { class: "full-title", hidden: true });
    this.button = button("tool full-screen", "", tr("Full screen"), () => (this.on ? this.leave() : this.enter()));
    this.button.append(svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: CORNERS })));
    this.onKey = (event) => event.key === "Escape" && !event.defaultPrevented && this.leave();
  }

  get element() {
    return this.graph.element;
  }

  // The whole screen where the browser gives it, else the whole window.
  async enter() {
    this.set(true);
    try {
      await this.element.requestFullscreen();
      this.native = true;
    } catch {
      this.element.popover = "manual";
      this.element.showPopover();
    }
    document.addEventListener("keydown", this.onKey);
    if (!this.native) return;
    this.onChange = () => {
      if (this.element.getRootNode().fullscreenElement !== this.element) this.leave();
    };
    document.addEventListener("fullscreenchange", this.onChange);
  }

  leave() {
    if (!this.on) return;
    document.removeEventListener("keydown", this.onKey);
    document.removeEventListener("fullscreenchange", this.onChange);
    if (this.native && document.fullscreenElement) document.exitFullscreen();
    if (this.element.popover) {
      this.element.hidePopover();
      this.element.popover = null;
    }
    this.native = false;
    this.set(false);
  }

  set(on) {
    this.graph.board.panel.close();
    this.on = on;
    this.element.classList.toggle("full", on);
    setText(this.title, `${laneName(this.graph.lane.data)}${this.graph.board.payload.question ? `: ${this.graph.board.payload.question}` : ""}`);
    setHidden(this.title, !on);
    this.button.setAttribute("aria-label", on ? tr("Leave the full screen") : tr("Full screen"));
    this.button.title = on ? tr("Leave the full screen (Esc)") : tr("Full screen");
    this.button.setAttribute("aria-pressed", String(on));
    this.graph.rescale();
  }
}

// The theme of the page around the board, read from its computed style.

import { changed, el, setAttribute } from "./dom.js";

const COLOURS = [
  "card", "canvas", "text", "muted", "line", "node", "edge", "ghost", "path", "path-soft", "same", "seed", "good", "warn", "bad", "on-path", "on-soft", "on-same", "accent", "ring",
];

export class Theme {
  constructor(element, onChange) {
    this.element = element;
    this.memo = {};
    this.probe = el("span", { class: "sr-only", "aria-hidden": "true" });
    this.dark = globalThis.matchMedia("(prefers-color-scheme: dark)");
    this.onChange = onChange;
    this.dark.addEventListener("change", onChange);
  }

  // Reads it anew; true when a colour or the font is another than before.
  read() {
    const host = getComputedStyle(this.element).getPropertyValue("--st-background-color").trim();
    const dark = host && host !== "unset" ? luminance(this.resolve(host)) < 0.4 : this.dark.matches;
    setAttribute(this.element, "data-theme", dark ? "dark" : "light");
    this.font = getComputedStyle(this.element).fontFamily;
    this.colours = Object.fromEntries(COLOURS.map((name) => [name, this.resolve(`var(--${name})`)]));
    return changed(this.memo, "theme", [this.colours, this.font]);
  }

  // Any CSS colour as [r, g, b]: the canvas does not read custom properties.
  resolve(colour) {
    this.probe.style.color = "";
    this.probe.style.color = colour;
    this.pixel ??= el("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
    this.pixel.clearRect(0, 0, 1, 1);
    this.pixel.fillStyle = getComputedStyle(this.probe).color;
    this.pixel.fillRect(0, 0, 1, 1);
    return [...this.pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }

  destroy() {
    this.dark.removeEventListener("change", this.onChange);
  }
}

function luminance([red, green, blue]) {
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
}

// Dragging: a brick to another slot, a step of the palette into a slot or over a brick. Where it may be dropped is in the data.

import { el } from "../board/dom.js";

const STARTS = 6; // pixels that the pointer moves before it drags
const NEAR = 90; // pixels from a slot at which it takes what is dropped
const EDGE = 48; // pixels from the window's edge at which what holds the line scrolls on

export class Drag {
  constructor(bench) {
    this.bench = bench;
    this.active = null;
    this.ended = false; // whether a drag has just ended, whose click is none
    bench.element.addEventListener("pointerdown", (event) => this.down(event));
    this.move = (event) => this.moved(event);
    this.up = (event) => this.dropped(event);
    this.escape = (event) => event.key === "Escape" && this.cancel();
  }

  down(event) {
    this.ended = false;
    if (event.button !== 0 || event.target.closest(".mini, .slot, input, select, textarea")) return;
    const touch = event.pointerType === "touch";
    const entry = event.target.closest(".entry");
    const brick = event.target.closest("[data-brick]");
    if (touch && !event.target.closest(".grip")) return; // a finger scrolls, but at the grip
    if (!entry && !brick) return;
    this.from = { x: event.clientX, y: event.clientY };
    this.source = entry ?? brick;
    this.what = entry ? { entry: entry.given } : { brick: Number(brick.dataset.brick), moves: movesOf(this.bench.data.bricks, Number(brick.dataset.brick)) };
    for (const [name, on] of this.listeners()) document.addEventListener(name, on);
  }

  listeners() {
    return [["pointermove", this.move], ["pointerup", this.up], ["pointercancel", this.escapeAll ??= () => this.cancel()], ["keydown", this.escape]];
  }

  moved(event) {
    if (!this.active) {
      if (Math.hypot(event.clientX - this.from.x, event.clientY - this.from.y) < STARTS) return;
      this.begin();
    }
    event.preventDefault();
    this.ghost.style.translate = `${event.clientX + 12}px ${event.clientY + 12}px`;
    this.scroll(event.clientY);
    this.over(this.target(event.clientX, event.clientY));
  }

  // A line or palette that is longer than the window moves on under what is dragged to its edge.
  scroll(y) {
    const by = y < EDGE ? -14 : y > globalThis.innerHeight - EDGE ? 14 : 0;
    if (!by) return;
    for (let node = this.bench.element; node; node = node.parentNode ?? node.host) {
      if (!(node instanceof Element)) continue;
      if (node.scrollHeight > node.clientHeight + 1 && ["auto", "scroll"].includes(getComputedStyle(node).overflowY)) return void node.scrollBy(0, by);
    }
  }

  begin() {
    const { entry, brick } = this.what;
    this.active = this.what;
    const slots = new Set(entry ? entry.slots : this.what.moves);
    const bricks = new Set(entry ? entry.bricks : []);
    this.places = [];
    for (const one of this.bench.line.querySelectorAll("[data-slot]")) {
      const inside = one.closest(`[data-brick="${brick}"]`);
      const fits = slots.has(one.dataset.slot);
      if (inside || (entry && !fits)) continue; // a brick may go anywhere, a new step only where it fits
      one.classList.add(fits ? "fits" : "anyway");
      this.places.push({ element: one, slot: one.dataset.slot });
    }
    for (const one of this.bench.line.querySelectorAll("[data-brick]"))
      if (bricks.has(Number(one.dataset.brick))) {
        one.classList.add("takes");
        this.places.push({ element: one, key: Number(one.dataset.brick) });
      }
    this.source.classList.add("dragged");
    this.ghost = el("div", "ghost", entry ? entry.title : this.source.querySelector(".name").textContent);
    this.bench.element.append(this.ghost);
    this.bench.element.classList.add("dragging");
  }

  // The brick under the pointer that it may replace, else the nearest slot.
  target(x, y) {
    const inner = this.places.filter(({ key, element }) => key !== undefined && within(middle(element.getBoundingClientRect()), x, y));
    if (inner.length) return inner.at(-1);
    let best = null;
    let least = NEAR;
    for (const place of this.places) {
      if (place.slot === undefined) continue;
      const box = place.element.getBoundingClientRect();
      const away = Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
      if (away < least) [best, least] = [place, away];
    }
    return best;
  }

  over(place) {
    if (this.place === place) return;
    this.place?.element.classList.remove("over");
    this.place = place;
    place?.element.classList.add("over");
  }

  dropped() {
    const { place, active } = this;
    this.cancel();
    if (!active) return;
    this.ended = true; // the click that follows is none
    setTimeout(() => { this.ended = false; }, 0);
    if (!place) return;
    if (active.entry && place.key !== undefined) this.bench.edit({ do: "replace", key: place.key, name: active.entry.name }, true);
    else if (active.entry) this.bench.edit({ do: "insert", slot: place.slot, name: active.entry.name }, true);
    else this.bench.edit({ do: "move", key: active.brick, slot: place.slot }, true);
  }

  cancel() {
    for (const [name, on] of this.listeners()) document.removeEventListener(name, on);
    this.over(null);
    this.ghost?.remove();
    this.source?.classList.remove("dragged");
    this.bench.element.classList.remove("dragging");
    for (const { element } of this.places ?? []) element.classList.remove("fits", "anyway", "takes");
    [this.active, this.ghost, this.places] = [null, null, null];
  }

  destroy() {
    this.cancel();
  }
}

function movesOf(bricks, key) {
  for (const brick of bricks) {
    if (brick.key === key) return brick.moves;
    for (const arm of brick.arms) {
      const found = movesOf(arm.bricks, key);
      if (found) return found;
    }
  }
  return null;
}

// The part of a brick over which a drop replaces it; at its edges the slots beside it are meant.
function middle({ left, right, top, bottom }) {
  const edge = Math.min(28, (right - left) / 5);
  return { left: left + edge, right: right - edge, top, bottom };
}

function within({ left, right, top, bottom }, x, y) {
  return x >= left && x <= right && y >= top && y <= bottom;
}

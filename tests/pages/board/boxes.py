"""Boxes that a person sees in the lanes of a board.

They serve to find those that overlap or are cut.
"""

from __future__ import annotations

# A text is the block that holds it, clipped by what hides its overflow, as it is seen.
FAULTS = """lanes => {
    const CONTROLS = '.stage-box, button, input, select, .bar, .times-bar';
    const hides = node => getComputedStyle(node).overflowY !== 'visible';
    const marked = node => {
        const style = getComputedStyle(node);
        return style.webkitLineClamp !== 'none' || style.textOverflow === 'ellipsis' || node.matches('.goes-on');
    };
    const seen = node => node.checkVisibility({ opacityProperty: true, visibilityProperty: true })
        && !node.closest(".sr-only, .tip");
    const block = node => {
        let box = node.parentElement;
        while (getComputedStyle(box).display.startsWith('inline') && !box.matches('button')) box = box.parentElement;
        return box;
    };
    const clipped = (rect, from, lane, cut) => {
        let { left, top, right, bottom } = rect;
        for (let box = from; box && box !== lane.parentElement; box = box.parentElement) {
            if (!hides(box)) continue;
            const edge = box.getBoundingClientRect();
            if (bottom > edge.bottom + 4 || right > edge.right + 4 || top < edge.top - 4) cut(box);
            left = Math.max(left, edge.left); right = Math.min(right, edge.right);
            top = Math.max(top, edge.top); bottom = Math.min(bottom, edge.bottom);
        }
        return { left, top, right, bottom };
    };
    const faults = [];
    for (const lane of lanes) {
        const found = [];
        const add = (node, rect, text) => {
            const cut = box => marked(box) || faults.push(`cut by ${box.className}: ${text}`);
            const shown = clipped(rect, node, lane, cut);
            if (shown.right - shown.left > 1 && shown.bottom - shown.top > 1) found.push({ node, text, ...shown });
        };
        for (const box of lane.querySelectorAll(CONTROLS)) if (seen(box)) add(box, box.getBoundingClientRect(), box.className);
        const walk = document.createTreeWalker(lane, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {
            const { currentNode: text } = walk;
            if (!text.data.trim() || !seen(text.parentElement)) continue;
            const range = document.createRange();
            range.selectNodeContents(text);
            for (const rect of range.getClientRects()) add(block(text), rect, text.data.trim().slice(0, 40));
        }
        found.forEach((one, index) => found.slice(index + 1).forEach(other => {
            if (one.node.contains(other.node) || other.node.contains(one.node)) return;
            const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
            const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
            if (wide > 2 && high > 4) faults.push(`${one.text} lies over ${other.text}`);
        }));
    }
    return [...new Set(faults)];
}"""
# The smallest picture, as a share of the height of its lane.
PICTURES = """() => [...document.querySelectorAll('.lane')].filter(lane => lane.checkVisibility()).map(lane =>
    lane.querySelector('.stage-box').clientHeight / lane.clientHeight)"""


def faults(page) -> list[str]:
    """Boxes of a lane that lie over one another, and texts that are cut without a sign."""
    return page.locator(".lane").evaluate_all(FAULTS)


def picture_shares(page) -> list[float]:
    """The height of each lane's picture as a share of its lane."""
    return page.evaluate(PICTURES)

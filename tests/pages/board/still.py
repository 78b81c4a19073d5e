"""Signs that a board has come to rest."""

from __future__ import annotations

FRAMES = 6  # frames without a change
# Where everything is drawn, of the page and on the canvases.
REST = """frames => new Promise(done => {
    const seen = () => JSON.stringify([...document.querySelectorAll('.hb, .lane, .graph, .stage-box')].map(box => {
        const { x, y, width, height } = box.getBoundingClientRect();
        const cy = box.lane?.graph?.cy;
        return [x, y, width, height, cy && [cy.zoom(), cy.pan(), cy.width(), cy.height(), cy.nodes().map(node => node.position())]];
    }));
    let last = '', same = 0;
    const look = () => {
        const now = seen();
        same = now === last && !document.getAnimations().some(one => one.playState === 'running') ? same + 1 : 0;
        last = now;
        same < frames ? requestAnimationFrame(look) : done();
    };
    look();
})"""


def still(page) -> None:
    """Wait until nothing on the board has moved for some frames."""
    page.evaluate(REST, FRAMES)

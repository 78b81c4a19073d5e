"""A page as Present draws it: the head with the question, and under it the board."""

from __future__ import annotations

from pages.parts.board.component import join_board_script, join_board_styles
from pages.parts.board.html_report import CYTOSCAPE_FILE, _escape_end_tags
from pages.parts.shared.scripts import ASSETS_FOLDER, join_modules

PAGE = """<!doctype html><meta charset="utf-8"><style>{css}
body {{ margin: 0; padding: 14px 24px 8px; }} #head {{ margin-bottom: 8px; }}</style>
<div id="head"></div><div id="board"></div><script>{cytoscape}</script>
<script type="module">{head}</script>
<script type="module">{board}
globalThis.pressed = [];
globalThis.present = (payload) => {{
  const data = {{ question: payload.question, entities: [], answers: [], number: 1, of: 5, who: "", done: 0 }};
  presenter({{ data, parentElement: document.getElementById("head"), setTriggerValue: (name, told) => pressed.push(told) }});
  renderBoard(document.getElementById("board"), payload, {{ cytoscape: globalThis.cytoscape, onRepair: () => {{}} }});
}};
</script>"""


def open_room(browser):
    """Return a page on which `present(payload)` draws a presentation, without animations."""
    folder = ASSETS_FOLDER / "presenter"
    head = join_modules(folder / "presenter.js")
    page = browser.new_context(reduced_motion="reduce").new_page()
    page.set_content(
        PAGE.format(
            css=join_board_styles() + (folder / "presenter.css").read_text(encoding="utf-8"),
            cytoscape=_escape_end_tags(CYTOSCAPE_FILE.read_text(encoding="utf-8")),
            head=_escape_end_tags(head.replace("export default", "globalThis.presenter =")),
            board=_escape_end_tags(join_board_script()),
        )
    )
    page.wait_for_function("Boolean(globalThis.present && globalThis.presenter)")
    return page

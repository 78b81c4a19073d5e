"""Report of a comparison as one self-contained HTML file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from core.io.home import ROOT
from core.io.json_text import json_text
from pages.parts.board.component import join_board_script, join_board_styles

CYTOSCAPE_FILE = ROOT / "static" / "cytoscape.min.js"

# `<`, `>` and `&` could end the script element or start a comment in it. U+2028 and U+2029 end a
# line in older JavaScript engines.
SCRIPT_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}

REPORT_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{css}
body {{ margin: 0; background: #f6f7f9; color: #1f2933;
  font: 14px/1.45 -apple-system, "Segoe UI", Inter, Roboto, "Helvetica Neue", sans-serif; }}
main {{ max-width: 1720px; margin: 0 auto; padding: 22px clamp(14px, 2.4vw, 32px) 32px; }}
.report-head {{ margin-bottom: 16px; }}
.report-head h1 {{ margin: 0; font-size: 21px; line-height: 1.3; font-weight: 650; overflow-wrap: \
anywhere; }}
.report-head dl {{ display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 6px 0 0; font-size: \
12.5px; color: #5d6975; }}
.report-head div {{ display: flex; gap: 5px; min-width: 0; }}
.report-head dt::after {{ content: ":"; }}
.report-head dd {{ margin: 0; color: #1f2933; overflow-wrap: anywhere; }}
@media print {{
  main {{ display: flex; flex-direction: column; height: 97vh; padding: 0; }}
  #board {{ flex: 1; min-height: 0; }}
  #board .hb {{ height: 100%; }}
}}
@media (prefers-color-scheme: dark) {{
  body {{ background: #12171d; color: #e6ebf0; }}
  .report-head dl {{ color: #9aa5b1; }}
  .report-head dd {{ color: #e6ebf0; }}
}}
</style>
</head>
<body>
<main>
<header class="report-head">
<h1>{title}</h1>
<dl>{facts}</dl>
</header>
<div id="board"></div>
<noscript>This report draws itself with JavaScript, which is switched off here.</noscript>
</main>
<script type="application/json" id="payload">{payload}</script>
<script>{cytoscape}</script>
<script type="module">
{board}
globalThis.hopscopeReport = (payload) => renderBoard(document.getElementById("board"), payload, {{ \
cytoscape: globalThis.cytoscape }});
globalThis.hopscopeReport(JSON.parse(document.getElementById("payload").textContent));
</script>
</body>
</html>
"""


def script_json(value: Any) -> str:
    """Return a value as JSON that is safe inside a script element."""
    return json_text(value).translate(SCRIPT_ESCAPES)


def report_html(payload: Mapping[str, Any], title: str, meta: Mapping[str, Any]) -> str:
    """Return one HTML file that opens from disk without a network.

    Parameters
    ----------
    payload : data of the board.
    title : heading of the page, as plain text.
    meta : facts, shown as ``name: value`` under the title; those that are None or "" are left out.
    """
    facts = "".join(
        f"<div><dt>{escape(str(name))}</dt><dd>{escape(str(value))}</dd></div>"
        for name, value in meta.items()
        if value not in (None, "")
    )
    return REPORT_PAGE.format(
        title=escape(title),
        facts=facts,
        css=join_board_styles(),
        payload=script_json(payload),
        cytoscape=_escape_end_tags(CYTOSCAPE_FILE.read_text(encoding="utf-8")),
        board=_escape_end_tags(join_board_script()),
    )


def _escape_end_tags(text: str) -> str:
    """Return a script in which no text ends the script element around it."""
    return re.sub(r"</(script)", r"<\\/\1", text, flags=re.IGNORECASE)

"""Pages of HTML that draw a comparison without a server: one file, or a page of a folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from core.io.home import ROOT
from core.io.json_text import json_text
from pages.parts.board.component import join_board_script, join_board_styles
from pages.parts.shared.scripts import ASSETS_FOLDER
from pages.parts.shared.wording import language, tr

CYTOSCAPE_FILE = ROOT / "static" / "cytoscape.min.js"

# `<`, `>` and `&` could end the script element or start a comment in it. U+2028 and U+2029 end a
# line in older JavaScript engines.
SCRIPT_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}

PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Hopscope">
<link rel="icon" href="data:,">
<title>{title}</title>
{styles}
</head>
<body>
<main>
{content}
</main>
{scripts}
</body>
</html>
"""
BOARD = """<header class="report-head">
<h1>{title}</h1>
<dl>{facts}</dl>
{remarks}
</header>
<div id="board"></div>
<noscript>{noscript}</noscript>
<script type="application/json" id="payload">{payload}</script>"""


@dataclass(frozen=True)
class PageFrame:
    """Everything of a page around its content: style sheets, scripts, and what they may load."""

    policy: str  # content security policy
    styles: str  # elements of the head
    scripts: str = ""  # elements at the end of the body

    def page_html(self, title: str, content: str) -> str:
        """Return a page with this title, which is plain text, and this content, which is HTML."""
        return PAGE.format(
            language=escape(language() or "en"),
            policy=escape(self.policy),
            title=escape(title),
            styles=self.styles,
            content=content,
            scripts=self.scripts,
        )


def script_json(value: Any) -> str:
    """Return a value as JSON that is safe inside a script element."""
    return json_text(value).translate(SCRIPT_ESCAPES)


def report_html(payload: Mapping[str, Any], title: str, meta: Mapping[str, Any]) -> str:
    """Return one HTML file that opens from disk without a network.

    Parameters
    ----------
    payload, title, meta : as for `board_html`.
    """
    scripts = (CYTOSCAPE_FILE.read_text(encoding="utf-8"), join_report_script())
    frame = PageFrame(
        policy="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "img-src data:",
        styles=f"<style>{join_report_styles()}</style>",
        scripts="".join(f"<script>{_escape_end_tags(script)}</script>" for script in scripts),
    )
    return frame.page_html(title, board_html(payload, title, meta))


def board_html(
    payload: Mapping[str, Any], title: str, meta: Mapping[str, Any], remarks: str = ""
) -> str:
    """Return the content of a page with a board.

    Parameters
    ----------
    payload : data of the board.
    title : heading of the page, as plain text.
    meta : facts, shown as ``name: value`` under the title; those that are None or "" are left out.
    remarks : HTML under the facts.
    """
    facts = "".join(
        f"<div><dt>{escape(str(name))}</dt><dd>{escape(str(value))}</dd></div>"
        for name, value in meta.items()
        if value not in (None, "")
    )
    noscript = tr("This page draws itself with JavaScript, which is switched off here.")
    return BOARD.format(
        title=escape(title),
        facts=facts,
        remarks=remarks,
        noscript=escape(noscript),
        payload=script_json(payload),
    )


def join_report_script() -> str:
    """Return the script that draws the board of its page.

    It is no module, because browsers load none from disk.
    """
    modules = re.sub(r"^export (default )?", "", join_board_script(), flags=re.MULTILINE)
    mount = (ASSETS_FOLDER / "report.js").read_text(encoding="utf-8")
    return f'(() => {{\n"use strict";\n{modules}\n{mount}}})();\n'


def join_report_styles() -> str:
    """Return the style sheets of the board and of the page around it."""
    return join_board_styles() + (ASSETS_FOLDER / "report.css").read_text(encoding="utf-8")


def _escape_end_tags(text: str) -> str:
    """Return a script in which no text ends the script element around it."""
    return re.sub(r"</(script)", r"<\\/\1", text, flags=re.IGNORECASE)

"""Comparisons on a corpus that were made before, to open at once."""

from __future__ import annotations

from functools import partial

from core.cases.examples import demo
from pages.parts.compare.asked import open_case
from pages.parts.shared.buttons import button
from pages.parts.shared.sentences import write
from pages.parts.shared.session import source
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def answered_before() -> None:
    """A button for each shipped comparison on the chosen corpus, which opens without a model; nothing where there is none."""
    found = demo(source()) if source().is_corpus else ()
    if not found:
        return
    write("Answered before, to open at once:")
    for case in found:
        title = case.notes.partition(".")[0]
        button(
            tr("{question} :gray[{title}]", question=plain(case.question), title=plain(title)),
            partial(open_case, case),
            key=f"before-{case.id}",
            type="tertiary",
            icon="bolt",
        )

"""The Texts page on a corpus of five sentences, in a person's own folder.

It is opened through Streamlit's own test driver.
"""

from __future__ import annotations

import re
import time

from streamlit.testing.v1 import AppTest

from core.corpus import Document, write_corpus
from core.corpus.catalogue import corpora_folder
from core.io.home import ROOT
from core.sources import CorpusSource
from pages.parts.texts.text_trail import ENTITIES_VIEW

PAGE = str(ROOT / "pages" / "texts.py")
HOSTILE = "<img src=x onerror=alert(1)> **bold** {braces} $x$ [a](javascript:alert(2))"
DOCUMENTS = (
    Document(
        "ship",
        "Anna Berg sails to Turku. Anna Berg knows Olof Lind. The wind is cold.",
        "The <b>ship</b>",
        places=((0, "page 3"),),
    ),
    Document("town", f"Olof Lind lives in Turku. {HOSTILE}", "The town"),
)


def make(name: str = "small"):
    """A corpus of a person's own."""
    return write_corpus(corpora_folder() / name, DOCUMENTS, f"{name} texts")


def opened(name: str = "small", **state) -> AppTest:
    """The page with that corpus chosen, and the table in place of the picture."""
    at = AppTest.from_file(PAGE, default_timeout=60)
    at.session_state["source"] = CorpusSource(name)
    for key, value in ({"texts_view": ENTITIES_VIEW} | state).items():
        at.session_state[key] = value
    return at.run()


def until(at: AppTest, done) -> AppTest:
    for _ in range(300):
        at.run()
        if done():
            assert not at.exception
            return at
        time.sleep(0.1)
    raise AssertionError("nothing came")


def button(at: AppTest, label: str):
    return next(one for one in at.button if without_cost(one.label) == label)


def labels(at: AppTest) -> list[str]:
    return [without_cost(one.label) for one in at.button]


def without_cost(label: str) -> str:
    """The label of a button that starts a build, without what the build costs."""
    return re.sub(r" \([^()]*no AI\)$", "", label)


def texts(at: AppTest) -> str:
    """All that is said, as it was written for Markdown to show letter by letter."""
    said = "\n".join(
        one.value
        for kind in ("caption", "markdown", "text", "subheader", "error", "warning", "success")
        for one in at.get(kind)
    )
    return said.replace("\\", "")


def html(at: AppTest) -> str:
    return "\n".join(one.proto.body for one in at.get("html"))

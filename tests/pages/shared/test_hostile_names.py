"""No name of a stranger is drawn as an image or a link.

Such names stand in everything that data can name, and every page is drawn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

from core.builds import run_build
from core.cases import cases, duplicate
from core.cases.database import case_file
from core.corpus import Corpus, Document, write_corpus
from core.graph.building.build import build as build_graph
from core.io import digests
from core.io.home import ROOT
from core.methods.catalogue import find_method, save_method
from core.models.registry import Registry
from core.sources import CorpusSource, GraphSource
from core.types import Question
from pages.parts.shared.text import plain
from tests.benchmarks.fault_work import EXTRACT
from tests.server import open_page, server, settle

EVIL = "e=![p](http://evil.example/x)"
# but for the pictures of the shipped cases
RAW = re.compile(r'(?<!\\)\]\(http|<img(?! src="app/static/gallery/)', re.IGNORECASE)
NO_MARKDOWN = {  # what is shown as it is, or only in a field to type in, or is data of a component that is tested by itself
    *(
        "selectbox",
        "multiselect",
        "text_input",
        "text_area",
        "code_block",
        "text",
        "arrow_data_frame",
        "plotly_chart",
        "bidi_component",
    ),
    *("arrow_vega_lite_chart", "navigation", "json", "download_button_data", "iframe"),
}
WITH_NAMES = {
    "selectbox": ("label", "help"),
    "multiselect": ("label", "help"),
    "text_input": ("label", "help"),
    "text_area": ("label", "help"),
}
SHOWN_AS_IT_IS = {
    "id",
    "url",
    "key",
    "default",
    "value",
    "query_string",
    "form_id",
    "element_id",
    "group_id",
    "options_raw",
}


@pytest.fixture(scope="module")
def hostile(movies, tmp_path_factory):
    """A home in which whatever a person or a file can name is called so."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("hostile")
        patch.setenv("HOPSCOPE_HOME", str(home))
        triples = [(f"{EVIL} {n}", f"r{EVIL}{n % 2}", f"{EVIL} {(n + 1) % 6}") for n in range(6)]
        build_graph(triples, home / "graphs" / "evil", EVIL)
        texts = [
            Document(
                f"d{n}{EVIL}", f"{EVIL} Town{n} lies near Town{n + 1}. {EVIL}", f"{EVIL} {n}", EVIL
            )
            for n in range(4)
        ]
        asked = [Question(f"{EVIL}?", EVIL, answers=(EVIL,), gold=(f"d0{EVIL}",))]
        write_corpus(
            home / "corpora" / "evil",
            texts,
            EVIL,
            EVIL,
            EVIL,
            sets={"asked": (EVIL, asked)},
            examples=(f"{EVIL}?",),
        )
        run_build(Corpus.open(home / "corpora" / "evil"), EXTRACT, Registry())
        save_method(EVIL, find_method("lego-12").line, notes=EVIL)
        key = duplicate(next(case.id for case in cases() if case.example)).id
        with case_file().open_for_writing() as database:
            about = json.loads(
                database.execute("SELECT about FROM cases WHERE id = ?", (key,)).fetchone()[0]
            )
            row = (
                json.dumps(
                    digests.with_digest({**digests.check_own_digest(about), "question": EVIL})
                ),
                EVIL,
                json.dumps([EVIL]),
                key,
            )
            database.execute(
                "UPDATE cases SET about = ?, notes = ?, tags = ?, link = '{}' WHERE id = ?", row
            )
        yield home


def raw(message: Message, kind: str = "") -> Iterator[str]:
    """Yield what a message would have drawn as Markdown that holds a raw link."""
    if kind in NO_MARKDOWN and kind not in WITH_NAMES:
        return
    for field, value in message.ListFields():
        if field.name in SHOWN_AS_IT_IS or (
            kind in WITH_NAMES and field.name not in WITH_NAMES[kind]
        ):
            continue
        values = value if field.is_repeated else [value]
        for one in values:
            if isinstance(one, Message):
                yield from raw(one, field.name)
            elif isinstance(one, str) and RAW.search(one):
                yield f"{kind}.{field.name}: {one}"


def drawn(node) -> Iterator[str]:
    """The same of all that a page drew."""
    if getattr(node, "proto", None) is not None:
        yield from raw(node.proto, node.type)
    for child in getattr(node, "children", {}).values():
        yield from drawn(child)


PAGES = [path.stem for path in sorted((ROOT / "pages").glob("[a-z]*.py"))]


@pytest.mark.parametrize(
    "chosen", [GraphSource("evil"), CorpusSource("evil")], ids=["graph", "corpus"]
)
@pytest.mark.parametrize("page", PAGES)
def test_no_page_draws_a_name_as_markdown(hostile, page, chosen):
    at = AppTest.from_file(str(ROOT / "main.py"), default_timeout=120)
    at.session_state.source = chosen
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception
    assert [*drawn(at._tree)] == []
    if (page, chosen.kind) in (
        ("graphs", "graph"),
        ("compare", "graph"),
        ("compare", "corpus"),
        ("texts", "corpus"),
        ("cases", "graph"),
    ):
        assert "evil" in str(at._tree)  # what is looked for is there


def test_the_nearest_names_are_buttons_of_their_letters(hostile):
    at = AppTest.from_file(str(ROOT / "main.py"), default_timeout=120)
    at.session_state.source = GraphSource("evil")
    at.run()
    at.session_state.question, at.session_state.entities, at.session_state.submitted = (
        "who?",
        [f"{EVIL} 9"],
        True,
    )
    at.run()
    assert plain(f"{EVIL} 0") in [one.label for one in at.button] and [*drawn(at._tree)] == []


def test_a_browser_shows_no_foreign_image_and_link(hostile, browser):
    with (
        server(HOPSCOPE_HOME=str(hostile)) as (address, _),
        open_page(f"{address}/graphs?graph=evil") as page,
    ):
        page.get_by_text("e=!", exact=False).first.wait_for(timeout=120_000, state="attached")
        settle(page)
        found = "[...document.querySelectorAll('[src], [href]')].map(one => one.src || one.href).filter(one => one.includes('//evil'))"
        assert page.evaluate(found) == []


def test_the_check_finds_what_is_raw():
    calls = ("st.button(%r)", "st.radio('a', [%r])", "st.caption(%r)", "st.text(%r)")
    at = AppTest.from_string(
        "\n".join(["import streamlit as st", *(call % EVIL for call in calls)])
    )
    assert sorted(found.partition(":")[0] for found in drawn(at.run()._tree)) == [
        "button.label",
        "caption.body",
        "radio.options",
    ]

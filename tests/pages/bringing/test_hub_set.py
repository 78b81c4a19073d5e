"""A set named by its id on a page: fetched, then chosen like a file; what is in the way is a sentence."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from streamlit.testing.v1 import AppTest

from core.io.fetched import place_of


def page() -> None:
    import streamlit as st

    from pages.parts.bringing.hub_set import hub_set

    found = hub_set("field", "hf:x/y")
    if found is not None:
        st.write(f"read {found.name}: {found.path.read_bytes()!r}")


@pytest.fixture
def field(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    at = AppTest.from_function(page, default_timeout=60).run()

    def typed(id: str) -> str:
        at.text_input[0].set_value(id).run()
        for _ in range(20):
            if said := [one.value for one in (*at.error, *at.markdown, *at.caption)]:
                break
            at.run()
        assert not at.exception
        return " ".join(said).replace("\\", "")  # which `plain` puts before marks of Markdown

    return typed


def saved(id: str, content: bytes) -> None:
    """What was fetched before."""
    file = place_of(f"{id}.parquet")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def test_a_set_that_was_fetched_is_read_like_an_upload(field):
    saved("hf:a/b", b"PAR1rest")
    said = field("hf:a/b")
    assert (
        "read hf-a-b.parquet: b'PAR1rest'" in said and "remove that file to fetch it again" in said
    )


@pytest.mark.parametrize(
    "id, sentence",
    [
        ("rmanluo/RoG-webqsp", "Begin the id with hf: or irds:"),
        ("hf:/etc", "That is a folder on this computer"),
        ("hf:", "Name a set behind the colon"),
        ("<b>x</b>", "Begin the id with hf: or irds:"),
    ],
)
def test_what_is_no_id_is_a_sentence(field, id, sentence):
    assert sentence in field(id)


def test_where_no_hub_answers_or_the_package_is_missing_it_is_a_sentence(field, monkeypatch):
    class Down(ModuleType):
        def disable_progress_bars(self):
            pass

        def get_dataset_config_names(self, repository):
            raise ConnectionError("no route")

    monkeypatch.setitem(sys.modules, "datasets", Down("datasets"))
    monkeypatch.setattr("core.io.fetched._reach", lambda repository: None)
    assert (
        "No hub can be reached, so some/set cannot be fetched. Fetch its files elsewhere"
        in field("hf:some/set")
    )
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    assert "need the package ir_datasets, which is not installed: pip install ir_datasets" in field(
        "irds:beir/x"
    )


def test_documents_are_for_texts(field):
    place_of("irds:beir/x").mkdir(parents=True)
    assert "a set of documents with questions; add it on Texts" in field("irds:beir/x")


def test_where_the_app_is_shared_there_is_no_field(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_SHARED", "1")
    assert not AppTest.from_function(page, default_timeout=60).run().text_input

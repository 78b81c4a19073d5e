"""A set that is named by its id in the drop zone is fetched.

It is then taken like a file. Anything in the way is told in a sentence.
"""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from core.io.hub_sets import saved_set_path
from tests.pages.bringing.test_uploads import opened, own
from tests.pages.bringing.zone_kit import chosen, name_it
from tests.pages.texts.texts_kit import texts

__all__ = ["own"]


def typed(id: str) -> str:
    """The texts on the page once an id was typed."""
    return texts(name_it(opened(), id))


def test_a_set_that_was_fetched_is_read_like_an_upload(own):
    file = saved_set_path("hf:a/b.parquet")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"PAR1rest")
    assert "remove that file to fetch it again" in typed("hf:a/b")


@pytest.mark.parametrize(
    "id, sentence",
    [
        ("rmanluo/RoG-webqsp", "There is no file"),
        ("hf:/etc", "That is a folder on this computer"),
        ("hf:", "Name a set behind the colon"),
        ("<b>x</b>", "There is no file <b>x</b>"),
    ],
)
def test_what_is_no_id_is_a_sentence(own, id, sentence):
    assert sentence in typed(id)


def test_where_no_hub_answers_or_the_package_is_missing_it_is_a_sentence(own, monkeypatch):
    class Down(ModuleType):
        def disable_progress_bars(self):
            pass

        def get_dataset_config_names(self, repository):
            raise ConnectionError("no route")

    monkeypatch.setitem(sys.modules, "datasets", Down("datasets"))
    monkeypatch.setattr("core.io.hub_sets._check_reachable", lambda repository: None)
    assert (
        "No hub can be reached, so some/set cannot be fetched. Fetch its files elsewhere"
        in typed("hf:some/set")
    )
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    assert "need the package ir_datasets, which is not installed" in typed("irds:beir/x")


def test_a_set_of_documents_is_taken_on_any_page(own):
    folder = saved_set_path("irds:beir/x")
    folder.mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "Ann lives in Rome."}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "Where does Ann live?"}\n')
    assert chosen(name_it(opened(), "irds:beir/x")) == "set/beir"


def test_where_the_app_is_shared_no_set_is_fetched(own, monkeypatch):
    at = opened()
    monkeypatch.setenv("HOPSCOPE_SHARED", "1")
    for named in ("hf:a/b", str(own)):
        assert "Paths are read only" in name_it(at, named).error[0].value

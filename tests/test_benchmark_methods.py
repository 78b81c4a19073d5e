"""The benchmark of methods runs on a corpus of three texts, with recorded replies.

The tests look at what is asked of which graph, and what building cost.
"""

from __future__ import annotations

import json

from core.builds import run_build
from core.comparison.lane_run import build_of
from core.corpus import Document, new_folder, write_corpus
from core.engine import Engine
from core.evaluation.metrics.catalogue import metric
from core.methods.catalogue import catalogue
from core.models.base import ChatReply
from core.models.chat.client import ChatClient
from core.models.chat.reply_cache import ReplyCache
from core.models.chat.saved_replies import read_shipped
from core.types import Question
from tests.benchmarks.methods import Noted, asks, by_extractors, main
from tests.films import Written

DOCUMENTS = (
    Document(
        "carol",
        "Jacob Marley was dead, to begin with. Ebenezer Scrooge was his partner in London.",
        "A Christmas Carol",
    ),
    Document(
        "fred", "Fred, the nephew of Ebenezer Scrooge, wished him a merry Christmas.", "The nephew"
    ),
)
ASKED = Question(
    "Who was the partner of Jacob Marley?", answers=("Ebenezer Scrooge",), gold=("carol",)
)


class DescribingChat:
    """A language model that describes names, writes reports, and answers “Ebenezer Scrooge”; each reply took 2 seconds."""

    context = 4096

    def reply(self, messages, *, schema=None, **_):
        asked = (schema or {}).get("properties", {})
        told = {"about": {"Jacob Marley": "Scrooge's partner."}, "links": []}
        if "findings" in asked:
            told = {
                "title": "Partners",
                "summary": "They were partners.",
                "findings": [],
                "rating": 5,
            }
        text = json.dumps(told) if asked else "Ebenezer Scrooge"
        return ChatReply(text, 1000, 50, seconds=2.0)

    def count_tokens(self, messages):
        return 1000


class ForgetfulModels(Written):
    """Its models, which remember nothing."""

    def forget(self):
        pass


def test_each_method_is_asked_on_the_graph_by_each_extractor():
    rows = [catalogue()[name] for name in ("vanilla-rag", "vgraphrag", "kgp")]
    found = by_extractors(rows, ["described", "noun-phrases"])
    assert {one.id: build_of(one.line) for one in found} == {
        "vanilla-rag": "chunks",
        "vgraphrag-described": "tkg-described",
        "vgraphrag-noun-phrases": "tkg-noun-phrases",
        "kgp-described": "passage-described",
        "kgp-noun-phrases": "passage-noun-phrases",
    }
    assert by_extractors(rows, []) == rows


def test_quality_and_cost_by_both_extractors(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    corpus = write_corpus(new_folder("carols"), DOCUMENTS, sets={"carols": ("Carols", (ASKED,))})
    engine = Engine(ForgetfulModels(DescribingChat()))
    for name in ("tkg-described", "tkg-noun-phrases"):
        run_build(corpus, name, engine.models)
    main(["vgraphrag", "--corpus", "carols", "--extractor", "described,noun-phrases"], engine)
    out = capsys.readouterr().out
    rows = {
        line.split(" | ")[0].strip("| "): [cell.strip(" |") for cell in line.split(" | ")[1:]]
        for line in out.splitlines()
    }
    head = rows["Method"]
    for name in ("described", "noun-phrases"):
        told = dict(zip(head, rows[f"`vgraphrag-{name}`"]))
        assert told["n"] == "1" and told["Graph"] == f"tkg-{name}"
        assert told[metric("accuracy").describe()["title"]].startswith("1")
        # there are two chunks, so none hands on four
        assert told[metric("passage_recall@4").describe()["title"]] == "–"
    chunks, calls, tokens, *_, each, _, _ = rows["tkg-described"]
    assert (
        chunks == "2"
        and int(calls) >= 2
        and tokens == f"{1050 * int(calls):,}"
        and each == f"{500 * int(calls):,}"
    )
    assert rows["tkg-noun-phrases"][:3] == ["2", "0", "0"]


def test_without_a_language_model_methods_that_can_do_without_one_are_measured(
    tmp_path, monkeypatch, capsys
):
    """Without a language model KGP seeks neighbours by the question's words.

    HyDE then searches with the question. Walks that a model puts into words need one.
    """
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    write_corpus(new_folder("carols"), DOCUMENTS, sets={"carols": ("Carols", (ASKED,))})
    models = ForgetfulModels(DescribingChat())
    models.is_chat = lambda name: name == "answer"
    main(
        [
            "kgp",
            "dalk",
            "hyde",
            "--corpus",
            "carols",
            "--extractor",
            "noun-phrases",
            "--no-llm",
            "--no-builds",
        ],
        Engine(models),
    )
    out = capsys.readouterr().out
    assert all(
        f"| `{name}` | 1 |" in out for name in ("kgp-noun-phrases", "dalk-noun-phrases", "hyde")
    )
    known = catalogue()
    assert asks(known["hyde"], models) and not asks(known["hyde"], models, without=True)
    assert asks(known["walk-retrieve-bfs-told"], models, without=True)


class Told(ChatClient):
    """A client whose model counts how often it is asked."""

    asked = 0

    def _write_reply(self, request, collector, watch):
        Told.asked += 1
        collector.add("Ebenezer Scrooge")


def test_replies_come_along_in_a_file_and_are_not_asked_for_again(tmp_path, monkeypatch, capsys):
    file = tmp_path / "replies.jsonl.gz"
    for home in ("first", "second"):
        monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / home))
        write_corpus(new_folder("carols"), DOCUMENTS, sets={"carols": ("Carols", (ASKED,))})
        main(
            ["zero-shot", "--corpus", "carols", "--no-builds", "--replies", str(file)],
            Engine(ForgetfulModels(Told("told", 4096))),
        )
        assert "`zero-shot`" in capsys.readouterr().out
    assert Told.asked == 1 and [reply.text for _, reply in read_shipped(file)] == [
        "Ebenezer Scrooge"
    ]


def test_the_replies_that_a_client_finds_are_noted(tmp_path):
    noted = Noted(file=tmp_path / "replies.sqlite")
    noted.save("other", "m", ChatReply("Marley", 100, 2, seconds=1.0))
    noted.noted.clear()
    replies = ReplyCache(store=noted)
    assert (
        replies.find("other", None, min_tokens=9).text == "Marley"
        and replies.find("unknown", None) is None
    )
    assert set(noted.noted) == {"other"}

"""Extraction by a language model with fixed replies."""

from __future__ import annotations

import json
import threading

import pytest

from core.builds import build_status, find_build, open_graph, run_build
from core.builds.base import BuildContext
from core.builds.cost import estimate_cost
from core.builds.extract.language_model import LanguageModelExtraction
from core.errors import BadInput, ModelFailed, RunCancelled, StoreError
from core.models.base import ChatReply
from core.models.chat.saved_replies import reply_key
from core.watch import NO_WATCH, Watch
from tests.core.builds.kit import LetterModels, Texts

ANN = "Ann is a cook who lives in Rome. She met Bob there."


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


class ScriptedChat:
    """A chat whose replies are the results or errors of `say(last message, number)`."""

    context = 4096
    read = 1000  # Reported number of prompt tokens.

    def __init__(self, say):
        self.say, self.asked, self._lock = say, [], threading.Lock()

    def reply(
        self,
        messages,
        *,
        schema=None,
        max_tokens=256,
        seed=0,
        temperature=0.0,
        on_text=None,
        watch=NO_WATCH,
    ):
        with self._lock:
            self.asked.append(messages[-1]["content"])
            text = self.say(messages[-1]["content"], len(self.asked))
        return ChatReply(
            text if isinstance(text, str) else json.dumps(text), self.read, 50, seconds=2.0
        )

    def count_tokens(self, messages):
        return 10


class ChatModels(LetterModels):
    def __init__(self, say):
        self.writer = ScriptedChat(say)

    def chat(self, role="answer"):
        return self.writer

    def weights(self, name):
        return "written"


def entity(name, type="person", description=""):
    return {"name": name, "type": type, "description": description or f"About {name}."}


def relation(source, target, description="They met.", keywords="meeting"):
    return {"source": source, "target": target, "description": description, "keywords": keywords}


def read(say, text=ANN, **how):
    models = ChatModels(say)
    ctx = BuildContext(models)
    operator = LanguageModelExtraction(**{"gleaning": 0, **how})
    ((_, facts),) = operator.extract_facts([text], ctx)
    return facts, models.writer.asked, ctx


def test_entities_and_relations_with_descriptions_and_keywords():
    said = {
        "entities": [entity("Ann", "Person"), entity("Rome", "place")],
        "relations": [relation("Ann", "Bob", keywords="Meeting")],
    }
    facts, asked, ctx = read(lambda *_: said)
    # Only a relation names Bob, and he is added.
    assert [(e.name, e.type) for e in facts.entities] == [
        ("Ann", "person"),
        ("Rome", "place"),
        ("Bob", ""),
    ]
    assert [(r.head, r.tail, r.description, r.keywords, r.weight) for r in facts.relations] == [
        ("Ann", "Bob", "They met.", "meeting", 1.0)
    ]
    assert len(asked) == 1 and (ctx.report.usage.calls, ctx.report.usage.tokens_out) == (1, 50)


def test_a_name_missing_from_the_chunk_is_dropped_with_its_relations():
    said = {
        "entities": [entity("Ann"), entity("Marie Curie")],
        "relations": [relation("Ann", "Warsaw"), relation("Ann", "ann")],
    }
    facts, _, _ = read(lambda *_: said)
    assert [e.name for e in facts.entities] == ["Ann"] and facts.relations == ()
    assert facts.dropped == 3  # Marie Curie, Warsaw, and the relation with Warsaw.


@pytest.mark.parametrize(
    "reply", ["I cannot do that.", "", "[1, 2]", '{"entities": 3}', "null", '{"entities"']
)
def test_an_unusable_reply_gives_nothing_and_is_counted(reply):
    facts, _, _ = read(lambda *_: reply)
    assert (facts.entities, facts.relations, facts.unreadable) == ((), (), 1)
    why = "" if reply else " (The model sent an empty reply)"
    assert facts.notes == (f"a reply could not be read and gave nothing{why}",)


def test_a_truncated_reply_gives_its_complete_items():
    whole = json.dumps(
        {
            "entities": [entity("Ann"), entity("Bob")],
            "relations": [relation("Ann", "Bob"), relation("Bob", "Rome")],
        }
    )
    facts, _, _ = read(lambda *_: whole[: whole.rindex('"source"') + 12])
    assert [e.name for e in facts.entities] == ["Ann", "Bob"] and len(facts.relations) == 1
    assert facts.unreadable == 0 and "cut short" in facts.notes[0]


def test_a_description_copied_from_the_example_is_left_out():
    said = {
        "entities": [entity("Ann"), entity("Bob")],
        "relations": [relation("Ann", "Bob", "They shared the Nobel Prize.")],
    }
    facts, _, _ = read(lambda *_: said)
    assert facts.relations[0].description == ""


def test_missing_fields_are_empty_and_missing_names_are_counted():
    bob = {"name": "Bob", "type": None}
    said = {
        "entities": [entity("Ann"), bob, "Rome", None, {"type": "place"}],
        "relations": [{"source": "Ann", "target": "Bob", "keywords": ["a", "b"]}],
    }
    facts, _, _ = read(lambda *_: said)
    assert [(e.name, e.type, e.description) for e in facts.entities] == [
        ("Ann", "person", "About Ann."),
        ("Bob", "", ""),
        ("Rome", "", ""),
    ]
    assert [(r.head, r.tail, r.description, r.keywords) for r in facts.relations] == [
        ("Ann", "Bob", "", "a, b")
    ]
    assert facts.dropped == 2 and facts.notes == (
        "entities or relations of a reply have no name and were left out",
    )


@pytest.mark.parametrize(
    "around",
    [
        "Here it is:\n```json\nHERE\n```\nAnything more?",
        "[HERE]",
        '{"result": HERE}',
        "<think>Maybe</think>HERE",
    ],
)
def test_a_reply_is_read_despite_text_around_it(around):
    whole = json.dumps({"entities": [entity("Ann")], "relations": []})
    facts, _, _ = read(lambda *_: around.replace("HERE", whole))
    assert [e.name for e in facts.entities] == ["Ann"] and not facts.notes


def test_a_bad_reply_is_requested_again_at_once():
    facts, asked, ctx = read(
        lambda _, number: "" if number == 1 else {"entities": [entity("Ann")], "relations": []}
    )
    assert [e.name for e in facts.entities] == ["Ann"] and len(asked) == 2 and facts.unreadable == 0
    assert (ctx.report.counts["asked again"], ctx.report.usage.calls) == (1, 2)


def test_unreadable_replies_are_requested_again_by_the_next_build(tmp_path):
    corpus, ill = Texts(tmp_path / "corpus", **TEXTS), {"now": True}
    models = ChatModels(
        lambda asked, number: "" if ill["now"] and "Person3" in asked else met(asked)
    )
    first = run_build(corpus, "rkg", models)
    counts = build_status(corpus, "rkg").report["counts"]
    assert (counts["unread"], counts["unread chunks"], counts["asked"], first.n_edges) == (
        1,
        1,
        6,
        5,
    )
    ill["now"], before = False, len(models.writer.asked)
    assert run_build(corpus, "rkg", models).n_edges == 6
    asked = models.writer.asked[before:]
    assert (
        asked
        and all("Person3" in one or "missed" in one for one in asked)
        and build_status(corpus, "rkg").report["counts"]["unread"] == 0
    )


def test_a_build_without_a_readable_reply_fails(tmp_path):
    corpus, models = Texts(tmp_path / "corpus", **TEXTS), ChatModels(lambda *_: "I cannot do that.")
    with pytest.raises(ModelFailed, match="None of the 6 chunks"):
        run_build(corpus, "rkg", models)
    assert not build_status(corpus, "rkg").is_built
    assert run_build(corpus, "rkg", ChatModels(met)).n_edges == 6


def test_an_empty_graph_is_noted(tmp_path):
    corpus = Texts(tmp_path / "corpus", **TEXTS)
    run_build(corpus, "rkg", ChatModels(lambda *_: {"entities": [], "relations": []}))
    assert "the graph has no nodes" in " ".join(build_status(corpus, "rkg").report["notes"])


def test_a_knowledge_graph_is_extracted_in_two_steps():
    def say(asked, number):
        if asked.startswith("Names: Ann, Rome\n"):
            return {"triples": [{"subject": "Ann", "relation": "lives in", "object": "Rome"}]}
        return {"names": ["Ann", "Rome"]}

    facts, asked, _ = read(say, schema="kg")
    assert [(r.head, r.name, r.tail) for r in facts.relations] == [
        ("Ann", "lives in", "Rome")
    ] and len(asked) == 2


def test_without_names_the_second_step_is_skipped():
    facts, asked, _ = read(lambda *_: {"names": []}, schema="kg")
    assert facts.entities == () and len(asked) == 1


def test_gleaning_continues_until_nothing_new_comes():
    replies = [
        {"entities": [entity("Ann")], "relations": []},
        {"entities": [entity("Bob")], "relations": []},
        {"entities": [], "relations": []},
    ]
    facts, asked, _ = read(lambda _, number: replies[number - 1], gleaning=5)
    assert [e.name for e in facts.entities] == ["Ann", "Bob"] and len(asked) == 3


def test_markup_and_braces_reach_the_model_unchanged():
    text = "<script>alert('{text}')</script> {names} Ann {question}"
    _, asked, _ = read(lambda *_: {"entities": [], "relations": []}, text)
    assert asked == [f"Text: {text}"]


def test_a_chunk_that_the_model_cannot_read_affects_no_other():
    def say(asked, number):
        raise BadInput("too long")

    facts, _, _ = read(say)
    assert facts.unreadable == 1 and "longer than" in facts.notes[0]


TEXTS = {f"d{i}": f"Person{i} met Ann in Rome." for i in range(6)}


def met(asked, number=0):
    name = asked.split()[1]
    return {"entities": [entity(name), entity("Ann")], "relations": [relation(name, "Ann")]}


def test_facts_read_before_a_failure_of_the_model_are_kept(tmp_path):
    corpus = Texts(tmp_path / "corpus", **TEXTS)

    def dies(asked, number):
        if number > 3:
            raise ModelFailed("The model died.")
        return met(asked)

    with pytest.raises(ModelFailed, match="died"):
        run_build(corpus, "rkg", ChatModels(dies))
    with pytest.raises(StoreError, match="not built yet"):
        open_graph(corpus, "rkg")
    well = ChatModels(met)
    graph = run_build(corpus, "rkg", well)
    assert len(well.writer.asked) == 3 and graph.n_edges == 6
    assert build_status(corpus, "rkg").report["counts"]["extracted"] == 3


def test_facts_read_before_cancelling_are_kept(tmp_path):
    corpus, models = Texts(tmp_path / "corpus", **TEXTS), ChatModels(met)

    def check():
        if len(models.writer.asked) >= 2:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        run_build(corpus, "rkg", models, watch=Watch(check), lanes=2)
    before = len(models.writer.asked)
    assert 2 <= before < 6
    run_build(corpus, "rkg", models)
    assert len(models.writer.asked) == 6


def test_the_textual_graph_shares_the_replies_of_the_rich_one(tmp_path):
    corpus, models = Texts(tmp_path / "corpus", **TEXTS), ChatModels(met)
    rich = run_build(corpus, "rkg", models)
    # Nothing is left to read. At .24 reports per chunk there are 2 reports, each with 460 tokens in
    # and 190 out, which take as long as 1220 in. The replies so far took 2 seconds for 1000 in and
    # 50 out, as long as 1200 in. So both reports take 2 * 2.03 seconds.
    expected = (
        "6 chunks. Reports on communities are added, about one for 4 chunks: about 2 calls of a language model, 920 tokens in, 380 out, "
        "2 to 8 seconds, minus saved replies."
    )
    assert estimate_cost(corpus, find_build("tkg"), models).words() == expected
    plain = run_build(corpus, "tkg", models)
    # The other prompts are for reports.
    assert sum(asked.startswith("Text: ") for asked in models.writer.asked) == 6
    assert rich.columns.edges.texts("keywords")[0] == "meeting" and not any(
        plain.columns.edges.texts("keywords")
    )


def test_a_key_depends_on_weights_messages_schema_and_settings():
    asked = [{"role": "user", "content": "a"}]
    keys = {
        reply_key("m", asked, None, 1, 0, 0.0),
        reply_key("n", asked, None, 1, 0, 0.0),
        reply_key("m", [{"role": "user", "content": "b"}], None, 1, 0, 0.0),
        reply_key("m", asked, {"type": "object"}, 1, 0, 0.0),
        reply_key("m", asked, None, 2, 0, 0.0),
        reply_key("m", asked, None, 1, 1, 0.0),
        reply_key("m", asked, None, 1, 0, 0.5),
    }
    assert len(keys) == 7

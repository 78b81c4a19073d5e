"""Calls for programs: the same results everywhere, bounded sizes, and readable errors."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.corpus import new_folder, write_corpus
from core.engine import Engine
from core.errors import BadInput, HopscopeError, RunCancelled
from core.evaluation.advice import advisor
from core.models.base import NoModels
from core.models.chat.openai import OpenAIChat
from core.serving import calls
from core.watch import Watch
from tests.core.evaluation.advice.kit import ModelsWithoutChat, documents
from tests.core.models.chat_server import serving, stream

QUESTION = "who directed Inception"
NEAR = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"


@pytest.fixture(scope="module")
def engine():
    return Engine(NoModels())


def test_comparison_names_the_step_that_lost_the_answer(engine):
    lines = [NEAR, "EgoNetwork(hops=1, keep=1) >> ShortestPaths(hops=1)"]
    found = calls.compare(engine, QUESTION, lines, answers=["Christopher Nolan"], items=3)
    first, second = found["lanes"]
    assert (
        first["funnel"]["paths"] == ["Christopher Nolan"]
        and len(first["paths"]) == 3
        and first["left_out"] > 0
    )
    assert (
        found["verdict"]
        and calls.explain_loss(engine, QUESTION, lines, answers=["Christopher Nolan"])["verdict"]
        == found["verdict"]
    )


def test_retrieval_returns_a_ranked_list(engine):
    found = calls.retrieve(engine, QUESTION, NEAR, items=2)
    assert [item["kind"] for item in found["items"]] == ["path", "path"] and found["method"] == NEAR
    assert all(set(item) == {"kind", "id", "text", "score"} for item in found["items"])


def test_invalid_call_is_a_readable_error(engine):
    for call in (
        lambda: calls.compare(engine, QUESTION, graph="metaqa", corpus="hotpotqa"),
        lambda: calls.compare(engine, QUESTION, ["lego-1x"]),
        lambda: calls.compare(engine, QUESTION, [NEAR] * 9),
        lambda: calls.compare(engine, QUESTION, graph="nowhere"),
        lambda: calls.explain_loss(engine, "who directed the film with Ellen Page", [NEAR]),
        lambda: calls.evaluate(engine, "/etc/passwd", [NEAR]),
        lambda: calls.evaluate(engine, "README.md", [NEAR]),
        lambda: calls.evaluate(engine, "metaqa-1hop-dev,README.md", [NEAR]),
        lambda: calls.advise(engine, "nowhere"),
        lambda: calls.advise(engine, "../hotpotqa"),
        lambda: calls.evaluate(engine, "metaqa-1hop-dev", [NEAR], sample=10**9),
        lambda: calls.build_graph(engine, "nowhere"),
    ):
        with pytest.raises(HopscopeError):
            call()


@pytest.mark.parametrize(
    "field, call",
    [
        ("without", lambda engine: calls.compare(engine, QUESTION, [NEAR], without="Inception")),
        ("without", lambda engine: calls.compare(engine, QUESTION, [NEAR], without=["a"] * 65)),
        ("minutes", lambda engine: calls.evaluate(engine, "metaqa-1hop-dev", [NEAR], minutes=0)),
        ("minutes", lambda engine: calls.advise(engine, "hotpotqa", minutes=float("nan"))),
        ("minutes", lambda engine: calls.advise(engine, "hotpotqa", minutes=0.5)),
        ("minutes", lambda engine: calls.advise(engine, "hotpotqa", minutes=10**9)),
        ("without", lambda engine: calls.compare(engine, QUESTION, [NEAR], without=["No One"])),
        (
            "without",
            lambda engine: calls.compare(engine, QUESTION, [NEAR], without=["a -> b -> c"]),
        ),
        ("seed", lambda engine: calls.advise(engine, "hotpotqa", seed=-1)),
        ("cap", lambda engine: calls.evaluate(engine, "metaqa-1hop-dev", [NEAR], cap="2 spoons")),
    ],
)
def test_refusal_names_the_field(engine, field, call):
    with pytest.raises(BadInput) as refused:
        call(engine)
    assert field in str(refused.value) and "\n" not in str(refused.value)


FACTS = [
    f"Inception -> {relation} -> Christopher Nolan" for relation in ("directed_by", "written_by")
]


@pytest.mark.parametrize("names", [["Christopher Nolan"], FACTS], ids=["entity", "triples"])
def test_a_fact_is_taken_away_and_the_question_asked_again(engine, names):
    found = calls.compare(engine, QUESTION, [NEAR], without=names)
    (change,) = found["without"]["lanes"]
    assert found["without"]["names"] == names and len(found["edits"]) == len(names)
    assert change["read"] and change["lost"] == ["Christopher Nolan"]
    assert "Christopher Nolan" not in found["lanes"][0]["reader_answers"]
    full = calls.compare(engine, QUESTION, [NEAR])
    assert "without" not in full and "Christopher Nolan" in full["lanes"][0]["reader_answers"]


def test_backward_steps_of_a_path_are_taken_away_too(engine):
    path = f"{FACTS[0]} -> directed_by_reverse -> Insomnia"
    found = calls.compare(engine, "who directed the film [Insomnia]", [NEAR], without=[path])
    assert found["without"]["lanes"][0]["lost"] == ["Christopher Nolan"]


def test_methods_and_sources_are_listed():
    ids = {method["id"] for method in calls.list_methods("fastinsight")}
    assert ids and all(
        "fastinsight" in " ".join(method.values()).casefold()
        for method in calls.list_methods("fastinsight")
    )
    assert calls.list_methods("no such words") == []
    assert [(one["name"], one["id"]) for one in calls.list_methods("graphrag-local-nano")] == [
        ("graphrag-local-nano", "lgraphrag-original")
    ]
    metaqa = next(one for one in calls.list_sources() if one["name"] == "metaqa")
    assert metaqa["kind"] == "graph" and "metaqa-1hop-dev" in metaqa["sets"]


def test_evaluation_returns_means_and_is_resumed(engine):
    found = calls.evaluate(engine, "metaqa-1hop-dev", [NEAR], sample=3)
    assert (
        found["rows"][0]["questions"] == 3
        and 0 <= found["rows"][0]["means"]["subgraph_recall"] <= 1
    )
    assert calls.evaluate(engine, "metaqa-1hop-dev", [NEAR], sample=3)["rows"] == found["rows"]


def test_evaluation_stops_at_its_minutes_and_continues(engine):
    asked = {"questions": "metaqa-1hop-dev", "methods": [NEAR], "sample": 200, "seed": 7}
    first = calls.evaluate(engine, **asked, minutes=1e-9)
    assert first["stopped"] and all(row["questions"] < 200 for row in first["rows"])
    done = calls.evaluate(engine, **asked)
    assert (done["run"], done["stopped"], done["rows"][0]["questions"]) == (first["run"], "", 200)


def test_evaluation_stops_before_its_cap(kit):
    """Each reply takes 1,000 tokens, so the eighth would exceed 7,140."""

    def answer(handler, body):
        choice = {"index": 0, "delta": {"content": "Drama"}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 990, "completion_tokens": 10, "total_tokens": 1000}
        pieces = [{"choices": [choice]}, {"choices": [], "usage": usage}]
        lines = [f"data: {line}\n\n" for line in [*map(json.dumps, pieces), "[DONE]"]]
        stream(handler, "".join(lines))

    asked = {"questions": "metaqa-1hop-dev", "methods": [NEAR + " >> Answer()"], "sample": 12}
    with serving(answer) as (url, bodies):
        engine = Engine(kit.Written(chat=OpenAIChat(url, "m", "m", timeout=60)))
        found = calls.evaluate(engine, **asked, language_model=True, cap="7140 tokens")
        assert len(bodies) == 7 == found["rows"][0]["questions"]
        assert "7,000 of 7,140 tokens" in found["stopped"]
        more = calls.evaluate(engine, **asked, language_model=True, cap="50000 tokens")
    assert (more["run"], more["stopped"], len(bodies)) == (found["run"], "", 12)


def test_a_cancelled_call_stops_its_job(engine):
    told = []

    def check():
        if told:
            raise RunCancelled()

    watch = Watch(check, lambda text, fraction: told.append(text))
    with pytest.raises(RunCancelled):
        calls.evaluate(engine, "metaqa-1hop-dev", [NEAR], sample=1_000, seed=8, watch=watch)
    (job,) = [job for job in engine.evaluations.with_key_prefix("evaluation-") if job.is_cancelled][
        -1:
    ]
    assert job.wait(60) and job.status == "cancelled"


def test_advice_is_the_object_of_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    few = replace(advisor.ADVICE_DEFAULTS, max_made_questions=12)
    monkeypatch.setattr(advisor, "ADVICE_DEFAULTS", few)
    write_corpus(new_folder("coast"), documents(), "The coast")
    engine, fractions = Engine(ModelsWithoutChat()), []
    watch = Watch(report=lambda text, fraction: fractions.append(fraction))
    found = calls.advise(engine, "coast", minutes=1, watch=watch)
    assert set(found) == {"answer", "advice"} and found["advice"]["set"] == "coast-made"
    assert found["answer"]["needed"] in ("no", "partly", "yes") and found["answer"]["asked"] == 12
    assert any(fraction for fraction in fractions)


def test_saved_comparisons_are_listed_and_opened():
    case = calls.list_cases()[0]
    assert calls.open_case(case["id"])["question"] == case["question"]
    with pytest.raises(HopscopeError):
        calls.open_case("1")


def test_long_texts_are_cut_with_counts_kept():
    lane = {"paths": list(range(60)), "hits": {"chunk": ["x" * 10_000] * 3}}
    found = calls.bound_reply({"lanes": [lane]}, 99)["lanes"][0]
    assert len(found["paths"]) == calls.SERVING.max_lane_items and found["left_out"] == 10
    assert all(
        len(text) <= calls.SERVING.max_reply_text_characters + 1 for text in found["hits"]["chunk"]
    )

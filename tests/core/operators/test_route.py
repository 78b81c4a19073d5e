"""Learned rules: features, round trip, tampered and foreign files."""

import json

import pytest

from core.errors import BadInput
from core.io.digests import with_digest
from core.operators import PredictArm
from core.operators.routing_rule import (
    RoutingRule,
    load_rule,
    question_features,
    rule_file,
    saved_rules,
)
from core.types import Question, Ranking, State

RULE = RoutingRule(
    ("cheap", "dear"),
    ("words", "chunk lead", "word:far"),
    (4.0, 0.5, 0.25),
    (2.0, 0.1, 0.5),
    ((0.1, 0.0, 0.0), (0.0, -0.2, 0.4)),
    (0.5, 0.25),
    set="films-dev,more/..",
    questions=80,
    metric="hits@1",
    cost="seconds",
    rows="0" * 64,
)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))


def test_values_by_hand():
    values = RULE.values({"words": 6.0, "chunk lead": 0.4, "word:far": 1.0})
    assert values.tolist() == pytest.approx([0.5 + 0.1 * 1, 0.25 - 0.2 * -1 + 0.4 * 1.5])
    # A missing figure counts as its mean, and a word that is not there as 0.
    assert RULE.values({}).tolist() == pytest.approx([0.5, 0.25 + 0.4 * -0.5])


def test_round_trip_is_plain_json():
    file = RULE.save()
    assert file.parent.name == "routers" and RULE.name.startswith("films-dev-more-")
    assert load_rule(RULE.name) == RULE and saved_rules() == (RULE.name,)
    content = json.loads(file.read_text("utf-8"))
    assert content["features"] == list(RULE.features) and content["rows"] == RULE.rows


def _with_weight(content):
    content["weights"][0][0] = 9.0
    return content


def _resealed(content):
    content = {key: value for key, value in _with_weight(content).items() if key != "sha256"}
    return with_digest(content)


def _unsealed(content):
    return {key: value for key, value in content.items() if key != "sha256"} | {"questions": 1}


@pytest.mark.parametrize("damage", [_with_weight, _resealed, _unsealed])
def test_a_tampered_rule_is_refused(damage):
    file = RULE.save()
    file.write_text(json.dumps(damage(json.loads(file.read_text("utf-8")))), "utf-8")
    with pytest.raises(BadInput, match="not the learned rule"):
        load_rule(RULE.name)


@pytest.mark.parametrize(
    "foreign",
    [
        b"\x80\x04\x95pickle",
        b"[]",
        b'{"weights": "x"}',
        b"[" * 5000,
        b'{"format": "hopscope-routing-rule-1"}',
        b"x" * (1 << 21),
    ],
)
def test_a_foreign_file_is_refused(foreign):
    file = RULE.save()
    file.write_bytes(foreign)
    with pytest.raises(BadInput, match="not the learned rule"):
        load_rule(RULE.name)


@pytest.mark.parametrize("name", ["../../etc/passwd", "a", "a-0123456789ab/..", "A-0123456789ab"])
def test_a_name_is_never_a_path(name):
    with pytest.raises(BadInput, match="no name of a learned rule"):
        rule_file(name)


def test_a_missing_rule_says_where_it_belongs(kit):
    with pytest.raises(BadInput, match="copy its file there"):
        load_rule("films-0123456789ab")
    with pytest.raises(BadInput, match="Name the learned rule"):
        PredictArm()(kit.state("One"), kit.context())


def test_numbers_that_are_none_and_lists_of_other_lengths_are_refused():
    for fault in (
        {"means": (1.0,)},
        {"scales": (0.0, 1.0, 1.0)},
        {"intercepts": (float("nan"), 0)},
    ):
        with pytest.raises(ValueError):
            RoutingRule(**{**vars(RULE), **fault})


def test_features_are_of_what_the_state_has():
    bare = question_features(State(Question("Who is far?"), (3, 4)))
    assert bare == {"words": 3, "seeds": 2, "word:who": 1, "word:is": 1, "word:far": 1}
    state = State(
        Question("far"),
        hops=2,
        names=("A",),
        chunks=Ranking("chunk", (7, 8, 9), (0.9, 0.6, 0.3)),
        nodes=Ranking("node", ()),
        paths=Ranking("path", (1, 2), (float("nan"), 1.0)),
    )
    found = question_features(state)
    assert (found["hops"], found["names"]) == (2, 1)
    assert found["chunk best score"] == 0.9 and found["chunk lead"] == pytest.approx(0.3)
    assert found["node count"] == 0 and "node best score" not in found
    assert "path best score" not in found and "path lead" not in found

"""Reranking of hits."""

import pytest

from core.environment import Environment
from core.errors import BadParameter
from core.operators import RankHits
from core.operators.base import Context
from core.operators.text import parse_line
from core.types import Question, Ranking, State
from tests.core.operators.texts.test_neighbours_and_scores import at
from tests.films import Picker, Table, Written


def rank_hits(told, state, models, answering=True, **parameters):
    return RankHits(model="x", **parameters)(
        state, Context(told.graph, Environment(models), answering=answering)
    )


def test_scorer_orders_chunks_and_records_the_rest(told):
    scorer = Table({"Marley was dead, to begin with. Scrooge was his partner.": 0.9})
    start = State(Question("q"), chunks=Ranking("chunk", (2, 1, 0), (0.9, 0.8, 0.7)))
    after = rank_hits(told, start, Written(x=scorer), keep=2)
    # Ties keep their order.
    assert after.chunks.items == (0, 2) and after.chunks.scores == (0.9, 0.0)
    assert after.trace[0].before_cut.items == (0, 2, 1)


def test_other_kinds_are_ranked_by_encoder_texts(told):
    after = told.state(
        "NamesInQuestion() >> LinkNames() >> RankHits(of='nodes', model='x', keep=1)",
        "Tim and Fred",
        models=Written(x=Picker("Fred: person: Scrooge's cheerful nephew.")),
    )
    assert told.names(after) == ["Fred"]


def test_order_stays_without_a_language_model(told):
    models = Written(x=Picker("nothing"))
    after = rank_hits(
        told, at(told, Tim=0.9, Fred=0.5), models, answering=False, of="nodes", keep=1
    )
    assert told.names(after) == ["Tim"] and "the order stayed as it was" in after.trace[0].notes[0]


def test_empty_hits_stay_empty(told):
    start = State(Question("q"), chunks=Ranking("chunk", (), ()))
    assert rank_hits(told, start, Written(x=Table({}))).chunks.items == ()


def test_missing_hits_are_refused():
    with pytest.raises(BadParameter, match="reads communities"):
        parse_line("SparseChunks() >> RankHits(of='communities')")

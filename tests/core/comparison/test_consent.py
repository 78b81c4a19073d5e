"""Operators that run at once, and operators that wait for the user's consent."""

from __future__ import annotations

import pytest

from core.comparison.consent import free_prefix, needs_consent
from core.operators.text import parse_line
from tests.films import Written

MODELS = Written()
MODELS.is_chat = lambda name: name in ("choose", "answer")


@pytest.mark.parametrize(
    "operators, answering, before",
    [
        (
            "EgoNetwork() >> ShortestPaths() >> Rank(model='bm25') >> Answer()",
            False,
            4,
        ),  # Only the prompt is written.
        ("EgoNetwork() >> ShortestPaths() >> Rank(model='bm25') >> Answer()", True, 3),
        (
            (
                "EgoNetwork() >> ShortestPaths() >> Rank(model='prefilter(bm25, choose, 9)') >> "
                "Answer()"
            ),
            False,
            2,
        ),
        ("OwnRetriever(name='mine') >> Answer()", False, 0),
        ("EgoNetwork() >> SimplePaths()", True, 2),
    ],
)
def test_operators_before_the_first_request_are_free(operators, answering, before):
    assert free_prefix(parse_line(operators), MODELS, answering) == before


def test_branch_needs_consent_if_an_arm_does():
    line = (
        "PredictHops() >> EgoNetwork() >> Branch(on='hops', arms={1: BeamSearch(model='bm25')}, "
        "otherwise=BeamSearch(model='choose'))"
    )
    branch = parse_line(line).operators[2]
    assert needs_consent(branch, MODELS) and not needs_consent(
        parse_line(line.replace("'choose'", "'bm25'")).operators[2], MODELS
    )


def test_loop_needs_consent_if_its_union_does():
    first = "SparseNodes() >> RankHits(of='nodes', model='choose')"
    loop = f"Loop(body=Union(first={first}, second=SparseNodes()) >> ExpandNodes())"
    line = f"EmbedQuery() >> SparseNodes() >> {loop}"
    assert needs_consent(parse_line(line).operators[2], MODELS)
    assert not needs_consent(parse_line(line.replace("'choose'", "'bm25'")).operators[2], MODELS)


def test_unknown_model_needs_no_consent():
    """The lane itself reports that there is no such model."""

    def unknown(name):
        from core.errors import BadParameter

        raise BadParameter(name)

    models = Written()
    models.is_chat = unknown
    assert not needs_consent(
        parse_line("EgoNetwork() >> ShortestPaths() >> Rank(model='nobody')").operators[2], models
    )

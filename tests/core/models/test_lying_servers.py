"""Encoder and reranker servers that send invalid numbers or fail for single texts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from core.errors import ModelFailed
from core.models.base import Task
from core.models.number_checks import finite_vector, token_count, whole_number
from core.models.rating import rate_texts
from core.models.served_models import ServedEncoder, ServedReranker
from core.runtime.meter import metered
from tests.core.models.chat_server import serving

TEXTS = [f"text number {number}" for number in range(20)]
BIG = "1" + "0" * 400
HUGE = "1" + "0" * 5000


def send(handler, text: str, status: int = 200) -> None:
    data = text.encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def vectors(body, number=lambda at, text: "0.5", index=lambda at: str(at)) -> str:
    rows = (
        f'{{"index": {index(at)}, "embedding": [1, {number(at, text)}]}}'
        for at, text in enumerate(body["input"])
    )
    return f'{{"data": [{", ".join(rows)}]}}'


def encoder_of(answer):
    return serving(lambda handler, body: send(handler, answer(body)))


@pytest.mark.parametrize("number", ["true", '"1"', BIG, HUGE, "1e999", "1e39", "[1]", "{}"])
def test_vectors_without_numbers_are_refused(number):
    with encoder_of(lambda body: vectors(body, lambda at, text: number)) as (url, _):
        with pytest.raises(ModelFailed, match="sent"):
            ServedEncoder(url, "m", "far").encode(TEXTS)


@pytest.mark.parametrize("index", ["0", "true", "-1", "0.6", "1e999", '"0"', BIG, "7"])
def test_vectors_with_wrong_indexes_are_refused(index):
    with encoder_of(lambda body: vectors(body, index=lambda at: index)) as (url, _):
        with pytest.raises(ModelFailed, match="indexes"):
            ServedEncoder(url, "m", "far").encode(TEXTS[:3])


def test_vectors_without_indexes_keep_their_order():
    answer = lambda body: json.dumps({"data": [{"embedding": [3, 4]} for _ in body["input"]]})
    with encoder_of(answer) as (url, _):
        found = ServedEncoder(url, "m", "far").encode(TEXTS[:3])
    assert found == pytest.approx(np.array([[0.6, 0.8]] * 3))


def failing_for(*bad: str, status: int = 500):
    """A server that fails for every request that contains one of these texts."""

    def answer(handler, body):
        if set(bad) & set(body["input"]):
            return send(handler, '{"error": {"message": "unsupported value: NaN"}}', status)
        send(handler, vectors(body))

    return answer


@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_failing_text_is_left_out_and_named(status):
    with serving(failing_for(TEXTS[5], TEXTS[13], status=status)) as (url, bodies):
        encoder = ServedEncoder(url, "m", "far", batch=16)
        with metered() as meter:
            found = encoder.encode(TEXTS)
        requests = len(bodies)
    assert np.flatnonzero(~found.any(axis=1)).tolist() == [5, 13]
    assert np.linalg.norm(found[0]) == pytest.approx(1.0) and requests < 24
    (note,) = meter.notes
    assert TEXTS[5] in note and "1 text more" in note and "unsupported value: NaN" in note


def test_failing_question_is_reported():
    with serving(failing_for("who")) as (url, _):
        encoder = ServedEncoder(url, "m", "far")
        encoder.encode(TEXTS)
        with pytest.raises(ModelFailed, match="no vector for “who”.*NaN"):
            encoder.encode_questions(["who"])
        with pytest.raises(ModelFailed, match="no vector for “who”"):
            encoder.encode(["who"])


def test_server_failing_for_all_texts_is_given_up_soon():
    with serving(lambda handler, body: send(handler, "{}", 500)) as (url, bodies):
        with pytest.raises(ModelFailed, match="500"):
            ServedEncoder(url, "m", "far", max_concurrent=1).encode(TEXTS * 50)
        assert len(bodies) < 16


@pytest.mark.parametrize("status", [401, 404])
def test_general_failures_are_not_retried_in_halves(status):
    with serving(lambda handler, body: send(handler, "{}", status)) as (url, bodies):
        with pytest.raises(ModelFailed):
            ServedEncoder(url, "m", "far").encode(TEXTS)
        assert len(bodies) == 1


@pytest.mark.parametrize("number", ["null", "NaN"])
def test_vector_with_a_missing_number_counts_as_unread(number):
    answer = lambda body: vectors(body, lambda at, text: number if text == TEXTS[2] else "0.5")
    with encoder_of(answer) as (url, _), metered() as meter:
        found = ServedEncoder(url, "m", "far").encode(TEXTS)
    assert np.flatnonzero(~found.any(axis=1)).tolist() == [2] and TEXTS[2] in meter.notes[0]


def test_zero_vectors_are_reported_and_refused_for_questions():
    def answer(body):
        zero = lambda text: text in (TEXTS[3], "who")
        rows = [[0, 0] if zero(text) else [1, 1] for text in body["input"]]
        return json.dumps(
            {"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]}
        )

    with encoder_of(answer) as (url, _):
        encoder = ServedEncoder(url, "m", "far")
        for _ in range(2):  # The second round reads the other vectors from memory.
            with metered() as meter:
                found = encoder.encode(TEXTS)
            assert not found[3].any() and "zeros" in meter.notes[0] and TEXTS[3] in meter.notes[0]
        with pytest.raises(ModelFailed, match="zeros"):
            encoder.encode_questions(["who"])
        with pytest.raises(ModelFailed, match="zeros"):
            encoder.encode([TEXTS[3]])


def ranked(rows: list[str]):
    return serving(lambda handler, body: send(handler, f'{{"results": [{", ".join(rows)}]}}'))


def rows_of(index: str = "{}", score: str = "0.5") -> list[str]:
    return [
        f'{{"index": {index.replace("{}", str(at))}, "relevance_score": {score}}}' for at in (0, 1)
    ]


@pytest.mark.parametrize(
    "rows",
    [
        *(rows_of(score=score) for score in ("NaN", "1e999", "-1e999", BIG, HUGE, "true", '"1"')),
        *(rows_of(score=score) for score in ("null", "[1]", "{}")),
        *(rows_of(index) for index in ("{}.6", "{}.0", "1e999", "-{}", "true", '"{}"', BIG, "9")),
        rows_of() + rows_of(score="9"),
        rows_of()[:1],
        ["5"],
        [],
    ],
    ids=range(22),
)
def test_invalid_relevance_is_refused(rows):
    if rows == rows_of("-{}"):
        rows = rows_of("-1")
    with ranked(rows) as (url, _), pytest.raises(ModelFailed, match="sent"):
        ServedReranker(url, "m", "far").score(Task("who"), ["a", "b"])


def test_many_invalid_relevances_are_refused():
    with ranked([rows_of()[0], rows_of(score="NaN")[1]]) as (url, _):
        with pytest.raises(ModelFailed, match="no number"):
            ServedReranker(url, "m", "far").score(Task("who"), ["a", "b"])


def test_slow_reply_ends_at_the_timeout():
    def answer(handler, body):
        import threading

        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b" ")
                handler.wfile.flush()
                threading.Event().wait(0.02)
        except OSError:
            return

    with serving(answer) as (url, _):
        for ask in (
            lambda: ServedEncoder(url, "m", "far", timeout=0.5).encode(["a"]),
            lambda: ServedReranker(url, "m", "far", timeout=0.5).score(Task("who"), ["a"]),
        ):
            with pytest.raises(ModelFailed, match="within 0.5 seconds"):
                ask()


def test_external_numbers_are_checked():
    assert finite_vector([1, 0.5]).tolist() == [1.0, 0.5]
    assert (whole_number(3, 4), token_count(None), token_count(7)) == (3, 0, 7)
    for wrong in (True, "1", 1.0, -1, 4, None):
        with pytest.raises(ValueError):
            whole_number(wrong, 4)
    for wrong in ([], "12", {}, None, [float("nan")], [10**400]):
        with pytest.raises(ValueError):
            finite_vector(wrong)


@pytest.mark.parametrize(
    "ratings",
    ['{"number": 1, "score": NaN}', '{"number": true, "score": 5}', '{"number": 1.5, "score": 5}'],
)
def test_invalid_model_ratings_are_dropped(ratings, recorded):
    rated = rate_texts(recorded(f'{{"ratings": [{ratings}]}}'), Task("who"), "Bo", ["a", "b"], 2)
    assert all(0 <= score <= 1 for score in (rated.scores or {}).values())
    assert not rated.scores or set(rated.scores) <= {0, 1}


def test_ratings_in_quotes_are_numbers(recorded):
    said = '{"ratings": [{"number": "2", "score": "5"}]}'
    assert rate_texts(recorded(said), Task("who"), "Bo", ["a", "b"], 2).scores == {1: 0.5}

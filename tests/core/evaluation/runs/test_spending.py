"""The spending of an evaluation: counted, capped and estimated.

It is on a real server whose replies have a known number of tokens.
"""

import json
import time
from types import SimpleNamespace

import pytest

from core.errors import BadInput
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.spending import estimate_rest
from core.models.chat.openai import OpenAIChat
from core.models.price import Cap, Spending, TokenPrice, find_prices, parse_cap
from core.models.registry import Registry
from core.runtime.account import Account, charge, charged_to
from core.types import Usage
from tests.core.evaluation.runs.test_flight import LINE, questions
from tests.core.models.chat_server import serving, stream
from tests.notes import NoteWith

READ, WRITTEN = 90, 10  # tokens of every prompt and reply


@pytest.fixture
def far(bench):
    """`bench` with a server that takes .28 money a question.

    It takes 2 for a thousand tokens read and 10 for a thousand written.
    """

    def answer(handler, body):
        time.sleep(0.05)
        piece = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        ended = {
            **piece,
            "choices": [{"index": 0, "delta": {"content": "Drama"}, "finish_reason": "stop"}],
        }
        used = {
            **piece,
            "choices": [],
            "usage": {
                "prompt_tokens": READ,
                "completion_tokens": WRITTEN,
                "total_tokens": READ + WRITTEN,
            },
        }
        stream(
            handler, f"data: {json.dumps(ended)}\n\ndata: {json.dumps(used)}\n\ndata: [DONE]\n\n"
        )

    with serving(answer) as (address, bodies):
        bench.models._chat = OpenAIChat(address, "m", "far")
        bench.models.price = lambda name: (
            ("far", TokenPrice(2_000.0, 10_000.0, "EUR")) if name == "answer" else None
        )
        bench.bodies = bodies
        yield bench


def plan(bench, count):
    return bench.plan(bench.method("one", LINE.format(keep=1)), questions=questions(count)[:count])


def ran(bench, a_plan, **how):
    job = evaluate(bench.engine, bench.store(), a_plan, **how)
    assert job.wait(60)
    return job


def test_what_is_asked_is_counted_and_kept_with_the_run(far):
    job = ran(far, plan(far, 12))
    assert far.store().usage(job.number) == {"far": Usage(12, 12 * READ, 12 * WRITTEN)}
    again = ran(far, plan(far, 12))  # finished: nothing is asked
    assert (
        far.store().usage(again.number) == {"far": Usage(12, 12 * READ, 12 * WRITTEN)}
        and len(far.bodies) == 12
    )


@pytest.mark.parametrize(
    "cap", ["2", "714 tokens"]
)  # 7 questions at .28 are 1.96, and 700 tokens; 8 were 2.24, and 800
def test_a_cap_stops_before_it_and_a_higher_one_goes_on(far, cap):
    job = ran(far, plan(far, 20), cap=parse_cap(cap))
    run = far.store().run(job.number)
    assert job.status == "failed" and run.status == "cancelled" and run.done == 7 == len(far.bodies)
    assert job.error.startswith(
        "Stopped before the cap: 1.96 of 2.00 EUR"
        if cap == "2"
        else "Stopped before the cap: 700 of 714 tokens"
    )
    assert "7 of 20 answers done" in job.error and "higher cap" in job.error
    # the same cap asks nothing more
    assert ran(far, plan(far, 20), cap=parse_cap(cap)).error and len(far.bodies) == 7
    more = ran(far, plan(far, 20), cap=Cap(100))
    assert (
        more.number == job.number
        and more.status == "done"
        and far.store().run(job.number).done == 20 == len(far.bodies)
    )


def test_the_rest_is_estimated_by_the_first_questions_which_are_kept(far):
    job = ran(far, plan(far, 40), max_questions=5)
    assert job.status == "done" and far.store().run(job.number).done == 5 == len(far.bodies)
    words = job.evaluation.estimate.words()
    assert words.startswith(
        "Estimate from the 5 answers that are done, for the 35 that are left: about 35 calls of language models, 3,150 tokens in"
    )
    assert "350 out" in words and words.endswith("9.80 EUR.") and "second" in words
    assert ran(far, plan(far, 40)).status == "done" and len(far.bodies) == 40


def test_a_cap_in_money_needs_prices_in_one_currency(far):
    far.models.price = lambda name: ("far", TokenPrice())
    with pytest.raises(BadInput, match="has a price"):
        ran(far, plan(far, 2), cap=Cap(1))
    assert ran(far, plan(far, 2), cap=Cap(1000, tokens=True)).status == "done"
    far.models.price = lambda name: (
        name,
        TokenPrice(1.0, 1.0, "EUR" if name == "answer" else "USD"),
    )
    two = plan(far, 2)
    object.__setattr__(two, "judge", True)
    with pytest.raises(BadInput, match="several currencies"):
        ran(far, two, cap=Cap(1))


@pytest.mark.parametrize(("cap", "prices"), [("1 USD", "EUR"), ("1 $", "eur"), ("5 tok", "EUR")])
def test_a_cap_in_another_currency_than_the_prices_is_refused(cap, prices):
    models = SimpleNamespace(price=lambda name: (name, TokenPrice(1.0, 1.0, prices)))
    with pytest.raises(BadInput, match=f"prices of this run are in {prices}"):
        find_prices(models, ["answer"], parse_cap(cap), "this run")


@pytest.mark.parametrize(
    ("cap", "prices"),
    [("1", "EUR"), ("1 eur", "EUR"), ("1 €", "EUR"), ("1 EUR", "€"), ("9 tokens", "EUR")],
)
def test_a_cap_in_the_currency_of_the_prices_is_taken(cap, prices):
    price = TokenPrice(1.0, 1.0, prices)
    models = SimpleNamespace(price=lambda name: (name, price))
    assert find_prices(models, ["answer"], parse_cap(cap), "this run") == {"answer": price}


def test_nothing_is_begun_that_might_go_over():
    # one money a token
    spent = Spending({"far": TokenPrice(1e6, 0.0)}, {"far": Usage(1, 10, 0)}, Cap(100))
    assert spent.can_begin(0) and not spent.can_begin(1)  # what a question costs is not known yet
    question = Account()
    with charged_to(question, spent.account):
        charge("far", Usage(1, 30, 5))
    spent.record_piece(question)  # 40 are spent, and a question takes 30
    assert spent.can_begin(0) and spent.can_begin(1) and not spent.can_begin(2)
    assert spent.words(1, 10) == "40.00 USD spent, about 400.00 USD in all"
    assert Spending({}).words(1, 10) == ""


def test_an_estimate_says_what_it_cannot():
    assert estimate_rest(Spending({}), 0, 10).words() == NoteWith("before the first answers")
    assert estimate_rest(Spending({}), 10, 10).words() == NoteWith("Nothing is left")
    free = estimate_rest(Spending({}, {"far": Usage(2, 20, 2)}), 2, 4).words()
    assert "about 2 calls of language models, 20 tokens in, 2 out, no money" in free


@pytest.mark.parametrize(
    "text", ["much", "-1", "0", "5 5", "1e9", "tokens", "5 apples", "200000 tokns", "5k"]
)
def test_what_is_no_cap_is_refused(text):
    with pytest.raises(BadInput, match="is no cap"):
        parse_cap(text)


def test_caps_are_read():
    assert (
        parse_cap("") is None
        and parse_cap("5") == Cap(5.0)
        and parse_cap("2.50 EUR")
        == parse_cap("2.50eur")
        == parse_cap("2.50 €")
        == Cap(2.5, currency="EUR")
        and parse_cap(".5") == Cap(0.5)
    )
    assert parse_cap("200000tokens") == parse_cap("200,000 tokens") == Cap(200_000.0, True)


def test_prices_stand_in_the_row_and_change_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    row = '[model.far]\nkind = "chat"\nbackend = "openai"\nurl = "http://localhost:1/v1"\nmodel = "m"\n'
    found = []
    for more in ("", "price_in = 2\nprice_out = 8.5\ncurrency = 'EUR'\n"):
        (tmp_path / "models.toml").write_text(row + more + '[roles]\nanswer = "far"\n', "utf-8")
        models = Registry()
        found.append((models.signature("far"), models.weights("far")))
    assert found[0] == found[1] and models.price("answer") == ("far", TokenPrice(2.0, 8.5, "EUR"))
    assert models.price("minilm") is None and models.price("nothing") is None
    (tmp_path / "models.toml").write_text(row + "price_in = -2\n", "utf-8")
    (fault,) = Registry().faults()
    assert "price_in" in fault and "at least 0" in fault

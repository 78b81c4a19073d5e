"""Spending caps and cost estimates of a build.

A real server gives replies with a known number of tokens.
"""

import json
import re
import threading
import time
from types import SimpleNamespace

import pytest

from core.builds import build_status, find_build, run_build
from core.builds.cost import UsageEstimate, estimate_cost
from core.builds.merge.fact_merge import Merge
from core.builds.run import build_folder
from core.builds.spending import spent_file, spent_words
from core.cli import EXIT_FAILED, EXIT_OK, EXIT_WRONG_INPUT, main
from core.corpus import Document, new_folder, open_corpus, write_corpus
from core.errors import BadInput, RunCancelled, StoreError
from core.models.chat.openai import OpenAIChat
from core.models.price import Cap, CapReached, TokenPrice
from core.types import Usage
from core.watch import Watch
from tests.core.builds.test_language_model import ChatModels
from tests.core.models.chat_server import serving, stream

READ_TOKENS, WRITTEN_TOKENS = (
    90,
    10,
)  # Tokens of every prompt and reply: 100 per chunk, which cost .28.
TEXTS = [f"Person{i:02} visited City{i:02}." for i in range(20)]


class PricedServerModels(ChatModels):
    """Models with a language model behind a server, at 2 per thousand tokens in and 10 out."""

    def __init__(self, chat):
        self.writer = chat

    def price(self, name):
        return ("far", TokenPrice(2_000.0, 10_000.0, "EUR")) if name == "answer" else None


@pytest.fixture
def far(tmp_path, monkeypatch):
    """A corpus of twenty chunks and models behind a server.

    `far.asked` lists the chunks that the server was sent, and `far.seconds` is the time of a reply.
    """
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    write_corpus(new_folder("notes"), [Document(f"d{i:02}", text) for i, text in enumerate(TEXTS)])
    here = SimpleNamespace(corpus=open_corpus("notes"), asked=[], seconds=0.05, most=0, now=0)
    here.together, here.gathered = 0, threading.Event()

    def answer(handler, body):
        text = body["messages"][-1]["content"]
        number = re.search(r"Person(\d\d)", text)
        here.asked.append(number[1] if number else text)
        here.now += 1
        here.most = max(here.most, here.now)
        if here.now >= here.together:
            here.gathered.set()
        here.gathered.wait(60)
        time.sleep(here.seconds)
        here.now -= 1
        names = [f"Person{number[1]}", f"City{number[1]}"] if number else []
        entities = [
            {"name": name, "type": "person", "description": f"About {name}."} for name in names
        ]
        relations = []
        if names:
            relations = [
                {
                    "source": names[0],
                    "target": names[1],
                    "description": "A visit.",
                    "keywords": "visit",
                }
            ]
        said = json.dumps({"entities": entities, "relations": relations})
        piece = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        ended = {
            **piece,
            "choices": [{"index": 0, "delta": {"content": said}, "finish_reason": "stop"}],
        }
        used = {
            **piece,
            "choices": [],
            "usage": {
                "prompt_tokens": READ_TOKENS,
                "completion_tokens": WRITTEN_TOKENS,
                "total_tokens": READ_TOKENS + WRITTEN_TOKENS,
            },
        }
        stream(
            handler, f"data: {json.dumps(ended)}\n\ndata: {json.dumps(used)}\n\ndata: [DONE]\n\n"
        )

    with serving(answer) as (address, _):
        chat = OpenAIChat(address, "m", "far", max_concurrent=3)
        chat.checks_token_counts = False  # Real prompts have more tokens than the server reports.
        here.models = PricedServerModels(chat)
        yield here


LINE = "TokenChunks(size=240, overlap=24) >> LanguageModelExtraction(gleaning=0) >> Merge()"


@pytest.mark.parametrize(
    "cap, said", [(Cap(2), "1.96 of 2.00 EUR"), (Cap(714, tokens=True), "700 of 714 tokens")]
)
def test_a_cap_stops_a_build_and_a_higher_cap_continues_it(far, cap, said):
    """Seven chunks cost 1.96 and 700 tokens; eight would cost 2.24 and 800."""
    one = find_build(LINE)
    with pytest.raises(
        CapReached, match=f"{said} are spent, 7 of 20 texts of this step done.*with a higher cap"
    ):
        run_build(far.corpus, one, far.models, cap=cap)
    assert len(far.asked) == 7 and not build_status(far.corpus, one).is_built
    with pytest.raises(CapReached):
        # With the same cap no further call is made.
        run_build(far.corpus, one, far.models, cap=cap)
    assert len(far.asked) == 7
    assert (
        estimate_cost(far.corpus, one, far.models)
        .words()
        .endswith("7 calls, 630 tokens in, 70 out, 1.96 EUR.")
    )
    far.together, far.gathered = 3, threading.Event()
    graph = run_build(far.corpus, one, far.models, cap=Cap(100))
    # No chunk is sent twice.
    assert sorted(far.asked) == [f"{i:02}" for i in range(20)] and graph.n_nodes == 40
    # The next build counts its own spending.
    assert not spent_file(build_folder(far.corpus, one)).exists()
    assert far.most == 3


def test_a_capped_build_gives_the_graph_of_an_uncapped_one(far, tmp_path, monkeypatch):
    with pytest.raises(CapReached):
        run_build(far.corpus, LINE_BUILD, far.models, cap=Cap(1))
    digest = run_build(far.corpus, LINE_BUILD, far.models).digest
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "other"))
    write_corpus(new_folder("notes"), [Document(f"d{i:02}", text) for i, text in enumerate(TEXTS)])
    assert run_build(open_corpus("notes"), LINE_BUILD, far.models).digest == digest


LINE_BUILD = find_build(LINE)


def test_spending_before_a_stop_counts(far):
    def check():
        if len(far.asked) >= 5:
            raise RunCancelled()

    with pytest.raises(RunCancelled):
        run_build(far.corpus, LINE_BUILD, far.models, watch=Watch(check))

    def spent():
        return json.loads(spent_file(build_folder(far.corpus, LINE_BUILD)).read_text())

    saved = spent()
    assert 1 <= saved["pieces"] <= len(far.asked)
    assert saved["usage"]["far"][0] == saved["pieces"]
    with pytest.raises(CapReached):
        run_build(
            far.corpus, LINE_BUILD, far.models, cap=Cap(100 * saved["pieces"] + 250, tokens=True)
        )
    assert spent()["pieces"] == saved["pieces"] + 2
    before = len(far.asked)
    spent_file(build_folder(far.corpus, LINE_BUILD)).write_text("torn{")
    assert "damaged" in spent_words(build_folder(far.corpus, LINE_BUILD), far.models, ("answer",))
    with pytest.raises(StoreError, match="damaged.*remove .* to count from nothing"):
        # Otherwise the spending would silently start from zero.
        run_build(far.corpus, LINE_BUILD, far.models, cap=Cap(10_000, tokens=True))
    assert len(far.asked) == before
    # Without a cap the build is not affected.
    assert run_build(far.corpus, LINE_BUILD, far.models).n_nodes == 40


def test_a_cap_in_money_needs_a_price(far):
    far.models.price = lambda name: ("far", TokenPrice())
    with pytest.raises(BadInput, match="No model of this build has a price"):
        run_build(far.corpus, LINE_BUILD, far.models, cap=Cap(1))
    assert not far.asked


def test_descriptions_are_summarised_concurrently_in_order(far):
    line = LINE.replace("Merge()", "Merge(summarise=True, longest=1)")
    far.together = 3
    graph = run_build(far.corpus, find_build(line), far.models)
    assert len(far.asked) == 20 + 40 + 20  # Chunks, nodes, edges.
    assert far.most == 3 and graph.n_nodes == 40
    assert Merge(summarise=True).chat_models() == ("answer",) and Merge().chat_models() == ()


def test_further_calls_are_estimated_and_added(far):
    """20 chunks with .24 reports each give 5 reports, with 460 tokens in and 190 out.

    By hand, they cost 5 * (.92 + 1.90) = 14.10 EUR.
    """
    expected = estimate_cost(far.corpus, find_build("tkg"), far.models)
    assert expected.later_usage == UsageEstimate(Usage(5, 2300, 950), None, 14.1, "EUR")
    both = expected.reading.usage.calls + 5
    assert expected.calls == both and f"In all: about {both} calls" in expected.words()
    assert (
        "about one for 4 chunks: about 5 calls of a language model, 2,300 tokens in, 950 out, 14.10 EUR, minus"
        in expected.words()
    )


def test_amounts_in_two_currencies_are_not_added():
    euro, dollar = (
        UsageEstimate(Usage(1, 10, 1), 2.0, 3.0, "EUR"),
        UsageEstimate(Usage(2, 20, 2), 4.0, 5.0, "USD"),
    )
    both = euro + dollar
    assert both == UsageEstimate(Usage(3, 30, 3), 6.0, is_money_partial=True)
    assert "several currencies" in both.words() and "EUR" not in both.words()
    assert euro + euro == UsageEstimate(Usage(2, 20, 2), 4.0, 6.0, "EUR")
    assert euro + UsageEstimate() == UsageEstimate() + euro == euro


def test_a_sum_with_a_part_without_a_price_is_a_lower_bound():
    priced = UsageEstimate(Usage(1, 10, 1), 2.0, 3.0, "EUR")
    unpriced = UsageEstimate(Usage(2, 20, 2), 4.0)
    bound = UsageEstimate(Usage(3, 30, 3), 6.0, 3.0, "EUR", is_money_partial=True)
    assert priced + unpriced == unpriced + priced == bound
    assert "at least 3.00 EUR" in bound.words() and "at least" not in priced.words()
    assert bound + priced == UsageEstimate(Usage(4, 40, 4), 8.0, 6.0, "EUR", True)
    assert (unpriced + unpriced).words() == UsageEstimate(Usage(4, 40, 4), 8.0).words()


def run_build_command(far, capsys, *more):
    code = main(
        ["corpus", "build", "notes", "--graph", LINE, *more],
        lambda: SimpleNamespace(models=far.models),
    )
    out = capsys.readouterr()
    return code, out.out, out.err


def test_the_command_estimates_and_keeps_to_a_cap(far, capsys):
    code, out, _ = run_build_command(far, capsys, "--estimate")
    assert (
        code == EXIT_OK
        and "20 of 20 chunks are to be read: about 20 calls" in out
        and " EUR" in out
        and not far.asked
    )
    code, _, err = run_build_command(far, capsys, "--cap", "much", "--yes")
    assert code == EXIT_WRONG_INPUT and "is no cap" in err and not far.asked
    code, _, err = run_build_command(far, capsys, "--cap", "714 tokens", "--yes")
    assert (
        code == EXIT_FAILED
        and "Stopped before the cap: 700 of 714 tokens are spent" in err
        and len(far.asked) == 7
    )
    code, out, _ = run_build_command(far, capsys, "--cap", "100", "--yes")
    assert code == EXIT_OK and "40 nodes, 20 edges, 20 chunks" in out and len(far.asked) == 20

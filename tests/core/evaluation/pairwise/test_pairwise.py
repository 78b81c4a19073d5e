"""Answers judged in pairs, by judges whose every reply is written down.

One judge is fair, one is for one place only, one talks nonsense, and one dies.
"""

import json

import pytest

from core.cli import EXIT_FAILED, EXIT_OK, EXIT_WRONG_INPUT, main
from core.errors import BadInput, ModelFailed, RunCancelled
from core.evaluation.metrics.outcome import Outcome, ScoredAnswer
from core.evaluation.pairwise.html_report import tally_html
from core.evaluation.pairwise.pair_judgements import PairwiseJudge, answer_pairs
from core.evaluation.pairwise.plot import win_rate_plot
from core.evaluation.pairwise.tally import PairwiseTally
from core.evaluation.pairwise.verdicts import CRITERIA, Match, PairwiseVerdict, pair_messages
from core.evaluation.reports.method_names import MethodName
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Run, StoredRow
from core.models.base import ChatReply
from core.models.chat.openai import OpenAIChat
from core.models.chat.saved_replies import SavedReplies
from core.prompts import load_prompts
from core.runtime.jobs import Job
from core.types import Question
from core.watch import NO_WATCH
from tests.films import Parrot, Written


class Judge(Parrot):
    """Says what `choose(first, second)` gives for every criterion: first, second or tie."""

    def __init__(self, choose):
        super().__init__("")
        self.choose = choose

    def reply(self, messages, *, watch=NO_WATCH, **_):
        watch.check()
        self.asked.append(messages)
        told = messages[1]["content"]
        first, second = (
            told.split("First answer:\n")[1].split("\n\nVerdict")[0].split("\n\nSecond answer:\n")
        )
        said = self.choose(first, second)
        return ChatReply(
            json.dumps({"why": "So.", **dict.fromkeys(CRITERIA, said)})
            if said in ("first", "second", "tie")
            else said,
            10,
            5,
        )


class Judges(Written):
    def weights(self, name):
        return f"judge {id(self._chat)}"


PAIR = load_prompts("judge")["pair"]["system"]
LONGER = Judge(
    lambda first, second: (
        "tie" if len(first) == len(second) else "first" if len(first) > len(second) else "second"
    )
)


def summary(*answers, by="language model", abstract=True):
    """A run in which the methods a, b, ... gave these answers, a tuple a question."""
    methods = [
        {"id": name, "name": name.upper(), "title": "", "line": "GraphReader()"}
        for name in "abc"[: len(answers[0])]
    ]
    run = Run(
        7,
        "k",
        {"instances": methods, "sample": len(answers), "graphs": [["corpus:carols", ""]]},
        0.0,
        "done",
        0,
        0,
    )
    rows = [
        StoredRow(
            one["id"],
            Question(f"What of {i}?", f"q{i}", abstract=abstract),
            Outcome(0, answer=ScoredAnswer(text, by, 0, 1)) if text else None,
            None,
        )
        for i, given in enumerate(answers)
        for one, text in zip(methods, given)
    ]
    return RunSummary(run, rows)


@pytest.fixture
def work(tmp_path):
    def make(judge, *answers):
        told = summary(*answers)
        return PairwiseJudge(
            told.methods,
            answer_pairs(told),
            Judges(judge),
            saved=SavedReplies(tmp_path / "replies.sqlite"),
        )

    return make


def judged(work):
    return work(Job("pairs"))


def test_the_better_answer_wins_in_both_orders(work):
    tally = judged(work(LONGER, ("long answer", "short"), ("tiny", "longer one"), ("abcd", "efgh")))
    wins = tally.win_rates("overall")
    assert wins["a", "b"].mean == pytest.approx(0.5) and wins["a", "b"].n == 3  # won, lost, tied
    assert [match.score("overall") for match in tally.readable_matches] == [1, 0, 0.5]
    assert (
        tally.agreement("diversity") == 1
        and tally.position_counts("overall") == (2, 2, 2)
        and tally.doubts() == ()
    )
    assert tally.judge == "Parrot"


def test_short_answers_are_no_measure_of_comprehensiveness(tmp_path):
    told = summary(("long answer", "short"), ("abcd", "efgh"), abstract=False)
    judge = PairwiseJudge(
        told.methods,
        answer_pairs(told),
        Judges(LONGER),
        saved=SavedReplies(tmp_path / "replies.sqlite"),
    )
    assert judged(judge).doubts()[-1] == (
        "2 questions ask for a short answer, which says little of comprehensiveness; ask as abstract questions (long answers) "
        "before answers are compared."
    )


def test_both_orders_are_asked_of_every_pair(work):
    judge = Judge(lambda first, second: "tie")
    judged(work(judge, ("one", "two", "three")))
    seen = {
        tuple(part.split("\n")[0] for part in one[1]["content"].split("answer:\n")[1:])
        for one in judge.asked
    }
    assert seen == {
        (a, b) for a in ("one", "two", "three") for b in ("one", "two", "three") if a != b
    }


def test_a_judge_that_always_takes_the_first_place_says_nothing(work):
    tally = judged(
        work(Judge(lambda first, second: "first"), *((f"a{i}", f"b{i}") for i in range(5)))
    )
    assert tally.win_rates("overall")["a", "b"].mean == 0.5 and tally.agreement("overall") == 0
    assert tally.doubts() == (
        "The judge preferred the first position in 10 of 10: its verdicts say nothing.",
    )


def told(*pairs):
    """A match for each pair of what was preferred in the two orders."""
    return tuple(
        Match(f"q{i}", "a", "b", *(PairwiseVerdict({"overall": one}) for one in pair))
        for i, pair in enumerate(pairs)
    )


def test_a_lean_to_a_place_is_told_and_few_verdicts_are_no_lean():
    one_place, steady = [("second", "second")] * 32, [("first", "second"), ("second", "first")] * 32
    # 64 of 96 agree, of which 4/9 = 43 would by chance
    lean = PairwiseTally(("a", "b"), told(*one_place, *steady), 96, "x")
    assert lean.doubts() == (
        "The judge preferred the second position in 128 of 192: read its verdicts with care.",
    )
    assert lean.chance_agreement("overall") == pytest.approx(4 / 9) and lean.is_informative(
        "overall"
    )
    tied = PairwiseTally(("a", "b"), told(*[("tie", "tie")] * 3), 3, "x")
    assert tied.doubts() == (
        "The judge called all 6 a tie: its verdicts show no difference.",
    ) and not tied.is_informative("overall")


def test_orders_that_agree_no_more_than_by_chance_rank_nobody():
    # each place half of the time: half of the pairs agree by chance
    same = [("first", "second"), ("second", "first")]
    few = PairwiseTally(("a", "b"), told(*same), 2, "x")
    assert few.doubts() == (
        "2 pairs are too few to tell the judge's verdicts from chance.",
    ) and not few.is_informative("overall")
    assert PairwiseTally(("a", "b"), told(*same[:1]), 1, "x").doubts() == (
        "One pair is too few to tell the judge's verdicts from chance.",
    )
    assert PairwiseTally(("a", "b"), told(*same * 3), 6, "x").doubts() == ()  # 1/64 by chance
    lots = PairwiseTally(
        ("a", "b"), told(*same, ("first", "first"), ("second", "second"), *same), 6, "x"
    )
    verdict = "Asked in both orders, the judge gives the same verdict on 4 of 6 pairs, no more than by chance: its verdicts say nothing."
    assert lots.doubts() == (verdict,) and not lots.is_informative("overall")
    first = PairwiseTally(("a", "b"), told(("first", "first"), ("first", "first")), 2, "x")
    assert "on 0 of 2 pairs" in first.doubts()[0] and first.chance_agreement("overall") == 0


REPLIED = {  # what Qwen2.5-Coder-0.5B replied on two pairs of answers about A Christmas Carol, by the answer that stood first
    "Bob": '{"why": "The second answer is correct because it provides a different perspective.", '
    '"comprehensiveness": "second", "diversity": "second", "empowerment": "second", "overall": "second"}',
    "Tim": '{"why": "The second answer provides more detail.", '
    '"comprehensiveness": "second", "diversity": "tie", "empowerment": "second", "overall": "second"}',
}


def test_a_small_model_that_always_takes_the_second_place_ranks_nobody(work):
    judge = Judge(lambda first, second: REPLIED[first.split()[0]])
    tally = judged(work(judge, ("Bob is", "Tim is"), ("Tim was", "Bob was")))
    (doubt,) = tally.doubts()
    assert "gives the same verdict on 0 of 2 pairs" in doubt and not any(
        map(tally.is_informative, CRITERIA)
    )
    page = tally_html(tally, {"a": MethodName("A"), "b": MethodName("B")})
    assert (
        page.index("its verdicts say nothing")
        < page.index("<details")
        < page.index("picture-overall")
    )


def test_no_form_of_a_reply_is_shown_that_a_small_model_could_copy():
    """Shown one with a verdict in it, Qwen2.5-Coder-0.5B gave that verdict on 3 of 4 pairs."""
    assert not any(
        f'"{name}": "{place}"' in PAIR for name in CRITERIA for place in ("first", "second", "tie")
    )


def test_a_rate_of_few_questions_is_wide():
    low, high = (
        PairwiseTally(("a", "b"), told(("first", "second"), ("first", "second")), 2, "x")
        .win_rates("overall")["a", "b"]
        .numbers()[1:]
    )
    assert (round(low, 2), high) == (0.34, 1)  # Wilson's: n / (n + 1.96 squared)


def test_a_judge_that_answers_nonsense_has_no_figures(work):
    tally = judged(
        work(Judge(lambda first, second: "I like <b>both</b>"), ("one", "two"), ("three", "four"))
    )
    assert (
        tally.readable_matches == ()
        and tally.win_rates("overall") == {}
        and tally.agreement("overall") is None
    )
    (doubt,) = tally.doubts()
    assert (
        doubt.startswith("Of 2 pairs the judge's replies could be read in 0")
        and "I like <b>both</b>" in doubt
    )
    page = tally_html(tally, {"a": MethodName("A"), "b": MethodName("B")})
    assert "&lt;b&gt;both" in page and "<b>both" not in page


@pytest.mark.parametrize(
    "reply",
    [
        "[]",
        "{",
        '{"overall": "first"}',
        '{"why": 1}',
        "null",
        json.dumps(dict.fromkeys(CRITERIA, "third")),
    ],
)
def test_what_is_no_verdict_is_left_out_and_counted(work, reply):
    judge = Judge(
        lambda first, second: reply if first == "odd" else "first" if first == "good" else "second"
    )
    tally = judged(work(judge, ("odd", "two"), ("good", "bad"), ("good", "bad ")))
    assert (
        len(tally.readable_matches) == 2
        and tally.doubts()[0] == "1 of 3 pairs are left out, as a reply could not be read."
    )


def test_what_was_judged_is_kept_and_judging_goes_on(work):
    job, answers = Job("pairs"), tuple((f"a{i}", f"b{i}") for i in range(4))
    judge = Judge(lambda first, second: "tie")
    cancelled = Judge(lambda first, second: job.cancel() if len(cancelled.asked) == 5 else "tie")
    cancelled.choose = lambda first, second: (
        (job.cancel() if len(cancelled.asked) == 5 else None) or "tie"
    )
    one = work(cancelled, *answers)
    with pytest.raises(RunCancelled):
        one(job)
    # of the third pair one order alone is kept
    assert len(one.tally_saved().matches) == 2 and one.missing_reply_count == 3
    one.models._chat = judge
    tally = judged(one)
    assert len(tally.matches) == 4 and len(judge.asked) == 3


def test_a_judge_that_dies_ends_the_judging_with_a_sentence(work):
    def dead(first, second):
        raise ModelFailed("The server went away.")

    with pytest.raises(ModelFailed, match="3 times in a row; what was judged is kept. .*went away"):
        judged(work(Judge(dead), *((f"a{i}", f"b{i}") for i in range(5))))


def test_equal_answers_readers_and_failures_are_no_pairs():
    assert [
        (one.question, one.a, one.b)
        for one in answer_pairs(summary(("same", " same", "other"), ("x", "", "y")))
    ] == [("q0", "a", "c"), ("q0", "b", "c"), ("q1", "a", "c")]
    assert len(answer_pairs(summary(("x", "y"), ("x", "z")), sample=1)) == 1
    for without in (summary(("same", "same")), summary(("x", "y"), by="nearest sentence")):
        with pytest.raises(BadInput, match="no two different answers"):
            answer_pairs(without)


def test_long_answers_are_cut_alike_and_braces_stay():
    told = pair_messages("Why {first}?", "x" * 9000, "y {second} z", 2048)[1]["content"]
    assert "Why {first}?" in told and "y {second} z" in told and told.count("x") < 3000


def test_the_matrix_has_a_cell_for_each_pair_and_escapes_names(work):
    tally = judged(work(LONGER, ("long answer", "short", "mid one")))
    figure = win_rate_plot(
        tally,
        "overall",
        {"a": MethodName("<script>"), "b": MethodName("B"), "c": MethodName("Long", "C")},
    )
    assert [list(row) for row in figure.data[0].z] == [[None, 1, 1], [0, None, 0], [0, 1, None]]
    assert figure.data[0].x == ("&lt;script&gt;", "B", "C") and figure.data[0].y[2] == "Long (C)"


def test_on_the_command_line(bench, tmp_path, capsys):
    bench.models._chat = Parrot("Drama")
    job = bench.run(bench.plan())
    # all answers are the same one
    assert main(["judge", str(job.number)], lambda: bench.engine) == EXIT_WRONG_INPUT
    assert "no two different answers" in capsys.readouterr().err
    number = _varied(bench)
    page = tmp_path / "wins.html"
    bench.models._chat = LONGER
    assert (
        main(["judge", str(number), "--json", "--html", str(page)], lambda: bench.engine) == EXIT_OK
    )
    told = json.loads(capsys.readouterr().out)
    assert (
        told["judge"] == "Parrot"
        and told["read"] == told["pairs"] == 3
        and "plotly" in page.read_text("utf-8")
    )
    assert {one["row"]: one["mean"] for one in told["criteria"]["overall"]["wins"]} == {
        "two": 1,
        "one": 0,
    }
    bench.models._chat = Judge(lambda first, second: "?")
    bench.models.weights = lambda name: "another judge"
    assert main(["judge", str(number)], lambda: bench.engine) == EXIT_FAILED
    assert "could be read in 0" in capsys.readouterr().err


def _varied(bench):
    """A run in which the answers of “two” are the longer ones."""

    class CountingJudge(Parrot):
        def reply(self, messages, **how):
            self.text = "word " * messages[-1]["content"].count("->")
            return super().reply(messages, **how)

    bench.models._chat = CountingJudge("")
    return bench.run(bench.plan(seed=5)).number


def test_a_server_judges_many_pairs_at_a_time_and_the_tally_is_the_same(tmp_path):
    from tests.core.evaluation.runs.test_flight import server

    run = summary(*((f"Ann {i}", f"Bob the {i}") for i in range(16)))
    tallies, most = [], []
    for at_once in (1, 0):
        with server(0.1) as (address, seen):
            chat = OpenAIChat(address, "m", "m", max_concurrent=at_once)
            work = PairwiseJudge(
                run.methods,
                answer_pairs(run),
                Judges(chat),
                saved=SavedReplies(tmp_path / f"{at_once}.sqlite"),
            )
            try:
                tallies.append(work(Job("j")).to_dict())
            except ModelFailed as error:
                tallies.append(str(error))
        most.append(seen.most)
    assert most[0] == 1 and most[1] > 4
    assert tallies[0] == tallies[1]

"""The reader asked again with other contexts, on the five films and three documents."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from core.cases.comparison_data import freeze, thaw
from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.corpus import Document, write_corpus
from core.diagnosis.reading import (
    EVIDENCE,
    EVIDENCE_FIRST,
    HALF,
    NOTHING,
    RETRIEVED,
    REVERSED,
    WITHOUT,
    Reader,
    lane_reading_text,
    measure_reading,
    read_evidence,
    reading_cost,
    reading_fault,
    reading_text,
)
from core.diagnosis.repair.reading_repair import find_reading_repair, read_lane
from core.diagnosis.repair.repair_offers import best_repair, find_equal_lane
from core.engine import Engine, MethodComparison
from core.environment import Environment
from core.errors import BadInput, ModelFailed
from core.models.base import ChatReply
from core.operators.text import parse_line
from core.results import reading_dict
from core.sources import CorpusSource, GraphSource
from core.types import AnswerPoint, Question, ReaderAnswer, ReaderAnswers
from tests.films import Bag, Parrot, Written
from tests.lanes import lane_of

RANKED = "EgoNetwork(hops=1) >> ShortestPaths(hops=1) >> Rank(keep=8) >> Answer()"
# The paths of Two, best first: to 1999, to Ann as director, to Ann as writer.
SCORES = {
    "Two -> release_year -> 1999": 1.0,
    "Two -> directed_by -> Ann": 0.5,
    "Two -> written_by -> Ann": 0.2,
}


class Rules(Parrot):
    """A language model that answers by the first of its pairs whose words its context holds.

    A pair is words and an answer. It is shown in `seen` what its contexts were.
    """

    def __init__(self, *pairs: tuple[str, str]):
        super().__init__("", 4096)
        self.pairs = pairs

    def reply(self, messages, **how):
        context = messages[-1]["content"].split("Question")[0]
        self.text = next(
            (
                answer
                for words, answer in self.pairs
                if all(word in context for word in words.split())
            ),
            "I do not know",
        )
        return super().reply(messages, **how)


MISLED = (("written_by", "Ann"), ("1999", "In 1999"))


@pytest.fixture
def asked(kit):
    """`asked(chat, answers)`: a lane that has answered when Two was released."""

    def make(chat=None, answers=("1999",), line=RANKED, entity="Two", **fields):
        ask = GraphSource("films", kit.graph).ask(
            Question(f"when was {entity} released", entities=(entity,), answers=answers, **fields),
            uses_model=chat is not None,
        )
        make.environment = Environment(Written(chat, encoder=kit.Table(SCORES)))
        run = LaneRun(ask, parse_line(line), make.environment)
        run.retrieve(LaneListener())
        run.answer(LaneListener())
        return lane_of(run, "a", "A")

    return make


def ending(lane, **fields):
    return replace(lane, states=(*lane.states[:-1], lane.state.replace(**fields)))


def truths(reading: ReaderAnswers) -> dict:
    return {(one.context, one.item): one.right for one in reading.answers}


def test_an_answer_lost_in_reading_is_right_with_the_first_half(asked):
    """Three paths are shown, and the third misleads the model.

    The evidence is the first of them. Two of three are the first half. Without the second the
    third still misleads.
    """
    lane = asked(Rules(*MISLED))
    assert lane.state.answer == "Ann" and lane.state.prompt.paths == 3
    reading = measure_reading(lane, asked.environment)
    assert (reading.items, reading.evidence, reading.needed, reading.missing) == (3, (0,), 1, 0)
    assert truths(reading) == {
        (RETRIEVED, None): False,
        (NOTHING, None): False,
        (REVERSED, None): False,
        (HALF, None): True,
        (EVIDENCE, None): True,
        (WITHOUT, 1): False,
        (WITHOUT, 2): True,
    }
    sizes = {one.context: one.items for one in reading.answers if one.context != WITHOUT}
    assert sizes == {RETRIEVED: 3, NOTHING: 0, REVERSED: 3, HALF: 2, EVIDENCE: 1}
    assert reading_text(reading) == (
        "Lost in reading: the evidence is in the prompt, 1st of 3 paths; without the last the "
        "model is right."
    )


def test_the_order_of_the_prompt_is_what_is_asked(asked):
    chat = Rules(*MISLED)
    lane = asked(chat)
    measure_reading(lane, asked.environment)
    contexts = [messages[-1]["content"] for messages in chat.asked]
    assert "(no path was found)" in contexts[1] and "1999" not in contexts[1]
    assert contexts[2].index("written_by") < contexts[2].index("directed_by")
    assert contexts[2].index("directed_by") < contexts[2].index("release_year")
    assert "directed_by" in contexts[3] and "written_by" not in contexts[3]


def test_a_shorter_prompt_is_tried_and_offered_as_a_repair(asked):
    lane = asked(Rules(*MISLED))
    comparison = MethodComparison(lane.ask, [lane])
    read = read_lane(comparison, 0, asked.environment)
    repair = comparison.lanes[0].repair
    assert read.repair is repair and repair.label == "Keep 2 paths → right" and repair.by_answer
    assert parse_line(repair.spec).operators[-1].paths == 2
    assert best_repair(comparison)[0] == 0 and find_equal_lane(comparison, read, repair) is None
    # another lane with the operators of the method does not show the shorter prompt
    other = replace(asked(Rules(*MISLED), line=RANKED.replace("keep=8", "keep=7")))
    assert find_equal_lane(MethodComparison(lane.ask, [read, other]), read, repair) is None
    same = asked(Rules(*MISLED), line=repair.spec)
    assert find_equal_lane(MethodComparison(lane.ask, [read, same]), read, repair) == 1


def test_no_repair_is_offered_that_the_model_does_not_answer_right(asked):
    """The model is right from the evidence alone, but wrong from any prompt with another path."""
    only = (("Ann", "Ann"), ("1999", "1999"))
    lane = asked(Rules(*only), line=RANKED.replace("Answer()", "Answer(paths=3)"))
    reading = measure_reading(lane, asked.environment)
    assert truths(reading)[EVIDENCE, None] and not truths(reading)[HALF, None]
    # the last evidence is the first path, so that one path is tried, which is right
    repair = find_reading_repair(lane, reading, asked.environment)
    assert repair.label == "Keep 1 path → right"
    asked.environment.models._chat = Parrot("Ann")
    assert find_reading_repair(lane, reading, asked.environment) is None


def test_evidence_that_is_not_first_is_put_first(asked):
    """The model answers with the entity of the first path."""

    class FirstTextParrot(Parrot):
        def reply(self, messages, **how):
            lines = [line for line in messages[-1]["content"].splitlines() if "->" in line]
            self.text = lines[0].split("-> ")[-1] if lines else "nothing"
            return super().reply(messages, **how)

    lane = asked(FirstTextParrot("", 4096), answers=("Ann",))
    reading = measure_reading(lane, asked.environment)
    assert reading.evidence == (1, 2) and truths(reading)[EVIDENCE_FIRST, None]
    assert reading_text(reading) == (
        "Lost in reading: the evidence is in the prompt, 2nd and 3rd of 3 paths; with the "
        "evidence first the model is right."
    )


def test_evidence_that_was_not_shown_is_lost_in_retrieval(asked):
    """The path to 1999 is ranked first, and the line keeps only the second by another score."""
    line = RANKED.replace("Rank(keep=8)", "Rank(keep=1)")
    lane = asked(Rules(*MISLED), answers=("Ann",), line=line)
    reading = measure_reading(lane, asked.environment)
    assert (reading.evidence, reading.needed, reading.missing) == ((), 1, 1)
    assert truths(reading)[EVIDENCE, None] is False  # “directed_by -> Ann” says nothing to it
    assert reading_text(reading) == (
        "Lost in retrieval: the evidence is not in the prompt. With the evidence alone the model "
        "is wrong."
    )
    assert not any(one.context == WITHOUT for one in reading.answers)
    assert find_reading_repair(lane, reading, asked.environment) is None


def test_a_right_answer_is_held_against_no_context(asked):
    reading = measure_reading(asked(Parrot("In 1999.")), asked.environment)
    assert reading_text(reading) == ("Read right. The model is also right without any context.")
    # each context is read once, and no item is left out alone
    assert len(reading.answers) == 5


def test_aliases_and_several_answers(asked):
    """One of two answers is enough, under any of its names; its node has only one of them."""
    question = {"answers": ("the year 1999", "2001"), "aliases": (("the year 1999", "1999"),)}
    right = asked(Parrot("1999"), **question)
    assert read_evidence(right, True).missing == 0
    assert measure_reading(right, asked.environment).answers[0].right
    # neither has a node in the graph
    missing = asked(Parrot("Ann"), answers=("2001", "2002"))
    evidence = read_evidence(missing, True)
    assert (evidence.needed, evidence.missing) == (1, 1)
    assert EVIDENCE not in {
        one.context for one in measure_reading(missing, asked.environment).answers
    }


def test_without_known_answers_the_answers_are_compared(asked):
    reading = measure_reading(asked(Rules(*MISLED), answers=()), asked.environment)
    assert (reading.needed, reading.evidence) == (0, ()) and {
        one.right for one in reading.answers
    } == {None}
    # nothing, reversed, half: only the reversed prompt misleads alike
    assert reading_text(reading) == (
        "No correct answer is known. 1 of 3 other contexts give the same answer."
    )


def test_yes_and_no_are_no_evidence(asked):
    reading = measure_reading(asked(Parrot("no"), answers=("yes",)), asked.environment)
    assert reading.needed == 0 and "no evidence is known" in reading_text(reading)


def test_the_answer_read_from_the_graph_is_read_again_without_a_model(asked):
    """The graph reader follows the best path, to 1999. In reverse order it names Ann."""
    line = RANKED.replace(" >> Answer()", "").replace("Rank(keep=8)", "Rank(keep=8)")
    lane = asked(None, answers=("1999",), line=line)
    reading = measure_reading(lane, asked.environment)
    assert not reading.by_model and reading.answers[0].answer == "1999"
    found = truths(reading)
    assert found[RETRIEVED, None] and not found[NOTHING, None] and found[EVIDENCE, None]
    assert {one.tokens for one in reading.answers} == {0}


def test_the_cost_is_said_before_and_held(asked):
    chat = Rules(*MISLED)
    lane = asked(chat)
    cost, before = reading_cost(lane), len(chat.asked)
    read_lane(MethodComparison(lane.ask, [lane]), 0, asked.environment)
    # nothing, reversed, half, evidence, two left out, and one repair of at most two
    assert cost.calls == 8 and len(chat.asked) - before == 7
    assert cost.tokens == 8 * lane.state.trace[-1].usage.tokens_in


def test_what_cannot_be_asked_again_says_why(asked):
    alone = asked(Parrot("Ann"), line="Answer(prompt='question-only')")
    assert "its prompt shows no path" in reading_fault(alone)
    lane = asked(Parrot("Ann"))
    assert reading_fault(lane) == ""
    points = ending(lane, points=(AnswerPoint(9, "Ann", "node", (0,)),))
    assert "noted points" in reading_fault(points)
    assert "no reader was asked" in reading_fault(ending(lane, own_answer=True))
    assert reading_fault(replace(lane, error="It went away.")) == "It gave no answer."
    with pytest.raises(BadInput, match="noted points"):
        measure_reading(points, asked.environment)


def test_a_model_that_fails_or_sends_nothing(asked):
    class FailingRules(Rules):
        def reply(self, messages, **how):
            if "no path was found" in messages[-1]["content"]:
                raise ModelFailed("It went away.")
            return super().reply(messages, **how)

    lane = asked(FailingRules(*MISLED))
    with pytest.raises(ModelFailed):
        measure_reading(lane, asked.environment)

    class SilentParrot(Parrot):
        def reply(self, messages, **how):
            self.asked.append(messages)
            return ChatReply("", 9, 0)

    reading = measure_reading(asked(SilentParrot("")), asked.environment)
    assert {(one.answer, one.right) for one in reading.answers} == {("", False)}
    assert all(one.fault for one in reading.answers)
    assert "with the evidence alone the model is wrong too" in reading_text(reading)


def test_it_is_saved_with_the_lane(asked):
    lane = asked(Rules(*MISLED))
    comparison = MethodComparison(lane.ask, [lane])
    lane = read_lane(comparison, 0, asked.environment)
    saved = thaw(freeze(comparison)).lanes[0]
    assert saved.reading == lane.reading and saved.repair == lane.repair
    data = reading_dict(saved)
    assert data["evidence"] == [1] and data["answers"][-1]["context"] == "without the 3rd"


@pytest.fixture
def animals(tmp_path, monkeypatch):
    """`animals(chat, question)`: a lane that two of three documents were retrieved for."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    documents = (
        Document("a", "red fox den", "A"),
        Document("b", "red fox owl", "B"),
        Document("c", "elk owl bat", "C"),
    )
    engines = []

    def make(chat, question, answer="AnswerFromPassages()"):
        engine = Engine(Written(chat, encoder=Bag()))
        engines.append(engine)
        make.environment = engine.environment
        source = CorpusSource("animals", corpus=write_corpus(tmp_path / "animals", documents))
        ask = engine.prepare_question(source, question)
        line = f"BuiltGraph() >> EmbedQuery() >> VectorChunks(keep=2) >> {answer}"
        run = LaneRun(ask, parse_line(line), engine.environment, PrefixCache())
        run.retrieve(LaneListener())
        run.answer(LaneListener())
        return lane_of(run, "v", "V")

    yield make
    for engine in engines:
        engine.jobs.stop()


@pytest.mark.parametrize("answer", ["AnswerFromPassages()", "AnswerFromTables()"])
def test_all_marked_passages_are_needed_and_are_the_evidence_alone(animals, answer):
    """Passages a and b are retrieved; a and c are marked. The model needs c."""
    chat = Rules(("bat", "bat"))
    lane = animals(chat, Question("red fox den", answers=("bat",), gold=("a", "c")), answer)
    reading = measure_reading(lane, animals.environment)
    assert (reading.items, reading.evidence, reading.needed, reading.missing) == (2, (0,), 2, 1)
    shown = chat.asked[-1][-1]["content"] if reading.answers[-1].context == EVIDENCE else ""
    assert "red fox den" in shown and "elk owl bat" in shown and "red fox owl" not in shown
    assert reading_text(reading) == (
        "Lost in retrieval: one of two pieces of evidence is not in the prompt. With the evidence "
        "alone the model is right."
    )


def test_without_marked_passages_a_text_with_the_answer_is_evidence(animals):
    lane = animals(
        Rules(("owl", "owl"), ("den", "den")), Question("red fox den now", answers=("den",))
    )
    reading = measure_reading(lane, animals.environment)
    assert (reading.evidence, reading.needed, reading.missing) == ((0,), 1, 0)
    assert "1st of 2 passages; without the last the model is right" in reading_text(reading)
    assert find_reading_repair(lane, reading, animals.environment).label == "Keep 1 passage → right"


def test_a_part_of_a_word_is_no_evidence(animals):
    """“ow” is in “owl”, which both passages that are read lack as a word of its own."""
    lane = animals(Parrot("den"), Question("red fox den now", answers=("ow",)))
    assert read_evidence(lane, True).missing == 1
    assert Reader(lane).positions == ()


def test_evidence_that_is_not_in_the_graph_is_not_shown(animals):
    question = Question("red fox den", answers=("bat",), gold=("a", "nowhere"))
    lane = animals(Parrot("owl"), question)
    assert Reader(lane).evidence_state([lane.states]) is None


def test_each_case_has_its_sentence():
    def text(**answers):
        return reading_text(
            ReaderAnswers(
                True, "passage", 12, (2, 8), 2, 0,
                tuple(ReaderAnswer(name, right=right, items=6) for name, right in answers.items()),
            )
        )  # fmt: skip

    start = (
        "Lost in reading: both pieces of evidence are in the prompt, 3rd and 9th of 12 passages; "
    )
    assert text(retrieved=False, half=True) == f"{start}without the last six the model is right."
    assert text(retrieved=False, half=False, reversed=True) == (
        f"{start}in reverse order the model is right."
    )
    assert text(retrieved=False, evidence=False) == (
        f"{start}with the evidence alone the model is wrong too."
    )
    assert text(retrieved=True, nothing=False, reversed=False) == (
        "Read right. In reverse order it is wrong."
    )


@pytest.mark.parametrize("answers, is_said", [(("Ann",), False), (("Ann", "Bob"), True)])
def test_one_of_several_correct_answers_is_said_to_be_enough(answers, is_said):
    reading = ReaderAnswers(False, "path", 1, answers=(ReaderAnswer("retrieved", right=True),))
    ask = SimpleNamespace(question=Question("who", answers=answers))
    text = lane_reading_text(SimpleNamespace(reading=reading, ask=ask))
    assert text.startswith("Read right.") and ("One of the 2" in text) == is_said

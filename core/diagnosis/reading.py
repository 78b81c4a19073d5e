"""The reader of a lane, asked again with other contexts.

The reader is the operator that answers: a language model, the graph reader, or the nearest
sentence. A wrong answer is *lost in reading* if all evidence was read, else *lost in retrieval*.

Notes
-----
A reader is *right* if its text holds a known answer under any of its names. The graph reader is
right if the node that it names first has such a name. Of several known answers one is enough.

*Evidence* is what was marked, else what can be matched:

- on documents with gold passages, a chunk of each of them. All are needed.
- on documents without, a text that holds a known answer as whole words. One is needed. Yes and
  no are no evidence.
- on triples, a path with a node that has a known answer's name. One is needed.

The evidence is *read* if it is in the prompt, or without a language model among the retrieved
paths or chunks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from core.comparison.lane import MethodLane
from core.diagnosis.answer_match import YES_NO_ANSWERS, gives_answer
from core.diagnosis.funnel import funnel, gold_nodes
from core.diagnosis.influence import (
    ANSWERED_BY_RETRIEVER,
    ANSWERED_FROM_POINTS,
    ITEM_NOUNS,
    NO_ANSWER_GIVEN,
    NOTHING_TO_LEAVE_OUT,
    InfluenceCost,
    answer_cost,
    answering_operator,
)
from core.diagnosis.missed_answers import paths_to_answers
from core.diagnosis.passages import chunk_rows, gold_rows
from core.diagnosis.path_outcome import ordinal
from core.diagnosis.prompt_items import (
    STATE_FIELDS,
    Item,
    item_at,
    items_of,
    only_read_items,
    only_shown_items,
    with_items,
)
from core.diagnosis.targets import answers_of, passages_of
from core.diagnosis.wording import (
    all_words,
    capitalised,
    is_or_are,
    join_words,
    number_words,
    plural,
)
from core.environment import Environment
from core.errors import BadInput
from core.graph.texts import chunk_nodes, hit_names, hit_texts
from core.languages.spelling import contains_whole, normalize
from core.operators.base import Context
from core.types import Question, Ranking, ReaderAnswer, ReaderAnswers, State
from core.watch import NO_WATCH, Watch

NOTHING = "nothing"
RETRIEVED = "retrieved"
REVERSED = "reversed"
HALF = "half"
EVIDENCE = "evidence"
EVIDENCE_FIRST = "evidence first"
WITHOUT = "without"
CONTEXT_LABELS = {
    NOTHING: "nothing",
    RETRIEVED: "as retrieved",
    REVERSED: "in reverse order",
    HALF: "the first half",
    EVIDENCE: "the evidence alone",
    EVIDENCE_FIRST: "the evidence first",
    WITHOUT: "without the {item}",
}
MAX_MODEL_DISTRACTORS = 6  # items left out one by one, a call each
MAX_READER_DISTRACTORS = 32  # the same for a reader that needs no language model
MAX_REPAIR_ANSWERS = 2  # shorter prompts that are tried as repairs
ANSWER_CAME_ALONG = "Its answer came with what it retrieved, and no reader was asked."
PROMPT_CAME_ALONG = "Its prompt came with what it retrieved, and cannot be changed."
NO_EVIDENCE_HERE = "Its evidence is not known, or not in the graph."
EVIDENCE_NOT_SHOWN = "Its reader is shown neither passages nor paths."
MAX_NAMED_POSITIONS = 4  # places of evidence that a sentence names
# A context's key, the state that the reader answers from, and the position of a left-out item.
OtherContext = tuple[str, State, int | None]
TRUTH_WORDS = {True: "right", False: "wrong"}


@dataclass(frozen=True)
class ReadEvidence:
    """The evidence of a question, and the part of it that a reader read.

    Parameters
    ----------
    needed : number of pieces that are needed; 0 if none is known.
    missing : number of needed pieces that were not read.
    """

    needed: int = 0
    missing: int = 0


def context_label(answer: ReaderAnswer) -> str:
    """Return the context of an answer in a few words.

    >>> from core.diagnosis.reading import context_label
    >>> from core.types import ReaderAnswer
    >>> context_label(ReaderAnswer("half")), context_label(ReaderAnswer("without", item=2))
    ('the first half', 'without the 3rd')
    """
    position = "" if answer.item is None else ordinal(answer.item + 1)
    return CONTEXT_LABELS[answer.context].format(item=position)


def has_known_evidence(question: Question) -> bool:
    """Return whether evidence of a question can be recognised: gold passages, or answers.

    Answers that are all yes or no can be found in any text, and blank ones nowhere; they are no
    evidence.
    """
    answers = [normalize(answer) for answer in question.answers]
    return bool(question.gold) or any(answer not in ("", *YES_NO_ANSWERS) for answer in answers)


def last_read_stage(is_corpus: bool, by_model: bool) -> str:
    """Return the stage of the funnel that a reader reads."""
    if by_model:
        return "prompt"
    return "retrieved" if is_corpus else "paths"


def read_evidence(lane: MethodLane, by_model: bool) -> ReadEvidence:
    """Return how much evidence of its question the reader of a lane has read."""
    source, question = lane.ask.source, lane.ask.question
    targets = passages_of(question) or answers_of(question)
    if not targets or not has_known_evidence(question):
        return ReadEvidence()
    stages = funnel(source, lane.graph, lane.state, targets, by_model, lane.saved_alive)
    last_stage = last_read_stage(source.is_corpus, by_model)
    n_alive = next((len(stage.alive) for stage in stages if stage.name == last_stage), 0)
    needed = len(targets) if question.gold else 1
    return ReadEvidence(needed, max(0, needed - n_alive))


def reading_fault(lane: MethodLane) -> str:
    """Return why the reader of a lane cannot be asked again; empty if it can."""
    state, by_model = lane.state, answers_by_model(lane)
    if lane.error is not None or not lane.retrieved:
        return NO_ANSWER_GIVEN
    if not by_model and state.reader is None and state.excerpt is None:
        return NO_ANSWER_GIVEN
    if state.own_answer:
        return ANSWER_CAME_ALONG
    if by_model and state.points is not None:
        return ANSWERED_FROM_POINTS
    if any(one.prompt is not None for one in lane.states if one.trace[-1].stage != "generate"):
        return PROMPT_CAME_ALONG
    try:
        fields = _fields_read(lane, by_model)
    except BadInput as error:
        return str(error)
    return "" if fields.intersection((*STATE_FIELDS.values(), "tables")) else NOTHING_TO_LEAVE_OUT


def answers_by_model(lane: MethodLane) -> bool:
    """Return whether the reader of a lane is a language model."""
    return lane.state.answer is not None


def _fields_read(lane: MethodLane, by_model: bool) -> set[str]:
    operator = answering_operator(lane, by_model)
    return {*operator.reads, *operator.reads_any}


def reading_cost(lane: MethodLane) -> InfluenceCost:
    """Return upper bounds of the cost of `measure_reading` and a repair, by a language model.

    Raises BadInput if the reader cannot be asked again.
    """
    reader = Reader(lane)
    n_contexts = len(list(reader.contexts())) + len(reader.distractors()) + MAX_REPAIR_ANSWERS
    return answer_cost(lane, n_contexts)


def measure_reading(
    lane: MethodLane, environment: Environment, watch: Watch = NO_WATCH
) -> ReaderAnswers:
    """Ask the reader of a lane again with other contexts.

    Each item without evidence is left out alone only if the answer was lost in reading. Raises
    BadInput if the reader cannot be asked, RunCancelled, and what the language model raises.
    """
    reader = Reader(lane)
    answers = [reader.retrieved_answer()]
    contexts: list[OtherContext] = list(reader.contexts())
    if reader.is_lost_in_reading:
        for position in reader.distractors():
            contexts.append((WITHOUT, reader.without(position), position))
    if not reader.by_model:
        again = reader.ask(RETRIEVED, reader.state, environment, watch)
        if again.answer != answers[0].answer:
            raise BadInput(ANSWERED_BY_RETRIEVER)
    for number, (context, state, item) in enumerate(contexts):
        label = context_label(ReaderAnswer(context, item=item))
        watch.report(
            f"Reading {label}: {number + 1:,} of {len(contexts):,}", number / len(contexts)
        )
        answer = reader.ask(context, state, environment, watch)
        answers.append(replace(answer, item=item))
    evidence = reader.evidence
    return ReaderAnswers(
        reader.by_model,
        reader.noun,
        len(reader.items),
        reader.positions,
        evidence.needed,
        evidence.missing,
        tuple(answers),
    )


class Reader:
    """The reader of a lane, which answers from other states.

    Raises BadInput if it cannot be asked again.

    Attributes
    ----------
    items : the items that it read, kind by kind.
    state : the state with these alone.
    positions : the positions in `items` of those that hold evidence.
    """

    def __init__(self, lane: MethodLane):
        if fault := reading_fault(lane):
            raise BadInput(fault)
        self.lane = lane
        self.by_model = answers_by_model(lane)
        self.operator = answering_operator(lane, self.by_model)
        self.items: list[Item] = items_of(lane.state, self.by_model)
        self.evidence = read_evidence(lane, self.by_model)
        self.positions = tuple(self._evidence_positions()) if self.evidence.needed else ()
        if self.by_model:
            shown_state = only_shown_items(lane.state, self.operator)
            self.state = shown_state.replace(answer=None, prompt=None)
        else:
            self.state = only_read_items(lane.state)

    @property
    def noun(self) -> str:
        """The noun of its items, if all are of one kind."""
        nouns = {ITEM_NOUNS[kind] for kind, _ in self.items}
        return nouns.pop() if len(nouns) == 1 else "item"

    @property
    def is_lost_in_reading(self) -> bool:
        """True if the answer is wrong although all evidence was read."""
        is_read = self.evidence.needed > 0 and not self.evidence.missing
        return is_read and is_right(self.lane, self.lane.state, self.by_model) is False

    def contexts(self) -> Iterator[OtherContext]:
        """Yield the contexts other than what was retrieved."""
        yield NOTHING, self.nothing(), None
        n_items = len(self.items)
        if n_items > 1:
            yield REVERSED, self._with(range(n_items - 1, -1, -1)), None
            yield HALF, self._with(self._first_half()), None
        evidence_state = self.evidence_state([self.lane.states])
        if evidence_state is not None:
            yield EVIDENCE, evidence_state, None
        if self.positions and self.positions != tuple(range(len(self.positions))):
            others = [index for index in range(n_items) if index not in self.positions]
            yield EVIDENCE_FIRST, self._with([*self.positions, *others]), None

    def nothing(self) -> State:
        """Return the state without any item."""
        return with_items(self.state, (), self.operator).replace(tables=None, reports=None)

    def without(self, position: int) -> State:
        """Return the state without one item."""
        return self._with(index for index in range(len(self.items)) if index != position)

    def distractors(self) -> list[int]:
        """Return the positions of the items without evidence; empty if they are too many."""
        most = MAX_MODEL_DISTRACTORS if self.by_model else MAX_READER_DISTRACTORS
        others = [index for index in range(len(self.items)) if index not in self.positions]
        return others if self.positions and len(others) <= most else []

    def evidence_state(self, runs: Sequence[Sequence[State]]) -> State | None:
        """Return the state with all known evidence and nothing else.

        The evidence is the chunks of the gold passages, or on triples a path to each known answer
        (`paths_to_answers`). On documents without gold passages it is the read items that hold a
        known answer. The result is None if a piece is unknown, or if the reader is shown no such
        items.

        Parameters
        ----------
        runs : the states of the lanes in which paths to known answers are sought.
        """
        lane, question = self.lane, self.lane.ask.question
        fields = _fields_read(lane, self.by_model)
        if question.gold:
            rows_by_passage = [sorted(chunk_rows(lane.graph, name)) for name in question.gold]
            rows = dict.fromkeys(chain.from_iterable(rows_by_passage))
            if not all(rows_by_passage) or "chunks" not in fields:
                return None
            return self._plain_state(chunks=Ranking("chunk", tuple(rows)))
        if not self.evidence.needed:
            return None
        if lane.ask.source.is_corpus:
            return self._with(self.positions) if self.positions else None
        paths = paths_to_answers(lane.graph, runs, question.answers)
        if not paths or "paths" not in fields:
            return None
        return self._plain_state(paths=Ranking("path", tuple(dict.fromkeys(paths.values()))))

    def retrieved_answer(self) -> ReaderAnswer:
        """Return the answer that the lane has."""
        return self._answer(RETRIEVED, self.lane.state, len(self.items))

    def ask(
        self, context: str, state: State, environment: Environment, watch: Watch = NO_WATCH
    ) -> ReaderAnswer:
        """Return the answer to a context. Raises what the language model raises."""
        lane = self.lane
        operator_context = Context(
            lane.graph, environment, lane.ask.seed, watch.without_reports, answering=self.by_model
        )
        n_items = sum(map(len, state.ranked.values()))
        return self._answer(context, self.operator(state, operator_context), n_items)

    def _answer(self, context: str, state: State, n_items: int) -> ReaderAnswer:
        stage = "generate" if self.by_model else "read"
        step = next(step for step in reversed(state.trace) if step.stage == stage)
        if state.prompt is not None:
            n_items = state.prompt.paths + sum(state.prompt.hits.values())
        return ReaderAnswer(
            context,
            answer_text(self.lane.graph, state, self.by_model),
            is_right(self.lane, state, self.by_model),
            n_items,
            step.usage.tokens_in,
            step.fault,
        )

    def _plain_state(self, **rankings: Ranking) -> State:
        return State(self.lane.ask.question, self.lane.state.seeds).replace(**rankings)

    def _with(self, positions: Iterable[int]) -> State:
        return with_items(self.state, [self.items[index] for index in positions], self.operator)

    def _first_half(self) -> list[int]:
        """Return the positions of the first half of the items of each kind, rounded up."""
        counts = {kind: 0 for kind, _ in self.items}
        for kind, _ in self.items:
            counts[kind] += 1
        return [
            position
            for position, (kind, index) in enumerate(self.items)
            if 2 * index < counts[kind]
        ]

    def _evidence_positions(self) -> Iterator[int]:
        """Yield the positions of the items that hold evidence."""
        lane, question = self.lane, self.lane.ask.question
        graph = lane.graph
        rows = gold_rows(graph, question.gold)
        names = [name for answer in question.answers for name in question.answer_names(answer)]
        answer_nodes = set() if lane.ask.source.is_corpus else set(gold_nodes(graph, *names))
        for position, (kind, index) in enumerate(self.items):
            item = item_at(lane.state, self.by_model, kind, index)
            if question.gold:
                row = item if kind == "chunk" else None
                if kind == "node":
                    row = chunk_nodes(graph, [item]).get(item)
                is_evidence = row in rows
            elif kind == "path" and not lane.ask.source.is_corpus:
                is_evidence = not answer_nodes.isdisjoint(item.nodes)
            else:
                text = _item_text(graph, kind, item)
                is_evidence = any(contains_whole(text, name) for name in names)
            if is_evidence:
                yield position


def _item_text(graph, kind: str, item) -> str:
    if kind == "path":
        return graph.text(item)
    return " ".join((*hit_names(graph, kind, [item]), *hit_texts(graph, kind, [item])))


def answer_text(graph, state: State, by_model: bool) -> str:
    """Return the text of an answer; the graph reader's names are separated by commas."""
    if by_model:
        return state.answer or ""
    if state.reader is not None:
        return ", ".join(graph.names(state.reader))
    return state.excerpt.text if state.excerpt is not None else ""


def is_right(lane: MethodLane, state: State, by_model: bool) -> bool | None:
    """Return whether an answer to a lane's question is right; None without known answers.

    `state` has the answer. Its own question may be that of an earlier comparison, without answers.
    """
    graph, question = lane.graph, lane.ask.question
    if not question.answers:
        return None
    names = [name for answer in question.answers for name in question.answer_names(answer)]
    if not by_model and state.reader is not None:
        return not set(state.reader[:1]).isdisjoint(gold_nodes(graph, *names))
    text = answer_text(graph, state, by_model)
    return any(gives_answer(text, name) for name in names)


def lane_reading_text(lane: MethodLane) -> str:
    """Return `reading_text` of a lane, and how many of several correct answers count as right."""
    assert lane.reading is not None
    text, n_answers = reading_text(lane.reading), len(lane.ask.question.answers)
    if n_answers > 1:
        text += f" One of the {n_answers:,} correct answers counts as right here."
    return text


def reading_text(reading: ReaderAnswers) -> str:
    """Return a sentence on where an answer was lost, and what would have helped."""
    who = "the model" if reading.by_model else "the reader"
    truths = {answer.context: answer.right for answer in reading.answers}
    retrieved = truths[RETRIEVED]
    alone = truths.get(EVIDENCE)
    if retrieved is None:
        return _agreement_text(reading)
    if retrieved:
        text = "Read right."
        if truths.get(NOTHING):
            text += f" {capitalised(who)} is also right without any context."
        elif truths.get(REVERSED) is False:
            text += " In reverse order it is wrong."
        return text
    if not reading.needed:
        return "Wrong, and no evidence is known, so retrieval and reading cannot be told apart."
    if reading.missing:
        return f"Lost in retrieval: {_missing_text(reading)}.{_alone_text(who, alone)}"
    return f"Lost in reading: {_place_text(reading)}; {_help_text(reading, who)}."


def _agreement_text(reading: ReaderAnswers) -> str:
    retrieved, *others = (normalize(answer.answer) for answer in reading.answers)
    n_same = sum(other == retrieved for other in others)
    return (
        f"No correct answer is known. {n_same:,} of {len(others):,} other contexts give the same "
        "answer."
    )


def _missing_text(reading: ReaderAnswers) -> str:
    where = "in the prompt" if reading.by_model else "among what was read"
    if reading.needed == 1:
        return f"the evidence is not {where}"
    count, needed = number_words(reading.missing), number_words(reading.needed)
    return f"{count} of {needed} pieces of evidence {is_or_are(reading.missing)} not {where}"


def _alone_text(who: str, alone: bool | None) -> str:
    return "" if alone is None else f" With the evidence alone {who} is {TRUTH_WORDS[alone]}."


def _place_text(reading: ReaderAnswers) -> str:
    where = "in the prompt" if reading.by_model else "among what was read"
    pieces = "the evidence is"
    if reading.needed > 1:
        pieces = f"{all_words(reading.needed)} pieces of evidence are"
    shown = [ordinal(position + 1) for position in reading.evidence[:MAX_NAMED_POSITIONS]]
    if not shown:
        return f"{pieces} {where}"
    if len(reading.evidence) > len(shown):
        shown.append(f"{len(reading.evidence) - len(shown):,} more")
    return f"{pieces} {where}, {join_words(shown)} of {reading.items:,} {plural(reading.noun)}"


def _help_text(reading: ReaderAnswers, who: str) -> str:
    """Return the first context that helps in words, or that none does."""
    helping = [answer for answer in reading.answers if answer.right and answer.context != NOTHING]
    by_context = {answer.context: answer for answer in reversed(helping)}
    if HALF in by_context:
        n_left = reading.items - by_context[HALF].items
        last = f"the last {number_words(n_left)}" if n_left > 1 else "the last"
        return f"without {last} {who} is right"
    for context, words in (
        (EVIDENCE_FIRST, "with the evidence first"),
        (REVERSED, "in reverse order"),
        (WITHOUT, ""),
        (EVIDENCE, "with the evidence alone"),
    ):
        if context in by_context:
            return f"{words or context_label(by_context[context])} {who} is right"
    if any(answer.context == EVIDENCE for answer in reading.answers):
        return f"with the evidence alone {who} is wrong too"
    return "no other context helps"

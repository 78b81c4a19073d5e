"""The influence of items on an answer, measured by leaving them out.

An item is a path, passage, entity, relation or report that the language model was shown or the
graph reader read. The answer is made again without each item, and without sets of items, to find
the smallest set that changes it.

The influence of an item is one minus the F1 of the two answers, with and without the item. The F1
is over the names of the graph reader, or the words of a text. The answer *changes* if the graph
reader no longer names the node that it named first. A text changes if it no longer gives the same
known answers. If it gave no known answer, it changes if the F1 of its words is below one half.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb, log2

from core.comparison.lane import MethodLane
from core.comparison.lane_run import retrieval_operators
from core.diagnosis.answer_match import gives_answer
from core.diagnosis.passages import gold_rows
from core.diagnosis.prompt_items import (
    Item,
    item_at,
    items_of,
    only_read_items,
    only_shown_items,
    without_items,
)
from core.diagnosis.wording import count_noun, join_words
from core.environment import Environment
from core.errors import BadInput, shorten
from core.graph.texts import chunk_nodes
from core.languages.spelling import normalize
from core.operators.base import Context, Operator
from core.operators.generate import estimate_prompt_tokens
from core.types import Influence, ItemInfluence, State
from core.watch import NO_WATCH, Watch


@dataclass(frozen=True)
class InfluenceLimits:
    """Limits of leaving out items. Those of a language model are lower, as each try is a call."""

    same_answer_f1: float = 0.5  # least F1 of two texts that count as the same answer
    max_reader_items: int = 200  # items left out, for a reader
    max_reader_sets: int = 2_000  # sets of items tried, for a reader
    max_model_items: int = 32  # items left out, for a language model
    max_model_sets: int = 16  # sets of items tried; more if there are more items
    max_items_put_back: int = 8  # put back one by one, to see if a model's answer needs them
    max_lost_name_characters: int = 60  # of a quoted name


INFLUENCE = InfluenceLimits()
ITEM_NOUNS = {
    "path": "path",
    "chunk": "passage",
    "node": "entity",
    "triple": "relation",
    "community": "report",
}
ANSWERED_FROM_POINTS = (
    "Its model noted points on what it read, and answered from these: no passage can be left out "
    "of its prompt."
)
NOTHING_TO_LEAVE_OUT = (
    "Nothing that it read can be left out: its prompt shows no path and no passage."
)
ANSWERED_WITHIN_STEP = "Its answer is made within another step, which cannot be run alone."
ANSWERED_BY_RETRIEVER = "Its answers are the retriever's own, and the reader would give others."
NO_ANSWER_GIVEN = "It gave no answer."

AnswerParts = tuple[str, ...]  # the names or words of an answer


@dataclass(frozen=True)
class InfluenceCost:
    """Upper bounds of what a measurement costs.

    Parameters
    ----------
    calls : calls of the language model.
    tokens : tokens of their prompts.
    seconds : their time; None if the duration of an answer is unknown.
    """

    calls: int
    tokens: int
    seconds: float | None

    @property
    def description(self) -> str:
        """The cost in words: `up to 38 calls, about 18,000 tokens and 6 min`."""
        parts = [f"up to {count_noun(self.calls, 'call')}", f"about {self.tokens:,} tokens"]
        seconds = self.seconds
        if seconds is not None:
            parts.append(f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min")
        return join_words(parts)


def influence_cost(lane: MethodLane) -> InfluenceCost:
    """Return upper bounds of the cost of measuring influence on a language model's answer.

    They follow from the answer that the lane has. Raises BadInput if influence cannot be measured.
    """
    items = _answer_items(lane, by_model=True)
    return answer_cost(lane, _max_answers(min(len(items), INFLUENCE.max_model_items)))


def answer_cost(lane: MethodLane, n_answers: int) -> InfluenceCost:
    """Return upper bounds of the cost of further answers of a lane's language model.

    They follow from the answer that the lane has.
    """
    state = lane.state
    step = next(step for step in reversed(state.trace) if step.stage == "generate")
    tokens = step.usage.tokens_in or (
        estimate_prompt_tokens(state.prompt.messages) if state.prompt is not None else 0
    )
    seconds = step.seconds + step.saved
    calls = n_answers * max(1, step.usage.calls)
    return InfluenceCost(calls, n_answers * tokens, n_answers * seconds if seconds > 0 else None)


def influence_fault(lane: MethodLane, by_model: bool) -> str:
    """Return why the influence on an answer cannot be measured; empty if it can."""
    try:
        _answer_items(lane, by_model)
    except BadInput as error:
        return str(error)
    return ""


def measure_influence(
    lane: MethodLane, environment: Environment, by_model: bool, watch: Watch = NO_WATCH
) -> Influence:
    """Measure the influence of the items on an answer of a lane.

    Only the first items are left out: at most 200, or 32 for a language model. `smallest_set` tells
    how sets of items are tried. Raises BadInput if it cannot be measured, RunCancelled, and what
    the language model raises.

    Parameters
    ----------
    lane : a lane that has answered.
    environment : has the models.
    by_model : True for the answer of the language model, False for that of the graph reader.
    """
    all_items = _answer_items(lane, by_model)
    items = all_items[: INFLUENCE.max_model_items if by_model else INFLUENCE.max_reader_items]
    context = Context(
        lane.graph, environment, lane.ask.seed, watch.without_reports, answering=by_model
    )
    answers = _Answers(lane, by_model, items, context, watch)
    if not by_model and answers.parts_without(frozenset()) != answers.before:
        raise BadInput(ANSWERED_BY_RETRIEVER)
    weights = [answers.item_influence(i) for i in range(len(items))]
    # the items most likely to be in the smallest set come first
    order = sorted(
        range(len(items)),
        key=lambda i: (
            -weights[i].changes,
            -weights[i].influence,
            not answers.is_path_to_first(i),
            i,
        ),
    )
    max_sets, max_put_back = INFLUENCE.max_reader_sets, INFLUENCE.max_reader_items
    if by_model:
        max_sets = max(INFLUENCE.max_model_sets, len(items))
        max_put_back = INFLUENCE.max_items_put_back
    smallest_items, exact = smallest_set(order, answers.is_changed_without, max_sets, max_put_back)
    lost = answers.names_lost_without(frozenset(smallest_items)) if smallest_items else ""
    return Influence(
        by_model,
        tuple(weights),
        smallest_items,
        exact,
        len(all_items) - len(items),
        answers.unusable,
        lost,
    )


def with_influence(influences: Iterable[Influence], new: Influence) -> tuple[Influence, ...]:
    """Return the influences with a new one.

    It replaces that of the same kind of answer. That of the graph reader comes first.
    """
    others = [influence for influence in influences if influence.by_model != new.by_model]
    return tuple(sorted([*others, new], key=lambda influence: influence.by_model))


def gold_items(lane: MethodLane, influence: Influence, gold: Iterable[str]) -> set[int] | None:
    """Return the indices in `influence.weights` of items that are gold passages.

    The result is None if no gold passage is known, or no item is a passage.
    """
    rows = gold_rows(lane.graph, gold)
    chunks: dict[int, int] = {}  # by index of an item, the row of its chunk
    for i, weight in enumerate(influence.weights):
        item = item_at(lane.state, influence.by_model, weight.kind, weight.place)
        if weight.kind == "chunk":
            item_rows = {item: item}
        elif weight.kind == "node":
            item_rows = chunk_nodes(lane.graph, [item])
        else:
            item_rows = {}
        if item in item_rows:
            chunks[i] = item_rows[item]
    return {i for i, row in chunks.items() if row in rows} if rows and chunks else None


def answer_distance(old_parts: Sequence[str], new_parts: Sequence[str]) -> float:
    """Return how different two answers are: one minus the F1 of their parts.

    The distance is 0 for the same parts in any order, and 1 if they share none.

    >>> from core.diagnosis.influence import answer_distance
    >>> (answer_distance(("ann", "bea"), ("bea", "ann")),
    ...  answer_distance(("ann", "bea", "cid"), ("ann",)),
    ...  answer_distance(("ann",), ()))
    (0.0, 0.5, 1.0)
    """
    shared = sum((Counter(old_parts) & Counter(new_parts)).values())
    return 1 - 2 * shared / (len(old_parts) + len(new_parts)) if old_parts or new_parts else 0.0


def smallest_set(
    order: Sequence[int],
    changes: Callable[[frozenset[int]], bool],
    max_sets: int,
    max_put_back: int = INFLUENCE.max_reader_items,
) -> tuple[tuple[int, ...], bool]:
    """Return a smallest set without which an answer changes, and its exactness.

    The exactness is True if certainly no smaller set of items does. The items are ascending, and
    empty if the answer never changes. If the result is not exact, a smaller set may do. All sets of
    one size are tried before the sets of the next size, in `order`, while they are no more than
    `max_sets` in all. After that, bisection finds the shortest prefix of `order` whose removal
    changes the answer. The last `max_put_back` items of the prefix are then put back one by one if
    they are not needed.

    Parameters
    ----------
    order : the items, those most likely to matter first.
    changes : returns whether the answer changes without a set of items.
    max_sets : the largest number of sets that are tried before the bisection.
    max_put_back : the largest number of items that are put back.

    >>> from core.diagnosis.influence import smallest_set
    >>> smallest_set((2, 0, 1), lambda without_items: {0, 1} <= without_items, 10)
    ((0, 1), True)
    """
    if not order or not changes(frozenset(order)):
        return (), True
    size, tried_sets = 1, 0
    while size < len(order) and tried_sets + comb(len(order), size) <= max_sets:
        found_items = next(
            (subset for subset in combinations(order, size) if changes(frozenset(subset))), None
        )
        if found_items is not None:
            return tuple(sorted(found_items)), True
        tried_sets += comb(len(order), size)
        size += 1
    low, high = size, len(order)
    while low < high:
        middle = (low + high) // 2
        if changes(frozenset(order[:middle])):
            high = middle
        else:
            low = middle + 1
    subset = list(order[:high])
    for item in subset[::-1][:max_put_back]:
        if len(subset) > size and changes(frozenset(subset) - {item}):
            subset.remove(item)
    return tuple(sorted(subset)), len(subset) == size


def influence_text(influence: Influence) -> str:
    """Return a sentence on the items that an answer rests on.

    It gives their number and what the answer no longer says without them, and says if fewer items
    may be enough.
    """
    text, others = _dependence_text(influence), influence.others
    if others and influence.smallest:
        verb = "was" if others == 1 else "were"
        text += f" {count_noun(others, _noun(influence))} more {verb} never left out."
    unusable = influence.unusable
    if unusable:
        replies = f"{unusable:,} replies were" if unusable > 1 else "One reply was"
        text += f" {replies} blank or cut."
    return text


def _dependence_text(influence: Influence) -> str:
    count, size, noun = len(influence.weights), len(influence.smallest), _noun(influence)
    change = "the answer says something else"
    if influence.lost:
        lost = shorten(influence.lost, INFLUENCE.max_lost_name_characters)
        change = f"the answer no longer says “{lost}”"
    changing_alone = sum(weight.changes for weight in influence.weights)
    if not size and influence.others:
        return (
            f"Same answer without the first {count:,} of "
            f"{count_noun(count + influence.others, noun)}: it does not depend on these."
        )
    if not size:
        items = f"any of {count_noun(count, noun)}" if count > 1 else f"its one {noun}"
        return f"Same answer without {items}: it depends on none."
    if changing_alone > 1:
        return (
            f"Depends on each of {count_noun(changing_alone, noun)} of {count:,}: without any "
            f"one of them {change}."
        )
    if size == 1:
        return f"Depends on one {noun} of {count:,}: without it {change}."
    if influence.exact:
        return (
            f"Depends on {count_noun(size, noun)} of {count:,} together: without these, and no "
            f"fewer, {change}."
        )
    return (
        f"Without {size:,} of {count_noun(count, noun)} together {change}; fewer may do, as not "
        "every set was tried."
    )


def _noun(influence: Influence) -> str:
    """Return the noun for the items, if all are of one kind."""
    nouns = {ITEM_NOUNS[weight.kind] for weight in influence.weights}
    return nouns.pop() if len(nouns) == 1 else "item"


class _Answers:
    """The answers of a lane without some of its items, each computed once.

    Sets of items are sets of indices in `items`. `unusable` counts the replies that were blank or
    cut. `before` holds the parts of the answer from all items.
    """

    def __init__(
        self,
        lane: MethodLane,
        by_model: bool,
        items: Sequence[Item],
        context: Context,
        watch: Watch,
    ):
        self._lane, self._by_model, self._items, self._watch = lane, by_model, items, watch
        self._operator, self._context = answering_operator(lane, by_model), context
        # The node that a graph reader names first; empty for an answer that is a text.
        self._first_nodes: tuple[int, ...] = ()
        if by_model:
            self._state = only_shown_items(lane.state, self._operator)
        else:
            self._state = only_read_items(lane.state)
            if lane.state.excerpt is None:
                self._first_nodes = (lane.state.reader or ())[:1]
        self._cache: dict[frozenset[int], tuple[AnswerParts, str]] = {}
        self._right = self._answers_in(self._text(lane.state))
        self.before = self._parts(lane.state)
        self.unusable = 0

    def parts_without(self, left_out: frozenset[int]) -> AnswerParts:
        """Return the answer's parts without some items."""
        return self._parts_and_text(left_out)[0]

    def is_changed_without(self, left_out: frozenset[int]) -> bool:
        """Return whether the answer changes without some items, as the module describes."""
        parts, text = self._parts_and_text(left_out)
        if self._first_nodes:
            return self.before[0] not in parts
        if self._right:
            return self._answers_in(text) != self._right
        return answer_distance(self.before, parts) > INFLUENCE.same_answer_f1

    def item_influence(self, item: int) -> ItemInfluence:
        """Return the influence of one item."""
        kind, position = self._items[item]
        left_out = frozenset((item,))
        distance = answer_distance(self.before, self.parts_without(left_out))
        return ItemInfluence(kind, position, round(distance, 6), self.is_changed_without(left_out))

    def names_lost_without(self, left_out: frozenset[int]) -> str:
        """Return what the answer no longer says without some items.

        The text is empty if only words differ.
        """
        if self._first_nodes:
            return self._lane.graph.names(self._first_nodes)[0]
        return ", ".join(sorted(self._right - self._answers_in(self._parts_and_text(left_out)[1])))

    def is_path_to_first(self, item: int) -> bool:
        """Return whether an item is a path to the reader's first node."""
        kind, position = self._items[item]
        return (
            kind == "path" and self._state.ranked["path"].items[position].end in self._first_nodes
        )

    def _parts_and_text(self, left_out: frozenset[int]) -> tuple[AnswerParts, str]:
        if left_out not in self._cache:
            if self._by_model:
                number, limit = len(self._cache) + 1, _max_answers(len(self._items))
                self._watch.report(
                    f"Asking without {count_noun(len(left_out), 'item')}: {number:,} of at most "
                    f"{limit:,}",
                    number / limit,
                )
            state = self._operator(
                without_items(self._state, [self._items[i] for i in left_out], self._operator),
                self._context,
            )
            self.unusable += bool(state.trace[-1].fault)
            self._cache[left_out] = self._parts(state), self._text(state)
        return self._cache[left_out]

    def _answers_in(self, text: str) -> set[str]:
        """Return the known answers that a text gives, by their first names."""
        question = self._lane.ask.question
        return {
            answer
            for answer in question.answers
            if any(gives_answer(text, name) for name in question.answer_names(answer))
        }

    def _text(self, state: State) -> str:
        """Return the text of an answer: the model's, or the excerpt of a reader; else empty."""
        if self._by_model:
            return state.answer or ""
        return state.excerpt.text if state.excerpt is not None else ""

    def _parts(self, state: State) -> AnswerParts:
        """Return the names of the reader's nodes, or the words of the text, normalised."""
        if self._first_nodes:
            return tuple(
                normalize(name) or name for name in self._lane.graph.names(state.reader or ())
            )
        return tuple(normalize(self._text(state)).split())


def _answer_items(lane: MethodLane, by_model: bool) -> list[Item]:
    """Return the items that a lane's answer was made from.

    Raises BadInput if the influence of items cannot be measured.
    """
    state = lane.state
    answer = (state.answer or "").strip() if by_model else state.reader or state.excerpt
    if not answer or not lane.retrieved or lane.error is not None:
        raise BadInput(NO_ANSWER_GIVEN)
    if by_model and state.points is not None:
        raise BadInput(ANSWERED_FROM_POINTS)
    items = items_of(state, by_model)
    if not items:
        raise BadInput(NOTHING_TO_LEAVE_OUT)
    answering_operator(lane, by_model)  # raises BadInput
    return items


def answering_operator(lane: MethodLane, by_model: bool) -> Operator:
    """Return the operator that gave the answer. Raises BadInput if it is part of another one."""
    operators: Sequence[Operator] = (
        lane.line.operators if by_model else retrieval_operators(lane.ask, lane.line)
    )
    stage = "generate" if by_model else "read"
    stage_operators = [operator for operator in operators if operator.stage == stage]
    if not stage_operators:
        raise BadInput(ANSWERED_WITHIN_STEP)
    return stage_operators[-1]


def _max_answers(n_items: int) -> int:
    """Return how often a language model answers at most, for a number of items.

    `smallest_set` tries all items together, some sets, a bisection, and items put back. There are
    no more sets than non-empty subsets.
    """
    return min(
        1
        + max(INFLUENCE.max_model_sets, n_items)
        + ceil(log2(n_items + 1))
        + INFLUENCE.max_items_put_back,
        2**n_items - 1,
    )

"""The outcome of a comparison on a corpus in sentences.

Each lane's sentence tells the passages that it found and where one was lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.comparison.endings import is_unanswered, without_end
from core.comparison.lane import ENDED, Comparison, Lane
from core.diagnosis.causes import Loss
from core.diagnosis.funnel import Stage, funnel
from core.diagnosis.lost_passages import lost_passages, title_of_chunk, why
from core.diagnosis.passages import chunk_order
from core.diagnosis.targets import answers_of, passages_of
from core.diagnosis.verdict.contrast import ends
from core.diagnosis.verdict.explanation import ComparisonVerdict, Explained
from core.diagnosis.verdict.lane_words import lane_names
from core.diagnosis.wording import are, counted, every, joined, named, number, sentence
from core.types import Repair

ADD = "Add the right answer, or the documents that it rests on, to see where they are lost."


OUTLIVES = "is in no document, but still in texts that were made from one"


def explained_texts(comparison: Comparison, lane: Lane) -> Explained | None:
    """Return the sentence of a lane; None before it has retrieved.

    It is about the gold passages, or about the words of the known answers where no gold passage is
    known. `stage` is the stage of the funnel at which the first one is lost. `right` of `of` known
    answers are in the lane's answer.
    """
    ask = comparison.ask
    if not lane.retrieved or not lane.states:
        return None
    answers = funnel(
        ask.source, lane.graph, lane.state, answers_of(ask.question), saved=lane.saved_alive
    )
    passages = funnel(
        ask.source, lane.graph, lane.state, passages_of(ask.question), saved=lane.saved_alive
    )
    said = next((stage for stage in answers if stage.name == "answer"), None)
    right, of = (len(said.alive) if said else None), len(dict.fromkeys(ask.question.answers))
    stages = passages or answers
    if stages and not any(lost.lost for lost in stages) and stages[-1].name in ("corpus", "graph"):
        return Explained(None, "", "It answers without documents.", right, of)
    if not stages:
        return Explained(None, "", _best(lane), right, of)
    if is_unanswered(lane):
        held = f", with {_head(answers).rstrip(':')}" if answers else ""
        return Explained("answer", "Not answered:", f"it was cancelled{held}.", None, of)
    if not passages:
        return _words(answers, right, of)
    lost = lost_passages(lane, passages)
    if lost:
        return _lost(passages, lost, lane.repair, right, of)
    return _brought(lane, passages, right, of)


def _brought(lane: Lane, stages: Sequence[Stage], right: int | None, of: int) -> Explained:
    """Explain a lane that kept all gold passages; its answer may still be wrong."""
    last = stages[-1]
    subject = (
        "The gold passage is" if last.of == 1 else f"{sentence(every(last.of))} gold passages are"
    )
    yet = ""
    if right == 0:
        who = "the answer" if lane.state.answer is not None else "the nearest sentence"
        yet = f"Yet {who} does not hold {'the known answer' if of == 1 else 'a known answer'}."
    return Explained(
        "answer" if yet else None,
        f"{subject} {'in the prompt' if last.name == 'prompt' else 'found'}.",
        yet,
        right,
        of,
    )


def _lost(
    stages: Sequence[Stage], lost: Sequence[Loss], repair: Repair | None, right: int | None, of: int
) -> Explained:
    """Explain how the first passage was lost, how many more were, and what brings it back."""
    first, more = lost[0], len(lost) - 1
    mend = f"; {_brings(repair, more == 0)}" if repair is not None else ""
    others = f" {sentence(number(more))} more did not come through." if more else ""
    never = "Never found" if stages[-1].name == "retrieved" else "Never read"
    return Explained(
        first.stage,
        f"{never} “{first.name}”:",
        f"{why(first)}{mend}.{others}",
        right,
        of,
        tuple(lost),
    )


def _brings(repair: Repair, alone: bool) -> str:
    """Return the effect of a change, as in: to keep 6 passages brings it in."""
    change = repair.label.partition(" → ")[0]
    what = "it in" if alone and repair.right == repair.of else f"{repair.right:,} of {repair.of:,}"
    return f"to {change[:1].lower()}{change[1:]} brings {what}"


def _words(stages: Sequence[Stage], right: int | None, of: int) -> Explained:
    """Explain where the words of a known answer were lost, or that none were."""
    lost = next((stage for stage in stages if stage.lost), None)
    if lost is None:
        said = (
            f"{sentence(named([f'“{name}”' for name in stages[-1].alive]))} "
            f"{are(len(stages[-1].alive))} there."
        )
        return Explained(None, _head(stages), said, right, of)
    name = lost.lost[0]
    where = {
        "corpus": "is in no document of the corpus",
        "graph": "is in no text of the graph",
        "retrieved": "is in nothing that was found",
        "prompt": "was found and had no room in the prompt",
        "answer": "is in the prompt, but not in the answer"
        if len(stages) > 1
        else "is not in the answer",
    }
    text = f"“{name}” {where[lost.name]}."
    if stages[0].name == "corpus" and name not in stages[0].alive and lost is not stages[0]:
        text = f"“{name}” {OUTLIVES}; it {where[lost.name]}."
    return Explained(lost.name, _head(stages), text, right, of)


def _best(lane: Lane) -> str:
    """Return the passage that a lane ranks first, for a question without known answers."""
    order = chunk_order(lane.graph, lane.state)
    if order is None or not order[0]:
        return ""
    first, table = order[0][0], lane.graph.columns.chunks
    id, document = table.text("id", first), table.text("document", first)
    # The number is added if the document has several chunks.
    number = f" {id.removeprefix(document)}" if id.startswith(f"{document}#") else ""
    return (
        f"First of {counted(len(order[0]), 'passage')}: "
        f"“{title_of_chunk(lane.graph, first)}{number}”."
    )


def _head(stages: Sequence[Stage]) -> str:
    """Return the beginning of a sentence, as in: 1 of 2 known answers in the prompt."""
    last = stages[-1]
    what = {
        "corpus": "in the corpus",
        "graph": "in the graph",
        "retrieved": "retrieved",
        "prompt": "in the prompt",
        "answer": "in the answer",
    }
    return (
        f"{len(last.alive)} of {last.of} known answer{'s' if last.of > 1 else ''} "
        f"{what[last.name]}:"
    )


def verdict_texts(comparison: Comparison) -> ComparisonVerdict:
    """Return the sentences of the lanes, and the one for all once every lane has ended."""
    found = tuple(explained_texts(comparison, lane) for lane in comparison.lanes)
    ended = all(lane.status in ENDED for lane in comparison.lanes)
    return ComparisonVerdict(_for_all(comparison, found) if ended else "", found)


def _for_all(comparison: Comparison, found: Sequence[Explained | None]) -> str:
    """Return how many lanes give the known answer, and how many gold passages the prompts show.

    The text is empty where no lane has retrieved.
    """
    names = lane_names(comparison)
    spoke = [
        (name, one.right > 0)
        for name, one in zip(names, found)
        if one is not None and one.right is not None and one.of
    ]
    right = [name for name, is_right in spoke if is_right]
    silent = any(is_unanswered(lane) for lane in comparison.lanes)
    parts = [_come(right, len(spoke), silent)] if spoke else []
    parts += _shown(comparison, names)
    parts += ends((name, without_end(lane)) for name, lane in zip(names, comparison.lanes))
    question = comparison.ask.question
    return " ".join(parts) or (
        ADD if any(found) and not question.answers and not question.gold else ""
    )


def _come(right: Sequence[str], of: int, silent: bool) -> str:
    """Return which of the lanes that answered give the known answer.

    `of` is the number of lanes that answered. `silent` is true where other lanes did not answer.
    """
    if silent and of == 1:
        answered = "The one lane that answered"
        return f"{answered} {'comes' if right else 'does not come'} to the known answer."
    if silent and len(right) in (0, of):
        all_of = f"{sentence(every(of))} lanes" if right else f"None of the {number(of)} lanes"
        return f"{all_of} that answered {'come' if right else 'comes'} to the known answer."
    if of == 1:
        return "The known answer was found." if right else "The known answer was not found."
    if len(right) in (0, of):
        return (
            f"{f'{sentence(every(of))} lanes come' if right else 'No lane comes'} to the known "
            "answer."
        )
    return f"Only {joined(right)} {'comes' if len(right) == 1 else 'come'} to the known answer."


def _shown(comparison: Comparison, names: Sequence[str]) -> list[str]:
    """Return how many gold passages the prompt of each lane shows.

    Lanes without a prompt are left out. If all lanes show as many, there is one number.
    """
    shown_by, ask = [], comparison.ask
    for name, lane in zip(names, comparison.lanes):
        if not lane.retrieved:
            continue
        stages = funnel(
            ask.source, lane.graph, lane.state, passages_of(ask.question), saved=lane.saved_alive
        )
        if stages and stages[-1].name == "prompt":
            shown_by.append((name, len(stages[-1].alive), stages[-1].of))
    if len(shown_by) > 1 and len({shown for _, shown, _ in shown_by}) == 1:
        _, shown, of = shown_by[0]
        part = every(of) if shown == of > 1 else f"{shown} of {of}"
        return [
            f"Every prompt shows {part} gold passages."
            if of > 1
            else f"{'Every' if shown else 'No'} prompt shows the gold passage."
        ]
    if shown_by:
        return [
            "Gold passages in the prompt: "
            f"{'; '.join(f'{name} {shown} of {of}' for name, shown, of in shown_by)}."
        ]
    return []

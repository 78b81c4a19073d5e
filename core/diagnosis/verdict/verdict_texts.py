"""The outcome of a comparison on a corpus in sentences.

There is a sentence for each lane and one for all. The sentence of a lane tells if it found the gold
passages, else where the first was lost. A gold passage is a document, but `_best_passage` counts
chunks.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.comparison.endings import is_unanswered, missing_answer_reason
from core.comparison.lane import ENDED_STATUSES, MethodComparison, MethodLane
from core.diagnosis.causes import Loss
from core.diagnosis.funnel import FunnelStage, funnel
from core.diagnosis.lost_passages import loss_reason, lost_passages, title_of_chunk
from core.diagnosis.passages import chunk_order
from core.diagnosis.targets import answers_of, passages_of
from core.diagnosis.verdict.contrast import ending_sentences
from core.diagnosis.verdict.explanation import ComparisonVerdict, LaneExplanation
from core.diagnosis.verdict.lane_words import lane_names
from core.diagnosis.wording import (
    all_words,
    capitalised,
    count_noun,
    join_words,
    list_names,
    number_words,
)
from core.types import Repair

ADD_GOLD_HINT = (
    "Enter the correct answer, or the documents with its evidence, to see where they are lost."
)
ONLY_IN_DERIVED_TEXTS = "is in no document, but still in texts that were made from one"


def explain_text_lane(comparison: MethodComparison, lane: MethodLane) -> LaneExplanation | None:
    """Return the sentence of a lane; None before it has retrieved.

    It is about the gold passages, or about the words of the known answers if no gold passage is
    known. The explanation's `stage` is the stage of the funnel at which the first of them is lost.
    """
    ask = comparison.ask
    if not lane.retrieved or not lane.states:
        return None
    answers = funnel(
        ask.source, lane.graph, lane.state, answers_of(ask.question), saved_alive=lane.saved_alive
    )
    passages = funnel(
        ask.source, lane.graph, lane.state, passages_of(ask.question), saved_alive=lane.saved_alive
    )
    n_right = _right_answers(answers)
    n_answers = len(dict.fromkeys(ask.question.answers))
    stages = passages or answers
    if not stages or _ran_without_documents(stages):
        text = "It answers without documents." if stages else _best_passage(lane)
        return LaneExplanation(None, "", text, n_right=n_right, n_answers=n_answers)
    if is_unanswered(lane):
        return _explain_cancelled(answers, n_answers)
    if not passages:
        return _explain_answer_words(answers, n_right, n_answers)
    lost = lost_passages(lane, passages)
    if lost:
        return _explain_lost(passages, lost, lane.repair, n_right, n_answers)
    return _explain_no_loss(lane, passages, n_right, n_answers)


def _right_answers(stages: Sequence[FunnelStage]) -> int | None:
    """Return how many known answers are in the lane's answer, if known."""
    for stage in stages:
        if stage.name == "answer":
            return len(stage.alive)
    return None


def _ran_without_documents(stages: Sequence[FunnelStage]) -> bool:
    """Return whether a lane does not retrieve, and lost no target before that."""
    return stages[-1].name in ("corpus", "graph") and not any(stage.lost for stage in stages)


def _explain_cancelled(answers: Sequence[FunnelStage], n_answers: int) -> LaneExplanation:
    """Explain a lane that was cancelled before it answered.

    `answers` are the stages of the known answers up to then.
    """
    head = _stage_head(answers).rstrip(":") if answers else ""
    known_clause = f"; {head[:1].lower()}{head[1:]}" if head else ""
    return LaneExplanation(
        "answer", "Not answered:", f"it was cancelled{known_clause}.", n_answers=n_answers
    )


def _explain_no_loss(
    lane: MethodLane, stages: Sequence[FunnelStage], n_right: int | None, n_answers: int
) -> LaneExplanation:
    """Explain a lane that kept all gold passages; its answer may still be wrong."""
    last = stages[-1]
    subject = (
        "The passage with the evidence is"
        if last.n_targets == 1
        else f"{capitalised(all_words(last.n_targets))} passages with the evidence are"
    )
    head = f"{subject} {'in the prompt' if last.name == 'prompt' else 'found'}."
    if n_right != 0:  # None: there is nothing to compare with
        return LaneExplanation(None, head, "", n_right=n_right, n_answers=n_answers)
    who = "the answer" if lane.state.answer is not None else "the nearest sentence"
    yet = f"Yet {who} does not contain {'the' if n_answers == 1 else 'a'} correct answer."
    return LaneExplanation("answer", head, yet, n_right=n_right, n_answers=n_answers)


def _explain_lost(
    stages: Sequence[FunnelStage],
    lost: Sequence[Loss],
    repair: Repair | None,
    n_right: int | None,
    n_answers: int,
) -> LaneExplanation:
    """Explain the loss of the first passage. The repair is added if one was found."""
    first, more_count = lost[0], len(lost) - 1
    repair_clause = f"; {_repair_text(repair, more_count == 0)}" if repair is not None else ""
    others_sentence = ""
    if more_count:
        passages = "passage was" if more_count == 1 else "passages were"
        others_sentence = f" {capitalised(number_words(more_count))} more {passages} missed."
    # If no stage is “retrieved”, the passage was lost in the corpus or in the graph.
    head = "Never found" if stages[-1].name == "retrieved" else "Never read"
    return LaneExplanation(
        first.stage,
        f"{head} “{first.name}”:",
        f"{loss_reason(first)}{repair_clause}.{others_sentence}",
        n_right=n_right,
        n_answers=n_answers,
        losses=tuple(lost),
    )


def _repair_text(repair: Repair, alone: bool) -> str:
    """Return the effect of a repair, as in: keep 6 passages to bring it in.

    `alone` is True if only one passage was lost.
    """
    change = repair.label.partition(" → ")[0]
    brings_all = alone and repair.right == repair.of
    what = "it in" if brings_all else f"in {repair.right:,} of {repair.of:,}"
    return f"{change[:1].lower()}{change[1:]} to bring {what}"


def _explain_answer_words(
    stages: Sequence[FunnelStage], n_right: int | None, n_answers: int
) -> LaneExplanation:
    """Explain where the words of a correct answer were lost, or that none were."""
    head = _stage_head(stages)
    loss_stage = next((stage for stage in stages if stage.lost), None)
    if loss_stage is None:
        names = list_names([f"“{name}”" for name in stages[-1].alive])
        return LaneExplanation(None, head, f"{names}.", n_right=n_right, n_answers=n_answers)
    name = loss_stage.lost[0]
    where = {
        "corpus": "is in no document of the corpus",
        "graph": "is in no text of the graph",
        "retrieved": "is in nothing that was found",
        "prompt": "was found and had no room in the prompt",
        "answer": "was in the prompt, but the model did not name it"
        if len(stages) > 1
        else "is not in the answer",
    }
    text = f"“{name}” {where[loss_stage.name]}."
    if stages[0].name == "corpus" and name not in stages[0].alive and loss_stage is not stages[0]:
        text = f"“{name}” {ONLY_IN_DERIVED_TEXTS}; it {where[loss_stage.name]}."
    return LaneExplanation(loss_stage.name, head, text, n_right=n_right, n_answers=n_answers)


def _best_passage(lane: MethodLane) -> str:
    """Return a sentence on the passage that a lane ranks first. Empty if it ranks none."""
    orders = chunk_order(lane.graph, lane.state)
    if orders is None or not orders[0]:
        return ""
    retrieved, _ = orders
    first, table = retrieved[0], lane.graph.columns.chunks
    id, document = table.text("id", first), table.text("document", first)
    # A chunk's number is part of its id if the document has several chunks.
    number = f" {id.removeprefix(document)}" if id.startswith(f"{document}#") else ""
    return (
        f"First of {count_noun(len(retrieved), 'passage')}: "
        f"“{title_of_chunk(lane.graph, first)}{number}”."
    )


def _stage_head(stages: Sequence[FunnelStage]) -> str:
    """Return the beginning of a sentence, as in: 1 of 2 correct answers in the prompt:"""
    last = stages[-1]
    what = {
        "corpus": "in the corpus",
        "graph": "in the graph",
        "retrieved": "found",
        "prompt": "in the prompt",
        "answer": "in the answer",
    }[last.name]
    if last.n_targets == 1:
        return f"Correct answer {'' if last.alive else 'not '}{what}:"
    return f"{len(last.alive)} of {last.n_targets} correct answers {what}:"


def verdict_texts(comparison: MethodComparison) -> ComparisonVerdict:
    """Return the lanes' sentences, and the sentence for all.

    The latter is given once every lane has ended.
    """
    explanations = tuple(explain_text_lane(comparison, lane) for lane in comparison.lanes)
    is_done = all(lane.status in ENDED_STATUSES for lane in comparison.lanes)
    return ComparisonVerdict(_joint_text(comparison, explanations) if is_done else "", explanations)


def _joint_text(
    comparison: MethodComparison, explanations: Sequence[LaneExplanation | None]
) -> str:
    """Return sentences on lanes with correct answers, and on gold passages.

    The gold passages are those in the prompts. Lanes that failed or were cancelled are named. The
    text is empty if there is nothing to say.
    """
    names = lane_names(comparison)
    answering = [
        (name, explanation.n_right > 0)
        for name, explanation in zip(names, explanations)
        if explanation is not None and explanation.n_right is not None and explanation.n_answers
    ]
    right_names = [name for name, is_right in answering if is_right]
    others_cancelled = any(is_unanswered(lane) for lane in comparison.lanes)
    parts = [_right_lanes(right_names, len(answering), others_cancelled)] if answering else []
    parts += _shown_gold(comparison, names)
    parts += ending_sentences(
        (name, missing_answer_reason(lane)) for name, lane in zip(names, comparison.lanes)
    )
    question = comparison.ask.question
    if not parts and any(explanations) and not question.answers and not question.gold:
        return ADD_GOLD_HINT
    return " ".join(parts)


def _right_lanes(right_names: Sequence[str], n_answering_lanes: int, others_cancelled: bool) -> str:
    """Return a sentence on the lanes that give the correct answer.

    Parameters
    ----------
    right : the names of these lanes.
    n_answering_lanes : the number of lanes that answered.
    others_cancelled : True if other lanes were cancelled before they answered.
    """
    if others_cancelled and n_answering_lanes == 1:
        subject = "The one method that answered"
        return f"{subject} {'found' if right_names else 'did not find'} the correct answer."
    if others_cancelled and len(right_names) in (0, n_answering_lanes):
        subject = f"None of the {number_words(n_answering_lanes)}"
        if right_names:
            subject = capitalised(all_words(n_answering_lanes))
        return f"{subject} methods that answered found the correct answer."
    if n_answering_lanes == 1:
        return f"The correct answer was {'' if right_names else 'not '}found."
    if len(right_names) in (0, n_answering_lanes):
        who = f"{capitalised(all_words(n_answering_lanes))} methods" if right_names else "No method"
    else:
        who = f"Only {join_words(right_names)}"
    return f"{who} found the correct answer."


def _shown_gold(comparison: MethodComparison, names: Sequence[str]) -> list[str]:
    """Return a sentence on the gold passages in each lane's prompt.

    There is none without prompts. Lanes without a prompt are left out. If all prompts show the same
    number, it is given once.
    """
    ask = comparison.ask
    counts = []  # (name of the lane, gold passages in its prompt, all gold passages)
    for name, lane in zip(names, comparison.lanes):
        if not lane.retrieved:
            continue
        stages = funnel(
            ask.source,
            lane.graph,
            lane.state,
            passages_of(ask.question),
            saved_alive=lane.saved_alive,
        )
        if stages and stages[-1].name == "prompt":
            counts.append((name, len(stages[-1].alive), stages[-1].n_targets))
    if len(counts) > 1 and len({count for _, count, _ in counts}) == 1:
        _, count, of = counts[0]
        part = all_words(of) if count == of > 1 else f"{count} of {of}"
        if of > 1:
            return [f"Every prompt shows {part} passages with the evidence."]
        return [f"{'Every' if count else 'No'} prompt shows the passage with the evidence."]
    if counts:
        return [
            "Passages with the evidence in the prompt: "
            f"{'; '.join(f'{name} {count} of {of}' for name, count, of in counts)}."
        ]
    return []

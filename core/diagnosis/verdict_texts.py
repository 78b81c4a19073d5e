"""What a comparison of documents comes to: for each lane which passages it brought, and where one was lost; a sentence for all."""

from __future__ import annotations

from collections.abc import Sequence

from core.comparison.comparing import Comparison, Lane
from core.diagnosis.explanation import Explained
from core.diagnosis.funnel import Stage
from core.diagnosis.funnel_texts import Fate, answer_funnel, fates, gold_funnel
from core.diagnosis.path_outcome import ordinal
from core.diagnosis.wording import are, counted, every, joined, named, sentence
from core.operators import OPERATORS

ADD = "Add the right answer, or the documents that it rests on, to see where they are lost."


def explained_texts(comparison: Comparison, lane: Lane) -> Explained | None:
    """A lane's sentence: of the passages that the answer rests on, else of the words of the known answers; None before it has retrieved.

    `stage` is that of the funnel at which the first of them is lost, and `right` of `of` known answers are in the lane's answer.
    """
    ask = comparison.ask
    if ask.corpus is None or not lane.retrieved or not lane.states:
        return None
    answers = answer_funnel(ask.corpus, lane.graph, lane.state, ask.question.answers, lane.kept)
    passages = gold_funnel(ask.corpus, lane.graph, lane.state, ask.question.gold, lane.kept)
    said = next((stage for stage in answers if stage.name == "answer"), None)
    right, of = (len(said.alive) if said else None), len(dict.fromkeys(ask.question.answers))
    stages = passages or answers
    if stages and not any(lost.lost for lost in stages) and stages[-1].name in ("corpus", "graph"):
        return Explained(None, "", "It answers without documents.", right, of)
    if not stages:
        return Explained(None, "", ADD, right, of)
    lost = next((stage for stage in stages if stage.lost), None)
    text = _passages(passages, fates(lane.graph, lane.states, ask.question.gold)) if passages else _words(answers)
    return Explained(lost.name if lost else None, f"{_head(stages)}:", text, right, of)


def _head(stages: Sequence[Stage]) -> str:
    """`1 of 2 passages in the prompt`."""
    last = stages[-1]
    what = {"corpus": "in the corpus", "graph": "in the graph", "retrieved": "found", "prompt": "in the prompt", "answer": "in the answer"}
    return f"{len(last.alive)} of {last.of} {what[last.name]}"


def _passages(stages: Sequence[Stage], found: Sequence[Fate]) -> str:
    """Where the first passage was lost, or that none was."""
    lost = next((stage for stage in stages if stage.lost), None)
    if lost is None:
        places = [fate.place for fate in found if fate.place is not None]
        last = f", the last of them {ordinal(max(places))}" if places and stages[-1].name in ("retrieved", "prompt") else ""
        one = stages[-1].of == 1
        return sentence(f"{'the passage' if one else every(stages[-1].of) + ' passages'} {are(stages[-1].of)} there{last}.")
    fate = {fate.document: fate for fate in found}[lost.lost[0]]
    name = f"“{fate.document}”"
    if lost.name == "corpus":
        return f"{name} is not in the corpus."
    if lost.name == "graph":
        return f"Of {name} nothing is in the graph."
    if lost.name == "prompt":
        return f"{name} was found and had no room in the prompt."
    if fate.place is None:
        return f"{name} was never reached."
    by = OPERATORS[fate.cut_by].title if fate.cut_by in OPERATORS else "the ranking"
    return f"{name} came {ordinal(fate.place)} of {fate.of:,} and was cut by {by}."


def _words(stages: Sequence[Stage]) -> str:
    """Where the words of a known answer were lost, or that none were."""
    lost = next((stage for stage in stages if stage.lost), None)
    if lost is None:
        return f"{sentence(named([f'“{name}”' for name in stages[-1].alive]))} {are(len(stages[-1].alive))} there."
    where = {
        "corpus": "is in no document of the corpus",
        "graph": "is in no text of the graph",
        "retrieved": "is in nothing that was found",
        "prompt": "was found and had no room in the prompt",
        "answer": "is in the prompt, but not in the answer" if len(stages) > 1 else "is not in the answer",
    }
    return f"“{lost.lost[0]}” {where[lost.name]}."


def verdict_texts(comparison: Comparison, names: Sequence[str]) -> str:
    """A sentence for all lanes: which bring the most passages, or else give the right answer; `names` are what lanes are called in it."""
    ask, lanes = comparison.ask, [(name, lane) for name, lane in zip(names, comparison.lanes) if lane.retrieved and lane.states]
    if ask.corpus is None or not lanes:
        return ""
    of, what = len(dict.fromkeys(ask.question.gold)), "passage"
    funnels = {name: gold_funnel(ask.corpus, lane.graph, lane.state, ask.question.gold, lane.kept) for name, lane in lanes}
    counts = {name: _alive(stages) for name, stages in funnels.items() if stages and stages[-1].name not in ("corpus", "graph")}
    if not counts:
        of, what = len(dict.fromkeys(ask.question.answers)), "known answer"
        counts = {name: one.right or 0 for name, lane in lanes if (one := explained_texts(comparison, lane)) and of}
    if not counts:
        return "" if of else ADD
    best = [name for name, count in counts.items() if count == max(counts.values())]
    told = f"{max(counts.values())} of {counted(of, what)}"
    if len(best) == len(counts):
        return f"{sentence(joined(best))} {'brings' if len(best) == 1 else 'bring'} {told}{' each' if len(best) > 1 else ''}."
    others = ", ".join(f"{name} {count}" for name, count in counts.items() if name not in best)
    return f"{sentence(joined(best))} {'brings' if len(best) == 1 else 'bring'} {told}, {others}."


def _alive(stages: Sequence[Stage]) -> int:
    """How many passages were found; those that the corpus or the graph has are not found yet."""
    return next((len(stage.alive) for stage in reversed(stages) if stage.name in ("prompt", "retrieved")), 0)

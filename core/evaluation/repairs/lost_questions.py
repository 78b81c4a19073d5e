"""A question of a run, opened as a method left it.

It comes with the cause of its loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.comparison.lane_run import LaneRun, open_lane_graph
from core.diagnosis.causes import CAUSE_LABELS, Cause, Loss
from core.diagnosis.verdict.explainers import explainer_of
from core.diagnosis.wording import count_noun
from core.evaluation.reports.flow import STAGE_LABELS
from core.evaluation.runs.plan import DrawnQuestion
from core.evaluation.runs.store import Run, Store
from core.operators.text import parse_line
from core.snapshot import thaw_all


@dataclass(frozen=True, eq=False)
class LostQuestion:
    """A question's lane, with its losses and their main cause.

    The lane (the run of one method) has the saved states. `losses` has an element for each target,
    an answer or a gold passage, that the method lost. The cause is None if it is unknown.
    """

    drawn: DrawnQuestion
    lane: LaneRun
    losses: tuple[Loss, ...] = ()
    cause: Cause | None = None

    def words(self, stage: str) -> str:
        """Return the cause in a few words.

        They are those of the `stage` if the cause is unknown.
        """
        return CAUSE_LABELS[self.cause] if self.cause is not None else STAGE_LABELS[stage]


def loss_sentence(name: str, total: int, lost: int, causes: Iterable[tuple[str, int]]) -> str:
    """Return a sentence on how many questions a method loses, by cause.

    Parameters
    ----------
    name : name of the method.
    total : number of questions.
    lost : number of lost questions.
    causes : words and number of questions of each cause; those without questions are left out.

    Returns
    -------
    A sentence.

    Examples
    --------
    >>> from core.evaluation.repairs.lost_questions import loss_sentence
    >>> loss_sentence("No. 12", 40, 12, [("ranked too low", 9), ("never reached", 3)])
    'Of 40 questions No. 12 loses 12: ranked too low 9, never reached 3.'
    """
    if not lost:
        return f"{name} loses none of {count_noun(total, 'question')}."
    causes_text = ", ".join(f"{words} {count:,}" for words, count in causes if count)
    return f"Of {count_noun(total, 'question')} {name} loses {lost:,}: {causes_text}."


def reopen_question(
    engine, store: Store, run: Run, method: Mapping[str, Any], drawn: DrawnQuestion
) -> LostQuestion | None:
    """Return a question in the state in which a method left it.

    The method is one of the run.

    Parameters
    ----------
    engine : opens the graphs that the states refer to.
    store : the store with the states.
    run : the run.
    method : the method's entry in the specification of the run.
    drawn : the question.

    Returns
    -------
    The question with its lane; None if no states are saved.

    Raises
    ------
    BadInput, UnknownEntity, StoreError : the question cannot be opened, for example on a changed
        graph.
    """
    saved_states = store.states(run.id, method["id"], drawn.question.id)
    if not saved_states:
        return None
    line = parse_line(method["line"])
    ask = drawn.open(engine).ask(drawn.question, run.spec["seed"], uses_model=run.spec["model"])
    own_graph = open_lane_graph(line, ask.source, engine.environment)
    states = list(thaw_all(saved_states, own_graph or ask.source.graph))
    lane = LaneRun(ask, line, engine.environment, states=states, own_graph=own_graph)
    losses, cause = explainer_of(ask.source).run_losses(lane)
    return LostQuestion(drawn, lane, losses, cause)

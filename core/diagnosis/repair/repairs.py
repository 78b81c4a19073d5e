"""Changes of one step that were tried on a lane's question and bring it more of what is wanted: known answers, or gold passages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from core.comparison.lane import Lane
from core.comparison.run import LaneRun, Layered
from core.diagnosis.causes import Loss
from core.diagnosis.funnel import SavedAlive, funnel, right
from core.diagnosis.measure import PROMPT, READER
from core.diagnosis.repair import passage_changes, path_changes
from core.diagnosis.repair.trying import MOST_SECONDS, Change, best, changed_line, ran
from core.diagnosis.targets import answers_of, passages_of
from core.diagnosis.wording import counted
from core.types import Repair
from core.watch import NO_WATCH, Watch

READ = {
    "prompt": PROMPT,
    "retrieved": "found",
}  # the stages of documents that count, the later one first, and how that is said


@dataclass(frozen=True)
class Brought:
    """How many of so many wanted a run brings, what these are, and where they are then."""

    right: int
    of: int
    what: str = ""
    where: str = ""

    def __str__(self) -> str:
        of = counted(self.of, self.what) if self.what else f"{self.of:,}"
        return " ".join(filter(None, (f"{self.right:,} of {of}", self.where)))


def repair(
    run: LaneRun,
    losses: Sequence[Loss] = (),
    by_model: bool = False,
    saved: SavedAlive = None,
    watch: Watch = NO_WATCH,
    seconds: float = MOST_SECONDS,
    known: Callable[[Repair, LaneRun], bool] = lambda repair, trial: False,
) -> Repair | None:
    """The first change that brings all that is wanted, else the one that brings most; None where nothing was lost or none was seen to help.

    `losses` are those of the lane, `kept` is that of a saved one on documents. A change has to bring more than the run did. No
    language model is asked, and at most six changes are tried in `seconds`. Raises what `watch` raises. What a change brings and its run are
    passed over where `known` says that another lane has them.
    """
    before = brought(run, by_model, saved)
    if before is None or before.right == before.of:
        return None
    attempt = lambda change, checked: _tried(run, change, before, checked, by_model, known)
    return best(proposed(run, losses), before.right, attempt, watch, seconds)


def brought(run: LaneRun | Lane, by_model: bool, saved: SavedAlive = None) -> Brought | None:
    """What a run brings. On triples known answers that the graph reader names, or where the model's count (`by_model`) those in its prompt.

    On documents gold passages, else words of known answers, in the prompt, or found by a line that writes none. None where nothing is
    wanted or sought.
    """
    question, graph, state = run.ask.question, run.graph, run.state
    if not run.ask.source.is_corpus:
        stages = (
            {
                stage.name: stage
                for stage in funnel(run.ask.source, graph, state, answers_of(question), by_model)
            }
            if by_model
            else {}
        )
        in_prompt = len(stages["prompt"].alive) if "prompt" in stages else None
        found = in_prompt if by_model else right(graph, state, question.answers, reader=True)
        by = (
            (PROMPT if by_model else READER) if run.ask.model else ""
        )  # where both answer, a count says whose it is
        return None if found is None else Brought(found, len(set(question.answers)), "", by)
    wanted = passages_of(question) or answers_of(question)
    stages = {
        stage.name: stage for stage in funnel(run.ask.source, graph, state, wanted, saved=saved)
    }
    last = next((stages[name] for name in READ if name in stages), None)
    what = "gold passage" if question.gold else "known answer"
    return None if last is None else Brought(len(last.alive), last.of, what, READ[last.name])


def proposed(run: LaneRun, losses: Sequence[Loss]) -> Iterator[Change]:
    """Changes of one step that may help against what a run lost."""
    if run.ask.source.is_corpus:
        return passage_changes.changes(run.line, losses)
    return (
        path_changes.changes(run.ask, run.line, losses, run.environment.models)
        if losses
        else iter(())
    )


def _tried(
    run: LaneRun,
    change: Change,
    before: Brought,
    watch: Watch,
    by_model: bool,
    known: Callable[[Repair, LaneRun], bool],
) -> Repair | None:
    """What a change brings; None where it cannot be run, or not in time, or is `known`."""
    changed, documents = changed_line(run.line, change), run.ask.source.is_corpus
    if changed is None:
        return None
    own = Layered(run.prefixes)  # what is only tried takes no room from what was asked
    trial = LaneRun(
        replace(run.ask, model=False, reader=not documents), changed, run.environment, own
    )
    if not ran(trial, watch, answer=documents or by_model):
        return None
    found = brought(trial, by_model)
    if found is None:
        return None
    made = Repair(
        repr(changed),
        f"{change.words} → {replace(found, where=found.where or before.where)}",
        found.right,
        found.of,
    )
    return None if known(made, trial) else made

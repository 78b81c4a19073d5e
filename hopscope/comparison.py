"""Results of several methods for one question, and what is asked of them: losses, repairs, edits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from core.comparison.lane import MethodComparison, MethodLane
from core.diagnosis.causes import CAUSE_LABELS
from core.diagnosis.edit_effects import edit_summary
from core.diagnosis.influence import measure_influence, with_influence
from core.diagnosis.repair.reading_repair import read_lane
from core.diagnosis.verdict.explanation import ComparisonVerdict, LaneExplanation
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.errors import BadInput
from core.io.json_text import json_text
from core.methods.catalogue import method_id
from core.results import comparison_dict, influence_dict, reading_dict
from core.serving.removals import compare_without, unknown_names
from core.types import Repair
from hopscope.lane import Lane
from hopscope.method_values import to_method
from hopscope.picture import html
from hopscope.session import WorkProgress, engine, wait_for_job, warn_user

if TYPE_CHECKING:
    import pandas
    import pyarrow

REPAIR_POLL_SECONDS = 0.05
RESULT_COLUMNS = ("method", "kind", "rank", "id", "text", "score")  # of `Comparison.rows`


@dataclass(frozen=True, eq=False, kw_only=True)
class OfferedRepair(Repair):
    """A change of one step of a method that brings more correct answers.

    Attributes
    ----------
    spec : str
        The changed line of operators, which `compare` and `evaluate` take as a method.
    label : str
        The change and its result, such as `Keep 75 nodes → 5 of 5`.
    right, of : int
        Number of correct answers that the changed line finds, and of all correct answers.
    method : str
        The id of the method that is changed.
    """

    method: str
    lane: MethodLane = field(repr=False)

    def run(self, *, progress: bool = True) -> Comparison:
        """Ask the question by the method and by its changed line.

        Parameters
        ----------
        progress : bool
            Whether to draw a progress bar.

        Returns
        -------
        Comparison
            Two lanes: the method as it was, and the changed line.
        """
        ask = self.lane.ask
        methods = [self.lane.method, to_method(self.spec, ask.source)]
        job = engine().compare(ask, methods)
        return Comparison(wait_for_job(job, "Asking", progress).comparison)


class Comparison:
    """Results of several methods for one question.

    In a notebook it draws itself. A lane is accessed by its index or by a name of its method.

    Attributes
    ----------
    data : dict
        The object that `hopscope ask --json` prints.
    lanes : list of Lane
        One lane per method, in the order of the call.
    """

    def __init__(self, comparison: MethodComparison):
        self._comparison = comparison
        self._update()

    def _update(self) -> None:
        """Read the data of the lanes anew."""
        self.data: dict[str, Any] = comparison_dict(self._comparison)
        self.lanes = [Lane(lane) for lane in self.data["lanes"]]
        self._methods = [lane.method for lane in self._comparison.lanes]

    def __getitem__(self, which: int | str) -> Lane:
        if isinstance(which, int):
            return self.lanes[which]
        ids = (which, method_id(which))
        matching_lane = next((lane for lane in self.lanes if lane.method in ids), None)
        if matching_lane is None:
            raise KeyError(
                f"There is no method “{which}”; "
                f"there are {', '.join(lane.method for lane in self.lanes)}."
            )
        return matching_lane

    def __iter__(self) -> Iterator[Lane]:
        return iter(self.lanes)

    def __len__(self) -> int:
        return len(self.lanes)

    def __repr__(self) -> str:
        return "\n".join([self.data["question"], *(f"  {lane!r}" for lane in self.lanes)])

    def _repr_html_(self) -> str:
        return html(self.data)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per path and hit of each lane, best first.

        Returns
        -------
        list of dict
            Each with `method`, `kind`, `rank` (from 1, for each kind), `id`, `text` and `score`. A
            path has an empty id. The score is None if the method ranks without scores.
        """
        rows = []
        for lane in self.lanes:
            for kind, items in {"path": lane.data["paths"], **lane.hits}.items():
                for rank, item in enumerate(items, 1):
                    key = item.get("id", "")
                    values = (lane.method, kind, rank, key, item["text"], item["score"])
                    rows.append(dict(zip(RESULT_COLUMNS, values)))
        return rows

    def to_pandas(self) -> pandas.DataFrame:
        """Return `rows` as a data frame.

        Returns
        -------
        pandas.DataFrame
            Columns method, kind, rank, id, text and score.
        """
        import pandas

        return pandas.DataFrame(self.rows(), columns=list(RESULT_COLUMNS))

    def to_arrow(self) -> pyarrow.Table:
        """Return `rows` as an Arrow table.

        Returns
        -------
        pyarrow.Table
            Columns as those of `to_pandas`; rank is int64, score is float64, the others are
            strings.
        """
        import pyarrow

        types = {"rank": pyarrow.int64(), "score": pyarrow.float64()}
        columns = [(name, types.get(name, pyarrow.string())) for name in RESULT_COLUMNS]
        return pyarrow.Table.from_pylist(self.rows(), pyarrow.schema(columns))

    def to_run(self, kind: str = "chunk", question: str = "q") -> str:
        """Return the hits of one kind as a run in the format of TREC.

        A line has question id, Q0, item, rank, score and method. The score of an item without one
        is the reciprocal of its rank. An item without an id is named by its text.

        Parameters
        ----------
        kind : str
            The kind of items: path, chunk, node, relation or community.
        question : str
            The question id of the run.

        Returns
        -------
        str
            One line per item, separated by spaces.
        """
        lines = []
        for row in self.rows():
            if row["kind"] != kind:
                continue
            score = 1 / row["rank"] if row["score"] is None else row["score"]
            item = "_".join((row["id"] or row["text"]).split())
            lines.append(
                f"{question} Q0 {item} {row['rank']} {score:.6f} {'_'.join(row['method'].split())}"
            )
        return "".join(f"{line}\n" for line in lines)

    def to_json(self) -> str:
        """Return `data` as JSON.

        Returns
        -------
        str
            Indented JSON, as `hopscope ask --json` prints it.
        """
        return json_text(self.data, indent=2)

    @property
    def verdict(self) -> ComparisonVerdict:
        """The sentence on the outcome, as `str`, and one explanation per lane in `lanes`.

        An explanation has `n_right` of `n_answers` correct answers, the `stage` and `cause` of the
        losses, and the `losses` themselves. It is None for a lane that failed.
        """
        return explain_comparison(self._comparison)

    def why_lost(self) -> list[dict[str, Any]]:
        """Return the step at which each method lost the correct answers.

        Returns
        -------
        list of dict
            For each method `method`, the `stage`, the `step` (an operator) and the `cause` of most
            losses, the names that were `lost`, and a `text`. Without a loss, `stage` is None and
            `lost` is empty. `step` is None if no single step decided.

        Raises
        ------
        BadInput
            If no correct answer and no evidence is known.

        Examples
        --------
        >>> import hopscope as hs
        >>> line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1) >> Rank(keep=1)"
        >>> found = hs.compare(
        ...     "who directed Inception", line, answers=["Nobody"], progress=False
        ... )
        >>> (lost,) = found.why_lost()
        >>> lost["stage"], lost["cause"], lost["lost"]
        ('graph', 'not in the graph', ['Nobody'])
        """
        question = self._comparison.ask.question
        if not (question.answers or question.gold):
            raise BadInput("No correct answer is known: give answers, or on documents gold.")
        return [_loss_row(*pair, question.answers) for pair in zip(self.lanes, self.verdict.lanes)]

    def without(self, *items: str, progress: bool = True) -> Comparison:
        """Take something away and ask again.

        `change` and `Lane.change` of the result say what it did to the answers (docs/without.md).

        Parameters
        ----------
        items : str
            Names of entities, ids of documents or passages, or paths as in `Lane.paths`.
        progress : bool
            Whether to draw a progress bar.

        Returns
        -------
        Comparison
            The same methods on the graph or documents without the items.

        Raises
        ------
        BadInput
            If no method knows an item, or the question cannot be asked without it.

        Examples
        --------
        >>> import hopscope as hs
        >>> line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
        >>> found = hs.compare("who directed Inception", line, progress=False)
        >>> found.without("Christopher Nolan", progress=False).change.partition("” ")[2]
        'depended on it.'
        """
        names = [self._document_of(item) for item in items]
        unknown = unknown_names(self._comparison, names)
        if unknown:
            listed = ", ".join(f"“{name}”" for name in unknown)
            raise BadInput(f"No entity, document, passage or path here is called {listed}.")
        wait = partial(wait_for_job, text="Asking again", progress=progress)
        return Comparison(compare_without(engine(), self._comparison, names, wait).comparison)

    def _document_of(self, item: str) -> str:
        """Return the id of a retrieved passage's document. Another item is returned as it is."""
        for lane in self.data["lanes"]:
            for hit in lane["hits"].get("chunk", ()):
                if hit["id"] == item:
                    return str(hit["source"][0])
        return item

    @property
    def change(self) -> str:
        """A sentence on the methods whose answer changed, after `without`. Else empty."""
        effects = [lane.beside for lane in self._comparison.lanes]
        return edit_summary(self._comparison, effects) if any(effects) else ""

    def influence(self, *, llm: bool = False, progress: bool = True) -> list[dict[str, Any]]:
        """Measure what the answers rest on, by leaving out each path or passage.

        Parameters
        ----------
        llm : bool
            Whether the language model's answers are measured, with a call for each try, in place of
            those of the graph reader.
        progress : bool
            Whether to draw a progress bar.

        Returns
        -------
        list of dict
            For each method `method`, a sentence `text`, and `items`: each with `kind`, `name`,
            `influence` (0 to 1), `changes` (the answer changes without it alone) and `smallest` (it
            is in the smallest set without which the answer changes). No items if it cannot be
            measured, as `text` says.

        Examples
        --------
        >>> import hopscope as hs
        >>> line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
        >>> found = hs.compare("who directed Inception", line, progress=False)
        >>> (rests,) = found.influence(progress=False)
        >>> sum(item["smallest"] for item in rests["items"])  # it is reached by two paths
        2
        """
        rows = []
        for index, lane in enumerate(self._comparison.snapshot.lanes):
            row: dict[str, Any] = {"method": lane.method.id, "items": []}
            with WorkProgress("Leaving out paths and passages", progress) as watch:
                try:
                    influence = measure_influence(
                        lane, engine().environment, by_model=llm, watch=watch
                    )
                except BadInput as error:
                    rows.append(row | {"text": str(error)})
                    continue
            influences = with_influence(lane.influences, influence)
            self._comparison.change_lane(index, influences=influences)
            rows.append(row | influence_dict(lane, influence))
        self._update()
        return rows

    def reading(self, method: int | str = 0, *, progress: bool = True) -> dict[str, Any]:
        """Ask the reader of one method again with other contexts.

        It tells a bad retrieval from a bad reading (docs/reading.md). A language model that
        answered is called for each context.

        Parameters
        ----------
        method : int or str
            Index of the lane, or a name of its method.
        progress : bool
            Whether to draw a progress bar.

        Returns
        -------
        dict
            A sentence `text`, the ranks of the `evidence` among the `items`, and `answers`: each
            with its `context`, `answer`, `right`, `items`, `tokens` and `fault`. `repair` is the
            line of a method that shows fewer items and answers right; empty without one.

        Raises
        ------
        HopscopeError
            If the reader cannot be asked again, or the model fails.

        Examples
        --------
        >>> import hopscope as hs
        >>> line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
        >>> found = hs.compare(
        ...     "who directed Inception", line, answers=["Christopher Nolan"], progress=False
        ... )
        >>> found.reading(progress=False)["text"]
        'Read right.'
        """
        index = self.lanes.index(self[method])
        with WorkProgress("Reading again", progress) as watch:
            lane = read_lane(self._comparison, index, engine().environment, watch)
        self._update()
        return reading_dict(lane)

    def repairs(self, *, progress: bool = True) -> list[OfferedRepair]:
        """Try changes of one step for the methods that lost correct answers.

        The trials take seconds and ask no language model. Trials that failed are reported as Python
        warnings.

        Parameters
        ----------
        progress : bool
            Whether to draw a progress bar.

        Returns
        -------
        list of OfferedRepair
            The best change of each method that has one. Changes whose effect another lane shows
            are left out.

        Examples
        --------
        >>> import hopscope as hs
        >>> line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1) >> Rank(keep=1)"
        >>> found = hs.compare(
        ...     "what films did Christopher Nolan direct",
        ...     line,
        ...     answers=["Following", "Memento"],
        ...     progress=False,
        ... )
        >>> for repair in found.repairs(progress=False):
        ...     after = repair.run(progress=False)
        """
        ask = self._comparison.ask
        job = engine().compare(
            ask, self._methods, rerun=True, try_repairs=True, earlier=self._comparison
        )
        comparison = wait_for_job(job, "Trying changes", progress).comparison
        while comparison.is_repairing:
            time.sleep(REPAIR_POLL_SECONDS)
        warn_user(comparison.follow_up_errors)
        return [
            OfferedRepair(**vars(lane.repair), method=lane.method.id, lane=lane)
            for lane in comparison.lanes
            if lane.repair is not None
        ]


def _loss_row(
    lane: Lane, explanation: LaneExplanation | None, answers: Sequence[str]
) -> dict[str, Any]:
    """Return the row of a lane in `Comparison.why_lost`. `answers` are the correct answers."""
    row: dict[str, Any] = {"method": lane.method, "stage": None, "step": None}
    row |= {"cause": "", "lost": []}
    if explanation is None:
        return row | {"text": lane.error}
    row |= {"stage": explanation.stage, "text": f"{explanation.head} {explanation.text}".strip()}
    if explanation.losses:
        main = explanation.losses[0]
        row["lost"] = [loss.name for loss in explanation.losses]
        row["cause"] = CAUSE_LABELS[main.cause]
        row["step"] = main.step.operator if main.step is not None else None
    elif explanation.stage is not None:
        stages = [names for names in (lane.data["funnel"] or {}).values() if names is not None]
        row["lost"] = [name for name in answers if not stages or name not in stages[-1]]
    return row

"""Printed side of an experiment: the paper's values and what it takes to measure them here."""

from __future__ import annotations

from collections.abc import Iterator

from core.evaluation.papers.building_costs import BuildingCosts
from core.evaluation.papers.experiments import Duels, Experiment
from core.evaluation.papers.paper_comparison import TextTable
from core.evaluation.papers.printed_values import PrintedTable, UpperBound
from core.methods.catalogue import catalogue

NO_VALUE_CELL = "–"
NO_VALUES_SENTENCE = "The paper prints no values of it."


def printed_side(
    item: Experiment | BuildingCosts | PrintedTable,
) -> tuple[list[TextTable], list[str]]:
    """Return the printed values as tables, and sentences on what it takes to measure them here."""
    if isinstance(item, BuildingCosts):
        return [], [NO_VALUES_SENTENCE, *item.differs]
    if isinstance(item, PrintedTable):
        return [TextTable(item.title, item.head, item.rows)], [f"{item.source}."]
    tables = [table for name in item.printed for table in _tables(item, name)]
    return tables, ([] if tables else [NO_VALUES_SENTENCE]) + _needs(item)


def _tables(experiment: Experiment, name: str) -> Iterator[TextTable]:
    """Yield the tables of one question set."""
    set_experiment = experiment if experiment.measures else experiment.asked(catalogue(), name)[0]
    columns = {
        metric: column
        for metric, column in set_experiment.printed[name].items()
        if any(value is not None for value in column)
    }
    if columns:
        rows = zip(
            set_experiment.rows.values(), *(map(_exact, column) for column in columns.values())
        )
        yield TextTable(name, ("method", *columns), tuple(rows))
    if name in set_experiment.wins:
        rows = zip(set_experiment.rows.values(), map(_exact, set_experiment.wins[name]))
        head = ("method", f"win rate over {set_experiment.rows[set_experiment.against]}")
        yield TextTable(name, head, tuple(rows))
    for criterion, rates in set_experiment.duels.get(name, {}).items():
        yield TextTable(f"{name}, {criterion}: win rates", *_matrix(set_experiment, rates))


def _matrix(
    experiment: Experiment, rates: Duels
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return head and rows of a table of win rates: the row's method over the column's method."""
    losers = [id for id in experiment.rows if any(id in row for row in rates.values())]
    rows = tuple(
        (experiment.rows[winner], *(_exact(row.get(loser)) for loser in losers))
        for winner, row in rates.items()
    )
    return ("method", *(experiment.rows[loser] for loser in losers)), rows


def _needs(experiment: Experiment) -> list[str]:
    """Return sentences on the question sets, their shipped parts, and the answering model."""
    small, sentences = experiment.small(), []
    for name in experiment.printed:
        published = experiment.sets[name]
        ships = small.get(name) or published.set
        small_note = f"In small: {ships}" if ships else "Nothing of it ships"
        sentences.append(f"{name}: {published.fetch}. {small_note}.")
    if experiment.model:
        sentences.append(f"Answers in the paper: {experiment.answers}.")
    return sentences


def _exact(value: float | None) -> str:
    """Return a value with all digits that are printed."""
    if value is None:
        return NO_VALUE_CELL
    return str(value) if isinstance(value, UpperBound) else f"{value:.6g}"

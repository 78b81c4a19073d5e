"""Printed side of an experiment: the paper's values and what it takes to measure them here."""

from __future__ import annotations

from collections.abc import Iterator

from core.evaluation.papers.beside import Measured
from core.evaluation.papers.building import BuildingCosts
from core.evaluation.papers.experiments import Duels, Experiment
from core.evaluation.papers.printed import PrintedTable, UpperBound
from core.instances.catalogue import catalogue

NOT_PRINTED = "–"
UNPRINTED = "The paper prints no values of it."


def printed_side(
    wanted: Experiment | BuildingCosts | PrintedTable,
) -> tuple[list[Measured], list[str]]:
    """Return the printed values as tables, and sentences on what it takes to measure them here."""
    if isinstance(wanted, BuildingCosts):
        return [], [UNPRINTED, *wanted.differs]
    if isinstance(wanted, PrintedTable):
        return [Measured(wanted.title, wanted.head, wanted.rows)], [f"{wanted.source}."]
    found = [table for name in wanted.printed for table in _tables(wanted, name)]
    return found, ([] if found else [UNPRINTED]) + _needs(wanted)


def _tables(wanted: Experiment, name: str) -> Iterator[Measured]:
    """Yield the tables of one question set."""
    here = wanted if wanted.measures else wanted.asked(catalogue(), name)[0]
    columns = {
        metric: column
        for metric, column in here.printed[name].items()
        if any(value is not None for value in column)
    }
    if columns:
        rows = zip(here.rows.values(), *(map(_exact, column) for column in columns.values()))
        yield Measured(name, ("method", *columns), tuple(rows))
    if name in here.wins:
        rows = zip(here.rows.values(), map(_exact, here.wins[name]))
        head = ("method", f"win rate over {here.rows[here.against]}")
        yield Measured(name, head, tuple(rows))
    for criterion, rates in here.duels.get(name, {}).items():
        yield Measured(f"{name}, {criterion}: win rates", *_matrix(here, rates))


def _matrix(here: Experiment, rates: Duels) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return head and rows of a table of win rates: the row's method over the column's method."""
    losers = [id for id in here.rows if any(id in row for row in rates.values())]
    rows = tuple(
        (here.rows[winner], *(_exact(row.get(loser)) for loser in losers))
        for winner, row in rates.items()
    )
    return ("method", *(here.rows[loser] for loser in losers)), rows


def _needs(wanted: Experiment) -> list[str]:
    """Return sentences on the question sets, their shipped parts, and the answering model."""
    small, sentences = wanted.small(), []
    for name in wanted.printed:
        published = wanted.sets[name]
        ships = small.get(name) or published.set
        here = f"In small: {ships}" if ships else "Nothing of it ships"
        sentences.append(f"{name}: {published.fetch}. {here}.")
    if wanted.model:
        sentences.append(f"Answers in the paper: {wanted.answers}.")
    return sentences


def _exact(value: float | None) -> str:
    """Return a value with all digits that are printed."""
    if value is None:
        return NOT_PRINTED
    return str(value) if isinstance(value, UpperBound) else f"{value:.6g}"

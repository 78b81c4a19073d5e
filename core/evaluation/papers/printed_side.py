"""The paper's values of an experiment, and the needs of measuring them.

The needs are data and models. The command `reproduce` shows all this without running anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.evaluation.papers.building_costs import BuildingCosts
from core.evaluation.papers.experiments import Experiment, WinRates
from core.evaluation.papers.paper_comparison import TextTable
from core.evaluation.papers.printed_values import PrintedTable, UpperBound
from core.methods.catalogue import catalogue

NO_VALUE_CELL = "–"
NO_VALUES_SENTENCE = "The paper prints no values of it."


def printed_values_and_needs(
    item: Experiment | BuildingCosts | PrintedTable,
) -> tuple[list[TextTable], list[str]]:
    """Return the printed values as tables, and sentences on what measuring them needs.

    For a table that is only shown, the sentence names the command that computes such values, or the
    reason why none does.
    """
    if isinstance(item, BuildingCosts):
        return [], [NO_VALUES_SENTENCE, *item.differs]
    if isinstance(item, PrintedTable):
        return [TextTable(item.title, item.head, item.rows)], [f"{item.source}."]
    tables: list[TextTable] = []
    for name in item.printed:
        tables += _tables(item, name)
    return tables, ([] if tables else [NO_VALUES_SENTENCE]) + _needs(item)


def _tables(experiment: Experiment, name: str) -> Iterator[TextTable]:
    """Yield the tables of one question set: metrics, win rates over the baseline, and of pairs."""
    set_experiment = (
        experiment if experiment.measures else experiment.for_question_set(catalogue(), name)[0]
    )
    columns = {
        metric: column
        for metric, column in set_experiment.printed[name].items()
        if any(value is not None for value in column)
    }
    if columns:
        cells = (map(_exact_text, column) for column in columns.values())
        rows = zip(set_experiment.rows.values(), *cells)
        yield TextTable(name, ("method", *columns), tuple(rows))
    if name in set_experiment.wins:
        rows = zip(set_experiment.rows.values(), map(_exact_text, set_experiment.wins[name]))
        head = ("method", f"win rate over {set_experiment.rows[set_experiment.against]}")
        yield TextTable(name, head, tuple(rows))
    for criterion, rates in set_experiment.duels.get(name, {}).items():
        yield _win_rate_table(f"{name}, {criterion}: win rates", set_experiment, rates)


def _win_rate_table(title: str, experiment: Experiment, rates: WinRates) -> TextTable:
    """Return the table of win rates of each row's method over each column's method."""
    losers = [id for id in experiment.rows if any(id in row for row in rates.values())]
    rows = tuple(
        (experiment.rows[winner], *(_exact_text(row.get(loser)) for loser in losers))
        for winner, row in rates.items()
    )
    return TextTable(title, ("method", *(experiment.rows[loser] for loser in losers)), rows)


def _needs(experiment: Experiment) -> list[str]:
    """Return sentences on the question sets, their shipped parts, and the answering model."""
    small_sets = experiment.shipped_sets()
    sentences = []
    for name in experiment.printed:
        published = experiment.sets[name]
        shipped_set = small_sets.get(name) or published.set
        small_note = f"In small: {shipped_set}" if shipped_set else "Nothing of it ships"
        sentences.append(f"{name}: {published.fetch}. {small_note}.")
    if experiment.model:
        sentences.append(f"Answers in the paper: {experiment.answers}.")
    return sentences


def _exact_text(value: float | None) -> str:
    """Return a value with all digits that the paper prints, a dash for None."""
    if value is None:
        return NO_VALUE_CELL
    return str(value) if isinstance(value, UpperBound) else f"{value:.6g}"

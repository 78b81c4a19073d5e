"""Comparison of a run's values with a paper's: values, order of methods, and differences.

“Here” stands for this project's measurement, in tables and field names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from core.evaluation.metrics.statistics import Estimate, kendall
from core.evaluation.papers.building_costs import BuildingCosts, markdown_row
from core.evaluation.papers.experiments import Experiment
from core.evaluation.papers.printed_values import PrintedTable, UpperBound
from core.evaluation.reports.export import format_figure
from core.evaluation.reports.summary import RunSummary

WIN_RATE_PREFIX = "win rate"  # prefix of the names of figures that are no metric of a question
# Minimum number of questions for an informative interval of differences.
MIN_COMPARED_QUESTIONS = 20
COMPARISON_HEAD = (
    "method",
    "paper",
    "here",
    "n",
    "from the first, paper",
    "from the first, here",
    "agrees",
)
DIFFERENCES_HEADING = "What differs from the paper"


@dataclass(frozen=True)
class MethodValues:
    """Printed and measured value of a method, and their differences from the first method.

    If several rows vary a parameter of one method, the differences are from the first of these
    rows. The field names are those of the JSON that the command `reproduce` prints.

    Attributes
    ----------
    method : id of the method.
    name : its title in the paper.
    printed : the paper's value; None if it prints none.
    here : the measured value.
    printed_difference : difference of the paper's values; None if there is none to compare.
    difference : measured mean difference, and the lower and upper end of its 95 % interval; None if
        there is none to compare.
    """

    method: str
    name: str
    printed: float | None
    here: Estimate
    printed_difference: float | None = None
    difference: tuple[float, float, float] | None = None

    @property
    def agrees(self) -> bool | None:
        """True if the paper's difference lies in the interval of the measured difference.

        It is None if one of the differences is missing, or if there are fewer than
        `MIN_COMPARED_QUESTIONS` questions.
        """
        if self.printed_difference is None or self.difference is None:
            return None
        if self.here.n < MIN_COMPARED_QUESTIONS:
            return None
        _, low, high = self.difference
        return low <= self.printed_difference <= high


@dataclass(frozen=True)
class MetricComparison:
    """A metric on a question set: one row per method.

    `set` is the paper's name of the question set, and `asked` its name in the run. `tau` is
    Kendall's tau-b between the paper's order and the measured order of the methods that have both
    values. It is None for fewer than three such methods, or if all values of one side are equal.
    `metric_unknown` says why the paper's values may be of another metric; if it is not empty, no
    agreement of differences is reported. The field names are those of the command's JSON.
    """

    set: str
    asked: str
    metric: str
    rows: tuple[MethodValues, ...]
    tau: float | None
    metric_unknown: str = ""

    @classmethod
    def from_rows(
        cls,
        set: str,
        asked: str,
        metric: str,
        rows: Sequence[MethodValues],
        metric_unknown: str = "",
    ) -> MetricComparison:
        """Return a comparison of some rows, with Kendall's tau-b computed from them.

        Parameters
        ----------
        set : the paper's name of the question set.
        asked : name of the question set of the run.
        metric : name of the metric.
        rows : one row for each method.
        metric_unknown : why the paper's values may be of another metric; empty if the metric is
            known.

        Returns
        -------
        The comparison.
        """
        return cls(set, asked, metric, tuple(rows), kendall(_value_pairs(rows)), metric_unknown)


@dataclass(frozen=True)
class TextTable:
    """A table of texts without printed values, with sentences below it."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def _value_pairs(rows: Iterable[MethodValues]) -> list[tuple[float, float]]:
    """Return the printed and the measured value of each row that has both."""
    return [
        (row.printed, row.here.mean)
        for row in rows
        if row.printed is not None and row.here.mean is not None
    ]


def compare_with_paper(
    experiment: Experiment, name: str, summary: RunSummary
) -> list[MetricComparison]:
    """Return the paper's values next to those of a run.

    Parameters
    ----------
    experiment : the experiment, with the printed values.
    name : the paper's name of the question set.
    summary : figures of the run on that set.

    Returns
    -------
    One comparison for each printed metric.
    """
    comparisons = []
    names = tuple(experiment.printed[name])
    table = summary.table(names) if names else {}
    # The method from which each method's differences are taken.
    firsts = {
        method: experiment.firsts.get(method, summary.methods[0]) for method in summary.methods
    }
    pairs = [(method, first) for method, first in firsts.items() if method != first]
    for metric in names:
        printed = dict(zip(experiment.rows, experiment.printed[name][metric], strict=True))
        tests = {test.a: test for test in summary.paired_tests(pairs, [metric])}
        rows = []
        for method, first in firsts.items():
            row = MethodValues(
                method, experiment.rows[method], printed[method], table[method][metric]
            )
            if method != first:
                difference = _difference(printed[method], printed[first])
                row = replace(row, printed_difference=difference)
            if method in tests:
                row = replace(row, difference=tests[method].estimate.numbers())
            rows.append(row)
        set_id = summary.run.spec["set"]
        comparisons.append(
            MetricComparison.from_rows(name, set_id, metric, rows, experiment.metric_unknown)
        )
    return comparisons


def _difference(value: float | None, base: float | None) -> float | None:
    """Return the difference of two printed values.

    None if one is missing or an upper bound.
    """
    if value is None or base is None:
        return None
    is_bounded = isinstance(value, UpperBound) or isinstance(base, UpperBound)
    return None if is_bounded else value - base


def set_order_sentences(tables: Sequence[MetricComparison | TextTable]) -> list[str]:
    """Return a sentence per row on the order of sets.

    The sentence is on the agreement of the printed and the measured order. Each table is of one
    set. Rows of different tables belong together if they have the same name and metric. A row is
    left out if fewer than three sets have both values.
    """
    value_pairs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for table in tables:
        if isinstance(table, MetricComparison):
            for row in table.rows:
                value_pairs.setdefault((row.name, table.metric), []).extend(_value_pairs([row]))
    sentences = []
    for (name, metric), pairs in value_pairs.items():
        tau = kendall(pairs)
        if tau is not None:
            sentences.append(
                f"{name}, {metric}: Kendall's tau of the order of the {len(pairs)} sets is {tau:.2f}."
            )
    return sentences


def comparison_markdown(
    experiment: Experiment | BuildingCosts | PrintedTable,
    tables: Sequence[MetricComparison | TextTable],
    sentences: Sequence[str],
    heading: str = DIFFERENCES_HEADING,
) -> str:
    """Return the tables as Markdown, one per set and metric, followed by the sentences.

    Parameters
    ----------
    experiment : the experiment, for the title.
    tables : the tables.
    sentences : statements below the tables.
    heading : heading of these statements.

    Returns
    -------
    A document in Markdown.
    """
    lines = [f"# {experiment.place}: {experiment.title}", "", experiment.paper, ""]
    for table in tables:
        title, head, rows, notes = table_texts(table)
        lines += [f"## {title}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        lines += [*map(markdown_row, rows), "", *notes, ""]
    lines += [f"## {heading}", "", *(f"- {sentence}" for sentence in sentences), ""]
    return "\n".join(lines)


def table_texts(
    table: MetricComparison | TextTable,
) -> tuple[str, Sequence[str], Sequence[Sequence[str]], Sequence[str]]:
    """Return a table as texts: title, head, rows, and sentences below it."""
    if isinstance(table, TextTable):
        return table.title, table.head, table.rows, table.notes
    rows = [value_texts(table.metric, row) for row in table.rows]
    if table.metric_unknown:  # no verdict on differences
        rows = [[*cells[:-1], "–"] for cells in rows]
    return f"{table.set}, {table.metric}", COMPARISON_HEAD, rows, [agreement_text(table)]


def wide_table(tables: Sequence[MetricComparison]) -> TextTable:
    """Return the measured figures of one set as one table.

    The table has a column per metric. It is used for a figure that the paper draws without numbers.
    All tables have the same rows.
    """
    first = tables[0]
    columns = [[_measured_text(table.metric, row) for row in table.rows] for table in tables]
    rows = tuple(zip((row.name for row in first.rows), *columns))
    note = (
        f"{max((row.here.n for row in first.rows), default=0):,} questions of {first.asked}. The "
        "paper draws it, without numbers."
    )
    head = ("method", *(table.metric for table in tables))
    return TextTable(first.set, head, rows, (note,))


def value_texts(metric: str, row: MethodValues) -> list[str]:
    """Return the cells of a row under `COMPARISON_HEAD` as texts.

    Parameters
    ----------
    metric : name of the metric, which determines the digits.
    row : the values of one method.

    Returns
    -------
    Seven texts; a dash stands for a missing value.
    """
    format_number = partial(_format_number, metric)
    format_signed = partial(_format_number, metric, plus="+")
    is_bound = isinstance(row.printed, UpperBound)
    difference_text = "–"
    if row.difference is not None:
        difference_text = Estimate(*row.difference, row.here.n).format_with_interval(format_signed)
    return [
        row.name,
        str(row.printed) if is_bound else format_number(row.printed),
        _measured_text(metric, row),
        f"{row.here.n:,}",
        format_signed(row.printed_difference),
        difference_text,
        {None: "–", True: "yes", False: "no"}[row.agrees],
    ]


def _format_number(metric: str, number: float | None, plus: str = "") -> str:
    """Return a number with the digits of its metric.

    It follows `plus` unless it is negative.
    """
    if number is None:
        return "–"
    if metric.startswith(WIN_RATE_PREFIX):
        digits = f"{abs(number):.3f}"
    else:
        digits = format_figure(metric.removeprefix("gain with "), abs(number))
    return f"{'−' if number < 0 else plus}{digits}"


def _measured_text(metric: str, row: MethodValues) -> str:
    """Return the measured value of a row with its interval."""
    return row.here.format_with_interval(partial(_format_number, metric))


def agreement_text(comparison: MetricComparison) -> str:
    """Return sentences on how far the paper and the run agree."""
    rows = comparison.rows
    n = max((row.here.n for row in rows), default=0)
    sentences = [f"{n:,} questions of {comparison.asked}."]
    if comparison.tau is None:
        sentences.append("The order of the methods cannot be compared.")
    else:
        sentences.append(f"Kendall's tau of the order of the methods: {comparison.tau:.2f}.")
    if comparison.metric_unknown:
        return " ".join([*sentences, comparison.metric_unknown])
    if n < MIN_COMPARED_QUESTIONS:
        sentences.append(
            f"With fewer than {MIN_COMPARED_QUESTIONS} questions nothing is said on whether "
            "differences agree."
        )
    agreements = [row.agrees for row in rows if row.agrees is not None]
    if agreements:
        n_first_rows = sum(map(_is_first_row, rows))
        scope = " of the same method" if n_first_rows > 1 else ""
        sentences.append(
            f"For {sum(agreements)} of {len(agreements)} the paper's difference from the first "
            f"row{scope} lies in the interval here."
        )
    return " ".join(sentences)


def _is_first_row(row: MethodValues) -> bool:
    """Return whether other rows' differences are from this row.

    Such a row has no differences itself. Lacking only the printed difference is not enough: the row
    may have an upper bound as its printed value, or the first row may.
    """
    return row.printed is not None and row.printed_difference is None and row.difference is None

"""Measured values next to a paper's.

The comparison covers values, the order of the methods, and differences from the first method.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.evaluation.metrics.statistics import Estimate, kendall
from core.evaluation.papers.building_costs import BuildingCosts
from core.evaluation.papers.experiments import Experiment
from core.evaluation.papers.printed_values import PrintedTable, UpperBound
from core.evaluation.reports.export import format_figure
from core.evaluation.reports.summary import RunSummary

WIN_RATE_PREFIX = "win rate"  # prefix of the names of figures that are no metric of a question
MIN_COMPARED_QUESTIONS = (
    20  # minimum number of questions for an informative interval of differences
)


@dataclass(frozen=True)
class MethodValues:
    """A method's value in the paper and here, and its difference from the first row in both.

    If rows vary one method, the difference is from the first row of that method. `agrees` says
    whether the paper's difference lies in the interval of the difference here. It is None if one of
    them is missing or if there are fewer than `MIN_COMPARED_QUESTIONS` questions.
    """

    method: str
    name: str
    printed: float | None
    here: Estimate
    printed_difference: float | None = None
    difference: tuple[float, float, float] | None = None

    @property
    def agrees(self) -> bool | None:
        if (
            self.printed_difference is None
            or self.difference is None
            or self.here.n < MIN_COMPARED_QUESTIONS
        ):
            return None
        return self.difference[1] <= self.printed_difference <= self.difference[2]


@dataclass(frozen=True)
class MetricComparison:
    """A metric on a question set: one row per method.

    `tau` is Kendall's tau-b of the two orders over the methods that have both values. It is None if
    there are fewer than three of these, or if all values of one side are equal. `metric_unknown`
    says why the paper's values may be of another metric; then no agreement of differences is
    reported.
    """

    set: str
    asked: str
    metric: str
    rows: tuple[MethodValues, ...]
    tau: float | None
    metric_unknown: str = ""

    @classmethod
    def of(
        cls,
        set: str,
        asked: str,
        metric: str,
        rows: Sequence[MethodValues],
        metric_unknown: str = "",
    ) -> MetricComparison:
        """Return the rows with Kendall's tau-b of their two orders.

        Parameters
        ----------
        set : the paper's name of the question set.
        asked : what was asked for it.
        metric : name of the metric.
        rows : one row for each method.
        metric_unknown : why the paper's values may be of another metric; empty if they are not.

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
    """Return the paper's value and the one here for each row that has both."""
    return [
        (row.printed, row.here.mean)
        for row in rows
        if row.printed is not None and row.here.mean is not None
    ]


def compare_with_paper(
    experiment: Experiment, name: str, summary: RunSummary
) -> list[MetricComparison]:
    """Return the paper's values next to those of a run, for each metric printed for a set.

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
    firsts = {
        method: experiment.firsts.get(method, summary.methods[0]) for method in summary.methods
    }
    for metric in names:
        printed = dict(zip(experiment.rows, experiment.printed[name][metric], strict=True))
        tests = {
            test.a: test
            for test in summary.compared(
                [pair for pair in firsts.items() if pair[0] != pair[1]], [metric]
            )
        }
        rows = []
        for method in summary.methods:
            printed_value, first_printed_value = printed[method], printed[firsts[method]]
            rows.append(
                MethodValues(
                    method,
                    experiment.rows[method],
                    printed_value,
                    table[method][metric],
                    None
                    if method == firsts[method]
                    else _difference(printed_value, first_printed_value),
                    (tests[method].difference, tests[method].low, tests[method].high)
                    if method in tests
                    else None,
                )
            )
        set_id = summary.run.spec["set"]
        comparisons.append(
            MetricComparison.of(name, set_id, metric, rows, experiment.metric_unknown)
        )
    return comparisons


def _difference(value: float | None, base: float | None) -> float | None:
    """Return the difference of two printed values, None if one is missing or a bound."""
    if value is None or base is None or {type(value), type(base)} & {UpperBound}:
        return None
    return value - base


def set_order_sentences(tables: Sequence[MetricComparison | TextTable]) -> list[str]:
    """Return a sentence per row on how the paper's order of the sets agrees with the one here.

    There is none for a row with fewer than three sets that have both values.
    """
    value_pairs = dict[tuple[str, str], list[tuple[float, float]]]()
    for one in (one for one in tables if isinstance(one, MetricComparison)):
        for row in one.rows:
            value_pairs.setdefault((row.name, one.metric), []).extend(_value_pairs([row]))
    taus = {key: kendall(pairs) for key, pairs in value_pairs.items()}
    return [
        f"{name}, {metric}: Kendall's tau of the order of the {len(value_pairs[name, metric])} sets is "
        f"{tau:.2f}."
        for (name, metric), tau in taus.items()
        if tau is not None
    ]


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
    for one in tables:
        title, head, rows, notes = table_texts(one)
        lines += [f"## {title}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        lines += [
            f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows
        ]
        lines += ["", *notes, ""]
    return "\n".join(
        [*lines, f"## {heading}", "", *(f"- {sentence}" for sentence in sentences), ""]
    )


def table_texts(
    one: MetricComparison | TextTable,
) -> tuple[str, Sequence[str], Sequence[Sequence[str]], Sequence[str]]:
    """Return a table as texts: title, head, rows, and sentences below it."""
    if isinstance(one, TextTable):
        return one.title, one.head, one.rows, one.notes
    return (
        f"{one.set}, {one.metric}",
        COMPARISON_HEAD,
        [_checked_value_texts(one, row) for row in one.rows],
        [agreement_text(one)],
    )


def _checked_value_texts(one: MetricComparison, row: MethodValues) -> list[str]:
    """Return a row as texts, without a verdict if the paper's metric is unknown."""
    texts = value_texts(one.metric, row)
    return [*texts[:-1], "–"] if one.metric_unknown else texts


def wide_table(tables: Sequence[MetricComparison]) -> TextTable:
    """Return the figures of one set as one table: a row per method, a column per metric."""
    first = tables[0]
    columns = [[value_texts(one.metric, row)[2] for row in one.rows] for one in tables]
    rows = tuple(zip((row.name for row in first.rows), *columns))
    note = (
        f"{max((row.here.n for row in first.rows), default=0):,} questions of {first.asked}. The "
        "paper draws it, without numbers."
    )
    return TextTable(first.set, ("method", *(one.metric for one in tables)), rows, (note,))


def value_texts(metric: str, row: MethodValues) -> list[str]:
    """Return a row of a table as texts.

    The cells are name, paper, here, questions, both differences, and whether these agree.

    Parameters
    ----------
    metric : name of the metric, which decides on the digits.
    row : the values of one method.

    Returns
    -------
    Seven texts; a dash stands for a missing value.
    """
    digits = lambda number: (
        f"{number:.3f}"
        if metric.startswith(WIN_RATE_PREFIX)
        else format_figure(metric.removeprefix("gain with "), number)
    )
    value = lambda number: "–" if number is None else f"{'−' * (number < 0)}{digits(abs(number))}"
    printed = str(row.printed) if isinstance(row.printed, UpperBound) else value(row.printed)
    signed = lambda number: (
        "–" if number is None else f"{'−' if number < 0 else '+'}{digits(abs(number))}"
    )
    return [
        row.name,
        printed,
        row.here.text(value),
        f"{row.here.n:,}",
        signed(row.printed_difference),
        "–" if row.difference is None else Estimate(*row.difference, row.here.n).text(signed),
        "–" if row.agrees is None else "yes" if row.agrees else "no",
    ]


def agreement_text(one: MetricComparison) -> str:
    """Return one or two sentences on how far the paper and the run agree."""
    agreements = [row.agrees for row in one.rows if row.agrees is not None]
    n = max((row.here.n for row in one.rows), default=0)
    if one.tau is None:
        order = "The order of the methods cannot be compared."
    else:
        order = f"Kendall's tau of the order of the methods: {one.tau:.2f}."
    few_sentence = ""
    if n < MIN_COMPARED_QUESTIONS:
        few_sentence = (
            f"With fewer than {MIN_COMPARED_QUESTIONS} questions nothing is said on whether "
            "differences agree."
        )
    scope = ""
    if sum(row.printed_difference is None for row in one.rows if row.printed is not None) > 1:
        scope = " of the same method"
    if one.metric_unknown:
        return " ".join((f"{n:,} questions of {one.asked}.", order, one.metric_unknown))
    agree_sentence = ""
    if agreements:
        agree_sentence = (
            f"For {sum(agreements)} of {len(agreements)} the paper's difference from the first "
            f"row{scope} lies in the interval here."
        )
    return " ".join(
        filter(None, (f"{n:,} questions of {one.asked}.", order, few_sentence, agree_sentence))
    )

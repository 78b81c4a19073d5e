"""Export of a run's summary as CSV and LaTeX.

All reports use the number formats of this module.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.method_names import MethodName, method_names
from core.evaluation.reports.summary import RunSummary

# The id of a method, its name in plain words, and the paper's own name (`MethodName.number`).
METHOD_COLUMNS = ("instance", "method", "number")
QUESTION_COLUMNS = ("question_id", "hops", "question", "entities", "known_answers")
ANSWER_COLUMNS = ("answer", "answered_by", "answer_fault")
_LATEX_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}


def rows_csv(summary: RunSummary, names: Sequence[str] = ()) -> str:
    """Return CSV with one row per question and method.

    A row has the question, its known answers, the method's answer, every metric and the error.
    A cell is empty if there is no value.

    Parameters
    ----------
    summary : figures of a run.
    names : names of metrics; by default those that are reported.

    Returns
    -------
    CSV with a row of column names.
    """
    names = names or summary.reported_metrics
    rows: list[list] = [[*METHOD_COLUMNS, *QUESTION_COLUMNS, *ANSWER_COLUMNS, *names, "error"]]
    methods = method_names(summary.run)
    for row in summary.rows:
        question, outcome = row.question, row.outcome
        answer = outcome.answer if outcome else None
        question_cells = [
            question.id,
            question.hops,
            question.text,
            "|".join(question.entities),
            "|".join(question.answers),
        ]
        values = [""] * len(names)
        if outcome:
            # A method that never returns k passages has no figure at cut-off k.
            known_names = [
                name for name in names if not summary.max_passages_below_cutoff(row.method, name)
            ]
            figures = {name: _number(metric(name)(outcome)) for name in known_names}
            values = [figures.get(name, "") for name in names]
        answer_cells = [""] * len(ANSWER_COLUMNS)
        if answer and outcome:
            answer_cells = [answer.text, answer.by, outcome.answer_fault]
        name = methods[row.method]
        method_cells = [row.method, name.plain, name.number]
        rows.append([*method_cells, *question_cells, *answer_cells, *values, row.error or ""])
    return _csv(rows)


def summary_csv(summary: RunSummary, names: Sequence[str] = ()) -> str:
    """Return CSV with one row per method, hop count and metric.

    The rows over all hop counts come first. A row has the mean, its interval, the number n of
    questions with a value, and the numbers of answered, failed and asked questions. The number of
    asked questions is empty in rows of a single hop count.

    Parameters
    ----------
    summary : figures of a run.
    names : names of metrics; by default those that are reported.

    Returns
    -------
    CSV with a row of column names.
    """
    names_by_id = method_names(summary.run)
    summaries = {"all": summary}
    by_hops = summary.by_hops()
    if len(by_hops) > 1:
        summaries |= {"unknown" if hop is None else str(hop): part for hop, part in by_hops.items()}
    columns = ("hops", "metric", "mean", "low", "high", "n", "answered", "failed", "asked")
    rows: list[list] = [[*METHOD_COLUMNS, *columns]]
    for hop, part in summaries.items():
        asked = summary.run.spec["sample"] if hop == "all" else ""
        for method, figures in part.table(names).items():
            counts = part.counts(method)
            name = names_by_id[method]
            for metric_name, figure in figures.items():
                numbers = map(_number, (figure.mean, figure.low, figure.high))
                cells = [method, name.plain, name.number, hop, metric_name, *numbers, figure.n]
                rows.append([*cells, counts["scored"], counts["failed"], asked])
    return _csv(rows)


def latex_table(summary: RunSummary, names: Sequence[str] = ()) -> str:
    """Return a LaTeX table (package booktabs) with one row per method.

    A value is bold if it is better than every other beyond chance (`best_beyond_chance`). If the run
    is unfinished, a column counts its questions.

    Parameters
    ----------
    summary : figures of a run.
    names : names of metrics; by default those of `RunSummary.defaults`.

    Returns
    -------
    A table environment with its caption.
    """
    names = names or summary.defaults.table_metrics
    table = summary.table(names)
    titles = {method: _latex_name(name) for method, name in method_names(summary.run).items()}
    head = ["Method", *(["Questions"] if summary.unfinished_row_counts else [])]
    head += [escape_latex(metric(name).describe()["title"]) for name in names]
    best = {name: best_beyond_chance(summary, name, table) for name in names}
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escape_latex(_caption(summary, names))}}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"    \toprule",
        rf"    {' & '.join(head)} \\",
        r"    \midrule",
    ]
    for method, figures in table.items():
        cells = [_cell(name, figures[name], best[name] == method) for name in names]
        done = [summary.done_text(method)] if summary.unfinished_row_counts else []
        lines.append(rf"    {' & '.join([titles[method], *done, *cells])} \\")
    return "\n".join([*lines, r"    \bottomrule", r"  \end{tabular}", r"\end{table}", ""])


def escape_latex(text: str) -> str:
    """Return a text as LaTeX prints it, on one line."""
    return "".join(_LATEX_ESCAPES.get(letter, letter) for letter in " ".join(text.split()))


def format_figure(name: str, value: float | None) -> str:
    """Return a figure with the digits that suit its unit.

    Parameters
    ----------
    name : name of the metric.
    value : its value.

    Returns
    -------
    Three decimals for shares and three significant digits for seconds. Other figures have one
        decimal below 10 and none from 10 on. None becomes a dash.
    """
    if value is None:
        return "–"
    unit = metric(name).unit
    if unit in ("share", "balance"):
        return f"{value:.3f}"
    if unit == "seconds":
        return f"{value:.3g}"
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def format_share(value: float) -> str:
    """Return a share with two digits, such as `.72`.

    >>> from core.evaluation.reports.export import format_share
    >>> format_share(0.725), format_share(1.0), format_share(-0.001)
    ('.72', '1.00', '.00')
    """
    text = f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"
    return text.removeprefix("-") if text == "-.00" else text


def format_seconds(value: float) -> str:
    """Return seconds with two significant digits, or whole ones from 10 on.

    >>> from core.evaluation.reports.export import format_seconds
    >>> format_seconds(0.0357), format_seconds(6.49), format_seconds(123.4)
    ('0.036', '6.5', '123')
    """
    return f"{value:.2g}" if value < 9.95 else f"{value:,.0f}"


def screen_figure(name: str, value: float | None) -> str:
    """Return a figure as screens show it.

    Shares are those of `format_share`, seconds those of `format_seconds`, and others those of
    `format_figure`.
    """
    unit = metric(name).unit
    if value is not None and unit in ("share", "balance"):
        return format_share(value)
    if value is not None and unit == "seconds":
        return format_seconds(value)
    return format_figure(name, value)


def screen_interval(name: str, estimate: Estimate) -> str:
    """Return a figure of a screen with its interval, such as `.50 [.25, .75]`."""
    return estimate.format_with_interval(lambda value: screen_figure(name, value))


def with_interval(name: str, estimate: Estimate) -> str:
    """Return a figure with its interval, such as `0.500 [0.250, 0.750]`.

    Parameters
    ----------
    name : name of the metric.
    estimate : mean and interval.

    Returns
    -------
    The text; a dash if the estimate has no mean.
    """
    return estimate.format_with_interval(lambda value: format_figure(name, value))


def best_beyond_chance(
    summary: RunSummary, name: str, table: Mapping[str, Mapping[str, Estimate]]
) -> str:
    """Return the method that is better in a metric than every other beyond chance.

    Each difference is a paired test with Holm's correction over the other methods. Adaptations are
    not tested, so they are left out.

    Parameters
    ----------
    summary : figures of a run.
    name : name of the metric.
    table : estimates by method and metric.

    Returns
    -------
    The id of the method. It is empty if there is none, or if the metric has no better direction.
    """
    means = {
        method: figures[name].mean
        for method, figures in table.items()
        if figures[name].mean is not None and method not in summary.adapted_names
    }
    better = metric(name).better
    if len(means) < 2 or better == "neither" or len(set(means.values())) == 1:
        return ""
    pick = max if better == "higher" else min
    best = pick(means, key=lambda method: means[method] or 0.0)
    others = [method for method in means if method != best]
    tests = summary.paired_tests([(best, other) for other in others], (name,))
    is_best = len(tests) == len(others) and all(test.is_significant for test in tests)
    return best if is_best else ""


def align_columns(rows: Sequence[Sequence[str]], left_count: int = 1) -> list[str]:
    """Return the rows of a table as lines of text.

    Parameters
    ----------
    rows : cells of each row.
    left_count : number of columns that are left-aligned; the others are right-aligned.

    Returns
    -------
    One line for each row.

    Examples
    --------
    >>> from core.evaluation.reports.export import align_columns
    >>> align_columns([["", "f1"], ["bm25", "0.5"]])
    ['       f1', 'bm25  0.5']
    """
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(_pad_cells(row, widths, left_count)) for row in rows]


def _pad_cells(row: Sequence[str], widths: Sequence[int], left_count: int) -> Iterator[str]:
    for index, (cell, width) in enumerate(zip(row, widths)):
        yield cell.ljust(width) if index < left_count else cell.rjust(width)


def _caption(summary: RunSummary, names: Sequence[str]) -> str:
    spec = summary.run.spec
    sentences = [
        f"{spec['sample']:,} of {spec['of']:,} questions of {spec['set']}, seed {spec['seed']}; "
        "mean with half the 95 % bootstrap interval"
    ]
    if progress := summary.progress_text():
        sentences.append(progress)
    if not spec["model"]:
        sentences.append("no language model answered, so answers are the graph reader's")
    failures = summary.failure_sentences()
    if failures:
        sentences.append("a failed question scores 0")
    sentences += [
        sentence.rstrip(".") for sentence in (*failures, *summary.missing_depth_sentences(names))
    ]
    return "; ".join(sentences)


def _latex_name(name: MethodName) -> str:
    """Return a method's name in LaTeX.

    The paper's own name follows in small print.
    """
    if not name.number:
        return escape_latex(name.plain)
    return rf"{escape_latex(name.plain)} {{\footnotesize ({escape_latex(name.number)})}}"


def _cell(name: str, estimate: Estimate, is_best: bool) -> str:
    if estimate.mean is None:
        return "--"
    text = format_figure(name, estimate.mean)
    text = rf"\textbf{{{text}}}" if is_best else text
    _, low, high = estimate.numbers()
    return rf"{text} {{\tiny $\pm$ {format_figure(name, (high - low) / 2)}}}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _csv(rows: Sequence[Sequence]) -> str:
    """Return rows as CSV for spreadsheets.

    A text that a spreadsheet would read as a formula gets an apostrophe before it.
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(
        [[_safe_cell(cell) for cell in row] for row in rows]
    )
    return out.getvalue()


def _safe_cell(cell):
    if cell is None:
        return ""
    is_formula = isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{cell}" if is_formula and not _is_number(cell) else cell


def _is_number(cell: str) -> bool:
    """Return whether a text is a number.

    It is used so that “-1” is not taken for a formula.
    """
    try:
        float(cell)
    except ValueError:
        return False
    return True

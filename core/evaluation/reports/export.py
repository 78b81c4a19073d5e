"""Export of a summary as tables: CSV, LaTeX and plain text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.method_names import MethodName, method_names
from core.evaluation.reports.summary import RunSummary

# Columns: the id, the method's name, and the paper's own name.
METHOD_COLUMNS = ("instance", "method", "number")
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

    A row has the question, its known answers, the answer given, every metric and the error.

    Parameters
    ----------
    summary : figures of a run.
    names : names of metrics; by default those that are reported.

    Returns
    -------
    CSV with a row of column names.
    """
    names = names or summary.reported
    question_columns = ["question_id", "hops", "question", "entities", "known_answers"]
    head = [
        *METHOD_COLUMNS,
        *question_columns,
        "answer",
        "answered_by",
        "answer_fault",
        *names,
        "error",
    ]
    rows, methods = [], method_names(summary.run)
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
        values = [
            _number(metric(name)(outcome))
            if outcome and not summary.lacks(row.method, name)
            else ""
            for name in names
        ]
        method = methods[row.method]
        answer_cells = (
            [answer.text, answer.by, outcome.answer_fault] if answer and outcome else ["", "", ""]
        )
        rows.append(
            [
                row.method,
                method.plain,
                method.number,
                *question_cells,
                *answer_cells,
                *values,
                row.error or "",
            ]
        )
    return _csv([head, *rows])


def summary_csv(summary: RunSummary, names: Sequence[str] = ()) -> str:
    """Return CSV with one row per method, hop count and metric.

    All hop counts together come first. A row has the mean, its interval, the number of questions in
    it, and the numbers of answered, failed and asked questions.

    Parameters
    ----------
    summary : figures of a run.
    names : names of metrics; by default those that are reported.

    Returns
    -------
    CSV with a row of column names.
    """
    summaries, names_by_id = [("all", summary)], method_names(summary.run)
    hops, question_count = summary.by_hops(), summary.run.spec["sample"]
    if len(hops) > 1:
        summaries += [("unknown" if hop is None else str(hop), part) for hop, part in hops.items()]
    rows = [
        [method, full_name.plain, full_name.number, hop, name]
        + [
            *map(_number, (estimate.mean, estimate.low, estimate.high)),
            estimate.n,
            counts["scored"],
            counts["failed"],
            question_count if hop == "all" else "",
        ]
        for hop, part in summaries
        for method, figures in part.table(names).items()
        for counts, full_name in [(part.counts(method), names_by_id[method])]
        for name, estimate in figures.items()
    ]
    return _csv(
        [
            [
                *METHOD_COLUMNS,
                "hops",
                "metric",
                "mean",
                "low",
                "high",
                "n",
                "answered",
                "failed",
                "asked",
            ],
            *rows,
        ]
    )


def latex_table(summary: RunSummary, names: Sequence[str] = ()) -> str:
    """Return a LaTeX table (package booktabs) with one row per method.

    The best value of each column is bold.

    Parameters
    ----------
    summary : figures of a run.
    names : names of metrics; by default those of the usual table.

    Returns
    -------
    A table environment with its caption.
    """
    names = names or summary.defaults.table
    table = summary.table(names)
    titles = {key: _latex_name(one) for key, one in method_names(summary.run).items()}
    n = ["Questions"] if summary.unfinished else []
    best = {
        name: _best_mean(name, [figures[name].mean for figures in table.values()]) for name in names
    }
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escape_latex(_caption(summary, names))}}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(names) + len(n))}}}",
        r"    \toprule",
        "    "
        + " & ".join(
            ["Method", *n, *(escape_latex(metric(name).described()["title"]) for name in names)]
        )
        + r" \\",
        r"    \midrule",
    ]
    for method, figures in table.items():
        cells = [_cell(name, figures[name], best[name]) for name in names]
        done = [summary.done(method)] if n else []
        lines.append("    " + " & ".join([titles[method], *done, *cells]) + r" \\")
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
    Three decimals for shares, three digits for seconds, else whole numbers from 10 on. A dash for
        None.
    """
    if value is None:
        return "–"
    unit = metric(name).unit
    if unit in ("share", "balance"):
        return f"{value:.3f}"
    return (
        f"{value:.3g}" if unit == "seconds" else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
    )


def with_interval(name: str, estimate: Estimate) -> str:
    """Return a figure with its interval, such as `0.500 [0.250, 0.750]`.

    Parameters
    ----------
    name : name of the metric.
    estimate : mean and interval.

    Returns
    -------
    A dash without a mean.
    """
    return estimate.text(lambda value: format_figure(name, value))


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
    sample_text = (
        f"{spec['sample']:,} of {spec['of']:,} questions of {spec['set']}, seed {spec['seed']}; "
        "mean with half the 95 % bootstrap interval"
    )
    reader = (
        [] if spec["model"] else ["no language model answered, so answers are the graph reader's"]
    )
    failed = [
        *(["a failed question scores 0"] if summary.failed() else []),
        *summary.failed(),
        *summary.shallow(names),
    ]
    return "; ".join(
        [
            sample_text,
            *filter(None, [summary.so_far()]),
            *reader,
            *(sentence.rstrip(".") for sentence in failed),
        ]
    )


def _latex_name(one: MethodName) -> str:
    """Return a method's name in LaTeX, followed by the paper's own in small print."""
    return escape_latex(one.plain) + (
        rf" {{\footnotesize ({escape_latex(one.number)})}}" if one.number else ""
    )


def _cell(name: str, estimate: Estimate, best: float | None) -> str:
    if estimate.mean is None:
        return "--"
    text = format_figure(name, estimate.mean)
    text = rf"\textbf{{{text}}}" if estimate.mean == best else text
    _, low, high = estimate.numbers()
    return rf"{text} {{\tiny $\pm$ {format_figure(name, (high - low) / 2)}}}"


def _best_mean(name: str, means: Sequence[float | None]) -> float | None:
    known_means = [mean for mean in means if mean is not None]
    better = metric(name).better
    if len(known_means) < 2 or better == "neither" or len(set(known_means)) == 1:
        return None
    return max(known_means) if better == "higher" else min(known_means)


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
    if (
        isinstance(cell, str)
        and cell[:1] in ("=", "+", "-", "@", "\t", "\r")
        and not _is_number(cell)
    ):
        return "'" + cell
    return "" if cell is None else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True

"""Report of a run as one self-contained HTML file that needs no network."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports import plots
from core.evaluation.reports.budget_curves import BUDGET_METRICS, budget_curves
from core.evaluation.reports.export import format_figure
from core.evaluation.reports.flow import flow
from core.evaluation.reports.method_names import MethodName, method_names
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.steps_table import step_effects_html
from core.evaluation.reports.summary import RunSummary

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

PAGE_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
img-src data: blob:">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
:root {{ --text: #1f2933; --paper: #f6f7f9; --card: #fff; --muted: #5d6975; --line: #dbe1e7; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --text: #e6ebf0; --paper: #12171d; --card: #1b232c; --muted: #9aa5b1; --line: #303b47; }}
}}
body {{ margin: 0; background: var(--paper); color: var(--text); \
font: 14px/1.5 -apple-system, "Segoe UI", Inter, Roboto, sans-serif; }}
main {{ max-width: 1240px; margin: 0 auto; padding: 24px clamp(14px, 2.4vw, 32px) 40px; }}
h1 {{ font-size: 21px; margin: 0; overflow-wrap: anywhere; }}
h2 {{ font-size: 16px; margin: 28px 0 8px; }}
.facts, .note {{ color: var(--muted); margin: 4px 0; overflow-wrap: anywhere; }}
.card {{ background: var(--card); border: 1px solid var(--line); border-radius: 9px; \
padding: 10px 14px; overflow-x: auto; }}
.plots {{ display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 14px; }}
@media (max-width: 900px) {{ .plots {{ grid-template-columns: minmax(0, 1fr); }} }}
table {{ border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }}
th, td {{ padding: 5px 10px; text-align: right; white-space: nowrap; \
border-bottom: 1px solid var(--line); }}
small {{ font-weight: normal; }}
td small, th small {{ color: var(--muted); }}
td.words, th.words {{ text-align: left; white-space: normal; overflow-wrap: anywhere; \
min-width: 7rem; }}
details {{ margin: 6px 0; }}
.js-plotly-plot text:not(.heatmap-label *) {{ fill: var(--text) !important; }}
.js-plotly-plot .hovertext text {{ fill: #fff !important; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def plotly_script() -> str:
    """Return the script element with plotly, for a page that needs no network."""
    from plotly.offline import get_plotlyjs

    script = re.sub(r"</(script)", r"<\\/\1", get_plotlyjs(), flags=re.IGNORECASE)
    return f"<script>{script}</script>"


def cards(figures: Iterable[Figure]) -> str:
    """Return plots as HTML elements for a page with `plotly_script`."""
    settings = {"displaylogo": False, "responsive": True}
    plot_htmls = (
        figure.to_html(
            full_html=False,
            include_plotlyjs=False,
            include_mathjax=False,
            div_id=f"picture-{i}",
            config=settings,
        )
        for i, figure in enumerate(figures)
    )
    return "".join(f"<div class='card'>{one}</div>" for one in plot_htmls)


def report_html(summary: RunSummary) -> str:
    """Return the whole report of a run as HTML.

    It has figures, plots, operators, paired tests, failures, and the definitions of the metrics.
    """
    run, spec, table = summary.run, summary.run.spec, summary.table()
    names = [
        name for name in summary.reported if any(figures[name].n for figures in table.values())
    ]
    notes = [*summary.failed(), *summary.faults(), *summary.shallow(names), *summary.brought()]
    title = f"Evaluation {run.id}: {len(spec['instances'])} methods on {spec['set']}"
    body = [
        _facts(summary),
        _recommendation_html(summary),
        "<h2>Figures</h2><p class='note'>Mean and 95 % bootstrap interval; n is the number of "
        "questions that gave a number; a failed one scores 0.</p>"
        f"{''.join(f'<p class=note>{escape(sentence)}</p>' for sentence in notes)}"
        f"{_figures(summary, table, names)}",
        plotly_script(),
        f"<h2>Pictures</h2><div class='plots'>{_pictures(summary, table)}</div>",
        f"<h2>Average cost per step</h2>{_operators(summary)}",
        _tests(summary),
        _flow_tables(summary),
        f"<h2>What each step is worth</h2><div class='card'>{bars}</div>"
        if (bars := step_effects_html(summary))
        else "",
        _failures(summary),
        f"<h2>What the metrics mean</h2>{''.join(map(_metric_html, names))}",
    ]
    return PAGE_TEMPLATE.format(title=escape(title), body="\n".join(filter(None, body)))


def _facts(summary: RunSummary) -> str:
    run, spec = summary.run, summary.run.spec
    facts = [
        f"{spec['sample']:,} of {spec['of']:,} questions, seed {spec['seed']}",
        f"asked on {', '.join(name for name, _ in spec['graphs'])}",
        "a language model answers"
        if spec["model"]
        else "no language model answers: answers are the graph reader's",
        "every method timed alone" if spec["cold"] else "methods share steps",
        f"{run.done:,} of {run.total:,} answers done, {run.failed:,} failed",
        *filter(None, [summary.so_far()]),
        time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.created)),
    ]
    return f"<p class='facts'>{escape('; '.join(facts))}</p>"


def _recommendation_html(summary: RunSummary) -> str:
    advice = recommendation(summary)
    if advice is None:
        return ""
    return (
        f"<h2>{escape(advice.headline)}</h2>"
        f"{''.join(f'<p class=note>{escape(sentence)}</p>' for sentence in advice.details)}"
    )


def _figures(summary: RunSummary, table: dict[str, dict[str, Estimate]], names: list[str]) -> str:
    titles = map(_name_html, method_names(summary.run).values())
    rows = []
    for name in names:
        texts = metric(name).described()
        cells = []
        for figures in table.values():
            one = figures[name]
            cells.append(_figure_html(name, one, f" n {one.n:,}") if one.n else "–")
        rows.append(
            [
                f"<span title='{escape(texts['definition'], quote=True)}'>"
                f"{escape(texts['title'])}</span>",
                *cells,
            ]
        )
    return _table(["", *titles], rows)


def _pictures(summary: RunSummary, table: dict[str, dict[str, Estimate]]) -> str:
    pairs = [pair for pair in summary.fronts if all(_says_something(table, name) for name in pair)]
    figures = [plots.front_plot(summary, table, cost, quality) for cost, quality in pairs]
    figures += plots.funnels(summary).values()
    figures += [
        plots.budget_plot(summary, curves, name)
        for name in BUDGET_METRICS
        if (curves := budget_curves(summary, name))
    ]
    if len(summary.by_hops()) > 1:
        figures += [
            plots.hops_plot(summary, name)
            for name in ("hits@1", "path_recall@32")
            if _says_something(table, name)
        ]
    return cards(figures)


def _figure_html(name: str, one: Estimate, suffix: str = "") -> str:
    """Return a figure with its interval in small print, and what follows it."""
    interval = one.interval(lambda value: format_figure(name, value))
    return f"{format_figure(name, one.mean)} <small>{interval}{suffix}</small>"


def _says_something(table: dict[str, dict[str, Estimate]], name: str) -> bool:
    """Return whether a metric has values that are not all 0."""
    return any(figures[name].mean for figures in table.values())


def _operators(summary: RunSummary) -> str:
    rows = []
    for method, name in method_names(summary.run).items():
        for step in summary.operators(method):
            costs = [f"{step[name]:,.1f}" for name in ("calls", "tokens_in", "tokens_out", "texts")]
            rows.append(
                [_name_html(name), escape(step["operator"]), f"{step['seconds']:.4f}", *costs]
            )
    return _table(
        ["Method", "Step", "Seconds", "Calls", "Tokens in", "Tokens out", "Texts scored"],
        rows,
        2,
    )


def _tests(summary: RunSummary) -> str:
    names = method_names(summary.run)
    rows = [
        [
            f"{_name_html(names[test.a])} − {_name_html(names[test.b])}",
            escape(metric(test.metric).described()["title"]),
            _figure_html(test.metric, test.estimate),
            f"{test.p:.3g}",
            f"{test.p_holm:.3g}",
            f"{test.n:,}",
        ]
        for test in summary.compared()
    ]
    untested = escape(summary.untested())
    if not rows:
        return f"<p class='note'>{untested}</p>" if untested else ""
    note = (
        "Sign-flip permutation test on the questions that gave both a number; the last p is "
        "Holm's, over the pairs of a metric."
    )
    head = ["Methods", "Metric", "Mean difference", "p", "p, corrected", "n"]
    return f"<h2>Paired tests</h2><p class='note'>{note} {untested}</p>{_table(head, rows, 2)}"


def _flow_tables(summary: RunSummary) -> str:
    """Return tables of where questions end with the first method and with each other one.

    The result is empty if no correct answers are known.
    """
    names, tables = method_names(summary.run), []
    for other in summary.methods[1:]:
        if (question_flow := flow(summary, summary.methods[0], other)) is not None:
            rows = [
                [
                    escape(question_flow.words(band.before)),
                    escape(question_flow.words(band.after)),
                    band.label,
                    f"{len(band.questions):,}",
                ]
                for band in question_flow.bands
            ]
            head = [
                *(f"With {_name_html(names[one])}" for one in (question_flow.a, question_flow.b)),
                "",
                f"Questions, n = {question_flow.n:,}",
            ]
            tables.append(_table(head, rows, 3))
    return f"<h2>What changed from one method to another</h2>{''.join(tables)}" if tables else ""


def _failures(summary: RunSummary) -> str:
    names = method_names(summary.run)
    rows = [
        [_name_html(names[method]), escape(error), f"{times:,}"]
        for method in summary.methods
        for error, times in summary.errors(method).items()
    ]
    return f"<h2>Failed questions</h2>{_table(['Method', 'Why', 'Times'], rows, 2)}" if rows else ""


def _name_html(one: MethodName) -> str:
    """Return a method's name, followed by the paper's own in small print."""
    return escape(one.plain) + (f" <small>{escape(one.number)}</small>" if one.number else "")


def _metric_html(name: str) -> str:
    texts = {key: escape(text) for key, text in metric(name).described().items()}
    source = (
        f"<p class='note'>Source: {texts['source']}. Unit: {texts['unit']}; {texts['better']} is "
        "better.</p>"
    )
    words = f"<p>{texts['definition']} {texts['convention']}</p>"
    return (
        f"<details><summary>{texts['title']} "
        f"<code>{texts['name']}</code></summary>{words}{source}</details>"
    )


def _table(head: list[str], rows: list[list[str]], words: int = 1) -> str:
    """Return a table of cells that are already HTML.

    The first `words` columns are texts, the others figures.
    """

    def line(tag: str, row: list[str]) -> str:
        cells = (
            f"<{tag}{' class=words' if index < words else ''}>{cell}</{tag}>"
            for index, cell in enumerate(row)
        )
        return f"<tr>{''.join(cells)}</tr>"

    top, body = line("th", head), "".join(line("td", row) for row in rows)
    return f"<div class='card'><table><thead>{top}</thead><tbody>{body}</tbody></table></div>"

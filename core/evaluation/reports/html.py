"""Report of a run as one self-contained HTML file that needs no network."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from core.diagnosis.wording import capitalised
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports import plots
from core.evaluation.reports.budget_curves import BUDGET_METRICS, budget_curves
from core.evaluation.reports.export import screen_figure
from core.evaluation.reports.flow import flow
from core.evaluation.reports.method_names import MethodName, method_names
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.steps_table import step_effects_html
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.saved_sources import set_titles, sources_of
from core.operators import OPERATORS

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
    """Return plots as HTML elements (“cards”), for a page with `plotly_script`."""
    plots_html = (plot_html(figure, f"picture-{i}") for i, figure in enumerate(figures))
    return "".join(f"<div class='card'>{html}</div>" for html in plots_html)


def plot_html(figure: Figure, id: str) -> str:
    """Return a plot as an HTML element with an id.

    The element is for a page with `plotly_script`.
    """
    return figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        include_mathjax=False,
        div_id=id,
        config={"displaylogo": False, "responsive": True},
    )


def report_html(summary: RunSummary) -> str:
    """Return the whole report of a run as HTML.

    It has figures, plots, costs of operators, paired tests, changed questions, effects of steps,
    failures, and the definitions of the metrics.
    """
    run = summary.run
    table = summary.table()
    names = [
        name
        for name in summary.reported_metrics
        if any(figures[name].n for figures in table.values())
    ]
    notes = [
        *summary.failure_sentences(),
        *summary.answer_fault_sentences(),
        *summary.missing_depth_sentences(names),
        *summary.external_result_sentences(),
        *summary.spread_sentences(names),
    ]
    n_methods = len(run.spec["instances"])
    methods = f"{n_methods} method{'' if n_methods == 1 else 's'}"
    title = f"{methods} on {set_titles(run.spec)} (evaluation {run.id})"
    body = [
        _facts(summary),
        _recommendation_html(summary),
        "<h2>Figures</h2><p class='note'>Mean and 95 % bootstrap interval; n is the number of "
        "questions that gave a number; a failed one scores 0.</p>"
        f"{''.join(f'<p class=note>{escape(sentence)}</p>' for sentence in notes)}"
        f"{_figure_table(summary, table, names)}",
        plotly_script(),
        f"<h2>Pictures</h2><div class='plots'>{_plots(summary, table)}</div>",
        f"<h2>Average cost per step</h2>{_operator_table(summary)}",
        _test_table(summary),
        _flow_tables(summary),
        _step_effects(summary),
        _failure_table(summary),
        f"<h2>What the metrics mean</h2>{''.join(map(_metric_html, names))}",
    ]
    return PAGE_TEMPLATE.format(title=escape(title), body="\n".join(filter(None, body)))


def _facts(summary: RunSummary) -> str:
    run, spec = summary.run, summary.run.spec
    facts = [
        f"{spec['sample']:,} of {spec['of']:,} questions, seed {spec['seed']}",
        f"asked on {', '.join(source.title for source in sources_of(spec))}",
        "a language model answers"
        if spec["model"]
        else "no language model answers: answers are the graph reader's",
        "every method timed alone" if spec["cold"] else "methods share steps",
        f"{run.done:,} of {run.total:,} answers done, {run.failed:,} failed",
        *filter(None, [summary.progress_text()]),
        time.strftime("%d %b %Y, %H:%M UTC", time.gmtime(run.created)),
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


def _step_effects(summary: RunSummary) -> str:
    bars = step_effects_html(summary)
    return f"<h2>What each step is worth</h2><div class='card'>{bars}</div>" if bars else ""


def _figure_table(
    summary: RunSummary, table: dict[str, dict[str, Estimate]], names: list[str]
) -> str:
    titles = map(_name_html, method_names(summary.run).values())
    rows = []
    for name in names:
        texts = metric(name).describe()
        definition = escape(texts["definition"], quote=True)
        row = [f"<span title='{definition}'>{escape(texts['title'])}</span>"]
        for figures in table.values():
            figure = figures[name]
            row.append(_figure_html(name, figure, f" n {figure.n:,}") if figure.n else "–")
        rows.append(row)
    return _table(["", *titles], rows)


def _plots(summary: RunSummary, table: dict[str, dict[str, Estimate]]) -> str:
    figures = []
    for cost, quality in summary.fronts:
        if _has_values(table, cost) and _has_values(table, quality):
            figures.append(plots.front_plot(summary, table, cost, quality))
    figures += plots.funnels(summary).values()
    for name in BUDGET_METRICS:
        if curves := budget_curves(summary, name):
            figures.append(plots.budget_plot(summary, curves, name))
    if len(summary.by_hops()) > 1:
        names = [name for name in ("hits@1", "path_recall@32") if _has_values(table, name)]
        figures += [plots.hops_plot(summary, name) for name in names]
    return cards(figures)


def _figure_html(name: str, estimate: Estimate, suffix: str = "") -> str:
    """Return a figure, with its interval and a suffix in small print."""
    interval = estimate.interval(lambda value: screen_figure(name, value))
    return f"{screen_figure(name, estimate.mean)} <small>{interval}{suffix}</small>"


def _has_values(table: dict[str, dict[str, Estimate]], name: str) -> bool:
    """Return whether a metric has values that are not all 0."""
    return any(figures[name].mean for figures in table.values())


def _operator_table(summary: RunSummary) -> str:
    fields = ("calls", "tokens_in", "tokens_out", "texts")
    rows = []
    for method, name in method_names(summary.run).items():
        for step in summary.operators(method):
            title = escape(capitalised(OPERATORS[step["operator"]].title))
            head_cells = [_name_html(name), title, f"{step['seconds']:.4f}"]
            rows.append([*head_cells, *(f"{step[field]:,.1f}" for field in fields)])
    head = ["Method", "Step", "Seconds", "Calls", "Tokens in", "Tokens out", "Texts scored"]
    return _table(head, rows, 2)


def _test_table(summary: RunSummary) -> str:
    names = method_names(summary.run)
    rows = [
        [
            f"{_name_html(names[test.a])} − {_name_html(names[test.b])}",
            escape(metric(test.metric).describe()["title"]),
            _figure_html(test.metric, test.estimate),
            f"{test.p:.3g}",
            f"{test.p_holm:.3g}",
            f"{test.n:,}",
        ]
        for test in summary.paired_tests()
    ]
    untested = escape(summary.untested_sentence())
    if not rows:
        return f"<p class='note'>{untested}</p>" if untested else ""
    note = (
        "Sign-flip permutation test on the questions that gave both a number; the last p is "
        "Holm's, over the pairs of a metric."
    )
    head = ["Methods", "Metric", "Mean difference", "p", "p, corrected", "n"]
    return f"<h2>Paired tests</h2><p class='note'>{note} {untested}</p>{_table(head, rows, 2)}"


def _flow_tables(summary: RunSummary) -> str:
    """Return tables of the flow of questions between methods.

    The flow is from the first method to each other method. The result is empty if no correct
    answers are known.
    """
    names = method_names(summary.run)
    tables = []
    for other in summary.methods[1:]:
        question_flow = flow(summary, summary.methods[0], other)
        if question_flow is None:
            continue
        methods = (question_flow.a, question_flow.b)
        head = [f"With {_name_html(names[method])}" for method in methods]
        head += ["", f"Questions, n = {question_flow.n:,}"]
        rows = []
        for band in question_flow.bands:
            stages = (question_flow.stage_label(stage) for stage in (band.before, band.after))
            rows.append([*map(escape, stages), band.label, f"{len(band.questions):,}"])
        tables.append(_table(head, rows, 3))
    return f"<h2>What changed from one method to another</h2>{''.join(tables)}" if tables else ""


def _failure_table(summary: RunSummary) -> str:
    names = method_names(summary.run)
    rows = [
        [_name_html(names[method]), escape(error), f"{times:,}"]
        for method in summary.methods
        for error, times in summary.errors(method).items()
    ]
    return f"<h2>Failed questions</h2>{_table(['Method', 'Why', 'Times'], rows, 2)}" if rows else ""


def _name_html(name: MethodName) -> str:
    """Return a method's name, followed by the paper's own name in small print."""
    number = f" <small>{escape(name.number)}</small>" if name.number else ""
    return f"{escape(name.plain)}{number}"


def _metric_html(name: str) -> str:
    texts = {key: escape(text) for key, text in metric(name).describe().items()}
    source = (
        f"<p class='note'>Source: {texts['source']}. Unit: {texts['unit']}; {texts['better']} is "
        "better.</p>"
    )
    words = f"<p>{texts['definition']} {texts['convention']}</p>"
    return (
        f"<details><summary>{texts['title']} "
        f"<code>{texts['name']}</code></summary>{words}{source}</details>"
    )


def _table(head: list[str], rows: list[list[str]], n_text_columns: int = 1) -> str:
    """Return a table of cells that are already HTML.

    The first `n_text_columns` columns are texts, the others figures.
    """

    def row_html(tag: str, row: list[str]) -> str:
        cells = (
            f"<{tag}{' class=words' if index < n_text_columns else ''}>{cell}</{tag}>"
            for index, cell in enumerate(row)
        )
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(row_html("td", row) for row in rows)
    head_html = row_html("th", head)
    return f"<div class='card'><table><thead>{head_html}</thead><tbody>{body}</tbody></table></div>"

"""Results of an evaluation run: recommendation, metrics, plots, paired tests and questions.

The page Evaluate draws them in tabs, also while the run is going on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import streamlit as st

from core.diagnosis.wording import capitalised
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.defaults import defaults_for
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports import plots
from core.evaluation.reports.budget_curves import BUDGET_METRICS, budget_curves
from core.evaluation.reports.dot_plot import ordered_methods
from core.evaluation.reports.export import best_beyond_chance, screen_figure, screen_interval
from core.evaluation.reports.method_names import method_titles
from core.evaluation.reports.ranks import ranking_metric
from core.evaluation.reports.sensitivity import curve_noise, curves, varied_parameters
from core.evaluation.reports.steps_table import step_effects_html
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.saved_sources import sources_of
from core.evaluation.runs.store import Run
from core.operators import OPERATORS
from pages.parts.evaluate.figure_record import draw_figure_record
from pages.parts.evaluate.loss_causes import draw_loss_causes, has_own_method
from pages.parts.evaluate.loss_repairs import draw_repairs
from pages.parts.evaluate.method_changes import draw_changes
from pages.parts.evaluate.pairs import can_be_judged, draw_judged_pairs
from pages.parts.evaluate.questions import draw_questions
from pages.parts.evaluate.reading import draw_reading
from pages.parts.evaluate.recommendation import draw_reasons, draw_recommendation, recommend
from pages.parts.evaluate.run_progress import draw_downloads, summary
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

ALL_HOPS = "all"  # the choice of questions of any number of hops
PICTURE_WIDTH = 465  # width in pixels; two pictures fit side by side on a wide screen


def run_facts(run: Run) -> str:
    """Return the settings of a run in one line."""
    spec = run.spec
    sources = sources_of(spec)
    source_texts = (f"{source.noun} “{source.title}”" for source in sources)
    facts = [
        tr(
            "{sample:,} of {questions}, seed {seed}",
            sample=spec["sample"],
            questions=many(spec["of"], "question"),
            seed=spec["seed"],
        ),
        tr("asked on {on}", on=", ".join(source_texts)),
    ]
    if spec["model"]:
        facts.append(tr("answers by a language model"))
    else:
        answer_source = defaults_for(sources).answer_source
        facts.append(tr("answers are the {source}'s; no language model", source=answer_source))
    if spec["cold"]:
        facts.append(tr("every method timed alone"))
    return " · ".join(facts)


def draw_figures(run: Run) -> None:
    """Draw all results of a run so far: the recommendation, and tabs with what it rests on."""
    results = summary(run.id)
    if progress_text := results.progress_text():
        st.warning(
            plain(tr("Figures of what is done so far; {so_far}.", so_far=progress_text)),
            icon=":material/hourglass_top:",
        )
    draw_recommendation(results)
    draw_by_tab = {
        tr("Why"): _draw_why,
        tr("Reading"): draw_reading,
        tr("Questions"): draw_questions,
        tr("Figures"): _draw_figures_tab,
        tr("Export"): draw_downloads,
    }
    _open_former_tab()
    # The open tab is in the address, so that a reload returns to it.
    tabs = st.tabs(list(draw_by_tab), key=Session.evaluate_part.name, bind="query-params")
    for tab, draw in zip(tabs, draw_by_tab.values()):
        if tab.open:  # the others compute for seconds
            with tab:
                draw(results)


def _open_former_tab() -> None:
    """Open the tab and the section that an address from before names by a tab of its own."""
    former_tabs = {
        tr("What changed"): (tr("Why"), ""),
        tr("Repairs"): (tr("Why"), "repairs"),
        tr("Why yours lost"): (tr("Why"), "losses"),
        tr("Pictures"): (tr("Figures"), "pictures"),
        tr("Paired tests"): (tr("Figures"), "tests"),
        tr("What the metrics mean"): (tr("Figures"), "meanings"),
        tr("Judged in pairs"): (tr("Figures"), "pairs"),
    }
    part = st.query_params.get(Session.evaluate_part.name) or session.evaluate_part
    if part in former_tabs:
        tab, section = former_tabs[part]
        st.query_params[Session.evaluate_part.name] = session.evaluate_part = tab
        if section:
            key = Session.evaluate_section[section]
            if Session.widget_value[key.name].value is None:  # later Streamlit writes the address
                st.query_params[key.name] = "true"
            key.value = True


def _draw_section(
    name: str, title: str, draw: Callable[[RunSummary], None], results: RunSummary
) -> None:
    """Draw a part of a tab that is computed once it is opened."""
    key = Session.evaluate_section[name].name
    section = st.expander(title, key=key, on_change="rerun", bind="query-params")
    if section.open:
        with section:
            draw(results)


def _draw_why(results: RunSummary) -> None:
    """Draw the reasons of the recommendation: what changed, and the worth of each step."""
    draw_reasons(results.run)
    draw_changes(results)
    run = results.run
    if effects := _step_effects_html(run.id, run.created, run.done, run.failed):
        st.markdown(tr("**What each step is worth**"))
        st.html(effects)
    _draw_section("repairs", tr("Repairs"), draw_repairs, results)
    if has_own_method(results):
        _draw_section("losses", tr("Why yours lost"), draw_loss_causes, results)


def _draw_figures_tab(results: RunSummary) -> None:
    _draw_table(results)
    _draw_section("pictures", tr("Pictures"), _draw_pictures, results)
    _draw_section("tests", tr("Paired tests"), _draw_tests, results)
    if can_be_judged(results):
        _draw_section("pairs", tr("Judged in pairs"), draw_judged_pairs, results)
    _draw_section("costs", tr("Average cost per step"), _draw_step_costs, results)
    _draw_section("record", tr("Check a figure"), draw_figure_record, results)
    _draw_section("meanings", tr("What the metrics mean"), _draw_meanings, results)


def _draw_table(results: RunSummary) -> None:
    """Draw the chosen metrics by method, best method first, with notes on them."""
    run = results.run
    key = f"figures_metrics_{results.defaults.question_metric}"
    part_key = _choose_hops(results)  # all questions, or those of one number of hops
    part = _part(results, part_key)
    chosen = Session.widget_value[key].value or list(results.defaults.table_metrics)
    figures = part.table(chosen)
    names = _column_order(results, [name for name in chosen if _has_figures(figures, name)])
    titles = method_titles(run)
    advice = recommend(run)
    best = _best_methods(run.id, run.created, run.done, run.failed, part_key, tuple(names))
    rows = []
    for method in ordered_methods(results, advice):
        row: dict[str, Any] = {tr("Method"): titles[method]}
        if advice is not None and len(advice.ranks) > 1:
            row[tr("Rank")] = str(advice.ranks.get(method, ""))
        if part is not results:
            row[tr("Questions")] = f"{len(part.rows_of(method)):,}"
        elif results.unfinished_row_counts and results.done_text(method):
            row[tr("Questions")] = results.done_text(method)
        for name in names:
            most = part.max_passages_below_cutoff(method, name)
            cell = _cell(name, figures[method][name], most) + _noise(part, method, name)
            row[name] = f"★ {cell}" if best[name] == method else cell
        rows.append(row)
    config = {name: st.column_config.TextColumn(_title(name), help=_help(name)) for name in names}
    config[tr("Rank")] = st.column_config.TextColumn(
        help=tr("Methods share a rank if no paired test shows a difference."), width=60
    )
    config[tr("Method")] = st.column_config.TextColumn(pinned=True)
    st.dataframe(rows, hide_index=True, column_config=config)
    caption(
        "Mean and 95 % bootstrap interval over the questions; failed ones score 0. ★: significantly "
        "better than every other method. ░: lowest to highest mean of the method's own runs."
    )
    st.multiselect(
        tr("Metrics"),
        results.reported_metrics,
        list(results.defaults.table_metrics),
        format_func=_title,
        key=key,
        select_all=False,
        persist_state="session",
    )
    for sentence in _notes(part, names):
        st.caption(plain(sentence))


def _notes(part: RunSummary, names: list[str]) -> Iterator[str]:
    """Yield the sentences on what the table's figures leave out."""
    titles = method_titles(part.run)
    for method in part.methods:
        if without := part.counts(method)["without_context"]:
            yield tr(
                "{method}: {without:,} without any triple (counted as they are).",
                method=titles[method],
                without=without,
            )
    yield from part.failure_sentences()
    yield from part.answer_fault_sentences()
    yield from part.missing_depth_sentences(names)
    yield from part.external_result_sentences()
    yield from part.spread_sentences(names)


def _part(results: RunSummary, hops: str | int | None) -> RunSummary:
    return results if isinstance(hops, str) else results.by_hops().get(hops, results)


@lru_cache(maxsize=64)
def _best_methods(
    number: int,
    created: float,
    done: int,
    failed: int,
    hops: str | int | None,
    names: tuple[str, ...],
) -> dict[str, str]:
    """Return the method of each metric that is better beyond chance, computed after new rows."""
    part = _part(summary(number), hops)
    table = part.table(names)
    return {name: best_beyond_chance(part, name, table) for name in names}


def _has_figures(table: dict[str, dict[str, Estimate]], name: str) -> bool:
    return any(figures[name].n for figures in table.values())


def _column_order(results: RunSummary, names: list[str]) -> list[str]:
    """Return metrics with the one of the recommendation first, then seconds and tokens."""
    first = (ranking_metric(results), "seconds", "tokens")
    return sorted(names, key=lambda name: first.index(name) if name in first else len(first))


def _choose_hops(results: RunSummary) -> str | int | None:
    """Draw the choice of a number of hops, and return it; ALL_HOPS for all questions.

    Nothing is drawn if the questions do not differ in their hops.
    """
    by_hops = results.by_hops()
    if len(by_hops) < 2:
        return ALL_HOPS
    labels = {ALL_HOPS: tr("All questions"), None: tr("Hops not given")}
    return st.segmented_control(
        tr("Questions"),
        [ALL_HOPS, *by_hops],
        default=ALL_HOPS,
        required=True,
        format_func=lambda hop: labels[hop] if hop in labels else many(hop, "hop"),
        key="figures_hops",
        persist_state="session",
    )


def _draw_step_costs(results: RunSummary) -> None:
    """Draw the average cost per question of each step."""
    titles = method_titles(results.run)
    rows = []
    for method in results.methods:
        for step in results.operators(method):
            rows.append(
                {
                    tr("Method"): titles[method],
                    tr("Step"): capitalised(tr(OPERATORS[step["operator"]].title)),
                    tr("Seconds"): step["seconds"],
                    tr("Calls"): step["calls"],
                    tr("Tokens in"): step["tokens_in"],
                    tr("Tokens out"): step["tokens_out"],
                    tr("Texts scored"): step["texts"],
                }
            )
    number = {
        name: st.column_config.NumberColumn(format="%.1f")
        for name in (tr("Calls"), tr("Tokens in"), tr("Tokens out"), tr("Texts scored"))
    }
    st.dataframe(
        rows,
        hide_index=True,
        column_config={tr("Seconds"): st.column_config.NumberColumn(format="%.4f"), **number},
    )


@lru_cache(maxsize=32)
def _step_effects_html(number: int, created: float, done: int, failed: int) -> str:
    """Return the effects of the steps, computed again after new rows."""
    return step_effects_html(summary(number))


def _draw_pictures(results: RunSummary) -> None:
    """Draw the choice of two metrics, and the plots."""
    table = results.table()
    key_suffix = f"_{results.defaults.question_metric}"  # runs of other kinds have other choices
    nonzero_metrics = [
        name for name in results.reported_metrics if any(row[name].mean for row in table.values())
    ]
    costs = [
        name
        for name in ("seconds", "tokens", "texts", "build_tokens", "build_seconds")
        if name in nonzero_metrics
    ]
    qualities = [name for name in nonzero_metrics if metric(name).better == "higher"]
    if not qualities:
        caption("There is nothing to draw yet.")
        return
    # First the metric on which the recommendation rests, then those of the Pareto fronts.
    front_qualities = [quality for _, quality in results.fronts]
    candidates = (ranking_metric(results), *front_qualities, *qualities)
    default_quality = next(name for name in candidates if name in qualities)
    with st.container(horizontal=True):
        quality = st.selectbox(
            tr("Quality"),
            qualities,
            qualities.index(default_quality),
            format_func=_title,
            width=260,
            key=f"figures_quality{key_suffix}",
            persist_state="session",
        )
        cost = None
        if costs:
            cost = st.selectbox(
                tr("Against"),
                costs,
                format_func=_title,
                width=260,
                key=f"figures_cost{key_suffix}",
                persist_state="session",
            )
    figures_by_name = {"front": plots.front_plot(results, table, cost, quality)} if cost else {}
    figures_by_name |= plots.funnels(results)
    for name in BUDGET_METRICS:
        if budget_lines := budget_curves(results, name):
            figures_by_name[name] = plots.budget_plot(results, budget_lines, name)
    if len(results.by_hops()) > 1:
        figures_by_name["hops"] = plots.hops_plot(results, quality)
    for operator, parameter in varied_parameters(results):
        points = curves(results, operator, parameter, table, quality)
        if points:
            title = tr("{parameter} of {operator}", parameter=parameter, operator=operator)
            noise = curve_noise(results, operator, parameter, quality)
            figure = plots.sensitivity_plot(points, title, quality, noise)
            figures_by_name[f"{operator}-{parameter}"] = plots.add_note(figure, results)
    with st.container(horizontal=True):
        for name, figure in figures_by_name.items():
            with st.container(width=PICTURE_WIDTH):
                st.plotly_chart(figure, key=f"picture-{name}")


def _draw_tests(results: RunSummary) -> None:
    """Draw the paired tests of all methods against a chosen one."""
    titles = method_titles(results.run)
    if len(titles) < 2:
        caption("There is only one method, so there is nothing to compare it with.")
        return
    base = st.selectbox(
        tr("Tested against"),
        list(titles),
        format_func=titles.__getitem__,
        width=320,
        key="figures_base",
        persist_state="session",
    )
    tests = results.paired_tests([(other, base) for other in titles if other != base])
    rows = [
        {
            tr("Method"): titles[test.a],
            tr("Metric"): _title(test.metric),
            tr("Mean difference"): screen_figure(test.metric, test.difference),
            tr("95 % interval"): tr(
                "{low} to {high}",
                low=screen_figure(test.metric, test.low),
                high=screen_figure(test.metric, test.high),
            ),
            "p": test.p,
            tr("p, corrected"): test.p_holm,
            tr("Questions"): test.n,
        }
        for test in tests
    ]
    small = st.column_config.NumberColumn(format="%.4f")
    st.dataframe(rows, hide_index=True, column_config={"p": small, tr("p, corrected"): small})
    caption(
        "A sign-flip permutation test on the questions that gave both a number. The corrected p "
        "is Holm's, over the methods for one metric. With repeats, their variance counts too. "
        "{untested}",
        untested=results.untested_sentence(),
    )


def _draw_meanings(results: RunSummary) -> None:
    """Draw the definition, convention, unit and source of each reported metric."""
    rows = []
    for name in results.reported_metrics:
        texts = metric(name).describe()
        rows.append(
            {
                tr("Metric"): tr(texts["title"]),
                tr("Definition"): f"{tr(texts['definition'])} {tr(texts['convention'])}",
                tr("Unit"): f"{tr(texts['unit'])}, {tr(texts['better'])}",
                tr("Source"): texts["source"],
                tr("Name"): name,
            }
        )
    config = {tr("Definition"): st.column_config.TextColumn(width="large")}
    st.dataframe(rows, hide_index=True, column_config=config, row_height=64)


def _cell(name: str, figure, max_passages: int) -> str:
    """Return a figure with its interval, or a note.

    The note tells that the metric does not apply. It does not if the method returns at most
    `max_passages`, fewer than the metric's cut-off. 0 stands for a metric that applies.
    """
    if max_passages:
        return tr("only {most:,} handed on", most=max_passages)
    return screen_interval(name, figure)


def _noise(part: RunSummary, method: str, name: str) -> str:
    """Return the lowest and highest mean of a method's runs in shade; empty without repeats."""
    spread = part.spread(method, name)
    if spread is None:
        return ""
    return f" ░{screen_figure(name, spread.low)}–{screen_figure(name, spread.high)}░"


def _title(name: str) -> str:
    return tr(metric(name).describe()["title"])


def _help(name: str) -> str:
    description = metric(name).describe()
    return plain(f"{tr(description['definition'])} {tr(description['convention'])}")

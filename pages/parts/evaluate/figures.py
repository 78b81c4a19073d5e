"""Results of an evaluation run: recommendation, metrics, plots, paired tests and questions.

The page Evaluate draws them in tabs, also while the run is going on.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import streamlit as st

from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.defaults import defaults_for
from core.evaluation.reports import plots
from core.evaluation.reports.budget_curves import BUDGET_METRICS, budget_curves
from core.evaluation.reports.export import format_figure, with_interval
from core.evaluation.reports.method_names import method_titles
from core.evaluation.reports.ranks import ranking_metric
from core.evaluation.reports.sensitivity import curves, varied_parameters
from core.evaluation.reports.steps_table import step_effects_html
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.saved_sources import sources_of
from core.evaluation.runs.store import Run
from pages.parts.evaluate.loss_causes import draw_loss_causes, has_own_method
from pages.parts.evaluate.loss_repairs import draw_repairs
from pages.parts.evaluate.method_changes import draw_changes
from pages.parts.evaluate.pairs import can_be_judged, draw_judged_pairs
from pages.parts.evaluate.questions import draw_questions
from pages.parts.evaluate.recommendation import draw_recommendation, recommend
from pages.parts.evaluate.run_progress import summary
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

PICTURE_WIDTH = 465  # width in pixels; two pictures fit side by side on a wide screen


def run_facts(run: Run) -> str:
    """Return the settings of a run in one line."""
    spec = run.spec
    sources = sources_of(spec)
    source_texts = (f"{source.noun} “{source.name}”" for source in sources)
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


def set_titles(run: Run) -> str:
    """Return the quoted titles of a run's question sets.

    A set that its source no longer has is given by its name.
    """
    titles: dict[str, str] = {}
    for source in sources_of(run.spec):
        titles |= source.sets
    names = (name.strip() for name in run.spec["set"].split(","))
    return ", ".join(f"“{titles.get(name, name)}”" for name in names)


def draw_figures(run: Run) -> None:
    """Draw all results of a run so far."""
    results = summary(run.id)
    if progress_text := results.progress_text():
        st.warning(
            plain(tr("Figures of what is done so far; {so_far}.", so_far=progress_text)),
            icon=":material/hourglass_top:",
        )
    draw_recommendation(run)
    names = [
        tr("Figures"),
        tr("What changed"),
        tr("Repairs"),
        tr("Pictures"),
        tr("Paired tests"),
        tr("Questions"),
        tr("What the metrics mean"),
    ]
    # Tabs that only some runs have, with the condition and the function that draws them.
    extra_tabs = {
        tr("Judged in pairs"): (can_be_judged, draw_judged_pairs),
        tr("Why yours lost"): (has_own_method, draw_loss_causes),
    }
    draw_by_name = {name: draw for name, (applies, draw) in extra_tabs.items() if applies(results)}
    # The open tab is in the address, so that a reload returns to it.
    tabs = st.tabs([*names, *draw_by_name], key=Session.evaluate_part.name, bind="query-params")
    table, changed, repairs_tab, pictures, tests, questions_tab, meanings = tabs[: len(names)]
    for tab, draw in zip(tabs[len(names) :], draw_by_name.values()):
        if tab.open:  # first, because the user waits for the open tab
            with tab:
                draw(results)
    with table:
        _draw_table(results)
    # These two tabs compute for seconds, so they are drawn only when they are open.
    if changed.open:
        with changed:
            draw_changes(results)
    if repairs_tab.open:
        with repairs_tab:
            draw_repairs(results)
    with pictures:
        _draw_pictures(results)
    with tests:
        _draw_tests(results)
    with questions_tab:
        draw_questions(results)
    with meanings:
        _draw_meanings(results)


def _draw_table(results: RunSummary) -> None:
    """Draw the chosen metrics by method, with notes on them.

    The effects and costs of the steps follow.
    """
    names = st.multiselect(
        tr("Metrics"),
        results.reported_metrics,
        list(results.defaults.table_metrics),
        format_func=_title,
        key=f"figures_metrics_{results.defaults.question_metric}",
        persist_state="session",
    )
    if not names:
        return
    part = _choose_hops(results)  # the results of all questions, or of those with some hops
    figures = part.table(names)
    titles = method_titles(results.run)
    advice = recommend(results.run) if part is results else None
    rows = []
    for method, figure_by_name in figures.items():
        row: dict[str, Any] = {tr("Method"): titles[method]}
        if advice is not None and len(advice.ranks) > 1:
            row[tr("Rank")] = advice.ranks.get(method)
        if part is not results:
            row[tr("Questions")] = f"{len(part.rows_of(method)):,}"
        elif results.unfinished_row_counts and results.done_text(method):
            row[tr("Questions")] = results.done_text(method)
        for name in names:
            row[name] = _cell(
                name, figure_by_name[name], part.max_passages_below_cutoff(method, name)
            )
        rows.append(row)
    config = {name: st.column_config.TextColumn(_title(name), help=_help(name)) for name in names}
    config[tr("Rank")] = st.column_config.NumberColumn(
        help=tr("Methods share a rank if no paired test shows a difference."), width=60
    )
    st.dataframe(
        rows,
        hide_index=True,
        column_config={tr("Method"): st.column_config.TextColumn(pinned=True), **config},
    )
    caption(
        "Mean and 95 % bootstrap interval over the questions; the same questions are drawn again "
        "for every method. Failed ones score 0."
    )
    if not any(row.question.answers or row.question.gold for row in results.rows):
        pairs_text = tr("Where a language model answers, another tab holds")
        if can_be_judged(results):
            pairs_text = tr("The tab “Judged in pairs” holds")
        sentence = tr(
            "These questions have no correct answers and no evidence, so only costs are shown."
        )
        note = tr(
            "{sentence} {judged} the answers of several methods against one another.",
            sentence=sentence,
            judged=pairs_text,
        )
        st.info(plain(note))
    for method in results.methods:
        without = part.counts(method)["without_context"]
        if without:
            caption(
                "{method}: {without:,} without any triple (counted as they are).",
                method=titles[method],
                without=without,
            )
    for sentence in [
        *part.failure_sentences(),
        *part.answer_fault_sentences(),
        *part.missing_depth_sentences(names),
        *part.external_result_sentences(),
    ]:
        st.caption(plain(sentence))
    run = results.run
    if effects := _step_effects_html(run.id, run.created, run.done, run.failed):
        st.markdown(tr("**What each step is worth**"))
        st.html(effects)
    _draw_step_costs(results)


def _choose_hops(results: RunSummary) -> RunSummary:
    """Draw the choice of a number of hops, and return the results of its questions.

    Nothing is drawn, and `results` are returned, if the questions do not differ in their hops.
    """
    by_hops = results.by_hops()
    if len(by_hops) < 2:
        return results
    labels = {"all": tr("All questions"), None: tr("Hops not given")}
    choice = st.segmented_control(
        tr("Questions"),
        ["all", *by_hops],
        default="all",
        format_func=lambda hop: labels[hop] if hop in labels else many(hop, "hop"),
        key="figures_hops",
        persist_state="session",
    )
    return results if isinstance(choice, str) else by_hops.get(choice, results)


def _draw_step_costs(results: RunSummary) -> None:
    """Draw the average cost per question of each step."""
    titles = method_titles(results.run)
    st.markdown(tr("**Average cost per step**"))
    rows = []
    for method in results.methods:
        for step in results.operators(method):
            rows.append(
                {
                    tr("Method"): titles[method],
                    tr("Step"): step["operator"],
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
            figure = plots.sensitivity_plot(points, title, quality)
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
            tr("Mean difference"): format_figure(test.metric, test.difference),
            tr("95 % interval"): tr(
                "{low} to {high}",
                low=format_figure(test.metric, test.low),
                high=format_figure(test.metric, test.high),
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
        "is Holm's, over the methods for one metric. {untested}",
        untested=results.untested_sentence(),
    )


def _draw_meanings(results: RunSummary) -> None:
    """Draw the definition, convention, unit and source of each reported metric."""
    for name in results.reported_metrics:
        description = metric(name).describe()
        with st.expander(f"{plain(tr(description['title']))} `{name}`"):
            st.text(tr(description["definition"]))
            st.text(tr(description["convention"]))
            source = ""
            if description["source"]:
                source = tr(" Source: {source}.", source=description["source"])
            caption(
                "Unit: {unit}; {better} is better.{source}",
                unit=tr(description["unit"]),
                better=tr(description["better"]),
                source=source,
            )


def _cell(name: str, figure, max_passages: int) -> str:
    """Return a figure with its interval, or a note.

    The note tells that the metric does not apply. It does not if the method returns at most
    `max_passages`, fewer than the metric's cut-off. 0 stands for a metric that applies.
    """
    if max_passages:
        return tr("only {most:,} handed on", most=max_passages)
    return with_interval(name, figure)


def _title(name: str) -> str:
    return tr(metric(name).describe()["title"])


def _help(name: str) -> str:
    description = metric(name).describe()
    return plain(f"{tr(description['definition'])} {tr(description['convention'])}")

"""Search for a method: form, progress, results and final test.

The search tries combinations of operators on some questions. It looks for the Pareto front of
quality against seconds or tokens. The best methods within the budget are then compared with
published ones on unseen questions. A tab of the page Evaluate shows this.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.defaults import defaults_for
from core.evaluation.reports.export import screen_figure
from core.evaluation.runs.plan import source_of
from core.evaluation.search.plot import search_plot
from core.evaluation.search.points import SearchPoint, pareto_points
from core.evaluation.search.space import DEFAULT_KINDS, OPERATOR_KINDS
from core.evaluation.search.space_texts import ASKING_KIND
from core.evaluation.search.verdict import (
    MAX_COMPARED_POINTS,
    SearchPlan,
    SearchVerdict,
    line_name,
    plan_search,
    reference_lines,
    search_seconds,
    start_search,
)
from core.io.durations import duration_text
from core.methods.catalogue import save_method
from core.runtime.jobs import JOB_CANCELLED
from core.sources import AnswerSource
from pages.parts.evaluate.form import seconds_by_runs
from pages.parts.methods.facets import saved_heading
from pages.parts.question.permalink import Permalink
from pages.parts.question.question_sets import (
    default_set_selection,
    draw_no_questions,
    question_set_source,
)
from pages.parts.shared.actions import button, result_of
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine, methods, show_job, store
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

# Default sets of the form, if the graph has them: to search with, and for the final test.
TUNING_SETS = ("metaqa-1hop-dev", "metaqa-2hop-dev", "metaqa-3hop-dev")
UNSEEN_SETS = ("metaqa-1hop-test", "metaqa-2hop-test", "metaqa-3hop-test")
OTHER_QUESTIONS_NOTE = tr("From a set that is also searched with, other questions are taken.")
MODEL_CALLS_HELP = tr(
    "For keywords, names, missing evidence and points; for answers only where the quality is "
    "measured on them."
)
SEARCH_PARAMETER = "search"  # query parameter with the id of a search
COST_NOUNS = {"seconds": tr("seconds"), "tokens": tr("tokens")}
COST_UNITS = {"seconds": tr("s"), "tokens": tr("tokens")}
HOPS_TITLE = re.compile(r"(\d+) hops?\b")  # begin of the title of a set with one number of hops
MAX_RECENT_SEARCHES = 32  # searches that the server remembers
_plans: dict[str, SearchPlan] = {}  # by id, latest last
SECONDS_NOTE = tr(
    "Seconds are those of the steps, one question at a time, with models loaded and nothing "
    "reused between methods. They depend on what else this machine does."
)


def draw_search() -> None:
    """Draw the form, and the search of the address.

    If the address names none, it is the last search of the session.
    """
    write(
        "Searches thousands of step combinations. The best ones are compared with published "
        "methods on questions that the search never saw."
    )
    options = _draw_form()
    if options is not None:
        _start_search(options)
    search_id = st.query_params.get(SEARCH_PARAMETER) or session.search_last
    if search_id in _plans:
        _draw_plan(_plans[search_id])
    elif search_id:
        st.info(
            tr(
                "The server was restarted since this search. What was tried is saved: start "
                "it with the same settings to resume."
            )
        )


def _start_search(options: dict[str, Any]) -> None:
    """Start a search with these values, or draw the error.

    The id of the search is written into the address, so that a reload or another tab shows it too.
    """
    st.query_params.pop(SEARCH_PARAMETER, None)
    del session.search_last
    with st.spinner(tr("Opening the graph or documents"), show_time=True):
        plan = result_of(lambda: _make_plan(options))
    if plan is None or result_of(lambda: start_search(engine(), store(), plan)) is None:
        return
    search_id = plan.search.file.stem
    _plans.pop(search_id, None)  # so that it moves to the end
    _plans[search_id] = plan
    while len(_plans) > MAX_RECENT_SEARCHES:
        _plans.pop(next(iter(_plans)))  # the oldest
    st.query_params[SEARCH_PARAMETER] = session.search_last = search_id


def _draw_form() -> dict[str, Any] | None:
    """Draw the form, and return its values once it is sent.

    It is one sentence with three blanks, and the rest under “Details”. Return None before it is
    sent. The values are arguments of `plan_search`, except for `sets`, `sample`, `unseen` and
    `unseen_sample`.
    """
    source = question_set_source()
    if not source.sets:
        draw_no_questions(source)
        return None
    with st.container(border=True, key="search_form-box"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(tr("Find a method that gives"), width="content")
            quality = st.selectbox(
                tr("Optimise for"),
                defaults_for(source).quality_metrics,
                format_func=_quality_words,
                key=f"search_quality_{source.kind}",
                label_visibility="collapsed",
                width=270,
                persist_state="session",
            )
            st.markdown(tr("on"), width="content")
            tuning = _choose_tuning_sets(source)
            st.markdown(tr("within"), width="content")
            budget, cost = _choose_budget()
            st.markdown(tr("a question."), width="content")
        options = {"sets": tuning, "quality": quality, "cost": cost, "budget": budget}
        with st.expander(tr("Details")):
            options |= _draw_details(source, tuning)
        label, basis = _search_words(source, options)
        with st.container(horizontal=True, vertical_alignment="center"):
            sent = button(label, key="search_form-go", type="primary", icon="travel_explore")
            st.caption(plain(basis))
    return options if sent else None


def _choose_budget() -> tuple[float, str]:
    """Draw the blank of the budget, and return it with the metric of cost."""
    budget = st.number_input(
        tr("Average budget per question"),
        0.001,
        1e6,
        1.0,
        format="%g",
        key="search_budget",
        label_visibility="collapsed",
        width=120,
        persist_state="session",
    )
    cost = st.segmented_control(
        tr("Budget in"),
        list(COST_UNITS),
        default="seconds",
        required=True,
        format_func=COST_UNITS.__getitem__,
        key="search_cost",
        label_visibility="collapsed",
        persist_state="session",
    )
    return float(budget), cost


def _choose_tuning_sets(source: AnswerSource) -> list[str]:
    """Draw the blank of the sets to search with, and return their names."""
    key = f"search_sets_{source.kind}_{source.name}"
    default = _default_sets(source, TUNING_SETS)
    chosen = Session.widget_value[key].value
    titles = [source.sets[name] for name in (default if chosen is None else chosen)]
    with st.popover(plain(sets_words(titles))):
        return st.multiselect(
            tr("Questions to search with"),
            list(source.sets),
            default,
            format_func=source.sets.__getitem__,
            placeholder=tr("choose one or more sets"),
            key=key,
            select_all=False,
            persist_state="session",
            wrap=True,
        )


def _default_sets(source: AnswerSource, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in source.sets] or default_set_selection(source.sets)


def sets_words(titles: Sequence[str]) -> str:
    """Return the titles of sets in short.

    >>> from pages.parts.evaluate.method_search import sets_words
    >>> sets_words(["1 hop, development", "3 hops, development"]), sets_words(["Mine"])
    ('1 to 3 hops', 'Mine')
    """
    hops = [match[1] for title in titles if (match := HOPS_TITLE.match(title))]
    if len(titles) > 1 and len(hops) == len(titles):
        return tr("{low} to {high} hops", low=min(hops), high=max(hops))
    return titles[0] if len(titles) == 1 else many(len(titles), "question set")


def _quality_words(name: str) -> str:
    """Return a metric as the words that a method gives, or else its title."""
    words = {
        "reader_hit@1": tr("the first answer right"),
        "passage_recall": tr("the passages with the evidence"),
    }
    return words.get(name) or tr(metric(name).describe()["title"])


def _draw_details(source: AnswerSource, tuning: Sequence[str]) -> dict[str, Any]:
    """Draw the numbers of questions and methods, and the kinds of steps."""
    left, right = st.columns(2)
    with left:
        sample = _draw_number(tr("Questions per set"), "search_sample", 1000, 8)
        unseen = st.multiselect(
            tr("Test questions (unseen)"),
            list(source.sets),
            _default_sets(source, UNSEEN_SETS) if not source.is_corpus else list(tuning),
            format_func=source.sets.__getitem__,
            key=f"search_unseen_{source.kind}_{source.name}",
            help=OTHER_QUESTIONS_NOTE,
            select_all=False,
            persist_state="session",
            wrap=True,
        )
        n_unseen = _draw_number(tr("Test questions per set"), "search_unseen_sample", 10_000, 20)
    with right:
        trials = _draw_number(tr("Methods to try"), "search_trials", 1000, 25)
        seed = st.number_input(tr("Seed"), 0, 2**31, 0, key="search_seed", persist_state="session")
        kinds, calls = _choose_asking_kinds() if source.is_corpus else (_choose_kinds(), 0)
    st.caption(SECONDS_NOTE)
    options = {"sample": sample, "unseen": unseen, "unseen_sample": n_unseen, "trials": trials}
    options |= {"seed": int(seed), "kinds": tuple(kinds)}
    return options | {"calls": calls} if calls else options


def _draw_number(label: str, key: str, highest: int, default: int) -> int:
    return int(st.number_input(label, 1, highest, default, key=key, persist_state="session"))


def _search_words(source: AnswerSource, options: dict[str, Any]) -> tuple[str, str]:
    """Return the label of the button with the expected time, and a sentence on what it rests on.

    Without a budget of seconds, the time is not known.
    """
    if options["cost"] != "seconds" or not options["sets"]:
        return tr("Search"), ""
    published = reference_lines(methods(), engine().models, source)
    costs = [seconds_by_runs([method]) for method in published]
    seconds = search_seconds(
        [each for each, _ in costs],
        options["budget"],
        trial_questions=options["trials"] * len(options["sets"]) * options["sample"],
        unseen_questions=len(options["unseen"]) * options["unseen_sample"],
    )
    basis = ""
    if guesses := sum(bool(guessed) for _, guessed in costs):
        basis = tr(
            "Guessed: {guesses:,} of {n:,} published methods were never run here.",
            guesses=guesses,
            n=len(costs),
        )
    return tr("Search, about {time}", time=duration_text(seconds)), basis


def _choose_kinds() -> list[str]:
    """Draw and return the kinds of operators to combine on triples."""
    return st.multiselect(
        tr("Use steps from"),
        list(OPERATOR_KINDS),
        list(DEFAULT_KINDS),
        format_func=OPERATOR_KINDS.__getitem__,
        key="search_kinds",
        select_all=False,
        persist_state="session",
        wrap=True,
    )


def _choose_asking_kinds() -> tuple[list[str], int]:
    """Draw and return the kinds of operators, and the most model calls.

    This is for searches on documents. 0 calls if no language model may be asked.
    """
    if not st.toggle(
        tr("Ask language models too"),
        key="search_asks",
        persist_state="session",
        help=MODEL_CALLS_HELP,
    ):
        return list(DEFAULT_KINDS), 0
    calls = st.number_input(
        tr("Calls of language models, at most"),
        1,
        100_000,
        200,
        key="search_calls",
        persist_state="session",
    )
    return [*DEFAULT_KINDS, ASKING_KIND], int(calls)


def _make_plan(options: dict[str, Any]) -> SearchPlan:
    settings = dict(options)
    sets, unseen = ",".join(settings.pop("sets")), ",".join(settings.pop("unseen"))
    references = reference_lines(methods(), engine().models, source_of(sets))
    return plan_search(
        engine(),
        sets,
        settings.pop("sample"),
        unseen,
        settings.pop("unseen_sample"),
        published=references,
        only_affordable=True,
        **settings,
    )


def _draw_plan(plan: SearchPlan) -> None:
    """Draw the progress of a search and its results so far.

    Results from before a cancellation or a failure are drawn too.
    """
    job = engine().evaluations.get(f"search-{plan.search.file.stem}")
    config = plan.search.config
    asks = ""
    if config.may_ask_model:
        asks = tr(", {calls} of language models", calls=many(config.calls, "call"))
    questions_text = tr(
        "{methods} on {questions} of {set}",
        methods=many(config.trials, "method"),
        questions=many(len(config.tuning.drawn), "question"),
        set=_tuning_title(plan),
    )
    quality_title = tr(metric(config.quality).describe()["title"]).lower()
    caption(
        "A search: {on}, for {good}, within {budget:g} {cost} a question{asks}.",
        on=questions_text,
        good=quality_title,
        budget=config.budget,
        cost=COST_NOUNS[config.cost],
        asks=asks,
    )
    if job is not None and not job.has_ended:
        show_job(job, tr("Searching"))
    if job is not None and job.error:
        st.error(plain(job.error))
    if job is not None and job.status == JOB_CANCELLED:
        st.info(tr("Cancelled. What was tried is kept."))
    if job is None or job.error or job.status == JOB_CANCELLED:
        button(
            tr("Go on searching"),
            partial(_continue_search, plan),
            key="search-on",
            icon="play_arrow",
        )
    # The verdict is that of the final test, None before it.
    points, verdict = job.result if job is not None and job.result else (plan.search.points(), None)
    if not points:
        return
    best = pareto_points(points)
    _draw_advice(plan, verdict, best, has_ended=job is not None and bool(job.result))
    st.plotly_chart(
        search_plot(points, verdict, config.quality, config.cost, config.budget), key="search_plot"
    )
    if verdict is not None:
        _draw_verdicts(verdict)
    if config.may_ask_model:
        calls_text = tr(
            "Language models were asked {times}, of {calls:,} that were allowed",
            times=many(plan.search.count_calls(), "time"),
            calls=config.calls,
        )
        caption(
            "{asked_of}; {points:,} of {lines} were tried.",
            asked_of=calls_text,
            points=len(points),
            lines=many(config.trials, "method"),
        )
    if verdict is None and (why := plan.skipped_comparison_reason(best[:MAX_COMPARED_POINTS])):
        st.info(plain(why))
    if not best:
        st.warning(tr("No method that was tried keeps within the budget."))
    selected = _draw_table(points, best, config)
    if selected is not None:
        _draw_save_form(selected, plan, verdict)


def _draw_advice(
    plan: SearchPlan, verdict: SearchVerdict | None, best: Sequence[SearchPoint], has_ended: bool
) -> None:
    """Draw the sentence that says what to take, and how many published methods were left out."""
    config = plan.search.config
    if verdict is not None:
        st.markdown(f"**{plain(verdict.advice())}**")
    elif best and has_ended:
        sentence = tr(
            "Take {name}: {quality} at {cost} on the questions of the search; it was not compared.",
            name=line_name(best[0]),
            quality=screen_figure(config.quality, best[0].figures.quality),
            cost=f"{screen_figure(config.cost, best[0].figures.cost)} {COST_UNITS[config.cost]}",
        )
        st.markdown(f"**{plain(sentence)}**")
    if plan.left_out:
        caption(
            "{methods} left out: over {budget:g} {unit} a question on the first questions.",
            methods=many(len(plan.left_out), "published method"),
            budget=config.budget,
            unit=COST_UNITS[config.cost],
        )


def _tuning_title(plan: SearchPlan) -> str:
    """Return the titles of the sets that are searched with."""
    tuning = plan.search.config.tuning
    titles = tuning.drawn[0].address.sets
    return ", ".join(titles.get(name.strip(), name.strip()) for name in tuning.set.split(","))


def _continue_search(plan: SearchPlan) -> None:
    start_search(engine(), store(), plan)


def _draw_verdicts(verdict: SearchVerdict) -> None:
    """Draw the result of the final test in words.

    It begins with the best method of the search.
    """
    for index, opponent in enumerate(verdict.comparisons):
        sentence = f"{verdict.words(opponent)}."
        if index:
            st.caption(plain(sentence))
        elif opponent.is_better:
            st.success(plain(sentence))
        else:
            st.info(plain(sentence))
    margin_text = tr(
        "On {questions} unseen questions, each asked of every method in turn, with 95 % intervals",
        questions=verdict.questions,
    )
    caption(
        "{how}. The p-values are corrected for the number of methods compared with the "
        "published one (Holm).",
        how=margin_text,
    )
    for failed in verdict.failed:
        st.caption(plain(failed))
    st.link_button(
        tr("Every question on Evaluate"),
        f"./evaluate?run={verdict.run}",
        icon=":material/bar_chart:",
        type="tertiary",
    )


def _draw_table(
    points: Sequence[SearchPoint], best: Sequence[SearchPoint], config
) -> SearchPoint | None:
    """Draw the tried lines, and return the selected one.

    Those of the Pareto front come first. Without a selection it is the best one; None if the front
    is empty.
    """
    order = [*best, *(point for point in points if point not in best)]
    rows = [
        {
            tr("Candidate"): point.number,
            config.quality: screen_figure(config.quality, point.figures.quality),
            config.cost: screen_figure(config.cost, point.figures.cost),
            tr("Outcome"): _outcome_words(point, best),
            tr("Questions"): point.figures.asked,
            tr("Steps"): point.line.words(),
        }
        for point in order
    ]
    columns = {
        tr("Candidate"): st.column_config.NumberColumn(width=80, pinned=True),
        config.quality: st.column_config.TextColumn(
            tr(metric(config.quality).describe()["title"]), width=130
        ),
        config.cost: st.column_config.TextColumn(COST_NOUNS[config.cost].capitalize(), width=80),
        tr("Outcome"): st.column_config.TextColumn(width=180),
        tr("Questions"): st.column_config.NumberColumn(width=80),
    }
    event = st.dataframe(
        rows,
        hide_index=True,
        column_config=columns,
        on_select="rerun",
        selection_mode="single-row",
        key="search_table",
        height=280,
    )
    if event.selection.rows and event.selection.rows[0] < len(order):
        return order[event.selection.rows[0]]
    return best[0] if best else None


def _outcome_words(point: SearchPoint, best: Sequence[SearchPoint]) -> str:
    """Return the outcome of a tried line: whether it is best at its cost, or why it stopped."""
    parts = [tr("best at its cost") if point in best else "", point.figures.stopped]
    return "; ".join(filter(None, [*parts, point.figures.words()]))


def _draw_save_form(point: SearchPoint, plan: SearchPlan, verdict: SearchVerdict | None) -> None:
    """Draw the form that saves a line, and a link to Compare.

    On Compare it is asked an unseen question, next to the published method of the final test.
    """
    config = plan.search.config
    st.markdown(
        tr("**Candidate {number}**: {words}", number=point.number, words=plain(point.line.words()))
    )
    st.code(repr(point.line), language=None, wrap_lines=True)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.popover(tr("Save as a method"), icon=":material/bookmark_add:"):
            name = st.text_input(tr("Name"), key="search_name", max_chars=80)
            if button(tr("Save"), key="search_save", type="primary"):
                notes = tr(
                    "Found by a search on {set} for {quality} under {budget:g} {cost} a question.",
                    set=config.tuning.set,
                    quality=config.quality,
                    budget=config.budget,
                    cost=COST_NOUNS[config.cost],
                )
                method = result_of(lambda: save_method(name, point.line, notes))
                session.search_saved = (repr(point.line), method.title if method else "")
                if method:
                    st.rerun()  # The list of methods above was drawn without the new one.
        drawn = (plan.unseen or config.tuning).drawn[0]
        question = drawn.question
        lanes = (verdict.best.id, repr(point.line)) if verdict else (repr(point.line),)
        link = Permalink(
            question.text, question.entities, question.answers, lanes, drawn.address, model=False
        )
        st.link_button(
            tr("Open in Compare"),
            link.address("./"),
            icon=":material/view_column:",
            help=tr("In a new tab, on an unseen question."),
        )
    line, title = session.search_saved
    if title and line == repr(point.line):
        text = tr(
            "Saved as “{title}”. It is under “{saved}” wherever a method is chosen.",
            title=title,
            saved=saved_heading(),
        )
        st.success(plain(text))

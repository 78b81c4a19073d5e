"""Form of a new evaluation on the chosen graph or documents."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import streamlit as st

from core.errors import HopscopeError
from core.evaluation.metrics.defaults import defaults_for
from core.evaluation.repairs.reading_run import start_readings
from core.evaluation.reports.time_estimates import expected_seconds, measured_seconds
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import SUPPORT_BY_ENCODER, SUPPORT_BY_MODEL, make_plan
from core.evaluation.runs.repeats import (
    AA_RUNS,
    MAX_RUNS,
    aa_offer,
    repeated,
    sampled_method,
    with_repeats,
)
from core.io.durations import duration_text
from core.methods.catalogue import Method
from core.methods.prompt_variants import methods_with_prompt, published_prompts
from core.models.chat.saved_replies import SavedReplies
from core.models.price import Cap
from core.prompts import MAX_TEMPLATE_CHARACTERS
from core.sources import AnswerSource
from pages.parts.bringing.drop_zone import drop_zone
from pages.parts.bringing.finished_run import draw_saved_runs, questions_of_runs
from pages.parts.evaluate.question_writer import draw_question_writer
from pages.parts.methods.options import method_options
from pages.parts.question.question_sets import (
    default_set_selection,
    draw_no_questions,
    question_set_source,
)
from pages.parts.shared.actions import button, shown_errors
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, methods, store
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.spending import draw_spending_limit
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

MAX_SERVER_REQUESTS = 1024  # most parallel requests per server
OWN_PROMPT = "own"  # the entry for the user's own prompt
OWN_PROMPT_TEMPLATE = tr("Facts:\n{paths}\n\nQuestion: {question}\nAnswer:")
SUPPORT_JUDGES = {
    SUPPORT_BY_ENCODER: tr("by the encoder"),
    SUPPORT_BY_MODEL: tr("by a language model"),
}


def draw_new_run() -> None:
    """Draw the form, and start the evaluation when it is sent.

    Without questions, only the ways to add some are drawn.
    """
    source = question_set_source()
    titles = {**source.sets, **questions_of_runs(source)}
    if not titles:
        draw_no_questions(source)
        _draw_more_questions(source)
        return
    methods_by_id = {id: method for id, method in methods().items() if method.is_for(source)}
    if session.evaluate_sets or session.evaluate_imported_methods:  # a link has brought them
        session.evaluate_form = True
    with st.expander(
        tr("New evaluation"),
        not store().runs(),
        icon=":material/add:",
        key=Session.evaluate_form.name,
        on_change="rerun",
    ):
        sets = _choose_sets(source, titles)
        method_ids = _choose_methods(source, methods_by_id)
        size, seed, repeats, rebuild = _choose_sample(source)
        settings = _choose_settings(source)
        selected = [methods_by_id[id] for id in method_ids]
        has_valid_prompt = True
        if settings["model"]:
            selected, has_valid_prompt = _choose_prompt(selected)
        max_concurrent, cap, has_valid_cap = _choose_server_limits()
        n_questions = _count_questions(source, sets, size)
        is_valid = has_valid_cap and has_valid_prompt
        settings |= {"max_concurrent": max_concurrent, "cap": cap}
        sampled = sampled_method(selected, engine().models, settings["model"])
        is_aa_run = _draw_aa_offer(selected, settings["model"], repeats, is_valid)
        if is_aa_run and sampled is not None:
            begin_run([sampled], sets, size, seed, repeats=AA_RUNS, **settings)
        runs = repeated(selected, repeats, engine().models, settings["model"], rebuild)
        if _draw_start(runs, n_questions, settings["model"], is_valid):
            settings |= {"repeats": repeats, "rebuild": rebuild}
            begin_run(selected, sets, size, seed, **settings)
    _draw_more_questions(source)


def _choose_sample(source: AnswerSource) -> tuple[int, int, int, bool]:
    """Draw and return the choices of the sample and its repeats.

    They are the number of questions per set, the seed, the runs of a method, and whether graphs are
    built again for each.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        size = st.number_input(
            tr("Questions per set"),
            1,
            100_000,
            50,
            width=190,
            key="evaluate_size",
            persist_state="session",
        )
        seed = st.number_input(
            tr("Seed"),
            0,
            2**31 - 1,
            0,
            width=120,
            help=tr("The same seed draws the same questions, on any computer."),
            key="evaluate_seed",
            persist_state="session",
        )
        repeats = st.number_input(
            tr("Repeats"),
            1,
            MAX_RUNS,
            1,
            width=120,
            help=tr("Runs of each method with chance, with other seeds. Others run once."),
            key="evaluate_repeats",
            persist_state="session",
        )
        rebuild = source.is_corpus and repeats > 1 and _choose_rebuild()
    return int(size), int(seed), int(repeats), rebuild


def _choose_rebuild() -> bool:
    """Draw the switch to build graphs again for each repeat, and return its state."""
    return st.toggle(
        tr("Build graphs again"),
        help=tr(
            "For each repeat, with other seeds of clusters, communities and sampled language models. "
            "It takes as long as on Texts, which the time beside Start leaves out."
        ),
        key="evaluate_rebuild",
        persist_state="session",
    )


def _draw_aa_offer(selected: list[Method], model: bool, repeats: int, is_valid: bool) -> bool:
    """Draw the offer of an A/A run if one is due, and return whether it was taken."""
    pressed = False
    for sentence in aa_offer(selected, engine().models, model, repeats):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(plain(sentence), width="stretch")
            pressed = button(
                tr("Run A/A first"), key="evaluate-aa", icon="balance", disabled=not is_valid
            )
    return pressed


def _draw_start(selected: list[Method], n_questions: int, model: bool, is_valid: bool) -> bool:
    """Draw the start button with the expected time, and return whether it was pressed."""
    label, basis = _start_words(selected, n_questions, model)
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = button(
            label, key="evaluate-go", type="primary", icon="play_arrow", disabled=not is_valid
        )
        st.caption(basis)
    return pressed


def _count_questions(source: AnswerSource, sets: list[str], size: int) -> int:
    """Return how many questions a run asks, with at most `size` of each set."""
    count = 0
    for name in sets:
        with suppress(HopscopeError):  # an unreadable set is reported at the start
            count += min(size, len(source.questions(name)))
    return count


def _start_words(selected: list[Method], n_questions: int, model: bool) -> tuple[str, str]:
    """Return the label of the start button, with the expected time, and what that rests on.

    The label has no time if nothing is chosen, or if a language model answers whose time is not
    known.
    """
    reply_cost = None
    if model:
        reply_cost = SavedReplies().mean_cost(engine().models.weights("answer"))
    if not (selected and n_questions) or (model and reply_cost is None):
        return tr("Start"), ""
    seconds, guessed = seconds_by_runs(selected)
    seconds += len(selected) * (reply_cost[0] if reply_cost else 0.0)
    basis = ""
    if guessed:
        basis = tr(
            "Never evaluated here, so guessed: {methods}.",
            methods=", ".join(dict.fromkeys(guessed)),
        )
    return tr("Start: about {time}", time=duration_text(seconds * n_questions)), plain(basis)


def seconds_by_runs(selected: Iterable[Method]) -> tuple[float, list[str]]:
    """Return the expected seconds a question of methods together, and the guessed ones by name."""
    return expected_seconds(selected, measured_seconds(store()), engine().expected_seconds)


def _draw_more_questions(source: AnswerSource) -> None:
    """Draw the ways to add questions: finished runs and, on documents, a language model."""
    _draw_import(source)
    if source.is_corpus:
        draw_question_writer(source)


def _draw_import(source: AnswerSource) -> None:
    """Draw the drop zone for finished runs, which become methods, and their list."""
    is_open = session.bring_job is not None and session.bring_job.key.startswith("run-")
    with st.expander(
        tr("Import results from a file"), icon=":material/upload_file:", expanded=is_open
    ):
        caption("What another program found is compared here as a method.")
        drop_zone(source)
        draw_saved_runs(source)


def _choose_sets(source: AnswerSource, titles: dict[str, str]) -> list[str]:
    """Draw the choice of question sets, and return their names.

    Sets to which a link or a button has led are selected once.
    """
    choice = Session.evaluate_set_choice[f"{source.kind}-{source.name}"]
    preselected = [name for name in Session.evaluate_sets.take() if name in titles]
    if preselected:
        choice.value = preselected
    return st.multiselect(
        tr("Questions about {title}", title=plain(source.title)),
        list(titles),
        None if preselected else default_set_selection(titles),
        format_func=titles.__getitem__,
        placeholder=tr("choose one or more sets"),
        select_all=False,
        key=choice.name,
        help=tr(
            "Sets of the graph or documents chosen on the left. Add more on the page Graphs "
            "or Texts."
        ),
        persist_state="session",
    )


def _choose_methods(source: AnswerSource, methods_by_id: dict[str, Method]) -> list[str]:
    """Draw the choice of methods, and return their ids.

    Methods just imported are selected once in addition.
    """
    labels = method_options(methods_by_id)
    choice = Session.evaluate_methods[source.kind]
    default_ids = [key for key in defaults_for(source).methods if key in labels]
    preselected = [key for key in Session.evaluate_imported_methods.take() if key in labels]
    available = [key for key in choice.value if key in labels]  # an import may have been removed
    if preselected or len(available) < len(choice.value):
        choice.value = list(dict.fromkeys([*(available or default_ids), *preselected]))
    return st.multiselect(
        tr("Methods"),
        list(labels),
        None if choice.value else default_ids,
        format_func=labels.__getitem__,
        help=tr("The others are tested against the first."),
        filter_mode="contains",  # of names alone; each comes before those that contain it
        select_all=False,
        key=choice.name,
        persist_state="session",
    )


def _choose_settings(source: AnswerSource) -> dict[str, Any]:
    """Draw and return the settings of models and timing.

    They are arguments of `make_plan`.
    """
    with st.container(horizontal=True):
        model = st.toggle(
            tr("Language model answers"),
            key=Session.evaluate_model.name,
            persist_state="session",
            help=tr(
                "Off: the {source}'s answers are scored.",
                source=defaults_for(source).answer_source,
            ),
        )
        judge = st.toggle(
            tr("Language model judges"),
            key="evaluate_judge",
            persist_state="session",
            help=tr("The model of the role judge says whether each answer is right (Judge@1)."),
        )
        cold = st.toggle(
            tr("Measure speed one by one (slow)"),
            key="evaluate_cold",
            persist_state="session",
            help=tr("Methods share no results, so that their seconds can be compared."),
        )
        reading = st.toggle(
            tr("Retrieval or reading"),
            key="evaluate_reading",
            persist_state="session",
            help=tr(
                "Asks each reader again with nothing and with the evidence alone: at the end, two "
                "calls a question. The limit counts them too."
            ),
        )
        abstract = source.is_corpus and st.toggle(
            tr("Long answers"),
            key="evaluate_abstract",
            persist_state="session",
            help=tr(
                "Answers may have up to 4,096 tokens. Questions that a language model wrote "
                "always allow this."
            ),
        )
    support: list[str] = []
    if source.is_corpus and model:
        support = st.pills(
            tr("Is each sentence of an answer supported by what the prompt showed?"),
            list(SUPPORT_JUDGES),
            selection_mode="multi",
            format_func=SUPPORT_JUDGES.__getitem__,
            key="evaluate_support",
            persist_state="session",
            help=tr("Nearness by the encoder, or the opinion of a language model."),
        )
    return {
        "model": model,
        "judge": judge,
        "cold": cold,
        "support": tuple(support),
        "abstract": abstract,
        "reading": reading,
    }


def _choose_prompt(selected: list[Method]) -> tuple[list[Method], bool]:
    """Draw the choice of a prompt, and return the methods with it.

    The second result is False if the prompt cannot be used. A prompt of the user cannot if it has
    errors; these are drawn. Methods that keep their own prompt are named on the page.
    """
    prompts = published_prompts()
    titles = {
        "": tr("Each method's own"),
        **{name: tr("After {source}", source=source) for name, source in prompts.items()},
        OWN_PROMPT: tr("My own text"),
    }
    prompt = st.selectbox(
        tr("Prompt"),
        list(titles),
        format_func=titles.__getitem__,
        key="evaluate_prompt",
        persist_state="session",
        help=tr(
            "The structure of a prompt that a paper prints, in our own words: for the answer, "
            "and for language models that pick relations or paths. A method that shows "
            "something else keeps its own."
        ),
    )
    if prompt == OWN_PROMPT:
        prompt = st.text_area(
            tr("Your prompt"),
            OWN_PROMPT_TEMPLATE,
            key="evaluate_own_prompt",
            persist_state="session",
            max_chars=MAX_TEMPLATE_CHARACTERS,
            help=tr(
                "{question} is the question; {paths}, or on documents {tables} or {passages}, is "
                "what was found. What comes before a line --- is the system message."
            ),
        )
    if not prompt or not selected:
        return selected, True
    with shown_errors():
        methods, notes = methods_with_prompt(selected, prompt, engine().models.is_chat)
        if notes:
            st.caption(plain(" ".join(notes)))
        return list(methods), True
    return selected, False


def _choose_server_limits() -> tuple[int, Cap | None, bool]:
    """Draw and return the number of parallel requests, the spending limit, and if it is valid.

    0 requests let the run find the best number. The limit is None if there is none.
    """
    with st.expander(tr("Server limits and prices"), icon=":material/dns:"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            max_concurrent = st.number_input(
                tr("Requests at a time"),
                0,
                MAX_SERVER_REQUESTS,
                0,
                width=190,
                key="evaluate_at_once",
                persist_state="session",
                help=tr(
                    "Requests that each server of language models gets at a time. 0 finds "
                    "out: as many as make replies come faster, or at_once in models.toml. Use "
                    "few for a service that limits requests per minute."
                ),
            )
            cap, valid = draw_spending_limit("evaluate_cap")
    return int(max_concurrent), cap, valid


def begin_run(
    selected: list[Method],
    sets: list[str],
    size: int,
    seed: int,
    max_concurrent: int = 0,
    cap: Cap | None = None,
    reading: bool = False,
    repeats: int = 1,
    rebuild: bool = False,
    **settings: Any,
) -> None:
    """Start an evaluation and show it, or draw the error.

    Parameters
    ----------
    selected : the methods.
    sets : names of question sets.
    size, seed : number of questions drawn of each set, and the seed of the draw.
    max_concurrent : most parallel requests per server; 0 finds the best number.
    reading : True to ask the readers again once the run is finished.
    repeats : runs of each method with chance.
    rebuild : True to build graphs again for each repeat.
    settings : as `_choose_settings` returns them.
    """
    with shown_errors():
        with st.spinner(
            tr("Opening the graph or documents and drawing the questions"), show_time=True
        ):
            plan = make_plan(selected, ",".join(sets), size, engine().graph, seed=seed, **settings)
            plan = with_repeats(plan, repeats, engine().models, rebuild)
            job = evaluate(engine(), store(), plan, max_concurrent=max_concurrent, cap=cap)
            if reading:  # its job waits for that of the run
                run = store().run(job.number)
                limits: dict[str, Any] = {"cap": cap, "max_concurrent": max_concurrent}
                start_readings(engine(), store(), run, only_finished=True, **limits)
        st.query_params["run"] = str(job.number)
        st.rerun()

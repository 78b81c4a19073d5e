"""Losses of the methods of a run, and one-step changes that recover some of them.

A changed method can be evaluated with the others.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.evaluation.repairs.tried import Attempt, LineRepairs, job_key, repaired, start
from core.evaluation.reports.flow import measure
from core.evaluation.reports.naming import Called, called
from core.evaluation.reports.summary import Summary
from core.evaluation.runs.starting import beside
from core.evaluation.runs.store import Run
from core.instances.catalogue import Instance
from pages.parts.evaluate.evaluating import job_beside, open_run
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, store
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

SAID = tr(
    "What does each method lose, and would another value or another step bring it back? Changes "
    "of one step are tried on the questions that a method loses, without a language model. One "
    "that brings some back may lose others: evaluate it on all questions."
)


def repairs(results: Summary) -> None:
    """Draw the tab: the start button, the progress, and the results for each method."""
    run = results.run
    st.write(SAID)
    if not measure(results, results.instances):
        caption(
            "Of no question of this evaluation is it known what is right, so nothing is known to "
            "be lost."
        )
        return
    found = job_beside(
        run,
        job_key(run),
        "repairs",
        start,
        tr("Try changes"),
        "build",
        tr("Changes can be tried once the evaluation has ended."),
    )
    names = called(run)
    for one in found:
        _line(run, one, names)


def _line(run: Run, found: LineRepairs, names: dict[str, Called]) -> None:
    """Draw one method's losses, and changes that recover some.

    The best change comes first.
    """
    with st.container(border=True, gap="small"):
        first, *rest = found.sentences(str(names[found.instance]))
        st.markdown(f"**{plain(first)}**")
        helpful = [attempt for attempt in found.attempts if attempt.back]
        if rest and not helpful:
            st.caption(plain(rest[0]))
        for place, attempt in enumerate(helpful):
            _attempt(run, found, attempt, names, f"{found.instance}-{place}")
        without = [attempt for attempt in found.attempts if not attempt.back]
        if helpful and without:
            caption(
                "Tried as well, and brought none back: {changes}.",
                changes="; ".join(attempt.words for attempt in without),
            )


def _attempt(
    run: Run, found: LineRepairs, attempt: Attempt, names: dict[str, Called], key: str
) -> None:
    """Draw a change with its effect, and the button that evaluates it."""
    line = repaired(run, found, attempt, names[found.instance].plain)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"{found.brings(attempt)}.", width="stretch")
        if line is None:
            there = next(
                names[one["id"]] for one in run.spec["instances"] if one["line"] == attempt.spec
            )
            st.caption(plain(tr("That is {there}.", there=there)), width="content")
        else:
            button(
                tr("Evaluate beside the others"),
                partial(_evaluate, run, line),
                key=f"repaired-{key}",
                icon="playlist_add",
                help=tr(
                    "Evaluates the same {questions} with this line too.",
                    questions=many(run.spec["sample"], "question"),
                ),
            )


def _evaluate(run: Run, line: Instance) -> None:
    job = beside(engine(), store(), run, [line])
    open_run(job.number)
    session.evaluate_part = tr("Figures")

"""Changes from one method to another: questions as bands between the stages that lose them.

A click on a band lists its questions.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache, partial
from typing import Any

import streamlit as st

from core.errors import HopscopeError
from core.evaluation.repairs.lost import reopened
from core.evaluation.reports.flow import PASSAGES, READER, Band, Flow, flow, laid_out
from core.evaluation.reports.naming import titles
from core.evaluation.reports.summary import Summary
from core.evaluation.runs.store import Run
from pages.parts.evaluate.evaluating import summary
from pages.parts.evaluate.questions import ask_again, open_question
from pages.parts.evaluate.recommended import advised
from pages.parts.shared.actions import button
from pages.parts.shared.scripts import component
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, store
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

MAX_LISTED = 20  # questions of a band that are listed until the user asks for all
MAX_READ = 100  # questions of a band whose causes are determined
COUNTS_AS_RIGHT = {
    PASSAGES: tr(
        "A question counts as right where all its gold passages come through, into the prompt "
        "where one is written."
    ),
    READER: tr("A question counts as right where the graph reader names a known answer first."),
}
BY_ANSWER = tr("A question counts as right where the answer holds a known answer.")


def what_changed(results: Summary) -> None:
    """Draw the tab.

    It has two methods to choose, the picture, and the questions of the open band.
    """
    names, run = titles(results.run), results.run
    if len(names) < 2:
        caption("There is one method only; what changes is drawn between two.")
        return
    a, b = _between(results, names)
    found = flow(results, a, b) if a != b else None
    if a == b:
        caption("Choose two different methods.")
    elif found is None:
        caption("Of no question that both have is it known what is right, so nothing can be drawn.")
    else:
        causes = _causes(run.id, run.created, run.done, run.failed, a, b)
        _picture(run, found, names, dict(causes))
        _listed(run, found, names, dict(causes))


def _between(results: Summary, names: dict[str, str]) -> tuple[str, str]:
    advice = advised(results.run)
    taken = advice.take if advice is not None and advice.take != results.instances[0] else ""
    options = list(names)
    with st.container(horizontal=True):
        chosen: dict[str, Any] = {
            "format_func": names.__getitem__,
            "width": 420,
            "persist_state": "session",
        }
        a = st.selectbox(tr("From"), options, 0, key=f"flow_from_{results.run.id}", **chosen)
        b = st.selectbox(
            tr("To"),
            options,
            options.index(taken) if taken else 1,
            key=f"flow_to_{results.run.id}",
            **chosen,
        )
    return a, b


def _picture(
    run: Run,
    found: Flow,
    names: dict[str, str],
    causes: dict[tuple[str, str], tuple[tuple[str, int], ...]],
) -> None:
    key = (run.id, found.a, found.b)
    changed = {
        (band.before, band.after): band for band in found.bands if band.kind in ("won", "lost")
    }
    drawn = laid_out(
        found, {at: f"{len(band.questions):,} {band.kind}" for at, band in changed.items()}
    )
    for shown, band in zip(drawn["bands"], found.bands):
        reason = shown["reason"] = _reason(band, causes.get((band.before, band.after), ()))
        shown["title"] = tr(
            "{band}. Press to list them.",
            band=": ".join(filter(None, (_title(band, found, names), reason))),
        )
    what, open_band = session.evaluate_band
    label = tr("From {a} to {b}", a=names[found.a], b=names[found.b])

    def pressed() -> None:
        opened = session.evaluate_flow.opened
        if opened is not None:
            session.evaluate_band = (key, (str(opened[0]), str(opened[1])))

    data = {**drawn, "label": label, "chosen": ">".join(open_band) if what == key else ""}
    less = ""
    if found.left_out:
        less = tr(
            "{questions} without a row of both, or of which nothing is known, left out.",
            questions=many(found.left_out, "question"),
        )
    right = COUNTS_AS_RIGHT.get(found.by, BY_ANSWER)
    st.caption(
        plain(
            " ".join(
                (
                    tr("Each band is questions, n = {n:,}; press one to list them.", n=found.n),
                    right,
                    less,
                )
            )
        )
    )
    component("flow")(key=Session.evaluate_flow.name, data=data, on_opened_change=pressed)


def _title(band: Band, found: Flow, names: dict[str, str]) -> str:
    count = many(len(band.questions), "question")
    before = found.words(band.before)
    after = found.words(band.after)
    if before == after:
        return tr("{count}: {before} with both", count=count, before=before)
    changed = f" {band.kind}" if band.kind in ("won", "lost") else ""
    return tr(
        "{count}{changed}: {before} with {a}, {after} with {b}",
        count=count,
        changed=changed,
        before=before,
        a=names[found.a],
        after=after,
        b=names[found.b],
    )


def _reason(band: Band, causes: tuple[tuple[str, int], ...]) -> str:
    """Return the most frequent cause of a band's change.

    For won questions it is the cause that no longer holds.
    """
    if not causes or band.kind not in ("won", "lost"):
        return ""
    words, count = causes[0]
    share = f" ({count:,})" if count < len(band.questions) else ""
    return (words if band.kind == "lost" else undone(words)) + share


def undone(words: str) -> str:
    """Return the opposite of a cause.

    >>> from pages.parts.evaluate.changed import undone
    >>> undone("not in the prompt"), undone("never reached"), undone("ranked too low")
    ('now in the prompt', 'now reached', 'no longer ranked too low')
    """
    first, _, rest = words.partition(" ")
    if first in ("not", "never"):
        return tr("now {rest}", rest=rest)
    return tr("no longer {words}", words=words)


@lru_cache(maxsize=32)
def _causes(number: int, created: float, done: int, failed: int, a: str, b: str) -> tuple:
    """Return why questions were lost, by band, most frequent cause first with its count.

    For questions that the second method wins, it is the loss of the first; otherwise that of the
    second. Bands of failed questions, and of questions without a change, are left out. A question
    that cannot be opened any more counts with its stage only.
    """
    results = summary(number)
    found = flow(results, a, b)
    drawn = {one.question.id: one for one in store().drawn(number)}
    specs = {one["id"]: one for one in results.run.spec["instances"]}
    causes = []
    for band in found.bands if found is not None else ():
        instance, stage = (a, band.before) if band.kind == "won" else (b, band.after)
        if band.kind not in ("won", "lost") or stage == "failed":
            continue
        words: Counter[str] = Counter()
        for question in band.questions[:MAX_READ]:
            try:
                lost = reopened(engine(), store(), results.run, specs[instance], drawn[question])
            except HopscopeError:
                lost = None
            words[
                lost.words(stage)
                if lost is not None
                # A question that cannot be opened any more counts with its stage only.
                else found.words(stage)  # type: ignore[union-attr]
            ] += 1
        causes.append(((band.before, band.after), tuple(words.most_common())))
    return tuple(causes)


def _listed(
    run: Run,
    found: Flow,
    names: dict[str, str],
    causes: dict[tuple[str, str], tuple[tuple[str, int], ...]],
) -> None:
    """Draw the questions of the open band.

    Buttons open each question, or ask it again.
    """
    what, at = session.evaluate_band
    band = next((one for one in found.bands if (one.before, one.after) == at), None)
    if band is None or what != (run.id, found.a, found.b):
        return
    st.markdown(f"**{plain(_title(band, found, names))}**")
    if reasons := causes.get(at):
        who = names[found.a if band.kind == "won" else found.b]
        caption(
            "Why {who} loses them: {reasons}.",
            who=who,
            reasons=", ".join(f"{words} {count:,}" for words, count in reasons),
        )
    drawn = {one.question.id: one for one in store().drawn(run.id)}
    shown = band.questions
    if len(shown) > MAX_LISTED and not st.toggle(
        tr("Show all {shown:,}", shown=len(shown)), key=f"flow_all_{run.id}"
    ):
        shown = shown[:MAX_LISTED]
    with st.container(border=True, gap="small", key="flow-questions"):
        for question in shown:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(drawn[question].question.text, width="stretch")
                button(
                    tr("Open"),
                    partial(open_question, question),
                    key=f"flow-open-{question}",
                    help=tr("As this evaluation ran it."),
                )
                ask_again(run, drawn[question], (found.a, found.b))

"""Pairwise judgement of answers by a language model.

The judge reads two answers to a question in both orders, and names the better one for several
criteria. A tab of the page Evaluate starts this, and shows win rates, verdicts and doubts.
"""

from __future__ import annotations

import streamlit as st

from core.errors import HopscopeError, split_command
from core.evaluation.metrics.answer_scores import ANSWER_BY_MODEL
from core.evaluation.pairwise.html_report import order_agreement_text, tally_html
from core.evaluation.pairwise.pair_judgements import (
    JUDGE_ROLE,
    PairwiseJudge,
    answer_pairs,
    judging_job_key,
    start_judging,
)
from core.evaluation.pairwise.plot import win_rate_plot
from core.evaluation.pairwise.tally import PairwiseTally
from core.evaluation.pairwise.verdicts import CRITERIA
from core.evaluation.reports.method_names import MethodName, method_names
from core.evaluation.reports.summary import RunSummary
from core.io.durations import rough_range_text
from core.models.chat.saved_replies import SavedReplies
from core.runtime.jobs import JOB_CANCELLED
from pages.parts.shared.actions import button, shown_errors
from pages.parts.shared.job_progress import draw_job, rerun_when_started
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

DOWNLOAD_ICON = ":material/download:"
JUDGING_CANCELLED_NOTE = tr("Cancelled. What was judged is kept, and judging goes on from there.")
MATRIX_WIDTH = 465  # width of a picture in pixels; two fit side by side on a wide screen


def can_be_judged(summary: RunSummary) -> bool:
    """Return whether there are several methods, with answers of a language model."""
    return len(summary.methods) > 1 and any(
        ANSWER_BY_MODEL in summary.answered_by(method) for method in summary.methods
    )


def draw_judged_pairs(summary: RunSummary) -> None:
    """Draw the tab: the start button, the progress, and the results."""
    write(
        "Questions that ask for an overview have no correct answer. A language model says "
        "which of two answers is better. It is asked in both orders, so that a preference for "
        "one position cancels out."
    )
    try:
        judge = PairwiseJudge(summary.methods, answer_pairs(summary), engine().models)
        tally = judge.tally_saved()  # the verdicts so far
    except HopscopeError as error:
        st.info(plain(str(error)))
        return
    job = engine().evaluations.get(judging_job_key(summary))
    if job is not None:
        draw_job(job, "pairs", JUDGING_CANCELLED_NOTE if job.status == JOB_CANCELLED else "")
    if job is None or job.has_ended:
        _draw_start(summary, tally, judge.missing_reply_count)
        rerun_when_started(judging_job_key(summary))
    if tally.matches:
        texts = {pair.question: pair.question_text for pair in judge.pairs}
        _draw_results(tally, method_names(summary.run), texts)


def _draw_start(summary: RunSummary, tally: PairwiseTally, n_missing: int) -> None:
    """Draw the button that starts or continues the judgement.

    `n_missing` is the number of the judge's replies that are not saved yet. Nothing is drawn if all
    pairs are judged.
    """
    n_left = tally.pair_count - len(tally.matches)
    if not n_left:
        return
    model = engine().models.info(JUDGE_ROLE)
    if not model.present:
        st.text(split_command(model.how_to_get)[0])
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        label = tr("Go on judging") if tally.matches else tr("Judge the answers")
        if button(label, key="judge-pairs", type="primary", icon="balance"):
            with shown_errors():
                start_judging(engine(), summary)
                st.rerun()
        # The first part are the seconds per reply; None if the model has no saved replies.
        mean_cost = SavedReplies().mean_cost(engine().models.weights(JUDGE_ROLE))
        time = f", {rough_range_text(n_missing * mean_cost[0])}" if mean_cost else ""
        sentence = tr(
            "{pairs} of answers left, {replies} of {judge}{time}.",
            pairs=many(n_left, "pair"),
            replies=many(n_missing, "reply", "replies"),
            judge=tally.judge,
            time=time,
        )
        caption(
            "{sentence} What is judged is kept. Another model judges once the page Models gives "
            "it that role.",
            sentence=sentence,
        )


def _draw_results(
    tally: PairwiseTally, names: dict[str, MethodName], texts: dict[str, str]
) -> None:
    """Draw doubts, win rates and verdicts. `texts` are the questions by id.

    Win rates of criteria on which the judge did not decide better than by chance are collapsed.
    """
    for sentence in tally.doubts():
        st.warning(plain(sentence), icon=":material/rule:")
    share = tr(
        "{matches:,} of {pairs} judged by {judge}, each in both orders",
        matches=len(tally.matches),
        pairs=many(tally.pair_count, "pair"),
        judge=tally.judge,
    )
    st.caption(plain(f"{share}."))
    informative = [criterion for criterion in CRITERIA if tally.is_informative(criterion)]
    if informative:
        caption(
            "Row over column: the share of questions won, a tie as half, with its 95 % interval."
        )
        _draw_matrices(tally, informative, names)
    uninformative = [criterion for criterion in CRITERIA if criterion not in informative]
    if tally.readable_matches and uninformative:
        with st.expander(tr("Win rates without meaning")):
            caption(
                "Both orders agree no more often than by chance, or one position is always "
                "preferred: these rates rank no method."
            )
            _draw_matrices(tally, uninformative, names)
    _draw_verdicts(tally, names, texts)
    if tally.readable_matches:
        st.download_button(
            tr("Win rates (HTML)"),
            tally_html(tally, names),
            "hopscope-judged-in-pairs.html",
            "text/html",
            on_click="ignore",
            icon=DOWNLOAD_ICON,
        )


def _draw_matrices(tally: PairwiseTally, criteria: list[str], names: dict[str, MethodName]) -> None:
    """Draw the win rates and order agreement of each criterion."""
    with st.container(horizontal=True):
        for criterion in criteria:
            with st.container(width=MATRIX_WIDTH, gap=None):
                st.plotly_chart(win_rate_plot(tally, criterion, names), key=f"wins-{criterion}")
                st.caption(plain(order_agreement_text(tally, criterion)))


def _draw_verdicts(
    tally: PairwiseTally, names: dict[str, MethodName], texts: dict[str, str]
) -> None:
    """Draw all verdicts with the judge's reasons, collapsed.

    A pair has two rows, one for each order.
    """
    with st.expander(tr("Every verdict")):
        rows = []
        for match in tally.matches:
            orders = (
                (match.a, match.b, match.verdict_a_first),
                (match.b, match.a, match.verdict_b_first),
            )
            for first, second, verdict in orders:
                row = {
                    tr("Question"): texts.get(match.question, match.question),
                    tr("First"): str(names[first]),
                    tr("Second"): str(names[second]),
                }
                for criterion in CRITERIA:
                    winner = verdict.winners[criterion] if verdict.winners else "–"
                    row[criterion.capitalize()] = winner
                rows.append({**row, tr("Why"): verdict.why})
        column_widths = {
            tr("Question"): st.column_config.TextColumn(width="medium"),
            tr("Why"): st.column_config.TextColumn(width="large"),
        }
        st.dataframe(rows, hide_index=True, column_config=column_widths)

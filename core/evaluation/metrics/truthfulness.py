"""Correct, wrong and withheld answers: CRAG's three-way scoring as Walk&Retrieve reports it.

An answer is withheld if it is empty or says that the answer is not known.
"""

from __future__ import annotations

from core.evaluation.metrics.metric import Metric
from core.evaluation.metrics.outcome import Outcome
from core.languages.spelling import normalize

# The refusal that Walk&Retrieve's prompt asks for, in lower case.
REFUSAL = "i do not know the answer"
WALK_RETRIEVE_SOURCE = "Walk&Retrieve, section 3, after CRAG"
TRUTHFULNESS_CONVENTION = (
    "An answer that is a correct answer and nothing else is accurate. Else one that is empty "
    "or holds the sentence “I do not know the answer”, in any case, is missing, and so is a "
    "question that failed. All others are for the judges: accurate is the share of those that "
    "find the answer right, hallucination the rest; a judge whose reply cannot be used does "
    "not find it right. The paper asks two judges. Where no "
    "judge is asked, one that holds a correct answer, as Hits@1 has it, counts as accurate, "
    "which is more than the paper's accuracy. The paper's code looks for the sentence with a "
    "capital in a text of small letters, so that nothing is ever missing there. A question "
    "without correct answers is left out."
)


def accurate(outcome: Outcome, _: int | None = None) -> float | None:
    """Return 1 if the answer is correct, else 0.

    With judges, return the share of judges that accept it. An exact match is correct and a withheld
    answer is not, whatever the judges say.

    Returns
    -------
    A share from 0 to 1. None without an answer or known answers.

    Notes
    -----
    Walk&Retrieve, section 3, after CRAG. The paper asks two judges. Without a judge, a text that
    contains a known answer counts as correct, which is more than the paper's accuracy.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> metric("accurate")(
    ...     Outcome(golds=1, answer=ScoredAnswer("It was Ann.", "language model", found=1, lines=1))
    ... )
    1.0
    """
    if not (outcome.answer and outcome.golds):
        return None
    text = outcome.answer.text
    verdicts = [
        verdict.right is True for verdict in (outcome.judged, outcome.second) if verdict is not None
    ]
    if not verdicts:
        return float(outcome.answer.found > 0 and not _is_refusal(text))
    if outcome.answer.exact and not _is_refusal(text):
        return 1.0
    return 0.0 if _is_withheld(text) else sum(verdicts) / len(verdicts)


def missing(outcome: Outcome, _: int | None = None) -> float | None:
    """Return 1 if the answer is withheld and not correct, else 0.

    A withheld answer is empty or a refusal.

    Returns
    -------
    0 or 1. None without an answer or known answers.

    Notes
    -----
    Walk&Retrieve, section 3, after CRAG.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> metric("missing")(
    ...     Outcome(
    ...         golds=1,
    ...         answer=ScoredAnswer("I do not know the answer.", "language model", found=0, lines=1),
    ...     )
    ... )
    1.0
    """
    right = accurate(outcome)
    if right is None or outcome.answer is None:
        return None
    return float(not right and _is_withheld(outcome.answer.text))


def hallucination(outcome: Outcome, _: int | None = None) -> float | None:
    """Return 1 if the answer is wrong, else 0.

    With judges, return the share of judges that reject it. A withheld answer is not wrong.

    Returns
    -------
    A share from 0 to 1. None without an answer or known answers.

    Notes
    -----
    Walk&Retrieve, section 3, after CRAG.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> metric("hallucination")(
    ...     Outcome(golds=1, answer=ScoredAnswer("It was Bob.", "language model", found=0, lines=1))
    ... )
    1.0
    """
    right, withheld = accurate(outcome), missing(outcome)
    return None if right is None or withheld is None else 1.0 - right - withheld


def truthfulness(outcome: Outcome, _: int | None = None) -> float | None:
    """Return 1 for a correct answer and -1 for a wrong one.

    A withheld answer gets 0. Over a question set this is accuracy minus hallucination.

    Returns
    -------
    A balance from -1 to 1. None without an answer or known answers.

    Notes
    -----
    Walk&Retrieve, section 3, after CRAG.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> metric("truthfulness")(
    ...     Outcome(golds=1, answer=ScoredAnswer("It was Bob.", "language model", found=0, lines=1))
    ... )
    -1.0
    """
    right, wrong = accurate(outcome), hallucination(outcome)
    return None if right is None or wrong is None else right - wrong


def _is_refusal(text: str) -> bool:
    """Return whether an answer is the refusal and nothing else.

    A short known answer, such as “no”, may match words of the refusal.
    """
    return normalize(text) == normalize(REFUSAL)


def without_words(text: str) -> str:
    """Return a text that says nothing, but counts as an answer or a refusal like a given one.

    >>> from core.evaluation.metrics.truthfulness import without_words
    >>> without_words(" "), without_words("Ann"), without_words("I do not know the answer")
    ('', 'left out', 'i do not know the answer')
    """
    if not text.strip():
        return ""
    if not _is_withheld(text):
        return "left out"
    return REFUSAL if normalize(text) == normalize(REFUSAL) else f"left out: {REFUSAL}"


def _is_withheld(text: str) -> bool:
    """Return whether an answer is empty or contains the refusal."""
    return not text.strip() or normalize(REFUSAL) in normalize(text)


TRUTHFULNESS_METRICS = (
    Metric(
        "accurate",
        "Accurate",
        "1 if the answer is right, else 0; a mean over judges.",
        TRUTHFULNESS_CONVENTION,
        accurate,
        source=WALK_RETRIEVE_SOURCE,
    ),
    Metric(
        "missing",
        "Missing",
        "1 if the question is not answered, else 0.",
        TRUTHFULNESS_CONVENTION,
        missing,
        better="lower",
        source=WALK_RETRIEVE_SOURCE,
        failed_value=1.0,
    ),
    Metric(
        "hallucination",
        "Hallucination",
        "1 if the answer is wrong, else 0; a mean over judges.",
        TRUTHFULNESS_CONVENTION,
        hallucination,
        better="lower",
        source=WALK_RETRIEVE_SOURCE,
        failed_value=0.0,
    ),
    Metric(
        "truthfulness",
        "Truthfulness",
        "1 for a correct answer, 0 for none, -1 for a wrong one.",
        TRUTHFULNESS_CONVENTION,
        truthfulness,
        "balance",
        source=WALK_RETRIEVE_SOURCE,
        failed_value=0.0,
    ),
)

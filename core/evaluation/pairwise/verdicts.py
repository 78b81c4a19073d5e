"""A judging model's verdict on two answers, asked in both orders.

The judge may call a tie, unlike in LightRAG's prompt, which the papers use. Without a tie, a judge
that sees no difference names the first answer. A tie counts as half a win for both, so the win
rates of two methods add up to 100 %. In the papers they add up to 98 to 100 %.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import BadInput, ModelFailed, shorten
from core.evaluation.metrics.judge_prompts import judge_messages
from core.models.base import Chat
from core.models.chat.json_reply import json_reply
from core.watch import NO_WATCH, Watch

CRITERIA = ("comprehensiveness", "diversity", "empowerment", "overall")
FIRST_ANSWER = "first"
SECOND_ANSWER = "second"
TIE = "tie"
PAIR_SCHEMA = {
    "type": "object",
    "properties": {
        "why": {"type": "string", "maxLength": 240},
        **{name: {"enum": [FIRST_ANSWER, SECOND_ANSWER, TIE]} for name in CRITERIA},
    },
    "required": ["why", *CRITERIA],
    "additionalProperties": False,
}
PAIR_REPLY_TOKENS = 200  # maximum tokens of a reply
PROMPT_FRAME_TOKENS = 700  # upper bound of the prompt without the answers, and of the reply
MIN_CHARACTERS_PER_TOKEN = 3  # lower bound
MIN_SHOWN_LETTERS = 200  # of an answer, however small the context window is


@dataclass(frozen=True)
class PairwiseVerdict:
    """Verdict of the judge on two answers in one order.

    Parameters
    ----------
    winners : `FIRST_ANSWER`, `SECOND_ANSWER` or `TIE` by criterion. None if there is no readable
        reply.
    why : the judge's reason; without a readable reply, the reason for that.
    failed : True if there was no reply.
    """

    winners: Mapping[str, str] | None
    why: str = ""
    failed: bool = False


@dataclass(frozen=True)
class Match:
    """Two answers to a question, judged in both orders.

    `question` is the id of the question, `a` and `b` are those of the methods. `verdict_a_first` is
    the verdict with the answer of `a` first, `verdict_b_first` the one with the answer of `b`
    first.
    """

    question: str
    a: str
    b: str
    verdict_a_first: PairwiseVerdict
    verdict_b_first: PairwiseVerdict

    @property
    def is_readable(self) -> bool:
        """True if both replies could be read."""
        return self.verdict_a_first.winners is not None and self.verdict_b_first.winners is not None

    def score(self, criterion: str) -> float | None:
        """Return the score of `a` in the match, None unless both replies were read.

        It is the mean over both orders of 1 for a win, 1/2 for a tie and 0 for a loss.

        >>> from core.evaluation.pairwise.verdicts import Match, PairwiseVerdict
        >>> won, tie = PairwiseVerdict({"overall": "first"}), PairwiseVerdict({"overall": "tie"})
        >>> Match("q", "a", "b", won, tie).score("overall")
        0.75
        """
        if self.verdict_a_first.winners is None or self.verdict_b_first.winners is None:
            return None
        first_scores = {FIRST_ANSWER: 1.0, TIE: 0.5, SECOND_ANSWER: 0.0}  # of the first answer
        score = first_scores[self.verdict_a_first.winners[criterion]]
        return (score + 1 - first_scores[self.verdict_b_first.winners[criterion]]) / 2

    def is_consistent(self, criterion: str) -> bool | None:
        """Return whether both orders have the same result, None unless both replies were read."""
        if self.verdict_a_first.winners is None or self.verdict_b_first.winners is None:
            return None
        swapped = {FIRST_ANSWER: SECOND_ANSWER, SECOND_ANSWER: FIRST_ANSWER, TIE: TIE}
        return (
            self.verdict_a_first.winners[criterion]
            == swapped[self.verdict_b_first.winners[criterion]]
        )


def pair_messages(
    question: str, first: str, second: str, context: int
) -> tuple[dict[str, str], ...]:
    """Return the messages for the judge.

    Parameters
    ----------
    question : the question.
    first, second : the answers in the order in which they are shown.
    context : size of the judge's context window in tokens. Answers that do not fit are cut, both to
        the same length.

    Returns
    -------
    The system and the user message.
    """
    answer_letters = (context - PROMPT_FRAME_TOKENS) * MIN_CHARACTERS_PER_TOKEN // 2
    max_letters = max(MIN_SHOWN_LETTERS, answer_letters)
    return judge_messages(
        "pair",
        question=" ".join(question.split()),
        first=_truncate(first, max_letters),
        second=_truncate(second, max_letters),
    )


def ask_judge(
    chat: Chat, question: str, first: str, second: str, watch: Watch = NO_WATCH
) -> PairwiseVerdict:
    """Return the verdict on two answers in this order.

    Parameters
    ----------
    chat : the judging model.
    question : the question.
    first, second : the answers in the order in which they are shown.
    watch : may raise RunCancelled.

    Returns
    -------
    The winner by each criterion. If the model fails or its reply cannot be read, the verdict gives
    the reason.

    Examples
    --------
    >>> from core.evaluation.pairwise.verdicts import ask_judge
    >>> from tests.films import Parrot
    >>> judge = Parrot(
    ...     '{"why": "", "comprehensiveness": "tie", "diversity": "tie", '
    ...     '"empowerment": "tie", "overall": "second"}'
    ... )
    >>> ask_judge(
    ...     judge, "What is it about?", "A miser.", "A miser who learns to give."
    ... ).winners["overall"]
    'second'
    """
    try:
        reply = chat.reply(
            pair_messages(question, first, second, chat.context),
            schema=PAIR_SCHEMA,
            max_tokens=PAIR_REPLY_TOKENS,
            watch=watch,
        )
    except (ModelFailed, BadInput) as error:
        return PairwiseVerdict(None, f"The judge could not be asked: {error}", failed=True)
    if reply.text.strip():
        return parse_pair_verdict(reply.text)
    return PairwiseVerdict(None, f"The reply could not be read: {reply.describe_fault()}")


def parse_pair_verdict(reply: str) -> PairwiseVerdict:
    """Return the verdict in a reply.

    The reply is a JSON object with a winner for every criterion.

    >>> from core.evaluation.pairwise.verdicts import parse_pair_verdict
    >>> parse_pair_verdict("The first.").winners is None, parse_pair_verdict("The first.").why
    (True, 'The reply could not be read: “The first.”.')
    """
    json_object = json_reply(reply, CRITERIA)
    parsed = json_object.value if json_object else {}
    if all(parsed.get(name) in (FIRST_ANSWER, SECOND_ANSWER, TIE) for name in CRITERIA):
        return PairwiseVerdict(
            {name: parsed[name] for name in CRITERIA}, str(parsed.get("why", "")).strip()
        )
    return PairwiseVerdict(None, f"The reply could not be read: “{shorten(reply)}”.")


def _truncate(text: str, max_letters: int) -> str:
    text = text.strip() or "(nothing)"
    return text if len(text) <= max_letters else f"{text[: max_letters - 1]}…"

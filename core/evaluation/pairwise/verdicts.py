"""A judging model's verdict on two answers, asked in both orders.

It may say tie, which the prompt that the papers follow (LightRAG's) does not offer: their two rates of a pair add up to 98 to 100 %. A judge
that sees no difference would else name whatever stands first, and with a tie as half a win for both a pair adds up to 100 % as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import BadInput, ModelFailed, shorten
from core.models.base import Chat
from core.models.chat.json_reply import json_reply
from core.prompts import filled, prompts
from core.watch import NO_WATCH, Watch

CRITERIA = ("comprehensiveness", "diversity", "empowerment", "overall")
FIRST, SECOND, TIE = "first", "second", "tie"
SCHEMA = {
    "type": "object",
    "properties": {
        "why": {"type": "string", "maxLength": 240},
        **{name: {"enum": [FIRST, SECOND, TIE]} for name in CRITERIA},
    },
    "required": ["why", *CRITERIA],
    "additionalProperties": False,
}
REPLY = 200  # tokens
AROUND = 700  # tokens of the prompt beside the answers, and of the reply
LETTERS = 3  # of a token, in the least


@dataclass(frozen=True)
class Verdict:
    """What a reply says: for each criterion first, second or tie, and why. `winners` is None where it could not be read, as `why` says."""

    winners: Mapping[str, str] | None
    why: str = ""
    failed: bool = False  # whether there was no reply


@dataclass(frozen=True)
class Match:
    """Two answers to a question judged in both orders: `there` with the answer of `a` first, `back` with that of `b` first."""

    question: str
    a: str
    b: str
    there: Verdict
    back: Verdict

    @property
    def read(self) -> bool:
        """Whether both replies could be read."""
        return self.there.winners is not None and self.back.winners is not None

    def score(self, criterion: str) -> float | None:
        """What `a` has of the match: the mean over both orders of 1 for a win, 1/2 for a tie, 0 for a loss; None where not both were read.

        >>> from core.evaluation.pairwise.verdicts import Match, Verdict
        >>> there, back = Verdict({"overall": "first"}), Verdict({"overall": "tie"})
        >>> Match("q", "a", "b", there, back).score("overall")  # won, then a tie
        0.75
        """
        if self.there.winners is None or self.back.winners is None:
            return None
        worth = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}
        return (worth[self.there.winners[criterion]] + 1 - worth[self.back.winners[criterion]]) / 2

    def agree(self, criterion: str) -> bool | None:
        """Whether both orders name the same winner, or both a tie; None where not both were read."""
        if self.there.winners is None or self.back.winners is None:
            return None
        other = {FIRST: SECOND, SECOND: FIRST, TIE: TIE}
        return self.there.winners[criterion] == other[self.back.winners[criterion]]


def messages(question: str, first: str, second: str, context: int) -> tuple[dict[str, str], ...]:
    """The messages for the judge; answers that its context of so many tokens has no room for are cut, both at the same length."""
    prompt, room = prompts("judge")["pair"], max(200, (context - AROUND) * LETTERS // 2)
    given = {
        "question": " ".join(question.split()),
        "first": _cut(first, room),
        "second": _cut(second, room),
    }
    return (
        {"role": "system", "content": prompt["system"]},
        {"role": "user", "content": filled(prompt["user"], **given)},
    )


def asked(chat: Chat, question: str, first: str, second: str, watch: Watch = NO_WATCH) -> Verdict:
    """The verdict on two answers in this order. Where the model fails or its reply cannot be read, the verdict says why.

    >>> from core.evaluation.pairwise.verdicts import asked
    >>> from tests.films import Parrot
    >>> judge = Parrot('{"why": "", "comprehensiveness": "tie", "diversity": "tie", "empowerment": "tie", "overall": "second"}')
    >>> asked(judge, "What is it about?", "A miser.", "A miser who learns to give.").winners["overall"]
    'second'
    """
    try:
        reply = chat.reply(
            messages(question, first, second, chat.context),
            schema=SCHEMA,
            max_tokens=REPLY,
            watch=watch,
        )
    except (ModelFailed, BadInput) as error:
        return Verdict(None, f"The judge could not be asked: {error}", failed=True)
    if reply.text.strip():
        return read(reply.text)
    return Verdict(None, f"The reply could not be read: {reply.fault()}")


def read(reply: str) -> Verdict:
    """The verdict of a reply.

    >>> from core.evaluation.pairwise.verdicts import read
    >>> read("The first.").winners is None, read("The first.").why
    (True, 'The reply could not be read: “The first.”.')
    """
    found = json_reply(reply, CRITERIA)
    parsed = found.value if found else {}
    if all(parsed.get(name) in (FIRST, SECOND, TIE) for name in CRITERIA):
        return Verdict(
            {name: parsed[name] for name in CRITERIA}, str(parsed.get("why", "")).strip()
        )
    return Verdict(None, f"The reply could not be read: “{shorten(reply)}”.")


def _cut(text: str, room: int) -> str:
    text = text.strip() or "(nothing)"
    return text if len(text) <= room else f"{text[: room - 1]}…"

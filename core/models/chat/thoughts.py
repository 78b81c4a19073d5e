"""Thoughts in the text of a reply, separated from its answer while the text comes in pieces."""

from __future__ import annotations

import re
from dataclasses import dataclass

WORD = r"[a-z0-9]{1,20}"
THINKING = r"(?:think|thinking|thoughts?|reasoning)"
NAME = rf"(?:{WORD}[_:▁-]){{0,4}}{THINKING}(?:[_▁-]{WORD}){{0,3}}"
ENDING = re.compile(r"(?:^|[_:▁-])(?:end|stop|suffix)(?:[_:▁-]|$)", re.IGNORECASE)
MARK = re.compile(
    rf"(?P<tag>[<◁][|｜]?(?P<slash>/?)(?P<name>{NAME})(?:\s[^<>◁▷]{{0,120}})?[|｜]?[>▷])"
    r"|(?P<square>\[(?P<shut>/?)(?-i:(?:[A-Z]{1,20}_){0,4}(?:THINK|THINKING|THOUGHTS?|REASONING))\])"
    r"|(?P<details><details\s[^<>]{0,80}\breasoning\b[^<>]{0,160}>)|(?P<undetailed></details>)"
    r"|(?P<special><[|｜]/?(?P<token>[\w▁ .:-]{1,40})[|｜]>"
    r"|<\|(?P<left>channel|turn)>|<(?P<right>channel|turn)\|>"
    r"|<(?P<plain>(?:start|end)_of_turn|(?:[a-z]{1,20}:)?[eb]os)>)"
    r"|(?P<words>assistantfinal|here(?:'s|’s| is) my (?:final )?(?:response|answer)\s?:)",
    re.IGNORECASE,
)
# the end of a text where a mark may have begun
BEGUN = re.compile(
    rf"(?:[<◁](?:[|｜][^<>\n]{{0,42}}|/?[a-z][\w:▁-]{{0,60}}[|｜]?|/?{NAME}\s[^<>◁▷]{{0,120}}"
    r"|details\s[^<>]{0,250}|/?)|\[/?[A-Z_]{0,60}|</s>\s*)$",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"</s>\s*", re.IGNORECASE)
SPECIAL_CUT = re.compile(r"<[|｜][^<>\n]{0,42}")
OPENING_CUT = re.compile(r"\s*(?:[<◁][a-z|｜_:]{0,30}|\[[A-Z]{0,10})", re.IGNORECASE)
HEADERS = {
    "channel",
    "start",
    "turn",
    "im_start",
    "start_header_id",
    "start_of_role",
    "start_of_turn",
}
HEADER_ENDS = {"message", "im_sep", "end_header_id", "end_of_role"}
OTHER_ROLES = {"user", "human", "system", "developer", "tool", "ipython", "observation"}
MAX_HEADER_LETTERS = 100
WORDS_HELD_BACK = 40  # letters of a thought in words, behind which its end may have begun
JSON = ("{", "[")
QUOTE = re.compile(r'(?<!\\)"')


@dataclass(frozen=True)
class OpeningWords:
    """Words at the beginning of a text that open a thought, as models and servers without marks write them."""

    words: tuple[str, ...]
    glued: bool = False  # whether a letter right behind them makes it sure that they do


OPENING_WORDS = (
    OpeningWords(("analysis", "commentary"), glued=True),  # names of channels whose marks are lost
    OpeningWords(
        tuple(
            f"{start} my {what} process:"
            for start in ("Here is", "Here's", "Here’s")
            for what in ("thought", "thinking", "reasoning")
        )
    ),
)


class Thoughts:
    """Separates the thoughts of a reply from its answer, whatever the pieces in which the text comes.

    A thought lies between marks whose name says so: `<think>` and `</think>`, with or without attributes, a
    namespace or bars (`<seed:think>`, `<|begin_of_thought|>`, `◁think▷`, `[THINK]`), where the first begins
    the text or a line. What comes before a closing mark that has no opening one is a thought too, and so is
    what follows an opening one that is never closed. Of messages with channels the final one is the answer.
    Where their marks are lost, and for models that think in plain words, the first words of the text and
    those before the answer tell (`analysis…assistantfinal…`, `Here is my thought process: …`).

    Other special tokens (`<|im_end|>`) are no text, and what follows a message of another role is none of
    the reply. JSON may quote such marks: within its quotes they are text, and a closing one alone ends no
    thought in a text that begins as JSON.

    With `begun` the text is expected to begin inside a thought, as that of a model whose prompt ends in the
    opening mark. It does not where it begins as JSON, and where it is whole without any closing mark.
    """

    def __init__(self, begun: bool = False) -> None:
        self.thought = self.answer = ""
        self.thinking = begun  # whether the text so far ends inside a thought
        self.begun: bool | None = (
            None  # whether the text began inside a thought, where it shows that
        )
        self._expected, self._held = begun, ""
        self._started = False  # whether the first words were looked at
        self._detailed = False  # whether a thought is open that </details> ends
        self._opening = ""  # the words that opened a thought
        self._channel = ""  # of the message, where it has one
        self._over = False  # behind the end of the reply
        self._header: str | None = None  # of a message, as far as it is read
        self._header_token = ""

    def add(self, piece: str) -> str:
        """What the answer has grown by; the beginning of what may become a mark is held back."""
        text, self._held = self._held + piece, ""
        written: list[str] = []
        if not self._started and not self._start(text):
            self._held = text
            return ""
        at = 0
        for mark in MARK.finditer(text):
            written.append(self._take(text[at : mark.start()]))
            at = mark.end()
            if not self._mark(mark):
                written.append(self._take(mark[0]))
        rest = text[at:]
        grown = len(rest) - self._held_back(rest)
        self._held = rest[grown:]
        return "".join([*written, self._take(rest[:grown])])

    def end(self, whole: bool = True) -> str:
        """What the answer grows by, now that nothing more comes, of a text that is `whole` or was cut."""
        held, self._held = self._held, ""
        if not self._started:
            self._start(held, last=True)
        if self._header is not None:
            self._end_header()
        if not self._in_quotes():
            if SPECIAL_CUT.fullmatch(held) or (
                SENTENCE_END.fullmatch(held) and "<s>" not in self.answer
            ):
                held = ""
            elif not whole and not self.answer.strip() and OPENING_CUT.fullmatch(held):
                held, self.thinking = "", True
        grown = self._take(held)
        if self._expected and whole:
            self.begun = None if self._opening else False
            return self._answer_after_all("")
        self._drop_opening()
        return grown

    def _start(self, text: str, last: bool = False) -> bool:
        """Look at the first words of a text. Whether there were enough of them to tell."""
        begin = text.lstrip()
        for opening in () if self.thinking else OPENING_WORDS:
            for words in opening.words:
                if words.startswith(begin) and not last:
                    return False  # the next letter tells
                if begin.startswith(words):
                    self._opening, self.thinking = words, True
                    self._expected = not (opening.glued and begin[len(words) :][:1].isalpha())
        self._started = True
        return True

    def _held_back(self, rest: str) -> int:
        """How many letters at the end of a text may begin a mark."""
        begun = BEGUN.search(rest)
        held = 0 if begun is None else len(rest) - begun.start()
        return max(held, min(len(rest), WORDS_HELD_BACK)) if self._in_words else held

    @property
    def _in_words(self) -> bool:
        """Whether it is inside a thought that words opened."""
        return bool(self._opening) and self.thinking

    def _drop_opening(self) -> None:
        """Leave the words that opened it out of the thought."""
        if self._opening:
            self.thought = self.thought.lstrip().removeprefix(self._opening)
            self._opening = ""

    def _answer_after_all(self, text: str) -> str:
        """Take what was expected to be a thought, and `text` behind it, for the answer."""
        text, self.thought = self.thought + text, ""
        self.thinking = self._expected = False
        return self._take(text)

    def _take(self, text: str) -> str:
        if self._header is not None:
            text = self._read_header(text)
        if self._over:
            return ""
        if self._expected and (self.thought + text).lstrip().startswith(JSON):
            return self._answer_after_all(text)
        if self.thinking:
            self.thought += text
            return ""
        if self.thought and not self.answer.strip():
            self.answer, text = "", text.lstrip()
        self.answer += text
        return text

    def _in_quotes(self) -> bool:
        """Whether the text so far ends inside the quotes of JSON."""
        inside = not self.thinking and self.answer.lstrip().startswith(JSON)
        return inside and len(QUOTE.findall(self.answer)) % 2 == 1

    def _mark(self, mark: re.Match[str]) -> bool:
        """Take a mark for what it is. Whether it is one here."""
        if self._in_quotes():
            return False
        if mark["special"]:
            self._special(mark)
            return True
        if mark["words"]:
            return self._in_words and self._turn(closing=True)
        if mark["details"]:
            self._detailed = self._turn(closing=False)
            return self._detailed
        if mark["undetailed"]:
            detailed, self._detailed = self._detailed, False
            return detailed and self._turn(closing=True)
        name = mark["name"] or ""
        return self._turn(closing=bool(mark["slash"] or mark["shut"] or ENDING.search(name)))

    def _special(self, mark: re.Match[str]) -> None:
        """Take a special token: the head of a message begins or ends, or it says nothing here."""
        token = (mark["token"] or mark["left"] or mark["right"] or mark["plain"]).strip().lower()
        if token in HEADER_ENDS:
            self._end_header(message=True)
        elif mark["right"] == "channel" and self._channel != "final":
            self._turn(closing=True)
        elif token in HEADERS and not mark["right"]:
            self._end_header()
            self._header, self._header_token = "", token
        elif token.removesuffix("_token") in OTHER_ROLES:
            self._end_reply()

    def _read_header(self, text: str) -> str:
        """Read on in the head of a message. What of the text is behind it."""
        header, newline, behind = ((self._header or "") + text).partition("\n")
        self._header = header
        if newline:
            self._end_header()
            return behind
        if len(header) <= MAX_HEADER_LETTERS:
            return ""
        self._header, _, behind = header.partition(" ")
        self._end_header()
        return behind

    def _end_header(self, message: bool = False) -> None:
        """Take the head of a message for what it says: a channel or a role."""
        words = (self._header or "").lower().split()
        token, self._header = self._header_token, None
        self._header_token = ""
        first = words[0] if words else ""
        if token == "channel":
            before, self._channel = self._channel, first
            if first != "final":
                self._turn(closing=False, sure=True)
            elif before != "final":
                self._turn(closing=True, sure=True)
        elif first in OTHER_ROLES:
            self._end_reply()
        elif token and message and self._channel not in ("", "final") and self.thinking:
            self._turn(closing=True, sure=True)  # a message without a channel

    def _end_reply(self) -> None:
        """Take nothing more where something has come: what follows is the turn of somebody else."""
        self._over = bool(self.answer.strip() or self.thought.strip())

    def _turn(self, closing: bool, sure: bool = False) -> bool:
        """Open or close a thought. Whether that can be here, which it can if it is `sure`."""
        if closing and not self.thinking:
            if self.answer.lstrip().startswith(JSON) and not sure:
                return False
            if self.answer.strip() or not sure:
                self.begun = not self.thought
            self.thought, self.answer = self.thought + self.answer, ""
        elif not (closing or self.thinking or sure) and self.answer.rpartition("\n")[2].strip():
            return False
        if self._expected:
            self.begun, self._expected = (None if self._opening else closing), False
        if closing:
            self._drop_opening()
        self.thinking = not closing
        if not closing and self.thought:
            self.thought = self.thought.rstrip() + "\n"
        return True


def separated(text: str, whole: bool = True) -> tuple[str, str, bool]:
    """The thought and the answer of a text, and whether it ends inside the thought.

    Parameters
    ----------
    whole : off for a text that was cut, which may have ended before the answer began.

    Examples
    --------
    >>> from core.models.chat.thoughts import separated
    >>> separated("<think>Ann or Bob?</think> Bob."), separated("Ann or Bob?</think>Bob."), separated("<think>Ann or")
    (('Ann or Bob?', 'Bob.', False), ('Ann or Bob?', 'Bob.', False), ('Ann or', '', True))
    >>> separated("[THINK]Ann?[/THINK]Bob.<|im_end|>")
    ('Ann?', 'Bob.', False)
    """
    thoughts = Thoughts()
    thoughts.add(text)
    thoughts.end(whole)
    return thoughts.thought.strip(), thoughts.answer, thoughts.thinking

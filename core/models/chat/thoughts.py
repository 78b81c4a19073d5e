"""Separation of reasoning from the answer in a reply that arrives in pieces.

Models write their reasoning before the answer, between marks that differ from model to model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product

# Names of marks are words with one of `THOUGHT_WORDS`, such as think or begin_of_thought.
MARK_NAME_WORD = r"[a-z0-9]{1,20}"
THOUGHT_WORDS = r"(?:think|thinking|thoughts?|reasoning)"
THOUGHT_MARK_NAME = (
    rf"(?:{MARK_NAME_WORD}[_:▁-]){{0,4}}{THOUGHT_WORDS}(?:[_▁-]{MARK_NAME_WORD}){{0,3}}"
)
CLOSING_MARK_NAME = re.compile(r"(?:^|[_:▁-])(?:end|stop|suffix)(?:[_:▁-]|$)", re.IGNORECASE)
# Marks of reasoning, special tokens, and words that may end reasoning. The groups are:
# tag          <think>, </think>, ◁think▷ and the like
# square       [THINK] and [/THINK]
# details      <details type="reasoning">, and details_end for its end
# special      special tokens such as <|im_end|>, <|channel> and <eos>
# words        words that begin the answer after reasoning in plain words
THOUGHT_MARK = re.compile(
    rf"(?P<tag>[<◁][|｜]?(?P<slash>/?)(?P<name>{THOUGHT_MARK_NAME})(?:\s[^<>◁▷]{{0,120}})?[|｜]?[>▷])"
    r"|(?P<square>\[(?P<square_slash>/?)"
    r"(?-i:(?:[A-Z]{1,20}_){0,4}(?:THINK|THINKING|THOUGHTS?|REASONING))\])"
    r"|(?P<details><details\s[^<>]{0,80}\breasoning\b[^<>]{0,160}>)|(?P<details_end></details>)"
    r"|(?P<special><[|｜]/?(?P<token>[\w▁ .:-]{1,40})[|｜]>"
    r"|<\|(?P<left>channel|turn)>|<(?P<right>channel|turn)\|>"
    r"|<(?P<plain>(?:start|end)_of_turn|(?:[a-z]{1,20}:)?[eb]os)>)"
    r"|(?P<words>assistantfinal|here(?:'s|’s| is) my (?:final )?(?:response|answer)\s?:)",
    re.IGNORECASE,
)
# The end of a text at which a mark may have begun.
PARTIAL_MARK = re.compile(
    rf"(?:[<◁](?:[|｜][^<>\n]{{0,42}}|/?[a-z][\w:▁-]{{0,60}}[|｜]?|/?{THOUGHT_MARK_NAME}\s[^<>◁▷]{{0,120}}"
    r"|details\s[^<>]{0,250}|/?)|\[/?[A-Z_]{0,60}|</s>\s*)$",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"</s>\s*", re.IGNORECASE)
# A special token or an opening mark that was cut off at the end of a text.
SPECIAL_CUT = re.compile(r"<[|｜][^<>\n]{0,42}")
OPENING_CUT = re.compile(r"\s*(?:[<◁][a-z|｜_:]{0,30}|\[[A-Z]{0,10})", re.IGNORECASE)
# Special tokens that begin and end the header of a message, which has a role or a channel.
HEADER_TOKENS = set(
    "channel start turn im_start start_header_id start_of_role start_of_turn".split()
)
HEADER_ENDS = {"message", "im_sep", "end_header_id", "end_of_role"}
# Roles of other messages than the model's own.
OTHER_ROLES = {"user", "human", "system", "developer", "tool", "ipython", "observation"}
MAX_HEADER_LETTERS = 100  # of a header without an end
# Held back at the end of reasoning in plain words, where the words that end it may have begun.
MAX_HELD_BACK_LETTERS = 40
JSON_STARTS = ("{", "[")
QUOTE = re.compile(r'(?<!\\)"')  # not escaped


@dataclass(frozen=True)
class OpeningWords:
    """Words that open the reasoning at the beginning of a text.

    They take the place of marks.
    """

    words: tuple[str, ...]
    # True if a letter that follows without a space proves that the words open reasoning. Channel
    # names whose marks were lost are followed by text in this way.
    may_be_glued: bool = False


OPENING_WORDS = (
    # Channel names without their marks.
    OpeningWords(("analysis", "commentary"), may_be_glued=True),
    OpeningWords(
        tuple(
            f"{start} my {noun} process:"
            for start, noun in product(
                ("Here is", "Here's", "Here’s"), ("thought", "thinking", "reasoning")
            )
        )
    ),
)


class ThoughtSeparator:
    """Separator of reasoning and answer, independent of the pieces in which the text arrives.

    Reasoning lies between marks such as `<think>` and `</think>`, with or without attributes, a
    namespace or bars (`<seed:think>`, `<|begin_of_thought|>`, `◁think▷`, `[THINK]`). The opening
    mark must begin the text or a line. Text before a closing mark without an opening one is
    reasoning too, and so is text after an opening mark that is never closed. If messages have
    channels, that of the channel “final” is the answer. Without marks, reasoning and answer are
    recognised by the words that begin them: channel names whose marks were lost
    (`analysis…assistantfinal…`), or plain words (`Here is my thought process: …`).

    Other special tokens (`<|im_end|>`) are removed, and the text of a message of another role is
    ignored. Inside the quotes of JSON, marks are text. In a text that begins as JSON, a closing
    mark alone ends no reasoning.

    Parameters
    ----------
    starts_in_reasoning : true if the text is expected to begin inside reasoning, as for a model
        whose prompt ends in the opening mark. It is an answer nevertheless if it begins as JSON, or
        ends without a closing mark.

    Attributes
    ----------
    thought : the reasoning so far.
    answer : the answer so far.
    is_in_reasoning : true if the text so far ends inside reasoning.
    starts_in_reasoning : true if the text began inside reasoning; None if that is not known.
    """

    def __init__(self, starts_in_reasoning: bool = False) -> None:
        self.thought = self.answer = ""
        self.is_in_reasoning = starts_in_reasoning
        self.starts_in_reasoning: bool | None = None
        self._is_expected = starts_in_reasoning  # true while reasoning is assumed without a mark
        self._held_text = ""  # the end of the text, in which a mark may have begun
        self._has_started = False  # true after the first words were checked
        self._in_details = False  # true inside reasoning that </details> ends
        self._opening = ""  # words that opened the reasoning; empty if a mark did
        self._channel = ""  # of the current message; empty without channels
        self._is_over = False  # true after the end of the reply
        self._header: str | None = None  # header of a message so far; None outside a header
        self._header_token = ""  # the special token that began the header

    def add(self, piece: str) -> str:
        """Add a piece of text; return the text by which the answer grows.

        The end of the piece is held back if it may be the beginning of a mark.
        """
        text = self._held_text + piece
        if not self._has_started and not self._check_start(text):
            self._held_text = text
            return ""
        answer_parts: list[str] = []
        position = 0
        for mark in THOUGHT_MARK.finditer(text):
            answer_parts.append(self._add_text(text[position : mark.start()]))
            position = mark.end()
            if not self._process_mark(mark):
                answer_parts.append(self._add_text(mark[0]))
        remainder = text[position:]
        ready_length = len(remainder) - self._held_length(remainder)
        self._held_text = remainder[ready_length:]
        return "".join([*answer_parts, self._add_text(remainder[:ready_length])])

    def end(self, complete: bool = True) -> str:
        """End the text; return the text by which the answer grows.

        `complete` is false if the text was cut off.
        """
        held_text = self._held_text
        self._held_text = ""
        if not self._has_started:
            self._check_start(held_text, at_end=True)
        if self._header is not None:
            self._end_header()
        if not self._in_quotes():
            if SPECIAL_CUT.fullmatch(held_text) or (
                SENTENCE_END.fullmatch(held_text) and "<s>" not in self.answer
            ):
                held_text = ""
            elif not complete and not self.answer.strip() and OPENING_CUT.fullmatch(held_text):
                held_text = ""
                self.is_in_reasoning = True
        added_text = self._add_text(held_text)
        if self._is_expected and complete:
            self.starts_in_reasoning = None if self._opening else False
            return self._take_thought_as_answer("")
        self._drop_opening()
        return added_text

    def _check_start(self, text: str, at_end: bool = False) -> bool:
        """Look for opening words; return whether the text is long enough to decide.

        `at_end` is true if no more text follows.
        """
        beginning = text.lstrip()
        for opening in () if self.is_in_reasoning else OPENING_WORDS:
            for words in opening.words:
                if words.startswith(beginning) and not at_end:
                    return False  # decided by the next letter
                if beginning.startswith(words):
                    self._opening = words
                    self.is_in_reasoning = True
                    letter_follows = beginning[len(words) :][:1].isalpha()
                    self._is_expected = not (opening.may_be_glued and letter_follows)
        self._has_started = True
        return True

    def _held_length(self, text: str) -> int:
        """Return how many letters at the text's end may begin a mark."""
        match = PARTIAL_MARK.search(text)
        length = 0 if match is None else len(text) - match.start()
        if self._is_opened_by_words:
            return max(length, min(len(text), MAX_HELD_BACK_LETTERS))
        return length

    @property
    def _is_opened_by_words(self) -> bool:
        """True inside reasoning that words opened."""
        return bool(self._opening) and self.is_in_reasoning

    def _drop_opening(self) -> None:
        """Remove the opening words from the reasoning."""
        if self._opening:
            self.thought = self.thought.lstrip().removeprefix(self._opening)
            self._opening = ""

    def _take_thought_as_answer(self, text: str) -> str:
        """Treat the reasoning that was only assumed as the answer.

        The same holds for the `text` after it.
        """
        text = self.thought + text
        self.thought = ""
        self.is_in_reasoning = self._is_expected = False
        return self._add_text(text)

    def _add_text(self, text: str) -> str:
        """Add text without marks; return the text by which the answer grows."""
        if self._header is not None:
            text = self._read_header(text)
        if self._is_over:
            return ""
        if self._is_expected and (self.thought + text).lstrip().startswith(JSON_STARTS):
            return self._take_thought_as_answer(text)
        if self.is_in_reasoning:
            self.thought += text
            return ""
        if self.thought and not self.answer.strip():
            self.answer = ""
            text = text.lstrip()
        self.answer += text
        return text

    def _in_quotes(self) -> bool:
        """Return whether the text so far ends inside quotes of JSON."""
        inside = not self.is_in_reasoning and self.answer.lstrip().startswith(JSON_STARTS)
        return inside and len(QUOTE.findall(self.answer)) % 2 == 1

    def _process_mark(self, mark: re.Match[str]) -> bool:
        """Process a match of `THOUGHT_MARK`.

        Return False if the match is only text at this position.
        """
        if self._in_quotes():
            return False
        if mark["special"]:
            self._process_special_token(mark)
            return True
        if mark["words"]:
            return self._is_opened_by_words and self._switch(closing=True)
        if mark["details"]:
            self._in_details = self._switch(closing=False)
            return self._in_details
        if mark["details_end"]:
            was_open = self._in_details
            self._in_details = False
            return was_open and self._switch(closing=True)
        closing_name = CLOSING_MARK_NAME.search(mark["name"] or "")
        return self._switch(closing=bool(mark["slash"] or mark["square_slash"] or closing_name))

    def _process_special_token(self, mark: re.Match[str]) -> None:
        """Process a special token, which may begin or end the header of a message."""
        token = (mark["token"] or mark["left"] or mark["right"] or mark["plain"]).strip().lower()
        if token in HEADER_ENDS:
            self._end_header(message=True)
        elif mark["right"] == "channel" and self._channel != "final":
            self._switch(closing=True)
        elif token in HEADER_TOKENS and not mark["right"]:
            self._end_header()
            self._header = ""
            self._header_token = token
        elif token.removesuffix("_token") in OTHER_ROLES:
            self._end_reply()

    def _read_header(self, text: str) -> str:
        """Add text to the header of a message; return the rest.

        The rest is the text after the end of the header. A header ends with its line, or after its
        first word if it is too long.
        """
        header, newline, following_text = ((self._header or "") + text).partition("\n")
        self._header = header
        if newline:
            self._end_header()
            return following_text
        if len(header) <= MAX_HEADER_LETTERS:
            return ""
        self._header, _, following_text = header.partition(" ")
        self._end_header()
        return following_text

    def _end_header(self, message: bool = False) -> None:
        """Process the complete header of a message, which has a channel or a role.

        `message` is true if a special token ended it.
        """
        words = (self._header or "").lower().split()
        first_word = words[0] if words else ""
        token = self._header_token
        self._header = None
        self._header_token = ""
        if token == "channel":
            previous_channel = self._channel
            self._channel = first_word
            if first_word != "final":
                self._switch(closing=False, is_certain=True)
            elif previous_channel != "final":
                self._switch(closing=True, is_certain=True)
        elif first_word in OTHER_ROLES:
            self._end_reply()
        elif token and message and self._channel not in ("", "final") and self.is_in_reasoning:
            self._switch(closing=True, is_certain=True)  # a message without a channel

    def _end_reply(self) -> None:
        """End the reply if it has any text: the message of another role follows."""
        self._is_over = bool(self.answer.strip() or self.thought.strip())

    def _switch(self, closing: bool, is_certain: bool = False) -> bool:
        """Begin or end reasoning, and return True if that is allowed.

        The result is False if a mark may not do so at this position. With `is_certain`, a special
        token says so, and the position is not checked.
        """
        if closing and not self.is_in_reasoning:
            if not is_certain and self.answer.lstrip().startswith(JSON_STARTS):
                return False
            self._take_answer_as_thought(is_certain)
        elif (
            not (closing or self.is_in_reasoning or is_certain)
            and self.answer.rpartition("\n")[2].strip()
        ):
            return False  # an opening mark within a line
        if self._is_expected:
            self.starts_in_reasoning = None if self._opening else closing
            self._is_expected = False
        if closing:
            self._drop_opening()
        elif self.thought:
            self.thought = self.thought.rstrip() + "\n"
        self.is_in_reasoning = not closing
        return True

    def _take_answer_as_thought(self, is_certain: bool) -> None:
        """Treat the answer so far as reasoning.

        This follows a closing mark without an opening one.
        """
        if self.answer.strip() or not is_certain:
            self.starts_in_reasoning = not self.thought
        self.thought += self.answer
        self.answer = ""


def separate_thought(text: str, complete: bool = True) -> tuple[str, str, bool]:
    """Separate the reasoning from the answer of a text.

    Parameters
    ----------
    text : the text.
    complete : false for a text that was cut off, perhaps before the answer began.

    Returns
    -------
    The reasoning, the answer, and True if the text ends inside the reasoning.

    Examples
    --------
    >>> from core.models.chat.thoughts import separate_thought
    >>> separate_thought("<think>Ann or Bob?</think> Bob."), separate_thought("Ann or Bob?</think>Bob.")
    (('Ann or Bob?', 'Bob.', False), ('Ann or Bob?', 'Bob.', False))
    >>> separate_thought("<think>Ann or")
    ('Ann or', '', True)
    >>> separate_thought("[THINK]Ann?[/THINK]Bob.<|im_end|>")
    ('Ann?', 'Bob.', False)
    """
    thoughts = ThoughtSeparator()
    thoughts.add(text)
    thoughts.end(complete)
    return thoughts.thought.strip(), thoughts.answer, thoughts.is_in_reasoning

"""Thoughts in the text of a reply, separated from its answer while the text comes in pieces."""

from __future__ import annotations

import re

NAMES = "think|thinking|thought|reasoning"
TAG = re.compile(rf"<(/?)(?:{NAMES})>", re.IGNORECASE)
BEGUN = re.compile(
    r"<(/?[a-z]{0,9})?$", re.IGNORECASE
)  # the end of a text where a tag may have begun
JSON = ("{", "[")


class Thoughts:
    """Separates the thoughts of a reply from its answer, whatever the pieces in which the text comes.

    A thought lies between `<think>` and `</think>` (or `<thinking>`, `<thought>`, `<reasoning>`), where the first begins the text or a
    line. What comes before a closing tag that has no opening one is a thought too, and so is what follows an opening one that is never
    closed. JSON may quote such tags: a closing one alone ends no thought in a text that begins as JSON.

    With `begun` the text is expected to begin inside a thought, as that of a model whose prompt ends in the opening tag. It does not where
    it begins as JSON, and where it is whole without any closing tag.
    """

    def __init__(self, begun: bool = False) -> None:
        self.thought = self.answer = ""
        self.thinking = begun  # whether the text so far ends inside a thought
        self.begun: bool | None = (
            None  # whether the text began inside a thought, where it shows that
        )
        self._expected, self._held = begun, ""

    def add(self, piece: str) -> str:
        """What the answer has grown by; the beginning of what may become a tag is held back."""
        before, self._held = self._held + piece, ""
        at = 0
        written: list[str] = []
        for tag in TAG.finditer(before):
            written.append(self._take(before[at : tag.start()]))
            at = tag.end()
            if not self._turn(closing=bool(tag[1])):
                written.append(self._take(tag[0]))
        rest = before[at:]
        begun = BEGUN.search(rest)
        grown = len(rest) if begun is None else begun.start()
        self._held = rest[grown:]
        return "".join([*written, self._take(rest[:grown])])

    def end(self, whole: bool = True) -> str:
        """What the answer grows by, now that nothing more comes, of a text that is `whole` or was cut."""
        held, self._held = self._held, ""
        grown = self._take(held)
        if self._expected and whole:
            self.begun = False
            return self._answer_after_all("")
        return grown

    def _answer_after_all(self, text: str) -> str:
        """Take what was expected to be a thought, and `text` behind it, for the answer."""
        text, self.thought = self.thought + text, ""
        self.thinking = self._expected = False
        return self._take(text)

    def _take(self, text: str) -> str:
        if self._expected and (self.thought + text).lstrip().startswith(JSON):
            return self._answer_after_all(text)
        if self.thinking:
            self.thought += text
            return ""
        if self.thought and not self.answer.strip():
            self.answer, text = "", text.lstrip()
        self.answer += text
        return text

    def _turn(self, closing: bool) -> bool:
        """Take a tag for what it is; whether it is one here."""
        if closing and not self.thinking:
            if self.answer.lstrip().startswith(JSON):
                return False
            self.begun = not self.thought
            self.thought, self.answer = self.thought + self.answer, ""
        elif not closing and not self.thinking and self.answer.rpartition("\n")[2].strip():
            return False
        if self._expected:
            self.begun, self._expected = closing, False
        self.thinking = not closing
        if not closing and self.thought:
            self.thought = self.thought.rstrip() + "\n"
        return True


def separated(text: str) -> tuple[str, str, bool]:
    """The thought and the answer of a whole text, and whether it ends inside the thought.

    >>> from core.models.chat.thoughts import separated
    >>> separated("<think>Ann or Bob?</think> Bob."), separated("Ann or Bob?</think>Bob."), separated("<think>Ann or")
    (('Ann or Bob?', 'Bob.', False), ('Ann or Bob?', 'Bob.', False), ('Ann or', '', True))
    """
    thoughts = Thoughts()
    thoughts.add(text)
    thoughts.end()
    return thoughts.thought.strip(), thoughts.answer, thoughts.thinking

"""Questions as they are kept of a file: each with an id of its own, and all of them within a bound of memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from sys import getsizeof

from core.errors import BadInput
from core.io.files import size_text
from core.types import Question

MAX_BYTES = 1 << 28  # bytes of memory that the questions of one file may take
MOST_NAMES = 1_000  # of keys or columns
# bytes of a question and its two tuples, of a name in one, and of a name's row in the table
EACH, EACH_NAME, EACH_ROW = (280, 8, 100)


class Collected:
    """The questions of a file so far. A name that comes again is held once, as answers do in most sets."""

    def __init__(self, file: str, name: str, hops: int | None):
        self.file, self.name, self.hops = file, name, hops
        self.questions: list[Question] = []
        self.seen: set[str] = set()  # the keys or columns that were read
        self.there: dict[str, None] = {}  # those that hold something
        self.unanswerable = 0  # questions that the file marks so, and that were left out
        self._ids: Counter[str] = Counter()
        self._names: dict[str, str] = {}
        self._bytes = 0

    def add(self, where: str, question: Question) -> None:
        """Add one, found at `where` in the file. Raises BadInput once they take more than `MAX_BYTES` bytes of memory."""
        place = f"{self.name}-{where.split()[-1]}"
        own_id = question.id or place
        self._ids[own_id] += 1
        id = own_id if self._ids[own_id] == 1 else f"{own_id}-{place}"
        entities, answers = (
            self._held(question.entities),
            self._held(dict.fromkeys(question.answers)),
        )
        aliases = tuple(map(self._held, question.aliases))
        self._bytes += (
            EACH
            + getsizeof(id)
            + getsizeof(question.text)
            + EACH_NAME * (len(entities) + len(answers))
        )
        self._bytes += sum(getsizeof(group) for group in aliases)
        if self._bytes > MAX_BYTES:
            raise BadInput(
                f"{self.file}, {where}: the questions up to here take more than {size_text(MAX_BYTES)} of memory; "
                f"that is more than can be kept. Split the file: {len(self.questions):,} questions fit."
            )
        hops = question.hops or self.hops
        self.questions.append(
            replace(question, id=id, hops=hops, entities=entities, answers=answers, aliases=aliases)
        )

    def ignored(self) -> tuple[str, ...]:
        """The keys or columns that hold something and were not read, in the order in which they came."""
        return tuple(name for name in self.there if name not in self.seen)

    def left_out(self) -> tuple[str, ...]:
        """A sentence for each kind of question that was left out."""
        if self.unanswerable == 1:
            what = "1 question that is"
        else:
            what = f"{self.unanswerable:,} questions that are"
        if self.unanswerable:
            return (f"Left out of {self.file}: {what} marked as unanswerable.",)
        return ()

    def note(self, names: Iterable[str]) -> None:
        """Some keys or columns hold something; no more than `MOST_NAMES` of them are noted."""
        if len(self.there) < MOST_NAMES:
            self.there.update(dict.fromkeys(names))

    def _held(self, names: Iterable[str]) -> tuple[str, ...]:
        found = []
        for name in names:
            if name not in self._names:
                self._names[name] = name
                self._bytes += getsizeof(name) + EACH_ROW
            found.append(self._names[name])
        return tuple(found)

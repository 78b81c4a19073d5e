"""The questions collected from a file, with unique ids and within a memory bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from sys import getsizeof

from core.errors import BadInput
from core.io.files import size_text
from core.types import Question

MAX_QUESTION_BYTES = 1 << 28  # memory for the questions of one file, in bytes
MAX_NOTED_COLUMNS = 1_000  # keys or columns of a file that are noted
# Memory in bytes, as CPython allocates it.
QUESTION_BYTES = 280  # of a question with its tuples of entities and answers
TUPLE_NAME_BYTES = 8  # of a reference to a name in a tuple
NAME_ENTRY_BYTES = 100  # of an entry in the dict of names


class QuestionCollector:
    """The questions read from a file so far.

    A name that occurs again is stored once, as most sets repeat their answers.

    Parameters
    ----------
    file : name of the file for messages.
    name : prefix of the ids of questions without an id.
    hops : number of hops of questions without one; None if unknown.

    Attributes
    ----------
    questions : the questions so far.
    read_keys : the keys or columns that were read.
    present_keys : the keys or columns with a value, in their order.
    unanswerable_count : number of questions that were left out, as the file marks them as
        unanswerable.
    """

    def __init__(self, file: str, name: str, hops: int | None):
        self.file = file
        self.name = name
        self.hops = hops
        self.questions: list[Question] = []
        self.read_keys: set[str] = set()
        self.present_keys: dict[str, None] = {}
        self.unanswerable_count = 0
        self._ids: Counter[str] = Counter()
        self._names: dict[str, str] = {}
        self._bytes = 0

    def add(self, where: str, question: Question) -> None:
        """Add a question from a position in the file, such as `line 3`.

        A question without an id gets the prefix and the number of its position. These are appended
        to an id that occurs again. Raises BadInput once the
        questions take more than `MAX_QUESTION_BYTES` bytes of memory.
        """
        row_id = f"{self.name}-{where.split()[-1]}"
        id = question.id or row_id
        self._ids[id] += 1
        if self._ids[id] > 1:
            id = f"{id}-{row_id}"
        entities = self._intern_names(question.entities)
        answers = self._intern_names(dict.fromkeys(question.answers))
        aliases = tuple(map(self._intern_names, question.aliases))
        self._bytes += QUESTION_BYTES + getsizeof(id) + getsizeof(question.text)
        self._bytes += TUPLE_NAME_BYTES * (len(entities) + len(answers))
        self._bytes += sum(getsizeof(group) for group in aliases)
        if self._bytes > MAX_QUESTION_BYTES:
            raise BadInput(
                f"{self.file}, {where}: the questions up to here take more than "
                f"{size_text(MAX_QUESTION_BYTES)} of memory; that is more than can be kept. Split "
                f"the file: {len(self.questions):,} questions fit."
            )
        hops = question.hops or self.hops
        self.questions.append(
            replace(question, id=id, hops=hops, entities=entities, answers=answers, aliases=aliases)
        )

    def ignored_keys(self) -> tuple[str, ...]:
        """Return the keys or columns with unread values, in their order."""
        return tuple(name for name in self.present_keys if name not in self.read_keys)

    def left_out_notes(self) -> tuple[str, ...]:
        """Return a sentence about the questions that were left out. Empty if none was."""
        if not self.unanswerable_count:
            return ()
        questions = f"{self.unanswerable_count:,} questions that are"
        if self.unanswerable_count == 1:
            questions = "1 question that is"
        return (f"Left out of {self.file}: {questions} marked as unanswerable.",)

    def note_keys(self, names: Iterable[str]) -> None:
        """Note that keys or columns have a value, up to `MAX_NOTED_COLUMNS` of them."""
        if len(self.present_keys) < MAX_NOTED_COLUMNS:
            self.present_keys.update(dict.fromkeys(names))

    def _intern_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the stored copies of the names, and count the memory of new ones."""
        shared_names = []
        for name in names:
            if name not in self._names:
                self._names[name] = name
                self._bytes += getsizeof(name) + NAME_ENTRY_BYTES
            shared_names.append(self._names[name])
        return tuple(shared_names)

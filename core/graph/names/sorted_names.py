"""Vocabularies of graphs that are too large for memory, or whose nodes are numbers.

The names of a large graph stay on disk, sorted by their folded form.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

import numpy as np

from core.errors import StoreError
from core.graph.names.mentions import COMMON_QUESTION_WORDS, SpelledName, Vocabulary, name_likeness
from core.graph.names.word_index import Word, words_of
from core.graph.store import Graph
from core.io.durable_files import move_into_place
from core.languages.spelling import fold, name_key

EDIT_DISTANCES = (1, 2)  # tried in this order
# Memory in bytes for folding and sorting names, when a graph without these files is first searched.
FOLDING_MEMORY_BYTES = 1 << 30


@dataclass(frozen=True)
class SpellingDefaults:
    """Limits of the search for names by spelling."""

    search_rows: int = 400_000  # rows of the edit distance table, per search
    max_matches: int = 512  # names found, per search
    # characters of a text that is tried with two edits, and of words that are searched by spelling
    min_two_edit_letters: int = 5
    max_question_words: int = 30  # words of a question that is searched by spelling
    max_run_words: int = 5  # consecutive words that are searched as one name
    shared_start_letters: int = 2  # first letters that a name within two edits shares with the text


SPELLING = SpellingDefaults()


class SortedNames(Vocabulary):
    """A vocabulary of names on disk, for graphs that are too large for memory.

    It finds exact names, names by their beginning, and names in a question like `Vocabulary`. By
    spelling, it finds names within one edit, or within two if the first letters are right, up to
    the limits in `SPELLING`. It does not find names that contain the text after their beginning.
    """

    def __init__(self, graph: Graph):
        self.graph, self.names, self.degrees = graph, _LazyNames(graph), _LazyDegrees(graph)
        self._lock = threading.RLock()
        # Row i of the sorted names is `data[offsets[i]:offsets[i + 1]]`, of the node `order[i]`.
        self._data, self._offsets, self._order = folded_files(graph)

    def find_nodes(self, name: str) -> tuple[int, ...]:
        """Return the nodes with this name, ignoring case and typography, ascending."""
        first, last = self._find_range(_encode(fold(name)), is_exact=True)
        return tuple(self._order[first:last].tolist())

    def find_by_key(self, name: str) -> tuple[int, ...]:
        """Return no nodes, because names without punctuation are not stored."""
        return ()

    def find_alike(self, name: str) -> tuple[int, ...]:
        """Return the same as `find_nodes`, because names without accents are not stored."""
        return self.find_nodes(name)

    def search(self, text: str, k: int) -> list[tuple[int, float]]:
        """Return the nearest names as (node, score in 0..100), ordered by (-score, node).

        Scores are those of `Vocabulary.search`.
        """
        from core.graph.bytes.spelling import shortest_names  # imports numba

        folded_text = fold(text).strip()
        if not folded_text or k < 1:
            return []
        first, last = self._find_range(_encode(folded_text))
        rows = shortest_names(self._data, self._offsets, self._order, first, last, k).tolist()
        if len(rows) < k:
            rows += [row for row in self._find_similar(folded_text) if not first <= row < last]
        matches = [
            (int(self._order[row]), round(name_likeness(folded_text, self._name(row)), 4))
            for row in rows
        ]
        return sorted(matches, key=lambda match: (-match[1], match[0]))[:k]

    def _name_spans(self, text: str, bounds: list[int]) -> Iterator[tuple[int, int]]:
        # The range of names with a prefix shrinks as the prefix grows.
        for index, start in enumerate(bounds[:-1]):
            low, high = 0, len(self._order)
            for end in bounds[index + 1 :]:
                part = _encode(text[start:end])
                low, high = self._find_range(part, low, high)
                if low == high:
                    break
                if int(self._offsets[low + 1] - self._offsets[low]) == len(part):
                    yield start, end

    def find_spelled_names(self, question: str, words: Sequence[Word]) -> list[SpelledName]:
        """Return the names that parts of a question spell, ignoring case.

        Up to `max_run_words` consecutive words that are not a name are also searched by spelling,
        if the question is not too long.
        """
        exact = self._exact_names(question)
        if len(words) > SPELLING.max_question_words:
            return exact
        exact_spans = {(spelt.start, spelt.end) for spelt in exact}
        fuzzy_names: dict[tuple[int, int, tuple[int, ...]], list[int]] = {}
        for first in range(len(words)):
            for last in range(first + 1, min(len(words), first + SPELLING.max_run_words) + 1):
                run = words[first:last]
                start, end = run[0].start, run[-1].end
                if (
                    end - start < SPELLING.min_two_edit_letters
                    or (start, end) in exact_spans
                    or run[0].text in COMMON_QUESTION_WORDS
                    or run[-1].text in COMMON_QUESTION_WORDS
                ):
                    continue
                for row in self._find_similar(fold(question[start:end])):
                    key = (start, end, _mark_errors(run, self._name(row)))
                    fuzzy_names.setdefault(key, []).append(int(self._order[row]))
        misspelt = [
            SpelledName(start, end, tuple(nodes), errors)
            for (start, end, errors), nodes in fuzzy_names.items()
        ]
        return [*exact, *misspelt]

    def __contains__(self, word: str) -> bool:
        """Return whether a name begins with this word."""
        first, last = self._find_range(_encode(word))
        return first < last

    def _find_similar(self, text: str) -> list[int]:
        """Return the rows of the names within one edit of a folded text.

        If there are none, return those within two edits that have the same first letters.
        """
        from core.graph.bytes.spelling import names_within_edits  # imports numba

        letters = np.array([ord(letter) for letter in text], np.int64)
        positions = np.empty(SPELLING.max_matches, np.int64)
        for edits in EDIT_DISTANCES:
            rows = (0, len(self._order))
            if edits > 1:
                if len(text) < SPELLING.min_two_edit_letters:
                    break
                rows = self._find_range(_encode(text[: SPELLING.shared_start_letters]))
            count = names_within_edits(
                self._data, self._offsets, *rows, letters, edits, SPELLING.search_rows, positions
            )
            if count:
                return positions[:count].tolist()
        return []

    def _name(self, row: int) -> str:
        return bytes(self._data[self._offsets[row] : self._offsets[row + 1]]).decode("utf-8")

    def _find_range(
        self, prefix: bytes, low: int = 0, high: int | None = None, is_exact: bool = False
    ) -> tuple[int, int]:
        """Return the rows (first, end) of the names with a prefix.

        With `is_exact`, the names must equal the prefix. Only rows from `low` to `high`, exclusive,
        are searched; None stands for the end.
        """
        from core.graph.bytes.spelling import first_after, first_at_least  # imports numba

        letters = np.frombuffer(prefix, np.uint8)
        high = len(self._order) if high is None else high
        low = first_at_least(self._data, self._offsets, letters, low, high)
        # Equal names come first in the range, before those that continue with any byte.
        if is_exact:
            letters = np.frombuffer(prefix + b"\0", np.uint8)
            return low, first_at_least(self._data, self._offsets, letters, low, high)
        return low, first_after(self._data, self._offsets, letters, low, high)


class NumberedNames(Vocabulary):
    """The vocabulary of a graph whose nodes are numbers, which are also their ids."""

    def __init__(self, graph: Graph):
        self.graph, self.names, self.degrees = graph, _LazyNames(graph), _LazyDegrees(graph)
        self._lock = threading.RLock()

    def find_nodes(self, name: str) -> tuple[int, ...]:
        """Return the node with this number."""
        return self.graph.nodes_named(fold(name))

    def find_by_key(self, name: str) -> tuple[int, ...]:
        """Return the node with this number, written with thousands separators or a decimal zero."""
        return self.graph.nodes_named(name_key(name))

    def find_alike(self, name: str) -> tuple[int, ...]:
        """Return the same as `find_nodes`, because numbers have no accents."""
        return self.find_nodes(name)

    def search(self, text: str, k: int) -> list[tuple[int, float]]:
        """Return the smallest numbers that begin with these digits, as (node, score).

        The pairs are ordered by (-score, node). Scores are those of `Vocabulary.search`.
        """
        digits = text.strip()
        is_number = digits.isascii() and digits.isdecimal() and len(digits) < 20
        if not is_number or str(int(digits)) != digits:  # leading zeros
            return []
        # 12, then 120 to 129, then 1200 to 1299, ...
        nodes: list[int] = []
        first, count = int(digits), 1
        while first < self.graph.n_nodes and len(nodes) < k:
            nodes += range(first, min(first + count, self.graph.n_nodes, first + k - len(nodes)))
            if not first:  # no number continues 0
                break
            first, count = 10 * first, 10 * count
        return [(node, round(name_likeness(digits, str(node)), 4)) for node in nodes]

    def _name_spans(self, text: str, bounds: list[int]) -> Iterator[tuple[int, int]]:
        for start, end in zip(bounds, bounds[1:]):
            if self.find_nodes(text[start:end]):
                yield start, end

    def find_spelled_names(self, question: str, words: Sequence[Word]) -> list[SpelledName]:
        """Return the numbers in the question."""
        return self._exact_names(question)

    def __contains__(self, word: str) -> bool:
        return bool(self.find_nodes(word))


def _encode(text: str) -> bytes:
    """Return a text in UTF-8. Lone surrogates, which no name has, are allowed."""
    return text.encode("utf-8", "surrogatepass")


def _mark_errors(run: Sequence[Word], name: str) -> tuple[int, ...]:
    """Mark each word of a run that differs from a name's word.

    The mark is 1 if it differs, else 0. If the numbers of words differ, or all words are equal,
    only the first word has 1.
    """
    name_words = [word.text for word in words_of(name)]
    if len(name_words) != len(run) or name_words == [word.text for word in run]:
        return (1, *(0 for _ in run[1:]))
    return tuple(int(word.text != name_word) for word, name_word in zip(run, name_words))


class _LazyNames:
    """Names of the nodes, each read from the graph on access."""

    def __init__(self, graph: Graph):
        self._graph = graph

    def __getitem__(self, node: int) -> str:
        return self._graph.node_name(node)


class _LazyDegrees:
    """Degrees of the nodes, each read from the graph on access."""

    def __init__(self, graph: Graph):
        self._graph = graph

    def __getitem__(self, node: int) -> int:
        return self._graph.degree(node)


def folded_files(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the folded names of a graph in order, as memory-mapped arrays.

    If the files do not exist yet, they are written into the folder of the graph's arrays.

    Returns
    -------
    The bytes of the names (uint8), their offsets [names + 1], and the node of each name.

    Raises
    ------
    StoreError
        If the files cannot be written or read.
    """
    from core.graph.large import (  # imports numba
        FOLDED,
        FOLDED_ENDS,
        FOLDED_NODES,
        write_folded,
    )

    folder = graph.data_folder
    try:
        if not (folder / FOLDED_NODES).exists():
            temporary = tempfile.mkdtemp(prefix="folding", dir=folder)
            try:
                write_folded(
                    np.asarray(graph.names_utf8),
                    np.asarray(graph.name_offsets),
                    FilePath(temporary),
                    FOLDING_MEMORY_BYTES,
                )
                for name in (FOLDED, FOLDED_ENDS, FOLDED_NODES):
                    move_into_place(FilePath(temporary, name), folder / name)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
        offsets = np.load(folder / FOLDED_ENDS, mmap_mode="r")
        nodes = np.load(folder / FOLDED_NODES, mmap_mode="r")
        return (
            np.asarray(np.memmap(folder / FOLDED, np.uint8, "r")),
            np.asarray(offsets),
            np.asarray(nodes),
        )
    except (OSError, ValueError) as error:
        raise StoreError(f"The names of “{graph.name}” cannot be read in order: {error}.") from None

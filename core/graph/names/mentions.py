"""Vocabulary of a graph's names: look-up, detection in a text, and search for the nearest names."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, SupportsInt, TypeVar

import numpy as np

from core.graph.names.word_index import Word, WordIndex
from core.graph.order import top_k
from core.languages.scripts import UNSPACED_LETTER
from core.languages.spelling import (
    end_offset,
    fold,
    fold_with_offsets,
    name_key,
    normalize,
    row_pattern,
    strip_accents,
)

Value = TypeVar("Value", covariant=True)
BRACKETED_MENTION = re.compile(r"\[([^\[\]]+)\]")
# Words that are common in questions. A node with such a name is linked only if the question names
# nothing else.
COMMON_QUESTION_WORDS = frozenset(
    (
        "a about act acted acting actor actors actress actresses also an and appear appeared "
        "appears applicable are as associated at be best by came can co co-starred come costarred "
        "could date dates describe described did direct directed director directors directs do "
        "does english ever fall falls famous features film films find for from genre genres give "
        "good had has have he her him his how i in into is it its kind kinds language languages "
        "list listed made main make makes me movie movies name named of on one or other out people "
        "person play played plays please popular primary rated rating ratings release released "
        "same say screenplay screenwriter screenwriters script scripts share she show some sort "
        "spoken star starred starring stars tag tell that the their them there these they this "
        "those title to together topic topics type types under use used using vote votes was were "
        "what whats when where which who whose why with word words write writer writers written "
        "wrote year years you"
    ).split()
)
# Korean letters. Korean particles follow a name without a space.
KOREAN_LETTER = re.compile(r"[\uac00-\ud7a3]")
# Smallest number of characters of a text in which typing errors are allowed. A single word that
# occurs in some name needs one more.
MIN_FUZZY_LETTERS = 3
# Score of a name with a similar spelling, as a share of rapidfuzz's ratio (0 to 100).
SPELLING_SCORE_SHARE = 0.8
# Number of words at the beginning of a text in which typing errors are allowed.
MAX_FUZZY_WORDS = 60
# Number of names whose keys are made in advance, in 10 ms. Of more names, those that a pattern finds
# get a key. The pattern takes 0.1 ms to compile for each name that is looked up.
MAX_KEYED_NAMES = 1000


@dataclass(frozen=True)
class Mention:
    """A part of a question that names a node.

    `text` is `question[start:end]`. `fuzzy` is True if the part has typing errors.
    """

    start: int
    end: int
    text: str
    node: int
    fuzzy: bool = False


@dataclass(frozen=True)
class SpelledName:
    """A part of a question, `question[start:end]`, with the nodes whose name it spells.

    `errors` are the numbers of typing errors in each word, empty for an exact name.
    """

    start: int
    end: int
    nodes: tuple[int, ...]
    errors: tuple[int, ...] = ()


class NodeValues(Protocol[Value]):
    """Values of the nodes by id, all in memory or read on access."""

    def __getitem__(self, node: int, /) -> Value: ...


class Vocabulary:
    """Search structures over the names of a graph.

    Names are compared in their folded form, without case and typography. Each structure is built at
    first use. Threads may share a vocabulary.

    Parameters
    ----------
    names : names of the nodes, by id.
    degrees : int64 [nodes], the number of edges of each node.
    """

    def __init__(self, names: Sequence[str], degrees: np.ndarray):
        self.names: NodeValues[str] = names
        self.degrees: NodeValues[SupportsInt] = degrees
        self._all_names = names
        self._lock = threading.RLock()
        self.folded = [fold(name) for name in names]
        self._nodes: dict[str, tuple[int, ...]] = {}  # folded name -> nodes
        for node, name in enumerate(self.folded):
            self._nodes[name] = self._nodes.get(name, ()) + (node,)
        self._max_letters = max(map(len, self._nodes), default=0)

    def find_nodes(self, name: str) -> tuple[int, ...]:
        """Return the nodes with this name, ignoring case and typography, ascending."""
        return self._nodes.get(fold(name), ())

    def find_by_key(self, name: str) -> tuple[int, ...]:
        """Return the nodes with this name, ignoring case, typography and punctuation, ascending.

        The writing of numbers, such as 1,000 and 1000, does not count either.
        """
        key, normalized = name_key(name), normalize(name)
        if not any(map(str.isalnum, normalized)):
            return ()
        if len(self._all_names) <= MAX_KEYED_NAMES:
            return self._nodes_by_key.get(key, ())
        import pyarrow.compute as pc

        # The pattern finds a superset quickly. The keys then decide.
        pattern = row_pattern(normalized)
        matches = pc.match_substring_regex(self._column, pattern, ignore_case=True)
        nodes = np.flatnonzero(matches.to_numpy(zero_copy_only=False)).tolist()
        return tuple(node for node in nodes if name_key(self._all_names[node]) == key)

    def find_alike(self, name: str) -> tuple[int, ...]:
        """Return the nodes with this name, ignoring case, typography and accents, ascending."""
        return self._unaccented.get(strip_accents(name), ())

    @cached_property
    def _column(self) -> Any:
        """The names as an Arrow array, for fast regular expressions."""
        import pyarrow as pa

        return pa.array(list(self._all_names), pa.large_string())

    @cached_property
    def _nodes_by_key(self) -> dict[str, tuple[int, ...]]:
        """The nodes by the keys of their names."""
        return self._nodes_by(name_key)

    @cached_property
    def _unaccented(self) -> dict[str, tuple[int, ...]]:
        """The nodes by their names without accents."""
        return self._nodes_by(strip_accents)

    def _nodes_by(self, make_key: Callable[[str], str]) -> dict[str, tuple[int, ...]]:
        nodes_of: dict[str, tuple[int, ...]] = {}
        for node, name in enumerate(self._all_names):
            key = make_key(name)
            nodes_of[key] = (*nodes_of.get(key, ()), node)
        return nodes_of

    def search(self, text: str, k: int) -> list[tuple[int, float]]:
        """Return the nearest names as (node, score in 0..100), ordered by (-score, node).

        Parameters
        ----------
        text : a name, or part of one; case and typography do not count.
        k : largest number of names.

        Returns
        -------
        The nodes with their scores; empty for a blank text.
        """
        from rapidfuzz.fuzz import ratio
        from rapidfuzz.process import cdist

        folded_text = fold(text).strip()
        if not folded_text or k < 1:
            return []
        ratios = cdist([folded_text], self.folded, scorer=ratio, dtype=np.float32, workers=1)[0]
        scores = ratios.astype(np.float64) * SPELLING_SCORE_SHARE
        for node, name in enumerate(self.folded):
            if folded_text in name:
                scores[node] = max(scores[node], _containing_score(folded_text, name))
        nodes, best = top_k(np.arange(len(scores)), np.round(scores, 4), k)
        return list(zip(nodes.tolist(), best.tolist()))

    def choose_node(self, text: str) -> int | None:
        """Return the node that a piece of text names, or None.

        Of several nodes, one with exactly this name is preferred, then the one with the most edges.
        """
        nodes = self.find_nodes(text)
        if not nodes:
            return None
        return min(
            nodes, key=lambda node: (self.names[node] != text, -int(self.degrees[node]), node)
        )

    def find_spelled_names(self, question: str, words: Sequence[Word]) -> list[SpelledName]:
        """Return the names that parts of a question spell.

        Case is ignored, and typing errors are allowed.

        Parameters
        ----------
        question : the text to search.
        words : words of the question; the first `MAX_FUZZY_WORDS` may have typing errors.

        Returns
        -------
        The exact names first, then the mistyped ones.
        """
        exact_names = {(spelt.start, spelt.end): spelt for spelt in self._exact_names(question)}
        fuzzy_names: dict[tuple[int, int, tuple[int, ...]], list[int]] = {}
        for match in self._word_index.find(words[:MAX_FUZZY_WORDS]):
            start, end = words[match.first].start, words[match.last - 1].end
            # A single word that occurs in some name is probably meant as written.
            is_known_word = match.last - match.first == 1 and words[match.first].text in self
            if any(match.errors) and end - start < MIN_FUZZY_LETTERS + is_known_word:
                continue
            exact_name = exact_names.get((start, end))
            nodes = [
                node for node in match.nodes if exact_name is None or node not in exact_name.nodes
            ]
            fuzzy_names.setdefault((start, end, match.errors), []).extend(nodes)
        misspelt = [
            SpelledName(start, end, tuple(nodes), errors)
            for (start, end, errors), nodes in fuzzy_names.items()
            if nodes
        ]
        return [*exact_names.values(), *misspelt]

    def __contains__(self, word: str) -> bool:
        """Return whether a name contains this word."""
        return word in self._word_index

    @cached_property
    def _word_index(self) -> WordIndex:
        with self._lock:
            return WordIndex(self._all_names)

    def _exact_names(self, question: str) -> list[SpelledName]:
        """Return all names in a question between word boundaries, ignoring case, with overlaps.

        In scripts without spaces every position is a boundary. A Korean name may end anywhere in a
        word.
        """
        text, offsets = fold_with_offsets(question)
        bounds = [
            position
            for position in range(len(text) + 1)
            if not _is_inside_word(text, position) or KOREAN_LETTER.match(text[position - 1])
        ]
        names_at = {}
        for first, last in self._name_spans(text, bounds):
            if _is_inside_word(text, first):
                continue
            start, end = offsets[first], end_offset(offsets, last)
            nodes = self.find_nodes(question[start:end])
            if nodes:
                names_at[start, end] = SpelledName(start, end, nodes)
        return list(names_at.values())

    def _name_spans(self, text: str, bounds: list[int]) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of the names in a folded text.

        The names begin and end at `bounds`, which are ascending positions.
        """
        for index, start in enumerate(bounds, 1):
            for end in bounds[index:]:
                if end - start > self._max_letters:
                    break
                if text[start:end] in self._nodes:
                    yield start, end


def name_likeness(query: str, name: str) -> float:
    """Return the similarity of a folded name to a folded text, 0 to 100.

    A name that contains the text scores higher than one with a similar spelling, by the rules of
    `NameLookup.search`.

    Parameters
    ----------
    query : the folded text that is searched.
    name : the folded name of a node.

    Examples
    --------
    >>> from core.graph.names.mentions import name_likeness
    >>> name_likeness("film", "film noir") > name_likeness("film", "a film") > name_likeness("film", "microfilm")
    True
    >>> name_likeness("film", "microfilm") > name_likeness("film", "fila")
    True
    """
    from rapidfuzz.fuzz import ratio

    spelling_score = ratio(query, name) * SPELLING_SCORE_SHARE
    return max(spelling_score, _containing_score(query, name)) if query in name else spelling_score


def _containing_score(query: str, name: str) -> float:
    """Return the score of a name that contains the text, 75 to 100.

    It is highest if the text begins the name, then if it begins a word. A shorter name scores
    higher.
    """
    start = name.find(query)
    if start == 0:
        return 90.0 + 10.0 * len(query) / len(name)
    base = 75.0 if name[start - 1].isalnum() else 85.0
    return base + 5.0 * len(query) / len(name)


def _is_inside_word(text: str, position: int) -> bool:
    """Return whether a position is inside a word of a spaced script.

    The position is between two letters.
    """
    before, after = text[max(0, position - 1) : position], text[position : position + 1]
    if not (before.isalnum() and after.isalnum()):
        return False
    return not (UNSPACED_LETTER.match(before) or UNSPACED_LETTER.match(after))

"""The words of a graph's texts: which texts hold each and how often, saved beside a large graph; hits by BM25 and TF-IDF."""

from __future__ import annotations

import json
import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from core.graph.names.language import graph_language
from core.graph.store import Graph
from core.indexes.encoded import DONE, Of, count, texts
from core.indexes.place import free, index_folder, keep_if_possible
from core.io import digests
from core.languages import is_english
from core.languages.terms import terms
from core.runtime.meter import silent, spent

VERSION = 1
SHELF = "words"  # where opened ones are found on their graph
SAVED_FROM = 5_000  # texts from which their words are saved; those of fewer are read in less than a second
BLOCK = 2_000  # texts read between two looks at whether somebody cancelled
K1, B = 1.5, 0.75  # of BM25
Tell = Callable[[str, float | None], None]


@dataclass(frozen=True, eq=False)
class Postings:
    """The texts that hold each word: those of word `i` are `items[starts[i]:starts[i + 1]]`, ascending, each `times` so often.

    Words are in the order of their bytes, one behind the other in `spelled`, from `begins[i]` on. `lengths` are the words of each text, and
    `norms` the lengths of their TF-IDF vectors.
    """

    spelled: np.ndarray  # uint8
    begins: np.ndarray  # int64 [words + 1]
    starts: np.ndarray  # int64 [words + 1]
    items: np.ndarray  # int32 [postings]
    times: np.ndarray  # int32 [postings]
    lengths: np.ndarray  # int32 [texts]
    norms: np.ndarray  # float64 [texts]
    code: str = ""  # the language by whose rules texts and questions are cut into words; empty for English

    @classmethod
    def of(cls, many: Iterable[str], code: str = "") -> Postings:
        """The postings of some texts in a language, one after the other."""
        from scipy.sparse import csr_array

        known, ids, lengths = Numbered(), array("i"), array("i")
        for text in many:
            found = terms(text, code)
            ids.extend([known[word] for word in found])
            lengths.append(len(found))
        order = sorted(known, key=lambda word: word.encode("utf-8", "surrogatepass"))
        place = np.empty(len(order), np.int32)
        place[[known[word] for word in order]] = np.arange(len(order), dtype=np.int32)
        rows = np.concatenate([[0], np.cumsum(np.frombuffer(lengths, np.int32), dtype=np.int64)])
        shape = (len(lengths), len(order))
        counts = csr_array((np.ones(len(ids), np.int32), place[np.frombuffer(ids, np.int32)], rows), shape=shape)
        del ids
        counts.sum_duplicates()
        columns = counts.tocsc()
        spelled = [word.encode("utf-8", "surrogatepass") for word in order]
        begins = np.concatenate([[0], np.cumsum([len(word) for word in spelled], dtype=np.int64)])
        letters, starts = np.frombuffer(b"".join(spelled), np.uint8), columns.indptr.astype(np.int64)
        items, times = columns.indices.astype(np.int32), columns.data
        weights = times * np.repeat(_tfidf_idf(np.diff(starts), len(lengths)), np.diff(starts))
        norms = np.sqrt(np.bincount(items, weights**2, len(lengths)))
        return cls(letters, begins, starts, items, times, np.array(lengths, np.int32), norms, code)

    def __len__(self) -> int:
        """How many texts there are."""
        return len(self.lengths)

    def word(self, number: int) -> bytes:
        """A word, in UTF-8."""
        return self.spelled[self.begins[number] : self.begins[number + 1]].tobytes()

    def number(self, word: str) -> int | None:
        """The number of a word; None where no text holds it."""
        wanted, low, high = word.encode("utf-8", "surrogatepass"), 0, len(self.begins) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.word(middle) < wanted else (low, middle)
        return low if low < len(self.begins) - 1 and self.word(low) == wanted else None

    def holding(self, word: int) -> tuple[np.ndarray, np.ndarray]:
        """The texts that hold a word, and how often each does."""
        part = slice(int(self.starts[word]), int(self.starts[word + 1]))
        return self.items[part], self.times[part]

    def bm25(self, question: str) -> np.ndarray:
        """float64 [texts]: the sum over the question's words of idf * f (k1 + 1) / (f + k1 (1 - b + b |d| / mean |d|)), with
        idf = ln(1 + (N - n + 0.5) / (n + 0.5)); the same bits as bm25s (atire, with Lucene's idf)."""
        scores = np.zeros(len(self), np.float32)
        mean = self.lengths.mean() if len(self) else 1.0
        for word in self._asked(question):
            items, times = self.holding(word)
            idf = np.float32(math.log(1 + (len(self) - len(items) + 0.5) / (len(items) + 0.5)))
            often = times.astype(np.float32)
            share = (often * (K1 + 1)) / (often + K1 * (1 - B + B * self.lengths[items] / mean))
            scores[items] += (idf * share).astype(np.float32)
        return scores.astype(np.float64)

    def tfidf(self, question: str) -> np.ndarray:
        """float64 [texts]: the cosine of the vectors of word counts, each weighted by ln((1 + N) / (1 + n)) + 1; as scikit-learn's."""
        scores, squares = np.zeros(len(self)), 0.0
        for word, often in Counter(self._asked(question)).items():
            items, times = self.holding(word)
            idf = float(_tfidf_idf(np.array([len(items)]), len(self))[0])
            scores[items] += often * idf * (times * idf)
            squares += (often * idf) ** 2
        return scores / np.maximum(self.norms * math.sqrt(squares), 1e-300)

    def _asked(self, question: str) -> Iterator[int]:
        return (number for word in terms(question, self.code) if (number := self.number(word)) is not None)


ARRAYS = tuple(field.name for field in fields(Postings) if field.name != "code")


class Numbered(dict[str, int]):
    """Words with numbers, in the order in which they came."""

    def __missing__(self, word: str) -> int:
        self[word] = len(self)
        return self[word]


def _tfidf_idf(holding: np.ndarray, total: int) -> np.ndarray:
    return np.log((1 + total) / (1 + holding)) + 1


def postings(graph: Graph, of: Of, progress: Tell = silent, check: Callable[[], None] = lambda: None) -> Postings:
    """The postings of all chunks or nodes of a graph, made once. Raises what `check` raises."""
    code = graph_language(graph).code
    code = "" if is_english(code) else code
    return graph.derived.once(SHELF, (of, code), lambda: _had(graph, of, code, progress, check))


@spent("preparation", "Words of the texts")
def _had(graph: Graph, of: Of, code: str, progress: Tell, check: Callable[[], None]) -> Postings:
    total = count(graph, of)
    if total < SAVED_FROM or graph.edited_from is not None or graph.fetched is not None:
        return Postings.of(_texts(graph, of, progress, check), code)
    folder = index_folder(graph) / f"words-{of}"
    found = opened(folder, code)
    if found is None:
        found = Postings.of(_texts(graph, of, progress, check), code)
        with suppress(OSError):  # said by who writes there
            folder.mkdir(parents=True, exist_ok=True)
        for name in ARRAYS:
            keep_if_possible(folder / f"{name}.npy", partial(np.save, arr=getattr(found, name)))
        facts = {"version": VERSION, "texts": total, **({"language": code} if code else {})}
        keep_if_possible(folder / DONE, lambda stream: stream.write(json.dumps(digests.marked(facts)).encode()))
    return found


def forget(graph: Graph) -> None:
    """Let go of the graph's words in memory. Raises StoreError while they are read."""
    shelf = graph.derived.shelf(SHELF)
    with free(shelf.lock, "The words"):
        shelf.values.clear()
        shelf.latest = None


def opened(folder: Path, code: str = "") -> Postings | None:
    """The postings in a folder, by memory map; None where they are not all there, damaged, or of another version or language."""
    try:
        known = digests.check_marked(json.loads((folder / DONE).read_text("utf-8")))
        if known["version"] != VERSION or known.get("language", "") != code:
            return None
        arrays: dict[str, Any] = {}
        for name in ARRAYS:
            digests.check_sealed(folder / f"{name}.npy")
            arrays[name] = np.load(folder / f"{name}.npy", mmap_mode="r")
        return Postings(**arrays, code=code)
    except (OSError, ValueError, EOFError, KeyError, TypeError):
        return None


def _texts(graph: Graph, of: Of, progress: Tell, check: Callable[[], None]) -> Iterator[str]:
    """The texts of a graph; between two blocks `progress` is given how far it is, and `check` may raise."""
    total = count(graph, of)
    for first in range(0, total, BLOCK):
        check()
        progress(f"Reading the words of {total:,} texts", first / total)
        yield from texts(graph, of, range(first, min(total, first + BLOCK)))

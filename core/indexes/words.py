"""Word index of a graph's texts, for search by BM25 and TF-IDF.

It holds the texts with each word and the counts. For a large graph it is saved on disk.
"""

from __future__ import annotations

import json
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from core.graph.names.language import graph_language
from core.graph.store import Graph
from core.indexes.appended import matched
from core.indexes.encoded import DONE, KEYS, Of, count, earlier_folders, keys, texts
from core.indexes.place import free, index_folder, keep_if_possible
from core.io import digests
from core.languages import is_english
from core.languages.terms import terms
from core.runtime.meter import spent
from core.watch import NO_WATCH, Watch

VERSION = 2  # 2: words are normalised by core.languages.spelling
SHELF = "words"  # under this name a graph holds opened indexes in memory
# Number of texts from which their words are saved. Fewer are read in less than a second.
SAVED_FROM = 5_000
MOST_NEW = 0.1  # largest share of new texts for which the index of an earlier content is changed
BLOCK = 2_000  # texts read between two checks for a cancel
COUNTED = 500  # texts whose words are counted in one batch
K1, B = 1.5, 0.75  # parameters of BM25
# words, the count of each, the number of different words of each text
Counted = tuple[np.ndarray, np.ndarray, np.ndarray]
NO_WORDS = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class Postings:
    """Postings of words: the texts that hold each word, and how often.

    The texts with word `i` are `items[starts[i]:starts[i + 1]]`, ascending, with the counts in
    `times`. Words are sorted by their bytes. They are concatenated in `spelled`, word `i` from
    `begins[i]` on. `lengths` counts the words of each text. `norms` are the lengths of the TF-IDF
    vectors of the texts.
    """

    spelled: np.ndarray  # uint8
    begins: np.ndarray  # int64 [words + 1]
    starts: np.ndarray  # int64 [words + 1]
    items: np.ndarray  # int32 [postings]
    times: np.ndarray  # int32 [postings]
    lengths: np.ndarray  # int32 [texts]
    norms: np.ndarray  # float64 [texts]
    code: str = ""  # language whose rules split texts and questions into words; empty: English

    @classmethod
    def of(cls, many: Iterable[str], code: str = "") -> Postings:
        """Return the postings of texts in a language.

        Texts are read and counted in batches of `COUNTED`.
        """
        from scipy.sparse import csr_array

        known, counted, lengths = Numbered(), list[Counted](), array("i")
        texts = iter(many)
        while some := list(islice(texts, COUNTED)):
            found = [terms(text, code) for text in some]
            lengths.extend(map(len, found))
            counted.append(
                _counted(
                    [known[word] for one in found for word in one], [len(one) for one in found]
                )
            )
        order = sorted(known, key=lambda word: word.encode("utf-8", "surrogatepass"))
        place = np.empty(len(order), np.int32)
        place[[known[word] for word in order]] = np.arange(len(order), dtype=np.int32)
        words, often, each = (
            np.concatenate([NO_WORDS, *parts]) for parts in zip((NO_WORDS,) * 3, *counted)
        )
        del counted
        narrow = np.int32 if len(words) < np.iinfo(np.int32).max else np.int64
        rows = np.concatenate([[0], np.cumsum(each, dtype=np.int64)]).astype(narrow)
        counts = csr_array(
            (often, place[words].astype(narrow, copy=False), rows), shape=(len(lengths), len(order))
        )
        del words, often
        columns = counts.tocsc()
        del counts
        items = columns.indices.astype(np.int32, copy=False)
        spelled = [word.encode("utf-8", "surrogatepass") for word in order]
        return cls._of(
            spelled,
            columns.indptr.astype(np.int64),
            items,
            columns.data,
            np.array(lengths, np.int32),
            code,
        )

    @classmethod
    def _of(
        cls,
        words: list[bytes],
        starts: np.ndarray,
        items: np.ndarray,
        times: np.ndarray,
        lengths: np.ndarray,
        code: str,
    ) -> Postings:
        """Return the postings of words in their order, with the norms computed."""
        begins = np.concatenate([[0], np.cumsum([len(word) for word in words], dtype=np.int64)])
        weights = times * np.repeat(_tfidf_idf(np.diff(starts), len(lengths)), np.diff(starts))
        weights *= weights
        norms = np.sqrt(np.bincount(items, weights, len(lengths)))
        return cls(
            np.frombuffer(b"".join(words), np.uint8),
            begins,
            starts,
            items,
            times,
            lengths,
            norms,
            code,
        )

    def changed(self, now: np.ndarray, fresh: Postings, places: np.ndarray) -> Postings:
        """Return the postings of all texts after a change.

        Text `i` becomes text `now[i]`, or is removed where that is -1. The texts of `fresh` become
        texts `places`.

        >>> import numpy as np
        >>> from core.indexes.words import Postings
        >>> whole = Postings.of(["a clerk", "a turkey"]).changed(
        ...     np.array([-1, 0]), Postings.of(["the clerk"]), np.array([1])
        ... )
        >>> words = [whole.word(number).decode() for number in range(4)]
        >>> words, whole.items.tolist(), whole.lengths.tolist()
        (['a', 'clerk', 'the', 'turkey'], [0, 1, 1, 0], [2, 2])
        """
        words = [self.word(number) for number in range(len(self.begins) - 1)]
        more = [fresh.word(number) for number in range(len(fresh.begins) - 1)]
        every = sorted({*words, *more})
        number = {word: place for place, word in enumerate(every)}
        numbered = lambda known, starts: np.repeat(
            np.array([number[word] for word in known], np.int64), np.diff(starts)
        )
        there = now[self.items] >= 0
        keys = np.concatenate(
            [
                numbered(words, self.starts)[there] << 32 | now[self.items[there]],
                numbered(more, fresh.starts) << 32 | places[fresh.items].astype(np.int64),
            ]
        )
        order = np.argsort(keys, kind="stable")
        keys, times = keys[order], np.concatenate([self.times[there], fresh.times])[order]
        counts = np.bincount(keys >> 32, minlength=len(every))
        lengths = np.empty(int((now >= 0).sum()) + len(places), np.int32)
        lengths[now[now >= 0]], lengths[places] = self.lengths[now >= 0], fresh.lengths
        left = [word for word, count in zip(every, counts.tolist()) if count]
        starts = np.concatenate([[0], np.cumsum(counts[counts > 0])]).astype(np.int64)
        return self._of(
            left, starts, (keys & 0xFFFFFFFF).astype(np.int32), times, lengths, self.code
        )

    def __len__(self) -> int:
        """The number of texts."""
        return len(self.lengths)

    def word(self, number: int) -> bytes:
        """Return a word in UTF-8."""
        return self.spelled[self.begins[number] : self.begins[number + 1]].tobytes()

    def number(self, word: str) -> int | None:
        """Return the number of a word, or None where no text holds it."""
        wanted, low, high = word.encode("utf-8", "surrogatepass"), 0, len(self.begins) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.word(middle) < wanted else (low, middle)
        return low if low < len(self.begins) - 1 and self.word(low) == wanted else None

    def holding(self, word: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the texts that hold a word, and its count in each."""
        part = slice(int(self.starts[word]), int(self.starts[word + 1]))
        return self.items[part], self.times[part]

    def bm25(self, question: str) -> np.ndarray:
        """Score all texts by BM25, float64 [texts].

        The score is the sum over the question's words of idf * f (k1 + 1) / (f + k1 (1 - b + b |d|
        / mean |d|)), with idf = ln(1 + (N - n + 0.5) / (n + 0.5)). It equals that of bm25s to the
        last bit (atire, with Lucene's idf).
        """
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
        """Score all texts by the cosine of TF-IDF vectors, float64 [texts].

        Word counts are weighted by ln((1 + N) / (1 + n)) + 1, as in scikit-learn.
        """
        scores, squares = np.zeros(len(self)), 0.0
        for word, often in Counter(self._asked(question)).items():
            items, times = self.holding(word)
            idf = float(_tfidf_idf(np.array([len(items)]), len(self))[0])
            scores[items] += often * idf * (times * idf)
            squares += (often * idf) ** 2
        return scores / np.maximum(self.norms * math.sqrt(squares), 1e-300)

    def _asked(self, question: str) -> Iterator[int]:
        return (
            number
            for word in terms(question, self.code)
            if (number := self.number(word)) is not None
        )


ARRAYS = tuple(field.name for field in fields(Postings) if field.name != "code")


class Numbered(dict[str, int]):
    """Words numbered in the order of their first lookup."""

    def __missing__(self, word: str) -> int:
        self[word] = len(self)
        return self[word]


def _counted(words: list[int], lengths: list[int]) -> Counted:
    """Count the words of each text of a batch.

    Returns the different words of each text in ascending order, text by text, the count of each,
    and the number of different words of each text.
    """
    rows = np.repeat(np.arange(len(lengths)), lengths)
    pairs, times = np.unique(rows << 32 | np.array(words, np.int64), return_counts=True)
    each = np.bincount(pairs >> 32, minlength=len(lengths))
    return (pairs & 0xFFFFFFFF).astype(np.int32), times.astype(np.int32), each.astype(np.int32)


def _tfidf_idf(holding: np.ndarray, total: int) -> np.ndarray:
    return np.log((1 + total) / (1 + holding)) + 1


def postings(graph: Graph, of: Of, watch: Watch = NO_WATCH) -> Postings:
    """Return the postings of all chunks or nodes of a graph, built once.

    Raises what `watch` raises.
    """
    code = graph_language(graph).code
    code = "" if is_english(code) else code
    return graph.derived.once(SHELF, (of, code), lambda: _had(graph, of, code, watch))


@spent("preparation", "Words of the texts")
def _had(graph: Graph, of: Of, code: str, watch: Watch = NO_WATCH) -> Postings:
    total = count(graph, of)
    if total < SAVED_FROM or graph.edited_from is not None or graph.fetched is not None:
        return Postings.of(_texts(graph, of, watch), code)
    folder = index_folder(graph) / f"words-{of}"
    found = opened(folder, code)
    if found is None:
        named = np.concatenate([keys(list(some)) for some in _blocks(graph, of, watch)])
        found = _changed(graph, of, folder, named, code, watch) or Postings.of(
            _texts(graph, of, watch), code
        )
        with suppress(OSError):  # reported by the code that writes there
            folder.mkdir(parents=True, exist_ok=True)
        for name in ARRAYS:
            keep_if_possible(folder / f"{name}.npy", partial(np.save, arr=getattr(found, name)))
        keep_if_possible(folder / KEYS, partial(np.save, arr=named))
        facts = {"version": VERSION, "texts": total, **({"language": code} if code else {})}
        keep_if_possible(
            folder / DONE, lambda stream: stream.write(json.dumps(digests.marked(facts)).encode())
        )
    return found


def forget(graph: Graph) -> None:
    """Release the graph's words from memory. Raises StoreError while they are being read."""
    shelf = graph.derived.shelf(SHELF)
    with free(shelf.lock, "The words"):
        shelf.values.clear()
        shelf.latest = None


def opened(folder: Path, code: str = "") -> Postings | None:
    """Open the postings in a folder by memory map.

    None where they are incomplete, damaged, or of another version or language.
    """
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


def _changed(
    graph: Graph, of: Of, folder: Path, named: np.ndarray, code: str, watch: Watch = NO_WATCH
) -> Postings | None:
    """Return the postings of an earlier content with the changes applied.

    `named` are the keys of the present texts. None where no earlier content is saved, or more than
    a tenth of the texts is new.
    """
    for earlier in earlier_folders(folder, graph):
        before = opened(earlier, code)
        try:
            digests.check_sealed(earlier / KEYS)
            known = np.load(earlier / KEYS)
        except (OSError, ValueError, EOFError):
            continue
        if before is None or len(before) != len(known):
            continue
        now = matched(known, named)
        fresh = np.setdiff1d(np.arange(len(named)), now[now >= 0], assume_unique=True)
        if len(fresh) > MOST_NEW * len(named):
            continue
        watch.report(f"Reading the words of {len(fresh):,} new texts")
        new = (
            text
            for first in range(0, len(fresh), BLOCK)
            for text in texts(graph, of, fresh[first : first + BLOCK])
        )
        return before.changed(now, Postings.of(new, code), fresh)
    return None


def _texts(graph: Graph, of: Of, watch: Watch = NO_WATCH) -> Iterator[str]:
    """Yield the texts of a graph, reporting the progress to `watch`, which may raise."""
    total = count(graph, of)
    for number, some in enumerate(_blocks(graph, of, watch)):
        watch.report(f"Reading the words of {total:,} texts", number * BLOCK / total)
        yield from some


def _blocks(graph: Graph, of: Of, watch: Watch = NO_WATCH) -> Iterator[list[str]]:
    """Yield the texts of a graph in lists of `BLOCK`; in between, `watch` may raise."""
    total = count(graph, of)
    for first in range(0, total, BLOCK):
        watch.check()
        yield texts(graph, of, range(first, min(total, first + BLOCK)))

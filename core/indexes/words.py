"""The words of a graph's texts: which texts hold each and how often, saved beside a large graph; hits by BM25 and TF-IDF."""

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

VERSION = 2  # 2: words are folded by core.languages.spelling
SHELF = "words"  # where opened ones are found on their graph
SAVED_FROM = (
    5_000  # texts from which their words are saved; those of fewer are read in less than a second
)
MOST_NEW = 0.1  # the share of texts that may be new where an earlier content's words are changed
BLOCK = 2_000  # texts read between two looks at whether somebody cancelled
COUNTED = 500  # texts whose words are counted together
K1, B = 1.5, 0.75  # of BM25
# words, how often each, how many words each text has
Counted = tuple[np.ndarray, np.ndarray, np.ndarray]
NO_WORDS = np.empty(0, np.int32)


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
    code: str = (
        ""  # the language by whose rules texts and questions are cut into words; empty for English
    )

    @classmethod
    def of(cls, many: Iterable[str], code: str = "") -> Postings:
        """The postings of some texts in a language, one after the other; what a block of them has is counted before the next is read."""
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
        """The postings of words in their order."""
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
        """The postings after a change, those of all texts anew: text `i` is text `now[i]` afterwards, or removed where that is -1, and
        those of `fresh` are texts `places`.

        >>> import numpy as np
        >>> from core.indexes.words import Postings
        >>> whole = Postings.of(["a clerk", "a turkey"]).changed(np.array([-1, 0]), Postings.of(["the clerk"]), np.array([1]))
        >>> [whole.word(number).decode() for number in range(4)], whole.items.tolist(), whole.lengths.tolist()
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
        return (
            number
            for word in terms(question, self.code)
            if (number := self.number(word)) is not None
        )


ARRAYS = tuple(field.name for field in fields(Postings) if field.name != "code")


class Numbered(dict[str, int]):
    """Words with numbers, in the order in which they came."""

    def __missing__(self, word: str) -> int:
        self[word] = len(self)
        return self[word]


def _counted(words: list[int], lengths: list[int]) -> Counted:
    """The different words of each text of a block, ascending, and how often it has each, one text after the other; how many those are of
    each text."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    pairs, times = np.unique(rows << 32 | np.array(words, np.int64), return_counts=True)
    each = np.bincount(pairs >> 32, minlength=len(lengths))
    return (pairs & 0xFFFFFFFF).astype(np.int32), times.astype(np.int32), each.astype(np.int32)


def _tfidf_idf(holding: np.ndarray, total: int) -> np.ndarray:
    return np.log((1 + total) / (1 + holding)) + 1


def postings(graph: Graph, of: Of, watch: Watch = NO_WATCH) -> Postings:
    """The postings of all chunks or nodes of a graph, made once. Raises what `watch` raises."""
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
        with suppress(OSError):  # said by who writes there
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


def _changed(
    graph: Graph, of: Of, folder: Path, named: np.ndarray, code: str, watch: Watch = NO_WATCH
) -> Postings | None:
    """The postings of an earlier content with what has changed; None where none is there or a tenth of the texts is new. `named` are the
    keys of the texts."""
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
    """The texts of a graph; between two blocks `watch` is given how far it is, and `watch` may raise."""
    total = count(graph, of)
    for number, some in enumerate(_blocks(graph, of, watch)):
        watch.report(f"Reading the words of {total:,} texts", number * BLOCK / total)
        yield from some


def _blocks(graph: Graph, of: Of, watch: Watch = NO_WATCH) -> Iterator[list[str]]:
    """The texts of a graph, some thousands at a time; between two `watch` may raise."""
    total = count(graph, of)
    for first in range(0, total, BLOCK):
        watch.check()
        yield texts(graph, of, range(first, min(total, first + BLOCK)))

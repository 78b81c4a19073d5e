"""Inverted index of the words of a graph's texts, for BM25 and TF-IDF.

It holds the texts that contain each word, with the counts. For a large graph it is saved.
"""

from __future__ import annotations

import json
import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from core.graph.columns import row_offsets
from core.graph.names.language import graph_language
from core.graph.store import Graph
from core.indexes.index_extension import match_keys
from core.indexes.index_storage import hold_free_lock, index_folder, write_if_possible
from core.indexes.vector_blocks import (
    DONE_FILE,
    KEYS_FILE,
    ItemKind,
    count_items,
    earlier_folders,
    text_keys,
    texts_of_items,
)
from core.io import digests
from core.languages import is_english
from core.languages.terms import search_terms
from core.runtime.meter import count_time
from core.watch import NO_WATCH, Watch

WORDS_VERSION = 2  # 2: words are normalised by core.languages.spelling
WORDS_SHELF = "words"  # under this name a graph holds opened indexes in memory


@dataclass(frozen=True)
class WordIndexDefaults:
    """Sizes of word indexes, and the parameters of BM25."""

    min_saved_texts: int = 5_000  # the index of fewer texts takes less than a second
    max_new_share: float = 0.1  # with more new texts, an earlier index is not updated
    read_block_texts: int = 2_000  # read between two checks for a cancellation
    count_batch_texts: int = 500  # whose words are counted in one batch
    bm25_k1: float = 1.5
    bm25_b: float = 0.75


WORD_INDEX = WordIndexDefaults()
# Words of the texts of a batch, the count of each, and the number of distinct words of each text.
WordCounts = tuple[np.ndarray, np.ndarray, np.ndarray]
NO_WORDS = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class Postings:
    """Postings of words: the texts that hold each word, and how often.

    The texts with word `i` are `items[starts[i]:starts[i + 1]]`, ascending, with the counts in
    `times`. Words are sorted by their bytes. They are concatenated in `spelled`, word `i` from
    `begins[i]` on. `lengths` counts the words of each text. `norms` are the lengths of the TF-IDF
    vectors of the texts. The names of the arrays are those of the saved files.
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
    def from_texts(cls, texts: Iterable[str], code: str = "") -> Postings:
        """Return the postings of texts in a language.

        Texts are read and counted in batches of `WORD_INDEX.count_batch_texts`.

        Parameters
        ----------
        texts : the texts.
        code : code of their language; empty for English.

        Returns
        -------
        The postings, in memory.
        """
        from scipy.sparse import csr_array

        id_of_word, batch_counts, lengths = WordIds(), list[WordCounts](), array("i")
        iterator = iter(texts)
        while batch := list(islice(iterator, WORD_INDEX.count_batch_texts)):
            batch_words = [search_terms(text, code) for text in batch]
            batch_lengths = list(map(len, batch_words))
            lengths.extend(batch_lengths)
            word_ids = [id_of_word[word] for words_of_text in batch_words for word in words_of_text]
            batch_counts.append(_count_words(word_ids, batch_lengths))
        order = sorted(id_of_word, key=lambda word: word.encode("utf-8", "surrogatepass"))
        rank = np.empty(len(order), np.int32)
        rank[[id_of_word[word] for word in order]] = np.arange(len(order), dtype=np.int32)
        # The empty arrays allow for no batch at all.
        words, times, n_words = (
            np.concatenate([NO_WORDS, *parts]) for parts in zip((NO_WORDS,) * 3, *batch_counts)
        )
        del batch_counts
        # int32 halves scipy's memory. Arrays are freed early, as memory is at its peak here.
        narrow = np.int32 if len(words) < np.iinfo(np.int32).max else np.int64
        rows = np.concatenate([[0], np.cumsum(n_words, dtype=np.int64)]).astype(narrow)
        counts = csr_array(
            (times, rank[words].astype(narrow, copy=False), rows), shape=(len(lengths), len(order))
        )
        del words, times
        columns = counts.tocsc()
        del counts
        return cls._assemble(
            [word.encode("utf-8", "surrogatepass") for word in order],
            columns.indptr.astype(np.int64),
            columns.indices.astype(np.int32, copy=False),
            columns.data,
            np.array(lengths, np.int32),
            code,
        )

    @classmethod
    def _assemble(
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

    def apply_changes(
        self, new_number: np.ndarray, added: Postings, added_numbers: np.ndarray
    ) -> Postings:
        """Return the postings of all texts after some were removed, moved or added.

        Parameters
        ----------
        new_number : the new number of each present text, int64 [texts]; -1 for a removed one.
        added : postings of the added texts.
        added_numbers : the numbers of the added texts, int64 [added texts].

        Returns
        -------
        New postings.

        Examples
        --------
        >>> import numpy as np
        >>> from core.indexes.words import Postings
        >>> whole = Postings.from_texts(["a clerk", "a turkey"]).apply_changes(
        ...     np.array([-1, 0]), Postings.from_texts(["the clerk"]), np.array([1])
        ... )
        >>> words = [whole.word(number).decode() for number in range(4)]
        >>> words, whole.items.tolist(), whole.lengths.tolist()
        (['a', 'clerk', 'the', 'turkey'], [0, 1, 1, 0], [2, 2])
        """
        words = [self.word(number) for number in range(len(self.begins) - 1)]
        added_words = [added.word(number) for number in range(len(added.begins) - 1)]
        all_words = sorted({*words, *added_words})
        number = {word: index for index, word in enumerate(all_words)}
        is_retained = new_number[self.items] >= 0
        old_word_numbers = np.array([number[word] for word in words], np.int64)
        old_word_numbers = np.repeat(old_word_numbers, np.diff(self.starts))[is_retained]
        added_word_numbers = np.array([number[word] for word in added_words], np.int64)
        added_word_numbers = np.repeat(added_word_numbers, np.diff(added.starts))
        # A key is a word in the upper and a text in the lower 32 bits.
        old_keys = old_word_numbers << 32 | new_number[self.items[is_retained]]
        new_keys = added_word_numbers << 32 | added_numbers[added.items].astype(np.int64)
        keys = np.concatenate([old_keys, new_keys])
        order = np.argsort(keys, kind="stable")
        keys, times = keys[order], np.concatenate([self.times[is_retained], added.times])[order]
        counts = np.bincount(keys >> 32, minlength=len(all_words))
        stays = new_number >= 0
        lengths = np.empty(int(stays.sum()) + len(added_numbers), np.int32)
        lengths[new_number[stays]] = self.lengths[stays]
        lengths[added_numbers] = added.lengths
        retained_words = [word for word, count in zip(all_words, counts.tolist()) if count]
        starts = row_offsets(counts[counts > 0])
        return self._assemble(
            retained_words, starts, (keys & 0xFFFFFFFF).astype(np.int32), times, lengths, self.code
        )

    def __len__(self) -> int:
        """Number of texts."""
        return len(self.lengths)

    def word(self, number: int) -> bytes:
        """Return a word in UTF-8."""
        return self.spelled[self.begins[number] : self.begins[number + 1]].tobytes()

    def word_number(self, word: str) -> int | None:
        """Return the number of a word, or None if no text holds it."""
        encoded_word, n_words = word.encode("utf-8", "surrogatepass"), len(self.begins) - 1
        row = bisect_left(range(n_words), encoded_word, key=self.word)
        return row if row < n_words and self.word(row) == encoded_word else None

    def texts_with(self, word: int) -> tuple[np.ndarray, np.ndarray]:
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
        for word in self._question_words(question):
            items, times = self.texts_with(word)
            idf = np.float32(math.log(1 + (len(self) - len(items) + 0.5) / (len(items) + 0.5)))
            counts = times.astype(np.float32)  # f in the formula; `share` is its fraction
            k1, b = WORD_INDEX.bm25_k1, WORD_INDEX.bm25_b
            share = (counts * (k1 + 1)) / (counts + k1 * (1 - b + b * self.lengths[items] / mean))
            scores[items] += (idf * share).astype(np.float32)
        return scores.astype(np.float64)

    def tfidf(self, question: str) -> np.ndarray:
        """Score all texts by the cosine of TF-IDF vectors, float64 [texts].

        Word counts are weighted by ln((1 + N) / (1 + n)) + 1, as in scikit-learn.
        """
        scores, squares = np.zeros(len(self)), 0.0
        for word, n_times in Counter(self._question_words(question)).items():
            items, times = self.texts_with(word)
            idf = float(_tfidf_idf(np.array([len(items)]), len(self))[0])
            scores[items] += n_times * idf * (times * idf)
            squares += (n_times * idf) ** 2
        return scores / np.maximum(self.norms * math.sqrt(squares), 1e-300)

    def _question_words(self, question: str) -> Iterator[int]:
        return (
            number
            for word in search_terms(question, self.code)
            if (number := self.word_number(word)) is not None
        )


POSTING_ARRAYS = tuple(field.name for field in fields(Postings) if field.name != "code")


class WordIds(dict[str, int]):
    """Words numbered in the order of their first lookup."""

    def __missing__(self, word: str) -> int:
        self[word] = len(self)
        return self[word]


def _count_words(words: list[int], lengths: list[int]) -> WordCounts:
    """Count the words of each text of a batch.

    Returns the distinct words of each text in ascending order, text by text, the count of each, and
    the number of distinct words of each text.
    """
    rows = np.repeat(np.arange(len(lengths)), lengths)
    # A pair is a text in the upper and a word in the lower 32 bits.
    pairs, times = np.unique(rows << 32 | np.array(words, np.int64), return_counts=True)
    n_words = np.bincount(pairs >> 32, minlength=len(lengths))
    return (pairs & 0xFFFFFFFF).astype(np.int32), times.astype(np.int32), n_words.astype(np.int32)


def _tfidf_idf(n_with_word: np.ndarray, n_texts: int) -> np.ndarray:
    return np.log((1 + n_texts) / (1 + n_with_word)) + 1


def postings(graph: Graph, item_kind: ItemKind, watch: Watch = NO_WATCH) -> Postings:
    """Return the postings of all chunks or nodes of a graph, built once.

    Parameters
    ----------
    graph : the graph.
    item_kind : chunks or nodes.
    watch : receives the progress; what it raises stops the work.

    Returns
    -------
    The postings, kept in memory with the graph. The postings of many texts are saved as well.
    """
    code = graph_language(graph).code
    code = "" if is_english(code) else code
    return graph.derived.get_or_make(
        WORDS_SHELF, (item_kind, code), lambda: _load_words(graph, item_kind, code, watch)
    )


@count_time("preparation", "Words of the texts")
def _load_words(graph: Graph, item_kind: ItemKind, code: str, watch: Watch = NO_WATCH) -> Postings:
    total = count_items(graph, item_kind)
    is_temporary = graph.edited_from is not None or graph.fetched is not None
    if total < WORD_INDEX.min_saved_texts or is_temporary:
        return Postings.from_texts(_texts(graph, item_kind, watch), code)
    folder = index_folder(graph) / f"words-{item_kind}"
    result = open_postings(folder, code)
    if result is None:
        keys = np.concatenate([text_keys(texts) for texts in _text_blocks(graph, item_kind, watch)])
        result = _update_postings(graph, item_kind, folder, keys, code, watch)
        result = result or Postings.from_texts(_texts(graph, item_kind, watch), code)
        with suppress(OSError):  # reported by the code that writes there
            folder.mkdir(parents=True, exist_ok=True)
        for name in POSTING_ARRAYS:
            write_if_possible(folder / f"{name}.npy", partial(np.save, arr=getattr(result, name)))
        write_if_possible(folder / KEYS_FILE, partial(np.save, arr=keys))
        facts = {"version": WORDS_VERSION, "texts": total, **({"language": code} if code else {})}
        write_if_possible(
            folder / DONE_FILE,
            lambda stream: stream.write(json.dumps(digests.with_digest(facts)).encode()),
        )
    return result


def forget_words(graph: Graph) -> None:
    """Release the graph's words from memory. Raises StoreError while they are being read."""
    shelf = graph.derived.cache_of(WORDS_SHELF)
    with hold_free_lock(shelf.lock, "The words"):
        shelf.values.clear()
        shelf.latest = None


def open_postings(folder: Path, code: str = "") -> Postings | None:
    """Open the postings in a folder by memory map.

    Parameters
    ----------
    folder : the folder.
    code : code of the texts' language; empty for English.

    Returns
    -------
    None if they are incomplete, damaged, or of another version or language.
    """
    try:
        facts = digests.check_own_digest(json.loads((folder / DONE_FILE).read_text("utf-8")))
        if facts["version"] != WORDS_VERSION or facts.get("language", "") != code:
            return None
        arrays: dict[str, Any] = {}
        for name in POSTING_ARRAYS:
            digests.check_appended_digest(folder / f"{name}.npy")
            arrays[name] = np.load(folder / f"{name}.npy", mmap_mode="r")
        return Postings(**arrays, code=code)
    except (OSError, ValueError, EOFError, KeyError, TypeError):
        return None


def _update_postings(
    graph: Graph, item_kind: ItemKind, folder: Path, keys: np.ndarray, code: str, watch: Watch
) -> Postings | None:
    """Return the postings of an earlier content with the changes applied.

    `keys` are the keys of the present texts. The result is None if no earlier content is saved, or
    if more than the share `WORD_INDEX.max_new_share` of the texts is new.
    """
    for earlier_folder in earlier_folders(folder, graph):
        earlier_postings = open_postings(earlier_folder, code)
        try:
            digests.check_appended_digest(earlier_folder / KEYS_FILE)
            earlier_keys = np.load(earlier_folder / KEYS_FILE)
        except (OSError, ValueError, EOFError):
            continue
        if earlier_postings is None or len(earlier_postings) != len(earlier_keys):
            continue
        new_items = match_keys(earlier_keys, keys)
        added = np.setdiff1d(np.arange(len(keys)), new_items[new_items >= 0], assume_unique=True)
        if len(added) > WORD_INDEX.max_new_share * len(keys):
            continue
        watch.report(f"Reading the words of {len(added):,} new texts")
        blocks = (
            texts_of_items(graph, item_kind, added[first : first + WORD_INDEX.read_block_texts])
            for first in range(0, len(added), WORD_INDEX.read_block_texts)
        )
        added_postings = Postings.from_texts(chain.from_iterable(blocks), code)
        return earlier_postings.apply_changes(new_items, added_postings, added)
    return None


def _texts(graph: Graph, item_kind: ItemKind, watch: Watch = NO_WATCH) -> Iterator[str]:
    """Yield the texts of a graph, reporting the progress to `watch`, which may raise."""
    total = count_items(graph, item_kind)
    for number, texts in enumerate(_text_blocks(graph, item_kind, watch)):
        watch.report(
            f"Reading the words of {total:,} texts", number * WORD_INDEX.read_block_texts / total
        )
        yield from texts


def _text_blocks(graph: Graph, item_kind: ItemKind, watch: Watch = NO_WATCH) -> Iterator[list[str]]:
    """Yield the texts of a graph in lists; in between, `watch` may raise."""
    total = count_items(graph, item_kind)
    for first in range(0, total, WORD_INDEX.read_block_texts):
        watch.check()
        yield texts_of_items(
            graph, item_kind, range(first, min(total, first + WORD_INDEX.read_block_texts))
        )

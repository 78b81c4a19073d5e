"""Search by words: BM25 and TF-IDF by hand and against libraries, and saved postings."""

from __future__ import annotations

import math
from dataclasses import replace

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

import core.indexes.words as words
from core.graph.building.text_graph import assemble, store_graph
from core.graph.columns import Table
from core.indexes.index_storage import index_folder
from core.indexes.words import Postings, open_postings, postings, search_terms
from core.watch import Watch

TEXTS = ["the clerk and the turkey", "Turkey", "圣诞节 in Zürich", "", "clerk clerk CLERK"]
OF = st.lists(st.text(alphabet="aAbé节 の.\ud800ß", max_size=12), min_size=1, max_size=6)


def store_texts(folder, texts):
    ids = [f"d{number}" for number in range(len(texts))]
    chunks = Table.from_columns(id=ids, document=ids, title=[""] * len(ids), text=texts)
    return store_graph(assemble("one", [], [], {}, {}, chunks), folder)


def test_bm25_is_the_formula():
    # “clerk” is in two of three texts; the mean length is (3 + 1 + 2) / 3 = 2.
    found = Postings.from_texts(["clerk clerk turkey", "turkey", "clerk dines"]).bm25("clerk")
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    first, third = (
        idf * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2)),
        idf * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / 2)),
    )
    assert found == pytest.approx([first, 0, third], rel=1e-6)


def test_a_repeated_query_word_counts_twice():
    found = Postings.from_texts(TEXTS)
    assert found.bm25("clerk clerk") == pytest.approx(2 * found.bm25("clerk"), rel=1e-6)


@given(OF, st.text(alphabet="aAbé节 の.ß", max_size=12))
def test_scores_are_those_of_bm25s_and_of_scikit_learn(texts, question):
    found, bags = Postings.from_texts(texts), [search_terms(text) for text in texts]
    asked = [word for word in search_terms(question) if any(word in bag for bag in bags)]
    if not any(bags):
        assert not found.bm25(question).any() and not found.tfidf(question).any()
        return
    peer = bm25s.BM25(k1=1.5, b=0.75, method="atire", idf_method="lucene")
    peer.index(bags, show_progress=False)
    assert np.array_equal(
        found.bm25(question), peer.get_scores(asked) if asked else np.zeros(len(texts))
    )
    vectorizer = TfidfVectorizer(analyzer=search_terms, dtype=np.float64)
    matrix = vectorizer.fit_transform(texts)
    cosines = np.asarray((matrix @ vectorizer.transform([question]).T).todense()).ravel()
    assert found.tfidf(question) == pytest.approx(cosines, abs=1e-12)


def test_an_empty_collection_has_no_hit():
    assert len(Postings.from_texts([])) == 0 and len(Postings.from_texts([]).bm25("clerk")) == 0


def test_postings_of_many_texts_are_saved_and_opened(tmp_path, monkeypatch):
    monkeypatch.setattr(words, "WORD_INDEX", replace(words.WORD_INDEX, min_saved_texts=3))
    graph = store_texts(tmp_path / "graph", TEXTS)
    made = postings(graph, "chunks")
    again = open_postings(index_folder(graph) / "words-chunks")
    assert again is not None and np.array_equal(again.bm25("the clerk"), made.bm25("the clerk"))
    assert np.array_equal(again.tfidf("Zürich 节"), made.tfidf("Zürich 节"))


def test_damaged_postings_are_rebuilt(tmp_path, monkeypatch):
    monkeypatch.setattr(words, "WORD_INDEX", replace(words.WORD_INDEX, min_saved_texts=3))
    graph = store_texts(tmp_path / "graph", TEXTS)
    before = postings(graph, "chunks").bm25("clerk")
    file = index_folder(graph) / "words-chunks" / "times.npy"
    data = bytearray(file.read_bytes())
    data[-60] ^= 1  # This is a count. The digest of 54 bytes comes after it.
    file.write_bytes(data)
    assert open_postings(file.parent) is None
    words.forget_words(graph)
    assert (
        np.array_equal(postings(graph, "chunks").bm25("clerk"), before)
        and open_postings(file.parent) is not None
    )


def test_few_texts_are_not_saved(tmp_path):
    graph = store_texts(tmp_path / "graph", TEXTS)
    postings(graph, "chunks")
    assert not (index_folder(graph) / "words-chunks").exists()


def test_reading_many_texts_can_be_cancelled(tmp_path):
    def cancelled():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        postings(store_texts(tmp_path / "graph", TEXTS), "chunks", watch=Watch(cancelled))


@given(OF, st.lists(st.integers(-1, 5), max_size=6), OF)
def test_changed_postings_equal_postings_of_all_texts(texts, order, new):
    # Each text moves once, to the position in `order`. Texts without a position are removed, and
    # new texts come after the kept ones.
    kept = [one for one in dict.fromkeys(order) if 0 <= one < len(texts)]
    after = [texts[one] for one in kept] + new
    now = np.full(len(texts), -1, np.int64)
    now[kept] = np.arange(len(kept))
    changed = Postings.from_texts(texts).apply_changes(
        now, Postings.from_texts(new), np.arange(len(kept), len(after))
    )
    assert are_equal_postings(changed, Postings.from_texts(after))


def are_equal_postings(one, other):
    pairs = [(getattr(one, name), getattr(other, name)) for name in words.POSTING_ARRAYS]
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in pairs)


def test_only_new_texts_of_a_changed_graph_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(words, "WORD_INDEX", replace(words.WORD_INDEX, min_saved_texts=4))
    texts = [f"clerk number {number} of {number % 7}" for number in range(40)]
    postings(store_texts(tmp_path / "one", texts), "chunks")
    read = []
    monkeypatch.setattr(
        words.Postings,
        "from_texts",
        classmethod(
            lambda cls, many, code="": read.append(list(many)) or postings_of_all(read[-1])
        ),
    )
    changed = [*texts[:3], "a turkey", *texts[4:30], *texts[31:]]
    found = postings(graph := store_texts(tmp_path / "one", changed), "chunks")
    assert read == [["a turkey"]] and are_equal_postings(found, postings_of_all(changed))
    assert are_equal_postings(open_postings(index_folder(graph) / "words-chunks"), found)
    postings(store_texts(tmp_path / "one", [f"other {number}" for number in range(40)]), "chunks")
    assert len(read[-1]) == 40  # Too many texts are new.


def postings_of_all(texts):
    return ORIGINAL_OF(texts)


ORIGINAL_OF = Postings.from_texts

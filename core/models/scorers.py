"""Scorers other than cross-encoders: vectors, word statistics, topic models and random scores."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np

from core.errors import BadParameter
from core.languages.terms import search_terms
from core.models.base import Choice, Encoder, Task, question_vectors
from core.models.reading_order import CandidateScores, TextEstimates, format_count
from core.runtime.meter import count_time
from core.types import Usage
from core.watch import NO_WATCH, Watch


def top_k(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the positions of the best scores.

    Equal scores are ordered by position. NaN comes last.

    Parameters
    ----------
    scores : float [n].
    k : number of positions; all if k <= 0.

    Returns
    -------
    int64 [min(k, n)], best first.
    """
    scores = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-np.where(np.isnan(scores), -np.inf, scores), kind="stable")
    return order if k <= 0 else order[:k]


class StreamedEncoder(Encoder, Protocol):
    """An encoder that passes vectors on as they are computed."""

    def encode(
        self,
        texts: Sequence[str],
        watch: Watch = NO_WATCH,
        received: Callable[[list[str], np.ndarray], None] | None = None,
    ) -> np.ndarray:
        """Return vectors as `Encoder.encode` does, and pass each on once it is computed.

        Parameters
        ----------
        texts : any number of texts, n.
        watch : checked between batches; it may raise to stop the work.
        received : called with distinct texts and their vectors, float32 [m, d], as they are
            computed.

        Returns
        -------
        float32 [n, d] with unit rows, in the order of `texts`.
        """
        ...


def is_streamed(encoder: Encoder) -> TypeGuard[StreamedEncoder]:
    """Return whether an encoder declares that it passes vectors on as they are computed."""
    return getattr(encoder, "received", False)


def encode_with_progress(
    encoder: Encoder, texts: Sequence[str], watch: Watch, on_progress: Callable[[int], None]
) -> np.ndarray:
    """Return vectors as `Encoder.encode` does, reporting the progress.

    Parameters
    ----------
    encoder : any encoder; without `is_streamed` it reports no progress.
    texts : any number of texts, n.
    watch : checked between batches; it may raise to stop the work.
    on_progress : called with the number of distinct texts that are encoded so far.

    Returns
    -------
    float32 [n, d] with unit rows, in the order of `texts`.
    """
    if not is_streamed(encoder):
        return encoder.encode(texts, watch)
    done = 0

    def received(rows: list[str], vectors: np.ndarray) -> None:
        nonlocal done
        done += len(rows)
        on_progress(done)

    return encoder.encode(texts, watch, received)


class TokenEncoder(Protocol):
    """An encoder that also provides the vectors of single tokens."""

    def encode_tokens(
        self, texts: Sequence[str], watch: Watch = NO_WATCH
    ) -> Iterator[tuple[list[int], np.ndarray]]:
        """Yield for each distinct text its positions in `texts` and its token vectors.

        Parameters
        ----------
        texts : any number of texts; equal texts are encoded once.
        watch : checked between batches; it may raise to stop the work.

        Yields
        ------
        The positions of a distinct text, and float32 [tokens, d] with unit rows.
        """
        ...


@runtime_checkable
class EstimatingEncoder(Protocol):
    """An encoder that estimates the scores of texts before it reads them."""

    def estimate_texts(self, texts: Sequence[str], query: np.ndarray) -> TextEstimates:
        """Return cheap vectors of texts, and perhaps estimates of their cosines with a query.

        `query` is the query's unit vector, float [d].
        """
        ...


class BaseScorer(ABC):
    """Base class of scorers, which chooses the best candidates by `score`."""

    @abstractmethod
    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        """Return a score for every text.

        Parameters
        ----------
        task : the question and limits on reading.
        texts : the candidates, n.

        Returns
        -------
        float64 [n]; larger is better. NaN marks texts that were not read, because of
            `task.max_read` or a `task.recall` below 1.
        """

    def choose(self, task: Task, texts: Sequence[str], k: int) -> Choice:
        """Choose the best texts by score; equal scores are ordered by position.

        Texts that were not read are left out.

        Parameters
        ----------
        task : the question and limits on reading.
        texts : the candidates, n.
        k : largest number of texts; all if k <= 0.

        Returns
        -------
        Positions and scores, best first. `Choice.order` has all texts that were read.
        """
        if not len(texts):
            return Choice((), (), (), ())
        with count_time("ranking"):
            scores = self.score(task, texts)
        order = top_k(scores, 0)
        notes: tuple[str, ...] = ()
        if task.max_read or task.recall < 1:
            n_read = int((~np.isnan(scores)).sum())
            if n_read < len(texts):
                order = order[:n_read]
                candidates = format_count(len(texts), task.unit)
                notes = (f"{n_read:,} of {candidates} were read, the likeliest first.",)
        positions = tuple(order.tolist())
        values = tuple(scores[order].tolist())
        limit = len(positions) if k <= 0 else k
        return Choice(
            positions[:limit], values[:limit], positions, values, Usage(texts=len(positions)), notes
        )


class EncoderScorer(BaseScorer):
    """Cosine of the vectors of query and candidate, in [-1, 1]."""

    def __init__(self, encoder: Encoder):
        self.encoder = encoder

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        if not len(texts):
            return np.zeros(0)
        encoder = self.encoder
        query = question_vectors(encoder, [task.query], task.watch)[0].astype(np.float64)
        estimate = None
        if isinstance(encoder, EstimatingEncoder):
            estimate = partial(encoder.estimate_texts, query=query)
        reading = CandidateScores(task, texts, estimate)

        def record(part: list[str], vectors: np.ndarray) -> None:
            # Each row is computed separately. In a matrix product, digits depend on the batch.
            reading.record(part, np.einsum("nd,d->n", vectors.astype(np.float64), query))

        if is_streamed(encoder):
            return reading.read_in_order(lambda part: encoder.encode(part, task.watch, record))
        return reading.read_in_order(
            lambda part: record(part, encoder.encode(part, task.watch)), one_part=True
        )


class BM25Scorer(BaseScorer):
    """BM25 with statistics of the candidate list itself.

    score = sum over query words t of idf(t) * f (k1 + 1) / (f + k1 (1 - b + b |d| / mean |d|)),
    with idf(t) = ln(1 + (N - n_t + 0.5) / (n_t + 0.5)). Here f is the count of t in the candidate,
    and n_t the number of candidates that contain t. A repeated query word counts as often as it
    occurs. Dotted relation names are split into words; the papers' code leaves them whole, so that
    every score is 0.

    Parameters
    ----------
    k1 : saturation of word counts, at least 0.
    b : strength of the length normalization, 0 to 1.

    Raises
    ------
    BadParameter : a parameter is out of range.
    """

    def __init__(self, k1: float = 1.5, b: float = 0.75):
        if k1 < 0 or not 0 <= b <= 1:
            raise BadParameter(f"BM25 needs k1 >= 0 and 0 <= b <= 1, not k1 = {k1} and b = {b}.")
        self.k1 = k1
        self.b = b

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        import bm25s

        bags = [search_terms(text) for text in texts]
        vocabulary = set().union(*bags)
        known_words = [word for word in search_terms(task.query) if word in vocabulary]
        if not known_words:
            return np.zeros(len(texts))
        index = bm25s.BM25(k1=self.k1, b=self.b, method="atire", idf_method="lucene")
        index.index(bags, show_progress=False)
        return np.asarray(index.get_scores(known_words), dtype=np.float64)


class TfIdfScorer(BaseScorer):
    """Cosine of TF-IDF vectors, in [0, 1].

    The weight of a word is its count times ln((1 + N) / (1 + n_t)) + 1, over the candidate list.
    """

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        from sklearn.feature_extraction.text import TfidfVectorizer

        if not any(search_terms(text) for text in texts):
            return np.zeros(len(texts))
        vectorizer = TfidfVectorizer(analyzer=search_terms, dtype=np.float64)
        matrix = vectorizer.fit_transform(list(texts))
        return np.asarray((matrix @ vectorizer.transform([task.query]).T).todense()).ravel()


class NGramScorer(BaseScorer):
    """Mean log-likelihood of the question's words under each candidate's n-gram language model.

    P(w | v) = bigram_weight * bigrams (v, w) / bigrams beginning with v + unigram_weight * count of
    w / words, both of the candidate, + (1 - bigram_weight - unigram_weight) * count of w in all
    candidates / all their words. Here v is the word before w. Words that occur in no candidate are
    left out. If no word is left, all scores are 0.

    Parameters
    ----------
    bigram_weight : weight of the candidate's bigrams, at least 0.
    unigram_weight : weight of the candidate's words, at least 0.

    Raises
    ------
    BadParameter : a weight is negative, or they leave nothing for the words of all candidates.

    Notes
    -----
    Song and Croft, A general language model for information retrieval, CIKM 1999; “N-gram model” in
    LEGO-GraphRAG v1, Table 2.
    """

    def __init__(self, bigram_weight: float = 0.1, unigram_weight: float = 0.5):
        if min(bigram_weight, unigram_weight) < 0 or not bigram_weight + unigram_weight < 1:
            raise BadParameter(
                "An n-gram model needs shares of at least 0 that leave some for all candidates, "
                f"not {bigram_weight} and {unigram_weight}."
            )
        self.bigram_weight = bigram_weight
        self.unigram_weight = unigram_weight

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        bags = [search_terms(text) for text in texts]
        total_counts = Counter(word for bag in bags for word in bag)
        query_words = search_terms(task.query)
        pairs = [
            (previous, word)
            for previous, word in zip(("", *query_words), query_words, strict=False)
            if word in total_counts
        ]
        if not pairs:
            return np.zeros(len(texts))
        other_weight = 1 - self.bigram_weight - self.unigram_weight
        background = {
            word: other_weight * total_counts[word] / total_counts.total() for _, word in pairs
        }
        return np.array([self._mean_log_likelihood(bag, pairs, background) for bag in bags])

    def _mean_log_likelihood(
        self, bag: list[str], pairs: list[tuple[str, str]], background: dict[str, float]
    ) -> float:
        word_counts = Counter(bag)
        bigram_counts = Counter(zip(bag, bag[1:], strict=False))
        first_words = Counter(bag[:-1])
        probabilities = (
            background[word]
            + self.unigram_weight * word_counts[word] / max(len(bag), 1)
            + self.bigram_weight * bigram_counts[previous, word] / max(first_words[previous], 1)
            for previous, word in pairs
        )
        return sum(map(math.log, probabilities)) / len(pairs)


class TopicScorer(BaseScorer):
    """Cosine of question and candidate in a topic model of the candidates.

    Latent semantic analysis is the truncated SVD of TF-IDF vectors; its cosines are in [-1, 1].
    Latent Dirichlet allocation works on word counts; the cosines of its topic mixtures are in
    [0, 1]. Both are fitted to the candidates of each question by scikit-learn, and are
    deterministic.

    Parameters
    ----------
    lda : if true, latent Dirichlet allocation; else latent semantic analysis.
    topics : largest number of topics, at least 1.

    Raises
    ------
    BadParameter : `topics` is below 1.

    Notes
    -----
    LEGO-GraphRAG v1, Table 2, statistic-based.
    """

    def __init__(self, lda: bool = False, topics: int = 100):
        if topics < 1:
            raise BadParameter(f"Topics must be at least 1, not {topics}.")
        self.lda = lda
        self.topics = topics

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        from sklearn.decomposition import LatentDirichletAllocation, TruncatedSVD
        from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
        from sklearn.preprocessing import normalize

        query_words = set(search_terms(task.query))
        # Without a common word there is nothing to compare, and the fit could have no words at all.
        if all(query_words.isdisjoint(search_terms(text)) for text in texts):
            return np.zeros(len(texts))
        vectorizer_class = CountVectorizer if self.lda else TfidfVectorizer
        model_class = LatentDirichletAllocation if self.lda else TruncatedSVD
        vectorizer = vectorizer_class(analyzer=search_terms)
        matrix = vectorizer.fit_transform(list(texts))
        model = model_class(min(self.topics, *matrix.shape), random_state=0)
        vectors = normalize(model.fit_transform(matrix))
        query_vectors = normalize(model.transform(vectorizer.transform([task.query])))
        return np.asarray(vectors @ query_vectors[0])


class RandomScorer(BaseScorer):
    """Uniform random scores in [0, 1), determined by the task's seed and query.

    They are the same in every process.
    """

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        query_bytes = task.query.encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(query_bytes, digest_size=8).digest()
        generator = np.random.default_rng([abs(task.seed), int.from_bytes(digest, "big")])
        return generator.random(len(texts))


class LateInteractionScorer(BaseScorer):
    """MaxSim: the mean over query tokens of the best cosine with a candidate token.

    This is late interaction as in ColBERT: the sum over query tokens i of the maximum over
    candidate tokens j of cos(q_i, d_j). Here it is divided by the number of query tokens. The token
    vectors are those of a sentence encoder that was not trained for it.
    """

    def __init__(self, encoder: TokenEncoder):
        self.encoder = encoder

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        if not len(texts):
            return np.zeros(0)
        _, query = next(iter(self.encoder.encode_tokens([task.query], task.watch)))
        reading = CandidateScores(task, texts)

        def read(part: list[str]) -> None:
            for positions, tokens in self.encoder.encode_tokens(part, task.watch):
                best_cosines = (tokens @ query.T).max(axis=0)
                mean_cosine = best_cosines.mean(dtype=np.float64, keepdims=True)
                reading.record([part[positions[0]]], mean_cosine)

        return reading.read_in_order(read)

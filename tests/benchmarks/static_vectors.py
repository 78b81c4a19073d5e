"""Fit the static vectors that predict what an encoder scores best, and measure what they save.

    python -m tests.benchmarks static_vectors [--save]

They are fitted to paths of MetaQA's development questions and to sentences of HotpotQA's documents.
The table shows, on other development questions, the fraction of the texts that is read and the
fraction of the exact best 32 that is found, without and with them. `--save` writes the shipped file.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from core.comparison.lane_run import LaneListener, LaneRun
from core.corpus import open_corpus
from core.datasets import datasets
from core.engine import Engine
from core.models.base import Task
from core.models.encoders.static_vectors import DIGEST_KEY, SHIPPED_STATIC_VECTORS, StaticVectors
from core.models.reading_order import CandidateScores, TextEstimates
from core.models.weights import weights_digest
from core.operators.text import parse_line
from core.sources import GraphSource

SETS = ("metaqa-1hop-dev", "metaqa-2hop-dev", "metaqa-3hop-dev")
PATHS = "EgoNetwork() >> ShortestPaths() >> Answer()"
RANK = 96
MIN_TEXTS, MAX_TEXTS = 150, 4000
BEST = 32
RECALLS = (0.99, 0.95, 0.9)


def main(arguments: list[str]) -> None:
    """Fit to every second question, print the table of the others, and save on demand."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks static_vectors")
    parser.add_argument("--each", type=int, default=24, help="questions of a set (%(default)s)")
    parser.add_argument("--save", action="store_true", help="write the file that ships")
    options = parser.parse_args(arguments)
    engine = Engine()
    encoder: Any = engine.models.encoder()
    table = encoder.input_embeddings()
    questions = [one for name in SETS for one in question_paths(engine, name, options.each)]
    fitted, unseen = questions[::2], questions[1::2]
    texts = list(dict.fromkeys(text for _, part, _ in fitted for text in part))
    texts += sentences("hotpotqa")
    static = fit_static_vectors(encoder.token_means(texts, table), encoder.encode(texts), RANK)
    print(f"fitted to {len(texts):,} texts; {len(unseen)} other questions")
    print("| recall | read without | found | read with | found |\n|---:|---:|---:|---:|---:|")
    for recall in RECALLS:
        shares = [
            np.mean([read_share(encoder, one, recall, each, table) for one in unseen], axis=0)
            for each in (None, static)
        ]
        print(f"| {recall} | " + " | ".join(f"{x:.3f}" for x in np.concatenate(shares)) + " |")
    if options.save:
        save_static_vectors(static, SHIPPED_STATIC_VECTORS, weights_digest(encoder.folder))


def fit_static_vectors(
    token_means: np.ndarray, vectors: np.ndarray, rank: int, ridge: float = 0.02
) -> StaticVectors:
    """Fit the map from mean input embeddings of texts to their vectors, both float32 [n, d].

    `rank` is the length of a projected vector, and `ridge` the penalty relative to the mean
    variance of the token means.
    """
    token_mean, mean = token_means.mean(axis=0), vectors.mean(axis=0)
    inputs, outputs = token_means - token_mean, vectors - mean
    scatter = inputs.T @ inputs
    scatter += ridge * np.trace(scatter) / len(scatter) * np.eye(len(scatter))
    weights = np.linalg.solve(scatter, inputs.T @ outputs)
    basis = np.linalg.svd(inputs @ weights, full_matrices=False)[2][:rank]
    arrays = (weights @ basis.T, basis, token_mean, mean)
    return StaticVectors(*(array.astype(np.float32) for array in arrays))


def save_static_vectors(static: StaticVectors, file: Path, digest: str) -> None:
    """Save the map in half precision, with the digest of the encoder's weights."""
    arrays = {name: array.astype(np.float16) for name, array in vars(static).items()}
    save_file(arrays, str(file), metadata={DIGEST_KEY: digest})


def question_paths(engine: Engine, name: str, count: int) -> list[tuple[str, list[str], list]]:
    """Questions, evenly spread over a set, each with the distinct texts and groups of its paths."""
    dataset = next(dataset for dataset in datasets().values() if name in dataset.sets)
    graph, questions = engine.graph(dataset.name), list(dataset.questions(name))
    found = []
    for question in questions[:: max(1, len(questions) // count)][:count]:
        ask = engine.prepare_question(GraphSource.of(graph), question, uses_model=False)
        lane = LaneRun(ask, parse_line(PATHS), engine.environment)
        lane.retrieve(LaneListener())
        groups = {}
        for path in lane.state.paths.items:
            relations = graph.triples(list(path.edges))[1].tolist()
            groups.setdefault(graph.text(path), (*relations, *path.forward))
        if len(groups) >= MIN_TEXTS:
            found.append((question.text, [*groups][:MAX_TEXTS], [*groups.values()][:MAX_TEXTS]))
    return found


def sentences(corpus: str) -> list[str]:
    """Sentences of a corpus, roughly: its texts cut at full stops."""
    texts = (document.text for document in open_corpus(corpus))
    return [part.strip() for text in texts for part in text.split(". ") if len(part) > 20]


def read_share(encoder, question, recall: float, static, table: np.ndarray) -> tuple[float, float]:
    """Fraction of a question's texts that is read, and fraction of the best that is found."""
    query, texts, groups = question
    vector = encoder.encode([query])[0]
    scores = dict(zip(texts, (encoder.encode(texts) @ vector).tolist()))
    rng = np.random.default_rng(0)
    projection = rng.standard_normal((len(vector), RANK)) if static is None else static.projection

    def estimate(part) -> TextEstimates:
        vectors = encoder.token_means(part, table) @ projection
        return TextEstimates(vectors, None if static is None else static.cosines(vectors, vector))

    numbers: dict = {}
    rows = np.array([numbers.setdefault(group, len(numbers)) for group in groups])
    task = Task(query, n_best=BEST, recall=recall, groups=rows)
    candidates = CandidateScores(task, texts, estimate)
    read: list[str] = []

    def record(part: list[str]) -> None:
        read.extend(part)
        candidates.record(part, np.array([scores[text] for text in part]))

    candidates.read_in_order(record)
    best = set(sorted(texts, key=lambda text: -scores[text])[:BEST])
    return len(read) / len(texts), len(best & {*read}) / len(best)

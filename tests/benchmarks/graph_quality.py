"""Quality of graphs of the same texts against the evidence that methods find in them.

    python -m tests.benchmarks graph_quality [--corpora hotpotqa ...] [--sizes 60 120 ...]

Builds graphs without a language model, with several chunk sizes, readers and thresholds, counts
their quality, asks methods on each, and prints the rank correlation of each quality with recall.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

import hopscope as hs
from core.builds import find_build, open_graph, run_build
from core.corpus import Corpus, open_corpus
from core.diagnosis.quality import GraphQuality, measure_quality
from core.evaluation.metrics.statistics import Estimate, correlation
from core.models.registry import Registry

CORPORA = ("hotpotqa", "2wikimultihopqa")
SIZES = (60, 120, 240, 480)  # tokens of a chunk
READERS = {"noun phrases": "NounPhrases()", "names and terms": "NamesAndTerms() >> ResolveNames()"}
LINKS = {
    "no synonyms": "",
    "synonyms": " >> AddSynonymEdges()",
    "loose synonyms": " >> AddSynonymEdges(least=0.5)",
}
METHOD = (
    "BuiltGraph(build={build!r}) >> NamesInQuestion(by='choose') >> LinkNames() >> "
    "PageRankNodes() >> RelationsFromNodes(keep=0) >> ChunksFromRelations()"
)
METRIC = "passage_recall@4"


@dataclass(frozen=True)
class BuiltQuality:
    """Quality of a build, and the recall of a method on it."""

    name: str
    quality: GraphQuality
    recall: float

    def measures(self) -> dict[str, float]:
        """Shares and ratios by which graphs of one corpus can be compared."""
        quality = self.quality
        return {
            "answers that are names": 1 - quality.unnamed / max(1, quality.answers),
            "evidence with an entity": 1
            - (quality.lost + quality.unmentioned) / max(1, quality.golds),
            "chunks with an entity": 1 - quality.bare / max(1, quality.chunks),
            "entities of the largest component": quality.largest / max(1, quality.entities),
            "entities with a relation": 1 - quality.isolated / max(1, quality.entities),
            "relations an entity": quality.relations / max(1, quality.entities),
            "entities without a like name": 1 - quality.alike / max(1, quality.entities),
        }


def build_lines(sizes: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Yield the name and the line of each build."""
    for size in sizes:
        for reader, steps in READERS.items():
            for links, suffix in LINKS.items():
                yield (
                    f"{size} tokens, {reader}, {links}",
                    f"TokenChunks(size={size}, overlap={size // 10}) >> {steps} >> "
                    f"Merge(by='name', descriptions=False, keywords=False){suffix} >> "
                    "Vectors(of='nodes')",
                )


def measure(corpus: Corpus, sizes: Sequence[int]) -> list[BuiltQuality]:
    """Build each graph of a corpus, count its quality and ask the corpus's questions."""
    models = Registry()
    questions = corpus.questions(corpus.name)
    found = []
    for name, line in build_lines(sizes):
        build = find_build(line)
        run_build(corpus, build, models)
        quality = measure_quality(open_graph(corpus, build), questions)
        run = hs.evaluate(
            METHOD.format(build=line), corpus.name, metrics=METRIC, sample=None, progress=False
        )
        found.append(BuiltQuality(name, quality, run.means()[0][METRIC]))
        print(f"{corpus.name:20} {name:50} {METRIC} {found[-1].recall:.3f}", flush=True)
    return found


def rank_correlations(rows: Sequence[BuiltQuality]) -> dict[str, Estimate]:
    """Return Spearman's correlation of each quality measure with recall over the builds."""
    recalls = rankdata([row.recall for row in rows])
    measures = [row.measures() for row in rows]
    return {
        name: correlation(rankdata([one[name] for one in measures]), recalls)
        for name in measures[0]
    }


def main(arguments: Sequence[str]) -> None:
    """Print recall on each build and the correlations of each corpus."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks graph_quality")
    parser.add_argument("--corpora", nargs="+", default=CORPORA)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    options = parser.parse_args(arguments)
    for name in options.corpora:
        rows = measure(open_corpus(name), options.sizes)
        recalls = np.array([row.recall for row in rows])
        print(f"\n{name}: {len(rows)} graphs, recall {recalls.min():.3f} to {recalls.max():.3f}")
        for measure_name, estimate in rank_correlations(rows).items():
            print(f"  {measure_name:40} {estimate}")

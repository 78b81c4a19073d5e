"""Answer recall of the suggested subgraph size, compared with the default of 1,000 nodes."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from core.datasets import datasets
from core.diagnosis.changes.size_advice import SIZE_ADVICE, advise_subgraph_size
from core.engine import Engine
from core.graph.names.lookup import name_lookup
from core.graph.pagerank.top_nodes import top_pagerank

SETS = ("metaqa-1hop-test", "metaqa-2hop-test", "metaqa-3hop-test")
SAMPLE, SEED = 200, 21


def run() -> list[dict]:
    """Three rows per set: mean answer recall for 1,000 nodes and for the suggested sizes.

    The size is suggested with known hops, and from the question's words alone.
    """
    graph, rows = Engine().graph("metaqa"), []
    for name in SETS:
        questions = datasets()["metaqa"].questions(name)
        drawn = [
            questions[int(i)]
            for i in np.random.default_rng(SEED).choice(len(questions), SAMPLE, replace=False)
        ]
        told = np.array([_measure_question(graph, question) for question in drawn])
        for i, which in enumerate(
            (f"{SIZE_ADVICE.nodes:,} nodes", "suggested, hops known", "suggested, words alone")
        ):
            recall, hit, nodes, seconds = told[:, i].mean(0)
            note = (
                f"mean of {SAMPLE} questions; hit {hit:.3f}, {nodes:,.0f} nodes in the mean, "
                f"{1000 * seconds:.1f} ms to suggest"
            )
            rows.append(
                {
                    "name": f"adviser {name}, {which}",
                    "value": float(recall),
                    "unit": "recall",
                    "note": note,
                }
            )
    return rows


def _measure_question(graph, question) -> list[tuple[float, float, float, float]]:
    """Recall, hit, nodes and seconds for the default size and both suggested sizes.

    Suggested sizes above the default count as the default.
    """
    seeds = tuple(name_lookup(graph).find(entity) for entity in question.entities)
    ranks = {
        int(node): rank
        for rank, node in enumerate(top_pagerank(graph, seeds, SIZE_ADVICE.nodes)[0])
    }
    places = np.array(
        [
            min(
                (
                    ranks.get(node, SIZE_ADVICE.nodes)
                    for node in name_lookup(graph).find_exact(answer)
                ),
                default=SIZE_ADVICE.nodes,
            )
            for answer in question.answers
        ]
    )
    told = [
        (
            (places < SIZE_ADVICE.nodes).mean(),
            (places < SIZE_ADVICE.nodes).any(),
            SIZE_ADVICE.nodes,
            0.0,
        )
    ]
    for asked in (question, replace(question, hops=None)):
        start = time.perf_counter()
        keep = advise_subgraph_size(graph, asked, seeds).keep
        inside = places < min(keep, SIZE_ADVICE.nodes)
        told.append((inside.mean(), inside.any(), keep, time.perf_counter() - start))
    return told

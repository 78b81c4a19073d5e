"""Declarations of the metrics of ranked documents and nodes, most of them from FastInsight.

Each metric is declared once, with the convention that it follows. In titles and conventions,
“evidence” stands for gold documents and gold nodes.
"""

from __future__ import annotations

from core.evaluation.metrics.formulas_links import (
    capped_node_recall,
    capped_recall,
    miss_tr,
    ndcg,
    node_ndcg,
    node_recall,
    recall_at_budget,
    topological_at_budget,
    topological_recall,
)
from core.evaluation.metrics.metric import Metric

DOCUMENT_CONVENTION = (
    "By documents, each at the rank of its first chunk, over the first k chunks that the "
    "method kept; where it keeps fewer than k, over all of them and by the same divisor, so "
    "that what it lacks counts as missed. A question whose evidence is not known, and a "
    "method that seeks none, are left out."
)
FIRST_CHUNKS_CONVENTION = (
    "The first k are those of the chunks that the method kept, all of these where it keeps "
    "fewer than k. "
)
GOLD_NODE_CONVENTION = (
    "In a graph of entities the evidence nodes are all those that come from a chunk of a "
    "document with the evidence, whatever else they come from; such a document of which no "
    "node comes has none. Where documents are nodes, they are the documents; of one in "
    "several chunks each."
)
UNCERTAINTY_CONVENTION = (
    "u is the sum of ln(1 + degree) over the nodes of the shortest path from a retrieved "
    "document to the one with the evidence, except that one; the least over those retrieved. "
    "Links count both ways and once; of shortest paths the one with the least sum is taken. A "
    "document that no path leads to counts 0. In a graph of entities its nodes take the place "
    "of documents, and evidence nodes that of documents with the evidence. "
    f"{GOLD_NODE_CONVENTION} All of them count, exactly."
)
NODE_RANK_CONVENTION = (
    f"{GOLD_NODE_CONVENTION} Over the first k nodes that the method kept; where it keeps fewer "
    "than k, over all of them and by the same divisor. A question without evidence nodes, and "
    "a method that seeks no nodes, are left out."
)
BUDGET_CONVENTION = (
    "For budgets of 10, 20 and so on to 100, from the trace of one run: loops and GAR do not "
    "look ahead, so what stood after a batch is what a run with that budget finds; without "
    "smoothing a re-ranker scores each document by itself; a search alone hands on the same "
    "ten at every budget, and retrieves as many as the budget allows. Methods of other kinds, "
    "and budgets above the method's own or between two batches, have no number. In a graph of "
    "entities its nodes are counted, and those to find are its evidence nodes."
)
FASTINSIGHT_SOURCE = "FastInsight, section 4.3"

LINK_METRICS = (
    Metric(
        "capped_recall",
        "Capped recall",
        "Documents with the evidence among the first k, over k or their number, whichever is "
        "smaller.",
        DOCUMENT_CONVENTION,
        capped_recall,
        required_field="gold",
        source=f"{FASTINSIGHT_SOURCE}; BEIR's recall_cap",
        cutoff=True,
        over_passages=True,
    ),
    Metric(
        "ndcg",
        "nDCG",
        "Gain of the documents with the evidence among the first k, discounted by rank, over "
        "that of the best order.",
        DOCUMENT_CONVENTION
        + " Every document with the evidence gains 1, discounted by log2(1 + rank).",
        ndcg,
        required_field="gold",
        source=f"{FASTINSIGHT_SOURCE}; trec_eval",
        cutoff=True,
        over_passages=True,
    ),
    Metric(
        "node_recall",
        "Evidence nodes retrieved",
        "Share of the evidence nodes that are among the (first k) nodes found.",
        NODE_RANK_CONVENTION,
        node_recall,
        required_field="gold",
        source="FastInsight, section 4.2.2",
        cutoff=True,
    ),
    Metric(
        "capped_node_recall",
        "Capped recall of evidence nodes",
        "Evidence nodes among the first k nodes found, over k or their number, whichever is "
        "smaller.",
        NODE_RANK_CONVENTION,
        capped_node_recall,
        required_field="gold",
        source=f"{FASTINSIGHT_SOURCE}, on text-rich knowledge graphs",
        cutoff=True,
    ),
    Metric(
        "node_ndcg",
        "nDCG of evidence nodes",
        "Gain of the evidence nodes among the first k nodes found, discounted by rank, over "
        "that of the best order.",
        NODE_RANK_CONVENTION + " Every evidence node gains 1, discounted by log2(1 + rank).",
        node_ndcg,
        required_field="gold",
        source=f"{FASTINSIGHT_SOURCE}, on text-rich knowledge graphs",
        cutoff=True,
    ),
    Metric(
        "topological_recall",
        "Topological Recall",
        "Mean of 1 / (1 + u) over the documents with the evidence: 1 for those among the "
        "first k, less the further away they are in the graph.",
        FIRST_CHUNKS_CONVENTION + UNCERTAINTY_CONVENTION,
        topological_recall,
        required_field="gold",
        source=f"{FASTINSIGHT_SOURCE}, definition 7",
        cutoff=True,
        over_passages=True,
    ),
    Metric(
        "miss_tr",
        "Topological Recall of what was missed",
        "What the documents with the evidence that are not among the first k add to "
        "Topological Recall.",
        FIRST_CHUNKS_CONVENTION
        + UNCERTAINTY_CONVENTION
        + " Topological Recall is recall plus this.",
        miss_tr,
        required_field="gold",
        source=f"{FASTINSIGHT_SOURCE}, corollary 1 (MissTR)",
        cutoff=True,
        over_passages=True,
    ),
    Metric(
        "budget_recall",
        "Capped recall @10 by budget",
        "Capped recall @10 of the method, had it read so many documents at most: the cut-off "
        "is the budget.",
        BUDGET_CONVENTION,
        recall_at_budget,
        source=FASTINSIGHT_SOURCE,
        cutoff=True,
    ),
    Metric(
        "budget_topological_recall",
        "Topological Recall by budget",
        "Topological Recall of all documents that the method would have retrieved with that "
        "budget: the cut-off is the budget.",
        f"{BUDGET_CONVENTION} {UNCERTAINTY_CONVENTION}",
        topological_at_budget,
        source=FASTINSIGHT_SOURCE,
        cutoff=True,
    ),
)

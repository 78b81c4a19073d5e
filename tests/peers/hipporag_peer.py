"""HippoRAG 2 builds its graph from passages with given facts, and retrieves for questions.

What only its own models need (torch, vLLM, services) is not installed and is replaced by mock
objects. NumPy replaces its search for the nearest names, which uses torch.
"""

from __future__ import annotations

import json
import sys
import tempfile
from unittest.mock import MagicMock

import numpy as np
from programs import ProgramInputs, record

ABSENT = (
    "torch",
    "torch.cuda",
    "transformers",
    "gritlm",
    "boto3",
    "botocore",
    "botocore.exceptions",
    "litellm",
    "vllm",
)
sys.modules.update({name: MagicMock() for name in ABSENT})

from hipporag import HippoRAG as module  # noqa: E402

program = sys.modules["hipporag.HippoRAG"]
APPEARS_WITH = "appears with"
# The selected ones of the facts that it shows.
KEPT = {"all": lambda facts: facts, "first two": lambda facts: facts[:2], "none": lambda facts: []}


class HipporagEncoder:
    """The encoder of the comparisons with HippoRAG's interface."""

    given: ProgramInputs

    def __init__(self, **_):
        pass

    def batch_encode(self, texts, **_):
        return self.given.encoder.encode([texts] if isinstance(texts, str) else texts)


class FactReplies:
    """A language model that returns the given triples of a passage, and selects facts."""

    def __init__(self, given: ProgramInputs):
        self.given, self.kept = given, KEPT["all"]

    def infer(self, messages, **_):
        shown = messages[-1]["content"]
        if "fact_before_filter" in shown:
            facts = json.loads(shown.split("fact_before_filter ## ]]")[1].split("\n\n")[0])["fact"]
            text = (
                f"[[ ## fact_after_filter ## ]]\n{json.dumps({'fact': self.kept(facts)})}\n\n"
                f"[[ ## completed ## ]]"
            )
        else:
            number = next(place for text, place in self.given.passage.items() if text in shown)
            triples = [[one, APPEARS_WITH, other] for one, other, *_ in self.given.facts[number][1]]
            names = [name for name, _ in self.given.facts[number][0]]
            text = json.dumps(
                {"triples": triples} if "named_entities" in shown else {"named_entities": names}
            )
        return text, {"finish_reason": "stop", "prompt_tokens": 0, "completion_tokens": 0}, False


def nearest_names(query_ids, key_ids, query_vecs, key_vecs, k, **_):
    """The nearest names of each name by cosine, best first, in the format of its own search."""
    unit = [
        np.asarray(one, float) / np.linalg.norm(one, axis=1, keepdims=True)
        for one in (query_vecs, key_vecs)
    ]
    scores = unit[0] @ unit[1].T
    order = np.argsort(-scores, axis=1)[:, :101]
    return {
        name: ([key_ids[i] for i in best], row[best].tolist())
        for name, row, best in zip(query_ids, scores, order)
    }


def graph_of(rag, given: ProgramInputs) -> dict:
    """Numbers of its nodes and edges, and its edges of similar names with weights."""
    entity = [given.entity.get(text.upper(), -1) for text in rag.graph.vs["content"]]
    alike = {}
    for edge in rag.graph.es:
        ends = sorted((entity[edge.source], entity[edge.target]))
        if ends[0] >= 0 and edge["weight"] % 1:
            alike[tuple(ends)] = round(edge["weight"], 4)
    known = sum(one >= 0 for one in entity)
    return {
        "entities": known,
        "facts": len(rag.fact_node_keys),
        "alike": [[*ends, weight] for ends, weight in sorted(alike.items())],
    }


def asked(rag, given: ProgramInputs, question: dict) -> dict:
    """Facts of a question, restart nodes of its PageRank, and its first passages in order."""
    found: dict = {"facts": [], "starts": []}
    ranked, filtering = rag.run_ppr, rag.rerank_filter
    names = [given.entity.get(text.upper(), -1) for text in rag.graph.vs["content"]]

    def walked(reset_prob, damping):
        found["starts"] = sorted(
            name for name, weight in zip(names, reset_prob) if weight > 0 and name >= 0
        )
        return ranked(reset_prob, damping=damping)

    def chosen(query, facts, places, len_after_rerank):
        found["facts"] = [given.between(one.upper(), other.upper()) for one, _, other in facts]
        return filtering(query, facts, places, len_after_rerank=len_after_rerank)

    rag.run_ppr, rag.rerank_filter = walked, chosen
    try:
        told = rag.retrieve([question["text"]], num_to_retrieve=20)[0]
    finally:
        rag.run_ppr, rag.rerank_filter = ranked, filtering
    return {**found, "chunks": [given.passage[text] for text in told.docs]}


def outcome(given: ProgramInputs) -> dict:
    """All recorded results."""
    replies, HipporagEncoder.given = FactReplies(given), given
    program._get_llm_class = lambda config: replies
    program._get_embedding_model_class = lambda embedding_model_name: HipporagEncoder
    program.retrieve_knn = nearest_names
    with tempfile.TemporaryDirectory() as folder:
        rag = module(
            global_config=program.BaseConfig(
                save_dir=folder, llm_name="replies", embedding_model_name="vectors"
            )
        )
        rag.index(given.passages)
        found = {}
        for name, kept in KEPT.items():
            replies.kept = kept
            found[name] = [asked(rag, given, one) for one in given.questions]
        return {"graph": graph_of(rag, given), **found}


if __name__ == "__main__":
    record("hipporag", outcome)

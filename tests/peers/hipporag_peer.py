"""HippoRAG 2: it is given the texts with what a model finds in them, builds its graph and tells what it retrieves, as JSON.

What only its own models need (torch, vLLM, services) is not installed: objects stand there of which any name can be read, and its
search for nearest names, which is torch's, is done by NumPy.
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
from corpus import CHUNKS, QUESTION, RELATIONS, chunk, vector

ABSENT = ("torch", "torch.cuda", "transformers", "gritlm", "boto3", "botocore", "botocore.exceptions", "litellm", "vllm")
sys.modules.update({name: MagicMock() for name in ABSENT})

from hipporag import HippoRAG as module  # noqa: E402

program = sys.modules["hipporag.HippoRAG"]
FACTS = {(one, words.split(",")[0], other): told for (one, other), told in RELATIONS.items() for words in [told[1]]}
KEPT = {"all": None, "son": [("BOB CRATCHIT", "family", "TINY TIM")], "none": []}  # of the facts that it is shown


class Vectors:
    """The vectors of the corpus: of a fact that of its relation, of an entity that of its name."""

    def __init__(self, **_):
        pass

    def batch_encode(self, texts, **_):
        return np.array([vector(self._said(text)) for text in texts], np.float32)

    def _said(self, text: str) -> str:
        if text.startswith("("):
            one, _, other = ast.literal_eval(text)
            return RELATIONS[one.upper(), other.upper()][0]
        return text if text in (*CHUNKS, QUESTION) else text.upper()


class Replies:
    """A language model that finds the triples of the chunk it is shown, and keeps these facts."""

    def __init__(self, kept):
        self.kept = kept

    def infer(self, messages, **_):
        shown = messages[-1]["content"]
        if "fact_before_filter" in shown:
            every = json.loads(shown.split("fact_before_filter ## ]]")[1].split("\n\n")[0])["fact"]
            facts = every if self.kept is None else [[part.lower() for part in fact] for fact in self.kept]
            text = f"[[ ## fact_after_filter ## ]]\n{json.dumps({'fact': facts})}\n\n[[ ## completed ## ]]"
        else:
            triples = [fact for fact, told in FACTS.items() if chunk(shown) in told[3]]
            names = sorted({name for one, _, other in triples for name in (one, other)})
            text = json.dumps({"triples": triples} if "named_entities" in shown else {"named_entities": names})
        return text, {"finish_reason": "stop", "prompt_tokens": 0, "completion_tokens": 0}, False


def nearest(query_ids, key_ids, query_vecs, key_vecs, k, **_):
    """For each name the nearest by cosine, the best first, as its own search gives them."""
    unit = [np.asarray(one, float) / np.linalg.norm(one, axis=1, keepdims=True) for one in (query_vecs, key_vecs)]
    scores = unit[0] @ unit[1].T
    order = np.argsort(-scores, axis=1)[:, :k]
    return {name: ([key_ids[i] for i in best], row[best].tolist()) for name, row, best in zip(query_ids, scores, order)}


def filled(folder: str, kept, threshold: float):
    """A program that has read the texts."""
    program._get_llm_class = lambda config: Replies(kept)
    program._get_embedding_model_class = lambda embedding_model_name: Vectors
    program.retrieve_knn = nearest
    config = program.BaseConfig(save_dir=folder, llm_name="replies", embedding_model_name="vectors", synonymy_edge_sim_threshold=threshold)
    rag = module(global_config=config)
    rag.index(list(CHUNKS))
    return rag


def names_of(rag) -> list[str]:
    """What its nodes are called here: entities in upper case, chunks by number."""
    return [f"c{chunk(text)}" if text in CHUNKS else text.upper() for text in rag.graph.vs["content"]]


def edges_of(rag) -> list:
    """Its edges, those between the same two added up."""
    names, weights = names_of(rag), defaultdict(float)
    for edge in rag.graph.es:
        weights[tuple(sorted((names[edge.source], names[edge.target])))] += edge["weight"]
    return [[*ends, round(weight, 6)] for ends, weight in sorted(weights.items())]


def asked(rag) -> dict:
    """The facts that it looks at, where its PageRank restarts, and the chunks in its order."""
    found: dict = {"reset": {}}
    ranked, filtering = rag.run_ppr, rag.rerank_filter

    def walked(reset_prob, damping):
        found["reset"] = {name: round(float(weight), 6) for name, weight in zip(names_of(rag), reset_prob) if weight > 0}
        return ranked(reset_prob, damping=damping)

    def chosen(query, facts, places, len_after_rerank):
        scores = rag.get_fact_scores(query)[places].tolist()
        found["facts"] = [[*(part.upper() for part in fact), round(score, 6)] for fact, score in zip(facts, scores)]
        return filtering(query, facts, places, len_after_rerank=len_after_rerank)

    rag.run_ppr, rag.rerank_filter = walked, chosen
    told = rag.retrieve([QUESTION])[0]
    found["chunks"] = [[chunk(text), round(float(score), 6)] for text, score in zip(told.docs, told.doc_scores)]
    return found


def outcome() -> dict:
    """Everything that is recorded."""
    found: dict = {"program": f"hipporag {version('hipporag')}"}
    for name, kept in KEPT.items():
        with tempfile.TemporaryDirectory() as folder:
            rag = filled(folder, kept, 0.8)
            found["graph"] = edges_of(rag)
            found[name] = asked(rag)
    with tempfile.TemporaryDirectory() as folder:
        found["alike"] = edges_of(filled(folder, [], 0.7))
    return found


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(outcome(), indent=1, sort_keys=True) + "\n", "utf-8")

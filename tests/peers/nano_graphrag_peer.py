"""nano-graphrag, local and global search: it builds its graph by the recorded replies and tells what it retrieves, as JSON."""

from __future__ import annotations

import csv
import json
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import nano_graphrag._op as op
import nano_graphrag._utils as utils
import numpy as np
from corpus import CHUNKS, COMMUNITIES, ENTITIES, QUESTION, RELATIONS, SIZE, chunk, tokens, vector
from nano_graphrag import GraphRAG, QueryParam
from nano_graphrag._storage import NetworkXStorage
from nano_graphrag._utils import wrap_embedding_func_with_attrs
from nano_graphrag.prompt import PROMPTS

TIGHT = {"top_k": 3, "local_max_token_for_text_unit": 50, "local_max_token_for_local_context": 30}
TIGHT |= {"local_max_token_for_community_report": 30, "level": 1}


class Letters:
    """A tokenizer that needs no download: a text as its letters, and its length by the rule of the corpus."""

    def encode(self, text):
        return [0] * tokens(text)

    def encode_batch(self, texts, **_):
        return [list(map(ord, text)) for text in texts]


class Grouped(NetworkXStorage):
    """The graph, its communities as the corpus has them rather than by Leiden."""

    async def clustering(self, algorithm):
        of = {name: [{"level": told[0], "cluster": key} for key, told in COMMUNITIES.items() if name in told[1]] for name in ENTITIES}
        self._cluster_data_to_subgraphs(of)


def whole(tokens_list, doc_keys, **_):
    """Each text as one chunk."""
    texts = ["".join(map(chr, one)) for one in tokens_list]
    return [{"tokens": tokens(text), "content": text, "chunk_order_index": 0, "full_doc_id": key} for text, key in zip(texts, doc_keys)]


def extracted(number: int) -> str:
    """What a model finds in a chunk, in nano-graphrag's form."""
    between, after = PROMPTS["DEFAULT_TUPLE_DELIMITER"], PROMPTS["DEFAULT_RECORD_DELIMITER"]
    found = [('"entity"', name, kind, text) for name, (kind, text, chunks, _) in ENTITIES.items() if number in chunks]
    found += [('"relationship"', *ends, text, str(weight)) for ends, (text, _, weight, chunks, _) in RELATIONS.items() if number in chunks]
    return after.join(f"({between.join(record)})" for record in found) + PROMPTS["DEFAULT_COMPLETION_DELIMITER"]


class Model:
    """A language model whose every reply is written down; it keeps what it was asked."""

    def __init__(self):
        self.maps, self.reduced = [], ""

    async def __call__(self, prompt, system_prompt=None, history_messages=(), **_):
        if prompt == PROMPTS["entiti_continue_extraction"]:
            return ""
        if system_prompt and system_prompt.startswith(PROMPTS["global_reduce_rag_response"][:80]):
            self.reduced = system_prompt
            return "the answer"
        if system_prompt:
            found = [key for key, told in COMMUNITIES.items() if f"# {told[2]}\n" in system_prompt]
            self.maps.append(sorted(found, key=lambda key: system_prompt.index(f"# {COMMUNITIES[key][2]}\n")))
            return json.dumps({"points": [{"description": f"point {key}", "score": COMMUNITIES[key][5]} for key in self.maps[-1]]})
        if "-----Entities-----" in prompt and "-----Relationships-----" in prompt.split("-----Entities-----")[-1]:
            return json.dumps(report(prompt.split("-----Entities-----")[-1].split("-----Relationships-----")[0]))
        return extracted(chunk(prompt.split("Text:")[-1]))


def report(entities: str) -> dict:
    """The report on the community that has just these entities."""
    names = {name for name in ENTITIES if f'"{name}"' in entities}
    told = next(told for told in COMMUNITIES.values() if set(told[1]) == names)
    return {"title": told[2], "summary": told[3], "rating": told[4], "findings": []}


@wrap_embedding_func_with_attrs(embedding_dim=SIZE, max_token_size=8192)
async def encode(texts):
    return np.array([vector(text) for text in texts])


def found(context: str) -> dict:
    """What a context shows, in its order."""
    parts = dict(re.findall(r"-----(\w+)-----\n```csv\n(.*?)\n```", context, re.DOTALL))
    rows = {name: list(csv.reader(text.replace(",\t", ",").splitlines(keepends=True)))[1:] for name, text in parts.items()}
    title = {told[2]: key for key, told in COMMUNITIES.items()}
    return {
        "entities": [row[1] for row in rows["Entities"]],
        "relations": [sorted(row[1:3]) for row in rows["Relationships"]],
        "chunks": [chunk(row[1]) for row in rows["Sources"]],
        "communities": [title[row[1].splitlines()[0].removeprefix("# ")] for row in rows["Reports"]],
    }


def graph(rag: GraphRAG) -> dict:
    """The graph that was built: what ours is given, so that retrieval alone is compared."""
    numbers = {key: chunk(told["content"]) for key, told in rag.text_chunks._data.items()}
    source = lambda told: sorted(numbers[key] for key in told["source_id"].split("<SEP>"))
    net = rag.chunk_entity_relation_graph._graph
    nodes = {name: [told["entity_type"], told["description"], source(told)] for name, told in net.nodes(data=True)}
    edges = [[*sorted((one, other)), told["description"], told["weight"], source(told)] for one, other, told in net.edges(data=True)]
    told = {int(key): one for key, one in rag.community_reports._data.items()}
    communities = [[key, told[key]["level"], sorted(told[key]["nodes"]), told[key]["report_string"]] for key in sorted(told)]
    return {"nodes": dict(sorted(nodes.items())), "edges": sorted(edges), "communities": communities}


def outcome() -> dict:
    """Everything that is recorded."""
    utils.ENCODER, op.tiktoken.encoding_for_model = Letters(), lambda name: Letters()
    model = Model()
    with tempfile.TemporaryDirectory() as folder:
        asks = {"best_model_func": model, "cheap_model_func": model, "enable_llm_cache": False}
        rag = GraphRAG(folder, chunk_func=whole, embedding_func=encode, graph_storage_cls=Grouped, **asks)
        rag.insert(list(CHUNKS))
        local = {
            name: found(rag.query(QUESTION, QueryParam(mode="local", only_need_context=True, **values)))
            for name, values in (("default", {}), ("tight", TIGHT))
        }
        for name, size in (("packed", 16384), ("apart", 30)):
            model.maps = []
            rag.query(QUESTION, QueryParam(mode="global", global_max_token_for_community_report=size))
            points = re.findall(r"Importance Score: (\d+)\n(.*)\n", model.reduced)
            local[name] = {"groups": model.maps, "points": [[int(score), text] for score, text in points]}
        return {"program": f"nano-graphrag {version('nano-graphrag')}", "graph": graph(rag), **local}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(outcome(), indent=1, sort_keys=True) + "\n", "utf-8")

"""nano-graphrag's local and global search on a graph that it builds from recorded replies.

Its communities and their reports are given, instead of Leiden's and a language model's.
"""

from __future__ import annotations

import json
import re
import tempfile

import nano_graphrag._op as op
import nano_graphrag._utils as utils
import nano_graphrag.graphrag as graphrag
from encoder import SIZE, tokens
from nano_graphrag import GraphRAG, QueryParam
from nano_graphrag._storage import NetworkXStorage
from nano_graphrag._utils import wrap_embedding_func_with_attrs
from nano_graphrag.prompt import PROMPTS
from programs import ProgramInputs, record

WIDE = {
    "local_max_token_for_text_unit": 10**8,
    "local_max_token_for_local_context": 10**8,
    "local_max_token_for_community_report": 10**8,
}


class NanoTokenizer:
    """A tokenizer without downloads that splits texts into letters.

    It counts tokens by the rule of the comparisons.
    """

    def encode(self, text):
        return [0] * tokens(text)

    def encode_batch(self, texts, **_):
        return [list(map(ord, text)) for text in texts]


def grouped(given: ProgramInputs) -> type[NetworkXStorage]:
    """A graph storage with the given communities."""
    of: dict[str, list[dict]] = {name: [] for name in given.entities}
    names = list(given.entities)
    for key, (_, level, members, _, _) in enumerate(given.communities):
        for member in members:
            of[names[member]].append({"level": level, "cluster": key})

    class GivenCommunities(NetworkXStorage):
        async def clustering(self, algorithm):
            self._cluster_data_to_subgraphs(of)

    return GivenCommunities


def report_writer(given: ProgramInputs):
    """A function that writes the given reports."""

    async def write(reports, graph, config):
        told = await graph.community_schema()
        text = lambda one: {
            "report_string": f"# {one[0]}\n\n{one[3]}",
            "report_json": {"rating": one[4]},
        }
        await reports.upsert(
            {key: {**text(given.communities[int(key)]), **one} for key, one in told.items()}
        )

    return write


def whole_passages(tokens_list, doc_keys, **_):
    """Return each passage as one chunk."""
    texts = ["".join(map(chr, one)) for one in tokens_list]
    return [
        {"tokens": tokens(text), "content": text, "chunk_order_index": 0, "full_doc_id": key}
        for text, key in zip(texts, doc_keys)
    ]


class FactsAndPointsModel:
    """A language model that returns the given facts and notes a point on each report.

    It records which reports each group contained.
    """

    def __init__(self, given: ProgramInputs):
        self.given, self.groups = given, []
        self.places = sorted(given.passage.items(), key=lambda one: -len(one[0]))
        self.titles = {one[0]: key for key, one in enumerate(given.communities)}

    async def __call__(self, prompt, system_prompt=None, history_messages=(), **_):
        if prompt == PROMPTS["entiti_continue_extraction"]:
            return ""
        if system_prompt and system_prompt.startswith(PROMPTS["global_reduce_rag_response"][:80]):
            return "the answer"
        if system_prompt:
            self.groups.append(
                [
                    self.titles[title]
                    for title in re.findall(r"# ((?:Part|Whole) \d+)\n", system_prompt)
                ]
            )
            return json.dumps(
                {
                    "points": [
                        {"description": f"point {key}", "score": 1 + key} for key in self.groups[-1]
                    ]
                }
            )
        return self.extracted(next(place for passage, place in self.places if passage in prompt))

    def extracted(self, place: int) -> str:
        """The facts of a passage in nano-graphrag's format."""
        between, after = PROMPTS["DEFAULT_TUPLE_DELIMITER"], PROMPTS["DEFAULT_RECORD_DELIMITER"]
        entities, relations = self.given.facts[place]
        found = [('"entity"', name, "THING", self.given.entities[name][0]) for name, _ in entities]
        told = lambda one, other: self.given.relations[self.given.between(one, other)][2]
        found += [
            ('"relationship"', one, other, told(one, other), str(weight))
            for one, other, _, _, weight in relations
        ]
        return (
            after.join(f"({between.join(record)})" for record in found)
            + PROMPTS["DEFAULT_COMPLETION_DELIMITER"]
        )


def local_search_results(given: ProgramInputs) -> dict:
    """Results of its local search, recorded during the search.

    Its context cannot be parsed, since it does not escape quotes.
    """
    found: dict = {}
    titles = {one[0]: key for key, one in enumerate(given.communities)}
    parts, units, edges = (
        getattr(op, f"_find_most_related_{name}_from_entities")
        for name in ("community", "text_unit", "edges")
    )

    async def communities(nodes, *rest):
        told = await parts(nodes, *rest)
        found["entities"] = [given.entity[one["entity_name"]] for one in nodes]
        found["communities"] = [
            titles[one["report_string"].splitlines()[0].removeprefix("# ")] for one in told
        ]
        return told

    async def chunks(*asked):
        told = await units(*asked)
        found["chunks"] = [given.passage[one["content"]] for one in told]
        return told

    async def relations(*asked):
        told = await edges(*asked)
        found["relations"] = [given.between(*one["src_tgt"]) for one in told]
        return told

    op._find_most_related_community_from_entities = communities
    op._find_most_related_text_unit_from_entities = chunks
    op._find_most_related_edges_from_entities = relations
    return found


def graph_of(rag: GraphRAG, given: ProgramInputs) -> dict:
    """Number of entities and relations of its graph that equal the given ones."""
    numbers = {key: given.passage[told["content"]] for key, told in rag.text_chunks._data.items()}
    source = lambda told: sorted(numbers[key] for key in told["source_id"].split("<SEP>"))
    net = rag.chunk_entity_relation_graph._graph
    nodes = [source(net.nodes[name]) == where for name, (_, where) in given.entities.items()]
    edges = [
        net.edges[one, other]["weight"] == weight and source(net.edges[one, other]) == where
        for one, other, _, _, weight, where in given.relations
    ]
    return {
        "entities": [net.number_of_nodes(), sum(nodes)],
        "relations": [net.number_of_edges(), sum(edges)],
    }


def outcome(given: ProgramInputs) -> dict:
    """All recorded results."""
    utils.ENCODER, op.tiktoken.encoding_for_model = NanoTokenizer(), lambda name: NanoTokenizer()
    graphrag.generate_community_report = report_writer(given)
    model = FactsAndPointsModel(given)
    for name, (text, _) in given.entities.items():
        given.encoder.reads(name + text, f"{name} {text}")

    @wrap_embedding_func_with_attrs(embedding_dim=SIZE, max_token_size=8192)
    async def encode(texts):
        return given.encoder.encode(texts)

    with tempfile.TemporaryDirectory() as folder:
        asks = {"best_model_func": model, "cheap_model_func": model, "enable_llm_cache": False}
        rag = GraphRAG(
            folder,
            chunk_func=whole_passages,
            embedding_func=encode,
            graph_storage_cls=grouped(given),
            **asks,
        )
        rag.insert(given.passages)
        found = local_search_results(given)

        def local(text: str, **values) -> dict:
            found.clear()
            rag.query(text, QueryParam(mode="local", only_need_context=True, **values))
            return dict(found)

        told = {
            "wide": [local(one["text"], **WIDE) for one in given.questions],
            "as it is": [local(one["text"]) for one in given.questions],
        }
        for name, size in (("packed", 16384), ("small", 150)):
            model.groups = []
            rag.query(
                given.questions[0]["text"],
                QueryParam(mode="global", global_max_token_for_community_report=size),
            )
            told[name] = model.groups
        return {"graph": graph_of(rag, given), **told}


if __name__ == "__main__":
    record("nano-graphrag", outcome)

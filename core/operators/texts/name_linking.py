"""Entity linking: the nodes of the graph that the names in a question refer to.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.names.lookup import name_lookup
from core.indexes.vectors import vector_index
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import best_hits, best_names
from core.parameters import param
from core.types import State, Usage


@dataclass(frozen=True, repr=False)
class LinkNames(Operator):
    """The nearest entity for each name of the question, with a cosine of `least` or more.

    In-depth analysis, node operator Link (the first hit for each name, whatever its score;
    HippoRAG, DALK, FastGraphRAG). A name that is a node's name, ignoring case, apostrophes and
    accents, is linked to that node with score 1, without a vector search. If `spelt` is False every
    name is searched, and may be linked to an entity of another name (fast-graphrag). The linked
    entities are the seeds of the following operators.

    >>> line = "NamesInQuestion() >> LinkNames()"
    >>> story.names(retrieve(line, graph=story, question="Is Tim lame?", models=scores({})).seeds)
    ['Tim']
    """

    stage = "retrieve"
    title = "names linked"
    plain = "finds the entities of these names"
    reads, writes = ("names",), ("linked", "seeds", "nodes")

    least: float = param(
        -1.0,
        "Least cosine",
        "Names less near to any entity are not linked; -1 links every name.",
        low=-1,
        high=1,
    )
    spelt: bool = param(
        True, "As spelt", "A name that the graph has just so means the entity of that name."
    )
    encoder: str = param(
        "encoder", "Encoder", "The sentence encoder that reads names and entities.", model=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        graph = ctx.graph
        best_scores: dict[int, float] = {}
        searched_names = []
        for name in state.names or ():
            matches = name_lookup(graph).find_alike(name) if self.spelt and graph.n_nodes else ()
            if matches:
                # several nodes of one name: the one of largest degree
                best_scores[min(matches, key=lambda node: (-graph.degree(node), node))] = 1.0
            else:
                searched_names.append(name)
        nearest_nodes = self._nearest(searched_names, ctx, recorder)
        for node, score in nearest_nodes:
            best_scores[node] = max(score, best_scores.get(node, score))
        linked = best_hits("node", best_scores, best_scores.values())
        note = f"Linked: {best_names(graph, linked) or 'none'}."
        n_unlinked = len(searched_names) - len(nearest_nodes)
        if n_unlinked:
            note += f" Names near to no entity: {n_unlinked}."
        recorder.notes.append(note)
        return state.replace(linked=linked, nodes=linked, seeds=linked.items)

    def _nearest(
        self, names: list[str], ctx: Context, recorder: Recorder
    ) -> list[tuple[int, float]]:
        """Return the nearest entity and its cosine for each name, without those below `least`."""
        if not names or not ctx.graph.n_nodes:
            return []
        encoder = ctx.models.encoder(self.encoder)
        index = vector_index(ctx.graph, encoder, "nodes", ctx.watch)
        recorder.usage += Usage(texts=len(names))
        recorder.notes.extend(filter(None, (index.source, index.approximation_note)))
        nearest_rows = [index.nearest(vector, 1) for vector in encoder.encode(names, ctx.watch)]
        return [
            (int(ids[0]), float(scores[0]))
            for ids, scores in nearest_rows
            if len(ids) and scores[0] >= self.least
        ]

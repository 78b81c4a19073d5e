"""What matters in a lane on documents, stage by stage: the passages that the answer rests on, and the words of the known answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.comparison.comparing import Comparison, Lane
from core.diagnosis.causes import Cause, Fate
from core.diagnosis.funnel import Stage, survivors
from core.diagnosis.matching import BARE, match, normalize, says
from core.diagnosis.wording import are
from core.graph.columns import Table
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunks_of, hit_names, hit_texts, leaves, node_chunks
from core.operators.nodes.documents import DocumentsOfNodes
from core.sources import Source
from core.types import ContextTable, Ranking, State, Step

TEXT_STAGES = ("corpus", "graph", "retrieved", "prompt", "answer")
SHOWN = "prompt"
Kept = Mapping[str, tuple[str, ...]] | None
REMEMBERED = 1024  # names of which it is known whether texts hold them


def gold_funnel(source: Source, graph: KnowledgeGraph, state: State, gold: Sequence[str], kept: Kept = None) -> tuple[Stage, ...]:
    """The stages for the passages that the answer rests on, by their documents' ids; empty where none is known.

    corpus: the document is there. graph: a chunk of it is there, and where the graph has nodes, one tells of a node or is one. retrieved: a
    chunk of it is among the hits. prompt: the prompt shows such a chunk. `kept` tells the first two of a comparison that was saved.
    """
    gold = tuple(dict.fromkeys(gold))
    if not gold:
        return ()
    found: list[tuple[str, Callable[[str], bool]]] = [
        ("corpus", lambda document: document in (kept["corpus"] if kept else source)),
        ("graph", lambda document: document in kept["graph"] if kept else bool(_told(graph, chunk_rows(graph, document)))),
    ]
    hits, shown = retrieved_chunks(graph, state), shown_chunks(graph, state)
    if hits is not None:
        found.append(("retrieved", lambda document: not chunk_rows(graph, document).isdisjoint(hits)))
        if shown is not None:
            found.append((SHOWN, lambda document: not chunk_rows(graph, document).isdisjoint(shown)))
    return survivors(found, gold)


def answer_funnel(source: Source, graph: KnowledgeGraph, state: State, answers: Sequence[str], kept: Kept = None) -> tuple[Stage, ...]:
    """The stages for the words of the known answers; empty where none is known.

    corpus: a document holds them. graph: a chunk, a name or a description of the graph does. retrieved: a hit's name or text. prompt: a
    row of its tables. answer: the language model's text, or where none was asked the excerpt. Of yes and no, which are in any text,
    only the last stage is told. The words of an alias that the state's question knows count as well.
    """
    answers, names = tuple(dict.fromkeys(answers)), state.question.names
    said = state.answer if state.answer is not None else state.excerpt.text if state.excerpt else None
    if not answers or all(normalize(name) in BARE for name in answers):
        return survivors([("answer", lambda answer: says(said or "", answer))], answers) if answers and said is not None else ()
    found: list[tuple[str, Callable[[str], bool]]] = [
        ("corpus", lambda answer: answer in kept["corpus"] if kept else any(_in_corpus(source, graph, name) for name in names(answer))),
        ("graph", lambda answer: answer in kept["graph"] if kept else any(_in_graph(graph, name) for name in names(answer))),
    ]
    rankings = state.hits
    if rankings:
        told = [text for hits in rankings for text in (*hit_names(graph, hits.kind, hits.items), *hit_texts(graph, hits.kind, hits.items))]
        found.append(("retrieved", lambda answer: any(match(text, name) for text in told for name in names(answer))))
    if state.prompt is not None and rankings:
        prompt = "\n".join(message["content"] for message in state.prompt.messages if message["role"] == "user")
        context = prompt.replace(state.question.text, " ")
        found.append((SHOWN, lambda answer: any(match(context, name) for name in names(answer))))
    if said is not None:
        found.append(("answer", lambda answer: any(says(said, name) for name in names(answer))))
    return survivors(found, answers)


def kept(comparison: Comparison, lane: Lane) -> Mapping[str, tuple[str, ...]] | None:
    """Of the known answers and passages those in the corpus and in the lane's graph, for a comparison that is saved without these."""
    ask = comparison.ask
    if not ask.source.documents or lane.kept is not None:
        return lane.kept
    answers = answer_funnel(ask.source, lane.graph, State(ask.question), ask.question.answers)
    passages = gold_funnel(ask.source, lane.graph, State(ask.question), ask.question.gold)
    alive = {(stage.name, name) for stage in (*answers, *passages) for name in stage.alive}
    return {place: tuple(sorted(name for stage, name in alive if stage == place)) for place in ("corpus", "graph")}


def fates(graph: KnowledgeGraph, states: Sequence[State], gold: Sequence[str]) -> tuple[Fate, ...]:
    """For each passage that the answer rests on what became of it in a lane's states, in the order given: of its best chunk in the last
    ranking, else in the last one that an operator cut from."""
    return tuple(replace(_fate(graph, states, document), document=document) for document in dict.fromkeys(gold))


def _fate(graph: KnowledgeGraph, states: Sequence[State], document: str) -> Fate:
    rows = chunk_rows(graph, document)
    last = states[-1] if states else None
    if last is None or not rows:
        return Fate(Cause.NOT_IN_GRAPH, "not in the graph")
    handed_on, named = handed_on_chunks(graph, last), lambda row: hit_names(graph, "chunk", [row])[0]
    for order in filter(None, (_as_chunks(graph, last.chunks), _as_chunks(graph, last.nodes))):
        place = _place(order, rows)
        if place is not None:
            cause, text, step, kept, of = Cause.FOUND, f"place {place:,}", None, None, len(order)
            if handed_on is not None and rows.isdisjoint(handed_on):
                steps = (one for one in reversed(last.trace) if one.operator == DocumentsOfNodes.__name__ and one.before_cut is not None)
                cause, kept, step = Cause.NO_ROOM, len(handed_on), next(steps, None)
                text = too_late(place, kept)
            elif rows.isdisjoint(shown_chunks(graph, last) or rows):
                cause, text = Cause.NO_ROOM, f"place {place:,}, no room in the prompt"
            return Fate(cause, text, place, of, kept, step=step, chunk=named(order[place - 1]))
    walked = any(in_batches(step) for step in last.trace)
    for step in reversed(last.trace):
        order = _as_chunks(graph, step.before_cut)
        place = _place(order, rows)
        if place is not None:
            kept = kept_by(step)
            text = f"never reached: place {place:,} of the first search" if walked else too_late(place, kept)
            cause = Cause.BATCH if walked else Cause.OUTRANKED
            return Fate(cause, text, place, len(order), kept, step=step, chunk=named(order[place - 1]))
    return Fate(Cause.NOT_REACHED, "never reached", chunk=named(min(rows)))


def too_late(place: int, kept: int | None) -> str:
    """That something was ranked behind what is kept.

    >>> from core.diagnosis.funnel_texts import too_late
    >>> too_late(12, 1), too_late(1200, None)
    ('found too late: place 12, 1 is kept', 'found too late: place 1,200')
    """
    return f"found too late: place {place:,}" + (f", {kept:,} {are(kept)} kept" if kept else "")


def handed_on_chunks(graph: KnowledgeGraph, state: State) -> frozenset[int] | None:
    """The chunks that were handed on of nodes that are chunks themselves, as on a corpus graph; None where all that were found are."""
    if state.chunks is None or state.nodes is None or not leaves(graph, state.nodes.items):
        return None
    return frozenset(state.chunks.items)


def in_batches(step: Step) -> bool:
    """Whether an operator found nodes in several batches."""
    return len(step.frames) > 1 and step.frames[0].ranking.kind == "node"


def kept_by(step: Step) -> int | None:
    """How many an operator kept of what it ranked, where a parameter says so.

    >>> from core.diagnosis.funnel_texts import kept_by
    >>> from core.types import Step
    >>> kept_by(Step("SparseChunks", "retrieve", {"keep": 4, "by": "bm25"}, 0.0))
    4
    """
    keep = step.parameters.get("keep")
    return keep if isinstance(keep, int) and keep > 0 else None


def chunk_rows(graph: KnowledgeGraph, document: str) -> frozenset[int]:
    """The rows of a document's chunks."""
    return _by_document(graph).get(document, frozenset())


def _by_document(graph: KnowledgeGraph) -> dict[str, frozenset[int]]:
    def make() -> dict[str, frozenset[int]]:
        table, rows = graph.columns.chunks, dict[str, list[int]]()
        for row, document in enumerate(table.texts("document") if table is not None else ()):
            rows.setdefault(document, []).append(row)
        return {document: frozenset(found) for document, found in rows.items()}

    return graph.derived.once("chunks by document", None, make)


def retrieved_chunks(graph: KnowledgeGraph, state: State) -> frozenset[int] | None:
    """The rows of the chunks among the hits, those that are nodes included; None where no hits were sought."""
    if not state.hits:
        return None
    return frozenset(_as_chunks(graph, state.chunks)) | frozenset(_as_chunks(graph, state.nodes))


def chunk_order(graph: KnowledgeGraph, state: State) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The chunks found, best first, and these in the longer order they were cut from where that is known; None where none were sought."""
    if state.chunks is None and (state.nodes is None or not node_chunks(graph)):
        return None
    kept = _as_chunks(graph, state.chunks) or _as_chunks(graph, state.nodes)
    for step in reversed(state.trace):
        order = _as_chunks(graph, step.before_cut)
        if len(order) > len(kept) and order[: len(kept)] == kept:
            return kept, order
    return kept, kept


def shown_chunks(graph: KnowledgeGraph, state: State) -> frozenset[int] | None:
    """The rows of the chunks that the prompt shows; None where there is no prompt."""
    if state.prompt is None:
        return None
    shown = state.prompt.hits
    parts = [(hits, shown.get(hits.kind, 0)) for hits in (state.chunks, state.nodes) if hits is not None]
    tables: dict[str, ContextTable] = {table.kind: table for table in state.tables or ()}
    heads = [Ranking(hits.kind, (tables[hits.kind].items if hits.kind in tables else hits.items)[:count]) for hits, count in parts]
    return frozenset(row for head in heads for row in _as_chunks(graph, head))


def _as_chunks(graph: KnowledgeGraph, ranking: Ranking | None) -> tuple[int, ...]:
    """The chunks of a ranking in its order: its items, or those of its nodes that are chunks."""
    if ranking is None or ranking.kind not in ("chunk", "node"):
        return ()
    if ranking.kind == "chunk":
        return ranking.items
    own = leaves(graph, ranking.items)
    return tuple(own[node] for node in ranking.items if node in own)


def _place(order: Sequence[int], rows: frozenset[int]) -> int | None:
    return next((place for place, row in enumerate(order, 1) if row in rows), None)


def _told(graph: KnowledgeGraph, rows: frozenset[int]) -> frozenset[int]:
    """Of some chunks those that the graph tells of; all of them where it has chunks alone."""
    if not graph.n_nodes:
        return rows
    told = graph.derived.once("told chunks", None, lambda: frozenset(np.unique(chunks_of(graph, "nodes").ids).tolist()))
    return rows & told


def _in_corpus(source: Source, graph: KnowledgeGraph, name: str) -> bool:
    """Whether a document holds a name's words; looked up once for each name, and remembered beside the graph."""
    if (corpus := source.corpus) is None:
        return False
    seek = lambda: holds(corpus.table, ("title", "text"), name)
    return graph.derived.once("in the corpus", (corpus.digest, name), seek, REMEMBERED)


def _in_graph(graph: KnowledgeGraph, name: str) -> bool:
    """Whether a chunk, a node's name or a description holds a name's words; looked up once for each name."""

    def seek() -> bool:
        columns, word = graph.columns, _longest(name)
        tables = [(columns.chunks, ("title", "text")), (columns.nodes, ("description",)), (columns.edges, ("description",))]
        if any(table is not None and holds(table, fields, name) for table, fields in tables):
            return True
        return any(match(node, name) for node in _node_names(graph) if word in node.casefold())

    return graph.derived.once("in the graph", name, seek, REMEMBERED)


def _longest(name: str) -> str:
    """The longest word of a name, casefolded, by which its texts are sought; empty where it has none."""
    return max("".join(char if char.isalnum() else " " for char in name.casefold()).split(), key=len, default="")


def _node_names(graph: KnowledgeGraph) -> list[str]:
    return graph.derived.once("every name", None, lambda: graph.names(range(graph.n_nodes)))


def holds(table: Table, fields: Sequence[str], name: str) -> bool:
    """Whether a row of a table holds a name's words in one of its fields, by the matching of answers.

    Rows are first sought by the longest word, by compiled code.
    """
    import pyarrow.compute as pc

    word = _longest(name)
    if not normalize(name) or not word:
        return False
    for field in fields:
        if table.has(field):
            column = table.arrow.column(field)
            rows = pc.filter(column, pc.match_substring(column, word, ignore_case=True))
            if any(match(row.as_py(), name) for row in rows):
                return True
    return False

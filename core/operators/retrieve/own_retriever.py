"""Retrieval by a user's own program, asked over HTTP or called in Python.

The program finds paths of a graph, or documents of a corpus.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from core.environment import Environment
from core.errors import BadInput, BadParameter, RetrieverFailed
from core.graph.protocol import KnowledgeGraph
from core.operators.base import Context, Operator, Recorder
from core.operators.extract import subgraph_on
from core.operators.texts.sparse import word_search
from core.operators.texts.tables import tables_of
from core.parameters import param
from core.retrievers.calls import call_retriever
from core.retrievers.declarations import declared_retrievers, find_retriever
from core.retrievers.document_matching import covered_chunks, match_documents
from core.retrievers.path_matching import match_reply
from core.retrievers.reply import (
    DocumentsReply,
    RetrieverReply,
    UnfitReply,
    check_documents_reply,
    check_reply,
)
from core.types import Kind, Prompt, Ranking, State

NAME_HELP = (
    "The retriever's name in retrievers.toml of your Hopscope folder. Addresses stand there and "
    "nowhere else."
)
RETRIEVER_PATHS_HELP = "How many paths stay, the best first."
# Keys in the sizes of a step, for the documents of a reply.
NAMED_DOCUMENTS = "named documents"
UNMATCHED_DOCUMENTS = "not in the corpus"
T = TypeVar("T")


def _retriever_names() -> tuple[str, ...]:
    return tuple(declared_retrievers())


@dataclass(frozen=True, repr=False)
class OwnRetriever(Operator):
    """The paths, subgraph and answers that a person's own retriever gives for the question.

    The retriever is sent the question, the names of its entities, the graph's name, the seed and
    `keep`, never the correct answers. The names of paths, hits and answers in the reply are looked
    up in the graph. Names that are not in the graph are left out, with a note. Hits without paths
    are joined to the entities by shortest paths. The retriever is asked again in every run.
    docs/own-retriever.md describes request and reply.

    >>> from core.io.home import home_folder
    >>> _ = (home_folder() / "retrievers.toml").write_text('mine.python = "mine:retrieve"')
    >>> code = "retrieve = lambda request: {'paths': [{'nodes': ['A', 'C'], 'relations': ['r1']}]}"
    >>> _ = (home_folder() / "mine.py").write_text(code)
    >>> answers("OwnRetriever(name='mine')", "A")
    ['A -> r1 -> C']
    """

    stage = "retrieve"
    title = "own retriever"
    plain = "asks your retriever “{name}”"
    reads, writes = ("seeds",), ("subgraph", "paths")
    is_reusable = False

    name: str = param("", "Retriever", NAME_HELP, known=_retriever_names)
    keep: int = param(32, "Keep", RETRIEVER_PATHS_HELP, low=1, high=1000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        if not ctx.graph.n_nodes and is_text_graph(ctx.graph):
            raise BadInput(
                "This method asks your retriever for paths of a graph, and "
                f"“{ctx.graph.name}” are documents; {retriever_advice(self.name)}."
            )
        reply = request_retrieval(self.name, self._request(state, ctx), check_reply, ctx)
        ctx.watch.report("Finding the reply in the graph")
        return with_paths(state, reply, self.keep, ctx, recorder)

    def _request(self, state: State, ctx: Context) -> dict[str, Any]:
        return {
            "question": state.question.text,
            "entities": ctx.graph.names(state.seeds),
            "graph": ctx.graph.name,
            "seed": ctx.seed,
            "keep": self.keep,
        }

    def stamp(self, graph: Any, environment: Environment) -> str:
        return _declaration_stamp(self.name)

    def outcome(self, state: State) -> str:
        # `apply` wrote both
        assert state.paths is not None and state.subgraph is not None
        parts = (state.paths.items, state.paths.scores, state.subgraph.nodes.tolist(), state.reader)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def words(self) -> str:
        return f"your retriever “{self.name}”" if self.name else self.title


@dataclass(frozen=True, repr=False)
class OwnDocuments(Operator):
    """The passages of the corpus that a person's own retriever gives for the question.

    The retriever may also give an answer and a prompt. It is sent the question, the corpus's name,
    the seed and `keep`, never the correct answers or the evidence. Documents are found by id, by
    title, or by their text as a quotation. A note counts those that are not in the corpus. The
    retriever is asked again in every run. docs/own-retriever.md describes request and reply.

    >>> from core.io.home import home_folder
    >>> _ = (home_folder() / "retrievers.toml").write_text('mine.python = "mine:retrieve"')
    >>> documents = "{'documents': [{'id': 'turkey'}, {'text': 'Marley was dead'}]}"
    >>> _ = (home_folder() / "mine.py").write_text(f"retrieve = lambda request: {documents}")
    >>> found = retrieve("OwnDocuments(name='mine')", graph=story).chunks
    >>> story.columns.chunks.texts("id", found.items)
    ['turkey', 'carol#0']
    """

    stage = "retrieve"
    title = "own retriever of documents"
    plain = "asks your retriever “{name}”"
    writes = ("chunks",)
    is_reusable = False
    on_documents = True

    name: str = param("", "Retriever", NAME_HELP, known=_retriever_names)
    keep: int = param(10, "Documents", "How many stay, the best first.", low=1, high=1000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        if not is_text_graph(ctx.graph):
            raise BadInput(
                "This method asks your retriever for documents, and "
                f"“{ctx.graph.name}” is a graph of triples; {retriever_advice(self.name)}."
            )
        request = {
            "question": state.question.text,
            "corpus": ctx.graph.name,
            "seed": ctx.seed,
            "keep": self.keep,
        }
        reply = request_retrieval(self.name, request, check_documents_reply, ctx)
        ctx.watch.report("Finding the reply in the corpus")
        return with_documents(state, ctx.graph, reply, self.keep, recorder)

    def stamp(self, graph: Any, environment: Environment) -> str:
        return _declaration_stamp(self.name)

    def outcome(self, state: State) -> str:
        parts = (
            state.chunks and (state.chunks.items, state.chunks.scores),
            state.answer,
            state.prompt and state.prompt.messages,
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def words(self) -> str:
        return f"your retriever “{self.name}”" if self.name else self.title


def request_retrieval(
    name: str, request: dict[str, Any], check: Callable[[Any], T], ctx: Context
) -> T:
    """Return the checked reply of a declared retriever.

    Parameters
    ----------
    name : the retriever's name in retrievers.toml.
    request : the body of the request.
    check : converts the raw reply, or raises UnfitReply.

    Raises
    ------
    RetrieverFailed
        If the request fails or the reply cannot be used.
    BadParameter
        If no retriever has that name.
    """
    declaration = find_retriever(name)
    ctx.watch.report(f"Waiting for “{declaration.title}”")
    try:
        return check(call_retriever(declaration, request, ctx.watch))
    except UnfitReply as error:
        raise RetrieverFailed(
            f"The reply of the retriever “{declaration.name}” cannot be used: {error}."
        ) from None


def with_documents(
    state: State, graph: KnowledgeGraph, reply: DocumentsReply, keep: int, recorder: Recorder
) -> State:
    """Return the state with the chunks of the first `keep` documents of a reply.

    The state also has the answer and the prompt of the reply, if it gives them. All documents of
    the reply are matched first, so that the order before the cut is recorded.
    """
    search = word_search(graph, "chunks", "bm25")
    documents = reply.documents
    matched = match_documents(graph, state.question.text, documents, search)
    recorder.notes += [*reply.notes, *matched.notes]
    recorder.sizes |= {NAMED_DOCUMENTS: len(documents), UNMATCHED_DOCUMENTS: matched.n_unmatched}
    if not documents:
        recorder.notes.append("The reply names no documents.")
    order = _ranking_of_scores("chunk", matched.rows)
    if len(documents) > keep:
        recorder.before_cut = order
        matched = match_documents(graph, state.question.text, documents[:keep], search)
        order = _ranking_of_scores("chunk", matched.rows)
        recorder.notes.append(f"The first {keep:,} of {len(documents):,} documents were kept.")
    answer = None if reply.answer is None else reply.answer.strip()
    state = state.replace(chunks=order, answer=answer, own_answer=answer is not None)
    return state if reply.prompt is None else _with_prompt(state, graph, reply.prompt)


def _with_prompt(state: State, graph: KnowledgeGraph, text: str) -> State:
    """Return the state with the prompt `text`.

    The prompt has tables of the retrieved chunks.
    """
    assert state.chunks is not None  # written by the caller
    covered = frozenset(covered_chunks(graph, text, state.chunks.items))
    shown_chunks = Ranking("chunk", tuple(row for row in state.chunks.items if row in covered))
    tables = tables_of(graph, State(state.question, chunks=shown_chunks), {})
    hits = {"chunk": len(shown_chunks)} if len(shown_chunks) else {}
    return state.replace(
        tables=tables, prompt=Prompt(({"role": "user", "content": text},), 0, hits=hits)
    )


def is_text_graph(graph: KnowledgeGraph) -> bool:
    """Return whether a graph is made of documents rather than of triples."""
    return graph.columns.chunks is not None


def retriever_advice(name: str) -> str:
    """Return advice on another source or method, as the end of an error message."""
    if name:
        return f"choose a source of the other kind, or the other method of “{name}”"
    return "choose a source of the other kind"


def with_paths(
    state: State, reply: RetrieverReply, keep: int, ctx: Context, recorder: Recorder
) -> State:
    """Return the state with the best `keep` paths of a reply.

    The state also has the subgraph and the answers of the reply. Notes name what is not in the
    graph.
    """
    matched_reply = match_reply(ctx.graph, state.seeds, reply, ctx.watch)
    recorder.notes += matched_reply.notes
    ranking = _ranking_of_scores("path", matched_reply.paths)
    if len(ranking) > keep:
        recorder.before_cut = ranking
        recorder.notes.append(f"The first {keep:,} of {len(ranking):,} paths were kept.")
    selected = ranking.head(keep)
    nodes = {*state.seeds, *matched_reply.nodes}.union(*(path.nodes for path in selected.items))
    subgraph = subgraph_on(ctx.graph, np.array(sorted(nodes), np.int64))
    return state.replace(paths=selected, subgraph=subgraph, reader=matched_reply.answers)


def _declaration_stamp(name: str) -> str:
    """Return the declaration of a retriever as text for cache keys.

    It is empty if there is none.
    """
    try:
        return find_retriever(name).stamp()
    except BadParameter:  # reported when the operator runs
        return ""


def _ranking_of_scores(kind: Kind, scores: Mapping[Any, float | None]) -> Ranking:
    """Return the ranking of the keys of `scores`, in their order.

    It has scores if all keys have one.
    """
    values = tuple(score for score in scores.values() if score is not None)
    has_all = bool(values) and len(values) == len(scores)
    return Ranking(kind, tuple(scores), values if has_all else None)

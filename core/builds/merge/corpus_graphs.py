"""Operators of stage “merge” for corpus graphs, as in GAR and FastInsight.

Their nodes are the chunks of documents, and their edges are given or computed links.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from core.builds.base import BuildContext, BuildOperator, BuildState, SampledOperator
from core.builds.extract.model_replies import object_schema, text_schema
from core.builds.merge.citations import (
    CAPITALISED_WORD,
    Reference,
    Titles,
    cited_documents,
    documents_by_author,
    reference_list_start,
    references,
)
from core.builds.merge.row_pairs import nearest_rows, rare_terms, shared_rows
from core.builds.model_requests import map_in_parallel, reply_to
from core.builds.text_vectors import encode_unit_vectors
from core.corpus import Corpus
from core.errors import BadInput
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.models.base import Chat
from core.models.chat.json_reply import json_reply
from core.parameters import param
from core.prompts import make_messages

LINKS_TO, NEAR_TO, SHARES_TERMS, CITES = "links to", "near", "shares terms", "cites"
TITLE_CHECK_DOCUMENTS = 100  # documents that are checked for a title
DOCUMENTS_PER_REPORT = 100  # documents between two reports of progress
ENCODE_STEP_DOCUMENTS = 512  # documents encoded between two reports of progress
MAX_CITATION_REPLY_TOKENS = 500
CITATION_FIELDS = ("author", "year", "title")
CITATION_SCHEMA = object_schema(dict.fromkeys(CITATION_FIELDS, text_schema(200)))
CITATIONS_SCHEMA = object_schema(
    {"citations": {"type": "array", "maxItems": 40, "items": CITATION_SCHEMA}}
)
EdgeWeights = Mapping[tuple[int, str, int], float]  # by row of a chunk, relation, row of a chunk


class CorpusGraph(BuildOperator):
    """Base class of the operators for corpus graphs (FastInsight, definition 1).

    There is a node for each chunk, named by its id, and edges have weights.
    """

    stage = "merge"
    reads, writes = ("chunks",), ("graph",)

    @abstractmethod
    def edges(self, state: BuildState, ctx: BuildContext) -> EdgeWeights:
        """Return the weight of each edge between chunks.

        Parameters
        ----------
        state : the state of the build, with its chunks.
        ctx : the models, the report and the settings of the build.

        Returns
        -------
        Weights by edge.

        Raises
        ------
        BadInput : the corpus lacks something that the edges are made of, such as links.
        """

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        chunks = state.chunks
        assert chunks is not None  # a line without chunks is refused
        ids, edges = chunks.texts("id"), self.edges(state, ctx)
        ctx.report.counts["links"] = len(edges)
        graph = assemble(
            state.corpus.name,
            ids,
            [(ids[a], relation, ids[b]) for a, relation, b in edges],
            {
                "type": ["document"] * len(ids),
                "description": [""] * len(ids),
                "level": [0] * len(ids),
                "chunks": [[row] for row in range(len(ids))],
            },
            {"weight": list(edges.values()), "chunks": [[a, b] for a, _, b in edges]},
            chunks,
        )
        return state.replace(graph=graph)


@dataclass(frozen=True, repr=False)
class GivenLinks(CorpusGraph):
    """A node for each document, and an edge for each link of the corpus, such as a reference.

    The weight is the count of the link. Links to missing documents and from a document to itself
    are left out and counted. If a document has several chunks, each has its links. `types` names
    the types of links to use, separated by commas; if it is empty, all are used.
    """

    title = "links as given"

    types: str = param("", "Types", "Types of links to use, separated by commas; empty for all.")

    def missing_requirement(self, corpus: Corpus) -> str:
        if corpus.links_table is not None:
            return ""
        return f"The corpus “{corpus.name}” came without links."

    def edges(self, state: BuildState, ctx: BuildContext) -> EdgeWeights:
        assert state.chunks is not None
        if self.missing_requirement(state.corpus):
            raise BadInput(
                f"{self.missing_requirement(state.corpus)} Its graph can be made of near documents or of shared "
                "terms instead."
            )
        chosen_types = self._chosen_types(state.corpus)
        rows = _rows_of_documents(state.chunks)
        weights: dict[tuple[int, str, int], float] = {}
        n_absent = 0  # links from or to a missing document
        for link in state.corpus.links:
            if link.source == link.target or link.type not in chosen_types:
                continue
            n_absent += link.source not in rows or link.target not in rows
            row_pairs = product(rows.get(link.source, ()), rows.get(link.target, ()))
            for source_row, target_row in row_pairs:
                weights[source_row, link.type or LINKS_TO, target_row] = link.count
        if n_absent:
            ctx.report.counts["links to absent documents"] = n_absent
            ctx.report.notes.append(
                f"Left out: {n_absent:,} of the links, to or from documents that are not there."
            )
        return weights

    def _chosen_types(self, corpus: Corpus) -> set[str]:
        """Return the types of links to use. Raises BadInput for one that no link has."""
        named_types = {name.strip() for name in self.types.split(",") if name.strip()}
        link_types = {link.type for link in corpus.links}
        missing_types = named_types - link_types
        if missing_types:
            raise BadInput(
                f"The links of “{corpus.name}” have no type “{min(missing_types)}”; "
                f"they have {', '.join(sorted(link_types))}."
            )
        return named_types or link_types

    def words(self) -> str:
        return f"links as given: {self.types}" if self.types else self.title


def _rows_of_documents(chunks: Table) -> dict[str, list[int]]:
    """Return the rows of the chunks of each document, by its id."""
    rows: dict[str, list[int]] = {}
    for row, document in enumerate(chunks.texts("document")):
        rows.setdefault(document, []).append(row)
    return rows


@dataclass(frozen=True, repr=False)
class CitedDocuments(SampledOperator, CorpusGraph):
    """A node for each chunk, and an edge to every chunk of each document that the chunk cites.

    The weight is the number of citations. This is FastInsight's ACL-OCL (section 4.2.1), for which
    a language model finds the citations in each chunk.

    Without a `model`, citations are found by patterns. The reference list of a document follows its
    last heading such as “References”. An entry of the list is matched with a document of the corpus
    if it contains the document's title. The text cites an entry by name and year, by number, or by
    title. With a `model`, it is asked for the names, years and titles that a chunk cites, and its
    reply is matched with the same entries. The reference list itself cites nothing.
    """

    title = "documents that they cite"

    model: str = param(
        "",
        "Model",
        "The language model that finds citations; empty to use patterns.",
        chat=True,
    )

    def models(self) -> tuple[str, ...]:
        return (self.model,) if self.model else ()

    def missing_requirement(self, corpus: Corpus) -> str:
        documents = map(corpus.document_at, range(min(len(corpus), TITLE_CHECK_DOCUMENTS)))
        if any(document.title not in ("", document.id) for document in documents):
            return ""
        return (
            f"The documents of “{corpus.name}” have no titles by which references to them "
            "would be recognised."
        )

    def edges(self, state: BuildState, ctx: BuildContext) -> EdgeWeights:
        assert state.chunks is not None
        corpus = state.corpus
        if self.missing_requirement(corpus):
            raise BadInput(self.missing_requirement(corpus))
        rows = _rows_of_documents(state.chunks)
        titles = Titles(map(corpus.document_at, range(len(corpus))))
        texts: dict[int, str] = {}  # by row of the chunk, without the reference list
        entries: dict[int, list[Reference]] = {}  # of the chunk's document, by row of the chunk
        n_without_references = 0
        for number, document in enumerate(map(corpus.document_at, range(len(corpus)))):
            if number % DOCUMENTS_PER_REPORT == 0:
                ctx.watch.check()
                message = f"Finding references: {number:,} of {len(corpus):,} documents"
                ctx.watch.report(message, number / len(corpus))
            end = reference_list_start(document.text)
            document_entries = references(document.text[end:], titles)
            n_without_references += not document_entries
            position = 0  # of the present chunk in the text of its document
            for row in rows.get(document.id, ()):
                text = state.chunks.text("text", row)
                # A chunk that is not found, because its white space differs, counts as at the
                # position of the one before.
                position = max(document.text.find(text, position), position)
                if position < end:
                    texts[row] = text[: end - position]
                    entries[row] = document_entries
        weights: Counter[tuple[int, str, int]] = Counter()
        for row, targets in self._find_citations(texts, entries, titles, ctx):
            own_document = state.chunks.text("document", row)
            for target in targets:
                if target != own_document:
                    weights.update((row, CITES, cited_row) for cited_row in rows.get(target, ()))
        ctx.report.counts["documents without references to others"] = n_without_references
        if titles.n_ambiguous:
            ctx.report.notes.append(
                f"Left out: {titles.n_ambiguous:,} documents whose title another one has too."
            )
        return {edge: float(weight) for edge, weight in sorted(weights.items())}

    def _find_citations(
        self,
        texts: Mapping[int, str],
        entries: Mapping[int, list[Reference]],
        titles: Titles,
        ctx: BuildContext,
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield each chunk's row with the documents that it cites.

        A document occurs once per citation.
        """
        if not self.model:
            for row, text in texts.items():
                yield row, list(cited_documents(text, entries[row], titles))
            return
        chat, rows = ctx.chat(self.model), list(texts)

        def ask(row: int) -> list[str]:
            return cited_by_model(chat, texts[row], entries[row], titles, ctx, **self.sampling)

        for number, documents in map_in_parallel(ask, rows, self.model, ctx):
            message = f"Finding references: {number + 1:,} of {len(rows):,} chunks"
            ctx.watch.report(message, (number + 1) / len(rows))
            yield rows[number], documents

    def words(self) -> str:
        return f"{self.title}, by {self.model}" if self.model else self.title


def cited_by_model(
    chat: Chat,
    text: str,
    entries: Sequence[Reference],
    titles: Titles,
    ctx: BuildContext,
    **sampling: Any,
) -> list[str]:
    """Return the documents that a language model finds cited in a text.

    Parameters
    ----------
    chat : the language model.
    text : text of a chunk.
    entries : entries of the document's reference list.
    titles : titles of the corpus.
    ctx : the report and the settings of the build.
    sampling : seed and temperature of the language model.

    Returns
    -------
    Ids of documents. Empty if the reply cannot be read; the report counts this.

    Raises
    ------
    ModelUnavailable, ModelFailed : as the model raises.
    """
    reply = reply_to(
        make_messages("citations", "citations", text=text),
        chat,
        ctx,
        schema=CITATIONS_SCHEMA,
        max_tokens=MAX_CITATION_REPLY_TOKENS,
        **sampling,
    )
    parsed = json_reply(reply.text, ("citations",))
    if parsed is None or not isinstance(parsed.value["citations"], list):
        ctx.report.count(**{"unreadable replies": 1})
        return []
    documents = list[str]()
    for citation in parsed.value["citations"]:
        if not isinstance(citation, dict):
            continue
        author, year, title = (str(citation.get(field, "")) for field in CITATION_FIELDS)
        by_title = [document for _, _, document in titles.find_titles(title)]
        names = CAPITALISED_WORD.findall(author)
        documents += by_title or (documents_by_author(names[-1], year, entries) if names else [])
    return documents


@dataclass(frozen=True, repr=False)
class NearestDocuments(CorpusGraph):
    """A node for each document, and edges to the `keep` documents with the nearest vectors.

    The weight is the cosine. Documents are the chunks of the build, which are whole documents after
    `WholeDocuments`. This is GAR's corpus graph (MacAvaney et al.) for documents without
    links. Two documents that are each among the nearest of the other have one edge. Equally near
    documents are ordered by id.
    """

    title = "nearest documents"

    keep: int = param(
        8,
        "Neighbours",
        "How many nearest documents each one is linked to; 16 in GAR.",
        low=1,
        high=1000,
    )
    least: float = param(
        0.0, "Least cosine", "Less similar documents are not linked.", low=-1, high=1
    )
    encoder: str = param("encoder", "Encoder", "The role or name of the encoder.")

    def models(self) -> tuple[str, ...]:
        return (self.encoder,)

    def edges(self, state: BuildState, ctx: BuildContext) -> EdgeWeights:
        assert state.chunks is not None
        labels, parts = _labels(state.chunks), []
        for first in range(0, len(labels), ENCODE_STEP_DOCUMENTS):
            ctx.watch.check()
            message = f"Encoding documents: {first:,} of {len(labels):,}"
            ctx.watch.report(message, first / len(labels))
            step_labels = labels[first : first + ENCODE_STEP_DOCUMENTS]
            parts.append(encode_unit_vectors(step_labels, self.encoder, ctx))
        if not parts:
            return {}
        vectors = np.concatenate(parts)
        pairs = nearest_rows(vectors, self.keep, self.least, ctx.watch, ctx.report.note)
        return {(a, NEAR_TO, b): weight for (a, b), weight in pairs.items()}

    def words(self) -> str:
        return f"each with its {self.keep} nearest"


@dataclass(frozen=True, repr=False)
class SharedTerms(CorpusGraph):
    """A node for each document, and edges to `keep` documents that share its rarest terms.

    The weight is the sum of ln(documents / documents with the term) over the shared terms. Terms
    are words of three letters or more in 2 to `common` documents. No model is used. Documents are
    the chunks of the build, which are whole documents after `WholeDocuments`.
    """

    title = "shared rare terms"

    keep: int = param(
        8, "Neighbours", "Most documents that each one is linked to.", low=1, high=1000
    )
    common: int = param(
        50, "Too common", "A word in more documents than this links none.", low=2, high=10_000
    )
    min_shared: int = param(
        2, "Shared terms", "Fewest terms that two linked documents share.", low=1, high=1000
    )

    def edges(self, state: BuildState, ctx: BuildContext) -> EdgeWeights:
        assert state.chunks is not None
        ctx.watch.report("Looking for shared terms")
        terms = rare_terms(_labels(state.chunks), self.common)
        pairs = shared_rows(terms, self.keep, self.min_shared, ctx.watch)
        return {(a, SHARES_TERMS, b): weight for (a, b), weight in pairs.items()}

    def words(self) -> str:
        return f"each with the {self.keep} that share its rarest terms"


def _labels(chunks: Table) -> list[str]:
    """Return the text by which each chunk is compared: its title and its text.

    It has the form of `core.graph.texts.chunk_label`, so that saved vectors are shared with it.
    """
    pairs = zip(chunks.texts("title"), chunks.texts("text"))
    return ["\n".join(dict.fromkeys(filter(None, pair))) for pair in pairs]

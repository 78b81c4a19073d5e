"""Quality of a graph that was built from texts, measured without retrieval.

The measures are connectivity, entities with similar names, chunks without entities, and the known
answers and gold passages that the graph has. `corpus quality` prints them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from core.builds.merge_suggestions import suggest_by_spelling
from core.corpus.entity_merges import EntityMerges
from core.diagnosis.answer_match import YES_NO_ANSWERS
from core.diagnosis.funnel import gold_nodes
from core.diagnosis.passages import chunk_rows
from core.graph.algorithms.neighbourhood import component_labels
from core.graph.store import Graph
from core.languages.spelling import normalize
from core.types import Question


@dataclass(frozen=True)
class GraphQuality:
    """Counts of a graph of texts and of some questions.

    Those of the questions are on their answers and passages. Entities and relations are counted
    unless the nodes are texts themselves. Chunks and gold passages are counted if there are chunks.
    All counts are 0 otherwise.

    Parameters
    ----------
    entities, relations : nodes and edges of the graph.
    isolated : entities without a relation.
    components : weakly connected components.
    largest : entities of the largest component.
    alike : entities whose spelling differs from that of another entity only in case, accents, marks
        or plural.
    chunks : chunks of the texts.
    bare : chunks without an entity.
    answers : known answers, except yes and no.
    unnamed : known answers that are not the name of an entity.
    golds : gold passages.
    lost : gold passages without a chunk in the graph.
    unmentioned : gold passages with chunks, none of which has an entity.

    >>> from core.diagnosis.quality import GraphQuality
    >>> print("\\n".join(GraphQuality(5, 4, 1, 2, 4, 0, 4, 1, answers=2, unnamed=1, golds=2,
    ...     unmentioned=1).sentences()))
    5 entities with 4 relations; 1 of them (20 %) without any.
    2 components; the largest has 80 % of the entities.
    1 of 4 chunks (25 %) have no entity: no search over the graph comes to them.
    1 of 2 correct answers (50 %) are in no entity's name.
    Of 2 evidence passages 0 (0 %) are not in the graph, and 1 (50 %) have no entity.
    """

    entities: int
    relations: int
    isolated: int
    components: int
    largest: int
    alike: int
    chunks: int
    bare: int
    answers: int = 0
    unnamed: int = 0
    golds: int = 0
    lost: int = 0
    unmentioned: int = 0

    def sentences(self) -> list[str]:
        """Return sentences with the counts, one for each kind that was counted."""
        lines = []
        if self.entities:
            lines.append(
                f"{self.entities:,} entities with {self.relations:,} relations; "
                f"{_part_text(self.isolated, self.entities)} without any."
            )
            lines.append(
                f"{self.components:,} components; the largest has "
                f"{_share(self.largest, self.entities)} of the entities."
            )
            if self.alike:
                lines.append(
                    f"{_part_text(self.alike, self.entities)} are spelled nearly as another one: "
                    "“corpus mend” lists them."
                )
        if self.chunks and self.entities:
            bare_chunks = (
                f"{self.bare:,} of {self.chunks:,} chunks ({_share(self.bare, self.chunks)})"
            )
            lines.append(f"{bare_chunks} have no entity: no search over the graph comes to them.")
        if self.answers:
            unnamed_answers = (
                f"{self.unnamed:,} of {self.answers:,} correct answers "
                f"({_share(self.unnamed, self.answers)})"
            )
            lines.append(f"{unnamed_answers} are in no entity's name.")
        if self.golds:
            lines.append(
                f"Of {self.golds:,} evidence passages "
                f"{self.lost:,} ({_share(self.lost, self.golds)}) are not in the graph, and "
                f"{self.unmentioned:,} ({_share(self.unmentioned, self.golds)}) have no entity."
            )
        return lines


def measure_quality(
    graph: Graph, questions: Iterable[Question] = (), merges: EntityMerges | None = None
) -> GraphQuality:
    """Count a graph of texts, and the questions' answers and passages.

    Known answers and gold passages are counted. Repeated answers and passages are counted once. The
    paper In-depth Analysis of Graph-based RAG names the quality of a graph before its use as an
    open problem.

    Parameters
    ----------
    graph : the graph of a corpus.
    questions : questions with known answers or gold passages.
    merges : the merges of entities that were decided; entities kept apart there are not alike.
    """
    chunks = graph.columns.chunks
    question_list = list(questions)
    golds = _gold_passages(question_list) if chunks is not None else []
    rows = [chunk_rows(graph, passage) for passage in golds]
    texts = GraphQuality(
        entities=0,
        relations=0,
        isolated=0,
        components=0,
        largest=0,
        alike=len(suggest_by_spelling(graph, merges or EntityMerges())),
        chunks=0 if chunks is None else len(chunks),
        bare=0,
        golds=len(golds),
        lost=sum(not hits for hits in rows),
    )
    nodes = _entities(graph)
    if not len(nodes):
        return texts
    answers = _known_answers(question_list)
    entity_chunks = _chunks_with_entities(graph)
    count, labels = component_labels(graph, nodes, np.arange(graph.n_edges))
    return replace(
        texts,
        entities=len(nodes),
        relations=graph.n_edges,
        isolated=int((graph.degrees(nodes) == 0).sum()),
        components=int(count),
        largest=int(np.bincount(labels).max()),
        bare=0 if chunks is None else len(chunks) - len(entity_chunks),
        answers=len(answers),
        unnamed=sum(
            not gold_nodes(graph, *question.answer_names(answer))
            for answer, question in answers.items()
        ),
        unmentioned=sum(bool(hits) and entity_chunks.isdisjoint(hits) for hits in rows),
    )


def _entities(graph: Graph) -> np.ndarray:
    """Return the nodes that are entities.

    There are none in a tree, whose nodes are texts or summaries.
    """
    table = graph.columns.nodes
    is_tree = table is not None and table.has_column("level")
    return np.arange(0 if is_tree else graph.n_nodes)


def _chunks_with_entities(graph: Graph) -> frozenset[int]:
    """Return the rows of the chunks that an entity comes from."""
    table = graph.columns.nodes
    if table is None or not table.has_column("chunks"):
        return frozenset()
    return frozenset(np.unique(table.id_lists("chunks").ids).tolist())


def _known_answers(questions: Iterable[Question]) -> dict[str, Question]:
    """Return the known answers, each with its last question.

    The answers yes and no are left out.
    """
    answers = {}
    for question in questions:
        for answer in question.answers:
            if normalize(answer) not in YES_NO_ANSWERS:
                answers[answer] = question
    return answers


def _gold_passages(questions: Iterable[Question]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(question.gold for question in questions)))


def _share(part: int, total: int) -> str:
    return f"{100 * part / total:.0f} %"


def _part_text(part: int, total: int) -> str:
    return f"{part:,} of them ({_share(part, total)})"

"""Hits of a lane on documents, as the tables that the board draws, one for each kind.

A hit is a ranked passage, entity, summary, relation or community report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from core.builds.extract.markdown_prose import blank_rules
from core.diagnosis.causes import Cause, Fate
from core.diagnosis.passages import chunk_rows, gold_rows, handed_on_chunks
from core.engine import MethodLane
from core.graph.texts import chunk_lists, chunk_nodes, chunk_title, hit_names, hit_texts
from core.languages import is_english, language_of_question
from core.languages.terms import content_words
from core.types import Kind, Ranking
from pages.parts.board.keys import Key
from pages.parts.shared.wording import tr

MAX_NAMED_MEMBERS = 8  # members of a community that a row names
MAX_NAMED_SOURCES = 6  # source passages that a row names
# For each kind of hit, in the order of the tables, its name in the data of the board.
HIT_KINDS = {
    "chunk": "passage",
    "node": "entity",
    "summary": "summary",
    "triple": "relation",
    "community": "report",
}
MAX_SENT_CHARACTERS = 20_000  # most characters of a text that are sent to the browser
HitTables = list[dict[str, Any]]
WORD_PATTERN = re.compile(r"[^\W_]{2,}(?:['’][^\W_]+)?")
# Words of English questions that are not marked in the passages.
COMMON_WORDS = frozenset(
    "a about an and any are as at be been before between both but by can could did do does doing "
    "during each for from had has have having he her hers him his how i if in into is it its me "
    "my name named no nor not of off on one or other our out own same she should so some such "
    "than that the their them then there these they this those through to too under until up was "
    "we were what when where which while who whom whose why will with would yes you your".split()
)


@dataclass(frozen=True)
class Hit:
    """A ranked item of a lane.

    Attributes
    ----------
    kind : a key of `HIT_KINDS`.
    item : row in the table of chunks or communities, or id of the node or edge.
    key : key of the item, the same in every lane.
    rank : rank in the lane's list of this kind, from 1.
    score : score by which it was ranked; None if the list has no scores.
    """

    kind: str
    item: int
    key: Key
    rank: int
    score: float | None


def question_words(text: str, code: str = "") -> list[str]:
    """Return the distinctive words of a question in lower case, each once.

    Function words are left out. In other languages than English, so are question words.

    Parameters
    ----------
    code : language of the documents. If it is English, the question counts as English unless its
        script or its function words say otherwise.

    >>> from pages.parts.board.text_hits import question_words
    >>> question_words("Who was Scrooge's partner in business?")
    ['scrooge', 'partner', 'business']
    >>> question_words("Wer gründete die Fabrik, die Lotte baute?")
    ['gründete', 'fabrik', 'lotte', 'baute']
    """
    if not is_english(code := language_of_question(text, not is_english(code))):
        return list(dict.fromkeys(content_words(text, code)))
    words = (re.sub(r"['’]s$", "", token.lower()) for token in WORD_PATTERN.findall(text))
    return list(dict.fromkeys(word for word in words if word not in COMMON_WORDS))


def hits_of(lane: MethodLane) -> list[Hit]:
    """Return the listed hits of a lane in ranking order.

    The list is empty until all are known. A passage occurs once. Nodes that are passages themselves
    count as passages.
    """
    if not has_hits(lane):
        return []
    all_hits = [hit for hits in lane.state.hits for hit in _keyed_hits(lane.graph, hits.listed)]
    first_indices: dict[str, int] = {}
    for i, hit in enumerate(all_hits):
        first_indices.setdefault(hit.key, i)
    return [
        hit for i, hit in enumerate(all_hits) if hit.kind != "chunk" or first_indices[hit.key] == i
    ]


def has_hits(lane: MethodLane) -> bool:
    """Return whether all hits of a lane are known.

    This is so if it has retrieved, or if it failed after a model had noted points on its hits.
    """
    return lane.retrieved or lane.state.points is not None


def _keyed_hits(graph, hits: Ranking) -> Iterable[Hit]:
    """Yield the items of a ranking as hits.

    Nodes that are passages become hits of kind chunk, and nodes above them in a tree summaries.
    """
    rows_by_node = chunk_nodes(graph, hits.items) if hits.kind == "node" else {}
    # Lanes on texts may have different graphs, so their items are identified by name. Lanes on
    # triples share one graph, whose ids identify the items.
    names = (
        hit_names(graph, hits.kind, hits.items)
        if graph.columns.has_texts
        else list(map(str, hits.items))
    )
    levels = None
    if hits.kind == "node" and _has_column(graph, "nodes", "level"):
        levels = graph.columns.nodes.numbers("level")
    for hit_rank, (item, name) in enumerate(zip(hits.items, names), 1):
        score = hits.score(hit_rank - 1)
        if item in rows_by_node:
            yield Hit("chunk", rows_by_node[item], Key("chunk", name), hit_rank, score)
        elif hits.kind == "node" and levels is not None and levels[item] > 0:
            yield Hit("summary", item, Key("summary", f"{graph.name} {name}"), hit_rank, score)
        elif hits.kind == "community":
            yield Hit("community", item, Key("community", f"{graph.name} {item}"), hit_rank, score)
        else:
            yield Hit(hits.kind, item, Key(hits.kind, name), hit_rank, score)


def item_hit(graph, kind: Kind, item: int) -> Hit:
    """Return one item of a graph as a hit."""
    return next(iter(_keyed_hits(graph, Ranking(kind, (item,), None))))


def node_keys(graph, nodes: Sequence[int]) -> dict[int, Key]:
    """Return the keys of some nodes as hits."""
    ids = tuple(dict.fromkeys(nodes))
    return {node: hit.key for node, hit in zip(ids, _keyed_hits(graph, Ranking("node", ids, None)))}


def _has_column(graph, table_name: str, column: str) -> bool:
    table = getattr(graph.columns, table_name)
    return table is not None and table.has_column(column)


def tables_of_hits(lane: MethodLane, gold: Sequence[str], n_shown: dict[str, int]) -> HitTables:
    """Return a table for each kind of hit of a lane.

    It has `kind`, `rows`, and `more`, the number of unlisted hits. Passages that the lane did not
    hand on are left out. Rows of hits that had no room in the prompt are `unread`.

    Parameters
    ----------
    gold : ids of the gold documents.
    n_shown : number of hits in the prompt by kind; without the kinds that the prompt does not list.
    """
    rows_by_kind: dict[str, list[dict[str, Any]]] = {}
    passages, retained_rows = gold_rows(lane.graph, gold), handed_on_chunks(lane.graph, lane.state)
    for hit in hits_of(lane):
        if retained_rows is not None and hit.kind == "chunk" and hit.item not in retained_rows:
            continue
        kind = "node" if hit.kind == "summary" else hit.kind
        is_beyond_prompt = kind in n_shown and hit.rank > n_shown[kind]
        rows_by_kind.setdefault(hit.kind, []).append(
            {**_row(lane.graph, hit, passages), "unread": is_beyond_prompt}
        )
    unlisted_by_kind: dict[str, dict[str, Any]] = {
        hits.kind: {"more": hits.unlisted} for hits in lane.state.hits if hits.unlisted
    }
    return [
        {"kind": HIT_KINDS[kind], "rows": rows_by_kind[kind], **unlisted_by_kind.get(kind, {})}
        for kind in HIT_KINDS
        if kind in rows_by_kind
    ]


def _row(graph, hit: Hit, gold: frozenset[int]) -> dict[str, Any]:
    """Return the row of a hit in its table.

    `gold` has the rows of the gold passages.
    """
    kind = "node" if hit.kind == "summary" else hit.kind
    text = blank_rules(hit_texts(graph, kind, [hit.item])[0][:MAX_SENT_CHARACTERS])
    row: dict[str, Any] = {
        "key": hit.key,
        "score": hit.score,
        "text": text,
        "gold": False,
        "sources": [],
        "place": "",
    }
    if hit.kind == "chunk":
        data = passage_data(graph, hit.item, gold)
        return row | data | {"text": "" if text == data["title"] else text}
    name = hit_names(graph, kind, [hit.item])[0]
    if hit.kind == "community":
        members = graph.columns.communities.id_lists("members")[hit.item]
        names = graph.names(members[:MAX_NAMED_MEMBERS].tolist())
        extra_text = ""
        if len(members) > len(names):
            extra_text = tr(" and {more:,} more", more=len(members) - len(names))
        return row | {
            "title": name,
            "place": tr(
                "{members:,} entities: {names}{more}",
                members=len(members),
                names=", ".join(names),
                more=extra_text,
            ),
        }
    if hit.kind == "triple":
        name = _relation(graph, hit.item)
    rows = chunk_lists(graph, "edges" if hit.kind == "triple" else "nodes", [hit.item])[0]
    sources = [passage_data(graph, chunk, gold) for chunk in rows[:MAX_NAMED_SOURCES]]
    extra_text = ""
    if len(rows) > MAX_NAMED_SOURCES:
        extra_text = tr("and {more:,} more passages", more=len(rows) - MAX_NAMED_SOURCES)
    return row | {
        "title": name,
        "sources": [{key: source[key] for key in ("id", "title", "gold")} for source in sources],
        "place": extra_text,
    }


def _relation(graph, edge: int) -> str:
    """Return an edge as text.

    The name of the relation is left out if the graph has only one relation.
    """
    heads, relations, tails = graph.triples([edge])
    head, tail = graph.names([int(heads[0]), int(tails[0])])
    words = graph.relation_names[int(relations[0])] if graph.n_relations > 1 else ""
    return f"{head} — {words} → {tail}" if words else f"{head} — {tail}"


def passage_data(graph, row: int, gold: frozenset[int]) -> dict[str, Any]:
    """Return the data of a passage: `id`, `title`, `place` and `gold`.

    If its document has several passages, the title ends with the number of the passage. `place` is
    a description of its position in the document, empty if unknown. `gold` has the rows of the gold
    passages.
    """
    chunks = graph.columns.chunks
    id, position = (chunks.text(name, row) for name in ("id", "place"))
    return {
        "id": id,
        "title": chunk_title(graph, row),
        "place": position or "",
        "gold": row in gold,
    }


def add_lost_rows(tables: HitTables, lane: MethodLane, fates: Sequence[Fate]) -> HitTables:
    """Return the tables with lost gold passages as `lost` rows.

    A gold passage is lost if it is not among the hits: it was ranked too late, or not at all.
    Without any table, no row is added.
    """
    if not tables:
        return tables
    lost_fates = [fate for fate in fates if fate.chunk and not _is_hit(fate)]
    # Ranked passages first, by rank.
    lost_fates.sort(key=lambda fate: (fate.rank is None, fate.rank or 0))
    lost = [_lost_row(lane, fate) for fate in lost_fates]
    if lost and not any(table["kind"] == "passage" for table in tables):
        tables = [{"kind": "passage", "rows": []}, *tables]
    return [{**table, "lost": lost if table["kind"] == "passage" else []} for table in tables]


def _is_hit(fate: Fate) -> bool:
    """Return whether a passage is among the hits, whose row then shows its fate.

    A passage without room in the prompt is a hit too, unless the lane did not hand it on.
    """
    return fate.cause is Cause.FOUND or (fate.cause is Cause.NO_ROOM and fate.n_retained is None)


def _lost_row(lane: MethodLane, fate: Fate) -> dict[str, Any]:
    table = lane.graph.columns.chunks
    row = next(
        row
        for row in sorted(chunk_rows(lane.graph, fate.document))
        if table.text("id", row) == fate.chunk
    )
    data = passage_data(lane.graph, row, chunk_rows(lane.graph, fate.document))
    return {
        **data,
        "key": Key("chunk", fate.chunk),
        "score": None,
        "text": "",
        "sources": [],
        "fate": fate.text,
    }

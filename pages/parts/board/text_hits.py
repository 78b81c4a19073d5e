"""Hits of a lane on documents, as the tables that the board draws, one for each kind."""

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
HIT_KINDS = {
    "chunk": "passage",
    "node": "entity",
    "summary": "summary",
    "triple": "relation",
    "community": "report",
}
MAX_SENT_CHARACTERS = 20_000  # most characters of a text that are sent to the browser
WORD_PATTERN = re.compile(r"[^\W_]{2,}(?:['’][^\W_]+)?")
COMMON_WORDS = frozenset(
    "a about an and any are as at be been before between both but by can could did do does doing "
    "during each for from had has have having he her hers him his how i if in into is it its me "
    "my name named no nor not of off on one or other our out own same she should so some such "
    "than that the their them then there these they this those through to too under until up was "
    "we were what when where which while who whom whose why will with would yes you your".split()
)


@dataclass(frozen=True)
class Hit:
    """A hit of one kind.

    Attributes
    ----------
    item : row in the graph's table.
    key : the same in every lane.
    rank : rank, from 1.
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
    """Return the listed hits of a lane in the order of its rankings.

    A passage occurs once. Nodes that are passages themselves count as passages.
    """
    if not has_hits(lane):
        return []
    all_hits = [hit for hits in lane.state.hits for hit in _keyed_hits(lane.graph, hits.listed)]
    first_ranks: dict[str, int] = {}
    for i, hit in enumerate(all_hits):
        first_ranks.setdefault(hit.key, i)
    return [
        hit for i, hit in enumerate(all_hits) if hit.kind != "chunk" or first_ranks[hit.key] == i
    ]


def has_hits(lane: MethodLane) -> bool:
    """Return whether all hits of a lane are known.

    It has retrieved, or it failed while a model noted points on its hits.
    """
    return lane.retrieved or lane.state.points is not None


def _keyed_hits(graph, hits: Ranking) -> Iterable[Hit]:
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


def _has_column(graph, what: str, column: str) -> bool:
    table = getattr(graph.columns, what)
    return table is not None and table.has_column(column)


def tables(lane: MethodLane, gold: Sequence[str], n_shown: dict[str, int]) -> list[dict[str, Any]]:
    """Return a table for each kind of hit.

    It has `kind`, `rows`, and the number of unlisted hits `more`. `n_shown` has the number of hits
    in the prompt, by kind.
    """
    rows_by_kind: dict[str, list[dict[str, Any]]] = {}
    passages, retained_rows = gold_rows(lane.graph, gold), handed_on_chunks(lane.graph, lane.state)
    for hit in hits_of(lane):
        if retained_rows is not None and hit.kind == "chunk" and hit.item not in retained_rows:
            continue
        kind = "node" if hit.kind == "summary" else hit.kind
        beyond = kind in n_shown and hit.rank > n_shown[kind]
        rows_by_kind.setdefault(hit.kind, []).append(
            {**_row(lane.graph, hit, passages), "unread": beyond}
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
        "sources": [{key: one[key] for key in ("id", "title", "gold")} for one in sources],
        "place": extra_text,
    }


def _relation(graph, edge: int) -> str:
    heads, relations, tails = graph.triples([edge])
    head, tail = graph.names([int(heads[0]), int(tails[0])])
    words = graph.relation_names[int(relations[0])] if graph.n_relations > 1 else ""
    return f"{head} — {words} → {tail}" if words else f"{head} — {tail}"


def passage_data(graph, row: int, gold: frozenset[int]) -> dict[str, Any]:
    """Return the data of a passage: `id`, `title`, `place` and `gold`.

    If its document has several passages, the title ends with its number. `gold` has the rows of the
    gold passages.
    """
    chunks = graph.columns.chunks
    id, position = (chunks.text(name, row) for name in ("id", "place"))
    return {
        "id": id,
        "title": chunk_title(graph, row),
        "place": position or "",
        "gold": row in gold,
    }


HitTables = list[dict[str, Any]]


def add_lost_rows(tables: HitTables, lane: MethodLane, fates: Sequence[Fate]) -> HitTables:
    """Return the tables with the lost gold passages as `lost` rows.

    These are not among the hits: they were ranked too late, or not at all. Without tables, none is
    added.
    """
    if not tables:
        return tables
    lost_fates = [fate for fate in fates if fate.chunk and not _is_hit(fate)]
    lost_fates.sort(key=lambda fate: (fate.rank is None, fate.rank or 0))
    lost = [_lost_row(lane, fate) for fate in lost_fates]
    if lost and not any(table["kind"] == "passage" for table in tables):
        tables = [{"kind": "passage", "rows": []}, *tables]
    return [{**table, "lost": lost if table["kind"] == "passage" else []} for table in tables]


def _is_hit(fate: Fate) -> bool:
    """Return whether a passage is among the hits, whose row then shows its fate."""
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

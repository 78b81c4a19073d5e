"""Reader of microsoft/graphrag's indexes: Parquet tables.

Up to version 1 the tables are named `create_final_*`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from core.corpus.indexes.files import Row, columns_of, number, rows_of, text, texts
from core.corpus.indexes.index import Chunk, Community, Entity, Index, Relation, Text
from core.corpus.indexes.vectors import IndexVectors, parquet_vectors, read_vectors
from core.corpus.readers.files import KINDS
from core.io.files import Source

TABLES = ("entities", "relationships", "text_units")  # tables that every index has
OLD = "create_final_"  # prefix of table names up to version 1


def holds(names: set[str]) -> bool:
    """Return whether these files are an index of microsoft/graphrag."""
    return any({f"{before}{table}.parquet" for table in TABLES} <= names for before in ("", OLD))


def read(files: Mapping[str, Source]) -> Index:
    """Read an index of microsoft/graphrag 0.3 to 3.

    It holds entities, relationships, text units, documents, communities and their reports. If the
    table of communities lacks members, they come from the table of nodes, and parents are derived
    from members. Claims are counted but not taken. Source: the project's page on its output tables,
    and its migration notebooks.

    Raises BadInput for a damaged table, or one that lacks a column.
    """
    new = all(f"{table}.parquet" in files for table in TABLES)
    tables = {
        name.removesuffix(".parquet"): file
        for name, file in files.items()
        if name.endswith(".parquet")
    }
    if not new:
        tables = {
            name.removeprefix(OLD): file for name, file in tables.items() if name.startswith(OLD)
        }
    found = Index(form=_form(tables, new))
    called = "title" if "title" in columns_of(tables["entities"]) else "name"
    entities = rows_of(tables["entities"], ["id", called], ["type", "description", "text_unit_ids"])
    names = {text(row["id"]): text(row[called]) for row in entities}
    found.entities = [_entity(row, called) for row in entities]
    found.relations = [
        _relation(row) for row in rows_of(tables["relationships"], ["source", "target"], RELATION)
    ]
    found.chunks = [
        _chunk(row)
        for row in rows_of(tables["text_units"], ["id", "text"], ["document_id", "document_ids"])
    ]
    if "documents" in tables:
        rows = rows_of(tables["documents"], ["id"], ["title", "text", "raw_content"])
        found.documents = [_document(text(row["id"]), text(row.get("title")), row) for row in rows]
    found.communities = _communities(tables, names)
    by_id = {text(row["id"]): (text(row[called]), row) for row in entities}
    found.vectors = _vectors(
        files, tables, by_id, {one.key: one.text for one in found.chunks}, found.notes
    )
    if "covariates" in tables:
        found.left_out["Left out, claims (covariates)"] = len(rows_of(tables["covariates"], ["id"]))
    return found


def _document(id: str, title: str, row: Row) -> Text:
    """Return a document. GraphRAG titles the document of a file by the file's name."""
    content = text(row.get("text") or row.get("raw_content"))
    if PurePosixPath(ROW_NUMBER.sub("", title)).suffix.lower() in KINDS:
        return Text(id, text=content, file=title)
    return Text(id, title, content)


ROW_NUMBER = re.compile(r" \(\d+\)\Z")  # row number after the name of a table's file
VECTORS = {
    "nodes": "entity.description",
    "communities": "community.full_content",
    "chunks": "text_unit.text",
}
IN_PARQUET = "embeddings.{}.parquet"  # written by GraphRAG if `snapshots: embeddings` is set
UNREADABLE = (
    "Its vectors lie in LanceDB, which is not read; with “snapshots: embeddings: true” GraphRAG "
    "writes them as Parquet too."
)


def _vectors(
    files: Mapping[str, Source],
    tables: Mapping[str, Source],
    entities: Mapping[str, tuple[str, Row]],
    chunks: Mapping[str, str],
    notes: list[str],
) -> list[IndexVectors]:
    """Return the vectors of entities, reports and text units, if they are in Parquet."""
    known = {
        of: files.get(IN_PARQUET.format(name))
        or files.get(IN_PARQUET.format(name.replace(".", "_")))
        for of, name in VECTORS.items()
    }
    if not any(known.values()):
        notes += [UNREADABLE] if any(".lance/" in name for name in files) else []
        return []
    reports = _rows(tables, "community_reports", ("id", "community", "full_content"))
    # by kind and id: the key of a vector's item, and the text that was encoded
    items: dict[str, Mapping[str, tuple[str, str]]] = {
        "nodes": {
            id: (" ".join(title.split()), f"{title}:{text(row.get('description'))}")
            for id, (title, row) in entities.items()
        },
        "communities": {
            text(row.get("id")): (_key(row.get("community")), text(row.get("full_content")))
            for row in reports
        },
        "chunks": {id: (id, chunk) for id, chunk in chunks.items()},
    }
    readers = [
        (words, partial(parquet_vectors, file, of, ("id", "embedding"), partial(_item, items[of])))
        for of, words in (
            ("nodes", "entities"),
            ("communities", "communities"),
            ("chunks", "chunks"),
        )
        if (file := known[of]) is not None
    ]
    return read_vectors(readers, notes)


def _item(items: Mapping[str, tuple[str, str]], id: str) -> tuple[str, str]:
    """Return the key and the text of an id; empty if the index lacks it."""
    return items.get(id, ("", ""))


RELATION = ("description", "weight", "text_unit_ids")
COMMUNITY = ("community", "level", "parent", "title", "entity_ids")
REPORT = ("community", "title", "summary", "full_content", "rank", "rating", "level")


def _form(tables: Mapping[str, Source], new: bool) -> str:
    """Return the versions that write tables of this form."""
    if not new:
        return "version 1" if "title" in columns_of(tables["entities"]) else "a version before 1"
    return "version 3" if "document_id" in columns_of(tables["text_units"]) else "version 2"


def _entity(row: Row, called: str) -> Entity:
    return Entity(
        text(row[called]),
        text(row.get("type")),
        text(row.get("description")),
        texts(row.get("text_unit_ids")),
    )


def _relation(row: Row) -> Relation:
    about: dict[str, Any] = {
        "weight": number(row.get("weight"), 1.0),
        "chunks": texts(row.get("text_unit_ids")),
    }
    return Relation(
        text(row["source"]), text(row["target"]), description=text(row.get("description")), **about
    )


def _chunk(row: Row) -> Chunk:
    documents = texts(row.get("document_ids"))
    return Chunk(
        text(row["id"]),
        text(row["text"]),
        text(row.get("document_id")) or next(iter(documents), ""),
    )


def _communities(tables: Mapping[str, Source], names: Mapping[str, str]) -> list[Community]:
    """Return the communities with their reports; empty without a table of communities."""
    if "communities" not in tables:
        return []
    rows = rows_of(tables["communities"], ["id"], COMMUNITY)
    reports = {
        _key(row.get("community")): row for row in _rows(tables, "community_reports", REPORT)
    }
    members: dict[str, list[str]] = {}
    for row in _rows(tables, "nodes", ("title", "community")):
        members.setdefault(_key(row.get("community")), []).append(text(row.get("title")))
    found = []
    for row in rows:
        key = _key(row["community"] if "community" in row else row["id"])
        report = reports.get(key, {})
        if "entity_ids" in row:
            inside = [names.get(id, "") for id in texts(row["entity_ids"])]
        else:
            inside = members.get(key, [])
        title = text(report.get("title")) or text(row.get("title"))
        rating = number(report.get("rank"), number(report.get("rating")))
        about: dict[str, Any] = {
            "title": title,
            "members": tuple(inside),
            "report": _report(report, title),
            "rating": rating,
        }
        found.append(
            Community(key, int(number(row.get("level"))), _key(row.get("parent")), **about)
        )
    return found if any(one.parent for one in found) else _with_parents(found)


def _rows(tables: Mapping[str, Source], name: str, columns: tuple[str, ...]) -> list[Row]:
    return rows_of(tables[name], [], columns) if name in tables else []


def _key(value: Any) -> str:
    """Return the key of a community; empty if there is none.

    It is a number in some versions and a text in others.
    """
    found = int(number(value, -1))
    return "" if found < 0 else str(found)


def _report(row: Row, title: str) -> str:
    """Return a report as written, without its title line."""
    written = text(row.get("full_content")) or text(row.get("summary"))
    return written.removeprefix(f"# {title}").strip()


def _with_parents(communities: list[Community]) -> list[Community]:
    """Return the communities with parents derived from members.

    A parent is the community of the coarser level that contains the first member.
    """
    holder = {(one.level, member): one.key for one in communities for member in one.members}
    return [
        replace(one, parent=holder.get((one.level - 1, one.members[0]), "") if one.members else "")
        for one in communities
    ]

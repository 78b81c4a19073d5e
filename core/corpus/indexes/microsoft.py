"""Reader of microsoft/graphrag's indexes, which are Parquet tables.

Up to version 1 the names of the tables begin with “create_final_”.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from core.corpus.indexes.files import (
    Row,
    number_value,
    parquet_columns,
    read_parquet_rows,
    text_value,
    text_values,
)
from core.corpus.indexes.index import (
    IndexChunk,
    IndexCommunity,
    IndexContent,
    IndexDocument,
    IndexEntity,
    IndexRelation,
)
from core.corpus.indexes.vectors import IndexVectors, parquet_vectors, read_vectors
from core.corpus.readers.files import READABLE_KINDS
from core.io.files import FileSource

NEEDED_TABLES = ("entities", "relationships", "text_units")  # in every index
OLD_TABLE_PREFIX = "create_final_"  # of table names up to version 1
RELATION_COLUMNS = ("description", "weight", "text_unit_ids")
COMMUNITY_COLUMNS = ("community", "level", "parent", "title", "entity_ids")
REPORT_COLUMNS = ("community", "title", "summary", "full_content", "rank", "rating", "level")
ROW_NUMBER = re.compile(r" \(\d+\)\Z")  # row number after the name of a table's file
# the field that GraphRAG encodes for each kind of item, part of the name of its table of vectors
VECTOR_TABLES = {
    "nodes": "entity.description",
    "communities": "community.full_content",
    "chunks": "text_unit.text",
}
VECTOR_TABLE_FILE = "embeddings.{}.parquet"  # written by GraphRAG if `snapshots: embeddings` is set
LANCEDB_ADVICE = (
    "Its vectors lie in LanceDB, which is not read; with “snapshots: embeddings: true” GraphRAG "
    "writes them as Parquet too."
)


def holds_index(names: set[str]) -> bool:
    """Return whether files of these names are an index of microsoft/graphrag."""
    return any(
        {f"{prefix}{table}.parquet" for table in NEEDED_TABLES} <= names
        for prefix in ("", OLD_TABLE_PREFIX)
    )


def read_index(files: Mapping[str, FileSource]) -> IndexContent:
    """Read an index of microsoft/graphrag 0.3 to 3.

    It holds entities, relationships, text units, documents, communities and their reports. If the
    table of communities lacks members, they come from the table of nodes, and parents are derived
    from members. Claims are counted but not taken. Source: the project's page on its output tables,
    and its migration notebooks.

    Raises BadInput for a damaged table, or one that lacks a column.
    """
    is_new = all(f"{table}.parquet" in files for table in NEEDED_TABLES)
    tables = _tables(files, "" if is_new else OLD_TABLE_PREFIX)
    index = IndexContent(form=_form(tables, is_new))
    title_column = "title" if "title" in parquet_columns(tables["entities"]) else "name"
    entities = read_parquet_rows(
        tables["entities"], ["id", title_column], ["type", "description", "text_unit_ids"]
    )
    # title and row of each entity
    row_by_id = {text_value(row["id"]): (text_value(row[title_column]), row) for row in entities}
    names = {id: name for id, (name, _) in row_by_id.items()}
    index.entities = [_entity(row, title_column) for row in entities]
    index.relations = _relations(tables)
    index.chunks = _chunks(tables)
    index.documents = _documents(tables)
    index.communities = _communities(tables, names)
    chunk_texts = {chunk.key: chunk.text for chunk in index.chunks}
    index.vectors = _vectors(files, tables, row_by_id, chunk_texts, index.notes)
    if "covariates" in tables:
        claims = read_parquet_rows(tables["covariates"], ["id"])
        index.left_out["Left out, claims (covariates)"] = len(claims)
    return index


def _tables(files: Mapping[str, FileSource], prefix: str) -> dict[str, FileSource]:
    """Return the Parquet files whose names begin with a prefix.

    They are given by the rest of their names.
    """
    return {
        name.removeprefix(prefix).removesuffix(".parquet"): file
        for name, file in files.items()
        if name.startswith(prefix) and name.endswith(".parquet")
    }


def _relations(tables: Mapping[str, FileSource]) -> list[IndexRelation]:
    rows = read_parquet_rows(tables["relationships"], ["source", "target"], RELATION_COLUMNS)
    return [_relation(row) for row in rows]


def _chunks(tables: Mapping[str, FileSource]) -> list[IndexChunk]:
    columns = ["document_id", "document_ids"]
    rows = read_parquet_rows(tables["text_units"], ["id", "text"], columns)
    return [_chunk(row) for row in rows]


def _documents(tables: Mapping[str, FileSource]) -> list[IndexDocument]:
    """Read the documents; empty without a table of documents."""
    if "documents" not in tables:
        return []
    rows = read_parquet_rows(tables["documents"], ["id"], ["title", "text", "raw_content"])
    return [_document(text_value(row["id"]), text_value(row.get("title")), row) for row in rows]


def _document(id: str, title: str, row: Row) -> IndexDocument:
    """Return a document. GraphRAG titles the document of a file by the file's name."""
    content = text_value(row.get("text") or row.get("raw_content"))
    if PurePosixPath(ROW_NUMBER.sub("", title)).suffix.lower() in READABLE_KINDS:
        return IndexDocument(id, text=content, file=title)
    return IndexDocument(id, title, content)


def _vectors(
    files: Mapping[str, FileSource],
    tables: Mapping[str, FileSource],
    entities: Mapping[str, tuple[str, Row]],
    chunks: Mapping[str, str],
    notes: list[str],
) -> list[IndexVectors]:
    """Return the vectors of entities, reports and text units, if they are in Parquet.

    `entities` holds the title and the row of each entity by its id, and `chunks` the text of each
    text unit by its id.
    """
    vector_files = {
        kind: files.get(VECTOR_TABLE_FILE.format(name))
        or files.get(VECTOR_TABLE_FILE.format(name.replace(".", "_")))
        for kind, name in VECTOR_TABLES.items()
    }
    if not any(vector_files.values()):
        notes += [LANCEDB_ADVICE] if any(".lance/" in name for name in files) else []
        return []
    reports = _read_rows(tables, "community_reports", ("id", "community", "full_content"))
    # by kind and id: the key of a vector's item, and the text that was encoded
    items: dict[str, dict[str, tuple[str, str]]] = {
        "nodes": {
            id: (" ".join(title.split()), f"{title}:{text_value(row.get('description'))}")
            for id, (title, row) in entities.items()
        },
        "communities": {},
        "chunks": {id: (id, chunk) for id, chunk in chunks.items()},
    }
    for row in reports:
        item = _community_key(row.get("community")), text_value(row.get("full_content"))
        items["communities"][text_value(row.get("id"))] = item
    readers = []
    for kind, file in vector_files.items():
        if file is not None:
            item_of = partial(_item, items[kind])
            read = partial(parquet_vectors, file, kind, ("id", "embedding"), item_of)
            readers.append(("entities" if kind == "nodes" else kind, read))
    return read_vectors(readers, notes)


def _item(items: Mapping[str, tuple[str, str]], id: str) -> tuple[str, str]:
    """Return the key and the text of an id.

    Both are empty if the index lacks it.
    """
    return items.get(id, ("", ""))


def _form(tables: Mapping[str, FileSource], is_new: bool) -> str:
    """Return the versions of GraphRAG that write tables of this form, in words."""
    if is_new:
        has_id = "document_id" in parquet_columns(tables["text_units"])
        return "version 3" if has_id else "version 2"
    has_title = "title" in parquet_columns(tables["entities"])
    return "version 1" if has_title else "a version before 1"


def _entity(row: Row, name_column: str) -> IndexEntity:
    return IndexEntity(
        text_value(row[name_column]),
        text_value(row.get("type")),
        text_value(row.get("description")),
        text_values(row.get("text_unit_ids")),
    )


def _relation(row: Row) -> IndexRelation:
    return IndexRelation(
        text_value(row["source"]),
        text_value(row["target"]),
        description=text_value(row.get("description")),
        weight=number_value(row.get("weight"), 1.0),
        chunks=text_values(row.get("text_unit_ids")),
    )


def _chunk(row: Row) -> IndexChunk:
    documents = text_values(row.get("document_ids"))
    return IndexChunk(
        text_value(row["id"]),
        text_value(row["text"]),
        text_value(row.get("document_id")) or next(iter(documents), ""),
    )


def _communities(
    tables: Mapping[str, FileSource], names: Mapping[str, str]
) -> list[IndexCommunity]:
    """Return the communities with their reports; empty without a table of communities."""
    if "communities" not in tables:
        return []
    rows = read_parquet_rows(tables["communities"], ["id"], COMMUNITY_COLUMNS)
    reports = {
        _community_key(row.get("community")): row
        for row in _read_rows(tables, "community_reports", REPORT_COLUMNS)
    }
    members: dict[str, list[str]] = {}
    for row in _read_rows(tables, "nodes", ("title", "community")):
        key = _community_key(row.get("community"))
        members.setdefault(key, []).append(text_value(row.get("title")))
    communities = []
    for row in rows:
        key = _community_key(row["community"] if "community" in row else row["id"])
        report = reports.get(key, {})
        if "entity_ids" in row:
            member_names = [names.get(id, "") for id in text_values(row["entity_ids"])]
        else:
            member_names = members.get(key, [])
        title = text_value(report.get("title")) or text_value(row.get("title"))
        community = IndexCommunity(
            key,
            int(number_value(row.get("level"))),
            _community_key(row.get("parent")),
            title=title,
            members=tuple(member_names),
            report=_report(report, title),
            rating=number_value(report.get("rank"), number_value(report.get("rating"))),
        )
        communities.append(community)
    has_parents = any(community.parent for community in communities)
    return communities if has_parents else _with_parents(communities)


def _read_rows(tables: Mapping[str, FileSource], name: str, columns: tuple[str, ...]) -> list[Row]:
    """Read the columns that a table has; empty if there is no such table."""
    return read_parquet_rows(tables[name], [], columns) if name in tables else []


def _community_key(value: Any) -> str:
    """Return the key of a community; empty for none.

    The tables hold it as a number in some versions and as a text in others.
    """
    number = int(number_value(value, -1))
    return "" if number < 0 else str(number)


def _report(row: Row, title: str) -> str:
    """Return the text of a report without its title line."""
    text = text_value(row.get("full_content")) or text_value(row.get("summary"))
    return text.removeprefix(f"# {title}").strip()


def _with_parents(communities: list[IndexCommunity]) -> list[IndexCommunity]:
    """Return the communities with parents derived from members.

    The parent is the community of the next coarser level that contains the first member, since each
    community lies within one of the coarser level.
    """
    keys: dict[tuple[int, str], str] = {}  # key of the community of each member on each level
    for community in communities:
        keys.update(((community.level, member), community.key) for member in community.members)
    result = []
    for community in communities:
        parent = ""
        if community.members:
            parent = keys.get((community.level - 1, community.members[0]), "")
        result.append(replace(community, parent=parent))
    return result

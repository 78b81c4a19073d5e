"""Reader of HippoRAG's indexes: passages with their OpenIE triples, stored as JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from core.corpus.indexes.files import read_index_json, text_value, text_values
from core.corpus.indexes.index import (
    IndexChunk,
    IndexContent,
    IndexDocument,
    IndexEntity,
    IndexRelation,
)
from core.corpus.indexes.vectors import IndexVectors, parquet_vectors, read_vectors
from core.errors import BadInput
from core.io.files import FileSource

ENTITY_VECTORS_FILE = "vdb_entity.parquet"  # in a folder that is named after the models
REPLACED_CHARACTERS = re.compile("[^a-z0-9 ]")  # characters that HippoRAG replaces by blanks
MAX_TITLE_CHARACTERS = 120  # of a first line that counts as a title


def holds_index(names: set[str]) -> bool:
    """Return whether files of these names are an index of HippoRAG."""
    return any(_is_openie_file(name) for name in names)


def read_index(files: Mapping[str, FileSource]) -> IndexContent:
    """Read an index of HippoRAG 1 or 2 from the file of OpenIE's results.

    It holds passages, names and triples. Names that are equal in lower case and without marks are
    one entity, as in HippoRAG's own graph; its name is the most frequent spelling. If every passage
    begins with a short line, this is its title, as in HippoRAG's sets. HippoRAG's graph, which also
    holds the edges between similar names, is pickled and not read.

    Raises BadInput for a damaged file, or if there are several.
    """
    docs = _read_docs(_openie_file(files))
    index = IndexContent()
    passages = [
        (text_value(row.get("idx")) or str(number), text_value(row.get("passage")))
        for number, row in enumerate(docs)
    ]
    index.documents = _titled_documents(passages, index.notes)
    # each passage is a document with a single chunk
    index.chunks = [IndexChunk(doc.key, doc.text, doc.key) for doc in index.documents]
    names = _names_and_triples(docs, [key for key, _ in passages], index)
    index.vectors = _entity_vectors(files, names, index.notes)
    index.notes.append("Its edges between alike names lie in a pickled file, which is not read.")
    return index


def _openie_file(files: Mapping[str, FileSource]) -> FileSource:
    """Return the one file of OpenIE's results."""
    openie_files = sorted(name for name in files if _is_openie_file(name))
    if len(openie_files) > 1:
        raise BadInput(
            f"There are several files of OpenIE's results, {', '.join(openie_files[:6])}. Give the "
            "path of one of them."
        )
    return files[openie_files[0]]


def _read_docs(file: FileSource) -> list[dict[str, Any]]:
    """Read the rows of the passages from the file of OpenIE's results."""
    results = read_index_json(file)
    docs = results.get("docs") if isinstance(results, dict) else None
    if not isinstance(docs, list) or not all(isinstance(row, dict) for row in docs):
        raise BadInput(
            f"{file.name} has no list “docs” of passages; expected the file that HippoRAG writes."
        )
    return docs


def _entity_vectors(
    files: Mapping[str, FileSource], names: Mapping[str, str], notes: list[str]
) -> list[IndexVectors]:
    """Read the vectors of the entities, if exactly one file holds them.

    `names` holds the name of each entity by its folded name.
    """

    def name_and_text(content: str) -> tuple[str, str]:
        return names.get(fold_hipporag_name(content), ""), content

    vector_files = [
        file for name, file in files.items() if name.rpartition("/")[2] == ENTITY_VECTORS_FILE
    ]
    if len(vector_files) > 1:
        notes.append(
            f"There are several files {ENTITY_VECTORS_FILE}, by several models; none is taken."
        )
    if len(vector_files) != 1:
        return []
    columns = ("content", "embedding")
    reader = partial(parquet_vectors, vector_files[0], "nodes", columns, name_and_text)
    return read_vectors([("entities", reader)], notes)


def _is_openie_file(name: str) -> bool:
    """Return whether a file has the name that HippoRAG gives to OpenIE's results."""
    return name.startswith("openie_") and name.endswith(".json") and "results" in name


def fold_hipporag_name(name: str) -> str:
    """Return a name as HippoRAG compares it: small letters, digits and blanks.

    HippoRAG itself removes all letters beyond a to z. If nothing would remain, as of a name in
    another script, the name is casefolded instead.
    """
    folded = " ".join(REPLACED_CHARACTERS.sub(" ", name.lower()).split())
    return folded or " ".join(name.casefold().split())


def _titled_documents(passages: Sequence[tuple[str, str]], notes: list[str]) -> list[IndexDocument]:
    """Return passages as documents, with titles if all passages begin with one.

    `passages` are pairs of key and text.
    """
    parts = [passage.partition("\n") for _, passage in passages]
    if not parts or not all(
        0 < len(title.strip()) <= MAX_TITLE_CHARACTERS and body.strip() for title, _, body in parts
    ):
        return [IndexDocument(key, "", passage) for key, passage in passages]
    notes.append("Each passage begins with a short line, which was taken for its title.")
    return [
        IndexDocument(key, title.strip(), body.strip())
        for (key, _), (title, _, body) in zip(passages, parts)
    ]


def _names_and_triples(
    docs: Sequence[Mapping[str, Any]], keys: Sequence[str], index: IndexContent
) -> dict[str, str]:
    """Add the entities and relations of all passages to the index.

    `docs` are the rows of the passages, and `keys` their keys. Returns the name of each entity, its
    most frequent spelling, by its folded name.
    """
    spellings: dict[str, Counter[str]] = {}
    chunks: dict[str, dict[str, None]] = {}
    triples: list[tuple[str, str, str, str]] = []  # folded head, relation, folded tail, chunk

    def add_name(name: str, chunk: str) -> str:
        key = fold_hipporag_name(name)
        spellings.setdefault(key, Counter())[" ".join(name.split())] += 1
        chunks.setdefault(key, {})[chunk] = None
        return key

    for key, row in zip(keys, docs):
        for name in text_values(row.get("extracted_entities")):
            if fold_hipporag_name(name):
                add_name(name, key)
        rows = row.get("extracted_triples")
        for triple in rows if isinstance(rows, list) else []:
            parts = text_values(triple)
            if len(parts) != 3 or not all(map(fold_hipporag_name, parts)):
                index.left_out["Left out, triples that are not three texts"] += 1
                continue
            head, relation, tail = parts
            triples.append(
                (add_name(head, key), " ".join(relation.split()), add_name(tail, key), key)
            )
    names = {}
    for key, counts in spellings.items():
        names[key] = min(counts, key=lambda name: (-counts[name], name))
    index.entities = [IndexEntity(names[key], chunks=tuple(ids)) for key, ids in chunks.items()]
    index.relations = [
        IndexRelation(names[head], names[tail], name, chunks=(chunk,))
        for head, name, tail, chunk in triples
    ]
    return names

"""Storage of a corpus on disk, used by `core.corpus.corpus`.

The files are written to a temporary folder, synced, and moved into place in one step, so that other
processes never see half of a change.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.corpus.document import Document, DocumentOrigin, utf8_text
from core.corpus.links import link_digest
from core.errors import BadInput, StoreError, damage_error
from core.graph.columns import Table
from core.io import digests, locks
from core.io.folders import TEMPORARY, clean_folder, install_files
from core.io.plain_data import from_plain, to_plain
from core.types import Question
from core.watch import NO_WATCH, Watch

STORAGE_VERSION = 1
META_FILE = "corpus.json"  # the description; names the folder that holds the other files
DOCUMENTS_FILE = "documents.arrow"
QUESTIONS_FILE = "questions.json"
LINKS_FILE = "links.arrow"
ORIGINS_FILE = "origins.json"
DOCUMENT_COLUMNS = ("id", "title", "source", "text", "places", "digest")


def document_table(documents: Iterable[Document]) -> Table:
    """Return the table of documents, ordered by id.

    Raises BadInput if two different documents share an id, or one has none.
    """
    by_id: dict[str, Document] = {}
    for document in map(_to_utf8, documents):
        if not document.id.strip():
            raise BadInput(f"A document from {document.source or 'these files'} has no id.")
        other = by_id.setdefault(document.id, document)
        if other != document:
            raise BadInput(
                f"Two documents have the id “{document.id}” and differ; give one of them "
                "another id."
            )
    rows: list[tuple[str, ...]] = []
    for id in sorted(by_id):
        document = by_id[id]
        places = json.dumps(document.places, ensure_ascii=False)
        rows.append((id, document.title, document.source, document.text, places, document.digest))
    return table_of_rows(rows)


def table_of_rows(rows: list[tuple[str, ...]]) -> Table:
    """Return the table of rows of `DOCUMENT_COLUMNS`."""
    import pyarrow as pa

    columns = zip(*rows) if rows else ([],) * len(DOCUMENT_COLUMNS)
    arrays = [pa.array(values, pa.large_string()) for values in columns]
    return Table(pa.table(dict(zip(DOCUMENT_COLUMNS, arrays))))


def change_table(
    table: Table, documents: Iterable[Document] = (), removed: frozenset[str] = frozenset()
) -> Table:
    """Return the table with documents added or replaced by id, and others removed.

    Parameters
    ----------
    table : the documents.
    documents : documents that are added, or replace those with their ids.
    removed : ids of documents that are removed.

    Returns
    -------
    A new table, ordered by id.
    """
    import pyarrow as pa

    new = document_table(documents)
    dropped_ids = removed | set(new.texts("id"))
    old_rows = [row for row, id in enumerate(table.texts("id")) if id not in dropped_ids]
    combined = pa.concat_tables([table.arrow.take(np.array(old_rows, np.int64)), new.arrow])
    return Table(combined.sort_by("id").combine_chunks())


def corpus_digest(table: Table, links: Table | None = None) -> str:
    """Return the SHA-256 digest of a corpus's documents and links in hex.

    The order in which documents were added has no effect, as their digests are joined in the order
    of ids.

    Parameters
    ----------
    table : the documents.
    links : their links; None without any.

    Returns
    -------
    64 hexadecimal digits.
    """
    parts = [f"corpus {STORAGE_VERSION}", *table.texts("digest")]
    if links is not None and len(links):
        parts.append(link_digest(links))
    return sha256("\n".join(parts).encode()).hexdigest()


@contextmanager
def lock_corpus(folder: FilePath, watch: Watch = NO_WATCH) -> Iterator[None]:
    """Hold the lock file next to a corpus's folder while the block runs.

    The file is not removed afterwards.

    Parameters
    ----------
    folder : folder of the corpus.
    watch : called while another process holds the lock; may raise RunCancelled.

    Raises
    ------
    StoreError : the lock file cannot be written.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locks.hold_lock_file(folder.parent / f"{folder.name}.lock", watch):
            yield
    except OSError as error:
        raise StoreError(
            f"The corpus cannot be stored in {folder}: {error.strerror or error}."
        ) from None


def store_corpus(
    folder: FilePath,
    meta: Mapping[str, Any],
    table: Table,
    questions: Mapping[str, Iterable[Question]],
    links: Table | None = None,
    origins: Mapping[str, DocumentOrigin] | None = None,
) -> None:
    """Write a corpus into `folder`. The caller holds its lock.

    The previous content stays readable until the new one is complete. Raises OSError.

    Parameters
    ----------
    meta : the description, without the version, the digest and the number of documents.
    table : the documents.
    questions : question sets by name.
    links : the table of links; None if there are none.
    origins : the origins of files, by the `source` of their documents.
    """
    folder.mkdir(parents=True, exist_ok=True)
    clean_folder(folder, META_FILE)
    staging = folder / TEMPORARY
    staging.mkdir()
    try:
        table.save(staging / DOCUMENTS_FILE)
        if links is not None and len(links):
            links.save(staging / LINKS_FILE)
        if origins:
            sources = {
                source: {"folder": origin.folder, "notes": origin.notes}
                for source, origin in origins.items()
            }
            (staging / ORIGINS_FILE).write_text(json.dumps(sources, ensure_ascii=False), "utf-8")
        rows = {name: list(map(to_plain, items)) for name, items in questions.items()}
        (staging / QUESTIONS_FILE).write_text(json.dumps(rows), "utf-8")
        new_meta = {
            **meta,
            "version": STORAGE_VERSION,
            "digest": corpus_digest(table, links),
            "n_documents": len(table),
        }
        install_files(folder, staging, META_FILE, new_meta)
    finally:
        clean_folder(folder, META_FILE)


def read_corpus_meta(folder: FilePath) -> dict[str, Any]:
    """Return the content of `corpus.json`.

    Raises StoreError if it is missing, damaged or of another version.
    """
    try:
        meta = digests.check_own_digest(json.loads((folder / META_FILE).read_text("utf-8")))
        version = meta["version"]
    except FileNotFoundError:
        raise StoreError(f"There is no corpus in {folder}.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        instead = "remove it and add its documents again"
        raise damage_error(f"The corpus in {folder} is", error, instead) from None
    if version != STORAGE_VERSION:
        raise StoreError(
            f"The corpus in {folder} is of version {version}, this is version {STORAGE_VERSION}; add "
            "its documents again."
        )
    return meta


def parse_questions(data: bytes) -> dict[str, tuple[Question, ...]]:
    """Parse the question sets in a file, by name."""
    return {
        name: tuple(from_plain(Question, row) for row in rows)
        for name, rows in json.loads(data).items()
    }


def parse_origins(data: bytes) -> dict[str, DocumentOrigin]:
    """Parse the origins in a file, by the `source` of the documents."""
    return {
        source: DocumentOrigin(row["folder"], tuple(row["notes"]))
        for source, row in json.loads(data).items()
    }


def _to_utf8(document: Document) -> Document:
    """Return a document whose texts UTF-8 can encode."""
    places = tuple((offset, utf8_text(label)) for offset, label in document.places)
    return Document(
        utf8_text(document.id),
        utf8_text(document.text),
        utf8_text(document.title),
        utf8_text(document.source),
        places,
    )

"""Storage of a corpus on disk.

Its tables are written to a temporary folder, synced, and moved into place in one step.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.corpus.document import Document, Origin, sound
from core.corpus.links import digest_of as digest_of_links
from core.errors import BadInput, StoreError, damage
from core.graph.columns import Table
from core.io import digests, locks
from core.io.folders import TEMPORARY, clean, place
from core.io.plain import from_plain, to_plain
from core.types import Question
from core.watch import NO_WATCH, Watch

VERSION = 1
META, DOCUMENTS, QUESTIONS, LINKS, ORIGINS = (
    "corpus.json",
    "documents.arrow",
    "questions.json",
    "links.arrow",
    "origins.json",
)
COLUMNS = ("id", "title", "source", "text", "places", "digest")


def table_of(documents: Iterable[Document]) -> Table:
    """Return the table of documents, ordered by id.

    Raises BadInput if two different documents share an id, or one has none.
    """
    known: dict[str, Document] = {}
    for document in map(_sound, documents):
        if not document.id.strip():
            raise BadInput(f"A document from {document.source or 'these files'} has no id.")
        other = known.setdefault(document.id, document)
        if other != document:
            raise BadInput(
                f"Two documents have the id “{document.id}” and differ; give one of them "
                "another id."
            )
    rows = [known[id] for id in sorted(known)]
    return columns_of(
        [
            (r.id, r.title, r.source, r.text, json.dumps(r.places, ensure_ascii=False), r.digest)
            for r in rows
        ]
    )


def columns_of(rows: list[tuple[str, ...]]) -> Table:
    """Return the table of rows of `COLUMNS`."""
    import pyarrow as pa

    columns = zip(*rows) if rows else ([],) * len(COLUMNS)
    return Table(
        pa.table(
            {name: pa.array(values, pa.large_string()) for name, values in zip(COLUMNS, columns)}
        )
    )


def changed(
    table: Table, put: Iterable[Document] = (), removed: frozenset[str] = frozenset()
) -> Table:
    """Return the table with documents added or replaced by id, and others removed."""
    import pyarrow as pa

    fresh = table_of(put)
    replaced = removed | set(fresh.texts("id"))
    retained = [row for row, id in enumerate(table.texts("id")) if id not in replaced]
    both = pa.concat_tables([table.arrow.take(np.array(retained, np.int64)), fresh.arrow])
    return Table(both.sort_by("id").combine_chunks())


def digest_of(table: Table, linked: Table | None = None) -> str:
    """Return the SHA-256 digest of a corpus's documents and links in hex.

    It is made from the digests of documents in the order of ids, so the order of adding has no
    effect.
    """
    more = [digest_of_links(linked)] if linked is not None and len(linked) else []
    return sha256(
        "\n".join([f"corpus {VERSION}", *table.texts("digest"), *more]).encode()
    ).hexdigest()


@contextmanager
def locked(folder: FilePath, watch: Watch = NO_WATCH) -> Iterator[None]:
    """Hold the lock file next to a corpus's folder while the block runs.

    The file stays. `watch` is called while another process holds the lock. Raises StoreError.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locks.locked(folder.parent / f"{folder.name}.lock", watch):
            yield
    except OSError as error:
        raise StoreError(
            f"The corpus cannot be stored in {folder}: {error.strerror or error}."
        ) from None


def put(
    folder: FilePath,
    meta: Mapping[str, Any],
    table: Table,
    questions: Mapping[str, Iterable[Question]],
    linked: Table | None = None,
    origins: Mapping[str, Origin] | None = None,
) -> None:
    """Write a corpus into `folder`. The caller holds its lock.

    The previous content stays readable until the new one is complete. Raises OSError.

    Parameters
    ----------
    meta : the description, without what is computed from the content.
    linked : the table of links; None if there are none.
    origins : the origins of files, by source.
    """
    folder.mkdir(parents=True, exist_ok=True)
    clean(folder, META)
    unfinished = folder / TEMPORARY
    unfinished.mkdir()
    try:
        table.save(unfinished / DOCUMENTS)
        if linked is not None and len(linked):
            linked.save(unfinished / LINKS)
        if origins:
            known = {
                source: {"folder": origin.folder, "notes": origin.notes}
                for source, origin in origins.items()
            }
            (unfinished / ORIGINS).write_text(json.dumps(known, ensure_ascii=False), "utf-8")
        rows = {name: list(map(to_plain, asked)) for name, asked in questions.items()}
        (unfinished / QUESTIONS).write_text(json.dumps(rows), "utf-8")
        place(
            folder,
            unfinished,
            META,
            {
                **meta,
                "version": VERSION,
                "digest": digest_of(table, linked),
                "n_documents": len(table),
            },
        )
    finally:
        clean(folder, META)


def read_meta(folder: FilePath) -> dict[str, Any]:
    """Return the content of `corpus.json`.

    Raises StoreError if it is missing, damaged or of another version.
    """
    try:
        meta = digests.check_marked(json.loads((folder / META).read_text("utf-8")))
        version = meta["version"]
    except FileNotFoundError:
        raise StoreError(f"There is no corpus in {folder}.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        instead = "remove it and add its documents again"
        raise damage(f"The corpus in {folder} is", error, instead) from None
    if version != VERSION:
        raise StoreError(
            f"The corpus in {folder} is of version {version}, this is version {VERSION}; add "
            "its documents again."
        )
    return meta


def questions_in(data: bytes) -> dict[str, tuple[Question, ...]]:
    """Return the question sets of a file, by name."""
    return {
        name: tuple(from_plain(Question, one) for one in asked)
        for name, asked in json.loads(data).items()
    }


def origins_in(data: bytes) -> dict[str, Origin]:
    """Return the origins of a file, by source."""
    return {
        source: Origin(one["folder"], tuple(one["notes"]))
        for source, one in json.loads(data).items()
    }


def _sound(document: Document) -> Document:
    places = tuple((at, sound(label)) for at, label in document.places)
    return Document(
        sound(document.id),
        sound(document.text),
        sound(document.title),
        sound(document.source),
        places,
    )

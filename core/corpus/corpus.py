"""A corpus: documents with ids, stored in a folder, with the question sets about them.

`Corpus` opens and changes one; `write_corpus` creates one. The files themselves are read and
written by `core.corpus.corpus_storage`.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any

import core.corpus.corpus_storage as corpus_storage
from core.corpus.document import Document, DocumentOrigin
from core.corpus.links import DocumentLink, link_table, links_in
from core.corpus.quotations import holds_quotation, split_passage_name
from core.errors import BadInput, StoreError, damage_error, shorten, suggest_name
from core.graph.columns import Table
from core.io import digests
from core.io.plain_data import from_plain, to_plain
from core.languages import Detection, detect_language
from core.languages.detection import DETECTION
from core.sharing import check_may_change, record_owner
from core.types import Question
from core.watch import NO_WATCH, Watch

CORPUS_OWNED_KIND = "corpus"  # kind of thing in the records of owners
TitledSet = tuple[str, Sequence[Question]]  # a question set: its title and questions


@dataclass(frozen=True, eq=False)
class Corpus:
    """The documents of a corpus, ordered by id, in a folder on disk.

    They are memory-mapped, so that opening a corpus reads none of them. `digest` identifies the
    content: the same documents give the same digest, in whatever order they were added. `sets`
    holds the titles of its question sets by name. A change returns a new corpus; the previous
    object stays readable.
    """

    name: str
    title: str
    licence: str
    source: str
    digest: str
    n_documents: int
    folder: FilePath
    table: Table = field(repr=False)  # the documents, with `DOCUMENT_COLUMNS`; places are JSON
    question_bytes: bytes = field(repr=False)  # the file of its question sets
    # its links, with `LINK_COLUMNS`; None if it has none
    links_table: Table | None = field(default=None, repr=False)
    sets: dict[str, str] = field(default_factory=dict)
    examples: tuple[str, ...] = ()  # questions to begin with
    own: bool = True  # False for a corpus that ships
    source_digest: str = ""  # of the files from which a shipped corpus was read; else empty
    # the JSON of the origins of its files; a file without folder or notes has none
    origin_bytes: bytes = field(default=b"{}", repr=False)
    # checks the digests of a large corpus in the background; None if they are checked already
    deferred_check: digests.DeferredCheck | None = field(default=None, repr=False)
    # the saved `Detection` as plain data; empty in a corpus of an earlier version
    stored_language: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def open(cls, folder: str | FilePath) -> Corpus:
        """Open the corpus in a folder. Raises StoreError if there is none or it is damaged."""
        folder = FilePath(folder)
        meta = corpus_storage.read_corpus_meta(folder)
        while True:
            try:
                return cls._open(folder, meta)
            except (StoreError, OSError, ValueError, KeyError, TypeError) as error:
                # A writer may have replaced the data after the description was read.
                newer = corpus_storage.read_corpus_meta(folder)
                if newer == meta:
                    instead = "remove it and add its documents again"
                    raise damage_error(f"The corpus in {folder} is", error, instead) from None
                meta = newer

    @classmethod
    def _open(cls, folder: FilePath, meta: dict[str, Any]) -> Corpus:
        data = folder / meta["data"]
        deferred_check = digests.open_checked(data)
        table = Table.open(data / corpus_storage.DOCUMENTS_FILE)
        meta_fields = {
            key: meta[key]
            for key in ("name", "title", "licence", "source", "digest", "sets", "own")
        }
        if table.names != corpus_storage.DOCUMENT_COLUMNS or len(table) != meta["n_documents"]:
            raise StoreError(f"{data} does not hold what {corpus_storage.META_FILE} says")
        links_file = data / corpus_storage.LINKS_FILE
        origins_file = data / corpus_storage.ORIGINS_FILE
        return cls(
            **meta_fields,
            n_documents=len(table),
            folder=folder,
            table=table,
            question_bytes=(data / corpus_storage.QUESTIONS_FILE).read_bytes(),
            links_table=Table.open(links_file) if links_file.is_file() else None,
            origin_bytes=origins_file.read_bytes() if origins_file.is_file() else b"{}",
            examples=tuple(meta["examples"]),
            source_digest=meta["made_of"],
            deferred_check=deferred_check,
            stored_language=meta.get("language", {}),
        )

    def __len__(self) -> int:
        return self.n_documents

    def __iter__(self) -> Iterator[Document]:
        return (self.document_at(row) for row in range(len(self)))

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._find_row(id) is not None

    def document_at(self, row: int) -> Document:
        """Return the document of a row, from 0.

        Raises StoreError if the check in the background has found damage.
        """
        if self.deferred_check is not None:
            self.deferred_check.start()
            if self.deferred_check.damage:
                raise StoreError(
                    f"The corpus in {self.folder} is damaged ({self.deferred_check.damage}); "
                    "remove it and add its documents again."
                )
        id, title, source, text, places = (
            self.table.text(name, row) for name in ("id", "title", "source", "text", "places")
        )
        offsets_and_labels = tuple((offset, label) for offset, label in json.loads(places))
        return Document(id, text, title, source, offsets_and_labels)

    def row(self, id: str) -> int:
        """Return the row of a document, from 0. Raises BadInput if the corpus has no such id."""
        row = self._find_row(id)
        if row is None:
            raise BadInput(f"The corpus “{self.name}” has no document “{shorten(id)}”.")
        return row

    def document(self, id: str) -> Document:
        """Return the document of an id. Raises BadInput if the corpus has none."""
        return self.document_at(self.row(id))

    def has_passage(self, passage: str) -> bool:
        """Return whether the corpus has a passage, named as in `core.corpus.quotations`.

        The document must exist and hold the quotation.
        """
        document, quote = split_passage_name(passage)
        if document not in self:
            return False
        return not quote or holds_quotation(self.document(document).text, quote)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of all documents, ascending."""
        return tuple(self.table.texts("id"))

    @cached_property
    def characters(self) -> int:
        """The number of characters of all documents together."""
        import pyarrow.compute as pc

        return pc.sum(pc.utf8_length(self.table.arrow.column("text"))).as_py() or 0

    @cached_property
    def language(self) -> Detection:
        """The language of its documents: chosen by a person, or detected when they were added."""
        if self.stored_language:
            return from_plain(Detection, self.stored_language)
        return _detect_language(self.table)

    @cached_property
    def detected_language(self) -> Detection:
        """The detected language of its documents, whatever a person chose."""
        return _detect_language(self.table) if self.language.chosen else self.language

    @cached_property
    def links(self) -> tuple[DocumentLink, ...]:
        """The links between its documents, including those to documents that it lacks."""
        return tuple(links_in(self.links_table))

    @cached_property
    def origins(self) -> dict[str, DocumentOrigin]:
        """The known origins of its files, by the `source` of the documents.

        A file has one if it came in a folder or zip, or if there are notes on its reading.
        Raises StoreError for a damaged file.
        """
        try:
            return corpus_storage.parse_origins(self.origin_bytes)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(
                f"What was noted in {self.folder} is damaged ({error}); add its documents again."
            ) from None

    def questions(self, set_name: str) -> tuple[Question, ...]:
        """Return the questions of a set; their `gold` holds ids of documents.

        Raises BadInput that names the nearest sets, and StoreError for a damaged file.
        """
        if set_name not in self.sets:
            raise BadInput(
                f"The corpus “{self.name}” has no question set "
                f"“{set_name}”.{suggest_name(set_name, self.sets)}"
            )
        return self._questions[set_name]

    @cached_property
    def _questions(self) -> dict[str, tuple[Question, ...]]:
        try:
            return corpus_storage.parse_questions(self.question_bytes)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(
                f"The question sets in {self.folder} are damaged ({error}); add them again."
            ) from None

    def add(self, documents: Iterable[Document], watch: Watch = NO_WATCH) -> Corpus:
        """Return the corpus with more documents.

        A document that the corpus already has is not added twice.

        Parameters
        ----------
        documents : the documents.
        watch : receives the progress and may raise RunCancelled.

        Returns
        -------
        The new corpus.

        Raises
        ------
        BadInput : the corpus has a different document with the same id.
        StoreError : it cannot be written.
        """
        new_documents = list(documents)

        def add_documents(current: Corpus) -> Table:
            for document in new_documents:
                if document.id in current and current.document(document.id) != document:
                    raise BadInput(
                        f"The corpus “{self.name}” has another document "
                        f"“{shorten(document.id)}” already."
                    )
            return corpus_storage.change_table(current.table, new_documents)

        return self._rewrite(add_documents, watch)

    def change(self, documents: Iterable[Document], watch: Watch = NO_WATCH) -> Corpus:
        """Return the corpus with these documents in place of those with the same ids.

        Parameters
        ----------
        documents : the documents.
        watch : receives the progress and may raise RunCancelled.

        Returns
        -------
        The new corpus.

        Raises
        ------
        BadInput : the corpus has no document with one of the ids.
        StoreError : it cannot be written.
        """
        changed_documents = list(documents)

        def replace_documents(current: Corpus) -> Table:
            for document in changed_documents:
                current.row(document.id)
            return corpus_storage.change_table(current.table, changed_documents)

        return self._rewrite(replace_documents, watch)

    def update(
        self,
        documents: Iterable[Document],
        watch: Watch = NO_WATCH,
        title: str = "",
        sets: Mapping[str, TitledSet] | None = None,
        links: Iterable[DocumentLink] = (),
        origins: Mapping[str, DocumentOrigin] | None = None,
        removed: Iterable[str] = (),
    ) -> Corpus:
        """Return the corpus with documents, question sets and links added or replaced.

        Parameters
        ----------
        documents : added, or put in place of those with the same ids.
        watch : receives the progress and may raise RunCancelled.
        title : a new title; empty keeps the old one.
        sets : question sets by name, added or put in place of those with the same names.
        links : if any are given, they replace all links of the corpus.
        origins : put in place of those of the same sources.
        removed : ids of documents that are removed.

        Returns
        -------
        The new corpus.
        """
        updates, removed_ids = list(documents), frozenset(removed)

        def change(current: Corpus) -> Table:
            return corpus_storage.change_table(current.table, updates, removed_ids)

        return self._rewrite(change, watch, title, sets or {}, tuple(links), origins=origins or {})

    def with_questions(self, sets: Mapping[str, TitledSet], watch: Watch = NO_WATCH) -> Corpus:
        """Return the corpus with question sets added or replaced by name.

        Shipped corpora accept them too.

        Parameters
        ----------
        sets : title and questions of each set, by name.
        watch : receives the progress and may raise RunCancelled.

        Returns
        -------
        The new corpus.

        Raises
        ------
        StoreError : it cannot be written.
        """
        return self._rewrite(lambda current: current.table, watch, sets=sets, own_only=False)

    def with_language(self, code: str, watch: Watch = NO_WATCH) -> Corpus:
        """Return the corpus with another language.

        Shipped corpora accept it too.

        Parameters
        ----------
        code : code of the language; empty to detect it again.
        watch : receives the progress and may raise RunCancelled.

        Returns
        -------
        The new corpus.

        Raises
        ------
        StoreError : it cannot be written.
        """
        return self._rewrite(lambda current: current.table, watch, own_only=False, language=code)

    def remove(self, ids: Iterable[str], watch: Watch = NO_WATCH) -> Corpus:
        """Return the corpus without some documents.

        Parameters
        ----------
        ids : ids of the documents.
        watch : receives the progress and may raise RunCancelled.

        Returns
        -------
        The new corpus.

        Raises
        ------
        BadInput : the corpus has no document with one of the ids, or none would be left.
        StoreError : it cannot be written.
        """
        removed_ids = frozenset(ids)

        def remove_documents(current: Corpus) -> Table:
            for id in sorted(removed_ids):
                current.row(id)
            if len(removed_ids) == len(current):
                raise BadInput(
                    f"These are all documents of the corpus “{self.name}”; remove the corpus "
                    "instead."
                )
            return corpus_storage.change_table(current.table, removed=removed_ids)

        return self._rewrite(remove_documents, watch)

    def _rewrite(
        self,
        change: Callable[[Corpus], Table],
        watch: Watch = NO_WATCH,
        title: str = "",
        sets: Mapping[str, TitledSet] = MappingProxyType({}),
        links: Sequence[DocumentLink] = (),
        own_only: bool = True,
        origins: Mapping[str, DocumentOrigin] = MappingProxyType({}),
        language: str | None = None,
    ) -> Corpus:
        """Write the corpus after a change and return it.

        Nothing is written if nothing changes. `change` returns the new table of documents for the
        corpus as it is on disk. An empty `title` and empty `links` keep the old ones. With
        `own_only`, the change is refused for a shipped corpus. A `language` of "" is detected anew.
        None keeps a language that a person chose, and detects another one anew if documents change.
        """
        if own_only and not self.own:
            raise BadInput(
                f"The corpus “{self.name}” comes with Hopscope and stays as it is; make one "
                "of your own with these documents."
            )
        with corpus_storage.lock_corpus(self.folder, watch):
            check_may_change(CORPUS_OWNED_KIND, self.name)
            current = Corpus.open(self.folder)
            table, meta = change(current), corpus_storage.read_corpus_meta(self.folder)
            questions = current._questions | {name: tuple(rows) for name, (_, rows) in sets.items()}
            titles = current.sets | {name: set_title for name, (set_title, _) in sets.items()}
            new_meta = {**meta, "title": title or meta["title"], "sets": titles}
            if language:
                new_meta["language"] = to_plain(Detection(language, chosen=True))
            elif language == "" or (table is not current.table and not current.language.chosen):
                new_meta["language"] = to_plain(_detect_language(table))
            links_table = link_table(links) if links else current.links_table
            new_origins = _known_origins({**current.origins, **origins}, table)
            old_state = (meta, current._questions, current.origins)
            is_same = old_state == (new_meta, questions, new_origins)
            if is_same and corpus_storage.corpus_digest(table, links_table) == current.digest:
                return current
            corpus_storage.store_corpus(
                self.folder, new_meta, table, questions, links_table, new_origins
            )
            return Corpus.open(self.folder)

    def _find_row(self, id: str) -> int | None:
        """Return the row of an id by binary search; None if there is none."""
        row = bisect_left(range(len(self)), id, key=lambda row: self.table.text("id", row))
        return row if row < len(self) and self.table.text("id", row) == id else None


def write_corpus(
    folder: str | FilePath,
    documents: Iterable[Document],
    title: str = "",
    licence: str = "",
    source: str = "",
    sets: Mapping[str, TitledSet] | None = None,
    examples: Sequence[str] = (),
    own: bool = True,
    source_digest: str = "",
    watch: Watch = NO_WATCH,
    links: Iterable[DocumentLink] = (),
    origins: Mapping[str, DocumentOrigin] | None = None,
) -> Corpus:
    """Write documents, question sets and links as a corpus into a folder.

    An earlier corpus in the folder is replaced.

    Parameters
    ----------
    folder : its folder, whose name becomes the name of the corpus.
    title : empty takes the name.
    sets : question sets by name.
    examples : questions to begin with.
    own : False for a corpus that ships.
    source_digest : the digest of the files from which a shipped corpus was read.
    watch : called while another process holds the corpus; may raise RunCancelled.
    origins : the origins of files, by the `source` of their documents.

    Returns
    -------
    The corpus, opened from its folder.

    Raises
    ------
    BadInput
        If there is no document, or two different ones share an id.
    StoreError
        If the corpus cannot be written.
    """
    folder, sets = FilePath(folder).absolute(), sets or {}
    table = corpus_storage.document_table(documents)
    if not len(table):
        raise BadInput(f"The corpus “{folder.name}” would have no documents.")
    meta: dict[str, Any] = {
        "name": folder.name,
        "title": title or folder.name,
        "licence": licence,
        "source": source,
        "examples": list(examples),
        "sets": {name: set_title for name, (set_title, _) in sets.items()},
        "own": own,
        "made_of": source_digest,
        "language": to_plain(_detect_language(table)),
    }
    with corpus_storage.lock_corpus(folder, watch):
        if own and (folder / corpus_storage.META_FILE).is_file():
            check_may_change(CORPUS_OWNED_KIND, folder.name)
        corpus_storage.store_corpus(
            folder,
            meta,
            table,
            {name: questions for name, (_, questions) in sets.items()},
            link_table(links),
            _known_origins(origins or {}, table),
        )
        if own:
            record_owner(CORPUS_OWNED_KIND, folder.name)
    return Corpus.open(folder)


def _detect_language(table: Table) -> Detection:
    """Detect the language of a table of documents by a sample of their texts."""
    # every n-th row, with n rounded up, so that the sample is not too large
    rows = range(0, len(table), max(1, -(-len(table) // DETECTION.sample_pieces)))
    return detect_language(table.texts("text", rows))


def _known_origins(
    origins: Mapping[str, DocumentOrigin], table: Table
) -> dict[str, DocumentOrigin]:
    """Return the origins that are not empty and belong to sources of the table."""
    if not origins:
        return {}
    sources = set(table.texts("source"))
    return {
        source: origin
        for source, origin in origins.items()
        if origin != DocumentOrigin() and source in sources
    }

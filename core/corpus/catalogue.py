"""The catalogue of corpora by name: those shipped in `data/`, and a person's own.

Commands, pages and builds list, open and remove corpora here. A shipped corpus is read from its
source files at first use, and its copy is saved among the person's corpora.
"""

from __future__ import annotations

import re
import threading
import tomllib
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path as FilePath

from core.corpus.corpus import CORPUS_OWNED_KIND, Corpus, TitledSet, write_corpus
from core.corpus.corpus_storage import META_FILE, lock_corpus
from core.corpus.links import read_links
from core.corpus.published_corpora import FORM_READERS, read_published, without_trivial_gold
from core.corpus.titled_documents import TitledDocuments
from core.errors import BadInput, StoreError, shorten, suggest_name
from core.io.data_folders import absent_data_advice, data_roots
from core.io.folders import remove_folder
from core.io.home import home_folder
from core.io.stamps import StampedCache, stamp_files, stamp_subfolder_files
from core.io.toml_file import read_toml
from core.sharing import check_may_change, forget_owner
from core.watch import NO_WATCH, Watch

DESCRIPTION_FILE = "corpus.toml"
SAFE_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
READING_VERSION = 1  # part of the digests; a new version makes all saved copies outdated
_opening_lock = threading.Lock()
_source_digests = StampedCache[str]()


@dataclass(frozen=True)
class ShippedCorpus:
    """A corpus that ships: the content of its `corpus.toml`, and the folder of its files."""

    name: str
    title: str
    licence: str
    source: str
    format: str  # one of `FORM_READERS`
    file: FilePath  # a file or a folder
    sets: Mapping[str, str]  # titles of its question sets by name
    # files of its question sets by name; None if the corpus's own file holds the questions
    files: Mapping[str, FilePath | None]
    examples: tuple[str, ...] = ()
    links: FilePath | None = None  # the file of links between its documents

    @property
    def source_digest(self) -> str:
        """Digest of its files, which changes whenever one of them does."""
        sources = {self.file.parent / DESCRIPTION_FILE, self.file, *self.files.values(), self.links}
        paths = {path for path in sources if path is not None}
        for folder in [path for path in paths if path.is_dir()]:
            paths.update(folder.rglob("*"))
        files = sorted(path for path in paths if path.is_file())
        return _source_digests.get_or_make(
            (READING_VERSION, *files), stamp_files(files), lambda: _digest(files)
        )

    def open(self, watch: Watch = NO_WATCH) -> Corpus:
        """Open the corpus.

        Its files are read first if the person has no saved copy of it, or an outdated one. Question
        sets that the person added to an outdated copy are kept.
        """
        with _opening_lock:  # so that only one thread of a process reads the files
            saved_copy, digest = self._saved_copy(), self.source_digest
            if saved_copy and saved_copy.source_digest == digest:
                return saved_copy
            builder = TitledDocuments()
            documents, published_sets = read_published(
                self.format, self.file, self.files, builder=builder
            )
            question_files = without_trivial_gold(published_sets, documents, builder)
            sets: dict[str, TitledSet] = {}
            if saved_copy:
                for name, title in self._added_sets(saved_copy).items():
                    sets[name] = (title, saved_copy.questions(name))
            for name, title in self.sets.items():
                if name in self.files:
                    sets[name] = (title, question_files[name].questions)
            write_corpus(
                corpora_folder() / self.name,
                documents,
                self.title,
                self.licence,
                self.source,
                sets=sets,
                examples=self.examples,
                own=False,
                source_digest=digest,
                watch=watch,
                links=read_links(self.links) if self.links else (),
            )
            return _open_stamped(corpora_folder() / self.name)

    def with_added_sets(self) -> ShippedCorpus:
        """Return this corpus with the question sets that a person added to it."""
        saved_copy = self._saved_copy()
        if saved_copy is None:
            return self
        return replace(self, sets={**self.sets, **self._added_sets(saved_copy)})

    def _added_sets(self, corpus: Corpus) -> dict[str, str]:
        """Return the titles of sets that a person added, by name."""
        return {name: title for name, title in corpus.sets.items() if name not in self.files}

    def _saved_copy(self) -> Corpus | None:
        """Return the copy among the person's corpora; None if it cannot be opened."""
        try:
            return _open_stamped(corpora_folder() / self.name)
        except StoreError:
            return None


_descriptions = StampedCache[ShippedCorpus]()


def corpora_folder() -> FilePath:
    """Return the folder of the person's corpora, one subfolder each."""
    return home_folder() / "corpora"


def corpora() -> dict[str, Corpus | ShippedCorpus]:
    """Return all corpora by name: the shipped ones, then a person's own.

    Damaged corpora are left out; `damaged_corpora` gives the reasons.
    """
    all_corpora: dict[str, Corpus | ShippedCorpus] = {
        name: corpus.with_added_sets() for name, corpus in shipped_corpora().items()
    }
    for folder in _own_folders(all_corpora):
        with suppress(StoreError):
            all_corpora[folder.name] = _open_stamped(folder)
    return all_corpora


def damaged_corpora() -> list[str]:
    """Return a sentence for each corpus of a person's own that cannot be opened."""
    sentences = []
    for folder in _own_folders(shipped_corpora()):
        try:
            _open_stamped(folder)
        except StoreError as error:
            sentences.append(str(error))
    return sentences


def _own_folders(shipped: Container[str]) -> list[FilePath]:
    """Return the folders of a person's own corpora, without copies of shipped ones."""
    if not corpora_folder().is_dir():
        return []
    folders = [folder for folder in corpora_folder().iterdir() if folder.name not in shipped]
    return sorted(folder for folder in folders if (folder / META_FILE).is_file())


def shipped_corpora() -> dict[str, ShippedCorpus]:
    """Return the corpora in `data/` by name, with those that the person added there."""
    descriptions = [
        described
        for root in reversed(data_roots())
        for described in stamp_subfolder_files(root, DESCRIPTION_FILE)
    ]
    entries = (
        _descriptions.get_or_make(path, files, partial(_read_description, path))
        for path, files in descriptions
    )
    return {corpus.name: corpus for corpus in entries}


def open_corpus(name: str, watch: Watch = NO_WATCH) -> Corpus:
    """Open a corpus, shipped or a person's own, by its name.

    Parameters
    ----------
    name : name of a corpus.
    watch : receives the progress of reading a shipped one; may raise RunCancelled.

    Returns
    -------
    The corpus.

    Raises
    ------
    BadInput : there is no such corpus; the message names the nearest ones.
    StoreError : the corpus is damaged.
    """
    shipped = shipped_corpora()
    if name in shipped:
        return shipped[name].open(watch)
    if not SAFE_NAME.fullmatch(name) or not (corpora_folder() / name / META_FILE).is_file():
        advice = absent_data_advice(name) or suggest_name(name, corpora())
        raise BadInput(f"There is no corpus “{shorten(name)}”.{advice}")
    return _open_stamped(corpora_folder() / name)


def new_folder(name: str) -> FilePath:
    """Return the folder for a new corpus of a person's own.

    Raises BadInput for a name that is not allowed or already taken.
    """
    if own_corpus(name) is not None:
        raise BadInput(f"There is already a corpus “{name}”; choose another name.")
    return corpora_folder() / name


def own_corpus(name: str) -> Corpus | None:
    """Return a person's own corpus by name; None if there is none.

    Raises BadInput for a name that is not allowed or belongs to a shipped corpus, and StoreError
    for a damaged one.
    """
    if not SAFE_NAME.fullmatch(name):
        raise BadInput(
            f"“{shorten(name)}” cannot be a corpus's name; give one of small letters, digits "
            "and dashes, 40 at most, such as my-reports."
        )
    if name in shipped_corpora():
        raise BadInput(
            f"There is already a corpus “{name}”, which comes with Hopscope; choose another name."
        )
    folder = corpora_folder() / name
    return _open_stamped(folder) if (folder / META_FILE).is_file() else None


def remove_corpus(name: str) -> None:
    """Remove a corpus of a person's own.

    Raises
    ------
    BadInput
        If there is none of that name, or it ships with Hopscope.
    NotAllowed
        If it belongs to another person.
    StoreError
        If its files cannot be removed.
    """
    if name in shipped_corpora():
        raise BadInput(f"The corpus “{name}” comes with Hopscope and cannot be removed.")
    folder = corpora_folder() / name
    if not SAFE_NAME.fullmatch(name) or not folder.is_dir():
        raise BadInput(f"There is no corpus “{shorten(name)}” of your own.")
    check_may_change(CORPUS_OWNED_KIND, name)
    _open.cache_clear()  # Windows does not remove open files
    with lock_corpus(folder):
        try:
            remove_folder(folder, lambda: forget_owner(CORPUS_OWNED_KIND, name))
        except OSError as error:
            raise StoreError(
                f"The corpus in {folder} cannot be removed: {error.strerror or error}."
            ) from None


def _digest(files: Iterable[FilePath]) -> str:
    """Return the SHA-256 digest of files and of the reading version in hex."""
    digest = sha256(str(READING_VERSION).encode())
    for file in files:
        digest.update(sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _read_description(path: FilePath) -> ShippedCorpus:
    """Return the corpus that a `corpus.toml` describes.

    Raises BadInput that names the file and the wrong key.
    """
    try:
        row = read_toml(path)
        folder = path.parent
        if row["format"] not in FORM_READERS:
            raise BadInput(
                f"{folder.name}/{path.name} has format = "
                f"“{row['format']}”.{suggest_name(row['format'], FORM_READERS)}"
            )
        sets = row.get("questions", {})
        files = {
            name: folder / entry["file"] if "file" in entry else None
            for name, entry in sets.items()
        }
        fields = {key: row[key] for key in ("name", "title", "licence", "source", "format")}
        return ShippedCorpus(
            **fields,
            file=folder / row["file"],
            sets={name: entry["title"] for name, entry in sets.items()},
            files=files,
            examples=tuple(row.get("examples", ())),
            links=folder / row["links"] if "links" in row else None,
        )
    except KeyError as error:
        raise BadInput(f"{path.parent.name}/{path.name} lacks {error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, TypeError, AttributeError) as error:
        raise BadInput(f"{path.parent.name}/{path.name} cannot be read: {error}.") from None


@lru_cache(maxsize=64)
def _open(folder: FilePath, stamp: tuple[int, int]) -> Corpus:
    """Open the corpus in a folder. A rewritten corpus has another `stamp` and cache entry."""
    return Corpus.open(folder)


def _open_stamped(folder: FilePath) -> Corpus:
    """Open the corpus in a folder. The same object is returned until the corpus is rewritten."""
    try:
        stat = (folder / META_FILE).stat()
        return _open(folder, (stat.st_ino, stat.st_mtime_ns))
    except FileNotFoundError:
        raise StoreError(f"There is no corpus in {folder}.") from None

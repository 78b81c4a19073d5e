"""Opening of another tool's index.

It becomes a new corpus, or a graph of an existing corpus. The index is read in a separate process.
Its graph and vectors are stored in the corpus's folder, from which builds load them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np

from core.corpus.catalogue import new_folder, open_corpus, own_corpus, shipped_corpora
from core.corpus.corpus import CORPUS_OWNED_KIND, Corpus, write_corpus
from core.corpus.document import Document
from core.corpus.indexes.files import files_at_path
from core.corpus.indexes.index import IndexContent
from core.corpus.indexes.index_assembly import AssembledIndex, assemble_index
from core.corpus.indexes.tools import TOOLS, recognise_tool
from core.corpus.indexes.vectors import ItemVectors
from core.errors import BadInput, HopscopeError, RunCancelled, StoreError
from core.graph.building.text_graph import store_graph
from core.graph.store import Graph
from core.io import digests
from core.io.durable_files import write_whole
from core.io.durations import duration_text
from core.io.files import size_text
from core.runtime.subprocess_worker import (
    LIMIT_MEMORY,
    LIMIT_TIME,
    Worker,
    WorkerEndedError,
    allowed_memory,
    allowed_seconds,
)
from core.sharing import check_may_change, shared
from core.watch import NO_WATCH, Watch

OPENED_FOLDER = "opened"  # in a corpus's folder: the graphs of opened indexes, one for each tool
VECTORS_FOLDER = "vectors"  # in a graph's folder: vectors by kind of item
TEXTS_SUFFIX = "-texts"  # of the file with the texts that were encoded
SUMMARY_FILE = "opened.json"  # in a graph's folder: the summary of its index
# Limits of the reading process: address space, and processor time. The time grows with the size of
# the files from the least to the greatest number of seconds.
MAX_INDEX_MEMORY_BYTES = 1 << 32
MAX_INDEX_SECONDS = 600.0
MIN_INDEX_SECONDS = 30.0
INDEX_BYTES_PER_SECOND = 500_000


@dataclass(frozen=True)
class IndexSummary:
    """A summary of the content taken from an index.

    Parameters
    ----------
    tool : the key of the tool in `TOOLS`.
    form : the form of the tool's files, such as a version; empty if there is only one.
    counts : numbers of things taken, by a noun in the plural.
    left_out : numbers of things left out, by a phrase that names them.
    notes : sentences on what was guessed or skipped.
    corpus : the digest of the corpus when the index was opened; empty for a preview.
    documents : digests of the texts of the index's documents, by id; empty for a preview, and for
        an index that an earlier version opened.
    """

    tool: str
    form: str
    counts: dict[str, int]
    left_out: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    corpus: str = ""
    documents: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The tool and the form of its files."""
        return f"{TOOLS[self.tool].title}{f', {self.form}' if self.form else ''}"

    def words(self) -> str:
        """Return the tool and the numbers of things taken, in one line.

        >>> from core.corpus.indexes.opened_indexes import IndexSummary
        >>> IndexSummary("graphrag", "version 3", {"documents": 1, "chunks": 5, "reports": 0}).words()
        'Microsoft GraphRAG, version 3: 1 document, 5 chunks'
        """
        return f"{self.title}: {self.counts_text}"

    @property
    def counts_text(self) -> str:
        """The numbers of things taken, in words."""
        return ", ".join(counted_words(count, noun) for noun, count in self.counts.items() if count)

    def sentences(self) -> list[str]:
        """Return a sentence for each thing that was left out, guessed or skipped."""
        return [*(f"{name}: {count:,}." for name, count in self.left_out.items()), *self.notes]


def counted_words(count: int, noun: str) -> str:
    """Return a number with its noun.

    Parameters
    ----------
    count : the number.
    noun : the noun in the plural.

    Returns
    -------
    Words such as “2 entities”, with the noun in the singular for 1.
    """
    if count == 1:
        noun = f"{noun[:-3]}y" if noun.endswith("ies") else noun[:-1]
    return f"{count:,} {noun}"


def preview_index(path: str | Path, watch: Watch = NO_WATCH) -> IndexSummary:
    """Return a summary of the index at a path. Nothing is written.

    Parameters
    ----------
    path : a folder, zip or file.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    The tool, the numbers of items, and what is left out.

    Raises
    ------
    BadInput : the files are no index, or cannot be read.
    """
    return _read_and_assemble(Path(path), "index", watch)[1]


def open_index(
    path: str | Path, name: str, title: str = "", watch: Watch = NO_WATCH
) -> tuple[Corpus, IndexSummary]:
    """Open the index in a folder, zip or file as a corpus.

    Its documents become those of the new corpus, and its graph is stored for the build that
    `core.corpus.indexes.tools.tool_build` names. An existing corpus receives only the graph, and
    must have the same texts.

    Parameters
    ----------
    path : the folder, zip or file.
    name : name of the corpus.
    title : title of a new corpus.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    The corpus, and a summary of the index.

    Raises
    ------
    BadInput
        If the files are no index, the corpus has other texts, or it has a graph of that tool
        already.
    NotAllowed
        If the corpus belongs to another person.
    StoreError
        If it is damaged or cannot be written.
    """
    existing_corpus = corpus_to_extend(name)
    if existing_corpus is not None:
        return _add_index_graph(existing_corpus, Path(path), watch)
    folder = new_folder(name)
    assembled, summary = _read_and_assemble(Path(path), name, watch)
    watch.report("Writing the corpus", 1.0)
    corpus = write_corpus(
        folder,
        assembled.documents,
        title,
        source=f"opened from an index of {summary.title}",
        watch=watch,
    )
    summary = replace(summary, corpus=corpus.digest, documents=text_digests(corpus, corpus.ids))
    _store(corpus, assembled, summary)
    return corpus, summary


def corpus_to_extend(name: str) -> Corpus | None:
    """Return the corpus to which an index's graph can be added; None without one.

    Raises BadInput for a name that is not allowed, NotAllowed if the corpus belongs to another
    person, and StoreError if it is damaged.
    """
    if name in shipped_corpora() and not shared():
        return open_corpus(name)
    corpus = own_corpus(name)
    if corpus is not None:
        check_may_change(CORPUS_OWNED_KIND, name)
    return corpus


def _add_index_graph(
    corpus: Corpus, path: Path, watch: Watch = NO_WATCH
) -> tuple[Corpus, IndexSummary]:
    """Add the graph of an index to the corpus of its texts.

    Returns the corpus and a summary of the index.
    """
    assembled, summary = _read_and_assemble(path, corpus.name, watch, list(corpus))
    if opened_summary(corpus, summary.tool) is not None:
        raise BadInput(
            f"“{corpus.title}” has the graph of an index of {TOOLS[summary.tool].title} already. "
            "Open this one under another name, or remove those texts first."
        )
    documents = text_digests(corpus, [one.id for one in assembled.documents])
    summary = replace(summary, corpus=corpus.digest, documents=documents)
    _store(corpus, assembled, summary)
    return corpus, summary


def text_digests(corpus: Corpus, ids: Iterable[str]) -> dict[str, str]:
    """Return the digests of documents' texts.

    Parameters
    ----------
    corpus : the corpus.
    ids : ids of documents.

    Returns
    -------
    SHA-256 in hex by id; empty for a missing document.
    """
    digests_by_id = dict.fromkeys(ids, "")
    for id in digests_by_id:
        if id in corpus:
            digests_by_id[id] = sha256(corpus.document(id).text.encode()).hexdigest()
    return digests_by_id


def opened_summary(corpus: Corpus, tool: str) -> IndexSummary | None:
    """Return the summary of a tool's index that was opened for a corpus.

    Parameters
    ----------
    corpus : the corpus.
    tool : key of the tool.

    Returns
    -------
    The summary; None if no index of the tool was opened, or it cannot be read.
    """
    try:
        data = json.loads((corpus.folder / OPENED_FOLDER / tool / SUMMARY_FILE).read_text("utf-8"))
        return IndexSummary(
            data["tool"],
            data["form"],
            data["counts"],
            data["left_out"],
            tuple(data["notes"]),
            data["corpus"],
            data.get("documents", {}),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def opened_tools(corpus: Corpus) -> list[str]:
    """Return the tools whose index graphs a corpus has, last opened first."""
    files = {tool: corpus.folder / OPENED_FOLDER / tool / SUMMARY_FILE for tool in TOOLS}
    tools = [tool for tool, file in files.items() if file.is_file()]
    return sorted(tools, key=lambda tool: -files[tool].stat().st_mtime_ns)


def opened_graph(corpus: Corpus, tool: str) -> Graph:
    """Open the graph of a tool's index in a corpus.

    Parameters
    ----------
    corpus : the corpus.
    tool : key of the tool.

    Returns
    -------
    The graph.

    Raises
    ------
    StoreError : there is none, or it is damaged.
    """
    return Graph.open(corpus.folder / OPENED_FOLDER / tool)


def opened_vectors(corpus: Corpus, tool: str, kind: str) -> ItemVectors | None:
    """Return the vectors that a tool's index holds for its graph's items.

    Parameters
    ----------
    corpus : the corpus.
    tool : key of the tool.
    kind : nodes, relations, chunks or communities.

    Returns
    -------
    The vectors, memory-mapped; None if the index holds none, or they are damaged.
    """
    folder = corpus.folder / OPENED_FOLDER / tool / VECTORS_FOLDER
    matrix_file = folder / f"{kind}.npy"
    texts_file = folder / f"{kind}{TEXTS_SUFFIX}.npy"
    try:
        for file in (matrix_file, texts_file):
            digests.check_appended_digest(file)
        matrix = np.load(matrix_file, mmap_mode="r")
        texts = json.loads(np.load(texts_file).tobytes())
        return ItemVectors(tuple(texts), matrix)
    except (OSError, ValueError, EOFError, TypeError):
        return None


def _store(corpus: Corpus, assembled: AssembledIndex, summary: IndexSummary) -> None:
    """Store the graph, the vectors and the summary in the corpus's folder. Raises StoreError."""
    folder = corpus.folder / OPENED_FOLDER / summary.tool
    store_graph(assembled.graph, folder)
    try:
        (folder / VECTORS_FOLDER).mkdir(exist_ok=True)
        for kind, vectors in assembled.vectors.items():
            # the texts are saved as an array of JSON's bytes, so that both files carry a digest
            texts = np.frombuffer(json.dumps(vectors.texts).encode(), np.uint8)
            for suffix, array in (("", vectors.matrix), (TEXTS_SUFFIX, texts)):
                write_whole(folder / VECTORS_FOLDER / f"{kind}{suffix}.npy", partial(_save, array))
        text = json.dumps(asdict(summary), ensure_ascii=False)
        write_whole(folder / SUMMARY_FILE, lambda temporary: temporary.write_text(text, "utf-8"))
    except OSError as error:
        raise StoreError(
            f"The index cannot be stored in {folder}: {error.strerror or error}."
        ) from None


def _save(array: np.ndarray, file: Path) -> None:
    """Write an array with its digest. Raises OSError."""
    with open(file, "wb") as stream:
        np.save(stream, array)
    digests.append_digest(file)


def _read_and_assemble(
    path: Path, name: str, watch: Watch = NO_WATCH, existing: Sequence[Document] | None = None
) -> tuple[AssembledIndex, IndexSummary]:
    """Read an index in another process, assemble its graph, and summarise it.

    The process is separate because the files may be malicious or damaged. `name` is that of the
    graph. If `existing` documents are given, the index's texts are matched to them.
    """
    watch.report("Reading the index")
    size = sum(file.size for file in files_at_path(path)[0].values())
    needed_seconds = MIN_INDEX_SECONDS + size / INDEX_BYTES_PER_SECOND
    seconds = allowed_seconds(min(MAX_INDEX_SECONDS, needed_seconds))
    with Worker(MAX_INDEX_MEMORY_BYTES) as worker:
        try:
            tool, index, notes = worker.run(
                _read_in_worker, path.absolute(), watch=watch, seconds=seconds
            )
        except RunCancelled:
            raise
        except WorkerEndedError as error:
            memory = size_text(allowed_memory(MAX_INDEX_MEMORY_BYTES))
            reasons = {
                LIMIT_MEMORY: f"takes more than {memory} of memory",
                LIMIT_TIME: f"takes longer than {duration_text(seconds)}",
            }
            raise BadInput(
                f"Reading the index in {path} {reasons.get(error.limit, 'breaks down')}; it may be "
                "damaged, or larger than can be read here."
            ) from None
        except HopscopeError as error:
            raise BadInput(str(error)) from None
    assembled = assemble_index(index, tool, name, existing)
    graph = assembled.graph
    communities = graph.columns.communities
    counts = {
        "documents": len(assembled.documents),
        "chunks": len(graph.columns.chunks or ()),
        "entities": graph.n_nodes,
        "relations": graph.n_edges,
        "communities": len(communities or ()),
        "reports": sum(map(bool, communities.texts("report"))) if communities is not None else 0,
        "vectors": sum(vectors.count for vectors in assembled.vectors.values()),
    }
    all_notes = (*assembled.notes, *notes)
    return assembled, IndexSummary(tool, index.form, counts, dict(assembled.left_out), all_notes)


def _read_in_worker(path: Path, watch: Watch = NO_WATCH) -> tuple[str, IndexContent, list[str]]:
    """Recognise and read an index; runs in the other process.

    Returns the key of the tool, the content, and sentences on files that were left out.
    """
    files, notes = files_at_path(path)
    tool, index_files = recognise_tool(files, path.name)
    return tool, TOOLS[tool].read_files(index_files), notes

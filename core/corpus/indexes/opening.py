"""An index of another tool made a corpus, or a graph of one that has its texts: read in a process of its own, its graph stored beside
the documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np

from core.corpus.catalogue import new_folder, open_corpus, own_corpus, shipped
from core.corpus.corpus import OWNED_AS, Corpus, write
from core.corpus.document import Document
from core.corpus.indexes.assembling import Opened, assembled
from core.corpus.indexes.files import files_of
from core.corpus.indexes.index import Index
from core.corpus.indexes.tools import TOOLS, recognised
from core.corpus.indexes.vectors import ItemVectors
from core.errors import BadInput, Cancelled, HopscopeError, StoreError
from core.graph.building.text_graph import store
from core.graph.store import Graph
from core.io import digests
from core.io.durable import write_whole
from core.io.durations import span
from core.io.files import size_text
from core.runtime.subprocess_worker import (
    MEMORY,
    TIME,
    Ended,
    Worker,
    allowed_memory,
    allowed_seconds,
)
from core.sharing import check_may_change, shared
from core.watch import NO_WATCH, Watch

FOLDER = (
    "opened"  # in the folder of a corpus: the graphs of indexes that were opened, one for each tool
)
# beside it: its vectors by what they are of, and the texts that were encoded
VECTORS, OF_TEXTS = ("vectors", "-texts")
ABOUT = "opened.json"  # beside such a graph: what was taken, and of which documents
MOST_MEMORY, MOST_SECONDS = 1 << 32, 600.0  # addresses and processor time of the process that reads
LEAST_SECONDS, BYTES_A_SECOND = 30.0, 500_000  # the time of a small index, and more by its size


@dataclass(frozen=True)
class Taken:
    """What of an index is taken: the tool, its `form`, `counts` by what is counted, `left_out` likewise, and sentences on what was
    guessed or passed over. `corpus` is the digest of the corpus when it was opened, empty before, and `documents` the digests of the texts
    of the documents that it is of, by their ids."""

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
        """What is taken, in one line.

        >>> from core.corpus.indexes.opening import Taken
        >>> Taken("graphrag", "version 3", {"documents": 1, "chunks": 5, "reports": 0}).words()
        'Microsoft GraphRAG, version 3: 1 document, 5 chunks'
        """
        return f"{self.title}: {self.counted}"

    @property
    def counted(self) -> str:
        """How many there are of what is taken."""
        return ", ".join(counted_words(count, what) for what, count in self.counts.items() if count)

    def sentences(self) -> list[str]:
        """What is left out, and what was guessed or passed over, a sentence each."""
        return [*(f"{what}: {count:,}." for what, count in self.left_out.items()), *self.notes]


def counted_words(count: int, what: str) -> str:
    """A number of things that are named in the plural."""
    return f"{count:,} {(what[:-3] + 'y' if what.endswith('ies') else what[:-1]) if count == 1 else what}"


def look(path: str | Path, watch: Watch = NO_WATCH) -> Taken:
    """What of the index in a folder, zip or file would be taken; nothing is written. Raises BadInput."""
    return _read(Path(path), "index", watch)[1]


def open_index(
    path: str | Path, name: str, title: str = "", watch: Watch = NO_WATCH
) -> tuple[Corpus, Taken]:
    """The corpus of that name made of the index in a folder, zip or file, and what was taken: its documents are those of the corpus, and
    its graph lies beside them for the build `opened-TOOL`. Where there is a corpus of that name with the same texts it gets the graph.
    Raises BadInput for files that are no index, for other texts than those of the corpus, and where it has a graph of that tool already;
    StoreError, NotAllowed."""
    beside = known_corpus(name)
    if beside is not None:
        return _open_beside(beside, Path(path), watch)
    folder = new_folder(name)
    opened, taken = _read(Path(path), name, watch)
    watch.report("Writing the corpus", 1.0)
    corpus = write(
        folder,
        opened.documents,
        title,
        source=f"opened from an index of {taken.title}",
        watch=watch,
    )
    taken = replace(taken, corpus=corpus.digest, documents=text_digests(corpus, corpus.ids))
    _keep(corpus, opened, taken)
    return corpus, taken


def known_corpus(name: str) -> Corpus | None:
    """The corpus of a name to which the graph of an index can be added; None where there is none. Raises BadInput for a name that cannot
    be, NotAllowed where it is another's, StoreError."""
    if name in shipped() and not shared():
        return open_corpus(name)
    corpus = own_corpus(name)
    if corpus is not None:
        check_may_change(OWNED_AS, name)
    return corpus


def _open_beside(corpus: Corpus, path: Path, watch: Watch = NO_WATCH) -> tuple[Corpus, Taken]:
    """The corpus with the graph of an index of its texts, and what was taken."""
    opened, taken = _read(path, corpus.name, watch, list(corpus))
    if opened_of(corpus, taken.tool) is not None:
        raise BadInput(
            f"“{corpus.title}” has the graph of an index of {TOOLS[taken.tool].title} already. Open this one under another name, or remove "
            "those texts first."
        )
    taken = replace(
        taken,
        corpus=corpus.digest,
        documents=text_digests(corpus, [one.id for one in opened.documents]),
    )
    _keep(corpus, opened, taken)
    return corpus, taken


def text_digests(corpus: Corpus, ids: Iterable[str]) -> dict[str, str]:
    """The digests of the texts of some documents by their ids; of one that the corpus does not have an empty one."""
    text = lambda id: corpus.document(id).text if id in corpus else None
    return {
        id: "" if (found := text(id)) is None else sha256(found.encode()).hexdigest() for id in ids
    }


def opened_of(corpus: Corpus, tool: str) -> Taken | None:
    """What was taken of the index of a tool that a corpus was opened from; None where it was not."""
    try:
        known = json.loads((corpus.folder / FOLDER / tool / ABOUT).read_text("utf-8"))
        counts, more = (
            known["counts"],
            {"notes": tuple(known["notes"]), "documents": known.get("documents", {})},
        )
        return Taken(
            known["tool"], known["form"], counts, known["left_out"], corpus=known["corpus"], **more
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def opened_tools(corpus: Corpus) -> list[str]:
    """The tools of whose indexes a corpus has graphs, the one that was opened last first."""
    files = {tool: corpus.folder / FOLDER / tool / ABOUT for tool in TOOLS}
    there = [tool for tool, file in files.items() if file.is_file()]
    return sorted(there, key=lambda tool: -files[tool].stat().st_mtime_ns)


def opened_graph(corpus: Corpus, tool: str) -> Graph:
    """The graph of the index of a tool that a corpus was opened from. Raises StoreError where there is none or it is damaged."""
    return Graph.open(corpus.folder / FOLDER / tool)


def opened_vectors(corpus: Corpus, tool: str, of: str) -> ItemVectors | None:
    """The vectors of the nodes, relations, chunks or communities (`of`) that the index of a tool came with; None where it has none, or they
    are damaged."""
    files = [corpus.folder / FOLDER / tool / VECTORS / f"{of}{end}.npy" for end in ("", OF_TEXTS)]
    try:
        for file in files:
            digests.check_sealed(file)
        matrix, texts = np.load(files[0], mmap_mode="r"), json.loads(np.load(files[1]).tobytes())
        return ItemVectors(tuple(texts), matrix)
    except (OSError, ValueError, EOFError, TypeError):
        return None


def _keep(corpus: Corpus, opened: Opened, taken: Taken) -> None:
    """Store the graph, the vectors and what was taken beside the documents. Raises StoreError."""
    folder = corpus.folder / FOLDER / taken.tool
    store(opened.graph, folder)
    known = {
        field: getattr(taken, field)
        for field in ("tool", "form", "counts", "left_out", "notes", "corpus", "documents")
    }
    try:
        (folder / VECTORS).mkdir(exist_ok=True)
        for of, found in opened.vectors.items():
            texts = np.frombuffer(json.dumps(found.texts).encode(), np.uint8)
            for end, array in (("", found.matrix), (OF_TEXTS, texts)):
                write_whole(folder / VECTORS / f"{of}{end}.npy", partial(_sealed, array))
        write_whole(
            folder / ABOUT,
            lambda temporary: temporary.write_text(json.dumps(known, ensure_ascii=False), "utf-8"),
        )
    except OSError as error:
        raise StoreError(
            f"The index cannot be stored in {folder}: {error.strerror or error}."
        ) from None


def _sealed(array: np.ndarray, file: Path) -> None:
    """Write an array with its digest. Raises OSError."""
    with open(file, "wb") as stream:
        np.save(stream, array)
    digests.seal(file)


def _read(
    path: Path, name: str, watch: Watch = NO_WATCH, known: Sequence[Document] | None = None
) -> tuple[Opened, Taken]:
    """The index with what is taken of it, read in another process, as its files may be anything; of `known` documents where some are
    given."""
    watch.report("Reading the index")
    size = sum(file.size for file in files_of(path)[0].values())
    seconds = allowed_seconds(min(MOST_SECONDS, LEAST_SECONDS + size / BYTES_A_SECOND))
    with Worker(MOST_MEMORY) as worker:
        try:
            tool, index, notes = worker.do(
                _in_worker, path.absolute(), watch=watch, seconds=seconds
            )
        except Cancelled:
            raise
        except Ended as error:
            why = {
                MEMORY: f"takes more than {size_text(allowed_memory(MOST_MEMORY))} of memory",
                TIME: f"takes longer than {span(seconds)}",
            }.get(error.limit, "breaks down")
            raise BadInput(
                f"Reading the index in {path} {why}; it may be damaged, or larger than can be read here."
            ) from None
        except HopscopeError as error:
            raise BadInput(str(error)) from None
    opened = assembled(index, tool, name, known)
    graph = opened.graph
    communities = graph.columns.communities
    counts = {
        "documents": len(opened.documents),
        "chunks": len(graph.columns.chunks or ()),
        "entities": graph.n_nodes,
        "relations": graph.n_edges,
        "communities": len(communities or ()),
        "reports": sum(map(bool, communities.texts("report"))) if communities is not None else 0,
    }
    counts["vectors"] = sum(found.count for found in opened.vectors.values())
    return opened, Taken(tool, index.form, counts, dict(opened.left_out), (*opened.notes, *notes))


def _in_worker(path: Path, watch: Watch = NO_WATCH) -> tuple[str, Index, list[str]]:
    """In the other process: which tool's index lies there, and what its reader finds."""
    files, notes = files_of(path)
    tool, within = recognised(files, path.name)
    return tool, TOOLS[tool].read(within), notes

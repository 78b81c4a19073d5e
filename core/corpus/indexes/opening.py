"""An index of another tool made a corpus: read in a process of its own, its documents written, its graph stored beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from core.corpus.catalogue import new_folder
from core.corpus.corpus import Corpus, write
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
from core.io.files import size_text
from core.runtime.meter import silent
from core.runtime.subprocess_worker import MEMORY, TIME, Ended, Worker

FOLDER = "opened"  # in the folder of a corpus: the graphs of indexes that were opened, one for each tool
VECTORS, OF_TEXTS = "vectors", "-texts"  # beside it: its vectors by what they are of, and the texts that were encoded
ABOUT = "opened.json"  # beside such a graph: what was taken, and of which documents
MOST_MEMORY, MOST_SECONDS = 1 << 32, 600.0  # addresses and processor time of the process that reads
Tell = Callable[[str, float | None], None]


@dataclass(frozen=True)
class Taken:
    """What of an index is taken: the tool, its `form`, `counts` by what is counted, `left_out` likewise, and sentences on what was
    guessed or passed over. `corpus` is the digest of the documents that it belongs to, empty before they are written."""

    tool: str
    form: str
    counts: dict[str, int]
    left_out: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    corpus: str = ""

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
        return ", ".join(_counted(count, what) for what, count in self.counts.items() if count)

    def sentences(self) -> list[str]:
        """What is left out, and what was guessed or passed over, a sentence each."""
        return [*(f"{what}: {count:,}." for what, count in self.left_out.items()), *self.notes]


def _counted(count: int, what: str) -> str:
    """A number of things that are named in the plural."""
    return f"{count:,} {(what[:-3] + 'y' if what.endswith('ies') else what[:-1]) if count == 1 else what}"


def look(path: str | Path, progress: Tell = silent, check: Callable[[], None] = lambda: None) -> Taken:
    """What of the index in a folder, zip or file would be taken; nothing is written. Raises BadInput."""
    return _read(Path(path), "index", progress, check)[1]


def open_index(
    path: str | Path, name: str, title: str = "", progress: Tell = silent, check: Callable[[], None] = lambda: None
) -> tuple[Corpus, Taken]:
    """The corpus of that name made of the index in a folder, zip or file, and what was taken: its documents are those of the corpus, and
    its graph lies beside them for the build `opened-TOOL`. Raises BadInput for a name that is taken or files that are no index,
    StoreError."""
    folder = new_folder(name)
    opened, taken = _read(Path(path), name, progress, check)
    progress("Writing the corpus", 1.0)
    corpus = write(folder, opened.documents, title, source=f"opened from an index of {taken.title}", check=check)
    taken = replace(taken, corpus=corpus.digest)
    _keep(corpus, opened, taken)
    return corpus, taken


def opened_of(corpus: Corpus, tool: str) -> Taken | None:
    """What was taken of the index of a tool that a corpus was opened from; None where it was not."""
    try:
        known = json.loads((corpus.folder / FOLDER / tool / ABOUT).read_text("utf-8"))
        return Taken(known["tool"], known["form"], known["counts"], known["left_out"], tuple(known["notes"]), known["corpus"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


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
    known = {field: getattr(taken, field) for field in ("tool", "form", "counts", "left_out", "notes", "corpus")}
    try:
        (folder / VECTORS).mkdir(exist_ok=True)
        for of, found in opened.vectors.items():
            texts = np.frombuffer(json.dumps(found.texts).encode(), np.uint8)
            for end, array in (("", found.matrix), (OF_TEXTS, texts)):
                write_whole(folder / VECTORS / f"{of}{end}.npy", partial(_sealed, array))
        write_whole(folder / ABOUT, lambda temporary: temporary.write_text(json.dumps(known, ensure_ascii=False), "utf-8"))
    except OSError as error:
        raise StoreError(f"The index cannot be stored in {folder}: {error.strerror or error}.") from None


def _sealed(array: np.ndarray, file: Path) -> None:
    """Write an array with its digest. Raises OSError."""
    with open(file, "wb") as stream:
        np.save(stream, array)
    digests.seal(file)


def _read(path: Path, name: str, progress: Tell, check: Callable[[], None]) -> tuple[Opened, Taken]:
    """The index with what is taken of it, read in another process, as its files may be anything."""
    progress("Reading the index", None)
    with Worker(MOST_MEMORY) as worker:
        try:
            tool, index, notes = worker.do(_in_worker, path.absolute(), progress=progress, check=check, seconds=MOST_SECONDS)
        except Cancelled:
            raise
        except Ended as error:
            why = {MEMORY: f"takes more than {size_text(MOST_MEMORY)} of memory", TIME: "takes too long"}.get(error.limit, "breaks down")
            raise BadInput(f"Reading the index in {path} {why}; it may be damaged, or larger than can be read here.") from None
        except HopscopeError as error:
            raise BadInput(str(error)) from None
    opened = assembled(index, tool, name)
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


def _in_worker(path: Path, progress: Any, check: Any) -> tuple[str, Index, list[str]]:
    """In the other process: which tool's index lies there, and what its reader finds."""
    files, notes = files_of(path)
    tool, within = recognised(files, path.name)
    return tool, TOOLS[tool].read(within), notes

"""Changed bytes in files of a user folder: no process dies, and no damage goes unnoticed.

All other things work as before. The result must equal the earlier one, or an error reports the
damage, or the file is made again. Files that a user edits (TOML) are excluded from this comparison:
a changed letter there is a changed setting.
"""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, redirect_stdout
from pathlib import Path

from tests.benchmarks import fault_work
from tests.benchmarks.fault_kills import Met, home

KINDS = ("graph", "bulk", "corpus", "build", "index", "evaluation", "cases", "settings")
PATIENCE = 60.0  # Seconds until a read counts as hanging.


def flips(folder: Path, count: int, seed: int = 0, kinds: tuple[str, ...] = KINDS) -> Iterator[Met]:
    """Results of `count` changed bytes for each kind of thing, spread over its files."""
    fill_home(folder)
    # A first look at a copy loads here what each of the processes would else load anew. A process
    # would wait forever for the threads of the library that searches vectors.
    copied = shutil.copytree(folder, folder.with_name("copy"))
    with home(copied):
        for kind in KINDS:
            if kind != "index":
                LOOKS[kind](copied)
    shutil.rmtree(copied)
    lot = random.Random(seed)
    before = {kind: inspect_in_process(folder, kind) for kind in KINDS}
    assert not [what for what in before.values() if what.startswith(("said", "died"))], before
    for kind in kinds:
        met, found, same = Met(f"bytes changed: {kind}"), 0, 0
        files = files_of(folder, kind)
        for number in range(count):
            file = files[number % len(files)]
            whole = file.read_bytes()
            place = lot.randrange(len(whole))
            file.write_bytes(
                whole[:place] + bytes([whole[place] ^ (1 << lot.randrange(8))]) + whole[place + 1 :]
            )
            try:
                where = f"{kind}: {file.relative_to(folder)}, byte {place:,} of {len(whole):,}"
                mine = inspect_in_process(folder, kind)
                found, same = found + mine.startswith("said"), same + (mine == before[kind])
                if mine.startswith("died") or not (
                    mine.startswith("said") or mine == before[kind] or kind == "settings"
                ):
                    met.corrupt.append(
                        f"{where}: {mine if mine.startswith('died') else 'something else came out in silence'}"
                    )
                other = KINDS[(KINDS.index(kind) + 1 + number) % len(KINDS)]
                if (
                    other not in (kind, *REQUIRED_KINDS.get(kind, ()))
                    and inspect_in_process(folder, other) != before[other]
                ):
                    met.lost.append(f"{where}: {other} does not work any more")
            finally:
                file.write_bytes(whole)
            met.times += 1
        met.note = f"{found} said or made again, {same} harmless, {len(files)} files"
        yield met


# Kinds that cannot be read without another kind.
REQUIRED_KINDS = {"corpus": ("build",), "graph": ("index",)}


def fill_home(folder: Path) -> None:
    """Fill a user folder with one thing of each kind."""
    from core.cases import comparison_of_case, save
    from core.cases.examples import demo
    from core.graph.building.build import build
    from core.graph.readers.triple_file import TripleFile
    from core.graph.store import Graph
    from core.indexes import vectors
    from core.methods.catalogue import save_method as save_line
    from core.operators.text import parse_line
    from tests.films import Bag

    fault_work.inputs("text", folder)
    fault_work.inputs("index", folder)
    with home(folder):
        lines = (f"node {n % 97}\tr{n % 7}\tnode {n * 31 % 89}\n" for n in range(2000))
        (folder / "triples.tsv").write_text("".join(lines))
        build(TripleFile(folder / "triples.tsv", memory=8 << 20), folder / "bulk", "bulk")
        with redirect_stdout(io.StringIO()):
            for kind in ("text", "evaluate"):
                list(fault_work.WORK[kind](folder, 1))
        vectors.build_vectors(Graph.open(folder / "graph"), Bag(), "nodes")
        for note in ("first", "second"):
            save(comparison_of_case(demo()[0].id), notes=note, tags=("kept",))
        save_line("Mine", parse_line(fault_work.LINES[0]))
        # Other connections may be open: move the write-ahead log into the file itself.
        for name in ("evaluations.sqlite", "cases.sqlite"):
            with closing(sqlite3.connect(folder / name)) as database:
                assert database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
        (folder / "retrievers.toml").write_text('[mine]\nurl = "http://127.0.0.1:9/"\n')


def files_of(folder: Path, kind: str) -> list[Path]:
    """The files of a kind of thing, without locks, which are empty."""
    places = {
        **{name: (folder / name).glob("graph.json") for name in ("graph", "bulk")},
        "corpus": (folder / "corpora" / "told").glob("corpus.json"),
        "build": (folder / "corpora" / "told" / "graphs").glob("*/*.json"),
        "index": (folder / "graph" / "indexes").rglob("*"),
        "evaluation": folder.glob("evaluations.sqlite"),
        "cases": folder.glob("cases.sqlite"),
        "settings": folder.glob("*.toml"),
    }
    data = {
        **{name: (folder / name).glob("data-*/**/*") for name in ("graph", "bulk")},
        "corpus": (folder / "corpora" / "told").glob("data-*/*"),
        "build": (folder / "corpora" / "told" / "graphs").glob("*/data-*/**/*"),
    }
    files = [*places[kind], *data.get(kind, ())]
    return sorted(
        file for file in files if file.is_file() and file.suffix != ".lock" and file.stat().st_size
    )


def inspect_in_process(folder: Path, kind: str) -> str:
    """Result of a separate process that opens a thing.

    It is the digest of its contents, `said` with an error message, or `died` with a reason.
    """
    from_child, to_parent = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=_look, args=(folder, kind, to_parent), daemon=True
    )
    child.start()
    to_parent.close()
    try:
        return str(from_child.recv()) if from_child.poll(PATIENCE) else "died: it hangs"
    except EOFError:
        child.join()
        return f"died with {child.exitcode}"
    finally:
        child.kill()
        child.join()


def _look(folder: Path, kind: str, to_parent) -> None:
    from core.errors import HopscopeError

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with home(folder):
        try:
            said = hashlib.sha256(repr(LOOKS[kind](folder)).encode()).hexdigest()
        except HopscopeError as error:
            said = f"said: {error}"
        except Exception as error:
            said = f"died of {type(error).__name__}: {error}"
    to_parent.send(said)


def _graph(graph) -> object:
    import numpy as np

    from core.graph.algorithms.neighbourhood import nearest_nodes

    every = np.arange(graph.n_nodes)
    steps = graph.steps_from(every)
    near = nearest_nodes(graph, [0], 3)
    names = graph.names(every)
    found = [graph.nodes_named(name) for name in names[:20]]
    arrays = (
        *graph.adjacency(),
        steps.edges,
        steps.relations,
        *near,
        *graph.triples(np.arange(graph.n_edges)),
        graph.degrees(every),
    )
    tables = [table.digest for table in graph.columns.tables().values()]
    return (
        [one.tolist() for one in arrays],
        names,
        found,
        graph.relation_names,
        graph.direction,
        tables,
    )


def _stored(name: str) -> Callable[[Path], object]:
    from core.graph.store import Graph

    return lambda folder: _graph(Graph.open(folder / name))


def _corpus(folder: Path) -> object:
    from core.corpus import Corpus

    corpus = Corpus.open(folder / "corpora" / "told")
    return list(corpus), corpus.links, corpus.title, corpus.digest, corpus.sets


def _build(folder: Path) -> object:
    from core.builds import open_graph
    from core.corpus import Corpus

    return _graph(open_graph(Corpus.open(folder / "corpora" / "told"), fault_work.EXTRACT))


def _index(folder: Path) -> object:
    import numpy as np

    from core.errors import StoreError
    from core.graph.store import Graph
    from core.indexes import vectors
    from tests.films import Bag

    graph = Graph.open(folder / "graph")
    place = vectors.vector_folder(graph, Bag(), "nodes")
    blocks = vectors.VectorBlocks(graph, "nodes", place)
    read = [blocks.read(number).tolist() for number in range(len(blocks))]
    found = vectors.open_vectors(place)
    if found is None:
        raise StoreError("The vectors are made searchable again from their blocks.")
    list(vectors.vector_blocks.EarlierVectors.open_earlier(place.parent / "other").sources)
    return read, found.vectors_of(np.arange(len(found))).tolist(), len(found)


def _evaluation(folder: Path) -> object:
    from core.evaluation.runs.store import Store, evaluations_file

    store = Store(evaluations_file())
    runs = store.runs()
    return [(run.id, run.spec, run.status, fault_work.outcomes(store, run.id)) for run in runs]


def _cases(folder: Path) -> object:
    from core.cases import cases, comparison_of_case

    return [(case, comparison_of_case(case.id)) for case in cases() if not case.example]


def _settings(folder: Path) -> object:
    from core.methods.catalogue import catalogue, own_file_faults
    from core.models.declarations import merged_declarations
    from core.retrievers.declarations import declaration_faults as not_read
    from core.retrievers.declarations import declared_retrievers

    return (
        sorted((key, repr(one.line)) for key, one in catalogue().items() if key.startswith("own")),
        own_file_faults(),
        merged_declarations(),
        declared_retrievers(),
        not_read(),
    )


LOOKS: dict[str, Callable[[Path], object]] = {
    **{name: lambda folder, name=name: _stored(name)(folder) for name in ("graph", "bulk")},
    **{
        "corpus": _corpus,
        "build": _build,
        "index": _index,
        "evaluation": _evaluation,
        "cases": _cases,
        "settings": _settings,
    },
}

"""Large document collections: build stages, first question, query rate, and a change.

    python -m tests.benchmarks documents --documents 10000,100000 [--builds chunks ...]
        [--made vectors facts] [--folder DIR] [--json FILE] [--workers N] [--cluster ADDRESS]
        [--unindexed]

Each step runs in a separate process, on a corpus made of shipped sentences (`made_documents`). A
row has wall-clock seconds, processor seconds including child processes, peak memory including
mapped files, and added disk space. Retrieval is that of each method that needs no language model,
with all operators but the answer.

`--made vectors` replaces the encoder by random vectors per word, and `--made facts` replaces the
parser by patterns for names. Both serve to measure everything else, since encoder and parser take
almost all of the time. `--folder` continues with existing files. `--workers` and `--cluster` build
on Ray processes, like those of `corpus build`; processor time is then that of all local processes,
and memory that of this process. `--unindexed` does not encode what is built.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from zlib import crc32

import numpy as np
import psutil

from core.watch import NO_WATCH, Watch

# The builds, and the methods without a language model that run on them.
ROWS = {
    "chunks": ("vanilla-rag", "bm25-passages"),
    "kg-noun-phrases": ("g-retriever", "dalk"),
    "kg-synonyms-noun-phrases": ("hipporag", "hipporag-2"),
    "tkg-noun-phrases": ("vgraphrag", "lgraphrag", "fastgraphrag"),
    "rkg-noun-phrases": ("l-lightrag", "g-lightrag", "h-lightrag"),
    "tree-noun-phrases": ("raptor",),
    "passage-noun-phrases": ("kgp",),
    "links-nearest": (
        "vector-search",
        "bm25",
        "hipporag-2-corpus-graph",
    ),  # The other methods read documents by a language model.
}
CHANGED_DOCUMENTS = 5  # Documents that are added, and later removed.
SIZE, WORDS = 384, 1 << 14  # Synthetic vectors: their dimension, and the number of distinct words.
# Pattern of a name for synthetic facts.
NAMED = re.compile(r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)*|\b[a-z]{5,} [a-z]{6,}\b")
MADE = ("vectors", "facts")


@dataclass(frozen=True)
class Cost:
    """Cost of a stage: wall-clock and processor seconds, bytes of peak memory and disk, a note."""

    documents: int
    step: str
    stage: str
    seconds: float
    processor: float
    memory: int
    disk: int
    note: str = ""

    def __str__(self) -> str:
        sizes = f"{self.memory / 2**20:8,.0f} MB  {self.disk / 2**20:8,.0f} MB"
        return (
            f"{self.documents:9,}  {self.step:26} {self.stage:34} {self.seconds:9.2f} s "
            f"{self.processor:9.2f} s  {sizes}  {self.note}"
        )


class MadeEncoder:
    """An encoder whose unit vectors are sums of random word vectors.

    Texts with common words are therefore similar.
    """

    max_tokens = 256

    def __init__(self) -> None:
        self._words = np.random.default_rng(11).standard_normal((WORDS, SIZE)).astype(np.float32)

    def encode(self, texts: Sequence[str], watch=NO_WATCH) -> np.ndarray:
        """Encode texts as float32 [n, SIZE]."""
        found = np.empty((len(texts), SIZE), np.float32)
        for row, text in enumerate(texts):
            found[row] = self._words[
                [crc32(word.encode()) % WORDS for word in text.lower().split()[:180]] or [0]
            ].sum(axis=0)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)


def models(made: Sequence[str]):
    """The registry, with synthetic vectors if requested."""
    from core.models.registry import Registry

    encoder = MadeEncoder()

    class SyntheticVectorRegistry(Registry):
        def encoder(self, name="encoder"):
            return encoder

        def signature(self, name=None):
            return "made vectors" if name in (None, "encoder") else super().signature(name)

    return SyntheticVectorRegistry() if "vectors" in made else Registry()


def requested_workers(options):
    """The requested workers, or None for this process alone.

    The workers use synthetic vectors if these are requested.
    """
    from core.commands.worker_options import workers_of
    from core.runtime.cluster import Workers

    class MadeWorkers(Workers):
        def run_each(self, work, items, watch):
            return super().run_each(partial(_with_models, options.made, work), items, watch)

    asked = workers_of(options)
    return asked if asked is None else MadeWorkers(asked.count, asked.address)


def _with_models(made: Sequence[str], work: Callable, item):
    """Run an item of work in a worker with the models of the benchmark."""
    from core.indexes import vector_blocks

    vector_blocks._worker_models = cache(partial(models, made))
    return work(item)


def made_facts(text: str):
    """Facts of a text by patterns: capitalised names and pairs of long words.

    Names of a sentence are joined as the parser joins them.
    """
    from core.builds.extract.mentions import APPEARS_WITH, pair_names
    from core.builds.facts import ChunkEntity, ChunkRelation, Facts
    from core.corpus.sentences import sentence_spans

    entities: dict[str, ChunkEntity] = {}
    relations: dict[tuple[str, str], ChunkRelation] = {}
    for start, end in sentence_spans(text):
        said = text[start:end]
        named = list(dict.fromkeys(NAMED.findall(said)))
        for name in named:
            entities.setdefault(name.casefold(), ChunkEntity(name, "thing", said, 1))
        for a, b in pair_names([name.casefold() for name in named]):
            relations.setdefault(
                (a, b),
                ChunkRelation(entities[a].name, entities[b].name, APPEARS_WITH, said, "", 1.0),
            )
    return Facts(tuple(entities.values()), tuple(relations.values()))


class StageMeter:
    """Measures consecutive stages of this process."""

    def __init__(self, documents: int, step: str):
        self.documents, self.step, self.costs = documents, step, list[Cost]()

    @contextmanager
    def stage(self, name: str, note: str = "", folder: Path | None = None) -> Iterator[dict]:
        """Measure the block; the caller may set `note` in the yielded dict."""
        from core.io.home import home_folder

        told, folder = {"note": note}, folder or home_folder()
        _forget_peak()
        clock, processor, before = time.perf_counter(), _processor(), _on_disk(folder)
        yield told
        spent = time.perf_counter() - clock, _processor() - processor
        self.costs.append(
            Cost(
                self.documents,
                self.step,
                name,
                *spent,
                _peak(),
                _on_disk(folder) - before,
                told["note"],
            )
        )

    @contextmanager
    def operators(self, line, before: str = "") -> Iterator[Watch]:
        """Progress callback of a build that measures a stage for each operator of its line.

        A stage begins when the build reports its operator.
        """
        titles, running = {operator.title.capitalize() for operator in line}, ExitStack()

        def tell(text: str, share: float | None) -> None:
            if text in titles and share is not None:
                running.close()
                running.enter_context(self.stage(f"{before}{text}"))

        with running:
            yield Watch(report=tell)


def _processor() -> float:
    """Processor seconds of this process, of its ended children, and of its running ones."""
    spent = sum(os.times()[:4])
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            spent += sum(child.cpu_times()[:2])
    return spent


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    line = next(
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM")
    )
    return int(line.split()[1]) << 10


def _on_disk(folder: Path) -> int:
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file())


def corpus(options) -> list[Cost]:
    """Write the corpus."""
    from tests.benchmarks.made_documents import made_corpus

    stages = StageMeter(options.documents, "corpus")
    with stages.stage("made and written") as told:
        made = made_corpus(options.documents)
        told["note"] = f"{len(made):,} documents"
    if "facts" in options.made:
        _save_facts(made)
    return stages.costs


def _save_facts(documents: Iterable) -> None:
    """Save synthetic facts of documents as if the parser had extracted them."""
    from core.builds.extract.noun_phrases import PARSER_SIGNATURE, NounPhrases
    from core.builds.fact_store import FactStore, fact_key
    from core.corpus.chunks import chunk_by_tokens

    saved, extractor = FactStore(), NounPhrases()
    texts, signature = (
        chunk_by_tokens(documents, 240, 24).texts("text"),
        PARSER_SIGNATURE,
    )
    for first in range(0, len(texts), 2000):
        saved.save(
            {
                fact_key(repr(extractor), signature, text): made_facts(text)
                for text in texts[first : first + 2000]
            }
        )


def built(options) -> list[Cost]:
    """Build a graph and return one row per operator."""
    from core.builds import find_build, run_build
    from tests.benchmarks.made_documents import made_corpus

    one, stages = (
        find_build(options.step[1]),
        StageMeter(options.documents, f"build {options.step[1]}"),
    )
    made, workers = made_corpus(options.documents), requested_workers(options)
    with workers.start_ray() if workers else nullcontext():
        with stages.stage("in all") as told, stages.operators(one.line) as watch:
            graph = run_build(
                made,
                one,
                models(options.made),
                watch,
                workers=workers,
                indexed=not options.unindexed,
            )
            told["note"] = (
                f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, digest {graph.digest[:12]}"
            )
    return stages.costs


def asked(options) -> list[Cost]:
    """Ask questions with each method on a build, and return the first and the median times."""
    from core.comparison.built_graphs import BuiltGraphs
    from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
    from core.environment import Environment
    from core.indexes import vectors
    from core.methods.catalogue import catalogue
    from core.sources import CorpusSource, SourceQuestion
    from tests.benchmarks.made_documents import SET, made_corpus

    stages, registry, made = (
        StageMeter(options.documents, f"ask {options.step[1]}"),
        models(options.made),
        made_corpus(options.documents),
    )
    environment = Environment(registry, open_build=BuiltGraphs(registry))
    registry.encoder().encode(["loaded before the clock starts"])
    source = CorpusSource.of(made)
    with stages.stage("opened"):
        source = replace(source, graph=environment.open_build(made, options.step[1]))
    for name in options.rows or ROWS.get(options.step[1], ()):
        line, spent, found = catalogue()[name].line, list[float](), 0
        for of in _searched_kinds(line):
            with stages.stage(f"{name}: vectors of {of}") as told:
                told["note"] = vectors.build_vectors(
                    source.graph, registry.encoder(), of, limit=10**9
                ).approximation_note
        with stages.stage(name) as told:
            for question in made.questions(SET):
                ask = SourceQuestion(source, question, (), uses_model=False, uses_reader=False)
                lane = LaneRun(ask, line, environment, PrefixCache())
                start = time.process_time()
                lane.retrieve(LaneListener())
                spent.append(time.process_time() - start)
                found += bool(_found_documents(lane) & {*question.gold})
            later = sorted(spent[1:])
            told["note"] = (
                f"processor: first {spent[0]:.2f} s, then median "
                f"{1000 * statistics.median(later):.0f} ms, "
                f"95th percentile {1000 * later[int(0.95 * len(later))]:.0f} ms; gold found by "
                f"{found} of {len(spent)}"
            )
    return stages.costs


def _searched_kinds(line) -> list[str]:
    """The kinds of items whose vectors a line searches."""
    from core.operators.texts.facts import PassagesOfFacts
    from core.operators.texts.vectors import VectorHits

    found = [operator.item_kind for operator in line.parts() if isinstance(operator, VectorHits)]
    return [
        *found,
        *(
            ["chunks"]
            if any(isinstance(operator, PassagesOfFacts) for operator in line.parts())
            else []
        ),
    ]


def _found_documents(lane) -> set[str]:
    """The documents of the chunks that a lane found."""
    from core.graph.texts import chunks_of

    chunks, nodes = lane.state.chunks, lane.state.nodes
    if chunks:
        rows = list(chunks.items)
    else:
        rows = [
            row
            for node in (nodes.items[:20] if nodes else ())
            for row in chunks_of(lane.graph, "nodes")[node]
        ]
    return {*lane.graph.columns.chunks.texts("document", rows)}


def changed(options) -> list[Cost]:
    """Add documents, update the graph, remove them, and update it again.

    The graph must then be as it was before.
    """
    from core.builds import build_status, find_build, run_build
    from tests.benchmarks.made_documents import documents, made_corpus

    one, stages, registry = (
        find_build(options.step[1]),
        StageMeter(options.documents, f"change {options.step[1]}"),
        models(options.made),
    )
    made = made_corpus(options.documents)
    registry.encoder().encode(["loaded before the clock starts"])
    before = build_status(made, one).graph
    new = [
        replace(document, id=f"new-{document.id}")
        for document in documents(options.changed, seed=options.documents)
    ]
    if "facts" in options.made:
        _save_facts(new)
    for what in ("added", "removed"):
        with stages.stage(f"{what} to or from the corpus", f"{options.changed} documents"):
            made = (
                made.update(new)
                if what == "added"
                else made.remove([document.id for document in new])
            )
        with (
            stages.stage(f"{what}: the graph in all") as told,
            stages.operators(one.line, f"{what}: ") as watch,
        ):
            graph = run_build(made, one, registry, watch)
            told["note"] = (
                "the same graph as before"
                if graph.digest == before
                else "another graph than before"
            )
    return stages.costs


STEPS = {"corpus": corpus, "build": built, "ask": asked, "change": changed}


def main(arguments: Sequence[str]) -> None:
    """Measure each step in a separate process, and print one table."""
    from core.commands.worker_options import add_workers

    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks documents", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--documents", default="1000", metavar="N,N...")
    parser.add_argument("--builds", nargs="+", default=list(ROWS))
    parser.add_argument("--rows", nargs="+", default=[])
    parser.add_argument("--steps", nargs="+", default=list(STEPS), choices=STEPS)
    parser.add_argument("--made", nargs="*", default=[], choices=MADE)
    parser.add_argument(
        "--changed",
        type=int,
        default=CHANGED_DOCUMENTS,
        help="documents that are added, and removed",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        help="the folder in which all of it lies, and stays; by default a temporary one",
    )
    parser.add_argument("--unindexed", action="store_true", help="make no vectors of what is built")
    parser.add_argument("--json", metavar="FILE")
    add_workers(parser)
    parser.add_argument("--step", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.step:
        options.documents = int(options.documents)
        print(json.dumps([asdict(cost) for cost in STEPS[options.step[0]](options)]))
        return
    with _folder(options.folder) as folder:
        found = list(_run_steps(options, arguments, folder))
    if options.json:
        Path(options.json).write_text(
            json.dumps([asdict(cost) for cost in found], indent=1), "utf-8"
        )


def _run_steps(options, arguments: Sequence[str], folder: Path) -> Iterator[Cost]:
    given = [*arguments]
    for documents in map(int, options.documents.split(",")):
        steps: list[tuple[str, ...]] = [("corpus",)] if "corpus" in options.steps else []
        steps += [
            (step, build) for build in options.builds for step in options.steps if step != "corpus"
        ]
        for step in steps:
            command = [
                sys.executable,
                "-m",
                "tests.benchmarks",
                "documents",
                *given,
                "--documents",
                str(documents),
                "--step",
                *step,
            ]
            done = subprocess.run(
                command, env=os.environ | {"HOPSCOPE_HOME": str(folder)}, stdout=subprocess.PIPE
            )
            if done.returncode:
                print(f"{documents:9,}  {' '.join(step)} failed with {done.returncode}", flush=True)
                continue
            for row in json.loads(done.stdout):
                print(cost := Cost(**row), flush=True)
                yield cost


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    from core.io.home import models_folder

    os.environ["HOPSCOPE_MODELS"] = str(models_folder())
    folder = given or Path(tempfile.mkdtemp(prefix="hopscope-documents-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        if given is None:
            shutil.rmtree(folder, ignore_errors=True)

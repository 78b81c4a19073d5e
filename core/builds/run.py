"""Running builds: a corpus is taken through a line, and the graph is stored and opened."""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.builds.base import LANES, BuildContext, BuildLine, BuildOperator, Made
from core.builds.catalogue import Build, find
from core.builds.fact_store import FactStore
from core.builds.grouped import ShippedClusters
from core.builds.report import GRAPH, INDEX, UNREADABLE, BuildReport, StepCost, name_merges
from core.builds.shipped import builds_of, shipped_facts, shipped_replies, ships
from core.builds.speed import Took, learn
from core.builds.spending import BuildSpending, spent_file
from core.corpus import Corpus, recut
from core.corpus.mends import mends_of
from core.errors import BadParameter, StoreError
from core.graph.building.text_graph import assemble, moved, store
from core.graph.names.language import choose_language, graph_language
from core.graph.storage.write import locked
from core.graph.store import Graph, read_meta
from core.indexes.place import AT_WORK, busy_elsewhere, keep, take_indexes
from core.io import digests
from core.io.durations import with_time_left
from core.io.locks import is_locked
from core.io.plain import to_plain
from core.languages import ENGLISH, language
from core.models.base import Models
from core.models.chat.saved_replies import SavedReplies
from core.models.encoders.saved_vectors import vector_file
from core.models.price import Cap
from core.runtime.cluster import Workers
from core.runtime.weight import return_unused
from core.types import Usage
from core.watch import NO_WATCH, Watch

VERSION = 1
BUILT = "built.json"  # file in the folder of a graph with what it was built from, and the report
CHANGED = (
    "The documents have changed since it was built. Only what depends on the changes is made anew."
)
EARLIER = (
    "It was built by an earlier version, which made another graph of them. "
    "What was read and replied is not asked again."
)
RENAMED = (
    "Since it was built, names were marked as not the same, or as the same after all. "
    "Building it anew takes that up."
)
# Under this name an opened graph holds a sentence on the parts of the corpus that it lacks.
UNCOVERED = "what of its corpus it does not cover"
SHIPPED_EXTRACTOR = "noun-phrases"  # the extractor of shipped facts
# Number of chunks from which unused memory is returned to the system before each step.
MANY_CHUNKS = 5_000
# Suffix of the folder in which a new graph is made while the present one is still used.
NEXT = "-next"


@dataclass(frozen=True)
class Status:
    """Status of a build of a corpus.

    - `current` is true if the graph was built of the present documents by operators that would make
      the same graph today.
    - `outdated` is a sentence on what has changed; empty if it is current.
    - `renamed` is true if only names were marked as the same or as different since. The graph is
      then usable until it is built anew.
    - `uncovered` is a sentence on parts of the corpus that a current graph does not cover, as with
      an opened index after documents were added.
    - `report` is the report of the last run. `graph` is the digest of its graph.
    """

    build: Build
    built: bool
    current: bool
    folder: Path
    report: dict[str, Any] = field(default_factory=dict)
    graph: str = ""
    outdated: str = ""
    uncovered: str = ""
    # Whether its indexes were built with it. If not, a question builds those that it reads.
    indexed: bool = True
    renamed: bool = False

    @property
    def serves(self) -> bool:
        """True if its graph can be opened.

        The graph fits the present documents, or it is an earlier one while the next is being built.
        """
        return self.current or self.renamed or (self.built and _is_locked(self.folder))


def open_graph(corpus: Corpus, build: str | Build) -> Graph:
    """Open the graph of a build; while it is being built anew, the earlier one.

    Raises BadParameter for an unknown build. Raises StoreError where it is not built yet, or is
    outdated and not being built.
    """
    one = _build(build)
    now = status(corpus, one)
    how = (
        "build it on the page Texts, or with: "
        f"python -m core corpus build {corpus.name} --graph {_word(one)}"
    )
    if not now.built:
        raise StoreError(f"“{one.title}” of {corpus.name} is not built yet; {how}")
    if not now.serves:
        raise StoreError(
            f"“{one.title}” of {corpus.name} is outdated. {now.outdated}"
            f"{'' if one.extractor == 'opened' else f' So {how}'}"
        )
    graph = Graph.open(now.folder)
    graph.derived.shelf(UNCOVERED).values[""] = RENAMED if now.renamed else now.uncovered
    return graph


def uncovered(graph: Graph) -> str:
    """Return a sentence on the parts of its corpus that an opened graph does not cover.

    The graph comes from `open_graph`. Empty where it covers all.
    """
    source = graph if graph.edited_from is None else graph.edited_from.graph
    return source.derived.shelf(UNCOVERED).values.get("", "")


def status(corpus: Corpus, build: str | Build) -> Status:
    """Return the status of a build of a corpus."""
    one = _build(build)
    folder = place(corpus, one)
    try:
        known = digests.check_marked(json.loads((folder / BUILT).read_text("utf-8")))
        placed = _placed(folder)
        code = known.get("language", ENGLISH)
        same_language = one.extractor == "opened" or code == _read_as(corpus)
        same = known["version"] == VERSION and known.get("editions", {}) == one.line.editions
        first = one.line.operators[0]
        current = (
            same
            and same_language
            and known["corpus"] == first.basis(corpus)
            and known.get("graph", placed) == placed
        )
        uncovered = first.uncovered(corpus)
        if current:
            outdated = ""
        elif not same:
            outdated = EARLIER
        elif same_language:
            outdated = uncovered or CHANGED
        else:
            outdated = _other_language(code, corpus)
        indexed = bool(known.get("indexed", True))
        renamed = current and name_merges(known["report"]).differ_with(_refused(corpus))
        if renamed:
            current, outdated = False, RENAMED
        return Status(
            one,
            True,
            current,
            folder,
            known["report"],
            placed,
            outdated,
            uncovered if current else "",
            indexed,
            renamed,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Status(one, False, False, folder)


def _refused(corpus: Corpus) -> set[tuple[str, str]]:
    """Return the pairs of names that a person marked as different.

    Empty where the saved pairs are damaged.
    """
    with suppress(StoreError):
        return set(mends_of(corpus).refused)
    return set()


def _read_as(corpus: Corpus) -> str:
    """Return the code of the language that a corpus is read in: English where none was found."""
    return corpus.language.code or ENGLISH


def _other_language(code: str, corpus: Corpus) -> str:
    """Return a sentence saying that a graph was built in another language."""
    before, now = (
        known.name if (known := language(one)) else one for one in (code, _read_as(corpus))
    )
    return (
        f"Its documents were read as {before} when it was built, and their language is {now} now."
    )


def build_for(corpus: Corpus, spec: str, shipped: bool = True) -> Build:
    """Return the build that a text means for a corpus.

    The text is the id of a build, a kind of graph such as "kg" or "tkg", or a line. For a kind of
    graph, the first of these is returned:

    - A build that is current or (with `shipped`) came with the corpus. An opened index comes first,
      noun phrases last.
    - A build that is usable while it is built anew.
    - A build without a language model. If facts of a parser came with the documents, it is the one
      by noun phrases.
    - Any other build of this kind.

    Builds that need something that the corpus lacks are left out, unless all do.

    An id that is also the name of a kind, such as "chunks", always means the build with this id. A
    line that names it therefore searches the same graph wherever it runs. Raises BadParameter.
    """
    known = builds_of(corpus)
    kind = sorted(
        (one for one in known.values() if one.graph == spec),
        key=lambda one: one.extractor != "opened",
    )
    kind = [one for one in kind if not any(operator.lacks(corpus) for operator in one.line)] or kind
    if spec in known or not kind:
        return find(spec)
    known_states = [status(corpus, one) for one in kind]
    there = (
        now.build
        for now in known_states
        if now.current or now.renamed or (shipped and ships(corpus, now.build))
    )
    ready = next(there, next((now.build for now in known_states if now.serves), None))
    free = [one for one in kind if not one.line.asks_chat]
    came = (
        [one for one in free if one.extractor == SHIPPED_EXTRACTOR] if shipped_facts(corpus) else []
    )
    return ready or next(iter(came or free), kind[0])


def own_builds(corpus: Corpus) -> dict[str, Build]:
    """Return the builds of a corpus by lines that are not in the catalogue, by line.

    They were built here before. The record of such a build has its line as its name. Records that
    cannot be read are left out.
    """
    found: dict[str, Build] = {}
    for file in sorted((corpus.folder / "graphs").glob(f"*/{BUILT}")):
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, BadParameter):
            known = digests.check_marked(json.loads(file.read_text("utf-8")))
            if known["build"] == known["line"] and (one := find(known["line"])).own:
                found[one.id] = replace(one, title=f"{one.title}: {one.line.words()}")
    return found


def built_as(graph: Graph) -> Build | None:
    """Return the build that made a graph, from the record in its folder.

    None where no record can be read.
    """
    try:
        return find(json.loads(((graph.folder or Path()) / BUILT).read_text("utf-8"))["build"])
    except (OSError, ValueError, KeyError, TypeError, BadParameter):
        return None


def place(corpus: Corpus, build: Build) -> Path:
    """Return the folder of a build's graph: named by its line, in the folder of its corpus."""
    return corpus.folder / "graphs" / hashlib.sha256(repr(build.line).encode()).hexdigest()[:16]


def context(
    corpus: Corpus,
    models: Models,
    watch: Watch = NO_WATCH,
    report: BuildReport | None = None,
    saved: SavedReplies | None = None,
    lanes: int = LANES,
    spending: BuildSpending | None = None,
    workers: Workers | None = None,
) -> BuildContext:
    """Return the environment of the operators for a build of this corpus."""
    files = shipped_replies(corpus)
    replies, facts = (
        saved or SavedReplies(shipped=files),
        FactStore(shipped=[] if saved else [*files, *shipped_facts(corpus)]),
    )
    clusters, counted = ShippedClusters(files), spending or BuildSpending(None, None, ())
    made = report or BuildReport()
    return BuildContext(
        models,
        watch,
        made,
        lanes,
        replies,
        facts,
        clusters,
        counted,
        workers,
        language=corpus.language.code,
    )


def build(
    corpus: Corpus,
    build: str | Build,
    models: Models,
    watch: Watch = NO_WATCH,
    report: BuildReport | None = None,
    saved: SavedReplies | None = None,
    lanes: int = LANES,
    cap: Cap | None = None,
    indexed: bool = True,
    workers: Workers | None = None,
) -> Graph:
    """Build the graph of a corpus, store and open it.

    Only what depends on changes is computed anew. The facts of each chunk and each reply of a
    language model are saved at once, so a cancelled or killed build continues from there. The
    earlier graph stays usable until this one is complete with its vectors.

    Parameters
    ----------
    build : a build, or a text that names one.
    report : collects counts, notes and costs.
    saved : saved replies of language models. By default the person's own, and those that ship with
        the corpus. Facts are looked up likewise.
    lanes : the number of parallel requests to a local language model.
    cap : the build stops before it would cost more, including what it cost before it was last
        stopped.
    indexed : also build the indexes. Otherwise a question builds those that it reads.
    workers : processes that read chunks and encode texts. The graph is the same byte by byte.

    Raises
    ------
    BadInput, BadParameter, StoreError, ModelUnavailable, ModelFailed (NothingRead), CapReached, and
        what `watch` raises.
    """
    one = _build(build)
    if workers is not None and cap is not None and one.line.asks_chat:
        raise BadParameter(
            "A cap is counted in one process; build without --workers and --cluster to have one."
        )
    folder = place(corpus, one)
    spending = BuildSpending(spent_file(folder), models, one.line.models(), cap)
    ctx = context(corpus, models, watch, report, saved, lanes, spending, workers)
    ctx.recutting.folders = (
        folder,
        *sorted(
            one.parent for one in folder.parent.glob(f"*/{recut.FILE}") if one.parent != folder
        ),
    )
    started = nullcontext() if workers is None else workers.started()
    with (
        locked(_at_work(folder), True, busy_elsewhere(watch)),
        started,
        vector_file().growing(),
    ):
        try:
            graph = _built(one, Made(corpus), folder, ctx, indexed)
        finally:
            ctx.close()
        _came(corpus, one, ctx)
        if graph.folder is not None and (corpus.language.chosen or graph_language(graph).chosen):
            choose_language(graph, corpus.language.code if corpus.language.chosen else "")
        record = {
            "version": VERSION,
            "editions": one.line.editions,
            "corpus": one.line.operators[0].basis(corpus),
            "graph": graph.digest,
            "build": one.id,
            "line": repr(one.line),
            "report": ctx.report.plain(),
        }
        if (code := _read_as(corpus)) != ENGLISH:
            record["language"] = code
        if not indexed and one.line.indexes:
            record["indexed"] = False
        spending.forget()
        if written := ctx.recutting.written(graph):
            keep(folder / recut.FILE, written)
        keep(
            folder / BUILT,
            lambda stream: stream.write(
                json.dumps(digests.marked(record), ensure_ascii=False, indent=1).encode()
            ),
        )
    watch.report("Done", 1.0)
    return graph


def _came(corpus: Corpus, build: Build, ctx: BuildContext) -> None:
    """Report which language models a build rests on.

    For a build that came with the corpus, also report what they took when it was made.
    """
    asked = tuple(
        dict.fromkeys(
            ctx.models.title(name) for name in build.line.models() if ctx.models.is_chat(name)
        )
    )
    known, report = ships(corpus, build), ctx.report
    report.models = asked
    if known is not None and not report.usage.calls:
        report.models, report.usage_saved, report.shipped = (
            known.models,
            known.usage,
            to_plain(known),
        )


def being_built(corpus: Corpus, build: str | Build) -> bool:
    """Return whether a process is running a build of a corpus."""
    return _is_locked(place(corpus, _build(build)))


def _is_locked(folder: Path) -> bool:
    file = _at_work(folder)
    return is_locked(file.with_name(f"{file.name}.lock"))


def _at_work(folder: Path) -> Path:
    """Return the path that is locked while a graph is built.

    It lies next to the graph's folder, because the store locks the folder itself.
    """
    return folder.with_name(f"{folder.name}-{AT_WORK}")


def _built(
    build: Build, made: Made, folder: Path, ctx: BuildContext, indexed: bool = True
) -> Graph:
    took: dict[BuildOperator, Took] = {}
    stored, temporary = False, folder.with_name(f"{folder.name}{NEXT}")
    line = build.line if indexed else build.line.unindexed
    for number, operator in enumerate(line):
        ctx.watch.check()
        if operator.stage == "index" and not stored:
            made, stored = _stored(made, build, folder, temporary), True
        if len(made.chunks or ()) > MANY_CHUNKS:
            return_unused()
        part = _part(ctx, line, number)
        part.watch.report(operator.title.capitalize(), 0.0)
        made = _timed(operator, made, part, took)
    graph = (made if stored else _stored(made, build, folder, temporary)).graph
    assert graph is not None and made.chunks is not None  # `_stored` has made both
    if (
        not graph.n_nodes
        and not _bare(build)
        and not any(ctx.report.counts[what] for what in UNREADABLE)
    ):
        ctx.report.note("Nothing was found in these texts: the graph has no nodes.")
    if not build.line.asks_chat:
        learn(line, took, len(made.chunks))
    if graph.folder == folder.absolute():
        return graph
    take_indexes(temporary, folder)
    return moved(temporary, folder)


def _part(ctx: BuildContext, line: BuildLine, number: int) -> BuildContext:
    """Return the context of one operator, with its share of the progress of the line.

    The remaining time is that of this operator, because one takes no time and another takes hours.
    """

    part = ctx.watch.part(number / len(line), (number + 1) / len(line))
    return replace(
        ctx, watch=with_time_left(part, " of this step" if number + 1 < len(line) else "")
    )


def _timed(
    operator: BuildOperator, made: Made, ctx: BuildContext, took: dict[BuildOperator, Took]
) -> Made:
    report = ctx.report
    start, fresh, before = time.monotonic(), report.fresh, report.usage + report.usage_saved
    made = operator.apply(made, ctx)
    name, seconds, after = (
        type(operator).__name__,
        time.monotonic() - start,
        report.usage + report.usage_saved,
    )
    report.seconds[name] = report.seconds.get(name, 0.0) + seconds
    asked = Usage(
        after.calls - before.calls,
        after.tokens_in - before.tokens_in,
        after.tokens_out - before.tokens_out,
    )
    report.steps.append(StepCost(operator.words(), _part_of(operator), seconds, asked))
    took[operator] = Took(seconds, report.fresh - fresh)
    return made


def _part_of(operator: BuildOperator) -> str:
    """Return the part of the graph that a step belongs to: `GRAPH` or `INDEX`.

    The index consists of communities, their reports, and vectors.
    """
    if operator.stage == "index" or (
        operator.stage in ("group", "tell") and "graph" in operator.reads
    ):
        return INDEX
    return GRAPH


def _stored(made: Made, build: Build, folder: Path, temporary: Path) -> Made:
    """Store the graph with its chunks in a temporary folder.

    If the final folder already holds the same graph, that one is opened. If no operator made a
    graph, one without nodes is stored.
    """
    if made.chunks is None:
        raise BadParameter(f"The build “{build.title}” cuts no chunks; begin it with a chunker.")
    graph = made.graph or assemble(made.corpus.name, [], [], {}, {}, made.chunks)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return made.replace(
        graph=Graph.open(folder) if _placed(folder) == graph.digest else store(graph, temporary)
    )


def _placed(folder: Path) -> str:
    """Return the digest of the graph in a folder; empty where none can be read."""
    try:
        return str(read_meta(folder)["digest"])
    except (StoreError, KeyError):
        return ""


def _build(build: str | Build) -> Build:
    return find(build) if isinstance(build, str) else build


def _word(build: Build) -> str:
    """Return the name of a build on the command line."""
    if build.own:
        return f'"{build.id}"'
    if build.extractor:
        return f"{build.graph} --extractor {build.extractor}"
    return build.graph or f"'{build.id}'"


def _bare(build: Build) -> bool:
    """Return whether a build makes no nodes, only chunks and indexes of them."""
    return all(operator.stage in ("chunk", "index") for operator in build.line)

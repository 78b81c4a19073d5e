"""Builds at work: a corpus taken through a line, the graph stored beside it, and opened again."""

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
BUILT = "built.json"  # beside a graph: what it was built from, and the report
CHANGED = (
    "The documents have changed since it was built. Only what depends on the changes is made anew."
)
EARLIER = "It was built by an earlier version, which made another graph of them. What was read and replied is not asked again."
RENAMED = "Since it was built, names were marked as not the same, or as the same after all. Building it anew takes that up."
UNCOVERED = "what of its corpus it does not cover"  # on an opened graph
SHIPPED_EXTRACTOR = "noun-phrases"  # who read the chunks of what ships as facts
MANY_CHUNKS = 5_000  # from which memory that a step no longer uses is handed back before the next
NEXT = (
    "-next"  # behind the name of a graph's folder: where the next one is made while this one serves
)


@dataclass(frozen=True)
class Status:
    """The status of a build of a corpus. `current` where it was built of the documents as they are now, by operators that make the same
    today; else `outdated` says in a sentence which of the two has changed; where these are only names that a person marked as the same or
    not, it is `renamed`, and serves until it is built anew. `uncovered` says what of the corpus its graph does not cover,
    though it is current, as of an opened index after documents were added. `report` is that of its last run, `graph` the digest of the
    graph that this made."""

    build: Build
    built: bool
    current: bool
    folder: Path
    report: dict[str, Any] = field(default_factory=dict)
    graph: str = ""
    outdated: str = ""
    uncovered: str = ""
    indexed: bool = (
        True  # whether its indexes were made with it; else a question makes those that it reads
    )
    renamed: bool = False

    @property
    def serves(self) -> bool:
        """Whether its graph can be opened: that of the documents as they are, or an earlier one while the next is being built."""
        return self.current or self.renamed or (self.built and _is_locked(self.folder))


def open_graph(corpus: Corpus, build: str | Build) -> Graph:
    """The graph that a build made of a corpus; while it is being built anew, the one before. Raises BadParameter for an unknown build,
    StoreError where it is not built yet or is outdated and nobody is at it."""
    one = _build(build)
    now = status(corpus, one)
    how = f"build it on the page Texts, or with: python -m core corpus build {corpus.name} --graph {_word(one)}"
    if not now.built:
        raise StoreError(f"“{one.title}” of {corpus.name} is not built yet; {how}")
    if not now.serves:
        raise StoreError(
            f"“{one.title}” of {corpus.name} is outdated. {now.outdated}{'' if one.extractor == 'opened' else f' So {how}'}"
        )
    graph = Graph.open(now.folder)
    graph.derived.shelf(UNCOVERED).values[""] = RENAMED if now.renamed else now.uncovered
    return graph


def uncovered(graph: Graph) -> str:
    """What of its corpus a graph that `open_graph` opened does not cover, as a sentence; empty where it covers all."""
    source = graph if graph.edited_from is None else graph.edited_from.graph
    return source.derived.shelf(UNCOVERED).values.get("", "")


def status(corpus: Corpus, build: str | Build) -> Status:
    """The status of a build of a corpus."""
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
    """The pairs of names that a person said are not the same; none where what is saved is damaged."""
    with suppress(StoreError):
        return set(mends_of(corpus).refused)
    return set()


def _read_as(corpus: Corpus) -> str:
    """The code of the language as which a corpus is read: English where none was found."""
    return corpus.language.code or ENGLISH


def _other_language(code: str, corpus: Corpus) -> str:
    """That a graph was made of the documents as texts in another language, in a sentence."""
    before, now = (
        known.name if (known := language(one)) else one for one in (code, _read_as(corpus))
    )
    return (
        f"Its documents were read as {before} when it was built, and their language is {now} now."
    )


def build_for(corpus: Corpus, spec: str, shipped: bool = True) -> Build:
    """The build that is meant by an id, a kind of graph or a line: of a kind (kg, tkg ...) the first that is built of the documents as
    they are or (`shipped`) came with them, an opened index first and noun phrases last, or else serves while it is built anew; where none
    is, the one that asks no language model, and that the corpus has all for: by noun phrases where what a parser found in these documents
    came with them, else the first. An id that is a kind's name as well, as `chunks`, is that build, whatever else of its kind is built: a
    line that names it asks the same graph wherever it runs. Raises BadParameter."""
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
    """The builds of a corpus by a line that is no row of the catalogue, as built here before: by that line.

    Of such a build the record beside the graph has the line as its name; what cannot be read is left out.
    """
    found: dict[str, Build] = {}
    for file in sorted((corpus.folder / "graphs").glob(f"*/{BUILT}")):
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, BadParameter):
            known = digests.check_marked(json.loads(file.read_text("utf-8")))
            if known["build"] == known["line"] and (one := find(known["line"])).own:
                found[one.id] = replace(one, title=f"{one.title}: {one.line.words()}")
    return found


def built_as(graph: Graph) -> Build | None:
    """The build that made a graph, by the report beside it; None where none can be read."""
    try:
        return find(json.loads(((graph.folder or Path()) / BUILT).read_text("utf-8"))["build"])
    except (OSError, ValueError, KeyError, TypeError, BadParameter):
        return None


def place(corpus: Corpus, build: Build) -> Path:
    """The folder of a build's graph: named by its line, in the folder of its corpus."""
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
    """What the operators of a build of this corpus work with."""
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
    """The graph that a build makes of a corpus, stored and opened; only what depends on what has changed is made anew.

    What each chunk told and each reply of a language model is kept as it comes, so that a build that was cancelled or killed goes on from
    there; replies come from `saved`, by default the person's own with those that ship with the corpus, as what its chunks told does. A
    language model is asked `lanes` things at a time where it can. The graph before serves until this one is whole, with its vectors; where
    not `indexed` none are made, as a question makes those that it reads. It stops before it would go over a `cap`, with what it spent
    before it was stopped the last time. With `workers`, chunks are read and vectors made by these processes: the same graph, byte by byte.

    Raises BadInput, BadParameter, StoreError, ModelUnavailable, ModelFailed (NothingRead), CapReached, and what `watch` raises.
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
    """Report which language models a build rests on; of one that came with the corpus what they took when it was made."""
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
    """Whether some process is at a build of a corpus."""
    return _is_locked(place(corpus, _build(build)))


def _is_locked(folder: Path) -> bool:
    file = _at_work(folder)
    return is_locked(file.with_name(f"{file.name}.lock"))


def _at_work(folder: Path) -> Path:
    """What is locked while a graph is built: something beside its folder, so that its store may lock that for itself."""
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
    assert graph is not None and made.chunks is not None  # what was stored
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
    """The context of one operator of a line, whose progress is a part of the whole; the time left is that of this operator,
    as one takes no time and another hours."""

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
    """Whether a step makes the graph, or groups it and describes the groups, or makes vectors, which is its index."""
    if operator.stage == "index" or (
        operator.stage in ("group", "tell") and "graph" in operator.reads
    ):
        return INDEX
    return GRAPH


def _stored(made: Made, build: Build, folder: Path, temporary: Path) -> Made:
    """The graph with the chunks, in a temporary folder until it is whole, or in its own where that holds the same; one without nodes
    where none was made."""
    if made.chunks is None:
        raise BadParameter(f"The build “{build.title}” cuts no chunks; begin it with a chunker.")
    graph = made.graph or assemble(made.corpus.name, [], [], {}, {}, made.chunks)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return made.replace(
        graph=Graph.open(folder) if _placed(folder) == graph.digest else store(graph, temporary)
    )


def _placed(folder: Path) -> str:
    """The digest of the graph in a folder; empty where there is none that can be read."""
    try:
        return str(read_meta(folder)["digest"])
    except (StoreError, KeyError):
        return ""


def _build(build: str | Build) -> Build:
    return find(build) if isinstance(build, str) else build


def _word(build: Build) -> str:
    """How the command line names a build."""
    if build.own:
        return f'"{build.id}"'
    if build.extractor:
        return f"{build.graph} --extractor {build.extractor}"
    return build.graph or f"'{build.id}'"


def _bare(build: Build) -> bool:
    """Whether a build makes no nodes, only chunks and what is searched in them."""
    return all(operator.stage in ("chunk", "index") for operator in build.line)

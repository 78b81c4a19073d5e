"""Running of builds, the status of their graphs, and opening them.

The operators of a build's line make a graph of a corpus. It is stored in a folder of the corpus,
next to a record that tells whether the graph is still current.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.builds.base import (
    DEFAULT_PARALLEL_REQUESTS,
    BuildContext,
    BuildLine,
    BuildOperator,
    BuildState,
)
from core.builds.catalogue import GraphBuild, find_build
from core.builds.fact_store import FactStore
from core.builds.report import (
    GRAPH_STEPS,
    INDEX_STEPS,
    UNREADABLE_COUNTS,
    BuildReport,
    StepCost,
    name_merges,
)
from core.builds.shipped_clusters import ShippedClusters
from core.builds.shipped_data import builds_of, find_shipped_build, shipped_facts, shipped_replies
from core.builds.speed import StepTime, record_speeds
from core.builds.spending import BuildSpending, spent_file
from core.corpus import Corpus
from core.corpus.chunk_reuse import CHUNKED_DOCUMENTS_FILE
from core.corpus.entity_merges import read_merges
from core.errors import BadParameter, StoreError, with_command
from core.graph.building.text_graph import assemble, move_graph, store_graph
from core.graph.names.language import choose_language, graph_language
from core.graph.storage.store_files import lock_store
from core.graph.store import Graph, read_meta
from core.indexes.index_storage import (
    BUILD_LOCK_NAME,
    move_indexes,
    waiting_watch,
    write_atomically,
)
from core.io import digests
from core.io.durations import with_time_left
from core.io.locks import is_locked
from core.io.plain_data import to_plain
from core.languages import ENGLISH, language
from core.models.base import Models
from core.models.chat.saved_replies import SavedReplies
from core.models.encoders.saved_vectors import vector_file
from core.models.price import Cap
from core.runtime.cluster import Workers
from core.runtime.memory import release_unused_memory
from core.types import Usage
from core.watch import NO_WATCH, Watch

BUILD_VERSION = 1
BUILT_FILE = "built.json"  # in the folder of a graph: its corpus, line and report
CHANGED_NOTE = (
    "The documents have changed since it was built. Only what depends on the changes is rebuilt."
)
EARLIER_VERSION_NOTE = (
    "It was built by an earlier version, which makes another graph. Saved replies are used again."
)
RENAMED_NOTE = (
    "Names were marked as different, or as the same, since it was built. Rebuild to apply."
)
# Key of the note in the cache of an opened graph (see `graph_note`).
GRAPH_NOTE_KEY = "what of its corpus it does not cover"
SHIPPED_EXTRACTOR = "noun-phrases"  # the extractor of shipped facts
# Number of chunks from which unused memory is returned to the system before each step.
MIN_RELEASE_CHUNKS = 5_000
# Suffix of the folder in which a new graph is made while the present one is still used.
NEXT_SUFFIX = "-next"


@dataclass(frozen=True)
class Status:
    """Status of a build of a corpus.

    - `is_built` is true if there is a graph with a readable record, current or not.
    - `is_current` is true if the graph was built of the present documents by operators that would
      make the same graph today.
    - `folder` is the folder of the graph; it may not exist.
    - `report` is the saved report of the last run. `graph` is the digest of its graph.
    - `outdated` is a sentence on what has changed; empty if the graph is current or not built.
    - `uncovered` is a sentence on parts of the corpus that a current graph does not cover, as with
      an opened index after documents were added. Empty if there are none.
    - `is_indexed` is true if the build made its indexes. Otherwise a question builds those that it
      needs.
    - `has_renamed` is true if nothing changed except that names were marked as the same or as
      different. The graph is then not current, but usable until it is built anew.
    """

    build: GraphBuild
    is_built: bool
    is_current: bool
    folder: Path
    report: dict[str, Any] = field(default_factory=dict)
    graph: str = ""
    outdated: str = ""
    uncovered: str = ""
    is_indexed: bool = True
    has_renamed: bool = False

    @property
    def can_be_opened(self) -> bool:
        """True if its graph can be opened.

        The graph fits the present documents, or it is an earlier one while the next is being built.
        """
        return self.is_current or self.has_renamed or (self.is_built and _is_locked(self.folder))


def open_graph(corpus: Corpus, build: str | GraphBuild) -> Graph:
    """Open the graph of a build.

    While it is being built anew, the earlier graph is opened.

    Parameters
    ----------
    corpus : the corpus.
    build : a build, or a text that names one.

    Returns
    -------
    The graph.

    Raises
    ------
    BadParameter : there is no such build.
    StoreError : it is not built yet, or is outdated and not being built.
    """
    chosen_build = _find_build(build)
    status = build_status(corpus, chosen_build)
    graph_name = f"“{chosen_build.title}” of {corpus.name}"
    command = f"hopscope corpus build {corpus.name} --graph {_command_name(chosen_build)}"
    if not status.is_built:
        sentence = f"{graph_name} is not built yet. Build it on the page Texts."
        raise StoreError(with_command(sentence, command))
    if not status.can_be_opened:
        sentence = f"{graph_name} is outdated. {status.outdated}"
        if chosen_build.extractor == "opened":
            raise StoreError(sentence)
        raise StoreError(with_command(f"{sentence} Build it anew on the page Texts.", command))
    graph = Graph.open(status.folder)
    note = RENAMED_NOTE if status.has_renamed else status.uncovered
    graph.derived.cache_of(GRAPH_NOTE_KEY).values[""] = note
    return graph


def graph_note(graph: Graph) -> str:
    """Return a sentence on the difference between an opened graph and its corpus.

    The graph lacks parts of the corpus, or names were marked as the same or as different since it
    was built. Empty if there is no difference, or if the graph is not from `open_graph`. An edited
    graph has the note of the graph that was edited.
    """
    source = graph if graph.edited_from is None else graph.edited_from.graph
    return source.derived.cache_of(GRAPH_NOTE_KEY).values.get("", "")


def build_status(corpus: Corpus, build: str | GraphBuild) -> Status:
    """Return the status of a build of a corpus.

    Parameters
    ----------
    corpus : the corpus.
    build : a build, or a text that names one.

    Returns
    -------
    The status, with the reason why it is outdated if it is.

    Raises
    ------
    BadParameter : there is no such build.
    """
    chosen_build = _find_build(build)
    folder = build_folder(corpus, chosen_build)
    try:
        record = _read_record(folder)
        digest = _folder_digest(folder)
        code = record.get("language", ENGLISH)
        same_language = chosen_build.extractor == "opened" or code == _language_code(corpus)
        same_version = (
            record["version"] == BUILD_VERSION
            and record.get("editions", {}) == chosen_build.line.editions
        )
        first_operator = chosen_build.line.operators[0]
        current = (
            same_version
            and same_language
            and record["corpus"] == first_operator.source_digest(corpus)
            and record.get("graph", digest) == digest
        )
        uncovered = first_operator.uncovered_sentence(corpus)
        if current:
            outdated = ""
        elif not same_version:
            outdated = EARLIER_VERSION_NOTE
        elif same_language:
            outdated = uncovered or CHANGED_NOTE
        else:
            outdated = _other_language(code, corpus)
        indexed = bool(record.get("indexed", True))
        renamed = current and name_merges(record["report"]).would_differ(_refused_pairs(corpus))
        if renamed:
            current, outdated = False, RENAMED_NOTE
        return Status(
            chosen_build,
            is_built=True,
            is_current=current,
            folder=folder,
            report=record["report"],
            graph=digest,
            outdated=outdated,
            uncovered=uncovered if current else "",
            is_indexed=indexed,
            has_renamed=renamed,
        )
    # No record, or one that is damaged or of an unknown form.
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Status(chosen_build, is_built=False, is_current=False, folder=folder)


def _read_record(folder: Path) -> dict[str, Any]:
    """Read the record of a build in its graph's folder. The record's own digest is checked."""
    return digests.check_own_digest(json.loads((folder / BUILT_FILE).read_text("utf-8")))


def _refused_pairs(corpus: Corpus) -> set[tuple[str, str]]:
    """Return the pairs of names that a person marked as different.

    Empty if the saved pairs are damaged.
    """
    with suppress(StoreError):
        return set(read_merges(corpus).refused)
    return set()


def _language_code(corpus: Corpus) -> str:
    """Return the code of the language that a corpus is read in.

    The result is English if none was detected.
    """
    return corpus.language.code or ENGLISH


def _other_language(code: str, corpus: Corpus) -> str:
    """Return a sentence saying that a graph was built in another language."""
    before, now = _language_name(code), _language_name(_language_code(corpus))
    return f"It was built from documents read as {before}. Their language is now {now}."


def _language_name(code: str) -> str:
    entry = language(code)
    return entry.name if entry else code


def build_for(corpus: Corpus, spec: str, shipped: bool = True) -> GraphBuild:
    """Return the build of a corpus that a text names.

    The text is the id of a build, a kind of graph such as "kg" or "tkg", or a line. For a kind of
    graph, the first of these is returned:

    - A build that is current or (with `shipped`) ships with the corpus. An opened index comes
      first, noun phrases last.
    - A build whose earlier graph can be opened while it is built anew.
    - A build without a language model. If facts of a parser ship with the documents, it is the one
      by noun phrases.
    - Any other build of this kind.

    Builds that need something that the corpus lacks are left out, unless all do.

    An id that is also the name of a kind, such as "chunks", always means the build with this id. A
    method that names it therefore searches the same graph on every computer.

    Parameters
    ----------
    corpus : the corpus.
    spec : the text.
    shipped : also prefer builds that ship with the corpus and are not built yet.

    Returns
    -------
    The build.

    Raises
    ------
    BadParameter : the text names no build.
    """
    choices = builds_of(corpus)
    candidates = _builds_of_kind(corpus, spec, choices.values())
    if spec in choices or not candidates:
        return find_build(spec)
    usable = _usable_build(corpus, candidates, shipped)
    if usable is not None:
        return usable
    without_chat = [build for build in candidates if not build.line.uses_chat_model]
    if shipped_facts(corpus):
        for build in without_chat:
            if build.extractor == SHIPPED_EXTRACTOR:
                return build
    return (without_chat or candidates)[0]


def _builds_of_kind(corpus: Corpus, kind: str, choices: Iterable[GraphBuild]) -> list[GraphBuild]:
    """Return the builds of a kind of graph, opened indexes first.

    Builds that need something that the corpus lacks are left out, unless all do.
    """
    builds = [build for build in choices if build.graph == kind]
    builds.sort(key=lambda build: build.extractor != "opened")  # opened ones first
    possible = [
        build
        for build in builds
        if not any(operator.missing_requirement(corpus) for operator in build.line)
    ]
    return possible or builds


def _usable_build(
    corpus: Corpus, candidates: Iterable[GraphBuild], shipped: bool
) -> GraphBuild | None:
    """Return the first build that is current or ships with the corpus.

    If there is none, one that is being built anew is returned. None if no build ships or has a
    graph that can be opened.
    """
    statuses = [build_status(corpus, build) for build in candidates]
    for status in statuses:
        if status.is_current or status.has_renamed:
            return status.build
        if shipped and find_shipped_build(corpus, status.build):
            return status.build
    return next((status.build for status in statuses if status.can_be_opened), None)


def own_builds(corpus: Corpus) -> dict[str, GraphBuild]:
    """Return the built graphs whose lines are not in the catalogue.

    They are given by line. The record of such a build has the line as the id of the build. Records
    that cannot be read are left out.
    """
    builds: dict[str, GraphBuild] = {}
    for file in sorted((corpus.folder / "graphs").glob(f"*/{BUILT_FILE}")):
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, BadParameter):
            record = _read_record(file.parent)
            if record["build"] == record["line"]:
                build = find_build(record["line"])
                if build.is_own:
                    title = f"{build.title}: {build.line.words()}"
                    builds[build.id] = replace(build, title=title)
    return builds


def build_of_graph(graph: Graph) -> GraphBuild | None:
    """Return the build that made a graph, from the record in its folder.

    None if no record can be read.
    """
    try:
        text = ((graph.folder or Path()) / BUILT_FILE).read_text("utf-8")
        return find_build(json.loads(text)["build"])
    except (OSError, ValueError, KeyError, TypeError, BadParameter):
        return None


def build_folder(corpus: Corpus, build: GraphBuild) -> Path:
    """Return the folder of a build's graph: named by its line, in the folder of its corpus.

    Parameters
    ----------
    corpus : the corpus.
    build : the build.

    Returns
    -------
    The path; the folder may not exist.
    """
    return corpus.folder / "graphs" / hashlib.sha256(repr(build.line).encode()).hexdigest()[:16]


def build_context(
    corpus: Corpus,
    models: Models,
    watch: Watch = NO_WATCH,
    report: BuildReport | None = None,
    saved: SavedReplies | None = None,
    lanes: int = DEFAULT_PARALLEL_REQUESTS,
    spending: BuildSpending | None = None,
    workers: Workers | None = None,
) -> BuildContext:
    """Return the environment of the operators for a build of this corpus.

    Parameters
    ----------
    corpus : the corpus, with its shipped replies and facts.
    models : the registry of models.
    watch : receives the progress and may raise RunCancelled.
    report : collects counts, notes and costs.
    saved : saved replies; by default the person's own and the shipped ones.
    lanes : the number of parallel requests to a local language model.
    spending : account of what the build may spend.
    workers : processes that read chunks and encode texts.

    Returns
    -------
    The environment.
    """
    files = shipped_replies(corpus)
    return BuildContext(
        models,
        watch,
        report or BuildReport(),
        lanes,
        replies=saved or SavedReplies(shipped=files),
        fact_store=FactStore(shipped=[] if saved else [*files, *shipped_facts(corpus)]),
        clusters=ShippedClusters(files),
        spending=spending or BuildSpending(None, None, ()),
        workers=workers,
        language=corpus.language.code,
    )


def run_build(
    corpus: Corpus,
    build: str | GraphBuild,
    models: Models,
    watch: Watch = NO_WATCH,
    report: BuildReport | None = None,
    saved: SavedReplies | None = None,
    lanes: int = DEFAULT_PARALLEL_REQUESTS,
    cap: Cap | None = None,
    indexed: bool = True,
    workers: Workers | None = None,
) -> Graph:
    """Build the graph of a corpus, store and open it.

    Only what depends on changes is computed anew. The facts of each chunk and each reply of a
    language model are saved immediately, so a cancelled or killed build continues from them. The
    earlier graph stays usable until this one is complete with its vectors.

    Parameters
    ----------
    build : a build, or a text that names one.
    report : collects counts, notes and costs.
    saved : saved replies of language models; by default the person's own, and those that ship with
        the corpus. If given, shipped facts are not used.
    lanes : the number of parallel requests to a local language model.
    cap : the build stops before it would cost more, including its cost before it was last stopped.
    indexed : also build the indexes. Otherwise a question builds those that it needs.
    workers : processes that read chunks and encode texts. They make the same graph, byte for byte.

    Returns
    -------
    The opened graph.

    Raises
    ------
    BadParameter : there is no such build, or it needs a cap and several processes at once.
    BadInput : the corpus lacks something that an operator reads.
    StoreError : a file cannot be read or written.
    ModelUnavailable, ModelFailed, UnparsedReplies : a model cannot be used, or no reply was
        readable.
    CapReached : the build would cost more than `cap`.
    Exception : as `watch` raises.
    """
    chosen_build = _find_build(build)
    if workers is not None and cap is not None and chosen_build.line.uses_chat_model:
        raise BadParameter(
            "A cap needs a single process. Build without workers and cluster to use one."
        )
    folder = build_folder(corpus, chosen_build)
    spending = BuildSpending(spent_file(folder), models, chosen_build.line.models(), cap)
    ctx = build_context(corpus, models, watch, report, saved, lanes, spending, workers)
    chunked_folders = {file.parent for file in folder.parent.glob(f"*/{CHUNKED_DOCUMENTS_FILE}")}
    # Chunks are looked up in the earlier graph of this build first.
    ctx.chunk_reuse.folders = (folder, *sorted(chunked_folders - {folder}))
    pool = nullcontext() if workers is None else workers.start_ray()
    with (
        lock_store(_lock_path(folder), True, waiting_watch(watch)),
        pool,
        vector_file().lift_limit(),
    ):
        try:
            graph = _run_line(chosen_build, BuildState(corpus), folder, ctx, indexed)
        finally:
            ctx.close()
        _report_models(corpus, chosen_build, ctx)
        # The choice of a person overrides the language that would be detected from the graph.
        if graph.folder is not None and (corpus.language.chosen or graph_language(graph).chosen):
            choose_language(graph, corpus.language.code if corpus.language.chosen else "")
        record = {
            "version": BUILD_VERSION,
            "editions": chosen_build.line.editions,
            "corpus": chosen_build.line.operators[0].source_digest(corpus),
            "graph": graph.digest,
            "build": chosen_build.id,
            "line": repr(chosen_build.line),
            "report": ctx.report.to_plain(),
        }
        if (code := _language_code(corpus)) != ENGLISH:
            record["language"] = code
        if not indexed and chosen_build.line.indexes:
            record["indexed"] = False
        spending.remove_record()
        if writer := ctx.chunk_reuse.record_writer(graph):
            write_atomically(folder / CHUNKED_DOCUMENTS_FILE, writer)
        text = json.dumps(digests.with_digest(record), ensure_ascii=False, indent=1)
        write_atomically(folder / BUILT_FILE, lambda stream: stream.write(text.encode()))
    watch.report("Done", 1.0)
    return graph


def _report_models(corpus: Corpus, build: GraphBuild, ctx: BuildContext) -> None:
    """Report which language models a build uses.

    For a build that ships with the corpus, also report their usage when it was made.
    """
    report = ctx.report
    chats = filter(ctx.models.is_chat, build.line.models())
    report.models = tuple(dict.fromkeys(map(ctx.models.title, chats)))
    shipped_build = find_shipped_build(corpus, build)
    if shipped_build is not None and not report.usage.calls:
        report.models = shipped_build.models
        report.usage_saved = shipped_build.usage
        report.shipped = to_plain(shipped_build)


def is_being_built(corpus: Corpus, build: str | GraphBuild) -> bool:
    """Return whether a process of this computer is running a build of a corpus.

    Parameters
    ----------
    corpus : the corpus.
    build : a build, or a text that names one.

    Returns
    -------
    True if the lock of the build's graph is held.

    Raises
    ------
    BadParameter : there is no such build.
    """
    return _is_locked(build_folder(corpus, _find_build(build)))


def _is_locked(folder: Path) -> bool:
    file = _lock_path(folder)
    return is_locked(file.with_name(f"{file.name}.lock"))


def _lock_path(folder: Path) -> Path:
    """Return the path that is locked while a graph is built.

    It lies next to the graph's folder, because the store locks the folder itself.
    """
    return folder.with_name(f"{folder.name}-{BUILD_LOCK_NAME}")


def _run_line(
    build: GraphBuild, state: BuildState, folder: Path, ctx: BuildContext, indexed: bool = True
) -> Graph:
    """Run the operators of a line, and store the graph.

    The graph is stored before its first index is made.
    """
    times: dict[BuildOperator, StepTime] = {}
    is_stored = False
    temporary = folder.with_name(f"{folder.name}{NEXT_SUFFIX}")
    line = build.line if indexed else build.line.without_indexes
    for number, operator in enumerate(line):
        ctx.watch.check()
        if operator.stage == "index" and not is_stored:
            state = _store(state, build, folder, temporary)
            is_stored = True
        if len(state.chunks or ()) > MIN_RELEASE_CHUNKS:
            release_unused_memory()
        step_ctx = _step_context(ctx, line, number)
        step_ctx.watch.report(operator.title.capitalize(), 0.0)
        state = _run_timed(operator, state, step_ctx, times)
    graph = (state if is_stored else _store(state, build, folder, temporary)).graph
    assert graph is not None and state.chunks is not None  # `_store` has checked both
    has_unreadable = any(ctx.report.counts[name] for name in UNREADABLE_COUNTS)
    if not graph.n_nodes and not _makes_no_nodes(build) and not has_unreadable:
        ctx.report.note("Nothing was found in these texts: the graph has no nodes.")
    if not build.line.uses_chat_model:
        record_speeds(line, times, len(state.chunks))
    # The same graph was already stored there (see `_store`).
    if graph.folder == folder.absolute():
        return graph
    move_indexes(temporary, folder)
    return move_graph(temporary, folder)


def _step_context(ctx: BuildContext, line: BuildLine, number: int) -> BuildContext:
    """Return the context of one operator.

    It has a share of the progress of the line. Every operator has the same share. The remaining
    time is estimated for this operator alone, because one takes no time and another takes hours.
    """
    watch = ctx.watch.part(number / len(line), (number + 1) / len(line))
    unit = " of this step" if number + 1 < len(line) else ""
    return replace(ctx, watch=with_time_left(watch, unit))


def _run_timed(
    operator: BuildOperator,
    state: BuildState,
    ctx: BuildContext,
    times: dict[BuildOperator, StepTime],
) -> BuildState:
    """Apply an operator, and record its time and usage.

    They are recorded in the report and in `times`.
    """
    report = ctx.report
    before, new_texts_before = report.usage + report.usage_saved, report.new_texts
    start = time.monotonic()
    state = operator.apply(state, ctx)
    seconds = time.monotonic() - start
    name = type(operator).__name__
    report.seconds[name] = report.seconds.get(name, 0.0) + seconds
    after = report.usage + report.usage_saved
    step_usage = Usage(
        after.calls - before.calls,
        after.tokens_in - before.tokens_in,
        after.tokens_out - before.tokens_out,
    )
    report.steps.append(StepCost(operator.words(), _graph_part(operator), seconds, step_usage))
    times[operator] = StepTime(seconds, report.new_texts - new_texts_before)
    return state


def _graph_part(operator: BuildOperator) -> str:
    """Return the part of the graph that a step belongs to: `GRAPH_STEPS` or `INDEX_STEPS`.

    The index consists of communities, their reports, and vectors. A tree of summaries is a graph,
    although its operator also belongs to stage “group”.
    """
    groups_graph = operator.stage in ("group", "tell") and "graph" in operator.reads
    return INDEX_STEPS if operator.stage == "index" or groups_graph else GRAPH_STEPS


def _store(state: BuildState, build: GraphBuild, folder: Path, temporary: Path) -> BuildState:
    """Store the graph with its chunks in a temporary folder.

    If the final folder already holds the same graph, that one is opened. If no operator made a
    graph, one without nodes is stored.
    """
    if state.chunks is None:
        raise BadParameter(f"The build “{build.title}” cuts no chunks; begin it with a chunker.")
    graph = state.graph or assemble(state.corpus.name, [], [], {}, {}, state.chunks)
    folder.parent.mkdir(parents=True, exist_ok=True)
    if _folder_digest(folder) == graph.digest:
        return state.replace(graph=Graph.open(folder))
    return state.replace(graph=store_graph(graph, temporary))


def _folder_digest(folder: Path) -> str:
    """Return the digest of the graph in a folder. Empty if none can be read."""
    try:
        return str(read_meta(folder)["digest"])
    except (StoreError, KeyError):
        return ""


def _find_build(build: str | GraphBuild) -> GraphBuild:
    return find_build(build) if isinstance(build, str) else build


def _command_name(build: GraphBuild) -> str:
    """Return the name of a build on the command line."""
    if build.is_own:
        return f'"{build.id}"'
    if build.extractor:
        return f"{build.graph} --extractor {build.extractor}"
    return build.graph or f"'{build.id}'"


def _makes_no_nodes(build: GraphBuild) -> bool:
    """Return whether a build makes only chunks and indexes of them."""
    return all(operator.stage in ("chunk", "index") for operator in build.line)

"""Commands `corpus build`, `corpus status` and `corpus replies`.

They build the graphs of a corpus, show their state, and export the language model's replies that
the graphs are made from.
"""

from __future__ import annotations

import sys
from pathlib import Path

from core.builds import build_for, build_status, choose_build, own_builds, run_build
from core.builds.base import DEFAULT_PARALLEL_REQUESTS
from core.builds.catalogue import EXTRACTORS, GRAPH_KIND_WORDS, GraphBuild, find_build
from core.builds.cost import estimate_cost
from core.builds.report import UNREADABLE_COUNTS, BuildReport
from core.builds.run import EARLIER_VERSION_NOTE, RENAMED_NOTE
from core.builds.shipment import write_shipment
from core.builds.shipped_data import (
    FACTS_FILE,
    REPLIES_FILE,
    builds_of,
    find_shipped_build,
    shipped_builds,
)
from core.commands.terminal import (
    CONTINUE_NOTE,
    EXIT_OK,
    TerminalBar,
    add_count,
    add_old_name,
    add_switch,
    add_text,
    warn,
    whole_number,
)
from core.commands.worker_options import add_workers, workers_of
from core.corpus import Corpus, open_corpus
from core.errors import BadInput, ModelFailed, UnparsedReplies
from core.io.durations import duration_text
from core.languages import is_english, known_code
from core.models.price import parse_cap


def add_parts(parts) -> None:
    """Add these parts of `corpus` and their options."""
    build_parser = parts.add_parser(
        "build",
        help="make a graph of a corpus",
        description="Make a graph of a corpus. What was read in each chunk is saved as it comes; "
        "after Ctrl-C or a crash the same command continues from there, and after a change of the "
        "documents only what depends on it is made again.",
    )
    build_parser.add_argument("name", metavar="NAME", help="the corpus")
    build_parser.add_argument(
        "--graph",
        default="rkg",
        metavar="KIND",
        help=f"{', '.join(GRAPH_KIND_WORDS)}; or a line of building operators (default: rkg)",
    )
    build_parser.add_argument(
        "--extractor",
        default="",
        choices=("", *EXTRACTORS),
        metavar="WHO",
        help="llm: a language model; described: names by a parser, described by a language model; "
        "names: names and terms, without one; noun-phrases: every noun phrase, without one; "
        "paper: a language model, with the papers' settings; for links: given, nearest, terms, "
        "cited, cited-llm",
    )
    add_text(
        build_parser,
        "--model",
        "MODEL",
        "the language model that is asked, by name, in the place of the build's own",
    )
    add_text(
        build_parser,
        "--cap",
        "MOST",
        "stop before language models have cost more in all: money (2.50), by the prices in "
        "models.toml, or tokens (200000tokens); the same command with a higher cap goes on",
    )
    add_switch(
        build_parser,
        "--estimate",
        "say what it will cost in calls, tokens, money and minutes, and build nothing",
    )
    add_text(
        build_parser,
        "--language",
        "CODE",
        "read the documents as texts in this language, as de; it is saved with them",
    )
    add_switch(build_parser, "--yes", "do not ask before a language model is put to work")
    add_count(
        build_parser,
        "--requests",
        DEFAULT_PARALLEL_REQUESTS,
        "requests that a language model gets at a time",
    )
    add_old_name(build_parser, "--lanes", dest="requests", type=whole_number(1))
    add_workers(build_parser)
    build_parser.set_defaults(run=_build)

    replies = parts.add_parser(
        "replies",
        help="write what graphs stand on into a file that ships",
        description="Write the replies that these builds need, and what was read in each chunk, "
        "into a file that says which model made them, how long that took and how much could not "
        f"be read. As data/NAME/{REPLIES_FILE} it ships with the corpus: the graphs then open "
        "without the model. Of builds by noun phrases it is what the parser found, to ship as "
        f"data/NAME/{FACTS_FILE}.",
    )
    replies.add_argument("name", metavar="NAME", help="the corpus")
    replies.add_argument(
        "builds", nargs="+", metavar="BUILD", help="the builds, as status lists them"
    )
    replies.add_argument("--to", required=True, metavar="FILE", help="the file to write")
    replies.set_defaults(run=_replies)

    status_parser = parts.add_parser(
        "status", help="which graphs of a corpus are built, and what building them took"
    )
    status_parser.add_argument("name", metavar="NAME", help="the corpus")
    status_parser.set_defaults(run=_status)


def _build(options) -> int:
    cap, workers = parse_cap(options.cap), workers_of(options)
    if "(" in options.graph:  # a line of operators
        build_spec = find_build(options.graph)
    else:
        build_spec = choose_build(options.graph, options.extractor)
    if options.model:
        build_spec = build_spec.with_model(options.model)
    with TerminalBar("Opening the corpus") as watch:
        corpus = open_corpus(options.name)
        if options.language:
            corpus = corpus.with_language(known_code(options.language))
        watch.report("Cutting chunks")
        models = options.engine().models
        expected = estimate_cost(corpus, build_spec, models)
    print(f"{build_spec.title}: {build_spec.line.words()}")
    if not is_english(corpus.language.code):
        print(f"Language: {corpus.language.words()}")
    print(expected.words())
    warn(expected.language)
    if options.estimate:
        return EXIT_OK
    if expected.calls and not options.yes:
        _confirm_cost()
    report = BuildReport()
    try:
        with TerminalBar("Building") as watch:
            graph = run_build(
                corpus,
                build_spec,
                models,
                watch,
                report=report,
                lanes=max(1, options.requests),
                cap=cap,
                workers=workers,
            )
    except UnparsedReplies:
        raise
    except (KeyboardInterrupt, ModelFailed):
        warn([CONTINUE_NOTE])
        raise
    chunks = graph.columns.chunks
    print(
        f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {len(chunks or ()):,} chunks, in "
        f"{duration_text(sum(report.seconds.values()))}"
    )
    _print_report(report.to_plain())
    warn(_other_build_note(corpus, build_spec))
    return EXIT_OK


def _other_build_note(corpus: Corpus, built: GraphBuild) -> list[str]:
    """Return a sentence if methods on this kind of graph use another build."""
    used = build_for(corpus, built.graph) if built.graph else built
    if used.id == built.id:
        return []
    options = f'--vary "BuiltGraph.build={built.id}", reproduce --build "{built.id}"'
    return [f"Methods on this kind of graph read the build {used.id}. To ask this one: {options}"]


def _replies(options) -> int:
    file, models = Path(options.to), options.engine().models
    with TerminalBar("Gathering replies"):
        builds = write_shipment(
            open_corpus(options.name), [find_build(one) for one in options.builds], models, file
        )
    for build_spec in builds:
        print(f"{build_spec.build}: {build_spec.words()}")
    print(f"{file}: {file.stat().st_size / 1000:,.0f} kB")
    return EXIT_OK


def _confirm_cost() -> None:
    """Ask the user to confirm the cost. Raises BadInput if the user does not confirm it."""
    if not sys.stdin.isatty():
        raise BadInput("Say --yes to put the language model to work.")
    if input("Go on? [y/N] ").strip().lower() not in ("y", "yes"):
        raise BadInput("Nothing was built.")


def _status(options) -> int:
    corpus = open_corpus(options.name)
    for build in [*builds_of(corpus).values(), *own_builds(corpus).values()]:
        print(f"{build.id:22} {_state(corpus, build):40} {build.title}")
    for shipped_build in shipped_builds(corpus):
        print(f"{shipped_build.build} comes with it: {shipped_build.words()}")
    return EXIT_OK


def _state(corpus: Corpus, build: GraphBuild) -> str:
    """Return the state of a build in words, with its counts."""
    status = build_status(corpus, build)
    if not status.is_built:
        is_shipped = find_shipped_build(corpus, build)
        return "comes with it, opened when asked" if is_shipped else "not built"
    counts, used = status.report.get("counts", {}), status.report.get("usage", {})
    state = {
        "": "built",
        EARLIER_VERSION_NOTE: "by an earlier version",
        RENAMED_NOTE: "built, names marked since",
    }.get(status.outdated, "of earlier documents")
    parts = [state]
    parts += [
        f"{counts[noun]:,} {noun}"
        for noun in ("chunks", *UNREADABLE_COUNTS, "dropped")
        if counts.get(noun)
    ]
    if status.uncovered:
        parts.append("not all documents")
    if not status.is_indexed:
        parts.append("vectors when a line reads them")
    if used.get("calls"):
        parts.append(f"{used['calls']:,} calls")
    parts += [f"by {model}" for model in status.report.get("models", ())]
    return ", ".join(parts)


def _print_report(report: dict) -> None:
    """Print the counts, the usage of models and the notes of a build."""
    print(", ".join(f"{noun} {count:,}" for noun, count in report["counts"].items() if count))
    usage = report["usage"]
    if usage["calls"]:
        print(", ".join(f"{noun.replace('_', ' ')} {count:,}" for noun, count in usage.items()))
    warn(report["notes"])

"""Commands `corpus build`, `corpus status` and `corpus replies`.

They build the graphs of a corpus, show their state, and export the replies they are made from.
"""

from __future__ import annotations

import sys
from pathlib import Path

from core.builds import build, build_for, chosen, own_builds, status
from core.builds.base import LANES
from core.builds.catalogue import EXTRACTORS, KINDS, Build, find
from core.builds.cost import cost
from core.builds.report import UNREADABLE, BuildReport
from core.builds.run import EARLIER, RENAMED
from core.builds.shipped import FACTS, NAME, builds_of, shipped, ships
from core.builds.shipping import ship
from core.commands.spread import add_workers, workers_of
from core.commands.terminal import CONTINUE, OK, add_count, bar, warn
from core.corpus import Corpus, open_corpus
from core.errors import BadInput, ModelFailed, NothingRead
from core.io.durations import span
from core.languages import is_english, known_code
from core.models.price import cap_of


def add_parts(parts) -> None:
    """Add these parts of `corpus` and their options."""
    made = parts.add_parser(
        "build",
        help="make a graph of a corpus",
        description="Make a graph of a corpus. What was read in each chunk is saved as it comes; "
        "after Ctrl-C or a crash the same command continues from there, and after a change of the "
        "documents only what depends on it is made again.",
    )
    made.add_argument("name", metavar="NAME", help="the corpus")
    made.add_argument(
        "--graph",
        default="rkg",
        metavar="KIND",
        help=f"{', '.join(KINDS)}; or a line of building operators (default: rkg)",
    )
    made.add_argument(
        "--extractor",
        default="",
        choices=("", *EXTRACTORS),
        metavar="WHO",
        help="llm: a language model; described: names by a parser, described by a language model; "
        "names: names and terms, without one; noun-phrases: every noun phrase, without one; "
        "paper: a language model, with the papers' settings; for links: given, nearest, terms, "
        "cited, cited-llm",
    )
    made.add_argument(
        "--model",
        default="",
        metavar="MODEL",
        help="the language model that is asked, by name, in the place of the build's own",
    )
    made.add_argument(
        "--cap",
        default="",
        metavar="MOST",
        help="stop before language models have cost more in all: money (2.50), by the prices in "
        "models.toml, or tokens (200000tokens); the same command with a higher cap goes on",
    )
    made.add_argument(
        "--estimate",
        action="store_true",
        help="say what it will cost in calls, tokens, money and minutes, and build nothing",
    )
    made.add_argument(
        "--language",
        default="",
        metavar="CODE",
        help="read the documents as texts in this language, as de; it is saved with them",
    )
    made.add_argument(
        "--yes", action="store_true", help="do not ask before a language model is put to work"
    )
    add_count(made, "--lanes", LANES, "chunks that a language model reads at a time")
    add_workers(made)
    made.set_defaults(run=_build)

    ships = parts.add_parser(
        "replies",
        help="write what graphs stand on into a file that ships",
        description="Write the replies that these builds need, and what was read in each chunk, "
        "into a file that says which model made them, how long that took and how much could not "
        f"be read. As data/NAME/{NAME} it ships with the corpus: the graphs then open without the "
        "model. Of builds by noun phrases it is what the parser found, to ship as "
        f"data/NAME/{FACTS}.",
    )
    ships.add_argument("name", metavar="NAME", help="the corpus")
    ships.add_argument(
        "builds", nargs="+", metavar="BUILD", help="the builds, as status lists them"
    )
    ships.add_argument("--to", required=True, metavar="FILE", help="the file to write")
    ships.set_defaults(run=_replies)

    shown = parts.add_parser(
        "status", help="which graphs of a corpus are built, and what building them took"
    )
    shown.add_argument("name", metavar="NAME", help="the corpus")
    shown.set_defaults(run=_status)


def _build(options) -> int:
    cap, workers = cap_of(options.cap), workers_of(options)
    one = find(options.graph) if "(" in options.graph else chosen(options.graph, options.extractor)
    one = one.by(options.model) if options.model else one
    with bar("Opening the corpus") as watch:
        corpus = open_corpus(options.name)
        if options.language:
            corpus = corpus.with_language(known_code(options.language))
        watch.report("Cutting chunks")
        models = options.engine().models
        expected = cost(corpus, one, models)
    print(f"{one.title}: {one.line.words()}")
    if not is_english(corpus.language.code):
        print(f"Language: {corpus.language.words()}")
    print(expected.words())
    warn(expected.language)
    if options.estimate:
        return OK
    if expected.calls and not options.yes:
        _ask()
    report = BuildReport()
    try:
        with bar("Building") as watch:
            graph = build(
                corpus,
                one,
                models,
                watch,
                report=report,
                lanes=max(1, options.lanes),
                cap=cap,
                workers=workers,
            )
    except NothingRead:
        raise
    except (KeyboardInterrupt, ModelFailed):
        warn([CONTINUE])
        raise
    chunks = graph.columns.chunks
    print(
        f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {len(chunks or ()):,} chunks, in "
        f"{span(sum(report.seconds.values()))}"
    )
    _tell(report.plain())
    warn(_other_build(corpus, one))
    return OK


def _other_build(corpus: Corpus, one: Build) -> list[str]:
    """Return a sentence if methods on this kind of graph read another build."""
    read = build_for(corpus, one.graph) if one.graph else one
    if read.id == one.id:
        return []
    instead = f'--vary "BuiltGraph.build={one.id}", reproduce --build "{one.id}"'
    return [f"Methods on this kind of graph read the build {read.id}. To ask this one: {instead}"]


def _replies(options) -> int:
    file, models = Path(options.to), options.engine().models
    with bar("Gathering replies"):
        builds = ship(
            open_corpus(options.name), [find(one) for one in options.builds], models, file
        )
    for one in builds:
        print(f"{one.build}: {one.words()}")
    print(f"{file}: {file.stat().st_size / 1000:,.0f} kB")
    return OK


def _ask() -> None:
    """Ask the user to confirm the cost. Raises BadInput if the user does not confirm it."""
    if not sys.stdin.isatty():
        raise BadInput("Say --yes to put the language model to work.")
    if input("Go on? [y/N] ").strip().lower() not in ("y", "yes"):
        raise BadInput("Nothing was built.")


def _status(options) -> int:
    corpus = open_corpus(options.name)
    for one in [*builds_of(corpus).values(), *own_builds(corpus).values()]:
        print(f"{one.id:22} {_state(corpus, one):40} {one.title}")
    for came in shipped(corpus):
        print(f"{came.build} comes with it: {came.words()}")
    return OK


def _state(corpus: Corpus, one: Build) -> str:
    now = status(corpus, one)
    if not now.built:
        return "comes with it, opened when asked" if ships(corpus, one) else "not built"
    counts, used = now.report.get("counts", {}), now.report.get("usage", {})
    state = {
        "": "built",
        EARLIER: "by an earlier version",
        RENAMED: "built, names marked since",
    }.get(now.outdated, "of earlier documents")
    more = [
        f"{counts[what]:,} {what}"
        for what in ("chunks", *UNREADABLE, "dropped")
        if counts.get(what)
    ]
    more += ["not all documents"] if now.uncovered else []
    more += [] if now.indexed else ["vectors when a line reads them"]
    more += [f"{used['calls']:,} calls"] if used.get("calls") else []
    return ", ".join([state, *more, *(f"by {model}" for model in now.report.get("models", ()))])


def _tell(report: dict) -> None:
    counts = {what: number for what, number in report["counts"].items() if number}
    print(", ".join(f"{what} {number:,}" for what, number in counts.items()))
    if report["usage"]["calls"]:
        print(
            ", ".join(
                f"{what.replace('_', ' ')} {number:,}" for what, number in report["usage"].items()
            )
        )
    warn(report["notes"])

"""Command `corpus mend`: merge duplicate entities in all graphs of a corpus.

It can also evaluate a question set before and after the merges.
"""

from __future__ import annotations

from core.builds import open_graph, status
from core.builds.catalogue import Build
from core.builds.mending import ALIKE, Suggestion, by_spelling, by_vectors
from core.builds.report import NameMerges, name_merges
from core.builds.shipped import builds_of
from core.commands.evaluate import report
from core.commands.terminal import OK, bar, finish, warn
from core.corpus import Corpus, open_corpus
from core.corpus.mends import Mends, mend, mends_of
from core.errors import BadInput, nearest, shorten
from core.evaluation.reports.summary import Summary
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.starting import evaluate
from core.evaluation.runs.store import Store, evaluations_file
from core.graph.edits import Edit, edited, unmatched
from core.instances.catalogue import as_built, catalogue, find

ALL = "all"
PRINTED = 40  # rows of a list that are printed
BARE = ("chunks", "passage", "tree", "tree-k", "links")  # kinds of graph without entities
USUAL = "vgraphrag"  # the method that is evaluated by default


def add_part(parts) -> None:
    """Add this part of `corpus` and its options."""
    made = parts.add_parser(
        "mend",
        help="merge entities that are the same, in all graphs of a corpus",
        description="List entities of a graph that are likely the same, and the merges that are "
        "saved for the corpus. Saved merges are done again on each graph that is built of it. "
        "With --set a question set is asked before and after, and the answers are paired.",
    )
    made.add_argument("name", metavar="NAME", help="the corpus")
    made.add_argument(
        "--graph",
        default="",
        metavar="BUILD",
        help="a build, as status lists them (default: the first that has entities)",
    )
    made.add_argument(
        "--alike",
        nargs="?",
        type=float,
        const=ALIKE,
        metavar="COSINE",
        help=f"suggest names with alike vectors (default: {ALIKE})",
    )
    made.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="NAME",
        help="merge this suggested name, or “all”; repeat for more",
    )
    made.add_argument(
        "--merge",
        action="append",
        default=[],
        nargs=2,
        metavar=("NAME", "INTO"),
        help="merge two names; repeat for more",
    )
    made.add_argument(
        "--refuse",
        action="append",
        default=[],
        nargs=2,
        metavar=("NAME", "INTO"),
        help="two names that are not the same",
    )
    made.add_argument(
        "--allow",
        action="append",
        default=[],
        nargs=2,
        metavar=("NAME", "INTO"),
        help="two names that are the same after all",
    )
    made.add_argument(
        "--forget",
        action="append",
        default=[],
        metavar="NAME",
        help="undo the merge of this name, or “all”",
    )
    made.add_argument(
        "--set",
        default="",
        metavar="SET",
        help="ask this question set before and after the saved merges",
    )
    made.add_argument(
        "--line", default=USUAL, metavar="ID", help=f"the instance that is asked (default: {USUAL})"
    )
    made.add_argument(
        "--sample", type=int, metavar="N", help="questions drawn from the set (default: all)"
    )
    made.add_argument(
        "--llm",
        action="store_true",
        help="let a language model answer; else retrieval alone is measured",
    )
    made.set_defaults(run=run)


def run(options) -> int:
    """Change and list the merges, and return the exit code.

    If a set is named, it is evaluated before and after the merges.
    """
    with bar("Opening the corpus"):
        corpus = open_corpus(options.name)
    build = _build(corpus, options.graph)
    graph = open_graph(corpus, build)
    engine = options.engine()
    mends = _forgotten(corpus, options.forget)
    if options.refuse:
        mends = mend(corpus, lambda now: now.refusing(options.refuse))
    if options.allow:
        mends = mend(corpus, lambda now: now.allowing(options.allow))
    if options.merge:
        edits = [Edit("merge", (name, into)) for name, into in options.merge]
        if absent := unmatched(graph, [*mends.edits, *edits]):
            wrong = [edit for edit in absent if edit in edits]
            if wrong:
                raise BadInput(
                    f"“{wrong[0].names[0]}” and “{wrong[0].names[1]}” are not both entities of "
                    f"{graph.name}."
                )
        mends = mend(corpus, lambda now: now.accepted(edits))
    found = _suggested(graph, mends, engine, options.alike)
    if options.accept:
        mends = _accepted(corpus, found, options.accept)
        found = _suggested(graph, mends, engine, options.alike)
    _print(graph, mends, found, name_merges((now := status(corpus, build)).report))
    warn([now.outdated] if now.renamed else [])
    if options.set:
        _evaluate(options, engine, mends)
    return OK


def _build(corpus: Corpus, spec: str) -> str | Build:
    """Return the build that is named, or the first one that has entities.

    Raises BadInput if there is none.
    """
    if spec:
        return spec
    for one in builds_of(corpus).values():
        if one.graph not in BARE and status(corpus, one).serves:
            return one
    raise BadInput(
        f"No graph with entities is built of {corpus.name}; build one with: python -m core corpus "
        f"build {corpus.name}"
    )


def _forgotten(corpus: Corpus, names: list[str]) -> Mends:
    mends = mends_of(corpus)
    if not names:
        return mends
    chosen = [edit for edit in mends.edits if ALL in names or edit.names[0] in names]
    known = {edit.names[0] for edit in mends.edits}
    if missing := [name for name in names if name != ALL and name not in known]:
        raise BadInput(f"No merge of “{shorten(missing[0])}” is saved.{nearest(missing[0], known)}")
    return mend(corpus, lambda now: now.without(chosen))


def _suggested(graph, mends: Mends, engine, least: float | None) -> list[Suggestion]:
    now = edited(graph, mends.edits)
    with bar("Comparing names"):
        alike = [] if least is None else by_vectors(now, mends, engine.models.encoder(), least)
        return [*by_spelling(now, mends), *alike]


def _accepted(corpus: Corpus, found: list[Suggestion], names: list[str]) -> Mends:
    known = {one.edit.names[0] for one in found}
    if missing := [name for name in names if name != ALL and name not in known]:
        raise BadInput(
            f"“{shorten(missing[0])}” is not suggested.{nearest(missing[0], known)} Use --merge "
            "for two names of your own."
        )
    chosen = [one.edit for one in found if ALL in names or one.edit.names[0] in names]
    return mend(corpus, lambda now: now.accepted(chosen))


def _print(graph, mends: Mends, found: list[Suggestion], joined: NameMerges) -> None:
    if joined.made:
        print(f"names joined by the build: {joined.made_in_all:,}")
    for row in joined.made[:PRINTED]:
        print(f"  {row.name} -> {row.into}  {row.rule}")
    _rest(joined.made_in_all)
    if joined.near:
        print(f"names that may be one of several: {joined.near_in_all:,}")
    for near in joined.near[:PRINTED]:
        print(f"  {near.name}: {', '.join(near.candidates)}")
    _rest(joined.near_in_all)
    absent = set(unmatched(graph, mends.edits))
    print(
        f"merges saved: {len(mends.edits):,}"
        + (f", of which {len(absent):,} fit nothing in {graph.name}" if absent else "")
    )
    for edit in mends.edits:
        print(
            f"  {edit.names[0]} -> "
            f"{edit.names[1]}{'  (not in this graph)' if edit in absent else ''}"
        )
    if mends.refused:
        print(f"not the same: {len(mends.refused):,}")
    for names in mends.refused:
        print(f"  {' / '.join(names)}")
    print(f"suggestions: {len(found):,}")
    for one in found[:PRINTED]:
        why = one.reason if one.cosine is None else f"{one.reason}, {one.cosine:.2f}"
        print(
            f"  {one.edit.names[0]} ({one.passages[0]:,}) -> {one.edit.names[1]} "
            f"({one.passages[1]:,})  {why}"
        )
    _rest(len(found))


def _rest(rows: int) -> None:
    """Print how many rows are not listed."""
    if rows > PRINTED:
        print(f"  and {rows - PRINTED:,} more")


def _evaluate(options, engine, mends: Mends) -> None:
    """Evaluate a set on the graph as built and on the merged one.

    The figures are printed with their paired difference. Raises BadInput if no merge is saved.
    """
    if not mends.edits:
        raise BadInput("No merge is saved, so that nothing differs; accept some first.")
    known = catalogue()
    after = find(options.line, known)
    plan = make_plan(
        (as_built(after), after), options.set, options.sample, engine.graph, model=options.llm
    )
    store = Store(evaluations_file())
    job = evaluate(engine, store, plan)
    finish(job)
    report(Summary(store.run(job.number), store.rows(job.number)), {}, [], False)

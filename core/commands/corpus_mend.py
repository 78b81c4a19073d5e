"""Command `corpus mend`: merge duplicate entities in all graphs of a corpus.

It can also evaluate a question set before and after the merges.
"""

from __future__ import annotations

from core.builds import build_status, open_graph
from core.builds.catalogue import GraphBuild
from core.builds.merge_suggestions import (
    MIN_NAME_COSINE,
    Suggestion,
    suggest_by_spelling,
    suggest_by_vectors,
)
from core.builds.report import NameMerges, name_merges
from core.builds.shipped_data import builds_of
from core.commands.evaluate import report_run
from core.commands.terminal import (
    EXIT_OK,
    TerminalBar,
    add_list,
    add_old_name,
    add_switch,
    add_text,
    finish_job,
    warn,
)
from core.corpus import Corpus, open_corpus
from core.corpus.entity_merges import EntityMerges, change_merges, read_merges
from core.errors import BadInput, shorten, suggest_name
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.store import Store, evaluations_file
from core.graph.edits import Edit, edit_graph, unmatched_edits
from core.methods.catalogue import catalogue, find_method, without_saved_merges

ALL_MERGES = "all"
MAX_PRINTED_ROWS = 40  # rows of a list that are printed
KINDS_WITHOUT_ENTITIES = ("chunks", "passage", "tree", "tree-k", "links")  # of graphs
DEFAULT_METHOD = "vgraphrag"  # the method that is evaluated by default


def add_part(parts) -> None:
    """Add this part of `corpus` and its options."""
    mend_parser = parts.add_parser(
        "mend",
        help="merge entities that are the same, in all graphs of a corpus",
        description="List entities of a graph that are likely the same, and the merges that are "
        "saved for the corpus. Saved merges are done again on each graph that is built of it. "
        "With --set a question set is asked before and after, and the answers are paired.",
    )
    mend_parser.add_argument("name", metavar="NAME", help="the corpus")
    add_text(
        mend_parser,
        "--graph",
        "BUILD",
        "a build, as status lists them (default: the first that has entities)",
    )
    mend_parser.add_argument(
        "--alike",
        nargs="?",
        type=float,
        const=MIN_NAME_COSINE,
        metavar="COSINE",
        help=f"suggest names with alike vectors (default: {MIN_NAME_COSINE})",
    )
    add_list(
        mend_parser, "--accept", "NAME", "merge this suggested name, or “all”; repeat for more"
    )
    add_list(mend_parser, "--merge", ("NAME", "INTO"), "merge two names; repeat for more", nargs=2)
    add_list(mend_parser, "--refuse", ("NAME", "INTO"), "two names that are not the same", nargs=2)
    add_list(
        mend_parser, "--allow", ("NAME", "INTO"), "two names that are the same after all", nargs=2
    )
    add_list(mend_parser, "--forget", "NAME", "undo the merge of this name, or “all”")
    add_text(mend_parser, "--set", "SET", "ask this question set before and after the saved merges")
    mend_parser.add_argument(
        "--method",
        default=DEFAULT_METHOD,
        metavar="ID",
        help=f"the method that is asked (default: {DEFAULT_METHOD})",
    )
    add_old_name(mend_parser, "--line", dest="method")
    mend_parser.add_argument(
        "--sample", type=int, metavar="N", help="questions drawn from the set (default: all)"
    )
    add_switch(
        mend_parser, "--llm", "let a language model answer; else retrieval alone is measured"
    )
    mend_parser.set_defaults(run=run)


def run(options) -> int:
    """Change and list the merges, and return the exit code.

    If a set is named, it is evaluated before and after the merges.
    """
    with TerminalBar("Opening the corpus"):
        corpus = open_corpus(options.name)
    build = _choose_build(corpus, options.graph)
    graph = open_graph(corpus, build)
    engine = options.engine()
    merges = _remove_merges(corpus, options.forget)
    if options.refuse:
        merges = change_merges(corpus, lambda saved: saved.with_refusals(options.refuse))
    if options.allow:
        merges = change_merges(corpus, lambda saved: saved.without_refusals(options.allow))
    if options.merge:
        edits = [Edit("merge", (name, into)) for name, into in options.merge]
        for edit in unmatched_edits(graph, [*merges.edits, *edits]):
            if edit in edits:
                raise BadInput(
                    f"“{edit.names[0]}” and “{edit.names[1]}” are not both entities of "
                    f"{graph.name}."
                )
        merges = change_merges(corpus, lambda saved: saved.with_merges(edits))
    suggestions = _suggest_merges(graph, merges, engine, options.alike)
    if options.accept:
        merges = _accept_suggestions(corpus, suggestions, options.accept)
        suggestions = _suggest_merges(graph, merges, engine, options.alike)
    status = build_status(corpus, build)
    _print(graph, merges, suggestions, name_merges(status.report))
    warn([status.outdated] if status.has_renamed else [])
    if options.set:
        _evaluate(options, engine, merges)
    return EXIT_OK


def _choose_build(corpus: Corpus, spec: str) -> str | GraphBuild:
    """Return the named build, or the first built one that has entities.

    Raises BadInput if there is none.
    """
    if spec:
        return spec
    for one in builds_of(corpus).values():
        if one.graph not in KINDS_WITHOUT_ENTITIES and build_status(corpus, one).can_be_opened:
            return one
    raise BadInput(
        f"No graph with entities is built of {corpus.name}; build one with: hopscope corpus "
        f"build {corpus.name}"
    )


def _remove_merges(corpus: Corpus, names: list[str]) -> EntityMerges:
    merges = read_merges(corpus)
    if not names:
        return merges
    merged_names = {edit.names[0] for edit in merges.edits}
    for name in names:
        if name != ALL_MERGES and name not in merged_names:
            hint = suggest_name(name, merged_names)
            raise BadInput(f"No merge of “{shorten(name)}” is saved.{hint}")
    edits = [edit for edit in merges.edits if ALL_MERGES in names or edit.names[0] in names]
    return change_merges(corpus, lambda saved: saved.without_merges(edits))


def _suggest_merges(graph, merges: EntityMerges, engine, cosine: float | None) -> list[Suggestion]:
    merged_graph = edit_graph(graph, merges.edits)
    with TerminalBar("Comparing names"):
        alike: list[Suggestion] = []
        if cosine is not None:
            alike = suggest_by_vectors(merged_graph, merges, engine.models.encoder(), cosine)
        return [*suggest_by_spelling(merged_graph, merges), *alike]


def _accept_suggestions(corpus: Corpus, rows: list[Suggestion], names: list[str]) -> EntityMerges:
    suggested_names = {one.edit.names[0] for one in rows}
    for name in names:
        if name != ALL_MERGES and name not in suggested_names:
            raise BadInput(
                f"“{shorten(name)}” is not suggested."
                f"{suggest_name(name, suggested_names)} Use --merge "
                "for two names of your own."
            )
    edits = [one.edit for one in rows if ALL_MERGES in names or one.edit.names[0] in names]
    return change_merges(corpus, lambda saved: saved.with_merges(edits))


def _print(graph, merges: EntityMerges, rows: list[Suggestion], build_merges: NameMerges) -> None:
    """Print the merges of the build, the saved ones, and the suggestions."""
    if build_merges.made:
        print(f"names joined by the build: {build_merges.made_in_all:,}")
    for row in build_merges.made[:MAX_PRINTED_ROWS]:
        print(f"  {row.name} -> {row.into}  {row.rule}")
    _print_unlisted(build_merges.made_in_all)
    if build_merges.near:
        print(f"names that may be one of several: {build_merges.near_in_all:,}")
    for entry in build_merges.near[:MAX_PRINTED_ROWS]:
        print(f"  {entry.name}: {', '.join(entry.candidates)}")
    _print_unlisted(build_merges.near_in_all)
    unmatched = set(unmatched_edits(graph, merges.edits))
    unmatched_text = f", of which {len(unmatched):,} fit nothing in {graph.name}"
    print(f"merges saved: {len(merges.edits):,}{unmatched_text if unmatched else ''}")
    for edit in merges.edits:
        mark = "  (not in this graph)" if edit in unmatched else ""
        print(f"  {edit.names[0]} -> {edit.names[1]}{mark}")
    if merges.refused:
        print(f"not the same: {len(merges.refused):,}")
    for names in merges.refused:
        print(f"  {' / '.join(names)}")
    print(f"suggestions: {len(rows):,}")
    for suggestion in rows[:MAX_PRINTED_ROWS]:
        name, into = suggestion.edit.names
        cosine = "" if suggestion.cosine is None else f", {suggestion.cosine:.2f}"
        print(
            f"  {name} ({suggestion.passages[0]:,}) -> {into} ({suggestion.passages[1]:,})  "
            f"{suggestion.reason}{cosine}"
        )
    _print_unlisted(len(rows))


def _print_unlisted(rows: int) -> None:
    """Print how many rows are not listed."""
    if rows > MAX_PRINTED_ROWS:
        print(f"  and {rows - MAX_PRINTED_ROWS:,} more")


def _evaluate(options, engine, merges: EntityMerges) -> None:
    """Evaluate a set on the graph as built and on the merged one.

    The figures are printed with their paired difference. Raises BadInput if no merge is saved.
    """
    if not merges.edits:
        raise BadInput("No merge is saved, so that nothing differs; accept some first.")
    methods = catalogue()
    after = find_method(options.method, methods)
    plan = make_plan(
        (without_saved_merges(after), after),
        options.set,
        options.sample,
        engine.graph,
        model=options.llm,
    )
    store = Store(evaluations_file())
    job = evaluate(engine, store, plan)
    finish_job(job)
    report_run(RunSummary(store.run(job.number), store.rows(job.number)), {}, [], False)

"""Command `reproduce`: measure a table of a paper and compare it with the printed values."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from core.builds import build_for, build_status
from core.builds.shipped_data import find_shipped_build
from core.commands import reproduce_costs
from core.commands.terminal import (
    EXIT_OK,
    TerminalBar,
    add_list,
    add_switch,
    add_text,
    check_writable,
    finish_job,
    one_line_advice,
    parse_sample,
    print_json,
    warn,
    write_text,
)
from core.commands.worker_options import add_workers, workers_of
from core.corpus import open_corpus
from core.errors import BadInput, suggest_name
from core.evaluation.pairwise.pair_judgements import start_judging
from core.evaluation.papers.building_costs import BuildingCosts
from core.evaluation.papers.experiments import (
    Experiment,
    PublishedSet,
    cost_figures,
    find_experiment,
    papers,
    printed_tables,
)
from core.evaluation.papers.gains import gain_correlations, quartiles
from core.evaluation.papers.graphs import check_builds, graphs_sentence, kind_of_graph
from core.evaluation.papers.measures import MEASURES
from core.evaluation.papers.paper_comparison import (
    MetricComparison,
    TextTable,
    compare_with_paper,
    comparison_markdown,
    set_order_sentences,
    table_texts,
    wide_table,
)
from core.evaluation.papers.printed_side import printed_values_and_needs
from core.evaluation.papers.printed_values import PrintedTable
from core.evaluation.papers.walk_updates import prepare_walks
from core.evaluation.papers.win_rates import (
    compare_pairwise_rates,
    compare_win_rates,
    recall_correlations,
)
from core.evaluation.reports.export import align_columns
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.store import Store, evaluations_file
from core.io.data_folders import absent_data_advice
from core.io.durations import with_time_left
from core.methods.catalogue import Method, catalogue
from core.operators.texts.built_graph import BuiltGraph
from core.results import method_row_dict
from core.sources import corpus_of_set

SMALL_RUN_QUESTIONS = 5  # questions of each set with --small, unless --sample names a number
NEEDS_HEADING = "What it takes to measure them here"
SMALL_GRAPHS = (
    "Graphs in small are those that ship or that need no language model, not the paper's (--build "
    "paper)."
)
REPRODUCE_EPILOG = """Without a name it lists every table and figure of the five papers, and what makes \
each. A run is an evaluation for each
set, saved as it goes: the same command goes on with it. --small asks a few shipped questions with \
the models of this computer, in
minutes; its figures show that all of it runs, and say little of the methods."""


def add_command(subparsers) -> None:
    """Add the command and its options."""
    reproduce = subparsers.add_parser(
        "reproduce",
        epilog=REPRODUCE_EPILOG,
    )
    reproduce.add_argument(
        "name", nargs="?", metavar="NAME", help="the experiment, such as lego-table-7"
    )
    add_list(
        reproduce,
        "--data",
        "WHERE",
        "a folder with the published files, or CWQ=FILE, CWQ=SET for one set of the paper; "
        "may be repeated",
    )
    add_list(reproduce, "--set", "NAME", "only this set of the paper; may be repeated")
    add_list(
        reproduce,
        "--graph",
        "NAME",
        "the graph that questions without graphs of their own are asked on, or CRAG=NAME for "
        "one set of the paper; may be repeated",
    )
    add_list(
        reproduce,
        "--build",
        "WHICH",
        "graphs of the rows on documents: an extractor, as names, or a build, as kg-names; "
        "may be repeated (default: the paper's)",
    )
    add_switch(
        reproduce,
        "--small",
        f"{SMALL_RUN_QUESTIONS} shipped questions of each set, and the methods that need no more",
    )
    add_text(
        reproduce,
        "--sample",
        "N",
        f"questions of each set, or all (default: all; with --small {SMALL_RUN_QUESTIONS})",
    )
    add_text(
        reproduce,
        "--answer",
        "MODEL",
        "the language model that answers and picks (default: those of the roles)",
    )
    add_switch(
        reproduce, "--no-llm", "ask no language model for answers; the graph reader's are scored"
    )
    add_switch(
        reproduce, "--judge", "let the model of the role judge say whether each answer is right"
    )
    add_switch(reproduce, "--fetch", "say where the sets are published, and run nothing")
    add_switch(reproduce, "--printed", "show the paper's values alone, and run nothing")
    reproduce.add_argument(
        "--out",
        metavar="FILE",
        help="write the tables as Markdown; of costs the picture beside it, as HTML",
    )
    add_switch(reproduce, "--json", "print one JSON object")
    add_workers(reproduce)
    reproduce.set_defaults(run=run)


def run(options) -> int:
    """List the experiments, or run one, print and write it; return the exit code."""
    if options.name is None:
        _list(options.json)
        return EXIT_OK
    experiment = _find_experiment(options.name)
    if options.printed or isinstance(experiment, PrintedTable):
        return _show_printed(options, experiment)
    if isinstance(experiment, BuildingCosts):
        return reproduce_costs.run(options, experiment)
    if (experiment.against or experiment.duels) and options.no_llm:
        raise BadInput(
            f"{experiment.id} compares the answers of a language model; leave out --no-llm."
        )
    if options.fetch:
        for name in experiment.printed:
            print(f"{name}: {experiment.sets[name].fetch}")
        return EXIT_OK
    return _reproduce(options, experiment)


def _reproduce(options, experiment: Experiment) -> int:
    """Measure the tables of an experiment, and print and write them."""
    out = Path(options.out) if options.out else None
    if out is not None:
        check_writable(out)
    if options.build:
        _check_build_names(options.build, experiment)
    sets = _available_sets(options, experiment)
    missing_sets = [name for name in options.set or experiment.printed if name not in sets]
    warn(
        f"{name} is left out: no file of it was named. {experiment.sets[name].fetch}."
        for name in missing_sets
    )
    if not sets:
        raise BadInput(
            f"No set of {experiment.id} is here. Name a folder or file with --data, try it with "
            "--small, or see the paper's values with --printed."
        )
    engine = options.engine()
    if options.answer:
        for role in ("answer", "choose"):
            engine.models.set_role(role, options.answer, save=False)
    make_tables = _measure_tables if experiment.measures else _evaluate_tables
    tables, differs = make_tables(options, engine, experiment, sets)
    if out is not None:
        write_text(out, comparison_markdown(experiment, tables, differs))
    _print(experiment, tables, differs, options.json)
    return EXIT_OK


def _check_build_names(builds: Sequence[str], experiment: Experiment) -> None:
    """Raise BadInput for a build that no method of the experiment can use."""
    methods: list[Method] = []
    for name in experiment.printed:
        methods += experiment.for_question_set(catalogue(), name)[1]
    check_builds(builds, map(kind_of_graph, methods))


def _find_experiment(id: str) -> Experiment | BuildingCosts | PrintedTable:
    """Return the experiment of that id. Raises BadInput with the nearest id."""
    return cost_figures().get(id) or printed_tables().get(id) or find_experiment(id)


def _measure_tables(
    options, engine, experiment: Experiment, sets: dict[str, str]
) -> tuple[list[MetricComparison | TextTable], list[str]]:
    """Return the tables of an experiment that needs no evaluation, and its differences.

    The differences are sentences on settings that deviate from the paper's.
    """
    with TerminalBar("Opening the graph") as watch:
        measured_tables = MEASURES[experiment.measures](
            engine,
            sets,
            dict(experiment.rows),
            _sample_size(options),
            partial(_named_graph, options.graph),
            watch,
        )
    return [*measured_tables], [*experiment.differs, *_small_run_notes(options, experiment, sets)]


def _evaluate_tables(
    options, engine, experiment: Experiment, sets: dict[str, str]
) -> tuple[list[MetricComparison | TextTable], list[str]]:
    """Evaluate each set; return the tables, and sentences on differences from the paper."""
    tables: list[MetricComparison | TextTable] = []
    differs = _setting_differences(options, experiment, sets, engine)
    for name, set_source in sets.items():
        set_experiment, methods = experiment.for_question_set(
            catalogue(), name, options.small, options.build
        )
        _check_built(set_source, methods)
        summary = _evaluate_set(options, engine, set_experiment, methods, name, set_source)
        differs += [
            f"{name}: {sentence}"
            for sentence in filter(
                None, [_sample_note(summary), summary.progress_text(), *summary.failure_sentences()]
            )
        ]
        if (source := corpus_of_set(set_source)) is not None and not set_experiment.vary:
            graphs = graphs_sentence(open_corpus(source.name), methods, set_experiment.rows)
            differs += [f"{name}: {graphs}"] if graphs else []
        table = (
            gain_correlations(set_experiment, name, summary)
            if set_experiment.after
            else compare_with_paper(set_experiment, name, summary)
        )
        differs += _quartiles(set_experiment, experiment.after, name, summary)
        if set_experiment.against or set_experiment.duels:
            rates, sentences = _judge_pairs(engine, set_experiment, name, summary, table)
            differs += [f"{name}: {sentence}" for sentence in sentences]
            table = [*table, *rates]
        tables += [wide_table(table)] if set_experiment.wide else table
    differs += set_order_sentences(tables) if len(experiment.rows) == 1 else []
    return tables, differs


def _judge_pairs(
    engine, experiment: Experiment, name: str, summary: RunSummary, rows: Sequence[MetricComparison]
) -> tuple[list[MetricComparison], list[str]]:
    """Return the win rates of a set's answers next to the paper's, with sentences."""
    tally = finish_job(start_judging(engine, summary, against=experiment.against))
    rates, sentences = compare_pairwise_rates(experiment, name, summary, tally), [*tally.doubts()]
    if experiment.wins:
        rates.insert(0, compare_win_rates(experiment, name, summary, tally))
        sentences += recall_correlations(rows, rates[0], tally)
    return rates, sentences


def _show_printed(options, target: Experiment | BuildingCosts | PrintedTable) -> int:
    """Print and write the paper's values alone."""
    tables, needs = printed_values_and_needs(target)
    if options.out:
        out = Path(options.out)
        check_writable(out)
        write_text(out, comparison_markdown(target, tables, needs, NEEDS_HEADING))
    _print(target, tables, needs, options.json, key="needs")
    return EXIT_OK


def _sample_size(options) -> int | None:
    """Return the number of questions of each set; None for all. Raises BadInput."""
    default = str(SMALL_RUN_QUESTIONS) if options.small else "all"
    return parse_sample(options.sample or default)


def _named_graph(graphs: Sequence[str], name: str) -> str:
    """Return the graph for a set of the paper, from the values of `--graph`.

    It is the last one named for this set, else the last for all sets. Empty if none is named.
    """
    for_set = [graph.partition("=")[2] for graph in graphs if graph.startswith(f"{name}=")]
    for_all = [graph for graph in graphs if "=" not in graph]
    return (for_set or for_all or [""])[-1]


def _list(as_json: bool) -> None:
    """Print every table and figure of the papers with the command that makes it."""
    if as_json:
        print_json([dataclasses.asdict(paper) for paper in papers()])
        return
    for paper in papers():
        print(f"\n{paper.title}")
        for experiment in paper.experiments:
            sets = ", ".join(experiment.shipped_sets()) or "none"
            hours = f"about {experiment.hours} hour{'s' * (experiment.hours != 1)}"
            print(
                f"  {experiment.id:30} {experiment.place}. {experiment.title}; {hours} on a "
                f"graphics card; sets in small: {sets}"
            )
        for cost in paper.costs:
            print(
                f"  {cost.id:30} {cost.place}. {cost.title}; about {cost.hours} hours on a "
                f"graphics card; in small: {cost.small}"
            )
        for table in paper.tables:
            print(f"  {table.id:30} {table.place}. {table.title}; as printed. {table.source}")
        for place, command in paper.elsewhere.items():
            print(f"  {'':30} {place}: {command}")


def _available_sets(options, experiment: Experiment) -> dict[str, str]:
    """Return the available question set or file of each set of the paper.

    They are in the paper's order. Raises BadInput for an unknown set or a wrong `--data`.
    """
    named_graphs = [graph.partition("=")[0] for graph in options.graph if "=" in graph]
    for name in (*options.set, *named_graphs):
        if name not in experiment.printed:
            raise BadInput(
                f"{experiment.id} has no set “{name}”."
                f"{suggest_name(name, tuple(experiment.printed))}"
            )
    if options.small:
        available_sets = _present_sets(experiment)
    else:
        available_sets = _find_sets(options.data, experiment)
    if not options.set:
        return available_sets
    return {name: source for name, source in available_sets.items() if name in options.set}


def _present_sets(experiment: Experiment) -> dict[str, str]:
    """Return the sets of a small run that are in this installation, and warn of the others.

    Raises BadInput if there are none.
    """
    sets = experiment.shipped_sets()
    absent = {name: absent_data_advice(source) for name, source in sets.items()}
    present = {name: source for name, source in sets.items() if not absent[name]}
    missing = [f"{name} is left out:{advice}" for name, advice in absent.items() if advice]
    if not present:
        reasons = " ".join(missing) or f"No set of {experiment.id} ships."
        raise BadInput(f"{experiment.id} cannot be tried in small. {reasons}")
    warn(map(one_line_advice, missing))
    return present


def _find_sets(data: Sequence[str], experiment: Experiment) -> dict[str, str]:
    """Return the file or question set of each of the paper's sets.

    Sets that are not here are left out. The file that `data` names for a set comes first, then one
    in a folder that it names, then a set of this app. Raises BadInput for data that is neither.
    """
    set_files: dict[str, str] = {}
    folders: list[Path] = []
    for data_path in data:
        name, sign, where = data_path.partition("=")
        if sign and name in experiment.printed:
            set_files[name] = where
        elif Path(data_path).is_dir():
            folders.append(Path(data_path))
        else:
            raise BadInput(
                f"--data is a folder, or one of {', '.join(experiment.printed)} with = and a file "
                f"or set; “{data_path}” is neither."
            )
    available_sets: dict[str, str] = {}
    for name in experiment.printed:
        published = experiment.sets[name]
        source = set_files.get(name) or _find_file(folders, published) or published.set
        if source:
            available_sets[name] = source
    return available_sets


def _find_file(folders: list[Path], published: PublishedSet) -> str:
    """Return the first file in these folders that belongs to the set.

    Its name matches a file name of the published set. Empty if there is none.
    """
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()]
    for pattern in published.files:
        if matching := [file for file in files if fnmatch.fnmatch(file.name.casefold(), pattern)]:
            return str(matching[0])
    return ""


def _check_built(set_source: str, methods: Sequence[Method]) -> None:
    """Raise BadInput, with the commands to run, if graphs of the methods are missing.

    A graph that can be built without a language model does not count as missing.
    """
    source = corpus_of_set(set_source) if methods else None
    if source is None:
        return
    corpus = open_corpus(source.name)
    commands: dict[str, None] = {}  # each once
    for operator in chain.from_iterable(method.line for method in methods):
        if not isinstance(operator, BuiltGraph):
            continue
        build_spec = build_for(corpus, operator.build)
        is_usable = build_status(corpus, build_spec).can_be_opened or find_shipped_build(
            corpus, build_spec
        )
        if build_spec.line.uses_chat_model and not is_usable:
            graph = f'"{build_spec.line!r}"' if build_spec.is_own else build_spec.id
            commands[f"hopscope corpus build {corpus.name} --graph {graph}"] = None
    if commands:
        sentence = (
            f"{len(commands)} graphs are to be built first, each by a language model (--estimate "
            "says its cost):"
        )
        raise BadInput("\n".join([sentence, *commands]))


def _evaluate_set(
    options, engine, experiment: Experiment, methods: Sequence[Method], name: str, set_source: str
) -> RunSummary:
    """Evaluate one set and return the summary of the finished run.

    Raises BadInput, HopscopeError.
    """
    size, model = _sample_size(options), experiment.model and not options.no_llm
    settings: dict[str, Any] = {
        "model": model,
        "judge": options.judge or (experiment.judge and model),
        "cold": experiment.cold,
        "graph": _named_graph(options.graph, name),
        "only": experiment.sets[name].only,
        "abstract": experiment.abstract or bool(experiment.against or experiment.duels),
    }
    store = Store(evaluations_file())
    with TerminalBar("Opening the graph") as watch:
        open_graph = partial(engine.graph, watch=watch)
        plan = make_plan(methods, set_source, size, open_graph, **settings)
    warn(plan.notes)
    with TerminalBar("Encoding walks") as watch:
        prepare_walks(plan, engine, with_time_left(watch))
    job = evaluate(engine, store, plan, workers=workers_of(options))
    finish_job(job)
    return RunSummary(store.run(job.number), store.rows(job.number))


def _setting_differences(
    options, experiment: Experiment, sets: dict[str, str], engine
) -> list[str]:
    """Return sentences on the settings that differ from the paper's."""
    differences = [*experiment.differs]
    if experiment.retrieval and experiment.model:
        models = "none, so that rows that would ask one work on the question itself"
        if not options.no_llm:
            titles = engine.models.title
            models = f"{titles('answer')}, for keywords {titles('choose')}"
        differences.append(f"Language models while retrieving: {models}.")
    elif experiment.model:
        model = "nobody: the graph reader's names are scored"
        if not options.no_llm:
            model = engine.models.title("answer")
        differences.append(f"Answers in the paper: {experiment.answers}. Here: {model}.")
    return [*differences, *_small_run_notes(options, experiment, sets)]


def _small_run_notes(options, experiment: Experiment, sets: dict[str, str]) -> list[str]:
    """Return sentences on all that a small run replaces or omits."""
    if not options.small:
        return []
    descriptions = {name: experiment.sets[name].small_is for name in sets}
    notes = [f"{name}: {text}." for name, text in descriptions.items() if text]
    if experiment.extractor and not options.build:
        notes.append(SMALL_GRAPHS)
    left_out = [
        name
        for method, name in experiment.rows.items()
        if experiment.small_rows and method not in experiment.small_rows
    ]
    if left_out:
        notes.append(f"Left out in small: {', '.join(left_out)}.")
    small_values = dict.fromkeys(chain.from_iterable(experiment.small_vary.values()))
    full_values = dict.fromkeys(chain.from_iterable(experiment.vary.values()))
    for small, full in zip(small_values, full_values):
        notes.append(f"Values in small: {small.partition('=')[2]} of {full.partition('=')[2]}.")
    return notes


def _quartiles(experiment: Experiment, baseline: str, name: str, summary: RunSummary) -> list[str]:
    """Return one sentence per row with its recall in quarters of the questions.

    The quarters are by the Topological Recall of the method `baseline`; with an empty `baseline`
    there are none.
    """
    if not baseline:
        return []
    methods = catalogue()
    baseline_name = methods[baseline].short if baseline in methods else baseline
    sentences = []
    for method, row in experiment.rows.items():
        recalls = quartiles(summary, experiment.after, method)
        if recalls:
            texts = [f"{recall:.2f} ({start:.2f}, n = {n:,})" for start, recall, n in recalls]
            sentences.append(
                f"{name}, {row}: recall at 10 by quarters of the Topological Recall of "
                f"{baseline_name}, {', '.join(texts)}."
            )
    return sentences


def _sample_note(summary: RunSummary) -> str:
    """Return a sentence on the size of the sample. Empty if all questions were asked."""
    spec = summary.run.spec
    if spec["sample"] < spec["of"]:
        return f"{spec['sample']:,} of the {spec['of']:,} questions of {spec['set']}."
    return ""


def _print(
    target: Experiment | BuildingCosts | PrintedTable,
    tables: Sequence[MetricComparison | TextTable],
    sentences: Sequence[str],
    as_json: bool,
    key: str = "differs",
) -> None:
    if as_json:
        result_dict = {
            "experiment": target.id,
            "tables": [method_row_dict(one) for one in tables],
            key: sentences,
        }
        print_json(result_dict)
        return
    for table in tables:
        title, head, rows, notes = table_texts(table)
        print(f"\n{target.paper}, {target.place}: {title}")
        print("\n".join(align_columns([head, *rows])))
        print(*notes, sep="\n", end="\n" if notes else "")
    print("\n" + "\n".join(sentences))

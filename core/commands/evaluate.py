"""Command `evaluate`: run methods on a question set and compare their metrics."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from core.commands.terminal import (
    EXIT_FAILED,
    EXIT_OK,
    TerminalBar,
    add_count,
    add_list,
    add_old_name,
    add_prompt,
    add_switch,
    add_text,
    check_writable,
    finish_job,
    local_paths,
    parse_sample,
    print_json,
    warn,
    write_text,
)
from core.commands.worker_options import add_workers, workers_of
from core.datasets import dataset_of_set
from core.errors import BadInput
from core.evaluation.exchange.run_files import write_run_files
from core.evaluation.metrics.catalogue import metric
from core.evaluation.repairs.loss_report import explain_losses, own_methods
from core.evaluation.repairs.reading_run import missing_cost, start_readings
from core.evaluation.repairs.repair_trials import LineRepairs, start_repairs
from core.evaluation.reports.export import (
    align_columns,
    format_share,
    latex_table,
    rows_csv,
    summary_csv,
    with_interval,
)
from core.evaluation.reports.gate import gate_failures, parse_gates
from core.evaluation.reports.html import report_html
from core.evaluation.reports.method_names import method_names
from core.evaluation.reports.reading_shares import (
    SHARE_NAMES,
    difference_sentences,
    note_sentences,
    reading_headline,
    reading_shares,
    shares_row,
)
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.sensitivity import vary_parameter
from core.evaluation.reports.steps import counted_questions, step_effects
from core.evaluation.reports.steps_table import signed_interval
from core.evaluation.reports.summary import RunSummary, summary_dict
from core.evaluation.routing.router import router_data
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan, misfits, source_of
from core.evaluation.runs.repeats import aa_offer, with_repeats
from core.evaluation.runs.store import Store, evaluations_file
from core.lines.text import split_at_commas
from core.methods.catalogue import RUN_PREFIX, Method, catalogue, find_method, method_for_source
from core.methods.prompt_variants import methods_with_prompt, read_prompt
from core.models.price import parse_cap
from core.results import method_row_dict
from core.retrievers.runs.formats import format_title
from core.retrievers.runs.saved_runs import FileRun, save_run_file
from core.sources import GraphSource, source_in

ESTIMATE_QUESTIONS = 5  # questions that are asked to estimate the cost of the rest
MAX_PRINTED_LOSSES = 20  # lost questions that are printed for each method
EVALUATE_EPILOG = """Each answer is saved at once, in evaluations.sqlite of your Hopscope folder. The same \
command continues an unfinished run,
tries failed questions again, and shows a finished run without running anything. After Ctrl-C the \
figures so far are printed and
written, with the number of questions they rest on. The exit code is 1 where a method answered \
no question at all, or does
not reach what --fail-below asks for."""


def add_command(subparsers) -> None:
    """Add the command and its options."""
    evaluate = subparsers.add_parser(
        "evaluate",
        epilog=EVALUATE_EPILOG,
    )
    add_text(
        evaluate,
        "--set",
        "NAME",
        "a question set (metaqa-2hop-dev; metaqa-2hop: its test part), a file of questions, "
        "or hf:NAME; several with commas (default, with --run: the questions of the run)",
    )
    add_list(
        evaluate,
        "--methods",
        "IDS",
        "methods, or their steps as text, separated by commas; the others are tested against "
        "the first",
    )
    add_old_name(evaluate, "--instances", dest="methods", action="append")
    add_list(
        evaluate,
        "--run",
        "FILE",
        "a finished run from a file as one more method: TREC, rows with contexts or "
        "answers, results, traces (docs/formats.md)",
        dest="brought",
    )
    add_text(
        evaluate,
        "--qrels",
        "FILE",
        "which documents are relevant to the questions of --run (TREC, BEIR)",
    )
    add_text(evaluate, "--corpus", "NAME", "the corpus that --run is of, where no set says so")
    evaluate.add_argument(
        "--sample",
        default="200",
        metavar="N",
        help="questions drawn from each set, or all (default: 200)",
    )
    add_count(evaluate, "--seed", 0, "of the sample and of everything else drawn at random", low=0)
    add_count(evaluate, "--repeats", 1, "runs of each method with chance, with other seeds")
    add_switch(
        evaluate,
        "--rebuild",
        "also build graphs of documents again for each repeat, with other seeds",
    )
    evaluate.add_argument(
        "--graph",
        metavar="NAME",
        help="a graph's name or folder (default: the set's own; for a file without graphs, metaqa)",
    )
    add_columns(evaluate)
    add_switch(
        evaluate, "--no-llm", "ask no language model for answers; the graph reader's are scored"
    )
    add_switch(
        evaluate,
        "--abstract",
        "ask all questions as abstract ones, which may have long answers (sets of "
        "write-questions are asked so by themselves)",
    )
    add_switch(
        evaluate, "--judge", "let the model of the role judge say whether each answer is right"
    )
    add_text(
        evaluate,
        "--second-judge",
        "NAME",
        "a role or model that judges each answer too; accurate and hallucination are means "
        "over both",
    )
    add_text(
        evaluate,
        "--support",
        "WHO",
        "whether each sentence of an answer rests on what the prompt showed, by encoder, "
        "model, or both: encoder,model",
    )
    add_switch(
        evaluate,
        "--cold",
        "share and cache nothing, so that the seconds are each method's own (slow)",
    )
    add_text(
        evaluate,
        "--metrics",
        "NAMES",
        "metrics to show beside the usual ones, as path_hit@5,path_recall@5",
    )
    add_switch(evaluate, "--json", "print one JSON object")
    evaluate.add_argument(
        "--csv",
        metavar="FILE",
        help="write a row a question and method; the summary is written to FILE-summary.csv",
    )
    evaluate.add_argument(
        "--latex", metavar="FILE", help="write the summary as a LaTeX table (booktabs)"
    )
    evaluate.add_argument(
        "--html", metavar="FILE", help="write a report that opens in a browser, without a network"
    )
    evaluate.add_argument(
        "--files",
        metavar="FOLDER",
        help="write TREC runs, qrels, RAGAS rows and BenchmarkQED's answers (docs/formats.md)",
    )
    add_switch(
        evaluate,
        "--repairs",
        "try changes of one step on the questions that each method loses, without a "
        "language model, and say what they bring back",
    )
    add_switch(
        evaluate,
        "--why-lost",
        "of each finished run and retriever of your own, say where it lost questions, and "
        "which method did not lose them",
    )
    add_switch(
        evaluate,
        "--router",
        "learn a rule that chooses a method for each question, and say what it reaches on unseen "
        "questions (docs/routing.md)",
    )
    add_switch(
        evaluate,
        "--reading",
        "ask each reader again with nothing and with the evidence alone, two calls a question, and "
        "say what is lost in retrieval and what in reading; --cap counts these calls too",
    )
    evaluate.add_argument(
        "--vary",
        metavar="OPERATOR.PARAMETER=V,V",
        help="run each method once for every value of one parameter, wherever the operator "
        "occurs in it; an operator of builds is changed in the build that the method names",
    )
    add_prompt(evaluate)
    add_text(
        evaluate,
        "--cap",
        "MOST",
        "stop before language models have cost more in all: money (2.50), by the prices in "
        "models.toml, or tokens (200000tokens)",
    )
    add_switch(
        evaluate,
        "--estimate",
        f"ask the first {ESTIMATE_QUESTIONS} questions that are left, say what the rest will cost, "
        "and stop",
    )
    add_list(
        evaluate,
        "--fail-below",
        "METRIC=V",
        "exit with 1, and say why, where a method's mean is below it or the run is "
        "partial (accuracy=.7); several with commas",
    )
    evaluate.add_argument(
        "--at-once",
        type=int,
        default=0,
        metavar="N",
        help="requests that each server is sent at a time (default: as many as make replies come "
        "faster, or at_once in models.toml)",
    )
    add_workers(evaluate)
    restart_group = evaluate.add_mutually_exclusive_group()
    add_switch(
        restart_group, "--resume", "continue an unfinished run with the same settings (the default)"
    )
    add_switch(restart_group, "--again", "start a new run; the earlier one stays saved as well")
    evaluate.set_defaults(run=run)


def add_columns(command) -> None:
    """Add the option that names the columns of question files."""
    add_text(
        command,
        "--columns",
        "NAMES",
        "the columns of a file of questions without a header, in their order: "
        "question,answers,entities,id,hops, - for others",
    )


def run(options) -> int:
    """Evaluate, print and write the results, and return the exit code."""
    if options.at_once < 0:
        raise BadInput(
            "A server is sent at least one request at a time; leave out --at-once to have the "
            "number found out."
        )
    files = _files(options)
    extra_rows = [metric(name.strip()).name for name in options.metrics.split(",") if name.strip()]
    required, cap = parse_gates(options.fail_below), parse_cap(options.cap)
    engine, store = options.engine(), Store(evaluations_file())
    plan = _plan(options, engine)
    offer = aa_offer(plan.methods, engine.models, plan.model, plan.repeats)
    warn([*plan.notes, *misfits(plan.drawn, engine.graph), *offer])
    limit = ESTIMATE_QUESTIONS if options.estimate else 0  # 0: no limit
    job = evaluate(
        engine, store, plan, options.again, workers_of(options), options.at_once, cap, limit
    )
    repairs: tuple[LineRepairs, ...] = ()
    try:
        repairs = _finish_run(options, engine, store, job)
    finally:  # The figures so far are reported after Ctrl-C too.
        summary = RunSummary(store.run(job.number), store.rows(job.number))
        if summary.rows:
            report_run(
                summary,
                files,
                extra_rows,
                options.json,
                repairs,
                router=router_data(store, summary) if options.router else None,
                reading=options.reading,
            )
            _report_details(options, engine, store, summary)
        failures = list(gate_failures(summary, required))
        warn(failures)
    if failures or not all(summary.counts(method)["scored"] for method in summary.methods):
        return EXIT_FAILED
    return EXIT_OK


def _finish_run(options, engine, store: Store, job) -> tuple[LineRepairs, ...]:
    """Wait for a run, try its repairs and ask its readers again where the options ask for it."""
    finish_job(job)
    repairs: tuple[LineRepairs, ...] = ()
    if options.estimate and job.evaluation.estimate is not None:
        warn([job.evaluation.estimate.words()])
    if options.repairs:
        repairs = finish_job(start_repairs(engine, store, store.run(job.number)))
    if options.reading and not options.estimate:
        cap = job.evaluation.cap
        read_again(engine, store, job.number, cap=cap, max_concurrent=options.at_once)
    return repairs


def _report_details(options, engine, store: Store, summary: RunSummary) -> None:
    """Print losses and write files of the run. This is done if the options ask for it."""
    if options.why_lost:
        print_losses(engine, store, summary)
    if options.files:
        files = write_run_files(engine, store, summary.run, Path(options.files))
        warn([f"Written to {options.files}: {', '.join(file.name for file in files)}."])


def report_run(
    summary: RunSummary,
    files: dict[Path, Callable],
    extra_rows: list[str],
    as_json: bool,
    repairs: Sequence[LineRepairs] = (),
    *,
    router: dict[str, Any] | None = None,
    reading: bool = False,
) -> None:
    """Write the files and print the figures of a run.

    Parameters
    ----------
    summary : the figures of the run.
    files : for each file the function that returns its text.
    extra_rows : names of metrics to print in addition to the usual ones.
    as_json : whether to print one JSON object instead of tables.
    repairs : for each method the one-step changes that were tried on its lost questions.
    router : the result of `router_data`, None if no router was asked for.
    reading : whether to tell what is lost in retrieval and what in reading.
    """
    _write(files, summary)
    if as_json:
        advice = recommendation(summary)
        data = summary_dict(summary, list(dict.fromkeys([*summary.reported_metrics, *extra_rows])))
        result_dict = {
            "recommendation": advice and dataclasses.asdict(advice),
            "steps": [dataclasses.asdict(one) for one in step_effects(summary)],
        }
        result_dict |= {"repairs": [method_row_dict(one) for one in repairs]} if repairs else {}
        result_dict |= {"router": router} if router else {}
        if reading:
            result_dict["reading"] = [shares_row(one) for one in reading_shares(summary)]
        print_json(data | result_dict)
    else:
        _print(summary, extra_rows)
        for repair in repairs:
            _print_repairs(repair)
        if router:
            print("\n".join(["", *router["sentences"], router["line"]]).rstrip())
        if reading:
            print_reading(summary)


def _plan(options, engine):
    """Return the plan of the evaluation that the options describe.

    Raises BadInput, BadParameter, StoreError.
    """
    sample = parse_sample(options.sample)
    options.set = local_paths(options.set)  # `import_runs` reads it too
    runs = import_runs(options)
    sets = options.set or (f"{RUN_PREFIX}{runs[0].name}" if runs else "")
    specs = [
        *split_at_commas(",".join(options.methods)),
        *(f"{RUN_PREFIX}{run.name}" for run in runs),
    ]
    if not sets:
        raise BadInput(
            "Name a question set (--set), or a finished run of which the questions are asked "
            "(--run)."
        )
    methods = _chosen_methods(options, specs, sets, engine.models)
    settings = {
        "model": not options.no_llm,
        "judge": options.judge,
        "cold": options.cold,
        "support": tuple(split_at_commas(options.support)),
        "second_judge": options.second_judge,
        "graph": options.graph or "",
        "seed": options.seed,
        "columns": options.columns,
        "abstract": options.abstract,
    }
    with TerminalBar("Opening the graph") as watch:
        open_graph = partial(engine.graph, watch=watch)
        plan = make_plan(methods, sets, sample, open_graph, **settings)
    return with_repeats(plan, options.repeats, engine.models, options.rebuild)


def _chosen_methods(options, specs: Sequence[str], sets: str, models) -> tuple[Method, ...]:
    """Return the methods, with the prompt and parameter values of the options.

    `specs` are their ids or lines.
    """
    all_methods = catalogue()
    methods_by_id = {}
    for spec in specs:
        method = find_method(spec, all_methods)
        method = method_for_source(method, source_of(sets), all_methods)
        methods_by_id[method.id] = method
    methods = tuple(methods_by_id.values())
    if options.prompt:
        prompt = read_prompt(options.prompt)
        methods, notes = methods_with_prompt(methods, prompt, models.is_chat)
        warn(notes)
    return vary_parameter(methods, options.vary) if options.vary else methods


def import_runs(options) -> list[FileRun]:
    """Save the finished runs that the options name, and print their contents. Raises BadInput."""
    if options.qrels and (not options.brought or options.set):
        raise BadInput("--qrels judges the questions of a run: name one by --run, and no --set.")
    if not options.brought:
        return []
    source = source_in(vars(options))
    if options.set:
        set_source = source_of(options.set)
        graph = "" if set_source.corpus_name else options.graph or graph_of_set(options.set)
        source = GraphSource(graph) if graph else set_source
    if source is None or not source.is_available:
        raise BadInput(
            "Say what --run is of: a question set (--set), a corpus (--corpus) or a graph "
            "(--graph) that is here."
        )
    runs = []
    for file in options.brought:
        run = save_run_file(file, source, qrels=options.qrels)
        warn([f"{run.title} ({format_title(run.format)}): {run.describe()}", *run.notes])
        runs.append(run)
    return runs


def graph_of_set(sets: str) -> str:
    """Return the name of the graph of the first of these sets.

    Raises BadInput if the set is not known.
    """
    return dataset_of_set(sets.split(",")[0].strip()).name


def _files(options) -> dict[Path, Callable]:
    """Return the files to write, each with the function that returns its text.

    Raises BadInput for a file in a folder that does not exist.
    """
    files: dict[Path, Callable] = {}
    if options.csv:
        file = Path(options.csv)
        files = {file: rows_csv, file.with_name(f"{file.stem}-summary.csv"): summary_csv}
    if options.latex:
        files[Path(options.latex)] = latex_table
    if options.html:
        files[Path(options.html)] = report_html
    for file in files:
        check_writable(file)
    return files


def _write(files: dict[Path, Callable], summary) -> None:
    for file, write in files.items():
        write_text(file, write(summary))


def _print(summary, extra_rows: list[str]) -> None:
    names = list(dict.fromkeys([*summary.defaults.table_metrics, *extra_rows]))
    table = summary.table(names)
    sentences = [
        *summary.answer_fault_sentences(),
        *summary.missing_depth_sentences(names),
        *summary.external_result_sentences(),
        *summary.spread_sentences(names),
    ]
    _print_conditions(summary, names)
    _print_table(summary, names, table)
    _print_answered(summary)
    for sentence in sentences:
        print(sentence)
    if not any(row.question.answers or row.question.gold for row in summary.rows):
        print(
            f"No answers and no passages are known to these questions; “judge {summary.run.id}” "
            "holds the answers against one another."
        )
    _print_tests(summary)
    if (advice := recommendation(summary)) is not None:
        print("\n".join(["", advice.headline, *advice.details]))


def _print_conditions(summary, names: list[str]) -> None:
    """Print the sample, and the conditions under which the table is to be read."""
    spec = summary.run.spec
    print(
        f"{spec['sample']:,} of {spec['of']:,} questions of {spec['set']}, seed {spec['seed']}, "
        f"run {summary.run.id}"
    )
    if progress := summary.progress_text():
        print(f"Figures of what is done so far; {progress}.")
    if summary.failure_sentences():
        print("A failed question scores 0; seconds and tokens are of the answered ones.")
    if not spec["model"]:
        answer_source = summary.defaults.answer_source
        print(f"No language model answered: the answers scored are the {answer_source}'s.")
    if not spec["judge"] and {"accurate", "hallucination", "truthfulness"}.intersection(names):
        print(
            "No judge was asked: an answer that holds a correct answer counts as accurate "
            "(--judge, --second-judge)."
        )


def _print_table(summary, names: list[str], table) -> None:
    """Print the figures of each method, with its finished questions in an unfinished run."""
    rows = {method: _cells(figures) for method, figures in table.items()}
    if summary.unfinished_row_counts:
        names = ["questions", *names]
        rows = {method: [summary.done_text(method), *row] for method, row in rows.items()}
    cells = [["", *names], *([method, *row] for method, row in rows.items())]
    print("\n".join(align_columns(cells)))


def _print_answered(summary) -> None:
    """Print how many questions each method answered without context, and how many failed."""
    for method in summary.methods:
        counts = summary.counts(method)
        if counts["without_context"]:
            print(
                f"{method}: {counts['without_context']} questions had no triple to read and "
                "count as answered without context"
            )
        if sentence := summary.failure_text(method):
            print(f"{method}: {sentence}")


def _print_tests(summary) -> None:
    """Print the differences between methods, and the effects of their steps."""
    for test in summary.paired_tests():
        figures_text = (
            f"{with_interval(test.metric, test.estimate)}, p = {test.p_holm:.2g}, n = {test.n:,}"
        )
        print(f"{test.a} − {test.b}, {metric(test.metric).name}: {figures_text}")
    if sentence := summary.untested_sentence():
        print(sentence)
    for one in step_effects(summary):
        details = (
            f"p = {one.test.p_holm:.2g}, n = {one.test.n:,}, pairs of methods: {len(one.pairs):,}"
        )
        print(
            f"{one.words}, {counted_questions(one.test.metric)}: {signed_interval(one.test)}, "
            f"{details}"
        )


def read_again(engine, store: Store, run: int, **limits: Any) -> None:
    """Ask the readers of a run again; the cost is printed on standard error before.

    `limits` are those of `start_readings`.
    """
    cost = missing_cost(RunSummary(store.run(run), store.rows(run)))
    if cost is not None:
        if cost.calls:
            warn([f"Reading again: {cost.description}."])
        warn(finish_job(start_readings(engine, store, store.run(run), **limits)))


def print_reading(summary: RunSummary) -> None:
    """Print what is right, lost in retrieval and lost in reading, of each method."""
    all_shares = reading_shares(summary)
    names = {key: str(name) for key, name in method_names(summary.run).items()}
    print("\n".join(["", reading_headline(all_shares), *difference_sentences(summary)]))
    cells = [["", *(name.replace("_", " ") for name in SHARE_NAMES)]]
    for shares in all_shares:
        estimates = [getattr(shares, name) for name in SHARE_NAMES]
        figures = [estimate.format_with_interval(format_share) for estimate in estimates]
        cells.append([shares.method, *figures])
    print("\n".join([*align_columns(cells), *note_sentences(all_shares, names)]))


def print_losses(engine, store, summary: RunSummary) -> None:
    """Print why each of the user's own methods lost its questions.

    Each question has two lines: its text and the reason.
    """
    names = {key: str(name) for key, name in method_names(summary.run).items()}
    for method in own_methods(summary):
        report = explain_losses(engine, store, summary.run, method)
        print("\n".join(["", *report.sentences(names)]))
        for loss in report.losses[:MAX_PRINTED_LOSSES]:
            comparison = ""
            if loss.nearest:
                comparison = (
                    f"; {names[loss.nearest]} did not lose it, {loss.n_shared:,} of "
                    f"{loss.n_documents:,} in common"
                )
            print(f"  {loss.text}\n    {loss.cause}{comparison}. {loss.change}".rstrip())
        if len(report.losses) > MAX_PRINTED_LOSSES:
            print(f"  and {len(report.losses) - MAX_PRINTED_LOSSES:,} more")


def _print_repairs(row: LineRepairs) -> None:
    """Print the losses of a method and the changes that recover some of them.

    Each change is printed as a line of operators, which `--methods` takes.
    """
    first_sentence, *other_sentences = row.sentences(row.method)
    helpful = [
        f"  {row.attempt_text(attempt)}: {attempt.spec}" for attempt in row.attempts if attempt.back
    ]
    print("\n".join(["", first_sentence, *(helpful or other_sentences)]))


def _cells(figures) -> list[str]:
    return [with_interval(name, figure) for name, figure in figures.items()]

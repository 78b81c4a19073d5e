"""Command `ask`: ask several methods one question, and print how each one answers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from core.commands.terminal import (
    EXIT_FAILED,
    EXIT_OK,
    TerminalBar,
    add_list,
    add_old_name,
    add_prompt,
    add_switch,
    follow_job,
    print_json,
    warn,
    whole_number,
)
from core.comparison.lane import MethodComparison, MethodLane
from core.comparison.lane_times import method_seconds, uncounted_seconds
from core.diagnosis.influence import (
    influence_cost,
    influence_fault,
    measure_influence,
    with_influence,
)
from core.diagnosis.reading import answers_by_model, reading_cost, reading_fault
from core.diagnosis.repair.reading_repair import read_lane
from core.environment import Environment
from core.errors import BadInput, ModelFailed, ModelUnavailable, shorten
from core.methods.catalogue import Method, catalogue, find_method, method_for_source
from core.methods.prompt_variants import methods_with_prompt, read_prompt
from core.models.base import Models
from core.operators.languages import notes_on_language
from core.operators.model_replies import NO_MODEL_NOTE
from core.results import comparison_dict
from core.serving.calls import open_question
from core.serving.removals import compare_without, removal_dict
from core.sources import AnswerSource, GraphSource, SourceQuestion, source_in
from core.types import Step

MAX_STOP_SECONDS = 10.0  # most seconds to wait until a background job has stopped
MIN_PRINTED_SECONDS = 0.005  # shorter times would be printed as 0.00 and are left out
MAX_PRINTED_HITS = 5  # hits of each kind, and paths, that are printed


def add_command(subparsers) -> None:
    """Add the command and its options."""
    ask = subparsers.add_parser("ask")
    ask.add_argument("question")
    add_list(
        ask,
        "--method",
        "ID",
        "a method, or its steps as text; repeat for more (default: "
        "pagerank-paths-ranked, or vanilla-rag for a corpus)",
        dest="methods",
    )
    add_old_name(ask, "--instance", dest="methods", action="append")
    add_list(
        ask,
        "--entity",
        "NAME",
        "an entity to start from; repeat for more (default: found in the question)",
    )
    add_list(ask, "--answer", "NAME", "a correct answer, to see where it is lost; repeat for more")
    ask.add_argument(
        "--corpus", metavar="NAME", help="ask the documents of a corpus, in the place of a graph"
    )
    add_list(ask, "--evidence", "ID", "a document that holds the evidence; repeat for more")
    add_old_name(ask, "--gold", dest="evidence", action="append")
    ask.add_argument(
        "--graph",
        default="metaqa",
        metavar="NAME",
        help="a graph's name, or a folder that holds a built one (default: metaqa)",
    )
    add_list(
        ask,
        "--without",
        "NAME",
        "ask again without this entity, triple or path (“A -> r -> B”), or this document of a "
        "corpus, and say what changed; repeat for more",
    )
    add_switch(
        ask,
        "--influence",
        "measure what each answer rests on: it is made again without each path or passage, "
        "by a language model with so many calls",
    )
    add_switch(
        ask,
        "--reading",
        "ask each reader again with nothing, less, reordered and the evidence alone, to tell a "
        "bad retrieval from a bad reading",
    )
    add_prompt(ask)
    ask.add_argument("--seed", type=whole_number(0), default=0)
    add_switch(ask, "--no-llm", "do not ask a language model for the answer")
    add_switch(
        ask,
        "--whole",
        "wait until all vectors of the documents are there; without it, of many documents "
        "those are searched that are encoded so far",
    )
    add_switch(ask, "--json", "print one JSON object")
    ask.set_defaults(run=run)


def run(options) -> int:
    """Compare the chosen methods and return the exit code."""
    engine, methods_by_id = options.engine(), catalogue()
    source = source_in(vars(options)) or GraphSource(options.graph)
    ask = _make_question(source, options, engine)
    methods = _chosen_methods(options, source, methods_by_id, engine.models)
    operators = [operator for one in methods for operator in one.line]
    warn(notes_on_language(operators, ask.source.graph, engine.models, ask.question.text))
    job = engine.compare(ask, methods)
    follow_job(job)
    if options.without:
        job = compare_without(engine, job.comparison, options.without, follow_job)
    if options.influence:
        _measure_influences(job.comparison, engine.environment)
    if options.reading:
        _ask_readers_again(job.comparison, engine.environment)
    result = comparison_dict(job.comparison)
    if options.without:
        result["without"] = removal_dict(job.comparison, options.without)
    _stop_encoding(engine)
    if options.json:
        print_json(result)
    else:
        _print(result, job.comparison)
    return EXIT_FAILED if job.error or any(lane["error"] for lane in result["lanes"]) else EXIT_OK


def _chosen_methods(
    options, source: AnswerSource, methods_by_id: Mapping[str, Method], models: Models
) -> list[Method]:
    """Return the methods that the options name, with the prompt that they name."""
    methods = [
        method_for_source(find_method(spec, methods_by_id), source, methods_by_id)
        for spec in options.methods or source.default_methods
    ]
    if not options.prompt:
        return methods
    changed, notes = methods_with_prompt(methods, read_prompt(options.prompt), models.is_chat)
    warn(notes)
    return list(changed)


def _stop_encoding(engine) -> None:
    """Stop the jobs that encode in the background, before the process ends.

    The vectors made so far are saved.
    """
    for job in engine.background_jobs.with_key_prefix("index-"):
        job.stop()
        job.wait(MAX_STOP_SECONDS)


def _important_notes(trace: Iterable[Step]) -> Iterator[str]:
    """Yield the notes that are needed to understand the answer."""
    for step in trace:
        yield from (note for note in step.notes if note.startswith(NO_MODEL_NOTE))
        yield from step.warnings


def _measure_influences(comparison: MethodComparison, environment: Environment) -> None:
    """Measure the influence of each path or passage on the answers of all lanes.

    The cost of a language model's calls is printed on standard error before they are made.
    """
    for lane_index in range(len(comparison.lanes)):
        for by_model in (False, True) if comparison.ask.uses_model else (False,):
            lane = comparison.lanes[lane_index]  # `change_lane` below replaces this object
            if influence_fault(lane, by_model):
                continue
            if by_model:
                print(f"{lane.method.name}: {influence_cost(lane).description}", file=sys.stderr)
            with TerminalBar(f"What {lane.method.name} rests on") as watch, suppress(BadInput):
                influence = measure_influence(lane, environment, by_model, watch=watch)
                comparison.change_lane(
                    lane_index, influences=with_influence(lane.influences, influence)
                )


def _ask_readers_again(comparison: MethodComparison, environment: Environment) -> None:
    """Ask the reader of each lane again with other contexts.

    The cost of a language model's calls is printed on standard error before they are made.
    """
    for lane_index, lane in enumerate(comparison.snapshot.lanes):
        if fault := reading_fault(lane):
            warn([f"{lane.method.name}: {fault}"])
            continue
        if answers_by_model(lane):
            print(f"{lane.method.name}: {reading_cost(lane).description}", file=sys.stderr)
        with TerminalBar(f"Reading {lane.method.name} again") as watch:
            try:
                read_lane(comparison, lane_index, environment, watch)
            except (BadInput, ModelFailed, ModelUnavailable) as error:
                warn([f"{lane.method.name}: {error}"])


def _make_question(source: AnswerSource, options, engine) -> SourceQuestion:
    """Return the question to a graph or a corpus.

    If it is a question of one of the source's sets, it has the answers and passages of the set.
    """
    with TerminalBar(f"Opening {source.noun}") as watch:
        opened_source = source.open(engine, watch)
    ask = open_question(
        engine,
        opened_source,
        options.question,
        entities=options.entity,
        answers=options.answer,
        gold=options.evidence,
        model=not options.no_llm,
        seed=options.seed,
    )
    return replace(ask, waits_for_vectors=options.whole)


def _print(result: dict, comparison: MethodComparison) -> None:
    _print_question(result, comparison)
    for lane, row in zip(comparison.lanes, result["lanes"]):
        print(f"\n{lane.method.name}  {lane.method.line.words()}")
        if lane.beside is not None:
            print(f"  against before: {lane.beside.text}")
        _print_influence(row["influence"])
        _print_reading(lane, row.get("reading"))
        if row["error"]:
            print(f"  failed: {row['error']}")
            continue
        _print_answer(lane, row)
        _print_hits(row)
        if row["funnel"]:
            print(f"  alive: {_alive_counts(row['funnel'])}")
        if row["gold"]:
            print(f"  passages: {_alive_counts(row['gold']['alive'])}")
        _print_costs(lane, row)


def _print_question(result: dict, comparison) -> None:
    """Print the question, its entities, and the part of the source that is asked."""
    print(result["question"])
    if "without" in result:
        print(f"without {', '.join(result['without']['names'])}: {result['without']['text']}")
    if result["entities"]:
        print("starts from", ", ".join(result["entities"]))
    if comparison.graph.fetched is not None:
        print(comparison.graph.fetched.text)


def _print_influence(influences: Iterable[dict]) -> None:
    """Print the influence of each item on the answers of a lane."""
    for influence in influences:
        by = "language model" if influence["by"] == "model" else "reader"
        print(f"  {by}: {influence['text'][0].lower()}{influence['text'][1:]}")
        for item in influence["items"]:
            if item["influence"]:
                mark = " *" if item["smallest"] else "  "
                print(f"  {item['influence']:6.2f}{mark} {item['kind']} {shorten(item['name'])}")


def _print_reading(lane: MethodLane, reading: dict | None) -> None:
    """Print the answers of a lane's reader to other contexts, and a repair of the answer."""
    if reading is None:
        return
    print(f"  {reading['text']}")
    for answer in reading["answers"]:
        truth = {True: "right", False: "wrong", None: ""}[answer["right"]]
        text = shorten(answer["answer"] or answer["fault"] or "(none)")
        tokens = f"{answer['tokens']:6,} tokens" if reading["by"] == "model" else ""
        print(f"    {answer['context']:20} {truth:5} {tokens}  {text}")
    if lane.repair is not None and reading["repair"]:
        print(f"  {lane.repair.label}: {reading['repair']}")


def _print_answer(lane, row: dict) -> None:
    """Print the answers of a lane. The notes that are needed to understand them come first."""
    if row["partly"]:
        print(
            f"  searched {row['partly']}; the same command goes on from there, and "
            "--whole waits for all"
        )
    for note in dict.fromkeys(_important_notes(lane.state.trace)):
        print(f"  {note}")
    if row["reader_answers"] is not None:
        print(f"  graph reader: {', '.join(row['reader_answers'][:10]) or 'no answer'}")
    if row["answer"] is not None:
        print(f"  answer: {row['answer'] or '(none)'}")
    if row["answer_fault"]:
        print(f"  {row['answer_fault']}")
    if row["thought"]:
        print(
            f"  thought, no part of the answer: {len(row['thought']):,} characters; --json shows it"
        )
    if row["excerpt"] is not None:
        print(f"  nearest sentence ({row['excerpt']['chunk']}): {row['excerpt']['text']}")


def _print_hits(row: dict) -> None:
    """Print the first hits of each kind and the first paths."""
    for kind, hits in row["hits"].items():
        for hit in hits[:MAX_PRINTED_HITS]:
            mark = " *" if hit.get("gold") else ""
            score = _score_text(hit["score"])
            print(f"  {score:>6}  {kind} {hit['id']}{mark}  {shorten(hit['text'])}")
    for path in row["paths"][:MAX_PRINTED_HITS]:
        print(f"  {_score_text(path['score']):>6}  {path['text']}")


def _score_text(score: float | None) -> str:
    return "" if score is None else format(score, ".3f")


def _alive_counts(stages: dict[str, Sequence[str] | None]) -> str:
    """Return how many targets are alive at each stage that the lane reached."""
    return ", ".join(
        f"{stage} {len(alive)}" for stage, alive in stages.items() if alive is not None
    )


def _print_costs(lane, row: dict) -> None:
    """Print the time of a lane and how much it found."""
    extra = ", ".join(
        f"{seconds:.2f} s {label[0].lower()}{label[1:]}"
        for label, seconds in uncounted_seconds(lane).items()
        if seconds >= MIN_PRINTED_SECONDS
    )
    n_hits = sum(map(len, row["hits"].values()))
    hits_text = f"{n_hits} hits" if row["hits"] else f"{len(row['paths'])} paths"
    extra_text = f"; apart from that {extra}" if extra else ""
    print(f"  {method_seconds(lane.state.trace):.2f} s, {hits_text}{extra_text}")

"""Command `search`: find methods within a budget, and compare them with published ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from core.commands.evaluate import add_columns
from core.commands.terminal import (
    EXIT_FAILED,
    EXIT_OK,
    TerminalBar,
    add_count,
    add_switch,
    add_text,
    finish_job,
    local_paths,
    print_json,
    warn,
)
from core.errors import BadInput
from core.evaluation.metrics.defaults import defaults_for
from core.evaluation.reports.export import format_figure
from core.evaluation.runs.plan import misfits, source_of
from core.evaluation.runs.store import Store, evaluations_file
from core.evaluation.search.points import SearchPoint, pareto_points
from core.evaluation.search.verdict import (
    MAX_COMPARED_POINTS,
    SearchPlan,
    SearchVerdict,
    plan_search,
    reference_lines,
    start_search,
)
from core.lines.text import split_at_commas
from core.methods.catalogue import catalogue, find_method, save_method

SEARCH_EPILOG = """Each method that was tried is saved in the folder searches of your Hopscope folder; the \
same command continues from there, and
with more --trials tries more methods. The exit code is 1 where no method is within the budget."""


def add_command(subparsers) -> None:
    """Add the command and its options."""
    search = subparsers.add_parser(
        "search",
        epilog=SEARCH_EPILOG,
    )
    search.add_argument(
        "--set",
        required=True,
        metavar="NAME",
        help="question sets to search with, separated by commas (metaqa-2hop-dev)",
    )
    search.add_argument(
        "--sample",
        type=int,
        default=30,
        metavar="N",
        help="questions drawn from each set (default: 30)",
    )
    add_text(
        search,
        "--unseen",
        "NAME",
        "question sets on which what is found is compared with published lines; questions "
        "that were searched with are left out",
    )
    search.add_argument(
        "--unseen-sample",
        type=int,
        default=60,
        metavar="N",
        help="questions drawn from each unseen set (default: 60)",
    )
    add_text(
        search,
        "--metric",
        "NAME",
        "the quality (default: reader_hit@1; on documents passage_recall)",
    )
    budget = search.add_mutually_exclusive_group(required=True)
    budget.add_argument(
        "--budget-seconds",
        type=float,
        metavar="S",
        help="mean seconds a question that a line may take",
    )
    budget.add_argument(
        "--budget-tokens",
        type=float,
        metavar="N",
        help="mean tokens a question that a line may use",
    )
    search.add_argument(
        "--trials", type=int, default=40, metavar="N", help="lines to try (default: 40)"
    )
    add_count(search, "--seed", 0, "of the samples and the search", low=0)
    add_text(search, "--graph", "NAME", "a graph's name or folder (default: the set's own)")
    add_columns(search)
    search.add_argument(
        "--with",
        dest="kinds",
        default="published,beyond",
        metavar="KINDS",
        help="published, beyond, solved, llm (default: published,beyond)",
    )
    search.add_argument(
        "--calls",
        type=int,
        default=200,
        metavar="N",
        help="on documents with llm: how often language models may be asked (default: 200)",
    )
    add_text(
        search,
        "--against",
        "IDS",
        "published methods to compare with (default: those of Table 1 without a language model)",
    )
    add_text(search, "--save", "NAME", "save the best method within the budget as one of your own")
    add_switch(search, "--json", "print one JSON object")
    search.set_defaults(run=run)


def run(options) -> int:
    """Search, compare, print and save; return the exit code."""
    engine = options.engine()
    plan = _plan_search(options, engine)
    questions = [*plan.search.config.tuning.drawn, *(plan.unseen.drawn if plan.unseen else ())]
    warn(misfits(questions, engine.graph))
    job = start_search(engine, Store(evaluations_file()), plan)
    points, verdict = finish_job(job)
    best = pareto_points(points)
    saved = None
    if options.save and best:
        saved = save_method(options.save, best[0].line, _notes(plan.search.config))
    if options.json:
        result_dict = search_dict(plan, points, verdict)
        if saved:
            result_dict["saved"] = saved.id
        print_json(result_dict)
    else:
        _print(plan, points, verdict, saved)
    return EXIT_OK if best else EXIT_FAILED


def _plan_search(options, engine):
    """Return the plan of the search that the options describe.

    Raises BadInput, BadParameter, StoreError.
    """
    methods_by_id, sets = catalogue(), local_paths(options.set)
    searched_source = source_of(sets)
    against = (
        [find_method(spec, methods_by_id) for spec in split_at_commas(options.against)]
        if options.against
        else reference_lines(methods_by_id, engine.models, searched_source)
    )
    cost = "seconds" if options.budget_tokens is None else "tokens"
    if options.save and not options.save.strip():
        raise BadInput("Give the method a name first.")
    with TerminalBar("Opening the graph"):
        return plan_search(
            engine,
            sets,
            options.sample,
            options.unseen,
            options.unseen_sample,
            published=tuple(against),
            graph=options.graph,
            seed=options.seed,
            columns=options.columns,
            kinds=tuple(filter(None, map(str.strip, options.kinds.split(",")))),
            quality=options.metric or defaults_for(searched_source).quality_metrics[0],
            cost=cost,
            budget=options.budget_seconds if cost == "seconds" else options.budget_tokens,
            trials=options.trials,
            calls=options.calls,
        )


def _notes(config) -> str:
    return (
        f"Found by a search on {len(config.tuning.drawn)} questions of {config.tuning.set} for "
        f"{config.quality} under {config.budget:g} {config.cost} a question, seed "
        f"{config.tuning.seed}."
    )


def _print(plan, points, verdict, saved) -> None:
    best, config = pareto_points(points), plan.search.config
    _print_budget(plan, points)
    _print_unscored(points)
    print(
        f"Best at their cost, by {config.quality} and {config.cost}:"
        if best
        else "No method keeps within the budget."
    )
    for point in best:
        print(
            f"{point.number:4}  {point.figures.quality:.3f}  "
            f"{format_figure(config.cost, point.figures.cost)}  {point.line.words()}"
        )
        if point.figures.failed:
            print(f"      {point.figures.words()}")
    _print_verdict(plan, best, verdict)
    if saved:
        print(f"Saved as {saved.id}")


def _print_budget(plan, points) -> None:
    """Print how many lines were tried, on which questions and at which cost."""
    config = plan.search.config
    print(
        f"{len(points)} methods tried on {len(config.tuning.drawn)} questions of "
        f"{config.tuning.set}"
    )
    print(f"Budget: {config.budget:g} {config.cost} a question")
    if config.may_ask_model:
        print(
            f"Language models were asked {plan.search.count_calls():,} times, of {config.calls:,} "
            "that were allowed"
        )


def _print_unscored(points) -> None:
    """Print why lines were given up, and which lines answered no question."""
    reasons = [point.figures.stopped for point in points if point.figures.stopped]
    for reason in dict.fromkeys(reasons):
        print(f"{reasons.count(reason)} stopped: {reason}")
    for point in points:
        if not point.figures.stopped and not point.figures.answered:
            print(f"Candidate {point.number}: {point.figures.words()}")


def _print_verdict(plan, best, verdict) -> None:
    """Print the comparison with the published lines, or why there is none."""
    if verdict is None:
        if why := plan.skipped_comparison_reason(best[:MAX_COMPARED_POINTS]):
            print(why)
        return
    for one in verdict.comparisons:
        print(verdict.words(one))
    for sentence in verdict.failed:
        print(sentence)


def search_dict(
    plan: SearchPlan, points: Sequence[SearchPoint], verdict: SearchVerdict | None
) -> dict[str, Any]:
    """Return the plan, the trials and the comparison as plain data.

    Parameters
    ----------
    plan : the plan of the search.
    points : the lines that were tried.
    verdict : the comparison with published lines on unseen questions; None if there was none.
    """
    config, front = plan.search.config, pareto_points(tuple(points))
    front_numbers = [point.number for point in front]
    result_dict = {
        "set": config.tuning.set,
        "sample": len(config.tuning.drawn),
        "seed": config.tuning.seed,
        "metric": config.quality,
        "budget": {config.cost: config.budget},
        "trials": [_point(point) | {"front": point.number in front_numbers} for point in points],
        "front": front_numbers,
    }
    if config.may_ask_model:
        result_dict["calls"] = {"made": plan.search.count_calls(), "allowed": config.calls}
    if verdict is None:
        why = plan.skipped_comparison_reason(front[:MAX_COMPARED_POINTS])
        return result_dict | ({"unjudged": why} if why else {})
    published = {
        key: {name: asdict(one) for name, one in row.items()}
        for key, row in verdict.figures.items()
    }
    against = [
        {
            "number": one.point.number,
            "beats": one.is_better,
            "words": verdict.words(one),
            "figures": {name: asdict(estimate) for name, estimate in one.figures.items()},
            "quality": asdict(one.quality),
            "cost": asdict(one.cost),
        }
        for one in verdict.comparisons
    ]
    unseen = {
        "set": plan.unseen_plan.set,
        "sample": verdict.questions,
        "run": verdict.run,
        "best_published": verdict.best.id,
        "failed": list(verdict.failed),
        "published": published,
        "found": against,
    }
    return result_dict | {"unseen": unseen}


def _point(point: SearchPoint) -> dict[str, Any]:
    return {
        "number": point.number,
        "line": repr(point.line),
        "words": point.line.words(),
        **asdict(point.figures),
    }

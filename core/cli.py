"""The same jobs without a browser: ask, instances, build, models, prepare.

Exit codes: 0 all went well; 1 a lane failed or a model was missing; 2 the input was wrong; 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from core.errors import BadInput, BadParameter, HopscopeError, StoreError, UnknownEntity

OK, FAILED, WRONG, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except (BadInput, BadParameter, UnknownEntity, StoreError) as error:
        return _complain(error, WRONG)
    except HopscopeError as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        return _complain("Interrupted.", INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        return FAILED


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    top = argparse.ArgumentParser(prog="python -m core", description="Explore how graph retrievers find their answers.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    ask = commands.add_parser("ask", help="ask one question and compare instances")
    ask.add_argument("question")
    ask.add_argument(
        "--instance",
        action="append",
        default=[],
        metavar="ID",
        help="an instance, or a line of operators; repeat for more (default: lego-12)",
    )
    ask.add_argument(
        "--entity",
        action="append",
        default=[],
        metavar="NAME",
        help="an entity to start from; repeat for more (default: found in the question)",
    )
    ask.add_argument("--answer", action="append", default=[], metavar="NAME", help="a known answer, for the funnel; repeat for more")
    ask.add_argument(
        "--graph", default="metaqa", metavar="NAME", help="a graph's name, or a folder that holds a built one (default: metaqa)"
    )
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--no-llm", action="store_true", help="do not ask a language model for the answer")
    ask.add_argument("--json", action="store_true", help="print one JSON object")
    ask.set_defaults(run=_ask)

    instances = commands.add_parser("instances", help="list the instances")
    instances.add_argument("--json", action="store_true")
    instances.set_defaults(run=_instances)

    build = commands.add_parser("build", help="build a graph from a file of triples")
    build.add_argument("triples", metavar="TRIPLES", help="a TSV, CSV or |-separated file, plain or .gz: head, relation, tail")
    build.add_argument("--out", required=True, metavar="DIR")
    build.add_argument("--name", help="the graph's name (default: that of the folder)")
    build.add_argument("--direction", choices=("out", "in", "both"), default="both", help="the way searches run by default")
    build.set_defaults(run=_build)

    models = commands.add_parser("models", help="list the models, or fetch one")
    models.add_argument("--fetch", metavar="NAME", help="fetch this model's file")
    models.set_defaults(run=_models)

    prepare = commands.add_parser("prepare", help="build the shipped graph and fetch the default models, where they are not here yet")
    prepare.set_defaults(run=_prepare)
    return top


def _ask(options) -> int:
    from core.engine import shared
    from core.instances.catalogue import catalogue, find
    from core.results import comparison_dict
    from core.types import Question

    engine, known = shared(), catalogue()
    chosen = [find(spec, known) for spec in options.instance or ["lego-12"]]
    with bar("Opening the graph") as advanced:
        graph = engine.graph(options.graph, progress=advanced)
    question = Question(options.question, entities=tuple(options.entity), answers=tuple(options.answer))
    ask = engine.ask(graph, question, seed=options.seed, model=not options.no_llm)
    job = engine.compare(ask, chosen)
    _watch(job)
    result = comparison_dict(job.comparison)
    if options.json:
        print(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        _print(result, job.comparison)
    return FAILED if job.error or any(lane["error"] for lane in result["lanes"]) else OK


def _watch(job) -> None:
    """Show what the job does until it ends; Ctrl-C cancels it."""
    with bar("Starting") as advanced:
        try:
            while not job.wait(0.1):
                advanced(job.text, job.fraction)
        except KeyboardInterrupt:
            job.cancel()
            job.wait(10)
            raise


def _print(result: dict, comparison) -> None:
    print(result["question"])
    print("starts from", ", ".join(result["entities"]))
    for lane, told in zip(comparison.lanes, result["lanes"]):
        seconds = sum(step["seconds"] for step in told["operators"])
        print(f"\n{lane.instance.name}  {lane.instance.line.words()}")
        if told["error"]:
            print(f"  failed: {told['error']}")
            continue
        if told["reader_answers"] is not None:
            print(f"  graph reader: {', '.join(told['reader_answers'][:10]) or 'no answer'}")
        if told["answer"] is not None:
            print(f"  answer: {told['answer']}")
        for path in told["paths"][:5]:
            print(f"  {'' if path['score'] is None else format(path['score'], '.3f'):>6}  {path['text']}")
        if told["funnel"]:
            print("  alive: " + ", ".join(f"{stage} {len(alive)}" for stage, alive in told["funnel"].items() if alive is not None))
        print(f"  {seconds:.2f} s, {len(told['paths'])} paths")


def _instances(options) -> int:
    from core.instances.catalogue import catalogue

    rows = [{"id": i.id, "title": i.title, "paper": i.paper, "group": i.group, "line": repr(i.line)} for i in catalogue().values()]
    if options.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        for row in rows:
            print(f"{row['id']:24} {row['title']}")
    return OK


def _build(options) -> int:
    from pathlib import Path

    from core.graph.build import build

    with bar("Reading triples") as advanced:
        name = options.name or Path(options.out).resolve().name
        graph = build(options.triples, options.out, name=name, direction=options.direction, progress=advanced)
    print(f"{graph.n_nodes:,} entities, {graph.n_edges:,} triples, {graph.n_relations:,} relations in {options.out}")
    return OK


def _models(options) -> int:
    from core.models.registry import shared

    registry = shared()
    if options.fetch:
        with bar("Fetching") as advanced:
            registry.fetch(options.fetch, advanced)
    for info in registry.declared():
        print(
            f"{'●' if info.present else '○'} {info.name:20} {info.kind:9} {info.title}" + ("" if info.present else f"  ({info.how_to_get})")
        )
    return OK


def _prepare(options) -> int:
    from core.engine import shared

    engine = shared()
    with bar("Building the graph") as advanced:
        engine.graph("metaqa", progress=advanced)
    for info in engine.models.declared():
        if info.roles and info.fetchable and not info.present:
            try:
                with bar(f"Fetching {info.title}") as advanced:
                    engine.models.fetch(info.name, advanced)
            except HopscopeError as error:
                print(f"hopscope: {info.title} is not here: {error} Everything else works without it.", file=sys.stderr)
    return OK


class bar:
    """A progress bar on standard error, silent where that is no terminal: `with bar("…") as advanced: advanced(text, share)`."""

    def __init__(self, text: str):
        from tqdm import tqdm

        self._bar = tqdm(total=1.0, desc=text, leave=False, disable=not sys.stderr.isatty(), bar_format="{desc} {bar} {percentage:3.0f}%")

    def __enter__(self):
        return self._advanced

    def __exit__(self, *_) -> None:
        self._bar.close()

    def _advanced(self, text: str, share: float | None = None) -> None:
        self._bar.set_description_str(text[:60], refresh=False)
        self._bar.n = share or 0.0
        self._bar.refresh()


def _complain(error: object, code: int) -> int:
    print(f"hopscope: {error}", file=sys.stderr)
    return code

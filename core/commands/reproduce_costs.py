"""Part of the command `reproduce`: a paper's figures on the cost of building graphs.

Each graph is built. Its tokens and seconds by step are shown as a table and a picture.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from core.builds import build_status, find_build, run_build
from core.builds.shipped_data import ModelsWithoutChat, find_shipped_build
from core.commands.terminal import EXIT_OK, TerminalBar, print_json, write_text
from core.corpus import Corpus, open_corpus, write_corpus
from core.errors import BadInput
from core.evaluation.papers.building_costs import (
    BUILDING_COST_HEAD,
    BuildingCosts,
    GraphCost,
    building_markdown,
    check_claims,
    cost_rows,
    graph_cost,
)
from core.evaluation.reports.build_plots import cost_page
from core.evaluation.reports.export import align_columns
from core.io.home import home_folder, models_folder


def run(options, target: BuildingCosts) -> int:
    """Build the missing graphs, print and write their costs, and return the exit code."""
    files = {}
    if options.out:
        files = {suffix: Path(options.out).with_suffix(suffix) for suffix in (".md", ".html")}
    if files and not files[".md"].parent.is_dir():
        raise BadInput(f"{options.out} cannot be written: there is no such folder.")
    engine = options.engine()
    if options.answer:
        engine.models.set_role("answer", options.answer, save=False)
    if options.small:
        with new_home():
            corpus_text, costs = _measure_costs(
                _write_first_documents(target, options.sample), target.small_builds, engine.models
            )
    else:
        if len(options.data) != 1:
            raise BadInput(
                f"{target.id} is of one corpus: name it with --data NAME, or try it with --small."
            )
        corpus_text, costs = _measure_costs(
            open_corpus(options.data[0]), target.builds, engine.models
        )
    corpus_text += f" Language model: {engine.models.title('answer')}."
    sentences = [*check_claims(target, costs), *target.differs, corpus_text]
    if files:
        write_text(files[".md"], building_markdown(target, corpus_text, costs, sentences))
        steps, title = {cost.name: cost.steps for cost in costs}, f"{target.paper}, {target.place}"
        write_text(files[".html"], cost_page(steps, title, sentences))
    _print(target, costs, sentences, options.json)
    return EXIT_OK


def _measure_costs(
    corpus: Corpus, builds: Mapping[str, str], models
) -> tuple[str, list[GraphCost]]:
    """Return a sentence on the corpus, and the cost of each build.

    A build that is missing or out of date is made. Raises HopscopeError.
    """
    costs = []
    with TerminalBar("Building") as watch:
        for name, spec in builds.items():
            build_spec = find_build(spec)
            status = build_status(corpus, build_spec)
            if not status.is_current or "steps" not in status.report:
                is_shipped = find_shipped_build(corpus, build_spec)
                build_models = ModelsWithoutChat(models) if is_shipped else models
                run_build(corpus, build_spec, build_models, watch.titled(name))
                status = build_status(corpus, build_spec)
            costs.append(
                graph_cost(name, build_spec.id, status.report, build_spec.line.uses_chat_model)
            )
    return f"{corpus.n_documents:,} documents of {corpus.title}.", costs


@contextmanager
def new_home() -> Iterator[Path]:
    """Use an empty folder as the home of the app during a `with` block.

    Nothing saved before is found there; the models stay the same. The environment variables of the
    whole process change, so this is for commands only.
    """
    old_values = {name: os.environ.get(name) for name in ("HOPSCOPE_HOME", "HOPSCOPE_MODELS")}
    models = models_folder()
    setting_files = [home_folder() / name for name in ("models.toml", "keys.toml")]
    with tempfile.TemporaryDirectory() as folder:
        for file in filter(Path.is_file, setting_files):
            shutil.copy(file, folder)
        os.environ |= {"HOPSCOPE_HOME": folder, "HOPSCOPE_MODELS": str(models)}
        try:
            yield Path(folder)
        finally:
            for name, value in old_values.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def _write_first_documents(target: BuildingCosts, sample: str) -> Corpus:
    """Write the first documents of a small run as a corpus.

    The corpus is written into the current home. Raises BadInput for a sample that is no positive
    number.
    """
    if sample and not sample.isdecimal():
        raise BadInput(f"A sample is a whole number, not “{sample}”.")
    full_corpus = open_corpus(target.small)
    count = min(int(sample or target.documents), len(full_corpus))
    if count < 1:
        raise BadInput("A sample needs at least one document.")
    return write_corpus(
        home_folder() / "corpora" / "small",
        (full_corpus.document_at(row) for row in range(count)),
        f"{full_corpus.title}, the first {count:,}",
    )


def _print(
    target: BuildingCosts, costs: list[GraphCost], sentences: list[str], as_json: bool
) -> None:
    if as_json:
        result_dict = {
            "experiment": target.id,
            "graphs": [dataclasses.asdict(one) for one in costs],
            "sentences": sentences,
        }
        print_json(result_dict)
        return
    print(f"\n{target.paper}, {target.place}")
    for line in align_columns([list(BUILDING_COST_HEAD), *cost_rows(costs)], left_count=3):
        print(line.rstrip())
    print("\n" + "\n".join(sentences))

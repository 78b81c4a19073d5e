"""Command `reproduce` for figures on the cost of building graphs.

Each graph is built, and its tokens and seconds by step are shown as a table and a picture.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from core.builds import build, find, status
from core.builds.shipped import Unasked, ships
from core.commands.terminal import OK, bar, write_text
from core.corpus import Corpus, open_corpus, write
from core.errors import BadInput
from core.evaluation.papers.building import (
    HEAD,
    BuildingCosts,
    GraphCost,
    claims,
    graph_cost,
    markdown,
    rows,
)
from core.evaluation.reports.build_plots import page
from core.evaluation.reports.export import aligned
from core.io.home import home, models_folder
from core.io.json_text import json_text
from core.watch import NO_WATCH, Watch


def run(options, wanted: BuildingCosts) -> int:
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
            asked, costs = _measured(
                _first(wanted, options.sample), wanted.small_builds, engine.models
            )
    else:
        if len(options.data) != 1:
            raise BadInput(
                f"{wanted.id} is of one corpus: name it with --data NAME, or try it with --small."
            )
        asked, costs = _measured(open_corpus(options.data[0]), wanted.builds, engine.models)
    asked += f" Language model: {engine.models.title('answer')}."
    sentences = [*claims(wanted, costs), *wanted.differs, asked]
    for suffix, file in files.items():
        drawn = page(
            {cost.name: cost.steps for cost in costs}, f"{wanted.paper}, {wanted.place}", sentences
        )
        write_text(file, markdown(wanted, asked, costs, sentences) if suffix == ".md" else drawn)
    _print(wanted, costs, sentences, options.json)
    return OK


def _measured(corpus: Corpus, builds: Mapping[str, str], models) -> tuple[str, list[GraphCost]]:
    """Return a sentence on the corpus, and the cost of each build.

    A build that is missing or out of date is made. Raises HopscopeError.
    """
    costs = []
    with bar("Building") as watch:
        for name, spec in builds.items():
            one = find(spec)
            if not status(corpus, one).current or "steps" not in status(corpus, one).report:
                known = Unasked(models) if ships(corpus, one) else models
                build(corpus, one, known, _named(name, watch))
            costs.append(graph_cost(name, one.id, status(corpus, one).report, one.line.asks_chat))
    return f"{corpus.n_documents:,} documents of {corpus.title}.", costs


def _named(name: str, watch: Watch = NO_WATCH) -> Watch:
    return Watch(watch.check, lambda text, share: watch.report(f"{name}: {text}", share))


@contextmanager
def new_home() -> Iterator[Path]:
    """Use an empty folder as the home of the app during a `with` block.

    Nothing saved before is found there; the models stay the same. The environment variables of the
    whole process change, so this is for commands only.
    """
    before, models, declared = (
        os.environ.get("HOPSCOPE_HOME"),
        models_folder(),
        [home() / name for name in ("models.toml", "keys.toml")],
    )
    known = os.environ.get("HOPSCOPE_MODELS")
    with tempfile.TemporaryDirectory() as folder:
        for file in filter(Path.is_file, declared):
            shutil.copy(file, folder)
        os.environ |= {"HOPSCOPE_HOME": folder, "HOPSCOPE_MODELS": str(models)}
        try:
            yield Path(folder)
        finally:
            for name, value in (("HOPSCOPE_HOME", before), ("HOPSCOPE_MODELS", known)):
                os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)


def _first(wanted: BuildingCosts, sample: str) -> Corpus:
    """Write the first documents of a small run as a corpus.

    It is written into the current home.

    Raises BadInput.
    """
    if sample and not sample.isdecimal():
        raise BadInput(f"A sample is a whole number, not “{sample}”.")
    whole = open_corpus(wanted.small)
    count = min(int(sample or wanted.documents), len(whole))
    if count < 1:
        raise BadInput("A sample needs at least one document.")
    return write(
        home() / "corpora" / "small",
        (whole.at(row) for row in range(count)),
        f"{whole.title}, the first {count:,}",
    )


def _print(
    wanted: BuildingCosts, costs: list[GraphCost], sentences: list[str], as_json: bool
) -> None:
    if as_json:
        found = {
            "experiment": wanted.id,
            "graphs": [dataclasses.asdict(one) for one in costs],
            "sentences": sentences,
        }
        print(json_text(found, indent=2))
        return
    print(f"\n{wanted.paper}, {wanted.place}")
    for line in aligned([list(HEAD), *rows(costs)], left=3):
        print(line.rstrip())
    print("\n" + "\n".join(sentences))

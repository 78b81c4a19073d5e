"""Cost of document graphs without a language model, by stage, on the HotpotQA sample.

The unit is processor seconds per 1,000 chunks.
"""

from __future__ import annotations

import os
import tempfile
import time

from core.builds import find_build
from core.builds.base import BuildState
from core.builds.catalogue import GraphBuild
from core.builds.run import build_context
from core.corpus import open_corpus
from core.graph.building.text_graph import assemble, store_graph
from core.io.home import models_folder
from core.models.registry import Registry

CORPUS = "hotpotqa"
BUILDS = (
    "chunks",
    "passage-noun-phrases",
    "tree-noun-phrases",
    "kg-noun-phrases",
    "tkg-noun-phrases",
    "rkg-noun-phrases",
)


def run() -> list[dict]:
    """One row per build without saved results; the note lists its stages."""
    kept = {name: os.environ.get(name) for name in ("HOPSCOPE_HOME", "HOPSCOPE_MODELS")}
    os.environ["HOPSCOPE_MODELS"] = str(models_folder())
    try:
        return [_row(find_build(one)) for one in BUILDS]
    finally:
        for name, value in kept.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)


def _row(build: GraphBuild) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOPSCOPE_HOME"] = folder
        corpus, models = open_corpus(CORPUS), Registry()
        models.encoder().encode(["loaded before the clock starts"])
        ctx, made, spent = build_context(corpus, models), BuildState(corpus), {}
        for operator in build.line:
            if operator.stage == "index" and (made.graph is None or made.graph.folder is None):
                made = made.replace(
                    graph=store_graph(
                        made.graph or assemble(CORPUS, [], [], {}, {}, made.chunks),
                        f"{folder}/graph",
                    )
                )
            start = time.process_time()
            made = operator.apply(made, ctx)
            spent[operator.words()] = time.process_time() - start
        chunks = len(made.chunks or ())
    told = ", ".join(f"{words} {1000 * seconds / chunks:.1f}" for words, seconds in spent.items())
    return {
        "name": f"build {build.id}",
        "value": 1000 * sum(spent.values()) / chunks,
        "unit": "CPU-s",
        "note": f"per 1,000 chunks: {told}",
    }

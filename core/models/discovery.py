"""Model servers on this computer, looked for on the ports that they usually listen on."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from core.errors import HopscopeError
from core.models.chat.server import OpenAIServer
from core.models.hosts import check_host

PORTS = {11434: "Ollama", 1234: "LM Studio", 8000: "vLLM", 8080: "llama.cpp"}
# as servers sign their models
OWNERS = {
    "library": "Ollama",
    "organization_owner": "LM Studio",
    "vllm": "vLLM",
    "llamacpp": "llama.cpp",
}
PATIENCE = 3.0  # seconds that a server may take to list its models
MAX_MODELS = 500  # of a server that are listed
# in names of models that make vectors
ENCODERS = ("embed", "bge-m", "bge-small", "bge-base", "bge-large", "e5-", "gte-", "minilm")


@dataclass(frozen=True)
class FoundServer:
    """A server of the OpenAI protocol, the program that it seems to be, and its models' names; `locked` where it wants a key first."""

    url: str
    program: str
    models: tuple[str, ...] = ()
    locked: bool = False


def find_servers(ports: Mapping[int, str] = PORTS) -> tuple[FoundServer, ...]:
    """The servers that answer on these ports of this computer with a list of models, in their order. Takes some seconds at most."""
    with ThreadPoolExecutor(len(ports), "find-servers") as pool:
        found = list(pool.map(lambda port: _at(f"http://127.0.0.1:{port}/v1", ports[port]), ports))
    return tuple(one for one in found if one is not None)


def list_models(url: str, key_variable: str = "", key: str | None = None) -> tuple[str, ...]:
    """The names of the models that the server at `url` has, at most 500. Raises ModelFailed, ModelUnavailable, BadParameter."""
    check_host(url)
    server = OpenAIServer(url, "", "The server", key_variable, PATIENCE, key)
    try:
        return tuple(one.id for one in _models(server))
    except Exception as error:
        failure = server.failure(error)
        if failure is None:
            raise
        raise failure from error


def role_kind(model: str) -> str:
    """What a model is by its name, as far as that shows: “reranker”, “encoder” or “chat”.

    >>> from core.models.discovery import role_kind
    >>> role_kind("BAAI/bge-reranker-v2-m3"), role_kind("nomic-embed-text:latest"), role_kind("qwen3:8b")
    ('reranker', 'encoder', 'chat')
    """
    name = model.lower()
    if "rerank" in name:
        return "reranker"
    return "encoder" if any(part in name for part in ENCODERS) else "chat"


def _at(url: str, usual: str) -> FoundServer | None:
    """What answers at an address; None where nothing does, or what is no server of the protocol."""
    import openai

    server = OpenAIServer(url, "", "The server", timeout=PATIENCE)
    try:
        models = _models(server)
    except (openai.AuthenticationError, openai.PermissionDeniedError):
        return FoundServer(url, usual, locked=True)
    except Exception as error:
        if isinstance(error, HopscopeError) or server.failure(error) is not None:
            return None
        raise
    owners = {str(getattr(one, "owned_by", "")).lower() for one in models}
    return FoundServer(
        url,
        next((OWNERS[owner] for owner in owners if owner in OWNERS), usual),
        tuple(one.id for one in models),
    )


def _models(server: OpenAIServer) -> list[Any]:
    """The models in a server's list, at most 500. Raises what the client does, and ValueError where it is no such list."""
    try:
        models = server.client().models.list().data
        names = [one.id for one in models]
    except (AttributeError, TypeError):
        raise ValueError("it sent no list of models") from None
    if not all(isinstance(name, str) and name for name in names):
        raise ValueError("it sent no list of models")
    return list(models)[:MAX_MODELS]

"""Search for model servers on the usual ports of this computer.

The page Models uses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from core.errors import HopscopeError
from core.models.chat.server import OpenAIServer
from core.models.hosts import check_host

# Default ports of model servers, with their programs.
SERVER_PORTS = {11434: "Ollama", 1234: "LM Studio", 8000: "vLLM", 8080: "llama.cpp"}
# Programs by the value of owned_by in their lists of models.
OWNER_PROGRAMS = {
    "library": "Ollama",
    "organization_owner": "LM Studio",
    "vllm": "vLLM",
    "llamacpp": "llama.cpp",
}
MODEL_LIST_TIMEOUT_SECONDS = 3.0
MAX_LISTED_MODELS = 500  # per server
# Parts of the names of embedding models, in lower case.
ENCODER_NAME_PARTS = (
    "embed",
    "bge-m",
    "bge-small",
    "bge-base",
    "bge-large",
    "e5-",
    "gte-",
    "minilm",
)


@dataclass(frozen=True)
class FoundServer:
    """A server of the OpenAI protocol.

    Parameters
    ----------
    url : its address.
    program : name of the program, by its port or its list of models.
    models : names of its models.
    needs_key : true if its list of models requires a key.
    """

    url: str
    program: str
    models: tuple[str, ...] = ()
    needs_key: bool = False


def find_servers(ports: Mapping[int, str] = SERVER_PORTS) -> tuple[FoundServer, ...]:
    """Return the servers that answer with a list of models.

    They are in the order of the ports. All ports are asked at the same time, for at most
    `MODEL_LIST_TIMEOUT_SECONDS`.
    """
    urls = [f"http://127.0.0.1:{port}/v1" for port in ports]
    with ThreadPoolExecutor(len(ports), "find-servers") as pool:
        return tuple(filter(None, pool.map(_find_server, urls, ports.values())))


def list_models(url: str, key_variable: str = "", key: str | None = None) -> tuple[str, ...]:
    """Return the names of the models of a server, at most `MAX_LISTED_MODELS`.

    Parameters
    ----------
    url : address of the server, ending in /v1.
    key_variable : environment variable of the API key; empty for the key typed for the address.
    key : the API key itself; None to look it up.

    Returns
    -------
    Names in the order of the server.

    Raises
    ------
    BadParameter : the host is not allowed.
    ModelUnavailable : the key is missing.
    ModelFailed : the server does not answer, or not as the protocol says.
    """
    check_host(url)
    server = OpenAIServer(url, "", "The server", key_variable, MODEL_LIST_TIMEOUT_SECONDS, key)
    try:
        return tuple(model.id for model in _request_models(server))
    except Exception as error:
        failure = server.to_model_failure(error)
        if failure is None:
            raise
        raise failure from error


def guess_kind(model: str) -> str:
    """Guess the kind of a model from its name: “reranker”, “encoder” or “chat”.

    >>> from core.models.discovery import guess_kind
    >>> guess_kind("BAAI/bge-reranker-v2-m3"), guess_kind("nomic-embed-text:latest")
    ('reranker', 'encoder')
    >>> guess_kind("qwen3:8b")
    'chat'
    """
    name = model.lower()
    if "rerank" in name:
        return "reranker"
    return "encoder" if any(part in name for part in ENCODER_NAME_PARTS) else "chat"


def _find_server(url: str, program: str) -> FoundServer | None:
    """Return the server at an address.

    The result is None if no server answers with a list of models. `program` is the program that
    usually has this port.
    """
    import openai

    server = OpenAIServer(url, "", "The server", timeout=MODEL_LIST_TIMEOUT_SECONDS)
    try:
        models = _request_models(server)
    except (openai.AuthenticationError, openai.PermissionDeniedError):
        return FoundServer(url, program, needs_key=True)
    except Exception as error:
        if isinstance(error, HopscopeError) or server.to_model_failure(error) is not None:
            return None
        raise
    for model in models:
        owner = str(getattr(model, "owned_by", "")).lower()
        program = OWNER_PROGRAMS.get(owner, program)
    return FoundServer(url, program, tuple(model.id for model in models))


def _request_models(server: OpenAIServer) -> list[Any]:
    """Return the models in a server's list, at most `MAX_LISTED_MODELS`.

    Raises the errors of the client, and ValueError if the reply is no such list.
    """
    try:
        models = server.client().models.list().data
        names = [model.id for model in models]
    except (AttributeError, TypeError):
        raise ValueError("it sent no list of models") from None
    if not all(isinstance(name, str) and name for name in names):
        raise ValueError("it sent no list of models")
    return list(models)[:MAX_LISTED_MODELS]

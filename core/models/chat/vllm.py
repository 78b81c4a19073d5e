"""Language models on graphics cards of this computer, by vLLM's own server, which is started when first asked, watched, and ended."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import ModelFailed, ModelUnavailable
from core.io.home import home
from core.models.base import Messages
from core.models.chat.client import ChatRequest
from core.models.chat.openai import OpenAIChat
from core.models.chat.replies import estimate_tokens
from core.models.chat.writing import Writing
from core.models.device import graphics_card
from core.runtime.meter import spent
from core.runtime.server_process import ServerProcess
from core.watch import NO_WATCH, Watch

PROGRAM = "HOPSCOPE_VLLM"  # names the program, which may lie in an environment of its own
GET = "get vLLM with: pip install -r requirements-gpu.txt"
START = 1800.0  # seconds in which it loads and compiles, at most: weights of 70 B come slowly from a disk
REPLY = (
    600.0  # seconds until the next piece of a reply: with hundreds in flight some wait their turn
)
ADAPTER = "adapter_config.json"  # in the folder of a LoRA adapter
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # of adapters, that vLLM makes room for


def program() -> str | None:
    """vLLM's program: what HOPSCOPE_VLLM names, else the one of this environment, else the one on the path; None where there is none."""
    named = os.environ.get(PROGRAM, "")
    return shutil.which(named or str(Path(sys.executable).with_name("vllm"))) or (
        None if named else shutil.which("vllm")
    )


def unavailable() -> str | None:
    """Why vLLM cannot run here, as a sentence with what to do, or None where it can. HOPSCOPE_VLLM_CPU=1 allows processors."""
    if program() is None:
        named = os.environ.get(PROGRAM)
        if named:
            return f"{PROGRAM} names {named}, which is no program here."
        return f"vLLM is not installed; {GET}"
    if os.environ.get("HOPSCOPE_VLLM_CPU") == "1" or graphics_card():
        return None
    return f"No graphics card was found, which vLLM needs; on a computer that has one, {GET}"


@dataclass(frozen=True)
class Launch:
    """How vLLM's server is started: its arguments behind `vllm serve`, variables of its environment, and what tells its weights from
    those of another time."""

    arguments: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    stamp: str = ""

    def command(self, port: int) -> list[str]:
        """The command line. The key is not in it, which others on this computer can read."""
        return [
            program() or "vllm",
            "serve",
            *self.arguments,
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]


def rank_needed(folders: Sequence[Path]) -> int:
    """The least of the ranks of vLLM that holds these adapters; the largest one where none does, which vLLM then refuses itself.

    An adapter whose file cannot be read counts as one of rank 8.
    """
    most = 0
    for folder in folders:
        try:
            most = max(most, int(json.loads((folder / ADAPTER).read_text("utf-8")).get("r", 0)))
        except (OSError, ValueError, TypeError, AttributeError):
            continue
    return next((rank for rank in RANKS if rank >= most), RANKS[-1])


@dataclass(frozen=True)
class Endpoint:
    """Where a server answers, and with which key."""

    url: str
    key: str


class VLLMServer:
    """The one vLLM server of a base model in this process, which its adapters share; safe to use from several threads."""

    def __init__(self, name: str):
        self.name = name
        self._lock = threading.Lock()
        self._launch: Launch | None = None
        self._process: ServerProcess | None = None
        self._started: Launch | None = None
        self._endpoint: Endpoint | None = None
        # how the last one ended, for all replies that were lost with it
        self._ended: tuple[Endpoint | None, str] = (None, "")

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.running

    def launch_as(self, launch: Launch) -> None:
        """From the next request on it runs as `launch` says: one that was started in another way is started anew then."""
        with self._lock:
            self._launch = launch

    def endpoint(self) -> Endpoint:
        """Where it answers; started now where it does not run. Raises ModelUnavailable, ModelFailed."""
        with self._lock:
            if (
                self._process is not None
                and self._process.running
                and self._endpoint
                and self._started == self._launch
            ):
                return self._endpoint
            with spent("preparation", f"Starting {self.name}"):
                self._stop()
                return self._start()

    def stop(self) -> None:
        """End it; replies that it writes are lost, and the next request starts it anew."""
        with self._lock:
            self._stop()

    def fault(self, endpoint: Endpoint | None) -> str:
        """Why the server that answered there is lost, in a sentence; empty where it is well."""
        process = self._process
        if process is not None and endpoint == self._endpoint and not process.crashed():
            return ""
        with self._lock:
            if endpoint == self._endpoint:
                self._stop("no longer answered")  # also a server whose engine died
            where, how = self._ended
        how = how if where == endpoint else "was stopped"
        return f"{self.name}: vLLM {how.rstrip('.')}. The reply is lost; the next question starts it anew."

    def _start(self) -> Endpoint:
        why = unavailable()
        if why:
            raise ModelUnavailable(f"{self.name} cannot run here. {why}")
        assert self._launch is not None  # set by whoever made a client of it
        key, log = secrets.token_urlsafe(24), home() / "logs" / f"vllm-{self.name}.log"
        try:
            process = ServerProcess(
                self._launch.command, {**dict(self._launch.environment), "VLLM_API_KEY": key}, log
            )
        except OSError as error:
            raise ModelFailed(
                f"{self.name} could not be started: {error.strerror or error}."
            ) from error
        self._process, self._started = process, self._launch
        if not process.wait(START):
            how = (
                f"was not ready within {START / 60:g} minutes" if process.running else process.end()
            )
            self._stop()
            raise ModelFailed(
                f"{self.name} could not be started: vLLM {how.rstrip('.')}. All that it said is in {log}."
            )
        self._endpoint = Endpoint(f"http://127.0.0.1:{process.port}/v1", key)
        return self._endpoint

    def _stop(self, how: str = "was stopped") -> None:
        process, endpoint, self._process, self._endpoint = self._process, self._endpoint, None, None
        if process is not None:
            self._ended = endpoint, how if process.running else process.end()
            process.stop()


_servers: dict[str, VLLMServer] = {}  # by the name of their base model
_guard = threading.Lock()


def server(name: str) -> VLLMServer:
    """The server of a base model, one a process."""
    with _guard:
        return _servers.setdefault(name, VLLMServer(name))


class VLLMChat(OpenAIChat):
    """A Chat over a model of a vLLM server that is started when first asked.

    `reply` raises ModelFailed with a sentence where the server dies meanwhile; the next request starts it anew.
    """

    def __init__(
        self, served_by: VLLMServer, model: str, context: int, at_once: int = 0, thoughts: int = 0
    ):
        super().__init__(
            "", model, model, context=context, timeout=REPLY, at_once=at_once, thoughts=thoughts
        )
        self.server = served_by
        self._endpoint: Endpoint | None = None

    @property
    def loaded(self) -> bool:
        return self.server.running

    @property
    def device(self) -> str:
        """Where it answers while it runs; else an empty text."""
        return f"vLLM at {self.url}" if self.url and self.loaded else ""

    def load(self) -> None:
        """Start the server now if it does not run. Raises ModelUnavailable, ModelFailed."""
        self._ready()

    def close(self) -> None:
        """End the server, and with it the replies that it writes."""
        self.server.stop()

    def count_tokens(self, messages: Messages) -> int:
        """Tokens in the model's chat template while the server runs, else an estimate."""
        endpoint = self._endpoint
        if endpoint is None or not self.loaded:
            return estimate_tokens(messages)
        asked = {"model": self.model, "messages": [dict(message) for message in messages]}
        try:
            return int(_post(endpoint, "/tokenize", asked)["count"])
        except (OSError, ValueError, KeyError, TypeError):
            return estimate_tokens(messages)

    def _ready(self) -> Any:
        endpoint = self.server.endpoint()
        with self._connecting:
            if endpoint != self._endpoint:
                self._endpoint, self._client = endpoint, None
                self.url, self._key = endpoint.url, endpoint.key
        return super()._ready()

    def _write(self, request: ChatRequest, writing: Writing, watch: Watch = NO_WATCH) -> None:
        endpoint = self._endpoint
        try:
            super()._write(request, writing, watch)
        except ModelFailed as error:
            why = self.server.fault(endpoint)
            if why:
                raise ModelFailed(why) from error
            raise


def _post(endpoint: Endpoint, path: str, body: Mapping[str, Any]) -> Any:
    """What the server answers on a path beside /v1."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {endpoint.key}"}
    import urllib.request  # brings ssl and more

    request = urllib.request.Request(
        endpoint.url.removesuffix("/v1") + path, json.dumps(body).encode(), headers
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=30) as answer:
        return json.load(answer)

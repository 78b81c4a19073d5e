"""Language models on this computer's graphics cards, in a vLLM server.

Hopscope starts the server at the first request and ends it with itself. A base model and its LoRA
adapters share one server.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import ModelFailed, ModelUnavailable, with_command
from core.io.home import home_folder
from core.models.base import Messages
from core.models.chat.client import ChatRequest
from core.models.chat.openai import OpenAIChat
from core.models.chat.reply_collector import ReplyCollector
from core.models.chat.token_estimates import estimate_tokens
from core.models.device import has_graphics_card
from core.runtime.meter import count_time
from core.runtime.server_process import ServerProcess
from core.watch import NO_WATCH, Watch

# Environment variable with the path of vLLM's program, which may be that of another environment.
VLLM_PROGRAM_VARIABLE = "HOPSCOPE_VLLM"
# Environment variable that allows running without a graphics card if it is 1.
VLLM_CPU_VARIABLE = "HOPSCOPE_VLLM_CPU"
VLLM_INSTALL_COMMAND = "pip install -r requirements-gpu.txt"
# For loading and compiling; weights of 70 B parameters are slow to read from a disk.
START_TIMEOUT_SECONDS = 1800.0
# Until the next piece of a reply; some of hundreds of concurrent requests must wait.
REPLY_TIMEOUT_SECONDS = 600.0
ADAPTER_CONFIG_FILE = "adapter_config.json"  # file in the folder of a LoRA adapter
LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # adapter ranks that vLLM can reserve


def find_program() -> str | None:
    """Return the path of vLLM's program; None if there is none.

    If HOPSCOPE_VLLM is set, only that program counts. Otherwise it is the one of this environment,
    else the one on the path.
    """
    setting = os.environ.get(VLLM_PROGRAM_VARIABLE)
    if setting:
        return shutil.which(setting)
    return shutil.which(str(Path(sys.executable).with_name("vllm"))) or shutil.which("vllm")


def unavailable_reason() -> str | None:
    """Return why vLLM cannot run on this computer, with a remedy.

    The result is None if it can. HOPSCOPE_VLLM_CPU=1 allows running without a graphics card.
    """
    if find_program() is None:
        setting = os.environ.get(VLLM_PROGRAM_VARIABLE)
        if setting:
            return f"{VLLM_PROGRAM_VARIABLE} names {setting}, which is no program here."
        return with_command("vLLM is not installed.", VLLM_INSTALL_COMMAND)
    if os.environ.get(VLLM_CPU_VARIABLE) == "1" or has_graphics_card():
        return None
    return with_command(
        "vLLM needs a graphics card, and none was found. Install it on a computer that has one.",
        VLLM_INSTALL_COMMAND,
    )


@dataclass(frozen=True)
class ServerLaunch:
    """Settings for starting vLLM's server.

    Parameters
    ----------
    arguments : command line after `vllm serve`.
    environment : additional environment variables.
    stamp : text that changes with the weights; a running server is then restarted.
    """

    arguments: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    stamp: str = ""

    def command(self, port: int) -> list[str]:
        """Return the command line for a port.

        It does not contain the key, since other users of this computer can read command lines.
        """
        return [
            find_program() or "vllm",
            "serve",
            *self.arguments,
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]


def find_lora_rank(folders: Sequence[Path]) -> int:
    """Return the smallest rank in `LORA_RANKS` that suffices for the adapters in some folders.

    If none suffices, it is the largest one, and vLLM reports the error itself. Adapters whose
    configuration cannot be read are ignored.
    """
    max_rank = 0
    for folder in folders:
        try:
            config = json.loads((folder / ADAPTER_CONFIG_FILE).read_text("utf-8"))
            max_rank = max(max_rank, int(config.get("r", 0)))
        except (OSError, ValueError, TypeError, AttributeError):
            continue
    return next((rank for rank in LORA_RANKS if rank >= max_rank), LORA_RANKS[-1])


@dataclass(frozen=True)
class ServerEndpoint:
    """Address and key of a running server."""

    url: str
    key: str


class VLLMServer:
    """The vLLM server of a base model.

    Its process is started and stopped as needed. Adapters of the model share it. Safe to use from
    several threads.
    """

    def __init__(self, name: str):
        self.name = name
        self._lock = threading.Lock()
        self._launch: ServerLaunch | None = None  # for the next start
        self._process: ServerProcess | None = None
        self._running_launch: ServerLaunch | None = None  # of the running process
        self._endpoint: ServerEndpoint | None = None
        # Endpoint of the last process that ended, and the reason, for the errors of lost replies.
        self._last_end: tuple[ServerEndpoint | None, str] = (None, "")

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.is_running

    def set_launch(self, launch: ServerLaunch) -> None:
        """Set the settings for the next request, which restarts a server with other settings."""
        with self._lock:
            self._launch = launch

    def ensure_running(self) -> ServerEndpoint:
        """Return the server's address and key, starting the server if necessary.

        Raises
        ------
        ModelUnavailable
            If vLLM cannot run on this computer.
        ModelFailed
            If the server does not start.
        """
        with self._lock:
            if (
                self._process is not None
                and self._process.is_running
                and self._endpoint
                and self._running_launch == self._launch
            ):
                return self._endpoint
            with count_time("preparation", f"Starting {self.name}"):
                self._stop()
                return self._start()

    def stop(self) -> None:
        """End the server. Unfinished replies are lost, and the next request starts it again."""
        with self._lock:
            self._stop()

    def diagnose_failure(self, endpoint: ServerEndpoint | None) -> str:
        """Return a sentence on the end of the server at an endpoint.

        The result is empty if the server still works. A server that runs but no longer answers is
        stopped. The call may wait for an answer to a health check.
        """
        process = self._process
        if process is not None and endpoint == self._endpoint and not process.has_crashed():
            return ""
        with self._lock:
            if endpoint == self._endpoint:
                self._stop("no longer answered")  # also ends a server whose engine died
            ended_endpoint, ending = self._last_end
        if ended_endpoint != endpoint:
            ending = "was stopped"
        return (
            f"{self.name}: vLLM {ending.rstrip('.')}. "
            f"The reply is lost; the next question starts it anew."
        )

    def _start(self) -> ServerEndpoint:
        reason = unavailable_reason()
        if reason:
            raise ModelUnavailable(f"{self.name} cannot run here. {reason}")
        assert self._launch is not None  # set when a client is made
        key = secrets.token_urlsafe(24)
        environment = {**dict(self._launch.environment), "VLLM_API_KEY": key}
        log = home_folder() / "logs" / f"vllm-{self.name}.log"
        try:
            process = ServerProcess(self._launch.command, environment, log)
        except OSError as error:
            raise ModelFailed(
                f"{self.name} could not be started: {error.strerror or error}."
            ) from error
        self._process = process
        self._running_launch = self._launch
        if not process.wait_until_healthy(START_TIMEOUT_SECONDS):
            ending = (
                f"was not ready within {START_TIMEOUT_SECONDS / 60:g} minutes"
                if process.is_running
                else process.describe_end()
            )
            self._stop()
            raise ModelFailed(
                f"{self.name} could not be started: vLLM {ending.rstrip('.')}. "
                f"Its output is in {log}."
            )
        self._endpoint = ServerEndpoint(f"http://127.0.0.1:{process.port}/v1", key)
        return self._endpoint

    def _stop(self, ending: str = "was stopped") -> None:
        """Stop the process; `ending` is the reason, unless the process ended by itself."""
        process = self._process
        endpoint = self._endpoint
        self._process = self._endpoint = None
        if process is not None:
            self._last_end = endpoint, ending if process.is_running else process.describe_end()
            process.stop()


_servers: dict[str, VLLMServer] = {}  # by name of the base model
_servers_lock = threading.Lock()


def shared_server(name: str) -> VLLMServer:
    """Return the server of a base model, one per process."""
    with _servers_lock:
        return _servers.setdefault(name, VLLMServer(name))


class VLLMChat(OpenAIChat):
    """A chat model of a vLLM server that is started at the first request.

    If the server has ended, the next request starts it again.

    Parameters
    ----------
    server : the server, which models may share.
    model : name of the model.
    context : size of the context window in tokens.
    max_concurrent : number of concurrent requests; 0 to adapt it to the server (`Window`).
    reasoning_tokens : token budget for reasoning, if the model is known to reason; else 0.

    Raises
    ------
    ModelFailed : by `reply`, if the server ends before the reply does.
    """

    def __init__(
        self,
        server: VLLMServer,
        model: str,
        context: int,
        max_concurrent: int = 0,
        reasoning_tokens: int = 0,
    ):
        super().__init__(
            "",
            model,
            model,
            context=context,
            timeout=REPLY_TIMEOUT_SECONDS,
            max_concurrent=max_concurrent,
            reasoning_tokens=reasoning_tokens,
        )
        self.server = server
        self._endpoint: ServerEndpoint | None = None

    @property
    def loaded(self) -> bool:
        return self.server.is_running

    @property
    def device(self) -> str:
        """Address of the running server; empty if it does not run."""
        return f"vLLM at {self.url}" if self.url and self.loaded else ""

    def load(self) -> None:
        """Start the server if it does not run.

        Raises
        ------
        ModelUnavailable
            If vLLM cannot run on this computer.
        ModelFailed
            If the server does not start.
        """
        self._prepare()

    def close(self) -> None:
        """End the server; unfinished replies are lost."""
        self.server.stop()

    def count_tokens(self, messages: Messages) -> int:
        """Return the number of tokens of the messages in the chat template.

        It is an estimate if the server does not run.
        """
        endpoint = self._endpoint
        if endpoint is not None and self.loaded:
            body = {"model": self.model, "messages": [dict(message) for message in messages]}
            with suppress(OSError, ValueError, KeyError, TypeError):
                return int(_post(endpoint, "/tokenize", body)["count"])
        return estimate_tokens(messages)

    def _prepare(self) -> Any:
        """Start the server if necessary, and return a client of its current endpoint."""
        endpoint = self.server.ensure_running()
        with self._connecting:
            if endpoint != self._endpoint:
                self._endpoint = endpoint
                self._client = None
                self.url = endpoint.url
                self._key = endpoint.key
        return super()._prepare()

    def _write_reply(
        self, request: ChatRequest, collector: ReplyCollector, watch: Watch = NO_WATCH
    ) -> None:
        endpoint = self._endpoint
        try:
            super()._write_reply(request, collector, watch)
        except ModelFailed as error:
            failure = self.server.diagnose_failure(endpoint)
            if failure:
                raise ModelFailed(failure) from error
            raise


def _post(endpoint: ServerEndpoint, path: str, body: Mapping[str, Any]) -> Any:
    """Return the server's answer on a path outside /v1."""
    import urllib.request  # imported late, since it loads ssl and more

    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {endpoint.key}"}
    request = urllib.request.Request(
        endpoint.url.removesuffix("/v1") + path, json.dumps(body).encode(), headers
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=30) as answer:
        return json.load(answer)

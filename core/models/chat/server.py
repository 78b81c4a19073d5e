"""Access to a server of the OpenAI protocol: the HTTP client, and its errors in words.

It is used for chat models, embeddings and rerankers behind a server.
"""

from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from core.errors import ModelFailed
from core.io.error_text import readable_text
from core.models.api_keys import read_key_variable, saved_key
from core.models.chat.pauses import BUSY_STATUSES, PAUSE_DEFAULTS, RetryPauses
from core.models.chat.refusals import extract_error_message
from core.models.chat.stream_piece import ReplyOverdueError, limit_response
from core.models.hosts import bypasses_proxy, find_proxy
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from openai import OpenAI

# Words of an error for which waiting does not help.
QUOTA_PATTERN = re.compile(r"insufficient_quota|quota|billing", re.IGNORECASE)
# Names of the HTTP library's errors for an established connection.
DROPPED_CONNECTION_ERRORS = ("RemoteProtocolError", "ReadError", "WriteError")
HTTP_LIBRARIES = ("httpx", "httpx2", "httpcore", "httpcore2", "h11")
CONNECT_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True)
class PassingError:
    """A temporary error, after which a request can be sent again.

    Parameters
    ----------
    error : the error of the client library.
    reason : the event, in words that follow "The server".
    headers : headers of the answer, which may say when to send the request again.
    max_pauses : largest number of pauses of a request for such errors.
    is_busy : true if the server has too many requests.
    """

    error: Exception
    reason: str
    headers: Mapping[str, str]
    max_pauses: int = PAUSE_DEFAULTS.max_busy_pauses
    is_busy: bool = False


class OpenAIServer:
    """A server of the OpenAI protocol, used for one model.

    Redirects are not followed, as they could lead to a host that is not allowed. A server on this
    computer is contacted without a proxy.

    Parameters
    ----------
    url : its address, ending in /v1.
    model : the model's name at the server.
    name : the model's name in models.toml.
    key_variable : environment variable of the API key. If empty, the key typed for the address is
        used, if any.
    timeout : seconds without content after which a request fails.
    key : the API key itself; None to look it up.
    """

    def __init__(
        self,
        url: str,
        model: str,
        name: str,
        key_variable: str = "",
        timeout: float = 120.0,
        key: str | None = None,
    ):
        self.url = url.rstrip("/")
        self.model = model
        self.name = name
        self.key_variable = key_variable
        self.timeout = timeout
        self._key = key
        self._has_key = False
        self._connecting = threading.Lock()
        self._client: OpenAI | None = None

    def client(self) -> Any:
        """Return the client of the library openai.

        It is made at the first use and after it was closed. Raises ModelUnavailable if the variable
        of the key is not set.
        """
        import openai

        with self._connecting:
            if self._client is None or self._client.is_closed():
                key = self._key
                if not key and self.key_variable:
                    key = read_key_variable(self.key_variable, self.url, self.name)
                elif not key:
                    key = saved_key(self.url)
                self._has_key = bool(key)
                self._client = openai.OpenAI(
                    base_url=self.url,
                    api_key=key or "none",
                    timeout=openai.Timeout(self.timeout, connect=CONNECT_TIMEOUT_SECONDS),
                    max_retries=0,  # the caller sends requests again; see `RetryPauses`
                    http_client=self._make_http_client(),
                )
            return self._client

    def _make_http_client(self) -> Any:
        """Make the client of the HTTP library. Raises ModelFailed if the proxy is unusable."""
        # Imported late, since it loads the client library.
        from core.models.chat.header_timeout import HeaderTimeoutClient

        try:
            # The time limit exceeds the timeouts of connecting and reading, one after the other.
            return HeaderTimeoutClient(
                self.timeout + 2 * CONNECT_TIMEOUT_SECONDS,
                event_hooks={"response": [partial(limit_response, seconds=self.timeout)]},
                headers={"Accept-Encoding": "gzip, deflate"},  # as `limit_response` allows
                follow_redirects=False,
                trust_env=not bypasses_proxy(self.url),  # the environment names proxies
            )
        except (ImportError, ValueError) as error:
            raise ModelFailed(self._sentence(error, "")) from error

    def pauses(self) -> RetryPauses:
        """Return new pauses for one request."""
        return RetryPauses(f"The server at {self.url}")

    def wait_if_temporary(
        self, error: Exception, pauses: RetryPauses, watch: Watch = NO_WATCH
    ) -> bool:
        """Pause after a temporary error; do nothing after any other.

        Parameters
        ----------
        error : an error of a request.
        pauses : the pauses of this request, limited in number and total time.
        watch : checked during the pause; it may raise RunCancelled.

        Returns
        -------
        True after a pause, so that the request is to be sent again.
        """
        passing_error = self.find_passing_error(error)
        return passing_error is not None and pauses.wait(
            passing_error.reason, passing_error.headers, watch, passing_error.max_pauses
        )

    def find_passing_error(self, error: Exception) -> PassingError | None:
        """Return the description of a temporary error; None for any other error."""
        import openai

        if isinstance(error, openai.APIStatusError) and error.status_code in BUSY_STATUSES:
            if QUOTA_PATTERN.search(f"{extract_error_message(error.body)} {error.code}"):
                return None
            return PassingError(
                error, f"is busy ({error.status_code})", error.response.headers, is_busy=True
            )
        if (
            isinstance(error, openai.APIConnectionError)
            and type(error.__cause__).__name__ in DROPPED_CONNECTION_ERRORS
        ):
            return PassingError(error, "dropped the connection", {}, PAUSE_DEFAULTS.max_drop_pauses)
        return None

    def to_model_failure(self, error: Exception, partial_reply: str = "") -> ModelFailed | None:
        """Convert a server's error to one with a sentence for the user.

        Parameters
        ----------
        error : an error of a request.
        partial_reply : the part of the reply that had arrived before.

        Returns
        -------
        The converted error, for the caller to raise; None if neither the server nor the connection
        caused the error.
        """
        import openai

        cause = error.__cause__
        if isinstance(error, openai.APIConnectionError) and isinstance(
            cause, ValueError | ReplyOverdueError
        ):
            error = cause  # the server was reached, but sent too much or too slowly
        is_server_error = isinstance(
            error, openai.OpenAIError | OSError | ValueError | RecursionError
        ) or is_transport_error(error)
        return ModelFailed(self._sentence(error, partial_reply)) if is_server_error else None

    def _sentence(self, error: Exception, partial_reply: str) -> str:
        """Return a sentence for the user on an error of the server."""
        action = self._describe_fault(error, partial_reply)
        proxy = find_proxy(self.url)
        via_proxy = f", asked by the proxy {readable_text(proxy)}," if proxy else ""
        end = "" if action.endswith("?") else "."
        tail = f" What came so far: “{readable_text(partial_reply)}”" if partial_reply else ""
        return f"The server at {self.url}{via_proxy} {action}{end}{tail}"

    def _describe_fault(self, error: Exception, partial_reply: str) -> str:
        """Return the predicate of a sentence on an error, whose subject is the server."""
        import openai

        server_message = readable_text(extract_error_message(getattr(error, "body", None)))
        if isinstance(error, openai.APITimeoutError):
            return f"did not answer within {self.timeout:g} seconds"
        if isinstance(error, ReplyOverdueError):
            return str(error)
        if isinstance(error, openai.APIStatusError) and 300 <= error.status_code < 400:
            target = readable_text(error.response.headers.get("Location", "")) or "no address"
            return (
                f"redirects to {target} ({error.status_code}), which was not followed; if that is "
                "right, give it as the address"
            )
        if isinstance(error, openai.AuthenticationError):
            if self._has_key:
                return "refused the key"
            return "asks for a key, and none is known for this address"
        if isinstance(error, openai.NotFoundError):
            detail = f": {server_message}" if server_message else ""
            return f"does not know the model “{self.model}” or this address{detail}"
        if isinstance(error, openai.APIConnectionError) and not partial_reply:
            return "cannot be reached; is it running?"
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
            return f"sent what cannot be read ({readable_text(error, 100)})"
        if isinstance(error, openai.APIStatusError):
            return f"failed: {format_status(error.status_code, server_message)}"
        words = readable_text(error)
        if server_message not in words:
            words = f"{words} {server_message}"
        return f"failed: {readable_text(words).rstrip('.')}"


def format_status(status: int, message: str) -> str:
    """Format a status with its name, followed by the server's message.

    Parameters
    ----------
    status : HTTP status.
    message : the message of the server. A status or its name at the beginning is left out.

    Returns
    -------
    Words without a full stop.

    Examples
    --------
    >>> from core.models.chat.server import format_status
    >>> format_status(502, "502 Bad Gateway nginx")
    '502 Bad Gateway: nginx'
    """
    name = http.client.responses.get(status, "")
    detail = message.removeprefix(str(status)).lstrip(" :-")
    detail = detail.removeprefix(name).strip(" :-.")
    return f"{status} {name}".strip() + (f": {detail}" if detail else "")


def is_refusal(error: ModelFailed, excluded_statuses: Sequence[int] = ()) -> bool:
    """Return whether a server refused a request, by the HTTP status of its answer.

    Parameters
    ----------
    error : the error of a request.
    excluded_statuses : further HTTP statuses that do not count as refusals.

    Returns
    -------
    True for a status of at least 400, except those of a busy server and of one that asks for a key.
    """
    import openai

    cause = error.__cause__
    return (
        isinstance(cause, openai.APIStatusError)
        and cause.status_code >= 400
        and cause.status_code not in (401, 403, *BUSY_STATUSES, *excluded_statuses)
    )


def is_transport_error(error: Exception) -> bool:
    """Return whether an error comes from the HTTP library below the client.

    The client library does not convert such errors while it reads a stream.
    """
    return type(error).__module__.split(".")[0] in HTTP_LIBRARIES

"""Access to a server of the OpenAI protocol: the client, pauses, and errors in words."""

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
from core.models.api_keys import key_for, saved_key
from core.models.chat.pauses import BUSY_STATUSES, PAUSE_DEFAULTS, RetryPauses
from core.models.chat.refusals import error_message_of
from core.models.chat.stream_piece import ReplyOverdueError, limit_response
from core.models.hosts import goes_directly, proxy_of
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from openai import OpenAI

# Words of a refusal for which waiting does not help.
QUOTA_PATTERN = re.compile(r"insufficient_quota|quota|billing", re.IGNORECASE)
# Names of the HTTP library's errors for an established connection.
DROPPED_CONNECTION_ERRORS = ("RemoteProtocolError", "ReadError", "WriteError")
CONNECT_TIMEOUT_SECONDS = (
    5.0  # seconds until a server that accepts no connection counts as unreachable
)


@dataclass(frozen=True)
class PassingError:
    """An error that passes after some time.

    Parameters
    ----------
    error : the error.
    why : what happened.
    headers : headers that may say when it is over.
    tries : how often it is waited for.
    busy : true if the server has too many requests.
    """

    error: Exception
    why: str
    headers: Mapping[str, str]
    tries: int = PAUSE_DEFAULTS.max_busy_pauses
    busy: bool = False


class OpenAIServer:
    """A server of the OpenAI protocol, used for one model.

    Redirects are not followed, so that no server leads to a host that is not allowed. A server on
    this computer is contacted without a proxy.

    Parameters
    ----------
    url : its address, ending in /v1.
    model : the model's name at the server.
    name : the model's name here.
    key_variable : environment variable of the API key. Without one, the key typed for the address
        is used, if any.
    timeout : seconds until a request fails.
    key : the API key itself.
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
        self.url, self.model, self.name = url.rstrip("/"), model, name
        self.key_variable, self.timeout, self._key = key_variable, timeout, key
        self._connecting, self._has_key = threading.Lock(), False
        self._client: OpenAI | None = None

    def client(self) -> Any:
        """Return the client, which is made at the first use and again after it was closed.

        Raises ModelUnavailable if the variable of the key is not set.
        """
        import openai

        with self._connecting:
            if self._client is None or self._client.is_closed():
                known_key = self._key or (
                    key_for(self.key_variable, self.url, self.name)
                    if self.key_variable
                    else saved_key(self.url)
                )
                self._has_key, key = bool(known_key), known_key or "none"
                timeout = openai.Timeout(self.timeout, connect=CONNECT_TIMEOUT_SECONDS)
                http = self._http()
                self._client = openai.OpenAI(
                    base_url=self.url, api_key=key, timeout=timeout, max_retries=0, http_client=http
                )
            return self._client

    def _http(self) -> Any:
        """Return the client of the HTTP library. Raises ModelFailed if the proxy is unusable."""
        from core.models.chat.header_timeout import (
            HeaderTimeoutClient,  # imported late, since it loads the client
        )

        try:
            # Longer than the timeouts of connecting and reading, which may follow each other.
            return HeaderTimeoutClient(
                self.timeout + 2 * CONNECT_TIMEOUT_SECONDS,
                event_hooks={"response": [partial(limit_response, seconds=self.timeout)]},
                headers={"Accept-Encoding": "gzip, deflate"},
                follow_redirects=False,
                trust_env=not goes_directly(self.url),  # the environment names proxies
            )
        except (ImportError, ValueError) as error:
            raise ModelFailed(self._sentence(error, "")) from error

    def pauses(self) -> RetryPauses:
        """Return new pauses for one request."""
        return RetryPauses(f"The server at {self.url}")

    def waited(self, error: Exception, pauses: RetryPauses, watch: Watch = NO_WATCH) -> bool:
        """Wait for an error to pass.

        Parameters
        ----------
        error : an error of a request.
        pauses : the pauses of this request so far, which limit further ones.
        watch : checked meanwhile; may raise RunCancelled.

        Returns
        -------
        True if the request is to be sent again.
        """
        passing = self.passing(error)
        return passing is not None and pauses.wait(
            passing.why, passing.headers, watch, passing.tries
        )

    def passing(self, error: Exception) -> PassingError | None:
        """Return an error with all that is needed to wait for its end.

        None if waiting does not help.
        """
        import openai

        if isinstance(error, openai.APIStatusError) and error.status_code in BUSY_STATUSES:
            lasting = QUOTA_PATTERN.search(f"{error_message_of(error.body)} {error.code}")
            if lasting:
                return None
            return PassingError(
                error, f"is busy ({error.status_code})", error.response.headers, busy=True
            )
        if (
            isinstance(error, openai.APIConnectionError)
            and type(error.__cause__).__name__ in DROPPED_CONNECTION_ERRORS
        ):
            return PassingError(error, "dropped the connection", {}, PAUSE_DEFAULTS.max_drop_pauses)
        return None

    def failure(self, error: Exception, partial_reply: str = "") -> ModelFailed | None:
        """Convert a server's error to one with a sentence for the user.

        Parameters
        ----------
        error : an error of a request.
        partial_reply : the part of the reply that has arrived.

        Returns
        -------
        The error, which the caller raises; None for an error that is not the server's.
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
        """Return a sentence for the user on what happened."""
        action, proxy = self._fault_words(error, partial_reply), proxy_of(self.url)
        via_proxy = f", asked by the proxy {readable_text(proxy)}," if proxy else ""
        tail = f" What came so far: “{readable_text(partial_reply)}”" if partial_reply else ""
        return f"The server at {self.url}{via_proxy} {action}{'' if action.endswith('?') else '.'}{tail}"

    def _fault_words(self, error: Exception, partial_reply: str) -> str:
        """Return the part of the sentence on what the server did."""
        import openai

        server_message = readable_text(error_message_of(getattr(error, "body", None)))
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
            refusal = "refused the key"
            return (
                refusal if self._has_key else "asks for a key, and none is known for this address"
            )
        if isinstance(error, openai.NotFoundError):
            return f"does not know the model “{self.model}” or this address" + (
                f": {server_message}" if server_message else ""
            )
        if isinstance(error, openai.APIConnectionError) and not partial_reply:
            return "cannot be reached; is it running?"
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
            return f"sent what cannot be read ({readable_text(error, 100)})"
        if isinstance(error, openai.APIStatusError):
            return f"failed: {status_words(error.status_code, server_message)}"
        words = readable_text(error)
        return f"failed: {readable_text(words if server_message in words else f'{words} {server_message}').rstrip('.')}"


def status_words(status: int, said: str) -> str:
    """Format a status with its name, followed by the server's message.

    Parameters
    ----------
    status : HTTP status.
    said : the message of the server; a status at its beginning is not repeated.

    Returns
    -------
    Words without a full stop.

    Examples
    --------
    >>> from core.models.chat.server import status_words
    >>> status_words(502, "502 Bad Gateway nginx")
    '502 Bad Gateway: nginx'
    """
    name = http.client.responses.get(status, "")
    detail = said.removeprefix(str(status)).lstrip(" :-")
    detail = detail.removeprefix(name).strip(" :-.")
    return f"{status} {name}".strip() + (f": {detail}" if detail else "")


def is_refusal(error: ModelFailed, besides: Sequence[int] = ()) -> bool:
    """Return whether a server answered a request with a refusal.

    Parameters
    ----------
    error : the error of a request.
    besides : HTTP statuses that do not count.

    Returns
    -------
    False also for answers of a busy server and for requests for a key.
    """
    import openai

    cause = error.__cause__
    return (
        isinstance(cause, openai.APIStatusError)
        and cause.status_code >= 400
        and cause.status_code not in (401, 403, *BUSY_STATUSES, *besides)
    )


def is_transport_error(error: Exception) -> bool:
    """Return whether an error comes from the HTTP library below the client.

    The client passes such errors on while it reads a stream.
    """
    return type(error).__module__.split(".")[0] in (
        "httpx",
        "httpx2",
        "httpcore",
        "httpcore2",
        "h11",
    )

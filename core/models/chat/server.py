"""A server of the OpenAI protocol: the client for it, pauses that it asks for, and its faults in words."""

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
from core.models.chat.pauses import BUSY, DROPS, TRIES, Pauses
from core.models.chat.piece import Overdue, bound
from core.models.chat.refusals import said_by
from core.models.hosts import goes_directly, proxy_of
from core.models.keys import key_for, saved_key
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from openai import OpenAI

# in a refusal that does not pass by waiting
QUOTA = re.compile(r"insufficient_quota|quota|billing", re.IGNORECASE)
# the HTTP library's faults of a connection that was there
DROPPED = ("RemoteProtocolError", "ReadError", "WriteError")
CONNECT = 5.0  # seconds until a server that does not answer counts as dead


@dataclass(frozen=True)
class Passing:
    """An error that passes: what happened, the headers that may say when it is over, how often it is waited for, and whether the server
    has too many requests."""

    error: Exception
    why: str
    headers: Mapping[str, str]
    tries: int = TRIES
    busy: bool = False


class OpenAIServer:
    """The server at `url` (ending in /v1), asked for `model`.

    The key is read from the environment variable `key_variable` where one is named, else it is the one that was typed for the address,
    where there is one. Redirects are not followed: a server leads to no
    host that is not allowed. A server on this computer is asked without a proxy.
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
        """The client, made when first asked for, and anew where it had to be closed.

        Raises ModelUnavailable where the key's variable is not set.
        """
        import openai

        with self._connecting:
            if self._client is None or self._client.is_closed():
                named = self._key or (
                    key_for(self.key_variable, self.url, self.name)
                    if self.key_variable
                    else saved_key(self.url)
                )
                self._has_key, key = bool(named), named or "none"
                timeout = openai.Timeout(self.timeout, connect=CONNECT)
                http = self._http()
                self._client = openai.OpenAI(
                    base_url=self.url, api_key=key, timeout=timeout, max_retries=0, http_client=http
                )
            return self._client

    def _http(self) -> Any:
        """The HTTP library's client. Raises ModelFailed where the proxy is none that it can use."""
        from core.models.chat.timely import TimelyClient  # brings the client with it

        try:
            # Behind its own timeouts, which may pass one after another.
            return TimelyClient(
                self.timeout + 2 * CONNECT,
                event_hooks={"response": [partial(bound, seconds=self.timeout)]},
                headers={"Accept-Encoding": "gzip, deflate"},
                follow_redirects=False,
                trust_env=not goes_directly(self.url),  # which names proxies
            )
        except (ImportError, ValueError) as error:
            raise ModelFailed(self._sentence(error, "")) from error

    def pauses(self) -> Pauses:
        """The pauses of one request."""
        return Pauses(f"The server at {self.url}")

    def waited(self, error: Exception, pauses: Pauses, watch: Watch = NO_WATCH) -> bool:
        """Whether an error was one that passes, and was waited for, so that the request is to be sent again."""
        passing = self.passing(error)
        return passing is not None and pauses.wait(
            passing.why, passing.headers, watch, passing.tries
        )

    def passing(self, error: Exception) -> Passing | None:
        """What is to be waited for after an error; None for one that does not pass."""
        import openai

        if isinstance(error, openai.APIStatusError) and error.status_code in BUSY:
            lasting = QUOTA.search(f"{said_by(error.body)} {error.code}")
            if lasting:
                return None
            return Passing(
                error, f"is busy ({error.status_code})", error.response.headers, busy=True
            )
        if (
            isinstance(error, openai.APIConnectionError)
            and type(error.__cause__).__name__ in DROPPED
        ):
            return Passing(error, "dropped the connection", {}, DROPS)
        return None

    def failure(self, error: Exception, so_far: str = "") -> ModelFailed | None:
        """What happened, in words for a person; None for an error that is none of the server's."""
        import openai

        cause = error.__cause__
        if isinstance(error, openai.APIConnectionError) and isinstance(cause, ValueError | Overdue):
            error = cause  # it was reached, and sent too much or too slowly
        known = isinstance(
            error, openai.OpenAIError | OSError | ValueError | RecursionError
        ) or transport(error)
        return ModelFailed(self._sentence(error, so_far)) if known else None

    def _sentence(self, error: Exception, so_far: str) -> str:
        """What happened, in words for a person."""
        what, proxy = self._what(error, so_far), proxy_of(self.url)
        by = f", asked by the proxy {readable_text(proxy)}," if proxy else ""
        tail = f" What came so far: “{readable_text(so_far)}”" if so_far else ""
        return f"The server at {self.url}{by} {what}{'' if what.endswith('?') else '.'}{tail}"

    def _what(self, error: Exception, so_far: str) -> str:
        """The part of the sentence that says what the server did."""
        import openai

        said = readable_text(said_by(getattr(error, "body", None)))
        if isinstance(error, openai.APITimeoutError):
            return f"did not answer within {self.timeout:g} seconds"
        if isinstance(error, Overdue):
            return str(error)
        if isinstance(error, openai.APIStatusError) and 300 <= error.status_code < 400:
            target = readable_text(error.response.headers.get("Location", "")) or "no address"
            return f"redirects to {target} ({error.status_code}), which was not followed; if that is right, give it as the address"
        if isinstance(error, openai.AuthenticationError):
            known = "refused the key"
            return known if self._has_key else "asks for a key, and none is known for this address"
        if isinstance(error, openai.NotFoundError):
            return f"does not know the model “{self.model}” or this address" + (
                f": {said}" if said else ""
            )
        if isinstance(error, openai.APIConnectionError) and not so_far:
            return "cannot be reached; is it running?"
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
            return f"sent what cannot be read ({readable_text(error, 100)})"
        if isinstance(error, openai.APIStatusError):
            return f"failed: {status_words(error.status_code, said)}"
        words = readable_text(error)
        return f"failed: {readable_text(words if said in words else f'{words} {said}').rstrip('.')}"


def status_words(status: int, said: str) -> str:
    """A status with its name, once, then what a server says of it.

    Examples
    --------
    >>> from core.models.chat.server import status_words
    >>> status_words(502, "502 Bad Gateway nginx")
    '502 Bad Gateway: nginx'
    """
    name = http.client.responses.get(status, "")
    more = said.removeprefix(str(status)).lstrip(" :-")
    more = more.removeprefix(name).strip(" :-.")
    return f"{status} {name}".strip() + (f": {more}" if more else "")


def turned_down(error: ModelFailed, besides: Sequence[int] = ()) -> bool:
    """Whether a server answered a request and would not do it.

    Not where it is busy or wants a key, nor with the statuses `besides`.
    """
    import openai

    cause = error.__cause__
    return (
        isinstance(cause, openai.APIStatusError)
        and cause.status_code >= 400
        and cause.status_code not in (401, 403, *BUSY, *besides)
    )


def transport(error: Exception) -> bool:
    """Whether `error` comes from the HTTP library below the client, which lets its read errors through in mid-stream."""
    return type(error).__module__.split(".")[0] in (
        "httpx",
        "httpx2",
        "httpcore",
        "httpcore2",
        "h11",
    )

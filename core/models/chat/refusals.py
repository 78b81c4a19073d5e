"""Request parts that a server refuses, which are then left out.

Refusals are learnt from the server's errors. Servers of the OpenAI protocol support different parts
of it: some accept no schema, no seed or no system message. Their error messages have no common
format, so patterns of words are looked for.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import StoreError
from core.io.durable_files import write_whole
from core.io.locks import hold_change_lock

log = logging.getLogger(__name__)
Body = dict[str, Any]  # JSON of a chat request
# Words of an error that refuses a part of a request.
REFUSAL_PATTERN = re.compile(
    r"unsupported|not (?:be )?support|n't support|un(?:known|recogni[sz]ed|expected)"
    r"|not (?:permitted|allowed|enabled|available)"
    r"|not recogni[sz]ed|no endpoints|extra (?:input|field)|only the default"
    r"|invalid (?:parameter|argument|field|role)|must alternate",
    re.IGNORECASE,
)
# Words of an error on the size of a request, which refuses no part.
TOO_LONG_PATTERN = re.compile(
    r"context (?:length|window)|too (?:large|long|many)|exceeds?\b|maximum (?:context|value)"
    r"|greater than|at most",
    re.IGNORECASE,
)
REFUSAL_STATUSES = (400, 404, 405, 422, 500, 501)  # of answers that may refuse a part


@dataclass(frozen=True)
class RequestPart:
    """A part of a request that a server may refuse.

    Parameters
    ----------
    name : name of the part, in saved files and for the user.
    pattern : pattern of the part's names in error messages.
    is_in : returns whether a request has it.
    remove_from : returns the request without it.
    """

    name: str
    pattern: re.Pattern[str]
    is_in: Callable[[Body], bool]
    remove_from: Callable[[Body], Body]


def _optional_key(name: str, pattern: re.Pattern[str]) -> RequestPart:
    """Return the part for the key `name`, which can be left out."""
    return RequestPart(
        name,
        pattern,
        lambda body: name in body,
        lambda body: {key: value for key, value in body.items() if key != name},
    )


def _rename_limit(body: Body) -> Body:
    """Return the request with its token limit under the newer name of the protocol."""
    renamed_body = dict(body)
    renamed_body["max_completion_tokens"] = renamed_body.pop("max_tokens")
    return renamed_body


def _has_system_message(body: Body) -> bool:
    return any(message["role"] == "system" for message in body["messages"])


def _merge_system_messages(body: Body) -> Body:
    """Return the request with its system messages in a user message.

    They are moved to the start of the first user message.
    """
    system_text = "\n\n".join(
        message["content"] for message in body["messages"] if message["role"] == "system"
    )
    other_messages = [dict(message) for message in body["messages"] if message["role"] != "system"]
    user_message = next((message for message in other_messages if message["role"] == "user"), None)
    if user_message is None:
        other_messages.insert(0, {"role": "user", "content": system_text})
    else:
        user_message["content"] = f"{system_text}\n\n{user_message['content']}"
    return body | {"messages": other_messages}


FORMAT_PATTERN = re.compile(
    r"response_format|json_schema|schema|structured|grammar|guided|json mode", re.IGNORECASE
)
STREAM_OPTIONS_PATTERN = re.compile(r"stream_options|include_usage", re.IGNORECASE)
SEED_PATTERN = re.compile(r"\bseed\b", re.IGNORECASE)
TEMPERATURE_PATTERN = re.compile(r"temperature", re.IGNORECASE)
MAX_TOKENS_PATTERN = re.compile(r"max_tokens", re.IGNORECASE)
MAX_COMPLETION_TOKENS_PATTERN = re.compile(r"max_completion_tokens", re.IGNORECASE)
SYSTEM_ROLE_PATTERN = re.compile(
    r"system (?:role|message|prompt|instruction)|developer instruction"
    r"|roles?\b.{0,80}\b(?:system|alternate)|\bsystem\b.{0,80}\brole",
    re.IGNORECASE,
)
# If an error names several parts, the first of them is left out. The request is then sent again.
REFUSABLE_PARTS = (
    _optional_key("response_format", FORMAT_PATTERN),
    _optional_key("stream_options", STREAM_OPTIONS_PATTERN),
    _optional_key("seed", SEED_PATTERN),
    _optional_key("temperature", TEMPERATURE_PATTERN),
    RequestPart("max_tokens", MAX_TOKENS_PATTERN, lambda body: "max_tokens" in body, _rename_limit),
    RequestPart("system role", SYSTEM_ROLE_PATTERN, _has_system_message, _merge_system_messages),
    _optional_key("max_completion_tokens", MAX_COMPLETION_TOKENS_PATTERN),
)


class Refusals:
    """Request parts that a server has refused so far.

    >>> from core.models.chat.refusals import Refusals
    >>> refusals, body = Refusals(), {"messages": [], "seed": 0, "max_tokens": 9}
    >>> refusals.learn(422, "Extra inputs are not permitted: seed", body), refusals.remove_refused_parts(body)
    ('seed', {'messages': [], 'max_tokens': 9})
    >>> too_long = "max_tokens is too large: 9000. This model's maximum context length is 4096."
    >>> refusals.learn(400, too_long, body)
    ''
    """

    def __init__(self) -> None:
        self._refused_parts: list[RequestPart] = []
        self._store: SavedRefusals | None = None

    def save_to(self, store: SavedRefusals) -> None:
        """Add the saved refusals, and save new ones from now on."""
        self.add(store.names())
        self._store = store

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the refused parts, in the order in which they were found."""
        return tuple(part.name for part in self._refused_parts)

    def remove_refused_parts(self, body: Body) -> Body:
        """Return a request without the refused parts."""
        for part in self._refused_parts:
            if part.is_in(body):
                body = part.remove_from(body)
        return body

    def learn(self, status: int, message: str, body: Body) -> str:
        """Record and return the part of a request that an error refuses.

        If the error of a bad request names no part, the schema is taken for the refused part, if
        there is one: few servers name it.

        Parameters
        ----------
        status : HTTP status of the answer.
        message : its error message.
        body : the request.

        Returns
        -------
        Name of the part; empty if the error refuses none.
        """
        if status not in REFUSAL_STATUSES or TOO_LONG_PATTERN.search(message):
            return ""
        refused_parts = [
            part for part in REFUSABLE_PARTS if part.is_in(body) and part.pattern.search(message)
        ]
        if not refused_parts and status in (400, 422) and "response_format" in body:
            refused_parts = [REFUSABLE_PARTS[0]]  # response_format
        elif not refused_parts or not REFUSAL_PATTERN.search(message):
            return ""
        part = refused_parts[0]
        if part not in self._refused_parts:  # else a concurrent request has recorded it
            self._refused_parts.append(part)
            self._save()
        return part.name

    def add(self, names: Iterable[str]) -> None:
        """Mark the parts with these names as refused; unknown names are ignored."""
        added_names = set(names) - set(self.names)
        self._refused_parts += [part for part in REFUSABLE_PARTS if part.name in added_names]

    def forget(self, names: Collection[str]) -> None:
        """Mark the parts with these names as not refused after all."""
        if names:
            self._refused_parts = [part for part in self._refused_parts if part.name not in names]
            self._save()

    def _save(self) -> None:
        if self._store is not None:
            self._store.save(self.names)


@dataclass(frozen=True)
class SavedRefusals:
    """Refusals of one server, in a file shared by several servers.

    If the file cannot be read, the refusals are learnt again. If it cannot be written, this is
    logged.

    Parameters
    ----------
    file : JSON file of all servers.
    name : name of the model in models.toml.
    row : text of the model's row in models.toml. If it has changed, saved refusals are ignored.
    """

    file: Path
    name: str
    row: str

    def names(self) -> tuple[str, ...]:
        """Return the names of the saved parts; none if the row has changed."""
        entry = self._read_entries().get(self.name)
        if not isinstance(entry, dict) or entry.get("row") != self._digest:
            return ()
        names = entry.get("refuses")
        if not isinstance(names, list):
            return ()
        return tuple(name for name in names if isinstance(name, str))

    def save(self, names: Iterable[str]) -> None:
        """Save the names of parts, replacing the earlier ones."""
        try:
            with hold_change_lock(self.file):
                entries = self._read_entries() | {
                    self.name: {"row": self._digest, "refuses": list(names)}
                }
                write_whole(
                    self.file,
                    lambda temporary: temporary.write_text(json.dumps(entries, indent=1), "utf-8"),
                )
        except (OSError, StoreError) as error:
            log.warning("What %s refuses was not saved. %s", self.name, error)

    @property
    def _digest(self) -> str:
        return hashlib.sha256(self.row.encode()).hexdigest()[:16]

    def _read_entries(self) -> dict[str, Any]:
        try:
            entries = json.loads(self.file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return entries if isinstance(entries, dict) else {}


def extract_error_message(answer: Any) -> str:
    """Return the message in a server's error JSON, with the parameter that it names.

    Some servers repeat the request in the error, which is left out. An answer of an unknown format
    gives an empty text.

    >>> from core.models.chat.refusals import extract_error_message
    >>> extract_error_message({"error": {"message": "Unknown parameter", "param": "seed"}})
    'Unknown parameter seed'
    >>> detail = {"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 0}
    >>> extract_error_message({"detail": [detail]})
    'Extra inputs are not permitted: body seed'
    """
    if not isinstance(answer, dict):
        return answer if isinstance(answer, str) else ""
    error = answer.get("error", answer)
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return ""
    detail = error.get("detail")
    if isinstance(detail, list):
        return "; ".join(
            f"{part.get('msg', '')}: {' '.join(map(str, part.get('loc', ())))}"
            for part in detail
            if isinstance(part, dict)
        )
    return " ".join(str(error[key]) for key in ("message", "detail", "param") if error.get(key))

"""Saved replies of language models, and a chat that uses them.

The replies are on disk. The chat requests only new ones. Building a graph takes very many replies.
They are saved, so that a build can be repeated or continued without the model, and those of the
shipped graphs come with Hopscope.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.errors import ModelUnavailable
from core.io.files import numbered_lines
from core.io.home import home_folder
from core.io.rows import RowFile, Schema, select_by_keys
from core.models.base import Chat, ChatReply, Messages
from core.models.chat.reply_collector import clean_reply
from core.models.chat.token_estimates import estimate_tokens, is_prompt_cut, min_token_count
from core.runtime.time_shares import TimeShares
from core.watch import NO_WATCH, Watch

REPLY_KEY_DIGITS = 32  # hex digits of a key
SAVED_REPLY_FIELDS = ("text", "tokens_in", "tokens_out", "finish", "seconds", "words", "thought")
# Columns added to files that were made before these columns existed.
ADDED_REPLY_COLUMNS = {"words": "integer not null default 0", "thought": "text not null default ''"}
REPLIES_SCHEMA = Schema(
    "the replies",
    (
        "create table replies (key text primary key, model text not null, text text not null, "
        "tokens_in integer not null, "
        "tokens_out integer not null, finish text not null, seconds real not null, "
        f"{', '.join(f'{name} {how}' for name, how in ADDED_REPLY_COLUMNS.items())}) without rowid",
    ),
    {"replies": ADDED_REPLY_COLUMNS},
    is_recomputable=True,
)


def reply_key(
    model: str,
    messages: Messages,
    schema: dict[str, Any] | None,
    max_tokens: int,
    seed: int,
    temperature: float,
) -> str:
    """Return the key of a reply.

    Parameters
    ----------
    model : text that identifies the weights.
    messages : the prompt.
    schema : JSON schema of the request; None for free text.
    max_tokens : token limit of the reply.
    seed : seed of the sampling.
    temperature : sampling temperature.

    Returns
    -------
    The first `REPLY_KEY_DIGITS` hexadecimal digits of the SHA-256 of all these.
    """
    parts = [model, [dict(message) for message in messages], schema, max_tokens, seed, temperature]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:REPLY_KEY_DIGITS]


class SavedReplies:
    """Replies by key, in a SQLite file and in shipped files.

    The files that ship with Hopscope are read-only. Safe to use from several threads and processes.
    Raises StoreError if the file cannot be used, and BadInput for a damaged shipped file.

    Parameters
    ----------
    file : the SQLite file, which need not exist; by default that of the user.
    shipped : files of replies that ship with Hopscope; missing ones are skipped.
    """

    def __init__(self, file: Path | None = None, shipped: Sequence[Path] = ()):
        self.file = file or home_folder() / "replies.sqlite"
        self.shipped = tuple(shipped)
        self._rows = RowFile(self.file, REPLIES_SCHEMA)
        self._lock = threading.Lock()
        self._shipped_replies: dict[str, ChatReply] | None = None

    def hold_open(self) -> AbstractContextManager[None]:
        """Keep the file open within the block, which speeds up many single look-ups."""
        return self._rows.keep_open()

    def find(
        self,
        key: str,
        schema: dict[str, Any] | None = None,
        usable: bool = True,
        min_tokens: int = 0,
    ) -> ChatReply | None:
        """Return the saved reply of a key.

        A shipped reply is returned even if it is not usable.

        Parameters
        ----------
        key : key of the request.
        schema : JSON schema of the request; None for free text.
        usable : if true, a reply of the user's file is returned only if it is usable and the server
            did not cut its prompt.
        min_tokens : lower bound of the prompt's tokens. If the server read fewer, it cut the
            prompt.

        Returns
        -------
        The reply, marked as cached; None without one.
        """
        return self.find_all({key: min_tokens}, schema, usable).get(key)

    def find_all(
        self, keys: Mapping[str, int], schema: dict[str, Any] | None = None, usable: bool = True
    ) -> dict[str, ChatReply]:
        """Return the saved replies of several keys, as `find` does.

        Parameters
        ----------
        keys : keys of requests, with the lower bound of the tokens of each prompt.
        schema : JSON schema of all requests; None for free text.
        usable : as in `find`.

        Returns
        -------
        Replies by key; keys without a reply are left out.
        """
        with self._rows.open_for_reading() as base:
            rows = select_by_keys(base, "replies", ("key", *SAVED_REPLY_FIELDS), keys)
            saved_replies = {
                key: clean_reply(
                    ChatReply(**dict(zip(SAVED_REPLY_FIELDS, row)), cached=True), schema
                )
                for key, *row in rows
            }
        all_shipped = self._load_shipped()
        replies = {
            key: replace(all_shipped[key], cached=True) for key in keys if key in all_shipped
        }
        for key, reply in saved_replies.items():
            is_usable = reply.is_usable and not is_prompt_cut(reply.tokens_in, keys[key])
            # The user's reply takes precedence over a shipped one only if it is usable.
            if is_usable or (not usable and key not in replies):
                replies[key] = reply
        return replies

    def save(self, key: str, model: str, reply: ChatReply) -> None:
        """Save a reply permanently.

        Parameters
        ----------
        key : key of the request.
        model : name under which `mean_cost` averages its duration; empty to leave it out.
        reply : the reply.

        Raises
        ------
        StoreError : the file cannot be used.
        """
        self._rows.save(
            "replies",
            [(key, model, *(getattr(reply, field) for field in SAVED_REPLY_FIELDS))],
            ("key", "model", *SAVED_REPLY_FIELDS),
        )

    def mean_cost(self, model: str, limit: int = 200) -> tuple[float, float, float] | None:
        """Return the mean cost of a model's replies.

        Parameters
        ----------
        model : name of the model.
        limit : largest number of replies that are averaged. Shipped replies are never included.

        Returns
        -------
        Mean seconds, prompt tokens and reply tokens; None without such replies.
        """
        query = (
            "select avg(seconds), avg(tokens_in), avg(tokens_out) "
            "from (select * from replies where model = ? and seconds > 0 limit ?)"
        )
        (means,) = self._rows.query(query, (model, limit))
        return means if means[0] else None

    def _load_shipped(self) -> dict[str, ChatReply]:
        with self._lock:
            if self._shipped_replies is None:
                replies: dict[str, ChatReply] = {}
                for file in self.shipped:
                    if file.exists():
                        replies.update(read_shipped(file))
                self._shipped_replies = replies
            return self._shipped_replies


def read_shipped(file: Path) -> Iterator[tuple[str, ChatReply]]:
    """Yield the replies of a shipped file, with their keys. Raises BadInput if it is damaged."""
    for _, line in numbered_lines(file):
        row = json.loads(line)
        if "key" in row:
            values = {field: row[field] for field in SAVED_REPLY_FIELDS if field in row}
            yield row["key"], ChatReply(**values)


def write_shipped(
    file: Path,
    replies: Iterable[tuple[str, ChatReply]],
    first_rows: Iterable[Mapping] = (),
    last_rows: Iterable[Mapping] = (),
) -> int:
    """Write replies to a gzip file for shipping, with equal bytes for equal replies.

    Parameters
    ----------
    file : the file.
    replies : keys and replies; they are sorted by key.
    first_rows, last_rows : rows of plain data before and after the replies; they have no key.

    Returns
    -------
    The number of replies.
    """
    rows = []
    for key, reply in sorted(replies, key=lambda pair: pair[0]):
        row: dict[str, Any] = {"key": key}
        for field in SAVED_REPLY_FIELDS:
            value = getattr(reply, field)
            if value or field not in ADDED_REPLY_COLUMNS:
                row[field] = value
        row["seconds"] = round(reply.seconds, 2)
        rows.append(row)
    with (
        open(file, "wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed_stream,
        io.TextIOWrapper(packed_stream, "utf-8") as stream,
    ):
        for plain_row in (*first_rows, *rows, *last_rows):
            stream.write(json.dumps(plain_row, ensure_ascii=False) + "\n")
    return len(rows)


class CachedChat:
    """A chat whose replies are saved.

    Its model is loaded only for new requests. A reply is saved with its duration. Concurrent
    replies divide the elapsed time among them, so that the saved seconds add up to it.

    Parameters
    ----------
    chat : returns the model, and loads it if necessary.
    model : text that identifies the model's weights.
    replies : the saved replies.

    Attributes
    ----------
    used_keys : keys of all replies that were returned, for shipping the replies of a build.
    """

    def __init__(self, chat: Callable[[], Chat], model: str, replies: SavedReplies):
        self._chat = chat
        self.model = model
        self.replies = replies
        self.used_keys: dict[str, None] = {}  # used as an ordered set
        self._shares = TimeShares()
        self._asked_chat: Chat | None = None

    @property
    def context(self) -> int:
        """Size of the context window in tokens, shared by prompt and reply."""
        return self._chat().context

    @property
    def max_concurrent(self) -> int:
        """Largest number of concurrent requests.

        It is 1 before the first request to the model, and then the model's number.
        """
        return getattr(self._asked_chat, "max_concurrent", 1)

    def reply(
        self,
        messages: Messages,
        *,
        schema: dict[str, Any] | None = None,
        max_tokens: int = 256,
        seed: int = 0,
        temperature: float = 0.0,
        on_text: Callable[[str], None] | None = None,
        watch: Watch = NO_WATCH,
    ) -> ChatReply:
        """Return the saved reply to a request, else the model's.

        If no usable reply is saved, the model is asked, and its reply is saved. If the model is
        not available, a saved reply is returned even if it is not usable.

        Parameters
        ----------
        messages : the prompt.
        schema : JSON schema that the text must satisfy; None for free text.
        max_tokens : token limit of the reply.
        seed : seed of the sampling.
        temperature : sampling temperature.
        on_text : called with new pieces of the text as they arrive.
        watch : checked before and during the request; it may raise RunCancelled.

        Returns
        -------
        The reply.

        Raises
        ------
        ModelUnavailable : nothing is saved, and the model is not available.
        ModelFailed : the model does not reply.
        """
        watch.check()
        key = self.key(messages, schema, max_tokens, seed, temperature)
        reply = self.replies.find(key, schema, min_tokens=min_token_count(messages))
        if reply is None:
            try:
                chat = self._chat()
            except ModelUnavailable:
                reply = self.replies.find(key, schema, usable=False)
                if reply is None:
                    raise
        if reply is None:
            self._asked_chat = chat
            with self._shares.count_running() as share:
                reply = chat.reply(
                    messages,
                    schema=schema,
                    max_tokens=max_tokens,
                    seed=seed,
                    temperature=temperature,
                    on_text=on_text,
                    watch=watch,
                )
                shared_seconds = (reply.seconds + reply.wait_seconds) * share()
            reply = clean_reply(replace(reply, seconds=shared_seconds, wait_seconds=0.0), schema)
            self.replies.save(key, self.model, reply)
        elif on_text and reply.text:
            on_text(reply.text)
        self.used_keys[key] = None
        return reply

    def find_saved(
        self,
        prompts: Iterable[Messages],
        schema: dict[str, Any] | None = None,
        max_tokens: int = 256,
        seed: int = 0,
        temperature: float = 0.0,
    ) -> list[ChatReply | None]:
        """Return the usable saved replies to several prompts.

        Parameters
        ----------
        prompts : the prompts.
        schema : JSON schema of all requests; None for free text.
        max_tokens : token limit of each reply.
        seed : seed of the sampling.
        temperature : sampling temperature.

        Returns
        -------
        A reply or None for each prompt, in their order.
        """
        keys = [
            (self.key(messages, schema, max_tokens, seed, temperature), min_token_count(messages))
            for messages in prompts
        ]
        replies = self.replies.find_all(dict(keys), schema)
        return [replies.get(key) for key, _ in keys]

    def key(
        self,
        messages: Messages,
        schema: dict[str, Any] | None = None,
        max_tokens: int = 256,
        seed: int = 0,
        temperature: float = 0.0,
    ) -> str:
        """Return the key of the reply to a request.

        Parameters
        ----------
        messages : the prompt.
        schema : JSON schema of the request; None for free text.
        max_tokens : token limit of the reply.
        seed : seed of the sampling.
        temperature : sampling temperature.

        Returns
        -------
        The result of `reply_key` for the weights of this model.
        """
        return reply_key(self.model, messages, schema, max_tokens, seed, temperature)

    def count_tokens(self, messages: Messages) -> int:
        """Estimate the number of tokens of the messages, without the model."""
        return estimate_tokens(messages)

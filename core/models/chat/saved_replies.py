"""Replies of language models kept on disk for good, and a chat that asks its model only for what is not kept."""

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
from core.io.files import lines
from core.io.home import home
from core.io.rows import RowFile, Schema, by_key
from core.models.base import Chat, Messages, Reply
from core.models.chat.replies import estimate_tokens, fewest_tokens, was_cut
from core.models.chat.writing import read_again
from core.runtime.shares import Shares
from core.watch import NO_WATCH, Watch

KEY = 32  # hex digits
FIELDS = ("text", "tokens_in", "tokens_out", "finish", "seconds", "words", "thought")
# to files from before they were saved
ADDED = {"words": "integer not null default 0", "thought": "text not null default ''"}
SCHEMA = Schema(
    "the replies",
    (
        "create table replies (key text primary key, model text not null, text text not null, tokens_in integer not null, "
        "tokens_out integer not null, finish text not null, seconds real not null, "
        f"{', '.join(f'{name} {how}' for name, how in ADDED.items())}) without rowid",
    ),
    {"replies": ADDED},
    again=True,
)


def reply_key(
    model: str,
    messages: Messages,
    schema: dict[str, Any] | None,
    max_tokens: int,
    seed: int,
    temperature: float,
) -> str:
    """What tells a reply from any other: the model's weights, what it was asked, in which form, and the settings."""
    asked = [model, [dict(message) for message in messages], schema, max_tokens, seed, temperature]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:KEY]


class SavedReplies:
    """Replies by key in one SQLite file (that of the person by default), and below it files of replies that ship, which are only read.

    Safe to use from several threads and processes. Raises StoreError where the file cannot be used, BadInput for a damaged shipped one.
    """

    def __init__(self, file: Path | None = None, shipped: Sequence[Path] = ()):
        self.file, self.shipped = file or home() / "replies.sqlite", tuple(shipped)
        self._rows = RowFile(self.file, SCHEMA)
        self._lock = threading.Lock()
        self._shipped: dict[str, Reply] | None = None

    def held(self) -> AbstractContextManager[None]:
        """Within, the file stays open, as where many replies are looked up and saved, each by itself."""
        return self._rows.held()

    def find(
        self, key: str, schema: dict[str, Any] | None = None, usable: bool = True, fewest: int = 0
    ) -> Reply | None:
        """The reply that is saved, marked as cached; else None. Of the user's replies those that are of no use count only where `usable` is
        off, as do those to prompts that a server cut, of `fewest` tokens at least; the ones that ship are as they were made."""
        return self.find_all({key: fewest}, schema, usable).get(key)

    def find_all(
        self, keys: Mapping[str, int], schema: dict[str, Any] | None = None, usable: bool = True
    ) -> dict[str, Reply]:
        """Those of the keys' replies that are saved, as `find` does; with each key the tokens that its prompt has at least. `schema` is
        what all of them were asked for."""
        with self._rows.reading() as base:
            rows = by_key(base, "replies", ("key", *FIELDS), keys)
            found = {
                key: read_again(Reply(**dict(zip(FIELDS, row)), cached=True), schema)
                for key, *row in rows
            }
        shipped = self._shipped_ones()
        came = {key: replace(shipped[key], cached=True) for key in keys if key in shipped}
        good = {
            key
            for key, reply in found.items()
            if reply.usable and not was_cut(reply.tokens_in, keys[key])
        }
        return came | {
            key: reply
            for key, reply in found.items()
            if key in good or (not usable and key not in came)
        }

    def keep(self, key: str, model: str, reply: Reply) -> None:
        """Keep a reply, for good. `model` is under whose name its time counts in `measured`; empty where it is no measure."""
        self._rows.save(
            "replies",
            [(key, model, *(getattr(reply, field) for field in FIELDS))],
            ("key", "model", *FIELDS),
        )

    def measured(self, model: str, most: int = 200) -> tuple[float, float, float] | None:
        """Seconds, tokens read and tokens written of a reply by this model on this computer, on average over `most` of them; None where
        there are none yet."""
        query = "select avg(seconds), avg(tokens_in), avg(tokens_out) from (select * from replies where model = ? and seconds > 0 limit ?)"
        (found,) = self._rows.query(query, (model, most))
        return found if found[0] else None

    def _shipped_ones(self) -> dict[str, Reply]:
        with self._lock:
            if self._shipped is None:
                self._shipped = {
                    key: reply
                    for file in self.shipped
                    if file.exists()
                    for key, reply in read_shipped(file)
                }
            return self._shipped


def read_shipped(file: Path) -> Iterator[tuple[str, Reply]]:
    """The replies of a file that ships, by key. Raises BadInput for a damaged one."""
    for row in (json.loads(line) for _, line in lines(file)):
        if "key" in row:
            yield row["key"], Reply(**{field: row[field] for field in FIELDS if field in row})


def write_shipped(
    file: Path,
    replies: Iterable[tuple[str, Reply]],
    head: Iterable[Mapping] = (),
    more: Iterable[Mapping] = (),
) -> int:
    """Write replies to a file that ships, packed by gzip, ordered by key, between other rows; how many. The same give the same bytes."""
    fields = lambda reply: {
        field: value for field in FIELDS if (value := getattr(reply, field)) or field not in ADDED
    }
    rows = [
        {"key": key, **fields(reply)} for key, reply in sorted(replies, key=lambda pair: pair[0])
    ]
    rounded = ({**row, "seconds": round(row["seconds"], 2)} for row in rows)
    with (
        open(file, "wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
        io.TextIOWrapper(packed, "utf-8") as stream,
    ):
        for row in (*head, *rounded, *more):
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
    return len(rows)


class CachedChat:
    """A Chat whose replies are saved; `chat` gives the model once something is asked that is not. `model` tells its weights from others.

    `used` are the keys of all replies that were given, by which those that a build stands on can be shipped. Of several that are written at
    once each is kept with its share of the time, so that the seconds of all are those of the clock.
    """

    def __init__(self, chat: Callable[[], Chat], model: str, replies: SavedReplies):
        self._chat, self.model, self.replies = chat, model, replies
        self.used: dict[str, None] = {}
        self._shares = Shares()
        self._asked: Chat | None = None

    @property
    def context(self) -> int:
        """Tokens that prompt and reply share."""
        return self._chat().context

    @property
    def at_once(self) -> int:
        """How many pieces of work may ask it at a time: as many as the model takes, once it was asked what is not saved."""
        return getattr(self._asked, "at_once", 1)

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
    ) -> Reply:
        """The usable reply that is saved, else the model's, saved at once; see `core.models.base.Chat`. Where the model is not here to be
        asked again, one of no use is given as it is."""
        watch.check()
        key = self.key(messages, schema, max_tokens, seed, temperature)
        found = self.replies.find(key, schema, fewest=fewest_tokens(messages))
        if found is None:
            try:
                chat = self._chat()
            except ModelUnavailable:
                found = self.replies.find(key, schema, usable=False)
                if found is None:
                    raise
        if found is None:
            how: dict[str, Any] = dict(
                max_tokens=max_tokens,
                seed=seed,
                temperature=temperature,
                on_text=on_text,
                watch=watch,
            )
            self._asked = chat
            with self._shares.work() as share:
                found = chat.reply(messages, schema=schema, **how)
                found = read_again(
                    replace(found, seconds=(found.seconds + found.waited) * share(), waited=0.0),
                    schema,
                )
            self.replies.keep(key, self.model, found)
        elif on_text and found.text:
            on_text(found.text)
        self.used[key] = None
        return found

    def saved(
        self,
        asked: Iterable[Messages],
        schema: dict[str, Any] | None = None,
        max_tokens: int = 256,
        seed: int = 0,
        temperature: float = 0.0,
    ) -> list[Reply | None]:
        """The usable reply that is saved to each of these messages; None where the model would be asked."""
        keys = [
            (self.key(messages, schema, max_tokens, seed, temperature), fewest_tokens(messages))
            for messages in asked
        ]
        found = self.replies.find_all(dict(keys), schema)
        return [found.get(key) for key, _ in keys]

    def key(
        self,
        messages: Messages,
        schema: dict[str, Any] | None = None,
        max_tokens: int = 256,
        seed: int = 0,
        temperature: float = 0.0,
    ) -> str:
        """The key of the reply to this."""
        return reply_key(self.model, messages, schema, max_tokens, seed, temperature)

    def count_tokens(self, messages: Messages) -> int:
        """Tokens of the messages, as an estimate that needs no model."""
        return estimate_tokens(messages)

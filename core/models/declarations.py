"""Reader of models.toml: the models that ship with Hopscope and those of the user.

Each table [model.NAME] declares a model: its kind, its backend and the settings of that backend
(`core.models.backends`). The table [roles] says which model is used for the answer, for choosing
and so on. The user's file overrides the shipped one.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import BadParameter, shorten, suggest_name
from core.io.durable_files import write_whole
from core.io.home import ROOT, home_folder
from core.io.toml_file import read_toml
from core.languages import languages
from core.models.backends import MODEL_BACKENDS, Backend

MODEL_NAME_PATTERN = re.compile(r"[\w.\-]+")
SHIPPED_MODELS_FILE = ROOT / "models.toml"
MAX_ROW_NUMBER = 1 << 53  # larger whole numbers may not be exact as floats
# The kind of model that each role needs. An encoder or a reranker may also serve as a scorer.
ROLE_KINDS = {
    "answer": "chat",
    "choose": "chat",
    "judge": "chat",
    "encoder": "encoder",
    "reranker": "scorer",
    "cross-encoder": "scorer",
}


@dataclass(frozen=True)
class ModelRow:
    """One declared model.

    Parameters
    ----------
    name : its name in expressions.
    kind : chat, encoder, scorer or reranker.
    backend : the program or library that runs it, a key of `MODEL_BACKENDS`.
    settings : the backend's own settings.
    title : name for people.
    licence : licence of the weights.
    upstream : address or name of the model's source.
    memory : bytes of memory that it needs; 0 if unknown.
    own : true for a row of the user, false for a shipped one.
    price_in : price of a million prompt tokens, in `currency`.
    price_out : price of a million reply tokens, in `currency`.
    currency : code of the currency, such as USD.
    languages : codes of the languages it was trained on, separated by blanks; empty if these are
        many or unknown.
    """

    name: str
    kind: str
    backend: str
    settings: Backend
    title: str = ""
    licence: str = ""
    upstream: str = ""
    memory: int = 0
    own: bool = False
    price_in: float = 0.0
    price_out: float = 0.0
    currency: str = "USD"
    languages: str = ""


# Keys that a row of any backend may have.
COMMON_ROW_KEYS = (
    "kind",
    "backend",
    "title",
    "licence",
    "upstream",
    "memory",
    "price_in",
    "price_out",
    "currency",
    "languages",
)
# Types of common keys that are not texts.
ROW_KEY_TYPES = {"memory": "int", "price_in": "float", "price_out": "float"}


def own_file() -> Path:
    """Return the path of the user's models.toml, which need not exist."""
    return home_folder() / "models.toml"


@dataclass(frozen=True)
class Declarations:
    """Declared models and roles.

    Parameters
    ----------
    rows : the models by name.
    roles : name of the model by role.
    faults : a sentence for each entry that cannot be used.
    """

    rows: dict[str, ModelRow]
    roles: dict[str, str]
    faults: tuple[str, ...] = ()


def shipped_declarations() -> Declarations:
    """Return the declarations that ship with Hopscope.

    Raises BadParameter for the first entry that cannot be used.
    """
    declarations = _read_declarations(SHIPPED_MODELS_FILE, {}, is_own=False)
    if declarations.faults:
        raise BadParameter(declarations.faults[0])
    return declarations


def merged_declarations() -> Declarations:
    """Return the shipped declarations, overridden by those of the user.

    An entry of the user that cannot be used is left out, and the others still apply.
    """
    base = shipped_declarations()
    user = _read_declarations(own_file(), base.rows, is_own=True)
    return Declarations(base.rows | user.rows, base.roles | user.roles, user.faults)


def _read_declarations(path: Path, base_rows: Mapping[str, ModelRow], is_own: bool) -> Declarations:
    """Return the rows and roles of one file, empty if it does not exist.

    The roles may name rows of the file and those of `base_rows`. Unusable entries are left out, and
    described in `Declarations.faults`.
    """
    try:
        models, roles = _read_tables(path)
    except BadParameter as error:
        return Declarations({}, {}, (str(error),))
    rows: dict[str, ModelRow] = {}
    fitting_roles: dict[str, str] = {}
    faults: list[str] = []
    for name, values in models.items():
        try:
            rows[name] = make_row(name, values, str(path), is_own)
        except BadParameter as error:
            faults.append(str(error))
    for role, name in roles.items():
        try:
            check_role(role, name, {**base_rows, **rows}, str(path))
            fitting_roles[role] = name
        except BadParameter as error:
            faults.append(str(error))
    return Declarations(rows, fitting_roles, tuple(faults))


def _read_tables(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tables [model.NAME] and [roles] of a file.

    They are empty if the file does not exist. Raises BadParameter.
    """
    try:
        table = read_toml(path) if path.exists() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadParameter(f"{path} is not valid TOML: {error}.") from error
    except OSError as error:
        raise BadParameter(f"{path} cannot be read: {error.strerror or error}.") from error
    for key in table:
        if key not in ("model", "roles"):
            raise BadParameter(
                f'{path}: unknown table "{key}".{suggest_name(key, ("model", "roles"))}'
            )
    models, roles = table.get("model", {}), table.get("roles", {})
    if not isinstance(models, dict) or not isinstance(roles, dict):
        raise BadParameter(f"{path}: [roles] and [model.NAME] must be tables.")
    return models, roles


def make_row(name: str, values: Mapping[str, Any], source: str, is_own: bool = False) -> ModelRow:
    """Make a row from its table, after checking the keys against the backend.

    Parameters
    ----------
    name : name of the model.
    values : the keys and values of its table.
    source : name of the file, for errors.
    is_own : true for a row of the user's file.

    Returns
    -------
    The row.

    Raises
    ------
    BadParameter : a key, a value or the name is not valid. The message names the file, the row, the
        key and the nearest valid name.
    """
    label = f"{source}: [model.{name}]"  # begins all messages
    _check_row(label, name, values)
    backend_class = _backend_class(label, values)
    # Each backend is a dataclass, which its protocol cannot say.
    fields = {f.name: f for f in dataclasses.fields(backend_class)}  # type: ignore[arg-type]
    _check_keys(label, values, fields)
    own_types = {key: str(field.type) for key, field in fields.items()}
    own_values = _typed_values(label, values, own_types)
    common_types = {key: ROW_KEY_TYPES.get(key, "str") for key in COMMON_ROW_KEYS}
    common = _typed_values(label, values, common_types)
    try:
        row_settings = backend_class(**own_values)
    except BadParameter as error:
        raise BadParameter(f"{label}: {error}") from None
    _check_prices_and_languages(label, common, values)
    if row_settings.missing_required_key:
        raise _missing_key(label, row_settings.missing_required_key, values)
    return ModelRow(name=name, settings=row_settings, own=is_own, **common)


def _check_row(label: str, name: str, values: Any) -> None:
    """Raise BadParameter for a forbidden name or a missing main key."""
    if not isinstance(values, Mapping):
        raise BadParameter(f"{label} must be a table.")
    if name in ROLE_KINDS:
        raise BadParameter(
            f"{label} has the name of a role; call it something other than {', '.join(ROLE_KINDS)}."
        )
    if not MODEL_NAME_PATTERN.fullmatch(name) or name.isdecimal():
        raise BadParameter(
            f"{label}: a name is made of letters, digits, “-”, “_” and “.”, and is not a number."
        )
    for key in ("kind", "backend"):
        if key not in values:
            raise BadParameter(f'{label} lacks the key "{key}".')


def _backend_class(label: str, values: Mapping[str, Any]) -> type[Backend]:
    """Return the backend of a row. Raises BadParameter if it is unknown or of another kind."""
    backend = str(values["backend"])
    kind = str(values["kind"])
    if backend not in MODEL_BACKENDS:
        raise BadParameter(
            f'{label} has unknown backend "{backend}".'
            f"{suggest_name(backend, tuple(MODEL_BACKENDS))}"
        )
    backend_class = MODEL_BACKENDS[backend]
    if kind not in backend_class.kinds:
        raise BadParameter(
            f'{label} has kind "{kind}", which backend "{backend}" cannot be.'
            f"{suggest_name(kind, backend_class.kinds)}"
        )
    return backend_class


def _check_keys(
    label: str, values: Mapping[str, Any], fields: Mapping[str, dataclasses.Field[Any]]
) -> None:
    """Raise BadParameter for unknown or missing keys.

    Missing keys are those that the backend needs.
    """
    for key in values:
        if key not in COMMON_ROW_KEYS and key not in fields:
            raise BadParameter(
                f'{label} has unknown key "{key}".'
                f"{suggest_name(key, COMMON_ROW_KEYS + tuple(fields))}"
            )
    for key, field in fields.items():
        if field.default is dataclasses.MISSING and key not in values:
            raise _missing_key(label, key, values)


def _missing_key(label: str, key: str, values: Mapping[str, Any]) -> BadParameter:
    """Return the error of a row without a key that its backend needs."""
    return BadParameter(
        f'{label} lacks the key "{key}", which backend "{values["backend"]}" needs.'
    )


def _check_prices_and_languages(
    label: str, common: Mapping[str, Any], values: Mapping[str, Any]
) -> None:
    """Raise BadParameter for a price that is no amount, or an unknown language code."""
    for key in ("price_in", "price_out"):
        if not 0 <= common.get(key, 0.0) < float("inf"):
            raise BadParameter(
                f'{label}: "{key}" is money for a million tokens, at least 0, not {values[key]!r}.'
            )
    unknown_codes = set(common.get("languages", "").split()) - languages().keys()
    if unknown_codes:
        raise BadParameter(
            f'{label}: "languages" are codes such as "en de", not "{sorted(unknown_codes)[0]}".'
        )


def _typed_values(
    label: str, values: Mapping[str, Any], types: Mapping[str, str]
) -> dict[str, Any]:
    """Return the values of keys in `types`, converted to these types.

    Keys that the row lacks are left out. Raises BadParameter.
    """
    return {
        key: _typed_value(label, key, values[key], type_name)
        for key, type_name in types.items()
        if key in values
    }


def _typed_value(label: str, key: str, value: Any, type_name: str) -> Any:
    """Return `value` as the named type: str, int, float, or int | str. Raises BadParameter."""
    fits: dict[str, tuple[type[Any], ...]] = {
        "str": (str,),
        "int": (int,),
        "float": (int, float),
        "int | str": (int, str),
    }
    if isinstance(value, bool) or not isinstance(value, fits[type_name]):
        expected = {"str": "text", "int | str": "a number or text"}.get(type_name, "a number")
        raise BadParameter(f'{label}: "{key}" must be {expected}, not {shorten(repr(value))}.')
    if isinstance(value, int | float) and not abs(value) <= MAX_ROW_NUMBER:
        raise BadParameter(f'{label}: "{key}" must be a number that is not so large.')
    return float(value) if type_name == "float" else value


def check_role(role: str, name: Any, rows: Mapping[str, ModelRow], source: str) -> None:
    """Check that a declared model fits a role.

    Parameters
    ----------
    role : a role, such as answer.
    name : name of a model; any other value is refused.
    rows : the declared models by name.
    source : name of the file, for errors.

    Raises
    ------
    BadParameter : there is no such role, or the model does not fit it.
    """
    if role not in ROLE_KINDS:
        raise BadParameter(
            f'{source}: [roles] has unknown key "{role}".{suggest_name(role, tuple(ROLE_KINDS))}'
        )
    kind = ROLE_KINDS[role]
    fitting_names = tuple(
        row.name
        for row in rows.values()
        if row.kind == kind or (kind == "scorer" and row.kind != "chat")
    )
    if name not in fitting_names:
        raise BadParameter(
            f'{source}: [roles] {role} = "{name}" is not a declared model fit for it.'
            f"{suggest_name(str(name), fitting_names)}"
        )


def save_own_models(rows: Mapping[str, Mapping[str, Any]], roles: Mapping[str, str]) -> None:
    """Rewrite the user's file, atomically.

    Parameters
    ----------
    rows : the tables [model.NAME] by name, as `read_own_tables` returns them.
    roles : name of the model by role.

    Raises
    ------
    OSError : the file cannot be written.
    """
    import tomli_w

    tables: dict[str, dict[str, Any]] = {"roles": dict(roles)} if roles else {}
    tables["model"] = {name: dict(values) for name, values in rows.items()}
    text = (
        f"# Your own models and roles, written by Hopscope's Models page.\n\n"
        f"{tomli_w.dumps(tables)}"
    )
    write_whole(own_file(), lambda temporary: temporary.write_text(text, "utf-8"))


def read_own_tables() -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Return the tables of models and roles in the user's file, for `save_own_models`.

    Unusable entries are included, so that saving does not lose them. Raises BadParameter.
    """
    return _read_tables(own_file())

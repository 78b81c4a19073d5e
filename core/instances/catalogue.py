"""Instances as data: one TOML file a paper, and the person's own, checked when loaded."""

from __future__ import annotations

import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.errors import BadInput, BadParameter, nearest, shorten
from core.io.home import home
from core.io.locks import changing
from core.lines import check_row, stage_of
from core.operators.base import STAGES, Line, Operator
from core.operators.branch import Branch
from core.operators.generate import Answer
from core.operators.loop import Loop, repeated
from core.operators.retrieve.external import OwnRetriever
from core.operators.text import operator_class, parse_line
from core.operators.union import Union, united
from core.parameters import make, values
from core.retrievers import declared

FOLDER = Path(__file__).parent
FIELDS = ("title", "short", "method", "paper", "group", "base", "notes", "line")
LAST = (
    "beyond",
    "fastinsight",
    "graph_rag_analysis",
    "graph_rag_methods_kg",
    "without_retrieval",
)  # the files that come behind those of papers on graphs of triples
OWN = "own"
ELSE = "else"
RETRIEVER, RETRIEVERS = "retriever-", "Your own retrievers"  # what their ids begin with, and their group


@dataclass(frozen=True)
class Instance:
    """A line of operators with a name. `group` is the paper's own grouping, "own" for what a person saved.

    `short` is the paper's own name (No. 12), `method` says in plain words what it does (Rank by meaning).
    `base` is the id of the instance that this one changes, where it is shown beside that.
    """

    id: str
    title: str
    line: Line
    short: str = ""
    paper: str = ""
    group: str = ""
    base: str = ""
    notes: str = ""
    method: str = ""

    @property
    def name(self) -> str:
        """The short name for tables: the paper's own where there is one."""
        return self.short or self.title

    @property
    def label(self) -> str:
        """What it does in plain words, for headings; the short name where nothing plainer is given."""
        return self.method or self.name

    @property
    def documents(self) -> bool:
        """Whether it stands on a graph made of documents, rather than on one of triples."""
        return any(operator.stage == "graph" for operator in self.line)

    @property
    def number(self) -> str:
        """The paper's own name beside a plain heading; empty where that is the heading."""
        return self.name if self.method else ""


def catalogue() -> dict[str, Instance]:
    """Every instance by id: the published ones in the papers' order, those with a base after it, then the person's own, then the
    retrievers that they declared. Rows of theirs that cannot be used are left out; `faults` tells of them. Raises BadParameter.
    """
    found = published()
    found |= {key: instance for key, instance in _own()[0].items() if key not in found}
    return found | _retrievers()


def published() -> dict[str, Instance]:
    """The instances that ship with Hopscope by id, in the papers' order, those with a base after it. Raises BadParameter."""
    found: dict[str, Instance] = {}
    for file in sorted(FOLDER.glob("*.toml"), key=lambda file: (file.stem in LAST, file.stem)):
        found |= read(file)
    return _beside(found)


def faults() -> tuple[str, ...]:
    """A sentence for each row of the person's own files that cannot be used; it names file and row, and costs that row alone."""
    return (*_own()[1].values(), *declared.faults())


def _own() -> tuple[dict[str, Instance], dict[str, str]]:
    """The person's own instances, and a sentence for each row that is none; for a file that cannot be read one under ""."""
    file = own_file()
    if not file.exists():
        return {}, {}
    known = file.stat()
    return _own_read(file, known.st_mtime_ns, known.st_size)


@lru_cache(maxsize=8)
def _own_read(file: Path, changed: int, size: int) -> tuple[dict[str, Instance], dict[str, str]]:
    found, wrong = {}, {}
    try:
        rows = _own_rows()
    except BadInput as error:
        return {}, {"": str(error)}
    for key, row in rows.items():
        try:
            found[key] = _instance(key, row, f"{file.name}, “{key}”")
        except BadParameter as error:
            wrong[key] = str(error)
    return found, wrong


def _retrievers() -> dict[str, Instance]:
    """An instance for each retriever that the person declared: its paths, read by the language model as those of the papers are."""
    return {
        f"{RETRIEVER}{name}": Instance(
            f"{RETRIEVER}{name}",
            one.title,
            Line((OwnRetriever(name, one.keep), Answer())),
            paper="Your own, declared in retrievers.toml",
            group=RETRIEVERS,
            notes=one.notes,
        )
        for name, one in declared.declared().items()
    }


def _beside(rows: Mapping[str, Instance]) -> dict[str, Instance]:
    """The rows, each that has a base moved behind that. Raises BadParameter where a base is not an instance without one."""
    changes: dict[str, list[Instance]] = {}
    for row in rows.values():
        if row.base and (row.base not in rows or rows[row.base].base):
            raise BadParameter(f"“{row.id}”: its base “{shorten(row.base)}” is no instance that stands alone.{nearest(row.base, rows)}")
        changes.setdefault(row.base, []).append(row)
    return {row.id: row for alone in changes.get("", ()) for row in (alone, *changes.get(alone.id, ()))}


def own_file() -> Path:
    """Where a person's own instances are kept."""
    return home() / "instances.toml"


def read(file: Path) -> dict[str, Instance]:
    """The instances of one TOML file, read again when it changed. Raises BadParameter with file, row, key and the nearest valid name."""
    known = file.stat()
    return dict(_read(file, known.st_mtime_ns, known.st_size))


@lru_cache(maxsize=32)
def _read(file: Path, changed: int, size: int) -> dict[str, Instance]:
    try:
        rows = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadParameter(f"{file.name} is not valid TOML: {error}.") from None
    return {key: _instance(key, row, f"{file.name}, “{key}”") for key, row in rows.items()}


def find(spec: str, known: Mapping[str, Instance] | None = None) -> Instance:
    """The instance with that id, or the one that a line of operators in text describes. Raises BadParameter."""
    known = catalogue() if known is None else known
    if spec in known:
        return known[spec]
    if "(" not in spec:
        if spec in _own()[1]:
            raise BadParameter(_own()[1][spec])
        if spec.startswith(RETRIEVER):
            declared.retriever(spec.removeprefix(RETRIEVER))  # says what is wrong with it
        raise BadParameter(f"There is no method “{shorten(spec)}”.{nearest(spec, known)}")
    return named(parse_line(spec), known)


def named(line: Line, known: Mapping[str, Instance]) -> Instance:
    """An instance for a bare line: the catalogue's own where it is there, else named after what it is one
    operator apart from, the same operator with other parameters before another one."""
    text = repr(line)
    for instance in known.values():
        if repr(instance.line) == text:
            return instance
    apart = [(instance, at) for instance in known.values() if (at := _one_apart(instance.line, line)) is not None]
    if not apart:
        return Instance(text, "Own line", line)
    base, at = min(apart, key=lambda pair: type(pair[0].line.operators[pair[1]]) is not type(line.operators[pair[1]]))
    method = f"{base.label}, changed" if base.method else ""
    return Instance(text, f"{base.name}, changed", line, notes=f"{base.name} but for {line.operators[at].words()}.", method=method)


def _one_apart(line: Line, other: Line) -> int | None:
    """The one position at which two lines of several operators differ; None where they differ in none or more."""
    places = [i for i, (a, b) in enumerate(zip(line, other)) if repr(a) != repr(b)]
    return places[0] if len(line) == len(other) > 1 and len(places) == 1 else None


def save(name: str, line: Line, notes: str = "") -> Instance:
    """Keep `line` under `name` with the person's own instances. Raises BadInput where the name is empty or taken."""
    name = " ".join(name.split())
    key = "own-" + (re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-") or "instance")
    if not name:
        raise BadInput("Give the instance a name first.")
    if len(name) > 80:
        raise BadInput("A name of at most 80 characters, please.")
    if not len(line):
        raise BadInput("There is no operator yet to save.")
    instance = Instance(key, name, line, group=OWN, notes=notes)
    with changing(own_file()):
        known = catalogue()
        if key in known:
            raise BadInput(f"There is already an instance “{known[key].title}”; choose another name.")
        _write({**_own_rows(), key: row(instance)})
    return instance


def delete(key: str) -> None:
    """Remove one of the person's own instances. Raises BadInput where it is not one."""
    with changing(own_file()):
        rows = _own_rows()
        if key not in rows:
            raise BadInput(f"“{shorten(key)}” is not an instance of your own.")
        del rows[key]
        _write(rows)


def row(instance: Instance) -> dict[str, Any]:
    """The TOML row that reads back as `instance`."""
    line = [_step(operator) for operator in instance.line]
    fields = {key: getattr(instance, key) for key in FIELDS if key != "line" and getattr(instance, key)}
    return {**fields, "line": line}


def _step(operator: Operator) -> dict[str, Any]:
    """One entry of a row's line."""
    if isinstance(operator, Branch):
        arms = {str(key): arm for key, arm in operator.arms} | {ELSE: operator.otherwise}
        return {"branch": operator.on, **{key: [_step(inner) for inner in arm] for key, arm in arms.items()}}
    if isinstance(operator, Union):
        return {"union": [[_step(inner) for inner in arm] for arm in operator.arms], **values(operator)}
    if isinstance(operator, Loop):
        return {"loop": [_step(inner) for inner in operator.body], **values(operator)}
    return {operator.stage: type(operator).__name__, **values(operator)}


def _own_rows() -> dict[str, Any]:
    """The rows of the person's own file as they stand there. Raises BadInput where it cannot be read."""
    try:
        return tomllib.loads(own_file().read_text("utf-8")) if own_file().exists() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadInput(f"{own_file().name} is not valid TOML: {error}.") from None


def _write(rows: Mapping[str, Any]) -> None:
    import tomli_w

    handle, temporary = tempfile.mkstemp(dir=home(), prefix=".instances-")
    with os.fdopen(handle, "wb") as file:
        tomli_w.dump(dict(rows), file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, own_file())


def _instance(key: str, row: Any, where: str) -> Instance:
    check_row(row, FIELDS, where)
    operators = [_operator(step, f"{where}, operator {i}") for i, step in enumerate(row["line"], 1)]
    try:
        line = Line(tuple(operators))
    except BadParameter as error:
        raise BadParameter(f"{where}: {error}") from None
    return Instance(key, line=line, **{field: row[field] for field in FIELDS if field in row and field != "line"})


def _branch(step: Mapping[str, Any], where: str) -> Branch:
    """`{ branch = "hops", 1 = [...], 2 = [...], else = [...] }`: what the question's value of `hops` decides."""
    arms = {key: arm for key, arm in step.items() if key != "branch"}
    for key, arm in arms.items():
        if key != ELSE and not key.isdecimal():
            raise BadParameter(f"{where}: an arm of a branch is named by a whole number or “{ELSE}”, not “{key}”.")
        if not isinstance(arm, list):
            raise BadParameter(f"{where}: the arm “{key}” must be a list of operators.")
    built = {key: tuple(_operator(one, f"{where}, arm {key}, operator {i}") for i, one in enumerate(arm, 1)) for key, arm in arms.items()}
    try:
        return Branch(step["branch"], tuple((int(key), arm) for key, arm in built.items() if key != ELSE), built.get(ELSE, ()))
    except BadParameter as error:
        raise BadParameter(f"{where}: {error}") from None


def _loop(step: Mapping[str, Any], where: str) -> Loop:
    """`{ loop = [...], budget = 100 }`: what is repeated until so many nodes are found."""
    if not isinstance(step["loop"], list):
        raise BadParameter(f"{where}: “loop” must be a list of operators.")
    body = tuple(_operator(one, f"{where}, loop, operator {i}") for i, one in enumerate(step["loop"], 1))
    return repeated(body, {key: value for key, value in step.items() if key != "loop"}, where)


def _union(step: Mapping[str, Any], where: str) -> Union:
    """`{ union = [[...], [...]], order = "score" }`: two lines of which the hits are brought together."""
    lines = step["union"]
    if not isinstance(lines, list) or len(lines) != 2 or not all(isinstance(line, list) for line in lines):
        raise BadParameter(f"{where}: “union” must be two lists of operators.")
    arms = [tuple(_operator(one, f"{where}, union, line {n}") for one in line) for n, line in enumerate(lines, 1)]
    return united(arms[0], arms[1], {key: value for key, value in step.items() if key != "union"}, where)


def _operator(step: Any, where: str) -> Operator:
    if isinstance(step, Mapping) and "union" in step:
        return _union(step, where)
    if isinstance(step, Mapping) and "branch" in step:
        return _branch(step, where)
    if isinstance(step, Mapping) and "loop" in step:
        return _loop(step, where)
    stage = stage_of(step, STAGES, where)
    cls = operator_class(step[stage], where)
    if cls.stage != stage:
        raise BadParameter(f"{where}: {cls.__name__} belongs to the stage “{cls.stage}”, not “{stage}”.")
    return make(cls, {key: value for key, value in step.items() if key != stage}, where)

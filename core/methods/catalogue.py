"""Catalogue of methods: published ones, those of a user, own retrievers and finished runs.

Published methods are in one TOML file for each paper. A method is checked when it is loaded.
Commands, pages and evaluations find methods here by id, or by a line of operators.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.errors import (
    BadInput,
    BadParameter,
    StoreError,
    UnknownMethod,
    shorten,
    suggest_name,
)
from core.io.durable_files import write_whole
from core.io.home import home_folder
from core.io.locks import hold_change_lock
from core.io.toml_file import read_toml
from core.lines.difference import changed_settings, differing_step
from core.lines.grammar import entries_of
from core.operators.base import Line, Operator
from core.operators.generate import Answer
from core.operators.retrieve.file_runs import FileAnswer, FileDocuments, FilePaths
from core.operators.retrieve.own_retriever import OwnDocuments, OwnRetriever
from core.operators.text import RETRIEVAL_GRAMMAR, parse_line
from core.operators.texts.answer.generate import AnswerFromTables
from core.operators.texts.answer.own_answer import OwnAnswer
from core.operators.texts.built_graph import BuiltGraph
from core.retrievers import declarations
from core.retrievers.runs.formats import format_title
from core.retrievers.runs.saved_runs import FileRun, runs_by_name
from core.sharing import check_may_change, forget_owner, record_owner
from core.sources import AnswerSource

METHODS_FOLDER = Path(__file__).parent
METHOD_FIELDS = (
    "alias",
    "title",
    "short",
    "method",
    "paper",
    "group",
    "base",
    "notes",
    "line",
)
# names of the files that are listed after those of papers on graphs of triples
LAST_FILES = (
    "beyond",
    "fastinsight",
    "graph_rag_analysis",
    "graph_rag_methods_kg",
    "graph_rag_programs",
    "without_retrieval",
)
METHOD_OWNED_KIND = "method"  # kind of thing in the records of owners
MAX_METHOD_NAME_CHARACTERS = 80  # of a saved method
OWN_GROUP = "own"  # group of a user's own methods
DOCUMENTS_SUFFIX = "-documents"  # suffix of the id of the document variant of a method
# suffix of names of methods on a graph without the merges that are saved for its corpus
AS_BUILT_SUFFIX = ", as built"
ROW_PREFIX = "No. "  # prefix of the short name of a method that a paper numbers in a table
CHANGED_SUFFIX = ", changed"  # suffix of a method's name for many changed settings
# suffix of the short name of a method on another kind of graph than its authors describe
ADAPTED_SUFFIX = ", adapted"
# prefix of the ids of a user's retrievers, and their group
RETRIEVER_PREFIX, RETRIEVERS_GROUP = "retriever-", "Your own retrievers"
# prefix of the ids of runs from files, and their group
RUN_PREFIX, RUNS_GROUP = "run-", "Your finished runs"


@dataclass(frozen=True)
class Method:
    """A retrieval pipeline with a name: a line of operators.

    Attributes
    ----------
    id : the key by which it is saved; the text of the line if it is unnamed.
    alias : a name in words of the field, by which a person may name it too; empty for none.
    short : the name in the paper (No. 12); empty if there is none.
    paper : the paper or program that it follows.
    group : the group in the paper; "own" for a method that a user saved.
    base : id of the method after which this one is listed, as a change of it.
    method : a description in plain words (Rank by meaning).
    only_on : name of the only source that it can be run on; empty for any.
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
    only_on: str = ""
    alias: str = ""

    @property
    def name(self) -> str:
        """The short name for tables: the name in the paper, or else the title."""
        return self.short or self.title

    @property
    def typed_name(self) -> str:
        """The name to type and to list first: the alias, or else the id."""
        return self.alias or self.id

    @property
    def typed_names(self) -> tuple[str, ...]:
        """All names by which it can be named, the first one to be shown."""
        return tuple(dict.fromkeys((self.typed_name, self.id)))

    @property
    def label(self) -> str:
        """The name for headings: the description in plain words, or else the short name."""
        return self.method or self.name

    @property
    def on_documents(self) -> bool:
        """True if it runs on documents, False for triples.

        A graph built of documents counts as documents.
        """
        return any(operator.stage == "graph" or operator.on_documents for operator in self.line)

    def is_for(self, source: AnswerSource) -> bool:
        """Return whether the method can be run on this source."""
        return self.on_documents == source.is_corpus and self.only_on in ("", source.name)

    @property
    def secondary_name(self) -> str:
        """The short name to show beside the label; empty if it is the label."""
        return self.name if self.method else ""


def catalogue() -> dict[str, Method]:
    """Return all methods by id.

    The published ones come first, as `published_methods` sorts them. Then come the user's own, the
    declared retrievers, and the finished runs. Of these, unusable ones are left out;
    `own_file_faults` gives the reasons. Raises BadParameter for a faulty published method.
    """
    published = published_methods()
    own = {
        key: replace(method, base=method_id(method.base, published))
        for key, method in _own_methods()[0].items()
        if key not in published
    }
    return published | own | _retriever_methods() | _run_methods()


def published_methods() -> dict[str, Method]:
    """Return the methods that ship with Hopscope by id.

    They are in the order of the papers. A method with a base follows its base. Raises BadParameter.
    """
    methods: dict[str, Method] = {}
    files = METHODS_FOLDER.glob("*.toml")
    for file in sorted(files, key=lambda file: (file.stem in LAST_FILES, file.stem)):
        methods |= read_methods(file)
    return _sort_after_bases(methods)


def own_file_faults() -> tuple[str, ...]:
    """Return a sentence for each unusable row of the user's methods, retrievers and runs.

    It names the file and the row. The other rows are still used.
    """
    method_faults = _own_methods()[1].values()
    return (*method_faults, *declarations.declaration_faults(), *_runs_and_faults()[1])


def _own_methods() -> tuple[dict[str, Method], dict[str, str]]:
    """Return the user's methods by id, and sentences on unusable rows.

    There is one sentence for each row, by id. If the file cannot be read, the sentence has the key
    "".
    """
    file = own_file()
    if not file.exists():
        return {}, {}
    stat = file.stat()
    return _read_own_methods(file, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=8)
def _read_own_methods(
    file: Path, mtime: int, size: int
) -> tuple[dict[str, Method], dict[str, str]]:
    """Return the result of `_own_methods`. The time and the size of the file are cache keys."""
    methods, row_faults = {}, {}
    try:
        rows = _own_rows()
    except BadInput as error:
        return {}, {"": str(error)}
    for key, row in rows.items():
        try:
            fields = RETRIEVAL_GRAMMAR.parse_row(row, METHOD_FIELDS, f"{file.name}, “{key}”")
            methods[key] = Method(key, **fields)
        except BadParameter as error:
            row_faults[key] = str(error)
    return methods, row_faults


def _retriever_methods() -> dict[str, Method]:
    """Return the methods of the retrievers that the user declared, by id.

    A retriever has a method for each kind of source that it is declared for. On a graph of triples
    the language model reads its paths, as in the published methods.
    """
    methods = {}
    for name, declaration in declarations.declared_retrievers().items():
        key = f"{RETRIEVER_PREFIX}{name}"
        graph_line = Line((OwnRetriever(name, declaration.keep), Answer()))
        documents_line = Line((OwnDocuments(name, declaration.keep_documents), OwnAnswer()))
        lines = {
            "graph": (key, graph_line),
            "corpus": (f"{key}{DOCUMENTS_SUFFIX}", documents_line),
        }
        for kind in declaration.sources:
            key, line = lines[kind]
            methods[key] = Method(
                key,
                declaration.title,
                line,
                paper="Your own, declared in retrievers.toml",
                group=RETRIEVERS_GROUP,
                notes=declaration.notes,
            )
    return methods


def _run_methods() -> dict[str, Method]:
    """Return a method for each finished run from a file, by id."""
    return {
        f"{RUN_PREFIX}{name}": method_of_run(run) for name, run in _runs_and_faults()[0].items()
    }


def method_of_run(run: FileRun) -> Method:
    """Return the method of a finished run, for the source of the run.

    It returns the run's documents, or on a graph of triples its paths, and the run's answers. If
    the run has no answers, a language model or the graph reader answers. A run with answers alone
    returns only these.
    """
    operators: tuple[Operator, ...] = (FileAnswer(run.name),)
    if run.source.is_corpus:
        if run.with_documents:
            # `FileDocuments` returns the run's answers too
            answering = () if run.with_answers else (AnswerFromTables(),)
            operators = (FileDocuments(run.name), *answering)
    elif run.with_paths:
        operators = (FilePaths(run.name), *(operators if run.with_answers else (Answer(),)))
    return Method(
        f"{RUN_PREFIX}{run.name}",
        run.title,
        Line(operators),
        paper=f"{format_title(run.format)}, {run.file}",
        group=RUNS_GROUP,
        notes=run.describe(),
        only_on=run.source_name,
    )


def _runs_and_faults() -> tuple[dict[str, FileRun], tuple[str, ...]]:
    """Return the finished runs by name, or the fault if their file is damaged."""
    try:
        return runs_by_name(), ()
    except StoreError as error:
        return {}, (str(error),)


def _sort_after_bases(methods: Mapping[str, Method]) -> dict[str, Method]:
    """Return the methods in their order, but those with a base directly after it.

    Raises BadParameter if a base is missing or has a base itself.
    """
    by_base: dict[str, list[Method]] = {}
    for method in methods.values():
        if method.base and (method.base not in methods or methods[method.base].base):
            raise BadParameter(
                f"“{method.id}”: its base “{shorten(method.base)}” is no method that stands "
                f"alone.{suggest_name(method.base, methods)}"
            )
        by_base.setdefault(method.base, []).append(method)
    sorted_methods = {}
    for base in by_base.get("", ()):
        for method in (base, *by_base.get(base.id, ())):
            sorted_methods[method.id] = method
    return sorted_methods


def own_file() -> Path:
    """Return the path of the user's file of own methods. It need not exist."""
    return home_folder() / "instances.toml"


def read_methods(file: Path) -> dict[str, Method]:
    """Return the methods of one TOML file by id. The file is read again only after a change.

    Raises BadParameter, which names file, row, key and the nearest valid name.
    """
    stat = file.stat()
    return dict(_read_catalogue_file(file, stat.st_mtime_ns, stat.st_size))


@lru_cache(maxsize=32)
def _read_catalogue_file(file: Path, mtime: int, size: int) -> dict[str, Method]:
    rows = RETRIEVAL_GRAMMAR.read_file(file, METHOD_FIELDS)
    return {key: Method(key, **fields) for key, fields in rows}


def find_method(
    spec: str, methods: Mapping[str, Method] | None = None, preferred_ids: Collection[str] = ()
) -> Method:
    """Return the method of an id, of an alias, or of a line of operators as text.

    Parameters
    ----------
    spec : an id, an alias, or the text of a line.
    methods : the methods to search; None for the whole catalogue.
    preferred_ids : ids of methods that are preferred in the name of a line, as `method_of_line`
        makes it.

    Raises
    ------
    BadParameter
        If there is no such method, or the text is no line.
    """
    methods = catalogue() if methods is None else methods
    if (id := method_id(spec, methods)) in methods:
        return methods[id]
    if spec.startswith(RETRIEVER_PREFIX) and f"{spec}{DOCUMENTS_SUFFIX}" in methods:
        return methods[f"{spec}{DOCUMENTS_SUFFIX}"]
    if "(" not in spec:
        own_faults = _own_methods()[1]
        if spec in own_faults:
            raise BadParameter(own_faults[spec])
        if spec.startswith(RETRIEVER_PREFIX):  # raises the fault of its declaration
            declarations.find_retriever(spec.removeprefix(RETRIEVER_PREFIX))
        nearest = [methods[key] for key in nearest_ids(spec, methods)]
        raise UnknownMethod(
            spec, {one.id: f"{one.label} ({', '.join(one.typed_names)})" for one in nearest}
        )
    return method_of_line(parse_line(spec), methods, preferred_ids)


def method_id(spec: str, methods: Mapping[str, Method] | None = None) -> str:
    """Return the id of the method with an alias. Any other text is returned unchanged.

    An id comes before an alias, and the alias of an earlier method before that of a later one.

    >>> from core.methods.catalogue import method_id
    >>> method_id("graphrag-local"), method_id("lgraphrag"), method_id("unknown")
    ('lgraphrag', 'lgraphrag', 'unknown')
    """
    methods = catalogue() if methods is None else methods
    if not spec or spec in methods:
        return spec
    return next((id for id, method in methods.items() if method.alias == spec), spec)


def nearest_ids(spec: str, methods: Mapping[str, Method], count: int = 3) -> list[str]:
    """Return the ids of the methods with a name that is most similar to `spec`, best first.

    >>> from core.methods.catalogue import catalogue, nearest_ids
    >>> nearest_ids("chain-rankin", catalogue())[0], nearest_ids("beam serch", catalogue())[0]
    ('chain-ranking', 'lego-14')
    """
    from rapidfuzz.fuzz import ratio

    text = shorten(spec).casefold()

    def similarity(key: str) -> float:
        method = methods[key]
        names = (*method.typed_names, method.label.casefold(), method.name.casefold())
        return max(ratio(name, text) for name in names)

    return sorted(methods, key=similarity, reverse=True)[:count]


def method_for_source(
    method: Method, source: AnswerSource, methods: Mapping[str, Method]
) -> Method:
    """Return a method's variant for documents if the method does not fit.

    If the method fits the source, or has no such variant, it is returned unchanged.

    >>> from core.methods.catalogue import catalogue, method_for_source
    >>> from core.sources import CorpusSource, GraphSource
    >>> method_for_source(catalogue()["tog"], CorpusSource("letters"), catalogue()).id
    'tog-documents'
    >>> method_for_source(catalogue()["tog"], GraphSource("towns"), catalogue()).id
    'tog'
    """
    if method.is_for(source):
        return method
    return methods.get(f"{method.id}{DOCUMENTS_SUFFIX}", method)


def without_saved_merges(method: Method) -> Method:
    """Return the same method without the corpus's saved merges.

    It then runs on the graph as it was built. Raises BadInput if the method does not run on a graph
    of documents.

    >>> from core.methods.catalogue import without_saved_merges, catalogue
    >>> one = without_saved_merges(catalogue()["vgraphrag"])
    >>> one.name, one.line.operators[0]
    ('VGraphRAG, as built', BuiltGraph(build='tkg', mended=False))
    """
    first_operator = method.line.operators[0]
    if not isinstance(first_operator, BuiltGraph):
        raise BadInput(
            f"“{method.name}” uses no graph of documents, so nothing of it can be merged."
        )
    line = method.line.with_operator_at(0, replace(first_operator, mended=False))
    title = f"{method.name}{AS_BUILT_SUFFIX}"
    in_words = f"{method.method}{AS_BUILT_SUFFIX}" if method.method else ""
    return replace(method, id=repr(line), title=title, short="", line=line, method=in_words)


def method_of_line(
    line: Line, methods: Mapping[str, Method], preferred_ids: Collection[str] = ()
) -> Method:
    """Return the method of a line of operators, or make one.

    A made method has a fitting name. If one of `methods` has this line, it is returned. Otherwise
    the name is that of a method that differs in one operator, with the change. A method that
    differs only in the parameters of this operator is preferred, then one of `preferred_ids`. If
    several operators differ, `_method_with_settings` finds the name.
    """
    text = repr(line)
    for method in methods.values():
        if repr(method.line) == text:
            return method
    candidates = [
        (method, position)
        for method in methods.values()
        if (position := differing_step(method.line, line)) is not None
    ]
    # a change inside a loop or branch is better named by the changed settings
    if not candidates or any(len(line.operators[index].parts()) > 1 for _, index in candidates):
        return _method_with_settings(text, line, methods)

    def preference(candidate: tuple[Method, int]) -> tuple[bool, bool]:
        method, position = candidate
        operator = line.operators[position]
        is_other_operator = type(method.line.operators[position]) is not type(operator)
        return is_other_operator, method.id not in preferred_ids

    base, position = min(candidates, key=preference)
    notes = f"{base.name} but for {line.operators[position].words()}."
    return _derived_method(base, _change_suffix(base.line, line, position), line, notes)


def _change_suffix(old_line: Line, line: Line, position: int) -> str:
    """Return the change of the operator at `position` in words, as a suffix of a method's name."""
    operator = line.operators[position]
    if type(operator) is not type(old_line.operators[position]):
        return f", by {operator.title}"
    settings = changed_settings(old_line, line)
    return f", {', '.join(settings)}" if settings else CHANGED_SUFFIX


def _derived_method(base: Method, change: str, line: Line, notes: str = "") -> Method:
    """Return a method for a line, named after another method and its change.

    A number in a paper's table is left out of the name, as the paper's results for that number are
    not those of the line.
    """
    if base.name.startswith(ROW_PREFIX):
        return Method(repr(line), f"{base.label}{change}", line, notes=notes)
    in_words = f"{base.label}{change}" if base.method else ""
    return Method(repr(line), f"{base.name}{change}", line, notes=notes, method=in_words)


def _method_with_settings(text: str, line: Line, methods: Mapping[str, Method]) -> Method:
    """Return a method named after one with the same operators and fewest other settings.

    Example: `FastInsight, alpha 0.4, beta 2`. If there is none, the name is “Own method”.
    """
    candidates = [
        (method, settings)
        for method in methods.values()
        if (settings := changed_settings(method.line, line))
    ]
    if not candidates:
        return Method(text, "Own method", line)
    base, settings = min(candidates, key=lambda pair: len(pair[1]))
    return _derived_method(base, f", {', '.join(settings)}", line)


def save_method(name: str, line: Line, notes: str = "") -> Method:
    """Save `line` under `name` as one of the user's own methods.

    Raises BadInput if the name is empty, too long or taken, or the line is empty.
    """
    name = " ".join(name.split())
    key = "own-" + (re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-") or "instance")
    if not name:
        raise BadInput("Give the method a name first.")
    if len(name) > MAX_METHOD_NAME_CHARACTERS:
        raise BadInput(f"A name of at most {MAX_METHOD_NAME_CHARACTERS} characters, please.")
    if not len(line):
        raise BadInput("There is no step yet to save.")
    method = Method(key, name, line, group=OWN_GROUP, notes=notes)
    with hold_change_lock(own_file()):
        methods = catalogue()
        if key in methods:
            raise BadInput(
                f"There is already a method “{methods[key].title}”; choose another name."
            )
        _write_own_rows({**_own_rows(), key: toml_row(method)})
        record_owner(METHOD_OWNED_KIND, key)
    return method


def delete_method(key: str) -> None:
    """Remove one of the user's own methods, given by its id.

    Raises BadInput if there is no such method, NotAllowed if it belongs to another user.
    """
    with hold_change_lock(own_file()):
        rows = _own_rows()
        if key not in rows:
            raise BadInput(f"“{shorten(key)}” is not a method of your own.")
        check_may_change(METHOD_OWNED_KIND, key)
        del rows[key]
        _write_own_rows(rows)
        forget_owner(METHOD_OWNED_KIND, key)


def toml_row(method: Method) -> dict[str, Any]:
    """Return the TOML row that reads back as `method`."""
    names = [name for name in METHOD_FIELDS if name != "line" and getattr(method, name)]
    fields = {name: getattr(method, name) for name in names}
    return {**fields, "line": entries_of(method.line)}


def _own_rows() -> dict[str, Any]:
    """Return the rows of the user's own file by id.

    They are unchecked. There are none if there is no file. Raises BadInput if the file cannot be
    read.
    """
    try:
        return read_toml(own_file()) if own_file().exists() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadInput(f"{own_file().name} is not valid TOML: {error}.") from None


def _write_own_rows(rows: Mapping[str, Any]) -> None:
    import tomli_w

    write_whole(
        own_file(), lambda temporary: temporary.write_text(tomli_w.dumps(dict(rows)), "utf-8")
    )

"""The papers' experiments as data: rows of a table, question sets and printed values.

Each paper has a TOML file in this folder, whose keys are the fields of the classes below. A row of
a printed table stands for a method of the catalogue. The command `reproduce` runs these methods and
compares their values with the printed ones.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from core.errors import BadInput, suggest_name
from core.evaluation.metrics.catalogue import metric
from core.evaluation.papers.building_costs import BuildingCosts
from core.evaluation.papers.graphs import replace_build
from core.evaluation.papers.printed_values import PrintedTable, UpperBound, build_table
from core.evaluation.reports.sensitivity import variant, vary_parameter
from core.lines.text import split_at_commas
from core.methods.catalogue import Method
from core.operators.base import Line
from core.operators.text import operator_class
from core.operators.texts.built_graph import BuiltGraph

PAPERS_FOLDER = Path(__file__).parent
PER_CENT_UNITS = ("share", "balance")  # units of metrics that a paper may print in per cent
PrintedValues = Mapping[str, tuple[float | None, ...]]
WinRates = Mapping[str, Mapping[str, float]]
"""Win rates in [0, 1], by the winning method, then by the losing one."""


@dataclass(frozen=True)
class PublishedSet:
    """A question set of a paper.

    Parameters
    ----------
    name : the paper's name of the set.
    fetch : words on where the published set is found.
    files : patterns of the names of its published files.
    set : its name in this project, if the complete set ships with it.
    small : the shipped set that a small run uses.
    small_is : a sentence on the difference, if `small` is not a part of the published set.
    build : build of its graph; empty for the builds of the rows' methods.
    methods : methods that replace those of some rows on this set, by row id.
    only : a field that must be true in the rows of its file that are used; empty uses all.
    vary : the value of an operator's parameter that the paper uses for this set, as
        `Operator.parameter=value`.
    """

    name: str
    fetch: str
    files: tuple[str, ...] = ()
    set: str = ""
    small: str = ""
    small_is: str = ""
    build: str = ""
    methods: Mapping[str, str] = field(default_factory=dict)
    only: str = ""
    vary: str = ""


@dataclass
class VariedRows:
    """Rows of an experiment that varies parameters of operators: one row per value.

    Parameters
    ----------
    rows : the name of each row, by method id.
    methods : the methods of the rows.
    first_ids : id of the method with the first value, by the id of the original row.
    firsts : id of the method with the first value, by the id of each method; filled only if the
        rows have different builds.
    """

    rows: dict[str, str] = field(default_factory=dict)
    methods: list[Method] = field(default_factory=list)
    first_ids: dict[str, str] = field(default_factory=dict)
    firsts: dict[str, str] = field(default_factory=dict)

    def add(self, method: Method, name: str, label: str) -> None:
        """Add the row of a method.

        It is named by its original row and the label of its value.
        """
        if method.id in self.rows:  # two parameters at their defaults give the same line
            self.rows[method.id] += f", {label}"
        else:
            self.rows[method.id] = f"{name}, {label}"
            self.methods.append(method)


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper.

    Parameters
    ----------
    id : its name in the command `reproduce`.
    paper : title of the paper.
    place : its number in the paper, such as “Table 3”.
    title : its title.
    rows : the paper's name of each row, by method id.
    printed : one value per row, by set and metric, in the metric's unit (shares in [0, 1],
        seconds). A value is None if the paper prints none. A figure prints no values at all.
    sets : the paper's question sets, by its name of each.
    answers : the language models that answer in the paper, in words.
    differs : sentences on differences from the paper.
    hours : estimated hours of the whole experiment on one graphics card.
    model : True if language models answer.
    judge : True if a language model judges the answers.
    cold : True if methods share no results and no caches, so that each is timed alone.
    small_rows : ids of the rows of a small run; empty for all rows.
    after : method with whose first ten results the other methods begin; empty if there is none. The
        gains over it are correlated with their starting point (`core.evaluation.papers.gains`).
    against : baseline method; a language model compares its answers with those of every other one.
    wins : for each set, the printed win rates of the other methods over `against`
        (`core.evaluation.papers.win_rates`).
    duels : for each set and criterion, the printed win rates of one method over another. The
        answers of all pairs are compared, or with `against` only the pairs with that method.
    vary : for each row, variations (`Operator.parameter=value,value`) that replace the row by one
        row per value. A printed column then holds all values of the first row, followed by those of
        the next row. If it is shorter, the remaining rows have no printed values.
    small_vary : `vary` of a small run.
    label : template of the name of a value; empty for the parameter's name.
    builds : build of each row, if a parameter of the build varies.
    small_builds : `builds` of a small run.
    firsts : for each method, the method from which its differences are taken; by default the first
        method.
    abstract : True to ask all questions as abstract ones.
    retrieval : True if the methods retrieve without answering.
    wide : True if the metrics of a set are columns of one table.
    extractor : extractor of the paper's graphs, for all rows but those of a small run
        (`core.evaluation.papers.graphs`).
    measures : name of a measurement that replaces the evaluation
        (`core.evaluation.papers.measures`); empty for an evaluation.
    metric_unknown : a sentence on why the printed values may be of another metric; empty if the
        metric is known.
    """

    id: str
    paper: str
    place: str
    title: str
    rows: Mapping[str, str]
    printed: Mapping[str, PrintedValues]
    sets: Mapping[str, PublishedSet]
    answers: str
    differs: tuple[str, ...]
    hours: int
    model: bool = True
    judge: bool = False
    cold: bool = False
    small_rows: tuple[str, ...] = ()
    after: str = ""
    against: str = ""
    wins: PrintedValues = field(default_factory=dict)
    duels: Mapping[str, Mapping[str, WinRates]] = field(default_factory=dict)
    vary: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    small_vary: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    wide: bool = False
    retrieval: bool = False
    measures: str = ""
    abstract: bool = False
    label: str = ""
    builds: Mapping[str, str] = field(default_factory=dict)
    small_builds: Mapping[str, str] = field(default_factory=dict)
    firsts: Mapping[str, str] = field(default_factory=dict)
    extractor: str = ""
    metric_unknown: str = ""

    def for_question_set(
        self,
        methods: Mapping[str, Method],
        name: str,
        small: bool = False,
        builds: Sequence[str] = (),
    ) -> tuple[Experiment, tuple[Method, ...]]:
        """Return the experiment for one question set, and its methods.

        The experiment has a row per method.

        Parameters
        ----------
        methods : the methods by id.
        name : the paper's name of the question set.
        small : True to return only the rows of a small run.
        builds : builds and extractors that replace the paper's
            (`core.evaluation.papers.graphs.replace_build`).

        Returns
        -------
        The experiment with these rows, and their methods. If the experiment has an `after` method,
            that method comes first and has no row.
        """
        replacing_builds = builds
        if not builds and self.extractor and not small:
            replacing_builds = (self.extractor,)
        methods_by_row = self._methods_by_row(methods, self.sets[name], replacing_builds)
        row_ids = list(self.rows)
        if small and self.small_rows:
            row_ids = [id for id in self.rows if id in self.small_rows]
        first_methods = [methods_by_row[self.after]] if self.after else []
        if not self.vary:
            row_methods = [methods_by_row[id] for id in row_ids]
            return self._with_ids(methods_by_row), (*first_methods, *row_methods)
        varied = self._vary_rows({id: methods_by_row[id] for id in row_ids}, small, builds)
        ids = {id: method.id for id, method in methods_by_row.items()}
        experiment = replace(
            self,
            rows=varied.rows,
            printed=self._printed_of_values(row_ids, len(varied.rows)),
            firsts=varied.firsts,
            duels=_rename_methods(self.duels, ids | varied.first_ids),
        )
        return experiment, (*first_methods, *varied.methods)

    def _methods_by_row(
        self, methods: Mapping[str, Method], published: PublishedSet, builds: Sequence[str]
    ) -> dict[str, Method]:
        """Return the method of `after` and of each row.

        The methods are those on a set, by row id.
        """
        methods_by_row = {}
        for id in (*filter(None, [self.after]), *self.rows):
            method = _method_on_set(methods[published.methods.get(id, id)], published)
            method = replace_build(method, builds)
            methods_by_row[id] = _without_answer(method) if self.retrieval else method
        return methods_by_row

    def _with_ids(self, methods_by_row: Mapping[str, Method]) -> Experiment:
        """Return the experiment with the ids of its methods instead of its row ids."""
        ids = {id: method.id for id, method in methods_by_row.items()}
        return replace(
            self,
            rows={ids[id]: row for id, row in self.rows.items()},
            after=ids[self.after] if self.after else "",
            against=ids[self.against] if self.against else "",
            duels=_rename_methods(self.duels, ids),
        )

    def _vary_rows(
        self, row_methods: Mapping[str, Method], small: bool, builds: Sequence[str]
    ) -> VariedRows:
        """Return one row per value of the parameters that vary.

        Each runs on the build of its original row.
        """
        row_builds = self.small_builds if small and self.small_builds else self.builds
        vary = self.small_vary if small and self.small_vary else self.vary
        varied = VariedRows()
        for id, row_method in row_methods.items():
            if row_builds:
                row_method = variant(row_method, BuiltGraph, "build", row_builds[id])
                row_method = replace_build(row_method, builds)
            for variation in vary[id]:
                parameter, _, values = variation.partition("=")
                variants = vary_parameter((row_method,), variation)
                varied.first_ids[id] = variants[0].id
                if row_builds:
                    varied.firsts |= {method.id: variants[0].id for method in variants}
                for method, value in zip(variants, split_at_commas(values), strict=True):
                    varied.add(method, self.rows[id], self._value_label(parameter, value))
        return varied

    def _value_label(self, parameter: str, value: str) -> str:
        """Return the name of a value of a parameter."""
        if self.label:
            return self.label.format(int(value))
        return f"{parameter.rpartition('.')[2]} {value.strip()}"

    def _printed_of_values(self, row_ids: Sequence[str], count: int) -> dict[str, PrintedValues]:
        """Return the printed values of `count` rows: all values of the given original rows.

        A printed column that is too short to hold all of them becomes a column of None.
        """
        values_per_row = count // len(row_ids)
        all_ids = list(self.rows)
        indices: list[int] = []
        for id in row_ids:
            start = all_ids.index(id) * values_per_row
            indices += range(start, start + values_per_row)
        missing: tuple[float | None, ...] = (None,) * count
        printed: dict[str, PrintedValues] = {}
        for name, columns in self.printed.items():
            values_by_metric = dict.fromkeys(columns, missing)
            for metric_name, column in columns.items():
                if len(column) > indices[-1]:
                    values_by_metric[metric_name] = tuple(column[i] for i in indices)
            printed[name] = values_by_metric
        return printed

    def shipped_sets(self) -> dict[str, str]:
        """Return the shipped question sets of a small run.

        The keys are the paper's names of the sets. If several sets share a shipped set, only the
        first one is included.
        """
        shipped_sets: dict[str, str] = {}
        for name in self.printed:
            if self.sets[name].small not in ("", *shipped_sets.values()):
                shipped_sets[name] = self.sets[name].small
        return shipped_sets


def _rename_methods(
    rates_by_set: Mapping[str, Mapping[str, WinRates]], ids: Mapping[str, str]
) -> dict[str, dict[str, WinRates]]:
    """Return win rates by set and criterion with other ids of the methods."""
    renamed: dict[str, dict[str, WinRates]] = {}
    for name, rates_by_criterion in rates_by_set.items():
        renamed[name] = {}
        for criterion, rates in rates_by_criterion.items():
            renamed[name][criterion] = {
                ids[winner]: {ids[loser]: rate for loser, rate in row.items()}
                for winner, row in rates.items()
            }
    return renamed


def _method_on_set(method: Method, dataset: PublishedSet) -> Method:
    """Return the method with the build and the parameter value of a set.

    The value is applied only if the method has the operator.
    """
    if dataset.build:
        method = variant(method, BuiltGraph, "build", dataset.build)
    if dataset.vary:
        cls = operator_class(dataset.vary.partition(".")[0])
        if any(isinstance(operator, cls) for operator in method.line.iter_operators()):
            (method,) = vary_parameter((method,), dataset.vary)
    return method


def _without_answer(method: Method) -> Method:
    """Return the method without the steps that make a prompt and an answer.

    The remaining steps may still ask language models.
    """
    operators = (operator for operator in method.line if operator.stage != "generate")
    # Operators that only write the prompt's tables.
    line = Line(tuple(each for each in operators if tuple(each.writes) != ("tables",)))
    return replace(method, id=repr(line), line=line)


@dataclass(frozen=True)
class Paper:
    """A paper's experiments, figures of building costs, and tables shown as printed.

    `elsewhere` holds further tables and figures: by their number in the paper, the command that
    makes each.
    """

    title: str
    experiments: tuple[Experiment, ...]
    costs: tuple[BuildingCosts, ...] = ()
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    tables: tuple[PrintedTable, ...] = ()


@cache
def papers() -> tuple[Paper, ...]:
    """Return the papers, each read from its TOML file.

    They are in the order of the file names.
    """
    return tuple(
        _read_paper(tomllib.loads(file.read_text("utf-8")))
        for file in sorted(PAPERS_FOLDER.glob("*.toml"))
    )


def find_experiment(id: str) -> Experiment:
    """Return the experiment with an id.

    Raises BadInput for an unknown id; its message suggests the nearest one.
    """
    experiments = chain.from_iterable(paper.experiments for paper in papers())
    experiments_by_id = {experiment.id: experiment for experiment in experiments}
    if id not in experiments_by_id:
        all_ids = (*experiments_by_id, *cost_figures(), *printed_tables())
        raise BadInput(
            f"There is no experiment “{id}”.{suggest_name(id, all_ids)} “reproduce” lists them."
        )
    return experiments_by_id[id]


def cost_figures() -> dict[str, BuildingCosts]:
    """Return the figures of building costs, by id."""
    figures = chain.from_iterable(paper.costs for paper in papers())
    return {figure.id: figure for figure in figures}


def printed_tables() -> dict[str, PrintedTable]:
    """Return the tables that are shown as printed, by id."""
    tables = chain.from_iterable(paper.tables for paper in papers())
    return {table.id: table for table in tables}


def _read_paper(file: dict[str, Any]) -> Paper:
    """Return a paper from the content of its TOML file.

    `scale` is the factor from printed shares to shares in [0, 1], such as 0.01 for per cent.
    """
    paper = file["paper"]
    sets = {
        name: PublishedSet(name, **values | {"files": tuple(values.get("files", ()))})
        for name, values in file.get("sets", {}).items()
    }
    shared_fields = {
        "paper": paper["title"],
        "answers": paper["answers"],
        "extractor": paper.get("extractor", ""),
        "differs": tuple(paper.get("differs", ())),
    }
    scale = paper.get("scale", 1.0)
    experiments = tuple(
        _read_experiment(id, values, sets, values.get("scale", scale), shared_fields)
        for id, values in file.get("experiments", {}).items()
    )
    costs = []
    for id, values in file.get("costs", {}).items():
        lists = {name: tuple(values.get(name, ())) for name in ("levels", "differs")}
        costs.append(BuildingCosts(id, paper["title"], **values | lists))
    tables = tuple(
        build_table(id, paper["title"], values) for id, values in file.get("tables", {}).items()
    )
    return Paper(paper["title"], experiments, tuple(costs), file.get("elsewhere", {}), tables)


def _read_experiment(
    id: str,
    values: dict[str, Any],
    sets: Mapping[str, PublishedSet],
    scale: float,
    shared_fields: dict[str, Any],
) -> Experiment:
    """Return an experiment from its table in a paper's TOML file.

    Printed shares are multiplied by `scale`, and lists become tuples.
    """
    row_ids = values["rows"]
    small_sets = {
        name: replace(sets[name], **changes)
        for name, changes in values.get("small_sets", {}).items()
    }

    def scale_column(column: list, unit: str = "share") -> tuple[float | None, ...]:
        # An empty column means that the paper draws the metric without numbers.
        factor = scale if unit in PER_CENT_UNITS else 1.0
        return tuple(_number(value, factor) for value in column or (math.nan,) * len(row_ids))

    printed = {}
    for name, columns in values["printed"].items():
        printed[name] = {
            key: scale_column(column, metric(key).unit) for key, column in columns.items()
        }
    common_differences = () if values.get("measures") else shared_fields["differs"]
    converted = {
        "printed": printed,
        "duels": _read_duels(row_ids, values.get("duels", {})),
        "wins": {name: scale_column(column) for name, column in values.get("wins", {}).items()},
        "vary": _by_row(row_ids, values.get("vary", {})),
        "small_vary": _by_row(row_ids, values.get("small_vary", {})),
        "differs": (*common_differences, *values.get("differs", ())),
    }
    fields = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in values.items()
        if key not in ("scale", "small_sets")
    }
    return Experiment(id, sets={**sets, **small_sets}, **shared_fields | fields | converted)


def _number(value: float | str, scale: float) -> float | None:
    """Return a printed number in the metric's unit.

    None for nan, which marks a missing value. A text such as “<0.01” is an upper bound, which is
    not scaled.
    """
    if isinstance(value, str):
        return UpperBound.parse(value)
    return None if math.isnan(value) else value * scale


def _read_duels(
    row_ids: Iterable[str], rates_by_set: Mapping[str, Mapping[str, Mapping[str, list[float]]]]
) -> dict[str, dict[str, WinRates]]:
    """Return the printed win rates by set and criterion."""
    duels = {}
    for name, rates_by_criterion in rates_by_set.items():
        duels[name] = {
            criterion: _win_rates(row_ids, rates) for criterion, rates in rates_by_criterion.items()
        }
    return duels


def _win_rates(row_ids: Iterable[str], rates: Mapping[str, list[float]]) -> WinRates:
    """Return win rates in [0, 1] from rates printed in per cent.

    Each winner has one number per row, which may be the winner's own row.
    """
    rates_by_winner = {}
    for winner, values in rates.items():
        rates_by_loser = zip(row_ids, values, strict=True)
        rates_by_winner[winner] = {
            loser: rate / 100 for loser, rate in rates_by_loser if not math.isnan(rate)
        }
    return rates_by_winner


def _by_row(
    row_ids: Iterable[str], vary: str | list[str] | Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Return the variations of each row, from a value of the TOML file.

    A text is one variation of all rows, a list holds several variations of all rows, and a table
    holds one variation per row.
    """
    if isinstance(vary, str):
        return dict.fromkeys(row_ids, (vary,))
    if isinstance(vary, list):
        return dict.fromkeys(row_ids, tuple(vary))
    return {id: (variation,) for id, variation in vary.items()}

"""The papers' experiments as data: rows of a table, question sets and printed values."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from core.errors import BadInput, nearest
from core.evaluation.metrics.catalogue import metric
from core.evaluation.papers.building_costs import BuildingCosts
from core.evaluation.papers.graphs import on_builds
from core.evaluation.papers.printed_values import PrintedTable, UpperBound, read_table
from core.evaluation.reports.sensitivity import variant, vary_parameter
from core.lines.text import split_at_commas
from core.methods.catalogue import Method
from core.operators.base import Line
from core.operators.text import operator_class
from core.operators.texts.built_graph import BuiltGraph

PAPERS_FOLDER = Path(__file__).parent
PER_CENT_UNITS = ("share", "balance")  # units of metrics that a paper may print in per cent
PrintedValues = Mapping[str, tuple[float | None, ...]]
Duels = Mapping[str, Mapping[str, float]]
"""Win rates in [0, 1], by the winning method, then by the other one."""


@dataclass(frozen=True)
class PublishedSet:
    """A question set of a paper.

    Parameters
    ----------
    fetch : where the set is published.
    files : patterns of the names of its published files.
    set : its name if all of it ships with the project.
    small : the shipped set of a small run.
    small_is : a sentence if the small set is a different one.
    build : the build that it is asked on, if it is not that of the rows.
    methods : methods that replace those of some rows on this set.
    only : a field that must be true in a row of its file.
    vary : the value of an operator's parameter that the paper uses for this set.
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
    """Rows for the values of operators' parameters, as they are added.

    Parameters
    ----------
    rows : the name of each row, by method id.
    methods : their methods.
    first_ids : by the row that was varied, the id of the method with its first value.
    firsts : the same by the id of each method, where rows have builds of their own.
    """

    rows: dict[str, str] = field(default_factory=dict)
    methods: list[Method] = field(default_factory=list)
    first_ids: dict[str, str] = field(default_factory=dict)
    firsts: dict[str, str] = field(default_factory=dict)

    def add(self, method: Method, name: str, label: str) -> None:
        """Add the row of a value with its label."""
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
    rows : the paper's name of each row, by method id.
    printed : one value per row, by set and metric. Values have the units measured here (shares in
        [0, 1], seconds) and are None if the paper prints none. A figure prints no values at all.
    hours : estimated hours of the whole experiment on one graphics card.
    model : whether language models answer.
    judge : whether a language model judges the answers.
    cold : whether methods share nothing.
    small_rows : methods of a small run.
    after : method whose first ten results the others begin with. The gains over it are correlated
        with their starting point (`core.evaluation.papers.gains`).
    against : method whose answers a language model compares with those of each other one.
    wins : for each set, the printed win rates of the others over `against`
        (`core.evaluation.papers.win_rates`).
    duels : for each set and criterion, the printed win rates of one method over another. For them
        the answers of all pairs are compared, or with `against` only those with it.
    vary : variations that turn a row into one row per value of an operator's parameter. A printed
        column holds the values of the first row, then of the next. If it is shorter, the remaining
        rows have no printed values.
    small_vary : the same for a small run.
    label : name of a value, by what it counts.
    builds : build of each row if an operator of the build varies.
    small_builds : the same for a small run.
    firsts : method from which each one's differences are taken, if it is not the first.
    abstract : whether all questions are asked as abstract ones.
    retrieval : whether rows end with what they retrieve.
    wide : whether the metrics of a set are columns of one table.
    extractor : extractor of the paper's graphs, for all rows but those of a small run
        (`core.evaluation.papers.graphs`).
    measures : measurement that replaces the evaluation (`core.evaluation.papers.measures`).
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
    duels: Mapping[str, Mapping[str, Duels]] = field(default_factory=dict)
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

    def asked(
        self,
        methods: Mapping[str, Method],
        name: str,
        small: bool = False,
        builds: Sequence[str] = (),
    ) -> tuple[Experiment, tuple[Method, ...]]:
        """Return the experiment as it is asked on a set, and its methods.

        The returned experiment has a row for every method that is asked.

        Parameters
        ----------
        methods : the methods by id.
        name : the paper's name of the question set.
        small : asks the rows of a small run alone.
        builds : builds and extractors that replace the paper's
            (`core.evaluation.papers.graphs.on_builds`).

        Returns
        -------
        The experiment with these rows, and their methods.
        """
        graphs = builds or ((self.extractor,) if self.extractor and not small else ())
        methods_by_row = self._methods_by_row(methods, self.sets[name], graphs)
        row_ids = list(self.rows)
        if small and self.small_rows:
            row_ids = [id for id in self.rows if id in self.small_rows]
        first_methods = [methods_by_row[self.after]] if self.after else []
        if not self.vary:
            row_methods = [methods_by_row[id] for id in row_ids]
            return self._with_ids(methods_by_row), (*first_methods, *row_methods)
        varied = self._vary_rows({id: methods_by_row[id] for id in row_ids}, small, builds)
        ids = {id: one.id for id, one in methods_by_row.items()}
        experiment = replace(
            self,
            rows=varied.rows,
            printed=self._printed_of_values(row_ids, len(varied.rows)),
            firsts=varied.firsts,
            duels=_rename_duels(self.duels, ids | varied.first_ids),
        )
        return experiment, (*first_methods, *varied.methods)

    def _methods_by_row(
        self, methods: Mapping[str, Method], published: PublishedSet, graphs: Sequence[str]
    ) -> dict[str, Method]:
        """Return the method of each row on a set, by row id, after the one of `after`."""
        methods_by_row = {}
        for id in (*filter(None, [self.after]), *self.rows):
            method = _method_on_set(methods[published.methods.get(id, id)], published)
            method = on_builds(method, graphs)
            methods_by_row[id] = _without_answer(method) if self.retrieval else method
        return methods_by_row

    def _with_ids(self, methods_by_row: Mapping[str, Method]) -> Experiment:
        """Return the experiment with the ids of its methods in the place of its row ids."""
        ids = {id: one.id for id, one in methods_by_row.items()}
        return replace(
            self,
            rows={ids[id]: row for id, row in self.rows.items()},
            after=ids[self.after] if self.after else "",
            against=ids[self.against] if self.against else "",
            duels=_rename_duels(self.duels, ids),
        )

    def _vary_rows(
        self, row_methods: Mapping[str, Method], small: bool, names: Sequence[str]
    ) -> VariedRows:
        """Return one row per value of the parameters that vary, on the build of each row."""
        builds = self.small_builds if small and self.small_builds else self.builds
        vary = self.small_vary if small and self.small_vary else self.vary
        varied = VariedRows()
        for id, row_method in row_methods.items():
            if builds:
                row_method = on_builds(variant(row_method, BuiltGraph, "build", builds[id]), names)
            for variation in vary[id]:
                parameter, _, values = variation.partition("=")
                variants = vary_parameter((row_method,), variation)
                varied.first_ids[id] = variants[0].id
                if builds:
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
        """Return the printed values of `count` rows that stand for values of these rows.

        A column that does not hold all of them has no printed values.
        """
        each = count // len(row_ids)
        all_ids = list(self.rows)
        indices: list[int] = []
        for id in row_ids:
            start = all_ids.index(id) * each
            indices += range(start, start + each)
        printed: dict[str, PrintedValues] = {}
        for name, columns in self.printed.items():
            values_by_metric: dict[str, tuple[float | None, ...]] = {}
            for metric_name, column in columns.items():
                if len(column) > indices[-1]:
                    values_by_metric[metric_name] = tuple(column[i] for i in indices)
                else:
                    values_by_metric[metric_name] = (None,) * count
            printed[name] = values_by_metric
        return printed

    def small(self) -> dict[str, str]:
        """Return the shipped question sets of a small run, by the paper's name of the set.

        If several sets share a shipped set, only the first one is included.
        """
        shipped_sets: dict[str, str] = {}
        for name in self.printed:
            if self.sets[name].small not in ("", *shipped_sets.values()):
                shipped_sets[name] = self.sets[name].small
        return shipped_sets


def _rename_duels(
    duels: Mapping[str, Mapping[str, Duels]], names: Mapping[str, str]
) -> dict[str, dict[str, Duels]]:
    """Return the duels with the ids that the methods have on a set's graph."""
    return {
        name: {
            criterion: {names[winner]: _rename_row(row, names) for winner, row in rates.items()}
            for criterion, rates in by_criterion.items()
        }
        for name, by_criterion in duels.items()
    }


def _rename_row(row: Mapping[str, float], names: Mapping[str, str]) -> dict[str, float]:
    return {names[loser]: rate for loser, rate in row.items()}


def _method_on_set(method: Method, dataset: PublishedSet) -> Method:
    """Return the method with the build and the parameter value of a set.

    The value is applied only if the method has the operator.
    """
    varied_method = variant(method, BuiltGraph, "build", dataset.build) if dataset.build else method
    cls = operator_class(dataset.vary.partition(".")[0]) if dataset.vary else None
    if cls is not None and any(isinstance(part, cls) for part in varied_method.line.everywhere()):
        (varied_method,) = vary_parameter((varied_method,), dataset.vary)
    return varied_method


def _without_answer(method: Method) -> Method:
    """Return the method without the steps that make a prompt and an answer.

    The remaining steps may still ask language models.
    """
    line = Line(
        tuple(
            one
            for one in method.line
            if one.stage != "generate" and tuple(one.writes) != ("tables",)
        )
    )
    return replace(method, id=repr(line), line=line)


@dataclass(frozen=True)
class Paper:
    """A paper's experiments, figures of building costs, and tables shown as printed.

    `elsewhere` holds, by place, the command that makes another table or figure.
    """

    title: str
    experiments: tuple[Experiment, ...]
    costs: tuple[BuildingCosts, ...] = ()
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    tables: tuple[PrintedTable, ...] = ()


@cache
def papers() -> tuple[Paper, ...]:
    """Return the papers, each with its experiments."""
    return tuple(
        _read_paper(tomllib.loads(file.read_text("utf-8")))
        for file in sorted(PAPERS_FOLDER.glob("*.toml"))
    )


def find_experiment(id: str) -> Experiment:
    """Return the experiment with an id.

    Raises BadInput, which names the nearest one.
    """
    experiments_by_id = {one.id: one for paper in papers() for one in paper.experiments}
    if id not in experiments_by_id:
        every = (*experiments_by_id, *cost_figures(), *printed_tables())
        raise BadInput(
            f"There is no experiment “{id}”.{nearest(id, every)} “reproduce” lists them."
        )
    return experiments_by_id[id]


def cost_figures() -> dict[str, BuildingCosts]:
    """Return the figures of building costs, by id."""
    return {one.id: one for paper in papers() for one in paper.costs}


def printed_tables() -> dict[str, PrintedTable]:
    """Return the tables that are shown as printed, by id."""
    return {one.id: one for paper in papers() for one in paper.tables}


def _read_paper(file: dict[str, Any]) -> Paper:
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
        _experiment(id, one, sets, one.get("scale", scale), shared_fields)
        for id, one in file.get("experiments", {}).items()
    )
    costs = tuple(
        BuildingCosts(
            id,
            paper["title"],
            **one | {name: tuple(one.get(name, ())) for name in ("levels", "differs")},
        )
        for id, one in file.get("costs", {}).items()
    )
    tables = tuple(
        read_table(id, paper["title"], one) for id, one in file.get("tables", {}).items()
    )
    return Paper(paper["title"], experiments, costs, file.get("elsewhere", {}), tables)


def _experiment(
    id: str,
    values: dict[str, Any],
    sets: Mapping[str, PublishedSet],
    scale: float,
    about: dict[str, Any],
) -> Experiment:
    none = (math.nan,) * len(values["rows"])
    sets = {
        **sets,
        **{
            name: replace(sets[name], **other)
            for name, other in values.get("small_sets", {}).items()
        },
    }
    scale_column = lambda column, unit="share": tuple(
        _number(value, scale if unit in PER_CENT_UNITS else 1.0) for value in column or none
    )
    converted = {
        "printed": {
            name: {key: scale_column(column, metric(key).unit) for key, column in columns.items()}
            for name, columns in values["printed"].items()
        },
        "duels": {
            name: {criterion: _duels(values["rows"], rates) for criterion, rates in by.items()}
            for name, by in values.get("duels", {}).items()
        },
        "wins": {name: scale_column(column) for name, column in values.get("wins", {}).items()},
        "vary": _by_row(values["rows"], values.get("vary", {})),
        "small_vary": _by_row(values["rows"], values.get("small_vary", {})),
        "differs": (
            *(() if values.get("measures") else about["differs"]),
            *values.get("differs", ()),
        ),
    }
    values = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in values.items()
        if key not in ("scale", "small_sets")
    }
    return Experiment(id, sets=sets, **about | values | converted)


def _number(value: float | str, scale: float) -> float | None:
    """Return a printed number, None for nan.

    A text is a bound, which is not scaled.
    """
    if isinstance(value, str):
        return UpperBound.parse(value)
    return None if math.isnan(value) else value * scale


def _duels(rows: Mapping[str, str], rates: Mapping[str, list[float]]) -> Duels:
    """Return win rates in [0, 1] from rates printed in per cent.

    Each winner has one number per row, which may be the winner's own row.
    """
    rates_by_winner = {}
    for winner, values in rates.items():
        rates_by_loser = zip(rows, values, strict=True)
        rates_by_winner[winner] = {
            loser: rate / 100 for loser, rate in rates_by_loser if not math.isnan(rate)
        }
    return rates_by_winner


def _by_row(
    rows: Mapping[str, str], vary: str | list[str] | Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Return the variations of each row.

    A text is the variation of all rows, a list holds several for all rows, and a table has one per
    row.
    """
    if isinstance(vary, str):
        return dict.fromkeys(rows, (vary,))
    if isinstance(vary, list):
        return dict.fromkeys(rows, tuple(vary))
    return {id: (one,) for id, one in vary.items()}

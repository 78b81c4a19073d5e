"""Design space of lines on documents.

It holds the operators that retrieve chunks, entities, relations and reports, in combinations that
can run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import BadParameter
from core.evaluation.search.space import (
    NO_OPERATOR,
    Alternative,
    describe_stages,
    models_of,
    read_alternative,
)
from core.operators.base import Line, Operator, order_fault
from core.operators.text import operator_class
from core.operators.texts.built_graph import BuiltGraph
from core.parameters import make_operator

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

TEXT_SPACE_FILE = Path(__file__).with_name("space_texts.toml")
WAY_CHOICE = "way"  # name of the suggestion of a form of line
COMBINED_PARTS = "parts put together"  # the form that combines operators
PROMPT_PARTS = ("nodes", "relations", "chunks", "communities")
REQUIRED_PART = "chunks"  # the part that every line retrieves
ASKING_KIND = "llm"  # kind of the lines that ask a language model
TEXT_STAGES = {
    **dict.fromkeys(PROMPT_PARTS, "retrieve"),
    "refine": "refine",
    "generate": "generate",
}


@dataclass(frozen=True)
class CompleteLine:
    """A complete line with the possible values of its operators' parameters.

    `builds` are the graphs to choose from.
    """

    name: str
    builds: tuple[str, ...]
    operators: tuple[Alternative, ...]

    def draw(self, trial: BaseTrial) -> Line:
        """Return the line with the values that a trial suggests."""
        build = self.builds[0]
        if len(self.builds) > 1:
            build = trial.suggest_categorical(f"{self.name}: graph", self.builds)
        return Line((BuiltGraph(build), *(one.draw(trial) for one in self.operators)))


@dataclass(frozen=True)
class TextSpace:
    """Design space of lines on documents.

    `stages` holds the operators that can retrieve each part of a prompt. `graphs` pairs the parts
    that graphs hold with the builds of these graphs. `needs` holds the operators that must come
    before others. `whole` holds complete lines, which are drawn besides the combinations.

    >>> import optuna
    >>> from core.evaluation.search.space_texts import load_text_space
    >>> from core.models.base import NoModels
    >>> class Here(NoModels):
    ...     def info(self, name): return type("Info", (), {"present": True, "kind": "encoder"})
    >>> chosen = {
    ...     "way": "parts put together",
    ...     "nodes": "none",
    ...     "relations": "none",
    ...     "chunks": "SparseChunks",
    ...     "communities": "none",
    ... }
    >>> load_text_space(Here()).line(
    ...     optuna.trial.FixedTrial(chosen | {"SparseChunks.keep": 4, "SparseChunks.by": "bm25"})
    ... )
    BuiltGraph() >> SparseChunks() >> ContextTables() >> AnswerFromTables()
    """

    stages: Mapping[str, tuple[Alternative, ...]]
    graphs: tuple[tuple[frozenset[str], tuple[str, ...]], ...]
    needs: Mapping[str, Operator]
    whole: tuple[CompleteLine, ...] = ()
    may_ask_model: bool = False  # lines may ask a language model

    def line(self, trial: BaseTrial) -> Line:
        """Return a line with the values that a trial suggests."""
        complete_lines = {line.name: line for line in self.whole}
        forms = [COMBINED_PARTS, *complete_lines]
        form = trial.suggest_categorical(WAY_CHOICE, forms) if len(forms) > 1 else COMBINED_PARTS
        if form != COMBINED_PARTS:
            return complete_lines[form].draw(trial)
        operators: list[Operator] = []
        for part in PROMPT_PARTS:
            operator = self._draw(trial, part, optional=part != REQUIRED_PART)
            if operator is not None:
                operators += [*self._suppliers(operators, operator), operator]
        graph = BuiltGraph(self._choose_graph(trial, operators))
        closing_operators = [self._draw(trial, stage) for stage in ("refine", "generate")]
        return Line((graph, *operators, *filter(None, closing_operators)))

    @property
    def first_suggestions(self) -> tuple[dict[str, str], ...]:
        """First suggestions: each operator that retrieves chunks, and each complete line."""
        starts = [
            {WAY_CHOICE: COMBINED_PARTS, REQUIRED_PART: alternative.name}
            for alternative in self.stages[REQUIRED_PART]
        ]
        return (*starts, *({WAY_CHOICE: line.name} for line in self.whole))

    def describe(self) -> dict[str, Any]:
        """Return the space as values for JSON."""
        graphs = [[sorted(holds), list(builds)] for holds, builds in self.graphs]
        complete_lines = {
            one.name: [list(one.builds), describe_stages({"line": one.operators})["line"]]
            for one in self.whole
        }
        needs = {name: repr(one) for name, one in self.needs.items()}
        return describe_stages(self.stages) | {
            "graphs": graphs,
            "needs": needs,
            "whole": complete_lines,
            "asks": self.may_ask_model,
        }

    def models(self) -> tuple[str, ...]:
        """Return the models and roles that lines of the space may name."""
        alternatives = list(chain.from_iterable(self.stages.values()))
        alternatives += [Alternative(type(one), "", {}) for one in self.needs.values()]
        alternatives += chain.from_iterable(line.operators for line in self.whole)
        names = [*models_of(alternatives), *(("answer",) if self.may_ask_model else ())]
        return tuple(dict.fromkeys(names))

    def _suppliers(self, steps: list[Operator], operator: Operator) -> list[Operator]:
        """Return the operators that must come before an operator to supply its inputs."""
        added: list[Operator] = []
        for need in (*operator.reads, *operator.reads_any[:1]):
            if not any(need in other.writes for other in (*steps, *added)) and need in self.needs:
                needed_operator = self.needs[need]
                added += [*self._suppliers([*steps, *added], needed_operator), needed_operator]
        if reason := order_fault([*steps, *added], operator):
            raise BadParameter(f"{TEXT_SPACE_FILE.name}: {reason}")
        return added

    def _choose_graph(self, trial: BaseTrial, operators: Iterable[Operator]) -> str:
        """Return a graph that holds what these operators read and retrieve."""
        used_names = set(chain.from_iterable((*one.reads, *one.writes) for one in operators))
        used_parts = used_names & set(PROMPT_PARTS)
        suitable = (
            (number, builds)
            for number, (parts, builds) in enumerate(self.graphs, 1)
            if used_parts <= parts
        )
        number, builds = next(suitable)
        if len(builds) == 1:
            return builds[0]
        return trial.suggest_categorical(f"graph {number}", builds)

    def _draw(self, trial: BaseTrial, stage: str, optional: bool = False) -> Operator | None:
        choices = ([NO_OPERATOR] if optional else []) + [one.name for one in self.stages[stage]]
        if choices in ([], [NO_OPERATOR]):
            return None
        choice = trial.suggest_categorical(stage, choices) if len(choices) > 1 else choices[0]
        return next((one.draw(trial) for one in self.stages[stage] if one.name == choice), None)


def load_text_space(
    models, kinds: Iterable[str] = ("published",), file: Path = TEXT_SPACE_FILE
) -> TextSpace:
    """Return the space of a file, restricted to available models.

    Lines that ask a language model are left out unless `llm` is among the kinds.

    Parameters
    ----------
    models : the model registry.
    kinds : kinds of operators to include.
    file : the TOML file of the space.

    Returns
    -------
    The alternatives of each stage, and the complete lines.

    Raises
    ------
    BadParameter : an operator or parameter is unknown, or nothing is left that retrieves chunks.
    """
    table = tomllib.loads(file.read_text("utf-8"))
    kinds = tuple(kinds)
    needs = {
        name: make_operator(operator_class(operator, file.name), {})
        for name, operator in table.get("needs", {}).items()
    }
    stages = {}
    for section, stage in TEXT_STAGES.items():
        rows = table.get(section, ())
        alternatives = (read_alternative(row, stage, models, kinds, file.name) for row in rows)
        stages[section] = tuple(filter(None, alternatives))
    if not stages[REQUIRED_PART]:
        raise BadParameter("There is nothing to find chunks with: the models are not here.")
    graphs = tuple((frozenset(row["holds"]), tuple(row["build"])) for row in table["graph"])
    rows = table.get("line", ())
    complete_lines = (_read_complete_line(row, models, kinds, file.name) for row in rows)
    return TextSpace(
        stages, graphs, needs, tuple(filter(None, complete_lines)), ASKING_KIND in kinds
    )


def _read_complete_line(
    row: Mapping[str, Any], models, kinds: tuple[str, ...], file: str
) -> CompleteLine | None:
    """Return a complete line of the file.

    It is None if it asks a language model and `kinds` does not allow that, or if a model is
    missing. Raises BadParameter.
    """
    if row.get("kind") == ASKING_KIND and ASKING_KIND not in kinds:
        return None
    alternatives = []
    for number, operator_row in enumerate(row["operators"], 1):
        cls = operator_class(operator_row["operator"], file)
        named_row = {**operator_row, "name": f"{row['name']}: {number} {cls.__name__}"}
        alternative = read_alternative(named_row, cls.stage, models, kinds, file)
        if alternative is None:
            return None
        alternatives.append(alternative)
    return CompleteLine(row["name"], tuple(row["build"]), tuple(alternatives))

"""Design space of lines on documents, read from `space_texts.toml`.

A line combines operators that retrieve chunks, entities, relations and community reports, or it is
one of the complete lines of the file. Every line drawn can run.
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
FORM_CHOICE = "way"  # name of the suggestion that chooses the form of the line
COMBINED_PARTS = "parts put together"  # the form of line that combines operators
# Parts of a prompt that operators retrieve, in the order of these operators in a line.
PROMPT_PARTS = ("nodes", "relations", "chunks", "communities")
REQUIRED_PART = "chunks"  # the part that every line retrieves
ASKING_KIND = "llm"  # kind of the lines that ask a language model
# The stage of the operators in each section of the file.
TEXT_STAGES = {
    **dict.fromkeys(PROMPT_PARTS, "retrieve"),
    "refine": "refine",
    "generate": "generate",
}


@dataclass(frozen=True)
class CompleteLine:
    """A line whose operators are fixed, and the values that their parameters may have.

    `builds` are the names of the graphs to choose from, at least one.
    """

    name: str
    builds: tuple[str, ...]
    operators: tuple[Alternative, ...]

    def draw(self, trial: BaseTrial) -> Line:
        """Return the line with the values that a trial suggests."""
        build = self.builds[0]
        if len(self.builds) > 1:
            build = trial.suggest_categorical(f"{self.name}: graph", self.builds)
        return Line((BuiltGraph(build), *(operator.draw(trial) for operator in self.operators)))


@dataclass(frozen=True)
class TextSpace:
    """Design space of lines on documents.

    Parameters
    ----------
    stages : the alternatives for each part of a prompt (`PROMPT_PARTS`), and for the stages that
        refine and generate.
    graphs : pairs of the parts that a kind of graph holds and the names of such graphs, from
        few parts to many. The last one holds all parts.
    suppliers : by input name, the operator that supplies it if no earlier operator does.
    complete_lines : lines that are drawn besides the combinations of operators.
    may_ask_model : True if lines may ask a language model.

    Examples
    --------
    >>> import optuna
    >>> from core.evaluation.search.space_texts import load_text_space
    >>> from core.models.base import NoModels
    >>> class EncodersOnly(NoModels):
    ...     def info(self, name): return type("Info", (), {"present": True, "kind": "encoder"})
    >>> chosen = {
    ...     "way": "parts put together",
    ...     "nodes": "none",
    ...     "relations": "none",
    ...     "chunks": "SparseChunks",
    ...     "communities": "none",
    ... }
    >>> load_text_space(EncodersOnly()).line(
    ...     optuna.trial.FixedTrial(chosen | {"SparseChunks.keep": 4, "SparseChunks.by": "bm25"})
    ... )
    BuiltGraph() >> SparseChunks() >> ContextTables() >> AnswerFromTables()
    """

    stages: Mapping[str, tuple[Alternative, ...]]
    graphs: tuple[tuple[frozenset[str], tuple[str, ...]], ...]
    suppliers: Mapping[str, Operator]
    complete_lines: tuple[CompleteLine, ...] = ()
    may_ask_model: bool = False

    def line(self, trial: BaseTrial) -> Line:
        """Return a line with the values that a trial suggests."""
        lines_by_name = {line.name: line for line in self.complete_lines}
        forms = [COMBINED_PARTS, *lines_by_name]
        form = trial.suggest_categorical(FORM_CHOICE, forms) if len(forms) > 1 else COMBINED_PARTS
        if form != COMBINED_PARTS:
            return lines_by_name[form].draw(trial)
        operators: list[Operator] = []
        for part in PROMPT_PARTS:
            operator = self._draw(trial, part, optional=part != REQUIRED_PART)
            if operator is not None:
                operators += [*self._missing_suppliers(operators, operator), operator]
        graph = BuiltGraph(self._choose_graph(trial, operators))
        closing_operators = [self._draw(trial, stage) for stage in ("refine", "generate")]
        return Line((graph, *operators, *filter(None, closing_operators)))

    @property
    def first_suggestions(self) -> tuple[dict[str, str], ...]:
        """First suggestions: each operator that retrieves chunks, and each complete line."""
        combinations = [
            {FORM_CHOICE: COMBINED_PARTS, REQUIRED_PART: alternative.name}
            for alternative in self.stages[REQUIRED_PART]
        ]
        return (*combinations, *({FORM_CHOICE: line.name} for line in self.complete_lines))

    def describe(self) -> dict[str, Any]:
        """Return the space as data for JSON.

        The data are part of the key of a search.
        """
        graphs = [[sorted(parts), list(builds)] for parts, builds in self.graphs]
        complete_lines = {
            line.name: [list(line.builds), describe_stages({"line": line.operators})["line"]]
            for line in self.complete_lines
        }
        return describe_stages(self.stages) | {
            "graphs": graphs,
            "needs": {name: repr(operator) for name, operator in self.suppliers.items()},
            "whole": complete_lines,
            "asks": self.may_ask_model,
        }

    def models(self) -> tuple[str, ...]:
        """Return the models and roles that lines of the space may name."""
        alternatives = list(chain.from_iterable(self.stages.values()))
        alternatives += [Alternative(type(one), "", {}) for one in self.suppliers.values()]
        alternatives += chain.from_iterable(line.operators for line in self.complete_lines)
        names = [*models_of(alternatives), *(("answer",) if self.may_ask_model else ())]
        return tuple(dict.fromkeys(names))

    def _missing_suppliers(self, earlier: list[Operator], operator: Operator) -> list[Operator]:
        """Return the operators that supply an operator with its missing inputs.

        They are to be put before it. `earlier` are the operators of the line so far. Raises
        BadParameter if an input has no supplier.
        """
        added: list[Operator] = []
        for input_name in (*operator.reads, *operator.reads_any[:1]):
            is_supplied = any(input_name in other.writes for other in (*earlier, *added))
            if not is_supplied and input_name in self.suppliers:
                supplier = self.suppliers[input_name]
                # A supplier may itself need suppliers.
                added += [*self._missing_suppliers([*earlier, *added], supplier), supplier]
        if reason := order_fault([*earlier, *added], operator):
            raise BadParameter(f"{TEXT_SPACE_FILE.name}: {reason}")
        return added

    def _choose_graph(self, trial: BaseTrial, operators: Iterable[Operator]) -> str:
        """Return the name of a graph that holds what these operators read and retrieve.

        It is of the first kind with all these parts, so lines without entities use the chunks
        alone.
        """
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
    kinds : kinds of operators to include, as in `load_space`.
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
    suppliers = {
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
        stages, graphs, suppliers, tuple(filter(None, complete_lines)), ASKING_KIND in kinds
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
        # The same operator may occur twice in a line, so its name includes its position.
        named_row = {**operator_row, "name": f"{row['name']}: {number} {cls.__name__}"}
        alternative = read_alternative(named_row, cls.stage, models, kinds, file)
        if alternative is None:
            return None
        alternatives.append(alternative)
    return CompleteLine(row["name"], tuple(row["build"]), tuple(alternatives))

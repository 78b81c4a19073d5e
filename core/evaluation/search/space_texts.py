"""The design space of lines on documents: what may bring chunks, entities, relations and reports, put together so that it can be run."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import BadParameter
from core.evaluation.search.space import NONE, Alternative, alternative, described, models_of
from core.operators.base import Line, Operator, unfit
from core.operators.text import operator_class
from core.operators.texts.built import BuiltGraph
from core.parameters import make

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

FILE = Path(__file__).with_name("space_texts.toml")
PARTS = ("nodes", "relations", "chunks", "communities")
ALWAYS = "chunks"  # the part that every line brings
STAGES = {**dict.fromkeys(PARTS, "retrieve"), "refine": "refine", "generate": "generate"}


@dataclass(frozen=True)
class TextSpace:
    """For each part of what a prompt shows the operators that may bring it; the graphs with what they hold; what others need before them.

    >>> import optuna
    >>> from core.evaluation.search.space_texts import text_space
    >>> from core.models.base import NoModels
    >>> class Here(NoModels):
    ...     def info(self, name): return type("Info", (), {"present": True, "kind": "encoder"})
    >>> chosen = {"nodes": "none", "relations": "none", "chunks": "SparseChunks", "communities": "none", "SparseChunks.keep": 4}
    >>> text_space(Here()).line(optuna.trial.FixedTrial(chosen | {"SparseChunks.by": "bm25"}))
    BuiltGraph() >> SparseChunks() >> ContextTables() >> AnswerFromTables()
    """

    stages: Mapping[str, tuple[Alternative, ...]]
    graphs: tuple[tuple[frozenset[str], tuple[str, ...]], ...]
    needs: Mapping[str, Operator]

    def line(self, trial: BaseTrial) -> Line:
        """A line with what `trial` suggests."""
        found: list[Operator] = []
        for part in PARTS:
            operator = self._drawn(trial, part, optional=part != ALWAYS)
            if operator is not None:
                found += [*self._before(found, operator), operator]
        ends = (operator for stage in ("refine", "generate") if (operator := self._drawn(trial, stage)))
        return Line((BuiltGraph(self._graph(trial, found)), *found, *ends))

    @property
    def starts(self) -> tuple[dict[str, str], ...]:
        """Each way to bring chunks, as a beginning of what is suggested."""
        return tuple({ALWAYS: one.name} for one in self.stages[ALWAYS])

    def described(self) -> dict[str, Any]:
        """The space as JSON can hold it."""
        graphs = [[sorted(holds), list(builds)] for holds, builds in self.graphs]
        return described(self.stages) | {"graphs": graphs, "needs": {name: repr(one) for name, one in self.needs.items()}}

    def models(self) -> tuple[str, ...]:
        """The models and roles that lines of the space may name."""
        needed = [Alternative(type(one), type(one).__name__, {}) for one in self.needs.values()]
        return models_of([*(one for here in self.stages.values() for one in here), *needed])

    def _before(self, found: list[Operator], operator: Operator) -> list[Operator]:
        """What has to stand before an operator that reads what nothing gives yet."""
        added: list[Operator] = []
        for need in (*operator.reads, *operator.reads_any[:1]):
            if not any(need in other.writes for other in (*found, *added)) and need in self.needs:
                one = self.needs[need]
                added += [*self._before([*found, *added], one), one]
        if reason := unfit([*found, *added], operator):
            raise BadParameter(f"{FILE.name}: {reason}")
        return added

    def _graph(self, trial: BaseTrial, found: Iterable[Operator]) -> str:
        """A graph that holds what these operators read and bring."""
        wanted = {name for one in found for name in (*one.reads, *one.writes) if name in PARTS}
        number, builds = next((number, builds) for number, (holds, builds) in enumerate(self.graphs, 1) if wanted <= holds)
        return trial.suggest_categorical(f"graph {number}", builds) if len(builds) > 1 else builds[0]

    def _drawn(self, trial: BaseTrial, stage: str, optional: bool = False) -> Operator | None:
        choices = ([NONE] if optional else []) + [one.name for one in self.stages[stage]]
        if choices in ([], [NONE]):
            return None
        chosen = trial.suggest_categorical(stage, choices) if len(choices) > 1 else choices[0]
        return next((one.drawn(trial) for one in self.stages[stage] if one.name == chosen), None)


def text_space(models, kinds: Iterable[str] = ("published",), file: Path = FILE) -> TextSpace:
    """The space of a file, of the models that are here; `models` is the registry. Operators that ask a language model are left out unless
    `llm` is among the kinds. Raises BadParameter for an unknown operator or parameter, and where nothing is left that brings chunks."""
    table, kinds = tomllib.loads(file.read_text("utf-8")), tuple(kinds)
    needs = {name: make(operator_class(one, file.name), {}) for name, one in table.get("needs", {}).items()}
    stages = {
        stage: tuple(filter(None, (alternative(row, STAGES[stage], models, kinds, file.name) for row in table.get(stage, ()))))
        for stage in STAGES
    }
    if not stages[ALWAYS]:
        raise BadParameter("There is nothing to find chunks with: the models are not here.")
    graphs = tuple((frozenset(row["holds"]), tuple(row["build"])) for row in table["graph"])
    return TextSpace(stages, graphs, needs)

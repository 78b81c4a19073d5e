"""What an evaluation is to run: instances, questions drawn with a seed, and how they are asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.datasets import full_name, graph_for, owner, question_set
from core.datasets.fit import fit, own_fit
from core.errors import BadInput
from core.instances.catalogue import RUN, Instance
from core.models.combine import names
from core.operators.base import Operator
from core.parameters import parameters, values
from core.retrievers.runs.saved import run_of
from core.sources import GraphSource, Source, corpus_with
from core.types import Question

OWN = "a graph for each question"
Opened = tuple[tuple[str, Sequence[Question]], Source, str, str]
BY_ENCODER, BY_MODEL = "encoder", "model"  # who may be asked whether an answer is supported


@dataclass(frozen=True)
class Drawn:
    """A question, the set (name or file) it was drawn from, and what it is asked of: without a name the graph of its own row."""

    question: Question
    set: str
    source: Source

    @property
    def address(self) -> Source:
        """What an address names as the source."""
        return self.source if self.source.name else GraphSource(f"{self.set}:{self.question.id}")

    def open(self, engine: Any) -> Source:
        """The source, opened. Raises BadInput, StoreError."""
        if self.source.name:
            return self.source.open(engine)
        return GraphSource.of(graph_for(self.set, self.question))


@dataclass(frozen=True, eq=False)
class Plan:
    """Instances over drawn questions.

    `set` names the sets, which hold `of` questions, and `graphs` tells name and digest of what they are asked on. `model`
    tells whether language models are asked for answers, `judge` whether one judges them, `second_judge` the role or name of another one
    that does so too; `cold` shares nothing between
    instances and forgets what models remember, so that the seconds are those of each instance alone. `support` names who is asked
    whether an answer's sentences rest on what the prompt showed: the encoder, the judging model, or both.
    """

    instances: tuple[Instance, ...]
    drawn: tuple[Drawn, ...]
    set: str = ""
    of: int = 0
    graphs: tuple[tuple[str, str], ...] = ()
    seed: int = 0
    model: bool = True
    judge: bool = False
    cold: bool = False
    support: tuple[str, ...] = ()
    second_judge: str = ""
    notes: tuple[str, ...] = ()  # sentences on what was not read of the files of questions

    def __post_init__(self) -> None:
        if not self.instances:
            raise BadInput("Choose at least one instance.")
        if not self.drawn:
            raise BadInput("There is no question to evaluate.")
        if (self.judge or self.support) and not self.model:
            raise BadInput(
                "Without a language model nothing can be judged; leave out one of the two."
            )
        if self.second_judge and not self.judge:
            raise BadInput("A second judge needs a first one; add --judge.")
        if unknown := next(
            (who for who in self.support if who not in (BY_ENCODER, BY_MODEL)), None
        ):
            raise BadInput(f"Support is judged by {BY_ENCODER} or {BY_MODEL}, not by “{unknown}”.")
        if len({instance.id for instance in self.instances}) < len(self.instances):
            raise BadInput("An instance was named twice.")
        if len({one.question.id for one in self.drawn}) < len(self.drawn):
            raise BadInput("A question set was named twice, or two questions share an id.")

    def turned(self, place: int) -> list[Instance]:
        """The instances in the order in which they are asked a question: the first one turns with it, so that none is always first."""
        count = len(self.instances)
        return [self.instances[(place + i) % count] for i in range(count)]

    @property
    def models(self) -> tuple[str, ...]:
        """The models and roles that are used: by operators, for answers where they are wanted, and for judging."""
        asked = [
            name
            for instance in self.instances
            for operator in instance.line.parts()
            for name in used(operator)
            if self.model or operator.stage != "generate"
        ]
        judges = ["judge"] if BY_MODEL in self.support else []
        return tuple(
            dict.fromkeys(
                [
                    *asked,
                    *self.judges,
                    *judges,
                    *(["encoder"] if BY_ENCODER in self.support else []),
                ]
            )
        )

    @property
    def chats(self) -> frozenset[str]:
        """The language models among them that are named as such; an operator that ranks may name others."""
        parts = [operator for instance in self.instances for operator in instance.line.parts()]
        named = {
            values(part)[one.name] for part in parts for one in parameters(type(part)) if one.chat
        }
        return frozenset((*named, *self.judges, *(["judge"] if BY_MODEL in self.support else [])))

    @property
    def judges(self) -> list[str]:
        """The roles or names of the models that judge answers."""
        return [name for name in ("judge" if self.judge else "", self.second_judge) if name]

    def spec(self, models: str) -> dict[str, Any]:
        """Everything that the results depend on, as JSON can hold it; `models` is the signature of those it uses, with all
        else that its operators depend on."""
        asked = [_asked(one.question) for one in self.drawn]
        return {
            "instances": [
                {"id": i.id, "name": i.name, "title": i.title, "line": repr(i.line)}
                for i in self.instances
            ],
            "graphs": [list(graph) for graph in self.graphs],
            "set": self.set,
            "of": self.of,
            "sample": len(self.drawn),
            "questions": _digest(asked),
            "seed": self.seed,
            "model": self.model,
            "judge": self.judge,
            "cold": self.cold,
            "models": _digest(models),
            **({"support": list(self.support)} if self.support else {}),
            **({"second_judge": self.second_judge} if self.second_judge else {}),
        }


def _asked(question: Question) -> list[Any]:
    """The part of a run's key that a question makes: with its gold passages, options and aliases where it has some."""
    parts = [question.id, question.text, question.entities, question.answers, question.hops]
    return [
        *parts,
        *filter(None, (question.gold, question.options, question.aliases, question.abstract)),
    ]


def key(spec: dict[str, Any]) -> str:
    """The key of a run: the same for the same instances, questions, graphs, models and settings."""
    return _digest(spec)[:16]


def make_plan(
    instances: Sequence[Instance],
    sets: str,
    size: int | None,
    by_name: Callable[[str], Any],
    *,
    graph: str = "",
    seed: int = 0,
    columns: str = "",
    abstract: bool = False,
    only: str = "",
    **options: Any,
) -> Plan:
    """A plan over a sample of `size` questions (None: all) of each set that `sets` names, separated by commas.

    A set is a name (`metaqa-2hop-dev`, or `metaqa-2hop` for its test part) or a file of questions. They are asked on the graph of
    that name, else on the set's own: one for all, or one for each question where any row of the file brings its own (one without
    fails then); a file without any is asked on `metaqa`. The set of a corpus is asked on its documents; `run-NAME` are the questions of a
    finished run on what it is of. `columns` names those of files of columns, `only` a field that rows of a file must hold as true. With
    `abstract` all are asked as abstract questions, whatever their set says. `by_name` opens graphs; `options` are the plan's `model`,
    `judge`, `cold` and `support`. Raises BadInput, StoreError.
    """
    drawn: list[Drawn] = []
    set_names, graphs, of, notes = [], {}, 0, []
    for name in filter(None, map(str.strip, sets.split(","))):
        known, asked_on, digest, note = (
            _of_run(name, by_name)
            or _of_corpus(name, by_name)
            or _opened(name, graph, by_name, columns, only)
        )
        chosen = sample(known[1], size, seed)
        drawn += [
            Drawn(replace(one, abstract=one.abstract or abstract), known[0], asked_on)
            for one in chosen
        ]
        graphs[asked_on.saved_as or f"{known[0]}: {OWN}"] = digest
        set_names.append(known[0])
        notes.append(note)
        of += len(known[1])
    return Plan(
        tuple(instances),
        tuple(drawn),
        ", ".join(set_names),
        of,
        tuple(graphs.items()),
        seed,
        notes=tuple(filter(None, notes)),
        **options,
    )


def source_of(sets: str) -> Source:
    """What the first of these sets, separated by commas, is asked of: its corpus, or a graph."""
    first = sets.split(",")[0].strip()
    if first.startswith(RUN):
        return run_of(first.removeprefix(RUN)).source
    return corpus_with(first) or GraphSource("")


def misfits(drawn: Iterable[Drawn], by_name: Callable[[str], Any]) -> list[str]:
    """A sentence for each set and graph that do not fit: entities or answers that the graph lacks, answers that are not given."""
    together: dict[tuple[str, str], list[Question]] = {}
    for one in (one for one in drawn if not one.source.is_corpus):
        together.setdefault((one.set, one.source.name), []).append(one.question)
    sentences = [
        (fit(by_name(graph), found) if graph else own_fit(question_set(name), found)).words(
            graph or "graphs of their own"
        )
        for (name, graph), found in together.items()
    ]
    return list(filter(None, sentences))


def sample(questions: Sequence[Question], size: int | None, seed: int) -> tuple[Question, ...]:
    """`size` of the questions without repeats, or all of them, in an order that depends on the seed alone.

    A smaller sample is the beginning of a larger one of the same seed. Raises BadInput for a size below 1.
    """
    if size is not None and size < 1:
        raise BadInput("A sample needs at least one question.")
    order = np.random.default_rng(seed).permutation(len(questions))
    return tuple(questions[int(i)] for i in order[:size])


def used(operator: Operator) -> list[str]:
    """The models and roles that an operator names."""
    found: list[str] = []
    for parameter, value in zip(parameters(type(operator)), values(operator).values(), strict=True):
        if value in parameter.also:
            continue
        if parameter.chat:
            found.append(value)
        elif parameter.model:
            found += names(value)
    return found


def _of_run(name: str, by_name: Callable[[str], Any]) -> Opened | None:
    """As `_opened`, for the questions of a finished run; None for another name."""
    if not name.startswith(RUN):
        return None
    run = run_of(name.removeprefix(RUN))
    asked = run.asked()
    if not asked:
        raise BadInput(
            f"The finished run “{run.title}” has no question whose text is known; bring its questions to “{run.source_name}”."
        )
    return (name, asked), run.source, run.source.digest(by_name), ""


def _of_corpus(name: str, by_name: Callable[[str], Any]) -> Opened | None:
    """As `_opened`, for a set of a corpus; None where there is none of that name."""
    found = corpus_with(name)
    if found is None:
        return None
    return (name, found.questions(name)), found, found.digest(by_name), ""


def _opened(name: str, graph: str, by_name, columns: str, only: str) -> Opened:
    """A set's full name and questions, the source (without a name for a graph a question), the digest of what is asked, and
    what the set says of itself."""
    known = question_set(name, columns)
    note = known.note()
    is_file = FilePath(name).is_file() and known.file == FilePath(name).absolute()
    known = replace(known, only=only) if only and is_file else known
    full = str(known.file) if is_file else full_name(name)
    if not graph and (known.graphs == "question" or (is_file and known.brings_graphs())):
        with known.file.open("rb") as stream:
            return (
                (full, known.questions()),
                GraphSource(""),
                hashlib.file_digest(stream, "sha256").hexdigest(),
                note,
            )
    asked_on = graph or ("metaqa" if is_file else owner(name).name)
    source = GraphSource(asked_on)
    return (full, known.questions()), source, source.digest(by_name), note


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()

"""Which questions train, which choose when to stop, and which the training never sees."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

from core.datasets import datasets, full_name
from core.errors import BadInput, HopscopeError
from core.evaluation.runs.plan import Drawn, Plan, make_plan
from core.finetune import DEFAULT_SETS
from core.finetune.data import Example, example
from core.graph.names.seeds import seeds_of
from core.indexes.place import keep
from core.instances.catalogue import Instance
from core.io.plain import from_plain, to_plain
from core.operators.base import Line
from core.types import Question
from core.watch import Watch

LEARNING = ("-dev", "-train")  # endings of sets that have a test set beside them
UNSEEN = 5  # one in so many questions of a set without a test set is never trained on


@dataclass(frozen=True)
class Split:
    """Questions of the sets that `sets` names with commas, drawn with a seed, in three parts that share no question text.

    From each set `questions` are drawn (None: all); the first `held` of them choose when to stop, the rest train. Unseen are the
    questions of the test set beside each (`-dev` and `-train` give `-test`), or of `tests` where that names sets; for a set without
    one, a fifth of its own, set apart before anything is drawn.
    """

    sets: str = DEFAULT_SETS
    tests: str = ""
    questions: int | None = 300
    held: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.names:
            raise BadInput("Name a question set to train on.")
        for name in self.names:
            if self._known(name).endswith("-test"):
                raise BadInput(
                    f"{self._known(name)} is a test set, which nothing may be trained on; name its -dev or -train part."
                )
        if self.questions is not None and self.questions <= self.held:
            raise BadInput(
                f"Of {self.questions} questions a set, {self.held} choose when to stop; nothing is left to train on."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sets to learn from."""
        return tuple(filter(None, map(str.strip, self.sets.split(","))))

    @cached_property
    def test_names(self) -> tuple[str, ...]:
        """The names of the test sets; those sets themselves that have none."""
        if self.tests:
            return tuple(filter(None, map(str.strip, self.tests.split(","))))
        return tuple(_beside(self._known(name)) or name for name in self.names)

    def drawn(self, graph: Callable[[str], Any]) -> tuple[list[Drawn], list[Drawn]]:
        """(training questions, held-out questions); `graph` opens graphs by name. Raises BadInput, StoreError."""
        unseen = {text(one) for part in self._unseen(graph).values() for one in part}
        train: list[Drawn] = []
        held: list[Drawn] = []
        for part in self._of(self.names, graph).values():
            fit = [one for one in part if one.question.answers and text(one) not in unseen][
                : self.questions
            ]
            held += fit[: self.held]
            train += fit[self.held :]
        if not train:
            raise BadInput(f"Nothing is left to train on in {self.sets}.")
        return train, held

    def unseen(self, size: int, graph: Callable[[str], Any]) -> list[Drawn]:
        """`size` unseen questions of each test set, the sets taking turns. Raises BadInput, StoreError."""
        parts = [part[:size] for part in self._unseen(graph).values()]
        return [one for turn in zip_longest(*parts) for one in turn if one is not None]

    def plan(self, instances: Sequence, size: int, graph: Callable[[str], Any]) -> Plan:
        """An evaluation of the instances, asked through the graph reader alone, on `size` unseen questions of each test set."""
        parts = self._unseen(graph)
        whole = self._plan(tuple(parts), graph, tuple(instances))
        return replace(
            whole,
            drawn=tuple(self.unseen(size, graph)),
            of=sum(map(len, parts.values())),
            model=False,
        )

    def _unseen(self, graph: Callable[[str], Any]) -> dict[str, list[Drawn]]:
        found = self._of(self.test_names, graph)
        own = {self._known(name) for name in self.names}
        return {
            name: part[: max(1, len(part) // UNSEEN)] if name in own else part
            for name, part in found.items()
        }

    def _of(self, names: Sequence[str], graph: Callable[[str], Any]) -> dict[str, list[Drawn]]:
        """All questions of these sets in an order that the seed tells, by the sets' full names."""
        found: dict[str, list[Drawn]] = {}
        for name in names:  # one by one, as questions of different sets may share an id
            for one in self._plan((name,), graph).drawn:
                found.setdefault(one.set, []).append(one)
        return found

    def _plan(
        self,
        names: Sequence[str],
        graph: Callable[[str], Any],
        instances: tuple[Instance, ...] = (),
    ) -> Plan:
        return make_plan(
            instances or (Instance("none", "", Line()),),
            ",".join(names),
            None,
            graph,
            seed=self.seed,
        )

    @staticmethod
    def _known(name: str) -> str:
        """The full name of a set, or the absolute name of a file. Raises BadInput."""
        return str(Path(name).absolute()) if Path(name).is_file() else full_name(name)


def text(one: Drawn) -> str:
    """Return a question's text by which it is told from others, case and spaces aside.

    Splits are drawn by it, so it stays as it is where `core.languages.spelling` changes.
    """
    return " ".join(one.question.text.lower().split())


def seeded(
    drawn: Sequence[Drawn], engine: Any, what: str, watch: Watch
) -> Iterator[tuple[Any, Question, tuple[int, ...]]]:
    """Yield (graph, question, seeds) of the questions whose entities are in their graph; `what` is looked for."""
    for place, one in enumerate(drawn):
        watch.check()
        watch.report(f"Finding {what}: question {place:,} of {len(drawn):,}", place / len(drawn))
        graph = one.open(engine).graph
        try:
            seeds = seeds_of(graph, one.question.text, one.question.entities)
        except HopscopeError:
            continue
        yield graph, one.question, seeds


def examples(
    drawn: Sequence[Drawn], engine, seed: int, file: Path, key: str, watch: Watch
) -> list[Example]:
    """The examples of the questions that have one, in their order; kept in `file` under `key`, and read from there the next time.

    Questions whose entities are not in their graph, or to whose answers nothing leads, give none. Raises StoreError.
    """
    try:
        saved = json.loads(file.read_text("utf-8"))
        if saved["key"] == key:
            return [from_plain(Example, one) for one in saved["examples"]]
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not made yet, or by another version
    found: list[Example] = []
    for graph, question, seeds in seeded(drawn, engine, "paths", watch):
        made = example(graph, question, seeds, seed, watch)
        found += [made] if made else []
    whole = json.dumps({"key": key, "examples": list(map(to_plain, found))}, ensure_ascii=False)
    keep(file, lambda stream: stream.write(whole.encode("utf-8")))
    return found


def _beside(name: str) -> str:
    """The test set beside a set to learn from; an empty text where there is none."""
    known = {other for dataset in datasets().values() for other in dataset.sets}
    return next(
        (
            test
            for end in LEARNING
            if name.endswith(end) and (test := name.removesuffix(end) + "-test") in known
        ),
        "",
    )

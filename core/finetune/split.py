"""Split of question sets into training, validation and test questions, for all trainings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from core.datasets import datasets, full_set_name
from core.errors import BadInput, HopscopeError
from core.evaluation.runs.plan import DrawnQuestion, Plan, make_plan
from core.finetune import DEFAULT_SETS
from core.finetune.training_examples import TrainingExample, training_example
from core.graph.names.seeds import seeds_of
from core.indexes.index_storage import write_atomically
from core.io.plain_data import from_plain, to_plain
from core.methods.catalogue import Method
from core.operators.base import Line
from core.types import Question
from core.watch import Watch

LEARNING_ENDINGS = ("-dev", "-train")  # endings of sets that have a matching test set
# Share of a set without a test set that is reserved for testing: 1 / 5.
TEST_SHARE_DIVISOR = 5


@dataclass(frozen=True)
class QuestionSplit:
    """Questions of several sets in three parts that share no question text.

    The parts are training, validation and test questions, drawn with a seed. Test questions are
    those of the matching test sets: the set `NAME-test` for `NAME-dev` or `NAME-train`. A set
    without a test set gives a fifth of its own questions as test questions. They are reserved
    before anything else is drawn.

    Parameters
    ----------
    sets : names of the sets to learn from, separated by commas.
    tests : names of the test sets, separated by commas; empty for the matching ones.
    questions : number of questions drawn from each set; None for all.
    held : number of these questions of each set for validation (early stopping). The others train.
    seed : the seed of the draw.
    """

    sets: str = DEFAULT_SETS
    tests: str = ""
    questions: int | None = 300
    held: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.set_names:
            raise BadInput("Name a question set to train on.")
        for name in self.set_names:
            if self._full_name(name).endswith("-test"):
                raise BadInput(
                    f"{self._full_name(name)} is a test set, which nothing may be trained on; name "
                    "its -dev or -train part."
                )
        if self.questions is not None and self.questions <= self.held:
            raise BadInput(
                f"Of {self.questions} questions per set, {self.held} are used for early stopping; "
                "none are left to train on."
            )

    @property
    def set_names(self) -> tuple[str, ...]:
        """The names of the sets to learn from."""
        return tuple(filter(None, map(str.strip, self.sets.split(","))))

    @cached_property
    def test_names(self) -> tuple[str, ...]:
        """The names of the test sets.

        A set without a test set stands for itself.
        """
        if self.tests:
            return tuple(filter(None, map(str.strip, self.tests.split(","))))
        return tuple(_matching_test_set(self._full_name(name)) or name for name in self.set_names)

    def draw_questions(
        self, open_graph: Callable[[str], Any]
    ) -> tuple[list[DrawnQuestion], list[DrawnQuestion]]:
        """Return the training questions and the validation questions.

        `open_graph` opens graphs by name. Raises BadInput, StoreError.
        """
        test_questions = chain.from_iterable(self._test_questions_by_set(open_graph).values())
        # The same question may occur in several sets, so test questions are excluded by their text.
        test_texts = set(map(comparable_question, test_questions))
        train: list[DrawnQuestion] = []
        validation: list[DrawnQuestion] = []
        for set_questions in self._questions_by_set(self.set_names, open_graph).values():
            usable = [
                drawn_question
                for drawn_question in set_questions
                if drawn_question.question.answers
                and comparable_question(drawn_question) not in test_texts
            ][: self.questions]
            validation += usable[: self.held]
            train += usable[self.held :]
        if not train:
            raise BadInput(f"Nothing is left to train on in {self.sets}.")
        return train, validation

    def draw_test_questions(
        self, size: int, open_graph: Callable[[str], Any]
    ) -> list[DrawnQuestion]:
        """Return up to `size` test questions of each test set.

        The order is one of each set in turn. Raises BadInput, StoreError.
        """
        parts = [part[:size] for part in self._test_questions_by_set(open_graph).values()]
        interleaved = chain.from_iterable(zip_longest(*parts))
        return [question for question in interleaved if question is not None]

    def plan(self, methods: Sequence, size: int, open_graph: Callable[[str], Any]) -> Plan:
        """Return an evaluation plan of some methods on test questions.

        It has `size` questions of each test set. No language model answers.
        """
        parts = self._test_questions_by_set(open_graph)
        full_plan = self._plan(tuple(parts), open_graph, tuple(methods))
        return replace(
            full_plan,
            drawn=tuple(self.draw_test_questions(size, open_graph)),
            of=sum(map(len, parts.values())),
            model=False,
        )

    def _test_questions_by_set(
        self, open_graph: Callable[[str], Any]
    ) -> dict[str, list[DrawnQuestion]]:
        """Return all test questions by set.

        Of a set that is also learned from, these are its reserved fifth.
        """
        questions_by_set = self._questions_by_set(self.test_names, open_graph)
        for name in questions_by_set.keys() & {self._full_name(name) for name in self.set_names}:
            reserved_count = max(1, len(questions_by_set[name]) // TEST_SHARE_DIVISOR)
            questions_by_set[name] = questions_by_set[name][:reserved_count]
        return questions_by_set

    def _questions_by_set(
        self, names: Sequence[str], open_graph: Callable[[str], Any]
    ) -> dict[str, list[DrawnQuestion]]:
        """Return all questions of some sets in a seeded order.

        They are by the sets' full names.
        """
        questions_by_set: dict[str, list[DrawnQuestion]] = {}
        for name in names:  # one by one, because questions of different sets may share an id
            for question in self._plan((name,), open_graph).drawn:
                questions_by_set.setdefault(question.set, []).append(question)
        return questions_by_set

    def _plan(
        self,
        names: Sequence[str],
        open_graph: Callable[[str], Any],
        methods: tuple[Method, ...] = (),
    ) -> Plan:
        return make_plan(
            methods or (Method("none", "", Line()),),  # a plan needs a method
            ",".join(names),
            None,  # all questions
            open_graph,
            seed=self.seed,
        )

    @staticmethod
    def _full_name(name: str) -> str:
        """Return the full name of a set, or the absolute path of a file. Raises BadInput."""
        return str(Path(name).absolute()) if Path(name).is_file() else full_set_name(name)


def comparable_question(drawn_question: DrawnQuestion) -> str:
    """Return a question's text for comparison, without case and extra spaces.

    Splits depend on it. So the text is normalized here, and not by `core.languages.spelling`, which
    may change.
    """
    return " ".join(drawn_question.question.text.lower().split())


def linked_questions(
    sample: Sequence[DrawnQuestion], engine: Any, noun: str, watch: Watch
) -> Iterator[tuple[Any, Question, tuple[int, ...]]]:
    """Yield (graph, question, seeds) of the questions whose entities are in their graph.

    The seeds are the nodes of the question's entities. `noun` says in progress messages what is
    searched for, such as “paths”.
    """
    for index, drawn_question in enumerate(sample):
        watch.check()
        watch.report(f"Finding {noun}: question {index:,} of {len(sample):,}", index / len(sample))
        graph = drawn_question.open(engine).graph
        question = drawn_question.question
        try:
            seeds = seeds_of(graph, question.text, question.entities)
        except HopscopeError:
            continue
        yield graph, question, seeds


def load_examples(
    sample: Sequence[DrawnQuestion], engine, seed: int, file: Path, key: str, watch: Watch
) -> list[TrainingExample]:
    """Return the training examples of some questions, in their order.

    They are saved in `file` with `key`, and read from it the next time if the key is the same. A
    question gives no example if its entities are not in its graph, or if no path leads to its
    answers. Raises StoreError.
    """
    try:
        record = json.loads(file.read_text("utf-8"))
        if record["key"] == key:
            return [from_plain(TrainingExample, example) for example in record["examples"]]
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not made yet, or made by another version
    examples: list[TrainingExample] = []
    for graph, question, seeds in linked_questions(sample, engine, "paths", watch):
        example = training_example(graph, question, seeds, seed, watch)
        if example:
            examples.append(example)
    saved_text = json.dumps(
        {"key": key, "examples": list(map(to_plain, examples))}, ensure_ascii=False
    )
    write_atomically(file, lambda stream: stream.write(saved_text.encode("utf-8")))
    return examples


def _matching_test_set(name: str) -> str:
    """Return the test set that matches a set to learn from.

    It is an empty text if there is none.
    """
    for ending in LEARNING_ENDINGS:
        if not name.endswith(ending):
            continue
        test_name = f"{name.removesuffix(ending)}-test"
        if any(test_name in dataset.sets for dataset in datasets().values()):
            return test_name
    return ""

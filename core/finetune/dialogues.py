"""What a language model learns from: the prompts that choosers and planners show it, with the right replies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.finetune.data import Example
from core.models.base import Messages, Task
from core.models.llm_chooser import prompt
from core.operators.retrieve import plans

PLAN = "plan"
# the units that v1's No. 20, 14 and 7 choose, and the plans of Reasoning on Graphs
TASKS = ("path", "triple", "relation", PLAN)
PLANS, PLAN_HOPS = 3, 3  # as the instances with plans ask for them


@dataclass(frozen=True)
class Dialogue:
    """A prompt and the reply to learn; `right` are the numbers of the list that are right, none for a plan."""

    task: str
    messages: Messages
    reply: str
    right: frozenset[int] = frozenset()
    shown: int = 0


def dialogues(
    examples: Sequence[Example], shown: int, seed: int, tasks: Sequence[str] = TASKS
) -> list[Dialogue]:
    """A dialogue for each example and task, in the examples' order, with lists of at most `shown` candidates."""
    rng = np.random.default_rng(seed)
    return [
        plan(one, rng) if task == PLAN else choice(one, task, shown, rng)
        for one in examples
        for task in tasks
    ]


def choice(example: Example, unit: str, shown: int, rng: np.random.Generator) -> Dialogue:
    """A numbered list in an order drawn by lot, at most half of it right; the reply names the right numbers, nearest first.

    The prompt is the one with which language models choose (`core.models.llm_chooser`), so that training and use agree.
    """
    part = example.part(unit)
    good = part.positives[: max(1, shown // 2)]
    texts = [*good, *part.negatives[: shown - len(good)]]
    listed = [texts[int(i)] for i in rng.permutation(len(texts))]
    numbers = [listed.index(text) + 1 for text in good]
    messages = prompt(Task(example.question, unit), listed, len(listed))
    return Dialogue(
        unit, messages, json.dumps({"choices": numbers}), frozenset(numbers), len(listed)
    )


def plan(example: Example, rng: np.random.Generator) -> Dialogue:
    """The relations in an order drawn by lot; the reply names the chain that leads to the answers."""
    part = example.part("relation")
    known = [*part.positives, *part.negatives]
    listed = [known[int(i)] for i in rng.permutation(len(known))]
    asked = plans.prompt(example.question, example.entities, listed, PLANS, PLAN_HOPS)
    return Dialogue(PLAN, asked, json.dumps({"plans": [list(example.plan)]}))

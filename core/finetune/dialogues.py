"""Training dialogues of a language model: prompts of choosers and planners with right replies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from core.finetune.training_examples import TrainingExample
from core.models.base import Messages, Task
from core.models.llm_chooser import choosing_messages
from core.operators.retrieve import plans

PLAN_TASK = "plan"
# Choices by unit, as in No. 20, 14 and 7 of LEGO-GraphRAG v1, and plans, as in Reasoning on Graphs.
DIALOGUE_TASKS = ("path", "triple", "relation", PLAN_TASK)
# As in the methods with plans.
PLAN_COUNT = 3
MAX_PLAN_HOPS = 3


@dataclass(frozen=True)
class Dialogue:
    """A prompt and the reply to learn.

    `right` are the right numbers of the list of candidates, and `shown` is its length. A plan has
    no such list.
    """

    task: str
    messages: Messages
    reply: str
    right: frozenset[int] = frozenset()
    shown: int = 0


def training_dialogues(
    examples: Sequence[TrainingExample],
    limit: int,
    seed: int,
    tasks: Sequence[str] = DIALOGUE_TASKS,
) -> list[Dialogue]:
    """Return a dialogue for each example and task, in the examples' order.

    Lists have at most `limit` candidates.
    """
    rng = np.random.default_rng(seed)
    dialogues = []
    for example, task in product(examples, tasks):
        if task == PLAN_TASK:
            dialogues.append(plan_dialogue(example, rng))
        else:
            dialogues.append(choice_dialogue(example, task, limit, rng))
    return dialogues


def choice_dialogue(
    example: TrainingExample, unit: str, limit: int, rng: np.random.Generator
) -> Dialogue:
    """Return a dialogue that chooses from a numbered list in random order.

    At most half of the candidates are right. The reply names their numbers, best first. The prompt
    is that of the trained model's use (`core.models.llm_chooser`).
    """
    part = example.candidates(unit)
    good = part.positives[: max(1, limit // 2)]
    texts = [*good, *part.negatives[: limit - len(good)]]
    candidates = [texts[int(i)] for i in rng.permutation(len(texts))]
    numbers = [candidates.index(text) + 1 for text in good]
    messages = choosing_messages(Task(example.question, unit), candidates, len(candidates))
    return Dialogue(
        unit, messages, json.dumps({"choices": numbers}), frozenset(numbers), len(candidates)
    )


def plan_dialogue(example: TrainingExample, rng: np.random.Generator) -> Dialogue:
    """Return a dialogue that plans a chain from a list of relations in random order.

    The reply names the chain that leads to the answers.
    """
    part = example.candidates("relation")
    all_relations = [*part.positives, *part.negatives]
    names = [all_relations[int(i)] for i in rng.permutation(len(all_relations))]
    prompt = plans.plan_prompt(example.question, example.entities, names, PLAN_COUNT, MAX_PLAN_HOPS)
    return Dialogue(PLAN_TASK, prompt, json.dumps({"plans": [list(example.plan)]}))

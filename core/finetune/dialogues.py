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
# Choices of paths, triples and relations, as in the methods No. 20, 14 and 7 of LEGO-GraphRAG v1,
# and plans of relations, as in Reasoning on Graphs.
DIALOGUE_TASKS = ("path", "triple", "relation", PLAN_TASK)
# Number and length of the plans that a prompt asks for, as in the operators that plan.
PLAN_COUNT = 3
MAX_PLAN_HOPS = 3


@dataclass(frozen=True)
class Dialogue:
    """A prompt and the reply to learn.

    For a choice, `right` are the numbers of the right candidates in the prompt, counted from 1, and
    `shown` is the number of all candidates. For a plan they are empty and 0.
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
    is the one that the trained model is later used with (`core.models.llm_chooser`).
    """
    texts = example.candidates(unit)
    right_texts = texts.positives[: max(1, limit // 2)]
    shown_texts = [*right_texts, *texts.negatives[: limit - len(right_texts)]]
    candidates = [shown_texts[int(i)] for i in rng.permutation(len(shown_texts))]
    numbers = [candidates.index(text) + 1 for text in right_texts]
    messages = choosing_messages(Task(example.question, unit), candidates, len(candidates))
    return Dialogue(
        unit, messages, json.dumps({"choices": numbers}), frozenset(numbers), len(candidates)
    )


def plan_dialogue(example: TrainingExample, rng: np.random.Generator) -> Dialogue:
    """Return a dialogue that plans a chain from a list of relations.

    The relations are in random order. The reply names the chain that leads to the answers.
    """
    relations = example.candidates("relation")
    all_relations = [*relations.positives, *relations.negatives]
    names = [all_relations[int(i)] for i in rng.permutation(len(all_relations))]
    prompt = plans.plan_prompt(example.question, example.entities, names, PLAN_COUNT, MAX_PLAN_HOPS)
    return Dialogue(PLAN_TASK, prompt, json.dumps({"plans": [list(example.plan)]}))

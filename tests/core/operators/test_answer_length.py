"""Length of requested answers: short for factual questions, long for abstract ones."""

from __future__ import annotations

import re

import pytest

from core.environment import Environment
from core.methods.catalogue import catalogue
from core.models.base import ChatReply
from core.operators.base import Context
from core.prompts import load_prompts
from core.types import Path, Question, Ranking, State
from tests.core.operators.texts.kit import story
from tests.films import Written

ANSWERING = {
    repr(row.line.operators[-1]): row.line.operators[-1]
    for row in catalogue().values()
    if row.on_documents or row.id == "zero-shot"
}
SHORT = re.compile("few words|as few")
SYSTEMS = {
    prompt["system"]
    for file in ("texts", "passages", "answer", "evidence")
    for prompt in load_prompts(file).values()
}


class LengthChat:
    """A language model with a context of 8,192 tokens that records its requests."""

    context = 8192

    def __init__(self):
        self.asked = []

    def count_tokens(self, messages):
        return sum(len(message["content"].split()) for message in messages)

    def reply(self, messages, *, max_tokens, **_):
        self.asked.append((messages[0]["content"], max_tokens))
        return ChatReply("Answer: Cratchit.", 10, 2)


def last_asked(operator, question):
    """System message and maximal reply tokens of an operator's last request.

    The state has hits of every kind.
    """
    hits = {
        "nodes": Ranking("node", (0, 1)),
        "relations": Ranking("triple", (0, 1)),
        "chunks": Ranking("chunk", (0, 1)),
    }
    state = State(
        question, paths=Ranking("path", (Path((0, 1), (0,), (True,)),)), points=(), **hits
    )
    if getattr(operator, "empty", "") == "nothing":
        operator = type(operator)(**{**operator.__dict__, "empty": "ask"})
    chat = LengthChat()
    operator(state, Context(story(), Environment(Written(chat))))
    return chat.asked[-1]


@pytest.mark.parametrize("name", ANSWERING)
def test_factual_question_keeps_the_prompt(name):
    system, most = last_asked(ANSWERING[name], Question("Who is the clerk?"))
    assert system in SYSTEMS and most == 256


@pytest.mark.parametrize("name", ANSWERING)
def test_abstract_question_allows_a_long_answer(name):
    system, most = last_asked(ANSWERING[name], Question("What are the main themes?", abstract=True))
    assert not SHORT.search(system) and most == 2048  # This is a quarter of the context.
    assert "  " not in system and " ," not in system and " ." not in system and ",," not in system


def test_removed_words_are_those_of_the_prompt():
    for file in ("texts", "passages", "answer", "evidence"):
        for name, prompt in load_prompts(file).items():
            assert prompt["system"].count(prompt.get("short", "You")) >= 1, name
            assert "short" in prompt or not SHORT.search(prompt["system"]), name

"""Real models, loaded once per test run, and an empty user folder for tests that write to it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from core.io.home import models_folder
from core.models.base import ChatReply
from core.watch import NO_WATCH
from tests.real_models import TINY_MODEL

MODELS = models_folder()


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user folder; downloaded models stay available."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setenv("HOPSCOPE_MODELS", str(MODELS))
    return tmp_path


@pytest.fixture(scope="session")
def encoder():
    from core.models.registry import Registry

    return Registry().encoder("minilm")


@pytest.fixture(scope="session")
def qwen():
    """The embedded 0.5B model, with a small context to load fast."""
    path = MODELS / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    if not path.exists():
        pytest.skip(f"{path.name} is not in the models folder; make models fetches it")
    from core.models.chat.llama import LlamaChat

    chat = LlamaChat(path, "qwen-0.5b", context=1024)
    with pytest.MonkeyPatch.context() as patch:
        # Two threads that wait for each other are slower where cores are shared.
        patch.setenv("HOPSCOPE_THREADS", "1")
        chat.load()
    return chat


@pytest.fixture(scope="session")
def tiny():
    """The embedded engine with a tiny model, for what does not depend on the words of a reply."""
    from core.models.chat.llama import LlamaChat

    chat = LlamaChat(TINY_MODEL, "tiny", context=1024)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_THREADS", "1")
        chat.load()
    return chat


@pytest.fixture(scope="session")
def path_texts() -> list[str]:
    """120 distinct texts that look like verbalised paths, of many lengths."""
    draw = random.Random(7)
    names = [
        "Some Mother's Son",
        "Terry George",
        "Hotel Rwanda",
        "Don Cheadle",
        "Åke Lindman",
        "東京物語",
        "Alien",
        "Ridley Scott",
    ]
    relations = [
        "directed_by",
        "directed_by_reverse",
        "starred_actors",
        "people.person.nationality",
    ]
    texts = []
    for number in range(120):
        text = f"{draw.choice(names)} {number}"
        for _ in range(draw.randint(0, 4)):
            text += f" -> {draw.choice(relations)} -> {draw.choice(names)}"
        texts.append(text)
    return texts


class RecordedChat:
    """A chat model that returns recorded replies in turn and records its requests."""

    def __init__(self, *replies: str, context: int = 4096):
        self.replies, self.context, self.asked = list(replies), context, []

    def reply(
        self,
        messages,
        *,
        schema=None,
        max_tokens=256,
        seed=0,
        temperature=0.0,
        on_text=None,
        watch=NO_WATCH,
    ) -> ChatReply:
        self.asked.append((messages, schema, max_tokens))
        return ChatReply(self.replies.pop(0), tokens_in=10, tokens_out=5)

    def count_tokens(self, messages) -> int:
        return sum(len(m["content"].split()) for m in messages)


@pytest.fixture
def recorded():
    return RecordedChat

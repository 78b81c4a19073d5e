"""Thoughts from llama.cpp, as tags in the text or as a separate field.

The model has random weights: a grammar makes it write tags, and a chat template begins its
thought.
"""

from __future__ import annotations

import pytest

from core.models.chat.llama import LlamaChat
from core.models.chat.reply_collector import ReplyCollector

ASK = [{"role": "user", "content": "Who cooks?"}]
ANSWER = '"\\n"? [A-Z] [a-z] [a-z ]{2,8} "."'
OPENED = f'root ::= "<think>" [a-z] [a-z ]{{7,15}} "</think>" {ANSWER}'
CLOSED = f'root ::= [a-z] [a-z ]{{7,15}} "</think>" {ANSWER}'
LONG = f'root ::= [a-z] [a-z ]{{60,70}} "</think>" {ANSWER}'
TEMPLATE = """{%- for message in messages -%}
<|im_start|>{{ message.role }}
{{ message.content.split('</think>')[-1] }}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
<think>
{% endif -%}"""
PATHS = {
    "type": "object",
    "properties": {"path": {"type": "string", "enum": ["Ann cooks", "Bob cooks"]}},
    "required": ["path"],
}


@pytest.fixture
def written(monkeypatch):
    """A function `written(chat, grammar)`: the constrained reply and the streamed text."""

    def reply(chat, grammar, **how):
        monkeypatch.setattr("core.models.chat.llama.choice_grammar", lambda schema: grammar)
        monkeypatch.setattr(chat, "is_reasoning_model", False)  # afterwards it is as before
        heard: list[str] = []
        return chat.reply(ASK, on_text=heard.append, **how), "".join(heard)

    return reply


@pytest.fixture(scope="module")
def thinker(tiny):
    """A model whose chat template begins a thought."""
    import xllamacpp

    server = xllamacpp.Server

    def templated(params):
        params.chat_template = TEMPLATE
        return server(params)

    chat = LlamaChat(tiny.path, "thinker", context=512)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_THREADS", "1")
        patch.setattr(xllamacpp, "Server", templated)
        chat.load()
    yield chat
    chat.close()


def test_tags_mark_a_thought(tiny, written):
    reply, heard = written(tiny, OPENED, max_tokens=60)
    assert (
        reply.thought
        and reply.text == heard
        and reply.text.endswith(".")
        and "<" not in reply.thought + reply.text
    )
    assert reply.finish == "stop" and reply.is_usable


def test_closing_tag_alone_ends_a_thought(tiny, written, monkeypatch):
    monkeypatch.setattr(tiny, "starts_in_reasoning", False)
    reply, heard = written(tiny, CLOSED, max_tokens=61)
    assert (
        reply.thought and reply.text.endswith(".") and "<" not in reply.thought + reply.text + heard
    )
    assert tiny.starts_in_reasoning
    again, heard = written(tiny, CLOSED, max_tokens=62)
    assert (again.text, again.thought) == (reply.text, reply.thought) and heard == again.text


def test_thought_in_its_own_field(thinker, written):
    reply, heard = written(thinker, CLOSED, max_tokens=60)
    assert (
        reply.thought
        and reply.text == heard
        and reply.text.strip().endswith(".")
        and "<" not in reply.thought + reply.text
    )


def test_thought_gets_more_tokens_if_needed(thinker, written):
    reply, _ = written(thinker, LONG, max_tokens=9)
    assert (
        1 < len(reply.thought) <= 71
        and reply.text.strip()
        and reply.finish in ("stop", "length")
        and thinker.is_reasoning_model
    )


def test_choice_after_a_thought_begun_by_the_prompt(thinker):
    reply = thinker.reply(ASK, schema=PATHS, max_tokens=40)
    assert (
        reply.text in ('{"path": "Ann cooks"}', '{"path": "Bob cooks"}')
        and reply.is_usable
        and not reply.thought
    )


def test_raw_stream_is_separated_however_split(tiny):
    """The engine sends its raw pieces here, without parsing of thoughts."""
    pieces: list[str] = []
    request = {
        "messages": ASK,
        "max_tokens": 60,
        "stream": True,
        "temperature": 0,
        "grammar": OPENED,
        "reasoning_format": "none",
    }
    tiny.load().handle_chat_completions(request, lambda chunk: pieces.extend(_texts(chunk)))
    writing = ReplyCollector(60, None, None, None)
    for piece in pieces:
        writing.add(piece)
    reply, raw = writing.make_reply(1.0), "".join(pieces)
    assert len(pieces) > 4 and raw.startswith("<think>")
    thought, answer = raw.removeprefix("<think>").split("</think>")
    assert (reply.thought, reply.text) == (thought.strip(), answer.lstrip())


def _texts(chunk) -> list[str]:
    return [
        text
        for choice in chunk.get("choices") or ()
        if (text := (choice.get("delta") or {}).get("content"))
    ]

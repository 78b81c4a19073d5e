"""The answer that came along with what was retrieved, or else one from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.operators.asking import asked
from core.operators.base import Context, Recorder
from core.operators.length import longest
from core.operators.texts.answer.generate import AnswerFromTables
from core.types import State


@dataclass(frozen=True, repr=False)
class OwnAnswer(AnswerFromTables):
    """The answer that a retriever of one's own gave; without one what a language model answers to its prompt, or from its passages.

    The language model is shown the retriever's own prompt where the reply had one, unchanged, else tables as by `AnswerFromTables`.

    >>> from core.io.home import home
    >>> _ = (home() / "retrievers.toml").write_text('mine.python = "mine:retrieve"')
    >>> _ = (home() / "mine.py").write_text("retrieve = lambda request: {'documents': ['turkey'], 'answer': 'A turkey.'}")
    >>> state = retrieve("OwnDocuments(name='mine') >> OwnAnswer()", graph=story, models=says("Cratchit"))
    >>> state.answer, state.prompt
    ('A turkey.', None)
    """

    title = "own answer"

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        if state.answer is not None:
            recorder.notes.append("The answer is the retriever's own.")
            return state
        if state.prompt is None:
            return super().apply(state, ctx, recorder)
        if not ctx.answering:
            return state
        chat = ctx.models.chat(self.role)
        most = longest(state.question, self.max_tokens, chat.context)
        recorder.notes.append("The prompt is the retriever's own.")
        reply = asked(chat, state.prompt.messages, ctx, recorder, most, "answer")
        return state.replace(
            prompt=replace(state.prompt, tokens=reply.tokens_in), answer=reply.text.strip()
        )

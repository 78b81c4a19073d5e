"""Operator that returns a retriever's answer, or asks a language model.

The retriever is a user's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.operators.answer_length import answer_length
from core.operators.base import Context, Recorder
from core.operators.model_replies import request_reply
from core.operators.texts.answer.generate import AnswerFromTables
from core.types import State


@dataclass(frozen=True, repr=False)
class OwnAnswer(AnswerFromTables):
    """The answer that a person's own retriever gave, else that of a language model.

    The language model is shown the retriever's own prompt unchanged, if the reply had one.
    Otherwise it is shown its passages as tables, as in `AnswerFromTables`.

    >>> from core.io.home import home_folder
    >>> _ = (home_folder() / "retrievers.toml").write_text('mine.python = "mine:retrieve"')
    >>> code = "retrieve = lambda request: {'documents': ['turkey'], 'answer': 'A turkey.'}"
    >>> _ = (home_folder() / "mine.py").write_text(code)
    >>> line = "OwnDocuments(name='mine') >> OwnAnswer()"
    >>> state = retrieve(line, graph=story, models=says("Cratchit"))
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
        reply_tokens = answer_length(state.question, self.max_tokens, chat.context)
        recorder.notes.append("The prompt is the retriever's own.")
        reply = request_reply(chat, state.prompt.messages, ctx, recorder, reply_tokens, "answer")
        return state.replace(
            prompt=replace(state.prompt, tokens=reply.tokens_in), answer=reply.text.strip()
        )

"""DALK's reader: an answer from paths and relations that a language model first rewrites.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.models.base import Chat, Messages
from core.operators.answer_length import answer_length
from core.operators.base import Context, Operator, Recorder
from core.operators.model_replies import fit_prompt, request_reply
from core.parameters import param
from core.prompts import make_messages, one_line
from core.types import Prompt, State

NO_EVIDENCE = "(none)"


@dataclass(frozen=True, repr=False)
class AnswerFromEvidence(Operator):
    """The answer of a language model from paths between entities and relations about them.

    DALK: the model puts the paths into sentences, then the relations, then thinks about both step
    by step, and then answers. These are four calls, or fewer if there are no paths or no relations.
    The in-depth analysis' code shows the names of Python objects instead of the paths; this
    operator shows the paths.

    >>> line = "NamesInQuestion() >> LinkNames() >> KhopPaths() >> AnswerFromEvidence()"
    >>> state = retrieve(line, graph=story, question="Tim and Scrooge", models=says("Cratchit"))
    >>> # the calls are for sentences, thought and answer
    >>> state.answer, state.prompt.paths, state.trace[-1].usage.calls
    ('Cratchit', 1, 3)
    """

    stage = "generate"
    title = "answer from evidence"
    reads_any, writes = ("paths", "relations"), ("prompt", "answer")

    sentences: bool = param(
        True,
        "As sentences",
        "Evidence is put into sentences first, one call for paths and one for relations.",
    )
    think: bool = param(True, "Step by step", "The model thinks aloud before it answers, one call.")
    max_tokens: int = param(256, "Longest reply", "Of each call, in tokens.", low=1, high=8192)
    role: str = param(
        "answer", "Model", "The role or name of the chat model that answers.", chat=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        paths = ctx.graph.texts(state.paths.items) if state.paths else []
        relations = []
        if state.relations:
            relations = ctx.graph.triple_texts(np.array(state.relations.items, np.int64))
        hits = {"triple": len(relations)} if relations else {}
        abstract = state.question.abstract
        values = dict(
            question=state.question.text,
            paths=_bullet_list(paths),
            relations=_bullet_list(relations),
        )
        thought = NO_EVIDENCE
        if not ctx.answering:
            messages = make_messages("evidence", "answer", abstract, **values, thought=thought)
            return state.replace(prompt=Prompt(messages, len(paths), hits=hits))
        chat = ctx.models.chat(self.role)
        if self.sentences:
            for kind, lines in (("paths", paths), ("relations", relations)):
                if lines:
                    values[kind] = self._request_sentences(kind, lines, chat, ctx, recorder)
        if self.think:
            thought = self._request_thought(chat, values, ctx, recorder)
        ctx.watch.report("Answering from the evidence")
        reply_tokens = answer_length(state.question, self.max_tokens, chat.context)
        messages = make_messages("evidence", "answer", abstract, **values, thought=thought)
        tokens = _check_fits(chat, messages, reply_tokens)
        reply = request_reply(chat, messages, ctx, recorder, reply_tokens, "answer")
        prompt = Prompt(messages, len(paths), reply.tokens_in or tokens, hits=hits)
        return state.replace(prompt=prompt, answer=reply.text.strip())

    def _request_sentences(
        self, kind: str, lines: Sequence[str], chat: Chat, ctx: Context, recorder: Recorder
    ) -> str:
        """Return the paths or relations as sentences that the model writes.

        The model does not see the question. If its reply is empty, the lines are returned.
        """
        ctx.watch.report(f"Putting {kind} into sentences")
        messages, _, _ = fit_prompt(
            chat,
            lambda count: make_messages("evidence", "sentences", facts=_bullet_list(lines[:count])),
            len(lines),
            self.max_tokens,
        )
        text = request_reply(chat, messages, ctx, recorder, self.max_tokens).text.strip()
        if not text:
            recorder.notes.append(
                f"The model put the {kind} into no sentence; they stand as they are."
            )
        return text or _bullet_list(lines)

    def _request_thought(
        self, chat: Chat, values: dict[str, str], ctx: Context, recorder: Recorder
    ) -> str:
        ctx.watch.report("Thinking step by step")
        messages = make_messages("evidence", "think", **values)
        _check_fits(chat, messages, self.max_tokens)
        reply = request_reply(chat, messages, ctx, recorder, self.max_tokens)
        return reply.text.strip() or NO_EVIDENCE


def _bullet_list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {one_line(line)}" for line in lines) or NO_EVIDENCE


def _check_fits(chat: Chat, messages: Messages, max_tokens: int) -> int:
    """Return the number of tokens of a prompt.

    Raises BadInput if prompt and reply do not fit into the model's context.
    """
    _, _, tokens = fit_prompt(chat, lambda _: messages, 0, max_tokens)
    return tokens

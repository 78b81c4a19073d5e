"""An answer from graph evidence that a language model first rewrites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.models.base import Chat, Messages
from core.operators.answer_length import answer_length
from core.operators.base import Context, Operator, Recorder
from core.operators.model_replies import fit_prompt, request_reply
from core.parameters import param
from core.prompts import make_messages
from core.types import Prompt, State

NO_EVIDENCE = "(none)"


@dataclass(frozen=True, repr=False)
class AnswerFromEvidence(Operator):
    """The answer of a language model from paths between entities and relations about them.

    DALK: the model puts the paths into sentences, then the relations, then thinks about both step
    by step, and then answers. These are four calls, or fewer if there is nothing to put into
    sentences. The in-depth analysis' code shows the names of Python objects instead of the paths;
    here paths are shown.

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
        asked_text = dict(question=state.question.text)
        if not ctx.answering:
            evidence_texts = dict(
                paths=_bullet_list(paths), relations=_bullet_list(relations), thought=NO_EVIDENCE
            )
            return state.replace(
                prompt=Prompt(
                    make_messages(
                        "evidence",
                        "answer",
                        state.question.abstract,
                        **evidence_texts,
                        **asked_text,
                    ),
                    len(paths),
                    hits=hits,
                )
            )
        chat = ctx.models.chat(self.role)
        evidence = dict(
            paths=self._digest("paths", paths, chat, ctx, recorder),
            relations=self._digest("relations", relations, chat, ctx, recorder),
        )
        thought = (
            self._thought(chat, evidence | asked_text, ctx, recorder) if self.think else NO_EVIDENCE
        )
        ctx.watch.report("Answering from the evidence")
        reply_tokens = answer_length(state.question, self.max_tokens, chat.context)
        abstract = state.question.abstract
        prompt, tokens = _fit_whole_prompt(
            chat,
            make_messages(
                "evidence", "answer", abstract, **evidence, **asked_text, thought=thought
            ),
            reply_tokens,
        )
        reply = request_reply(chat, prompt, ctx, recorder, reply_tokens, "answer")
        shown_prompt = Prompt(tuple(prompt), len(paths), reply.tokens_in or tokens, hits=hits)
        return state.replace(prompt=shown_prompt, answer=reply.text.strip())

    def _digest(
        self, what: str, lines: Sequence[str], chat: Chat, ctx: Context, recorder: Recorder
    ) -> str:
        """Return the evidence in sentences of the model.

        The model is not told the question. The evidence is unchanged if no sentences are wanted or
        the reply is empty.
        """
        if not self.sentences or not lines:
            return _bullet_list(lines)
        ctx.watch.report(f"Putting {what} into sentences")
        prompt = lambda count: make_messages(
            "evidence", "sentences", facts=_bullet_list(lines[:count])
        )
        text = request_reply(
            chat,
            fit_prompt(chat, prompt, len(lines), self.max_tokens)[0],
            ctx,
            recorder,
            self.max_tokens,
        ).text.strip()
        if not text:
            recorder.notes.append(
                f"The model put the {what} into no sentence; they stand as they are."
            )
        return text or _bullet_list(lines)

    def _thought(self, chat: Chat, fields: dict[str, str], ctx: Context, recorder: Recorder) -> str:
        ctx.watch.report("Thinking step by step")
        prompt, _ = _fit_whole_prompt(
            chat, make_messages("evidence", "think", **fields), self.max_tokens
        )
        return (
            request_reply(chat, prompt, ctx, recorder, self.max_tokens).text.strip() or NO_EVIDENCE
        )


def _bullet_list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {' '.join(line.split())}" for line in lines) or NO_EVIDENCE


def _fit_whole_prompt(chat: Chat, prompt: Messages, max_tokens: int) -> tuple[Messages, int]:
    """Return a prompt and its tokens; raises BadInput if it does not fit."""
    messages, _, tokens = fit_prompt(chat, lambda _: prompt, 0, max_tokens)
    return messages, tokens

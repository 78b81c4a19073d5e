"""HyDE: a query vector from passages that a language model writes as answers to the question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.operators.base import Context, Operator, Recorder
from core.operators.model_replies import request_reply, skips_model_call
from core.parameters import param
from core.prompts import make_messages
from core.types import State, Usage

MAX_PASSAGE_TOKENS = 512


@dataclass(frozen=True, repr=False)
class Hypothesise(Operator):
    """The mean of the question's vector and the vectors of passages written for it.

    A language model writes passages that answer the question (HyDE, Gao et al., ACL 2023). The
    original has 8 passages of 512 tokens at temperature 0.7. The default is one passage, since the
    paper FastInsight, whose baseline this is, gives no number. The mean is scaled to a unit vector,
    which does not change the order of nodes. An empty reply adds nothing. If no language model may
    be asked, the question's own vector is used.

    >>> line = "Hypothesise() >> VectorNodes(keep=1)"
    >>> state = retrieve(line, graph=story, question="who?", models=says("A lame son"))
    >>> story.names(state.nodes.items), state.trace[0].usage.calls
    (['Tim'], 1)
    """

    stage = "convert"
    title = "passages imagined"
    plain = "imagines passages that would answer"
    writes = ("vector",)
    without_model = True

    passages: int = param(1, "Passages", "How many are written; 8 in the original.", low=1, high=32)
    temperature: float = param(
        0.7,
        "Temperature",
        "How freely they are written; 0 always gives the same one.",
        low=0,
        high=2,
    )
    model: str = param("answer", "Written by", "The language model that writes them.", chat=True)
    encoder: str = param("encoder", "Encoder", "The sentence encoder.", model=True)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        texts = [state.question.text]
        if not skips_model_call(ctx, recorder, "the question itself was encoded"):
            texts += self._request_passages(state, ctx, recorder)
        vectors = ctx.models.encoder(self.encoder).encode(texts, ctx.watch)
        recorder.usage += Usage(texts=len(vectors))
        mean = vectors.astype(np.float64).mean(axis=0)
        norm = max(float(np.linalg.norm(mean)), 1e-12)
        return state.replace(vector=(mean / norm).astype(np.float32))

    def _request_passages(self, state: State, ctx: Context, recorder: Recorder) -> list[str]:
        """Ask a language model for passages, and return those that are not empty.

        A note on each of them is recorded.
        """
        chat = ctx.models.chat(self.model)
        messages = make_messages("corpus_graphs", "hypothesis", question=state.question.text)
        passages = []
        for number in range(self.passages):
            ctx.watch.report(
                f"Writing passage {number + 1} of {self.passages}", number / self.passages
            )
            reply = request_reply(
                chat,
                messages,
                ctx,
                recorder,
                max_tokens=MAX_PASSAGE_TOKENS,
                what="passage",
                seed=ctx.seed + number,
                temperature=self.temperature,
            )
            # HyDE's code ends a reply at two blank lines, behind which a model repeats the task.
            passages.append(reply.text.split("\n\n\n")[0].strip())
        passages = list(filter(None, passages))
        if not passages:
            recorder.notes.append(
                "The language model wrote nothing; the question itself was encoded."
            )
        recorder.notes += [f"Imagined: {text}" for text in passages]
        return passages

    def words(self) -> str:
        return f"{self.passages} imagined passage{'s' * (self.passages != 1)} as a vector"

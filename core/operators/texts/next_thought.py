"""IRCoT's next query: the names in what a language model thinks after reading the chunks."""

from __future__ import annotations

from dataclasses import dataclass

from core.models.base import Messages
from core.operators.base import Context, Operator, Recorder
from core.operators.model_replies import fit_prompt, request_reply, skips_model_call
from core.operators.texts.answer.passages import NO_PASSAGES, passage_texts, retrieved_hits
from core.operators.texts.question import VOCABULARY_SOURCE, find_names
from core.parameters import param
from core.prompts import make_messages, one_line
from core.types import State

SEARCH_END_PHRASE = "the answer is:"  # a thought with this phrase ends the search; in lower case


@dataclass(frozen=True, repr=False)
class NextThought(Operator):
    """The names in the next thought of a language model that read the best chunks.

    The next search starts from these names. For HippoRAG with IRCoT, `SetAside` follows this
    operator, then the same search again, and then `Merge` by score. A thought with "the answer is:"
    ends the search: no names are returned, and the second search should find nothing, as
    `PageRankNodes` does with `without` "none". The hits of the first search then remain. If no
    language model may be asked, there is no thought and there are no names.

    >>> line, models = "SparseChunks(keep=1) >> NextThought()", says("Cratchit works for Scrooge.")
    >>> retrieve(line, graph=story, question="whose clerk is he", models=models).names
    ('Cratchit', 'Scrooge')
    """

    stage = "retrieve"
    title = "next thought"
    plain = "asks the language model for its next thought"
    reads, writes = ("chunks",), ("names",)
    without_model = True

    passages: int = param(4, "Passages read", "The best of the chunks found.", low=1, high=1000)
    by: str = param(
        VOCABULARY_SOURCE,
        "Names found by",
        "Names in the thought: “vocabulary” or a language model.",
        chat=True,
        also=(VOCABULARY_SOURCE,),
    )
    max_tokens: int = param(64, "Longest thought", "In tokens.", low=8, high=1024)
    role: str = param(
        "answer", "Model", "The role or name of the chat model that thinks.", chat=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        if skips_model_call(ctx, recorder, "there is no thought, and no second search"):
            return state.replace(names=())
        ctx.watch.report("Thinking what to look up next")
        texts = passage_texts(ctx.graph, retrieved_hits(state).head(self.passages))
        chat = ctx.models.chat(self.role)

        def make_prompt(count: int) -> Messages:
            return make_messages(
                "passages",
                "next",
                passages="\n\n".join(texts[:count]) or NO_PASSAGES,
                question=state.question.text,
            )

        messages, _, _ = fit_prompt(chat, make_prompt, len(texts), self.max_tokens)
        thought = one_line(request_reply(chat, messages, ctx, recorder, self.max_tokens).text)
        recorder.notes.append(f"Thought: {thought or '(none)'}")
        if not thought or SEARCH_END_PHRASE in thought.casefold():
            return state.replace(names=())
        return state.replace(names=find_names(thought, self.by, ctx, recorder))

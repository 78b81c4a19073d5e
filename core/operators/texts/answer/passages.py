"""Operator that answers with a language model from the texts of passages: RAPTOR, KGP, HippoRAG."""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunk_label, node_labels
from core.models.base import Messages
from core.operators.answer_length import answer_length
from core.operators.base import Context, Operator, Recorder
from core.operators.model_replies import fit_prompt, request_reply
from core.parameters import param
from core.prompts import OWN_SOURCE, make_messages, one_line, own_prompt, with_examples
from core.types import Prompt, Question, Ranking, State

# These are also the names of the prompts in core/prompts/passages.toml.
PASSAGE_PROMPT_FORMS = ("context", "numbered", "thought")
PASSAGE_FORM_HELP = (
    "context: the passages one after the other (RAPTOR); numbered: with numbers (KGP); thought: "
    "the model thinks aloud first, and what follows the last “Answer:” is the answer (HippoRAG)."
)
PASSAGE_PLACES = ("question", "passages")  # placeholders of a template
PASSAGE_TEMPLATE_HELP = (
    "A prompt of your own in the place of that one: a text with {question} and {passages} where "
    "they belong. What comes before a line --- is the system message."
)
NO_PASSAGES = "(nothing was found)"


@dataclass(frozen=True, repr=False)
class AnswerFromPassages(Operator):
    """The answer of a language model that is shown the retrieved chunks, best first.

    If there are no chunks, the nodes are shown. These are the readers of RAPTOR, KGP and HippoRAG,
    which get only texts. Nodes of a tree are shown as their texts. If passages do not fit into the
    model's context, the last ones are left out, and the trace says how many.

    If a reply to "thought" has no "Answer:", all of it is the answer, as in HippoRAG's code. A
    `template` is a user's own prompt with the placeholders {question} and {passages}; `form` still
    decides whether the passages are numbered and how the reply is read.

    >>> models = says("Thought: The clerk is Cratchit. Answer: Cratchit")
    >>> line = "SparseChunks(keep=2) >> AnswerFromPassages(form='thought')"
    >>> state = retrieve(line, graph=story, question="the clerk", models=models)
    >>> state.answer, dict(state.prompt.hits)
    ('Cratchit', {'chunk': 2})
    """

    stage = "generate"
    title = "answer from passages"
    reads_any, writes = ("chunks", "nodes"), ("prompt", "answer")

    form: str = param("numbered", "Prompt", PASSAGE_FORM_HELP, choices=PASSAGE_PROMPT_FORMS)
    passages: int = param(
        0,
        "Passages at most",
        "The best ones; 0: limited by the model's context only.",
        low=0,
        high=10_000,
    )
    max_tokens: int = param(256, "Longest answer", "In tokens.", low=1, high=8192)
    role: str = param(
        "answer", "Model", "The role or name of the chat model that answers.", chat=True
    )
    template: str = param("", "Own prompt", PASSAGE_TEMPLATE_HELP, lines=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.template:
            # Raises BadParameter for a template that cannot be filled.
            own_prompt(self.template, PASSAGE_PLACES)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        hits = retrieved_hits(state)
        hits = hits.head(self.passages or len(hits))
        texts = passage_texts(ctx.graph, hits)

        def messages_of_first(count: int) -> Messages:
            return self._fill_prompt(state.question, texts[:count])

        def prompt_record(messages: Messages, count: int, tokens: int | None = None) -> Prompt:
            shown_hits: dict[str, int] = {hits.kind: count} if count else {}
            source = OWN_SOURCE if self.template else ""
            return Prompt(tuple(messages), paths=0, tokens=tokens, hits=shown_hits, source=source)

        if not ctx.answering:
            prompt = prompt_record(messages_of_first(len(texts)), len(texts))
            return state.replace(prompt=prompt)
        ctx.watch.report("Waiting for the language model")
        chat = ctx.models.chat(self.role)
        reply_tokens = answer_length(state.question, self.max_tokens, chat.context)
        messages, count, tokens = fit_prompt(chat, messages_of_first, len(texts), reply_tokens)
        if count < len(texts):
            recorder.notes.append(
                f"Only {count:,} of {len(texts):,} passages fit into the model's context of "
                f"{chat.context:,} tokens."
            )
        ctx.watch.report("Reading the passages")
        reply = request_reply(chat, messages, ctx, recorder, max_tokens=reply_tokens, what="answer")
        prompt = prompt_record(messages, count, reply.tokens_in or tokens)
        return state.replace(prompt=prompt, answer=self._parse_answer(reply.text, recorder))

    def _fill_prompt(self, question: Question, texts: list[str]) -> Messages:
        passages = texts
        if self.form == "numbered":
            passages = [f"[{number}] {text}" for number, text in enumerate(texts, 1)]
        values = {"passages": "\n\n".join(passages) or NO_PASSAGES, "question": question.text}
        if self.template:
            # Without examples. The function also fills a template that has no system message.
            return with_examples("passages", own_prompt(self.template, PASSAGE_PLACES), 0, **values)
        return make_messages("passages", self.form, question.abstract, **values)

    def _parse_answer(self, text: str, recorder: Recorder) -> str:
        """Return the reply; with the form "thought", only the text after the last "Answer:"."""
        if self.form != "thought":
            return text.strip()
        thought, mark, answer = text.rpartition("Answer:")
        if not mark:
            recorder.notes.append("The reply has no “Answer:” and stands as it is.")
            return text.strip()
        reasoning = one_line(thought.strip().removeprefix("Thought:"))
        if reasoning:
            recorder.notes.append(f"Thought: {reasoning}")
        return answer.strip()


def retrieved_hits(state: State) -> Ranking:
    """Return the retrieved chunks, or else the nodes.

    The result is empty without both.
    """
    if state.chunks is not None and (len(state.chunks) or state.nodes is None):
        return state.chunks
    return state.nodes if state.nodes is not None else Ranking("chunk", (), ())


def passage_texts(graph: KnowledgeGraph, hits: Ranking) -> list[str]:
    """Return the text of each hit for a prompt. Chunks are shown with their titles."""
    if hits.kind == "chunk":
        return [chunk_label(graph, row) for row in hits.items]
    return node_labels(graph, hits.items)

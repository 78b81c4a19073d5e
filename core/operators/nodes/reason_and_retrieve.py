"""IRCoT: node retrieval that alternates with a language model's chain of thought."""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.texts import node_labels
from core.indexes.vectors import vector_index
from core.models.base import question_vectors
from core.operators.base import Context, Operator, Recorder
from core.operators.model_replies import request_reply, skips_model_call
from core.operators.texts.hits import best_hits, best_names, count_fitting_texts
from core.operators.texts.merge import score_by_position
from core.parameters import param
from core.prompts import make_messages, one_line
from core.types import Frame, Ranking, State, Usage

PASSAGE_BUDGET_TOKENS = 2400  # of the passages in a prompt
MAX_SENTENCE_TOKENS = 96
ANSWER_PHRASE = "the answer is"  # a sentence that begins so ends the search; in lower case


@dataclass(frozen=True, repr=False)
class ReasonAndRetrieve(Operator):
    """Nodes retrieved in turn with reasoning; each written sentence is the next query.

    IRCoT (Trivedi et al., ACL 2023): `steps` searches of `keep` nodes each, the first by the
    question's vector. After each search but the last, the language model writes the next sentence
    of its reasoning from the retrieved nodes. A sentence with the answer ends the search early.
    Nodes are in the order in which they were retrieved, each once. If no language model may be
    asked, only the first search runs.

    >>> line = "EmbedQuery() >> ReasonAndRetrieve(keep=1)"
    >>> state = retrieve(
    ...     line, graph=story, question="a rich man", models=says("He has a lame son.")
    ... )
    >>> story.names(state.nodes.items)
    ['Scrooge', 'Tim']
    """

    stage = "retrieve"
    title = "reasoning and retrieval in turn"
    plain = "searches {steps} times, with reasoning between"
    reads, writes = ("vector",), ("nodes",)
    without_model = True

    steps: int = param(2, "Searches", "How many searches there are at most.", low=1, high=20)
    keep: int = param(5, "Nodes a search", "How many nodes each search takes.", low=1, high=1000)
    model: str = param(
        "answer", "Reasoned by", "The language model that writes the sentences.", chat=True
    )
    encoder: str = param(
        "encoder", "Encoder", "The sentence encoder; the one that read the question.", model=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        if not ctx.graph.n_nodes:
            return state.replace(nodes=Ranking("node", (), ()))
        encoder = ctx.models.encoder(self.encoder)
        index = vector_index(ctx.graph, encoder, "nodes", ctx.watch)
        retrieved: dict[int, None] = {}
        thoughts: list[str] = []
        vector = state.vector
        for number in range(self.steps):
            assert vector is not None
            nearest_nodes = best_hits("node", *index.nearest(vector, min(len(index), self.keep)))
            retrieved |= dict.fromkeys(nearest_nodes.items)
            recorder.frames.append(
                Frame(thoughts[-1] if thoughts else "The question", nearest_nodes, len(index))
            )
            if number + 1 == self.steps or skips_model_call(
                ctx, recorder, "there is no thought, and no second search"
            ):
                break
            ctx.watch.report(f"Reasoning, step {number + 1}", number / self.steps)
            thought = self._request_thought(state, list(retrieved), thoughts, ctx, recorder)
            thoughts.append(thought)
            if not thought or thought.casefold().startswith(ANSWER_PHRASE):
                break
            vector = question_vectors(encoder, [thought], ctx.watch)[0]
            recorder.usage += Usage(texts=1)
        recorder.notes += [f"Thought: {thought}" for thought in thoughts if thought]
        nodes = score_by_position("node", retrieved)
        recorder.notes.append(f"Found: {best_names(ctx.graph, nodes)}.")
        return state.replace(nodes=nodes)

    def _request_thought(
        self, state: State, nodes: list[int], thoughts: list[str], ctx: Context, recorder: Recorder
    ) -> str:
        """Return the next sentence of reasoning, from the first nodes that fit the budget."""
        texts = node_labels(ctx.graph, nodes)
        n_shown = count_fitting_texts(texts, PASSAGE_BUDGET_TOKENS)
        messages = make_messages(
            "corpus_graphs",
            "thought",
            passages="\n\n".join(texts[:n_shown]),
            question=state.question.text,
            thoughts=" ".join(thoughts) or "-",
        )
        chat = ctx.models.chat(self.model)
        reply = request_reply(chat, messages, ctx, recorder, MAX_SENTENCE_TOKENS, "sentence")
        return one_line(reply.text)

    def words(self) -> str:
        return f"{self.steps} searches of {self.keep}, with reasoning between"

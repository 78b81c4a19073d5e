"""IRCoT: retrieval and reasoning in turn."""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.texts import node_labels
from core.indexes.vectors import vector_index
from core.models.base import question_vectors
from core.operators.asking import asked, unasked
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import best_names, ranked, tokens
from core.operators.texts.merge import placed
from core.parameters import param
from core.prompts import messages
from core.types import Frame, Ranking, State, Usage

BUDGET = 2400  # tokens of passages in a prompt
ENOUGH = "the answer is"  # beginning of a sentence that ends the search


@dataclass(frozen=True, repr=False)
class ReasonAndRetrieve(Operator):
    """Nodes retrieved in turn with reasoning; each written sentence is the next search.

    IRCoT (Trivedi et al., ACL 2023): `steps` searches of `keep` nodes each, the first by the
    question's vector. After each search but the last, the language model writes the next sentence
    of its reasoning from the retrieved nodes. It ends early with the answer. Nodes are in the order
    in which they were retrieved, each once. If no language model is asked, only the first search
    runs.

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
        found: dict[int, None] = {}
        thoughts: list[str] = []
        vector = state.vector
        for number in range(self.steps):
            assert vector is not None  # a line in which nothing writes it is refused
            part = ranked("node", *index.nearest(vector, min(len(index), self.keep)))
            found |= dict.fromkeys(part.items)
            recorder.frames.append(
                Frame(thoughts[-1] if thoughts else "The question", part, len(index))
            )
            if number + 1 == self.steps or unasked(
                ctx, recorder, "there is no thought, and no second search"
            ):
                break
            ctx.watch.report(f"Reasoning, step {number + 1}", number / self.steps)
            thoughts.append(self._thought(state, list(found), thoughts, ctx, recorder))
            if not thoughts[-1] or thoughts[-1].casefold().startswith(ENOUGH):
                break
            vector = question_vectors(encoder, [thoughts[-1]], ctx.watch)[0]
            recorder.usage += Usage(texts=1)
        recorder.notes += [f"Thought: {thought}" for thought in thoughts if thought]
        nodes = placed("node", found)
        recorder.notes.append(f"Found: {best_names(ctx.graph, nodes)}.")
        return state.replace(nodes=nodes)

    def _thought(
        self, state: State, nodes: list[int], thoughts: list[str], ctx: Context, recorder: Recorder
    ) -> str:
        """Return the next sentence of reasoning from the passages found.

        Only passages that fit into the prompt are shown.
        """
        shown, room = [], BUDGET
        for text in node_labels(ctx.graph, nodes):
            room -= tokens(text)
            if room < 0:
                break
            shown.append(text)
        prompt_messages = messages(
            "corpus_graphs",
            "thought",
            passages="\n\n".join(shown),
            question=state.question.text,
            thoughts=" ".join(thoughts) or "-",
        )
        reply = asked(ctx.models.chat(self.model), prompt_messages, ctx, recorder, 96, "sentence")
        return " ".join(reply.text.split())

    def words(self) -> str:
        return f"{self.steps} searches of {self.keep}, with reasoning between"

"""Path refinement: a language model rewrites the paths as a paragraph."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from core.indexes.path_sentences import word_paths
from core.operators.base import Context, Operator, Recorder
from core.operators.generate import bracketed_triples
from core.operators.model_replies import request_reply
from core.parameters import param
from core.prompts import make_messages
from core.types import Path, State, WrittenReport


@dataclass(frozen=True, repr=False)
class RewritePaths(Operator):
    """A paragraph with the facts of the first `paths` paths, for the prompt of the answer.

    It is stored as a report. This is the rewriting of Retrieve-Rewrite-Answer. Its fine-tuned
    rewriter is not published, so a language model is prompted instead. If none may be asked, a
    template words the paths, and a note says so. Without a path there is no paragraph.

    >>> line = "EgoNetwork() >> ShortestPaths(direction='out') >> RewritePaths(paths=1)"
    >>> retrieve(line, "A", models=says("A leads to B.")).reports
    (WrittenReport(title='Facts in words', text='A leads to B.', about=('A',), members=0),)
    """

    stage = "refine"
    title = "facts in words"
    plain = "puts the facts into words"
    reads, writes = ("seeds", "paths"), ("reports",)

    paths: int = param(5, "Paths", "So many paths are told, the best first.", low=1, high=1000)
    max_tokens: int = param(256, "Longest paragraph", "In tokens.", low=1, high=8192)
    role: str = param(
        "answer", "Model", "The role or name of the chat model that writes.", chat=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.paths is not None
        paths = state.paths.items[: self.paths]
        if not paths:
            recorder.notes.append("There is no path to tell of.")
            return state.replace(reports=())
        if ctx.answering:
            text = self._request_text(state.question.text, paths, ctx, recorder)
        else:
            text = "; ".join(word_paths(ctx.graph, paths))
            recorder.notes.append("No language model is asked: the paths are said by a template.")
        report = WrittenReport("Facts in words", text, tuple(ctx.graph.names(state.seeds)))
        return state.replace(reports=(report,))

    def _request_text(
        self, question: str, paths: tuple[Path, ...], ctx: Context, recorder: Recorder
    ) -> str:
        """Return the language model's text on the triples of the paths.

        A triple of several paths is listed once. If the reply is empty, a template words the paths.
        """
        edges = dict.fromkeys(itertools.chain.from_iterable(path.edges for path in paths))
        triples = "\n".join(bracketed_triples(ctx.graph, list(edges)))
        messages = make_messages("rewrite", "facts", question=question, triples=triples)
        ctx.watch.report("Waiting for the language model to put the facts into words")
        reply = request_reply(ctx.models.chat(self.role), messages, ctx, recorder, self.max_tokens)
        if not reply.text.strip():
            recorder.notes.append(
                "The language model wrote nothing; the paths are said by a template."
            )
        return " ".join(reply.text.split()) or "; ".join(word_paths(ctx.graph, paths))

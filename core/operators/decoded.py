"""Paths written by a language model that is constrained to the graph (GCR)."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import shorten
from core.models.chat.json_reply import json_reply
from core.operators.asking import asked
from core.operators.base import Context, Operator, Recorder
from core.parameters import param
from core.prompts import messages, plain
from core.types import Path, Ranking, State


@dataclass(frozen=True, repr=False)
class DecodedPaths(Operator):
    """`keep` of the paths, written by a language model that can write nothing else.

    The paths are written one by one. The model is shown the question and its entities, but not the
    paths. Its output is constrained to the trie of the paths' texts, so it can name only what is in
    the graph. The first `limit` paths make the trie.

    Each written path is taken out of the trie before the next one is asked for, because greedy
    decoding gives the same bytes each time. Graph-constrained Reasoning (2024) keeps 10 beams at
    once instead, with a language model trained for it and paths of at most two hops.

    A server that cannot constrain the output may reply with none of the paths. Such a reply ends
    the writing. If it is the first reply, the first `keep` paths are taken in their order. Both are
    noted.

    >>> written = says('{"path": "A -> r1 -> C"}')
    >>> answers(
    ...     "EgoNetwork() >> ShortestPaths(direction='out') >> DecodedPaths(keep=1)",
    ...     "A",
    ...     models=written,
    ... )
    ['A -> r1 -> C']
    """

    stage = "refine"
    title = "constrained decoding"
    plain = "lets the language model write {keep:,} paths that the graph has"
    reads, writes = ("paths",), ("paths",)

    keep: int = param(10, "Keep", "How many paths are written.", low=1, high=1000)
    limit: int = param(
        5000,
        "Paths in the trie",
        "The first so many of the paths found may be written.",
        low=1,
        high=100_000,
    )
    role: str = param(
        "choose", "Language model", "The role or name of the chat model that writes.", chat=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.paths is not None  # a line in which nothing writes it is refused
        first = state.paths.items[: self.limit]
        of = {
            plain(text): path for text, path in reversed(list(zip(ctx.graph.texts(first), first)))
        }
        left = dict(sorted(of.items()))
        if len(state.paths) > self.limit:
            recorder.notes.append(
                f"The trie holds the first {self.limit:,} of {len(state.paths):,} paths."
            )
        written: list[Path] = []
        while left and len(written) < self.keep:
            ctx.watch.report(
                f"Writing path {len(written) + 1} of {self.keep}", len(written) / self.keep
            )
            text, said = self._write(state, ctx, recorder, list(left))
            if text is None:
                recorder.notes.append(
                    f"The model wrote “{shorten(said)}”, which is none of the paths; no more "
                    f"were asked for."
                )
                break
            written.append(left.pop(text))
        if of and not written:
            recorder.notes.append(
                f"The first {min(self.keep, len(state.paths))} paths were taken as they came."
            )
            return state.replace(paths=Ranking("path", state.paths.items[: self.keep]))
        return state.replace(paths=Ranking("path", tuple(written)))

    def _write(
        self, state: State, ctx: Context, recorder: Recorder, texts: list[str]
    ) -> tuple[str | None, str]:
        """Return the written path and the reply; the path is None if there is no such path."""
        prompt_messages = messages(
            "relations",
            "path",
            question=plain(state.question.text),
            entities=", ".join(ctx.graph.names(state.seeds)),
        )
        path = {
            "type": "object",
            "properties": {"path": {"type": "string", "enum": texts}},
            "required": ["path"],
        }
        longest = 16 + max(len(text.encode()) for text in texts)
        schema = path | {"additionalProperties": False}
        reply = asked(
            ctx.models.chat(self.role),
            prompt_messages,
            ctx,
            recorder,
            min(512, longest),
            schema=schema,
        )
        found = json_reply(reply.text, ("path",))
        said = reply.text if found is None else found.value["path"]
        path_text = plain(said) if isinstance(said, str) else ""
        return (path_text if path_text in set(texts) else None), reply.text

    def words(self) -> str:
        return f"{self.keep:,} written by a constrained language model"

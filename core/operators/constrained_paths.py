"""Paths of the graph written by a constrained language model (GCR).

The output of the model is constrained to paths of the graph.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import shorten
from core.models.chat.json_reply import json_reply
from core.operators.base import Context, Operator, Recorder
from core.operators.model_replies import request_reply
from core.parameters import param
from core.prompts import make_messages, one_line
from core.types import Path, Ranking, State

MAX_PATH_REPLY_TOKENS = 512
JSON_FRAME_TOKENS = 16  # tokens of the JSON around a path


@dataclass(frozen=True, repr=False)
class DecodedPaths(Operator):
    """`keep` paths that a language model writes by decoding constrained to the graph's paths.

    The paths are written one by one. The model is shown the question and its entities, but not the
    paths. Its output is constrained to the trie of the paths' texts, so it can name only paths of
    the graph. The first `limit` paths form the trie.

    Each written path is removed from the trie before the next request, because greedy decoding
    gives the same bytes each time. Graph-constrained Reasoning (2024) keeps 10 beams at once
    instead, with a language model trained for it and paths of at most two hops.

    A server that cannot constrain the output may reply with none of the paths. No further path is
    requested then. If it is the first reply, the first `keep` paths are returned. A note reports
    either case.

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
        "Number of candidate paths, from the first, that form the trie.",
        low=1,
        high=100_000,
    )
    role: str = param(
        "choose", "Language model", "The role or name of the chat model that writes.", chat=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.paths is not None
        first_paths = state.paths.items[: self.limit]
        path_of_text: dict[str, Path] = {}
        for text, path in zip(ctx.graph.texts(first_paths), first_paths):
            path_of_text.setdefault(one_line(text), path)  # several paths may have one text
        # Sorted, so that the schema does not depend on the order of the candidates.
        remaining = dict(sorted(path_of_text.items()))
        if len(state.paths) > self.limit:
            recorder.notes.append(
                f"The trie holds the first {self.limit:,} of {len(state.paths):,} paths."
            )
        written_paths: list[Path] = []
        while remaining and len(written_paths) < self.keep:
            ctx.watch.report(
                f"Writing path {len(written_paths) + 1} of {self.keep}",
                len(written_paths) / self.keep,
            )
            text, reply_text = self._request_path(state, ctx, recorder, list(remaining))
            if text is None:
                recorder.notes.append(
                    f"The model wrote “{shorten(reply_text)}”, which is none of the paths; no more "
                    "were asked for."
                )
                break
            written_paths.append(remaining.pop(text))
        if path_of_text and not written_paths:
            recorder.notes.append(
                f"The first {min(self.keep, len(state.paths))} paths were kept in the given order."
            )
            return state.replace(paths=Ranking("path", state.paths.items[: self.keep]))
        return state.replace(paths=Ranking("path", tuple(written_paths)))

    def _request_path(
        self, state: State, ctx: Context, recorder: Recorder, texts: list[str]
    ) -> tuple[str | None, str]:
        """Return the text of the path that the model writes, and the reply.

        The first is None if the reply is none of `texts`, the texts of the remaining paths.
        """
        prompt_messages = make_messages(
            "relations",
            "path",
            question=one_line(state.question.text),
            entities=", ".join(ctx.graph.names(state.seeds)),
        )
        schema = {
            "type": "object",
            "properties": {"path": {"type": "string", "enum": texts}},
            "required": ["path"],
            "additionalProperties": False,
        }
        # A token has at least one byte, so a path has at most as many tokens as bytes.
        max_tokens = JSON_FRAME_TOKENS + max(len(text.encode()) for text in texts)
        reply = request_reply(
            ctx.models.chat(self.role),
            prompt_messages,
            ctx,
            recorder,
            min(MAX_PATH_REPLY_TOKENS, max_tokens),
            schema=schema,
        )
        reply_fields = json_reply(reply.text, ("path",))
        reply_path = reply.text if reply_fields is None else reply_fields.value["path"]
        path_text = one_line(reply_path) if isinstance(reply_path, str) else ""
        return (path_text if path_text in texts else None), reply.text

    def words(self) -> str:
        return f"{self.keep:,} written by a constrained language model"

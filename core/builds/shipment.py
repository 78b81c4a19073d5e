"""Writing of the files that ship with a corpus.

They hold the facts, model replies and clusters of its builds. Graphs can then be built without the
language model or parser that read the chunks. `shipped_data` reads these files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.builds.base import BuildContext, BuildState
from core.builds.catalogue import GraphBuild
from core.builds.extract.extractor import Extractor
from core.builds.extract.worker_extraction import extract_in_order
from core.builds.fact_store import FACTS_FIELD, fact_key
from core.builds.facts import Facts
from core.builds.report import UNREADABLE_COUNTS
from core.builds.run import build_context
from core.builds.shipped_clusters import CLUSTERS_FIELD
from core.builds.shipped_data import (
    HEAD_FIELD,
    ModelsWithoutChat,
    RepliesNotShipped,
    ShippedBuild,
    chunks_digest,
)
from core.corpus import Corpus
from core.errors import BadInput, StoreError
from core.graph.columns import Table
from core.io.plain_data import to_plain
from core.models.base import ChatReply, Models
from core.models.chat.saved_replies import SavedReplies, write_shipped
from core.watch import NO_WATCH, Watch


@dataclass(eq=False)
class ShippedData:
    """Content of a file that ships with a corpus.

    - `builds` describes the builds by a language model.
    - `replies`, `facts` and `clusters` hold model replies, facts of chunks, and rows of clusters of
      tree layers and of communities, each by its key.
    - `chunk_digests` holds the different digests of the builds' chunks, in order; the values are
      not used.
    """

    corpus: Corpus
    builds: list[ShippedBuild] = field(default_factory=list)
    replies: dict[str, ChatReply] = field(default_factory=dict)
    facts: dict[bytes, Facts] = field(default_factory=dict)
    clusters: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    chunk_digests: dict[str, None] = field(default_factory=dict)

    def head(self) -> dict[str, Any]:
        """Return the first row of the file: digests of documents and chunks, and the builds.

        Raises BadInput if the builds cut the documents into different chunks.
        """
        if len(self.chunk_digests) != 1:
            raise BadInput(
                "These builds cut the documents in different ways; write a file for each way."
            )
        return {
            HEAD_FIELD: {
                "corpus": self.corpus.digest,
                "chunks": next(iter(self.chunk_digests)),
                "builds": list(map(to_plain, self.builds)),
            }
        }

    def fact_rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield a row for the facts of each chunk, then those of clusters and communities."""
        for key in sorted(self.facts):
            yield {FACTS_FIELD: key.hex(), "told": self.facts[key].to_json()}
        for layer in sorted(self.clusters):
            yield self.clusters[layer]


def collect_shipment(
    corpus: Corpus,
    builds: Sequence[GraphBuild],
    models: Models,
    watch: Watch = NO_WATCH,
    saved: SavedReplies | None = None,
) -> ShippedData:
    """Collect the facts and replies of builds.

    The builds run once more for this, from saved results alone and without storing their graphs. A
    build without a language model contributes only the facts of its parser.

    Parameters
    ----------
    corpus : the corpus.
    builds : the builds.
    models : the registry of models.
    watch : receives the progress and may raise RunCancelled.
    saved : saved replies; by default the person's own.

    Returns
    -------
    The data for a file.

    Raises
    ------
    StoreError : a reply is not saved, so the build has to be finished first.
    BadInput : a build neither uses a language model nor reads its chunks.
    """
    data = ShippedData(corpus)
    for build in builds:
        has_extractor = any(isinstance(operator, Extractor) for operator in build.line)
        if not build.line.uses_chat_model and not has_extractor:
            raise BadInput(
                f"“{build.title}” asks no language model and reads no chunks, "
                "so that it has nothing to ship."
            )
        ctx = build_context(
            corpus, ModelsWithoutChat(models), watch=watch.without_reports, saved=saved
        )
        ctx.clusters.is_recording = True
        try:
            chunks = _collect_facts(build, corpus, ctx, data)
        except RepliesNotShipped:
            raise StoreError(
                f"Not all replies of “{build.title}” of {corpus.name} are kept; build it first."
            ) from None
        used_replies: dict[str, ChatReply] = {}
        for chat in ctx.used_chats.values():
            for key in chat.used_keys:
                # Unusable replies ship too, so that other computers do not ask the model again.
                reply = chat.replies.find(key, usable=False)
                if reply is not None:
                    used_replies[key] = reply
        data.replies |= used_replies
        if build.line.uses_chat_model:
            data.clusters |= {row[CLUSTERS_FIELD]: row for row in ctx.clusters.rows()}
            data.builds.append(_shipped_build(build, chunks, list(used_replies.values()), ctx))
    return data


def write_shipment(
    corpus: Corpus,
    builds: Sequence[GraphBuild],
    models: Models,
    file: Path,
    watch: Watch = NO_WATCH,
) -> tuple[ShippedBuild, ...]:
    """Write the facts and replies of builds into a file.

    Parameters
    ----------
    corpus : the corpus.
    builds : the builds.
    models : the registry of models.
    file : the file.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    The builds as the file describes them.

    Raises
    ------
    StoreError : a reply is not saved, or the file cannot be written.
    BadInput : a build neither uses a language model nor reads its chunks.
    """
    data = collect_shipment(corpus, builds, models, watch)
    try:
        write_shipped(file, data.replies.items(), [data.head()], data.fact_rows())
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror or error}.") from None
    return tuple(data.builds)


def _collect_facts(
    build: GraphBuild, corpus: Corpus, ctx: BuildContext, data: ShippedData
) -> Table:
    """Run a line without vectors, and collect the facts.

    The facts are those of its chunks. Returns the chunks. Raises RepliesNotShipped if a reply is
    missing.
    """
    state = BuildState(corpus)
    for operator in build.line.without_indexes:
        if isinstance(operator, Extractor) and state.chunks is not None:
            texts, signature = state.chunks.texts("text"), operator.signature(ctx)
            all_facts = extract_in_order(operator, texts, ctx)
            for text, facts in zip(texts, all_facts):
                data.facts[fact_key(repr(operator), signature, text)] = facts
            ctx.report.count(**{"unread": sum(facts.unreadable for facts in all_facts)})
            state = state.replace(facts=tuple(all_facts))
        else:
            state = operator.apply(state, ctx)
    assert state.chunks is not None  # a line with a language model or an extractor reads chunks
    data.chunk_digests[chunks_digest(state.chunks)] = None
    return state.chunks


def _shipped_build(
    build: GraphBuild, chunks: Table, replies: Sequence[ChatReply], ctx: BuildContext
) -> ShippedBuild:
    """Return the description of a build, with the usage of its replies."""
    return ShippedBuild(
        build=build.id,
        line=repr(build.line),
        models=tuple(dict.fromkeys(ctx.models.title(name) for name in ctx.used_chats)),
        chunks=len(chunks),
        calls=len(replies),
        tokens_in=sum(reply.tokens_in for reply in replies),
        tokens_out=sum(reply.tokens_out for reply in replies),
        seconds=round(sum(reply.seconds for reply in replies), 1),
        unreadable=sum(ctx.report.counts[name] for name in UNREADABLE_COUNTS),
    )

"""The replies that builds stand on, put into a file that ships with a corpus, so that its graphs are made again without the model."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from core.builds.base import Made
from core.builds.catalogue import Build
from core.builds.fact_store import FactStore
from core.builds.run import context
from core.corpus import Corpus
from core.errors import ModelUnavailable, StoreError
from core.models.base import Chat, Encoder, Models, NoModels, Reply
from core.models.chat.kept import KeptReplies, write_shipped

NAME = "replies.jsonl.gz"
"""What the file is called, in the folder of the corpus's data."""


class Unasked(NoModels):
    """The models of another, of which no language model is asked."""

    def __init__(self, models: Models):
        self._models = models

    def encoder(self, name: str = "encoder") -> Encoder:
        return self._models.encoder(name)

    def chat(self, role: str = "answer") -> Chat:
        raise ModelUnavailable("No language model is asked here.")

    def signature(self, name: str | None = None) -> str:
        return self._models.signature(name)

    def weights(self, name: str) -> str:
        return self._models.weights(name)


def replies_of(
    corpus: Corpus, builds: Sequence[Build], models: Models, check: Callable[[], None] = lambda: None, kept: KeptReplies | None = None
) -> list[tuple[str, Reply]]:
    """Every reply that these builds stand on, with its key; the builds are run once more to tell which, without storing their graphs.

    Raises StoreError where one is not kept: the build is to be finished first.
    """
    used: dict[str, Reply] = {}
    for build in builds:
        ctx = context(corpus, Unasked(models), check=check, kept=kept)
        with tempfile.TemporaryDirectory(prefix="hopscope-") as folder:
            ctx = ctx.with_facts(FactStore(Path(folder) / "facts.sqlite"))
            made = Made(corpus)
            try:
                for operator in build.line:
                    made = made if operator.stage == "index" else operator.apply(made, ctx)
            except ModelUnavailable:
                raise StoreError(f"Not all replies of “{build.title}” of {corpus.name} are kept; build it first.") from None
        for chat in ctx.chats.values():
            used |= {key: reply for key in chat.used if (reply := chat.kept.find(key)) is not None}
    return sorted(used.items())


def ship(corpus: Corpus, builds: Sequence[Build], models: Models, file: Path, check: Callable[[], None] = lambda: None) -> int:
    """Write the replies that these builds stand on into a file; how many. Raises StoreError."""
    found = replies_of(corpus, builds, models, check)
    try:
        return write_shipped(file, found)
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror or error}.") from None

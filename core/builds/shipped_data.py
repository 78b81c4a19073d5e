"""Files that ship with a corpus for builds without a model.

With them, its graphs can be built without a language model. They hold the facts of chunks and the
replies of language models. `shipment` writes them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.builds.catalogue import GraphBuild, catalogue, find_build
from core.corpus import Corpus
from core.errors import BadInput, ModelUnavailable
from core.graph.columns import Table
from core.io.data_folders import data_folder
from core.io.durations import duration_text
from core.io.files import numbered_lines
from core.io.plain_data import from_plain
from core.models.base import Chat, Encoder, Models, NoModels
from core.types import Usage

REPLIES_FILE = "replies.jsonl.gz"
"""Name of the file of replies in the data folder of a corpus."""
FACTS_FILE = "facts.jsonl.gz"
"""Name of the file of facts that were extracted without a language model."""
# Key in the first row (the head) of a file of replies. The head holds the digests of documents and
# chunks, and a description of the builds.
HEAD_FIELD = "about"


@dataclass(frozen=True)
class ShippedBuild:
    """A build that ships with a corpus.

    `build` is its id, `line` its line as text, and `models` the titles of its language models.
    `chunks` is the number of chunks. `calls`, tokens and `seconds` are the usage of the models when
    the build was made; `seconds` adds up the times of all calls. `unreadable` counts replies that
    could not be read.
    """

    build: str
    line: str
    models: tuple[str, ...]
    chunks: int
    calls: int
    tokens_in: int
    tokens_out: int
    seconds: float
    unreadable: int = field(metadata={"saved": "unread"})

    @property
    def usage(self) -> Usage:
        """Use of the language models."""
        return Usage(self.calls, self.tokens_in, self.tokens_out)

    def words(self) -> str:
        """Return a sentence on the models, the time and the share of unreadable replies.

        >>> from core.builds.shipped_data import ShippedBuild
        >>> one = ShippedBuild("kg-described", "", ("Qwen",), 2, 3, 900, 100, 7200.0, 1)
        >>> one.words()  # doctest: +NORMALIZE_WHITESPACE
        'Made by Qwen of 2 chunks: 3 calls, 1,000 tokens, 2.0 hours;
         1 of its replies (33.3 %) could not be read'
        """
        effort = (
            f"{self.calls:,} calls, {self.tokens_in + self.tokens_out:,} tokens, "
            f"{duration_text(self.seconds)}"
        )
        share = self.unreadable / max(1, self.calls)
        replies = "all of its replies could be read"
        if self.unreadable:
            replies = f"{self.unreadable:,} of its replies ({100 * share:.1f} %) could not be read"
        return f"Made by {' and '.join(self.models)} of {self.chunks:,} chunks: {effort}; {replies}"


def shipped_replies(corpus: Corpus) -> list[Path]:
    """Return the files of language model replies that ship with a corpus."""
    return sorted(data_folder(corpus.name).glob("replies*.jsonl.gz"))


def shipped_facts(corpus: Corpus) -> list[Path]:
    """Return the files of facts that ship with a corpus.

    The facts were found without a language model. With them, no parser reads the chunks again.
    """
    return [file for file in (data_folder(corpus.name) / FACTS_FILE,) if file.exists()]


def shipped_builds(corpus: Corpus) -> tuple[ShippedBuild, ...]:
    """Return the builds that ship with a corpus.

    They were made of its present documents. Raises BadInput for a damaged file.
    """
    heads = (_cached_head(file, file.stat().st_mtime_ns) for file in shipped_replies(corpus))
    current_heads = (head for head in heads if head["corpus"] == corpus.digest)
    return tuple(build for head in current_heads for build in head["builds"])


def find_shipped_build(corpus: Corpus, build: GraphBuild) -> ShippedBuild | None:
    """Return the shipped build with the same line as a build.

    Parameters
    ----------
    corpus : the corpus.
    build : the build.

    Returns
    -------
    The shipped build; None if there is none for the present documents.
    """
    line = repr(build.line)
    return next((shipped for shipped in shipped_builds(corpus) if shipped.line == line), None)


def builds_of(corpus: Corpus) -> dict[str, GraphBuild]:
    """Return the builds that can be chosen for a corpus, by id.

    They are those of the catalogue, each followed by the builds that ship with other language
    models. Builds of opened indexes are included if the corpus was opened from one.
    """
    all_shipped = [find_build(shipped.build) for shipped in shipped_builds(corpus)]
    builds: dict[str, GraphBuild] = {}
    for row in catalogue().values():
        variants = [build for build in all_shipped if build.catalogue_id == row.id]
        for build in (row, *variants):
            if build.extractor != "opened" or not any(
                step.missing_requirement(corpus) for step in build.line
            ):
                builds[build.id] = build
    return builds


def chunks_digest(chunks: Table) -> str:
    """Return the sha256 of the ids and texts of chunks, in hex."""
    return sha256(json.dumps([chunks.texts("id"), chunks.texts("text")]).encode()).hexdigest()


def read_head(file: Path) -> dict[str, Any]:
    """Return the head of a file of replies: digests of `corpus` and `chunks`, and `builds`.

    It is the first row. A file without it has no builds, and empty digests that fit no corpus.
    Raises BadInput for a damaged file.
    """
    row: Any = next((json.loads(line) for _, line in numbered_lines(file)), {})
    try:
        head = row.get(HEAD_FIELD, {"corpus": "", "chunks": "", "builds": []})
        builds = [from_plain(ShippedBuild, one) for one in head["builds"]]
        return {**head, "builds": builds, "corpus": head["corpus"], "chunks": head["chunks"]}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(
            f"{file} does not begin with what it holds ({error}); write it anew."
        ) from None


@lru_cache(maxsize=32)
def _cached_head(file: Path, modified_ns: int) -> dict[str, Any]:
    """Return the head of a file. The time of its last change makes the cache forget old content."""
    return read_head(file)


class RepliesNotShipped(ModelUnavailable):
    """Error for a graph that the shipped replies do not cover.

    This happens if, for example, the parser of this computer finds other names.
    """

    def __init__(self) -> None:
        super().__init__(
            "What came with these documents does not cover this graph here; "
            "build it with its language model, or without one."
        )


class ModelsWithoutChat(NoModels):
    """Registry of models in which every use of a language model raises RepliesNotShipped."""

    def __init__(self, models: Models):
        self._models = models

    def encoder(self, name: str = "encoder") -> Encoder:
        return self._models.encoder(name)

    def chat(self, role: str = "answer") -> Chat:
        raise RepliesNotShipped

    def signature(self, name: str | None = None) -> str:
        return self._models.signature(name)

    def weights(self, name: str) -> str:
        return self._models.weights(name)

    def is_chat(self, name: str) -> bool:
        return self._models.is_chat(name)

    def title(self, name: str) -> str:
        return self._models.title(name)

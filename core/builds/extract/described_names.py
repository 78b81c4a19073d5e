"""Extraction in two steps: a parser finds the names of a chunk, a language model describes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.builds.asking import in_language, reply_to, side_by_side
from core.builds.base import BuildContext
from core.builds.extract.extracting import Extractor
from core.builds.extract.mentions import PHRASE
from core.builds.extract.noun_phrases import NounPhrases
from core.builds.facts import Entity, Facts, Relation
from core.builds.naming import folded
from core.builds.speed import measured
from core.errors import BadInput
from core.models.base import Chat, Messages
from core.models.chat.json_reply import JsonReply, json_reply
from core.models.chat.replies import estimate_tokens
from core.parameters import param
from core.prompts import messages, prompts
from core.types import Usage

FILE = "described_names"
ABOUT, LINK, KEYWORD = 90, 60, 30  # most characters of each field
REPLY = 700  # most tokens of a reply
EXPECTED = 330  # tokens of a reply, as long as no reply is saved
MANY = "group"  # Type of peoples and creeds, which are rarely the subject of a chunk.
UNREADABLE = "the reply could not be read; its names stand without descriptions"
CUT = "the reply was cut short; what had ended of it is kept"
UNUSABLE = "links of the reply are not between two of its names and were left out"
TOO_LONG = "longer than the language model reads; its names stand without descriptions"


@dataclass(frozen=True, repr=False)
class DescribedNames(Extractor):
    """Names that a parser finds in each chunk, described and linked by a language model.

    The schema of the reply holds every name once, and links may join only these names. A small
    model can therefore neither invent nor endlessly repeat names. One call per chunk serves
    knowledge graphs with relation names, descriptions and keywords alike. The paper's one-step
    extraction, in which the model also finds the names, is `LanguageModelExtraction`.

    If a reply cannot be read, its names are kept without descriptions, and the reply is counted.
    """

    title = "names by a parser, described by a language model"

    names: int = param(
        8, "Names", "At most so many names of a chunk, the most frequent first.", low=2, high=40
    )
    links: int = param(6, "Links", "At most so many relations of a chunk.", low=1, high=40)
    model: str = param("answer", "Model", "The language model that reads the chunks.", chat=True)

    def models(self) -> tuple[str, ...]:
        return (self.model,)

    def final(self, facts: Facts) -> bool:
        return not facts.unreadable and CUT not in facts.notes

    def asks(self, facts: Facts) -> bool:
        return bool(facts.entities)

    def unreadable(self, facts: Facts) -> bool:
        return bool(facts.unreadable)

    def signature(self, ctx: BuildContext) -> str:
        asked = json.dumps([prompts(FILE), self._schema(["name", "other"]), REPLY], sort_keys=True)
        return (
            f"{NounPhrases().signature(ctx)} {ctx.models.weights(self.model)} "
            f"{hashlib.sha256(asked.encode()).hexdigest()}"
        )

    def extracted(self, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
        if not texts:
            return
        named = NounPhrases().found(texts, ctx)
        bare = [number for number in range(len(texts)) if not named[number].entities]
        yield from ((number, named[number]) for number in bare)
        asked = [number for number in range(len(texts)) if named[number].entities]
        chat = ctx.chat(self.model)
        for place, facts in side_by_side(
            lambda number: self.read(chat, texts[number], named[number], ctx),
            asked,
            self.model,
            ctx,
        ):
            yield asked[place], facts

    def cost(self, texts: Sequence[str], ctx: BuildContext) -> tuple[Usage, float | None]:
        """Estimate one call for each chunk with names and without a saved reply.

        The length of replies is the mean of this model's replies so far.
        """
        calls, read, chat = 0, 0, ctx.chat(self.model)
        for text, named in zip(texts, NounPhrases().found(texts, ctx)):
            _, names, asked = self._asked(text, named)
            asked = in_language(asked, ctx)
            if names and chat.saved([asked], self._schema(names), REPLY) == [None]:
                calls += 1
                read += estimate_tokens(asked)
        known = ctx.replies.measured(ctx.models.weights(self.model))
        usage = Usage(calls, read, round(calls * (known[2] if known else EXPECTED)))
        return usage, measured(ctx, self.model, usage)

    def read(self, chat: Chat, text: str, named: Facts, ctx: BuildContext) -> Facts:
        """Return the facts of a chunk whose names are known.

        Raises ModelUnavailable and ModelFailed.
        """
        entities, names, asked = self._asked(text, named)
        try:
            reply = reply_to(asked, chat, ctx, schema=self._schema(names), max_tokens=REPLY)
        except BadInput:
            return Facts(entities, unreadable=1, notes=(TOO_LONG,))
        parsed = _parsed(reply.text)
        if parsed is None:
            fault = "" if reply.finish in ("stop", "unreadable") else f" ({reply.fault()})"
            return Facts(entities, unreadable=1, notes=(UNREADABLE + fault,))
        about = {
            folded(name): _plain(said)
            for name, said in parsed.value["about"].items()
            if isinstance(said, str)
        }
        described = tuple(
            Entity(e.name, e.type, about.get(folded(e.name), ""), e.times) for e in entities
        )
        links, unusable = _relations(parsed.value["links"], names)
        notes = (CUT,) * (not parsed.whole or reply.finish == "length") + (UNUSABLE,) * bool(
            unusable
        )
        return Facts(described, tuple(links), dropped=unusable, notes=notes)

    def words(self) -> str:
        return f"{self.names} names by a parser, described by a language model"

    def _asked(self, text: str, named: Facts) -> tuple[tuple[Entity, ...], list[str], Messages]:
        """Return the principal entities of a chunk, their names, and the messages to the model."""
        entities = principal(named.entities, self.names)
        names = [entity.name for entity in entities]
        return (
            entities,
            names,
            messages(FILE, "described", names=json.dumps(names, ensure_ascii=False), text=text),
        )

    def _schema(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the schema of a reply about these names."""
        text = lambda most: {"type": "string", "maxLength": most}
        link = {
            "type": "array",
            "prefixItems": [
                {"enum": list(names)},
                text(LINK),
                {"enum": list(names)},
                text(KEYWORD),
            ],
        }
        about = {name: text(ABOUT) for name in names}
        lists = {
            "about": {
                "type": "object",
                "properties": about,
                "required": list(about),
                "additionalProperties": False,
            },
            "links": {
                "type": "array",
                "maxItems": self.links,
                "items": {**link, "minItems": 4, "maxItems": 4},
            },
        }
        return {
            "type": "object",
            "properties": lists,
            "required": list(lists),
            "additionalProperties": False,
        }


def principal(entities: Sequence[Entity], most: int) -> tuple[Entity, ...]:
    """Return the entities that a chunk is mainly about, at most `most`.

    Names come before phrases and peoples, and then more frequent entities first. A phrase that
    contains a name is left out.

    >>> from core.builds.extract.described_names import principal
    >>> from core.builds.facts import Entity
    >>> found = principal(
    ...     [
    ...         Entity("rap duo Ann & Bob", "concept"),
    ...         Entity("Ann", "person"),
    ...         Entity("Rome", "place", times=2),
    ...     ],
    ...     5,
    ... )
    >>> [entity.name for entity in found]
    ['Rome', 'Ann']
    """
    names = [folded(entity.name) for entity in entities if entity.type not in (PHRASE, MANY)]
    holds = lambda phrase: any(f" {name} " in f" {phrase} " for name in names)
    chosen = [
        entity for entity in entities if entity.type != PHRASE or not holds(folded(entity.name))
    ]
    return tuple(
        sorted(chosen, key=lambda entity: (entity.type in (PHRASE, MANY), -entity.times))[:most]
    )


def _parsed(text: str) -> JsonReply | None:
    """Parse a reply, with missing parts empty; None where it does not fit the schema."""
    found = json_reply(text, ("about", "links"))
    if found is None:
        return None
    lacking: dict[str, Any] = {"about": {}, "links": []}
    about, links = (
        empty if found.value.get(name) is None else found.value[name]
        for name, empty in lacking.items()
    )
    if isinstance(about, dict) and isinstance(links, list):
        return JsonReply({"about": about, "links": links}, found.whole)
    return None


def _relations(links: Sequence[Any], names: Sequence[str]) -> tuple[list[Relation], int]:
    """Return the usable links as relations, each pair once, and the number of unusable ones.

    A link of a name with itself is ignored.
    """
    found: dict[frozenset[str], Relation] = {}
    unusable = 0
    for link in links:
        if isinstance(link, list) and len(link) == 3:
            link = [*link, ""]  # the keyword is missing
        if not (
            isinstance(link, list)
            and len(link) == 4
            and all(part is None or isinstance(part, str) for part in link)
        ):
            unusable += 1
            continue
        head, said, tail, keyword = (part or "" for part in link)
        if head not in names or tail not in names:
            unusable += 1
        elif head != tail:
            text = _plain(said)
            found.setdefault(
                frozenset((head, tail)),
                Relation(head, tail, text, f"{head} {text} {tail}", _plain(keyword).lower()),
            )
    return list(found.values()), unusable


def _plain(text: str) -> str:
    return " ".join(text.split())

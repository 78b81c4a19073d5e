"""Extraction in two steps: a parser finds the names of a chunk, a language model describes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.builds.base import BuildContext
from core.builds.extract.extractor import Extractor
from core.builds.extract.mentions import PHRASE_TYPE
from core.builds.extract.noun_phrases import NounPhrases
from core.builds.facts import ChunkEntity, ChunkRelation, Facts
from core.builds.model_requests import in_language, map_in_parallel, reply_to
from core.builds.name_folding import fold_name
from core.builds.speed import estimate_model_seconds
from core.errors import BadInput
from core.models.base import Chat, Messages
from core.models.chat.json_reply import JsonReply, json_reply
from core.models.chat.token_estimates import estimate_tokens
from core.parameters import param
from core.prompts import load_prompts, make_messages
from core.types import Usage

DESCRIPTION_PROMPTS = "described_names"


@dataclass(frozen=True)
class DescriptionLimits:
    """Lengths of descriptions of names by a language model."""

    max_characters: int = 90
    max_link_characters: int = 60
    max_keyword_characters: int = 30
    max_reply_tokens: int = 700
    expected_tokens: int = 330  # of a reply, as long as no reply is saved


DESCRIPTION_LIMITS = DescriptionLimits()
GROUP_TYPE = "group"  # Type of peoples and creeds, which are rarely the subject of a chunk.
UNDESCRIBED_NAMES_NOTE = "the reply could not be read; its names stand without descriptions"
CUT_NAMES_NOTE = "the reply was cut short; what had ended of it is kept"
UNUSABLE_LINKS_NOTE = "links of the reply are not between two of its names and were left out"
LONG_CHUNK_NOTE = "longer than the language model reads; its names stand without descriptions"


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
        8, "Names", "Most names per chunk; the most frequent come first.", low=2, high=40
    )
    links: int = param(6, "Links", "Most relations per chunk.", low=1, high=40)
    model: str = param("answer", "Model", "The language model that reads the chunks.", chat=True)

    def models(self) -> tuple[str, ...]:
        return (self.model,)

    def final(self, facts: Facts) -> bool:
        return not facts.unreadable and CUT_NAMES_NOTE not in facts.notes

    def asks(self, facts: Facts) -> bool:
        return bool(facts.entities)

    def unreadable(self, facts: Facts) -> bool:
        return bool(facts.unreadable)

    def signature(self, ctx: BuildContext) -> str:
        request = json.dumps(
            [
                load_prompts(DESCRIPTION_PROMPTS),
                self._schema(["name", "other"]),
                DESCRIPTION_LIMITS.max_reply_tokens,
            ],
            sort_keys=True,
        )
        return (
            f"{NounPhrases().signature(ctx)} {ctx.models.weights(self.model)} "
            f"{hashlib.sha256(request.encode()).hexdigest()}"
        )

    def extracted(self, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
        if not texts:
            return
        name_facts = NounPhrases().found(texts, ctx)
        nameless = [number for number in range(len(texts)) if not name_facts[number].entities]
        yield from ((number, name_facts[number]) for number in nameless)
        numbers = [number for number in range(len(texts)) if name_facts[number].entities]
        chat = ctx.chat(self.model)
        for index, facts in map_in_parallel(
            lambda number: self.read(chat, texts[number], name_facts[number], ctx),
            numbers,
            self.model,
            ctx,
        ):
            yield numbers[index], facts

    def cost(self, texts: Sequence[str], ctx: BuildContext) -> tuple[Usage, float | None]:
        """Estimate one call for each chunk with names and without a saved reply.

        Parameters
        ----------
        texts : chunks without saved facts.
        ctx : the models, the replies and the settings of the build.

        Returns
        -------
        Calls and tokens, with the mean length of this model's replies so far, and seconds.
        """
        calls, tokens_read, chat = 0, 0, ctx.chat(self.model)
        for text, name_facts in zip(texts, NounPhrases().found(texts, ctx)):
            _, names, prompt = self._request(text, name_facts)
            prompt = in_language(prompt, ctx)
            if names and chat.saved(
                [prompt], self._schema(names), DESCRIPTION_LIMITS.max_reply_tokens
            ) == [None]:
                calls += 1
                tokens_read += estimate_tokens(prompt)
        measured_usage = ctx.replies.measured(ctx.models.weights(self.model))
        usage = Usage(
            calls,
            tokens_read,
            round(
                calls
                * (measured_usage[2] if measured_usage else DESCRIPTION_LIMITS.expected_tokens)
            ),
        )
        return usage, estimate_model_seconds(ctx, self.model, usage)

    def read(self, chat: Chat, text: str, name_facts: Facts, ctx: BuildContext) -> Facts:
        """Return the facts of a chunk whose names are known.

        Parameters
        ----------
        chat : the language model.
        text : the chunk.
        name_facts : the facts of a parser, with the names of the chunk.
        ctx : the report and the settings of the build.

        Returns
        -------
        The facts. Without a readable reply they are the names alone.

        Raises
        ------
        ModelUnavailable, ModelFailed : as the model raises.
        """
        entities, names, prompt = self._request(text, name_facts)
        try:
            reply = reply_to(
                prompt,
                chat,
                ctx,
                schema=self._schema(names),
                max_tokens=DESCRIPTION_LIMITS.max_reply_tokens,
            )
        except BadInput:
            return Facts(entities, unreadable=1, notes=(LONG_CHUNK_NOTE,))
        parsed = _parse_reply(reply.text)
        if parsed is None:
            fault = "" if reply.finish in ("stop", "unreadable") else f" ({reply.fault()})"
            return Facts(entities, unreadable=1, notes=(UNDESCRIBED_NAMES_NOTE + fault,))
        about = {
            fold_name(name): _tidy(said)
            for name, said in parsed.value["about"].items()
            if isinstance(said, str)
        }
        described_entities = tuple(
            ChunkEntity(e.name, e.type, about.get(fold_name(e.name), ""), e.times) for e in entities
        )
        links, unusable = _relations(parsed.value["links"], names)
        notes = (CUT_NAMES_NOTE,) * (not parsed.whole or reply.finish == "length") + (
            UNUSABLE_LINKS_NOTE,
        ) * bool(unusable)
        return Facts(described_entities, tuple(links), dropped=unusable, notes=notes)

    def words(self) -> str:
        return (
            f"up to {self.names} names per chunk, found by a parser, described by a language model"
        )

    def _request(
        self, text: str, name_facts: Facts
    ) -> tuple[tuple[ChunkEntity, ...], list[str], Messages]:
        """Return the principal entities of a chunk, their names, and the messages to the model."""
        entities = principal_entities(name_facts.entities, self.names)
        names = [entity.name for entity in entities]
        return (
            entities,
            names,
            make_messages(
                DESCRIPTION_PROMPTS,
                "described",
                names=json.dumps(names, ensure_ascii=False),
                text=text,
            ),
        )

    def _schema(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the schema of a reply about these names."""
        text = lambda most: {"type": "string", "maxLength": most}
        link = {
            "type": "array",
            "prefixItems": [
                {"enum": list(names)},
                text(DESCRIPTION_LIMITS.max_link_characters),
                {"enum": list(names)},
                text(DESCRIPTION_LIMITS.max_keyword_characters),
            ],
        }
        about = {name: text(DESCRIPTION_LIMITS.max_characters) for name in names}
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


def principal_entities(entities: Sequence[ChunkEntity], limit: int) -> tuple[ChunkEntity, ...]:
    """Return the entities that a chunk is mainly about.

    Names come before phrases and peoples, and then more frequent entities first. A phrase that
    contains a name is left out.

    Parameters
    ----------
    entities : all entities of the chunk.
    limit : largest number of entities.

    Returns
    -------
    Entities, the main one first.

    Examples
    --------
    >>> from core.builds.extract.described_names import principal_entities
    >>> from core.builds.facts import ChunkEntity
    >>> found = principal_entities(
    ...     [
    ...         ChunkEntity("rap duo Ann & Bob", "concept"),
    ...         ChunkEntity("Ann", "person"),
    ...         ChunkEntity("Rome", "place", times=2),
    ...     ],
    ...     5,
    ... )
    >>> [entity.name for entity in found]
    ['Rome', 'Ann']
    """
    names = [
        fold_name(entity.name)
        for entity in entities
        if entity.type not in (PHRASE_TYPE, GROUP_TYPE)
    ]
    holds = lambda phrase: any(f" {name} " in f" {phrase} " for name in names)
    candidates = [
        entity
        for entity in entities
        if entity.type != PHRASE_TYPE or not holds(fold_name(entity.name))
    ]
    return tuple(
        sorted(
            candidates, key=lambda entity: (entity.type in (PHRASE_TYPE, GROUP_TYPE), -entity.times)
        )[:limit]
    )


def _parse_reply(text: str) -> JsonReply | None:
    """Parse a reply, with missing parts empty; None where it does not fit the schema."""
    reply = json_reply(text, ("about", "links"))
    if reply is None:
        return None
    empty_parts: dict[str, Any] = {"about": {}, "links": []}
    about, links = (
        empty if reply.value.get(name) is None else reply.value[name]
        for name, empty in empty_parts.items()
    )
    if isinstance(about, dict) and isinstance(links, list):
        return JsonReply({"about": about, "links": links}, reply.whole)
    return None


def _relations(links: Sequence[Any], names: Sequence[str]) -> tuple[list[ChunkRelation], int]:
    """Return the usable links as relations, each pair once, and the number of unusable ones.

    A link of a name with itself is ignored.
    """
    relations: dict[frozenset[str], ChunkRelation] = {}
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
        head, label, tail, keyword = (part or "" for part in link)
        if head not in names or tail not in names:
            unusable += 1
        elif head != tail:
            text = _tidy(label)
            relations.setdefault(
                frozenset((head, tail)),
                ChunkRelation(head, tail, text, f"{head} {text} {tail}", _tidy(keyword).lower()),
            )
    return list(relations.values()), unusable


def _tidy(text: str) -> str:
    return " ".join(text.split())

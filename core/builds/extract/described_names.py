"""Extraction in two steps: a parser finds names, then a language model describes and links them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.builds.base import BuildContext, SampledOperator
from core.builds.extract.extractor import Extractor
from core.builds.extract.mentions import PHRASE_TYPE
from core.builds.extract.model_replies import object_schema, text_schema
from core.builds.extract.noun_phrases import NounPhrases
from core.builds.facts import ChunkEntity, ChunkRelation, Facts
from core.builds.model_requests import (
    in_language,
    map_in_parallel,
    mean_reply_tokens,
    reply_to,
)
from core.builds.name_folding import fold_name
from core.builds.speed import estimate_model_seconds
from core.errors import BadInput
from core.models.base import Chat, Messages
from core.models.chat.json_reply import JsonReply, json_reply
from core.models.chat.token_estimates import estimate_tokens
from core.parameters import param
from core.prompts import load_prompts, make_messages, one_line
from core.types import Usage

DESCRIPTION_PROMPTS = "described_names"


@dataclass(frozen=True)
class DescriptionLimits:
    """Longest texts in a reply that describes names, and its tokens."""

    max_characters: int = 90  # of the description of a name
    max_link_characters: int = 60  # of the label of a relation
    max_keyword_characters: int = 30
    max_reply_tokens: int = 700
    expected_tokens: int = 330  # of a reply, as long as no reply is saved


DESCRIPTION_LIMITS = DescriptionLimits()
GROUP_TYPE = "group"  # type of peoples and creeds, which are rarely the subject of a chunk
UNDESCRIBED_NAMES_NOTE = "the reply could not be read; its names stand without descriptions"
CUT_NAMES_NOTE = "the reply was cut short; what had ended of it is kept"
UNUSABLE_LINKS_NOTE = "links of the reply are not between two of its names and were left out"
LONG_CHUNK_NOTE = "longer than the language model reads; its names stand without descriptions"


@dataclass(frozen=True, repr=False)
class DescribedNames(SampledOperator, Extractor):
    """Names that a parser finds in each chunk, described and linked by a language model.

    The schema of the reply holds every name once, and links may join only these names. A small
    model can therefore neither invent nor endlessly repeat names. One call per chunk serves
    knowledge graphs with relation names, descriptions and keywords alike. The paper's one-step
    extraction, in which the model also finds the names, is `LanguageModelExtraction`.

    If a reply cannot be read, it is counted, and the names of its chunk have no descriptions or
    relations.
    """

    title = "names by a parser, described by a language model"

    names: int = param(
        8, "Names", "Most names per chunk; the most frequent come first.", low=2, high=40
    )
    links: int = param(6, "Links", "Most relations per chunk.", low=1, high=40)
    model: str = param("answer", "Model", "The language model that reads the chunks.", chat=True)

    def models(self) -> tuple[str, ...]:
        return (self.model,)

    def is_final(self, facts: Facts) -> bool:
        return not facts.unreadable and CUT_NAMES_NOTE not in facts.notes

    def has_asked_model(self, facts: Facts) -> bool:
        return bool(facts.entities)

    def is_unreadable(self, facts: Facts) -> bool:
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

    def extract_facts(self, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
        if not texts:
            return
        chunks_with_names = []
        for number, facts in enumerate(NounPhrases().find_facts(texts, ctx)):
            if facts.entities:
                chunks_with_names.append((number, facts))
            else:
                yield number, facts  # There is nothing to ask the model about.
        chat = ctx.chat(self.model)

        def read(item: tuple[int, Facts]) -> Facts:
            number, name_facts = item
            return self.read(chat, texts[number], name_facts, ctx)

        for index, facts in map_in_parallel(read, chunks_with_names, self.model, ctx):
            yield chunks_with_names[index][0], facts

    def cost(self, texts: Sequence[str], ctx: BuildContext) -> tuple[Usage, float | None]:
        """Estimate one call for each chunk with names and without a saved reply.

        Parameters
        ----------
        texts : chunks without saved facts.
        ctx : the models, the replies and the settings of the build.

        Returns
        -------
        Calls and tokens, and seconds. The length of a reply is the mean of this model's replies so
        far.
        """
        calls, tokens_read, chat = 0, 0, ctx.chat(self.model)
        for text, name_facts in zip(texts, NounPhrases().find_facts(texts, ctx)):
            _, names, prompt = self._request(text, name_facts)
            prompt = in_language(prompt, ctx)
            if names and chat.find_saved(
                [prompt],
                self._schema(names),
                DESCRIPTION_LIMITS.max_reply_tokens,
                **self.sampling,
            ) == [None]:
                calls += 1
                tokens_read += estimate_tokens(prompt)
        reply_tokens = mean_reply_tokens(self.model, DESCRIPTION_LIMITS.expected_tokens, ctx)
        usage = Usage(calls, tokens_read, round(calls * reply_tokens))
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
                **self.sampling,
            )
        except BadInput:  # the prompt is longer than the model reads
            return Facts(entities, unreadable=1, notes=(LONG_CHUNK_NOTE,))
        parsed = _parse_reply(reply.text)
        if parsed is None:
            fault = "" if reply.finish in ("stop", "unreadable") else f" ({reply.describe_fault()})"
            return Facts(entities, unreadable=1, notes=(UNDESCRIBED_NAMES_NOTE + fault,))
        descriptions = {
            fold_name(name): one_line(text)
            for name, text in parsed.value["about"].items()
            if isinstance(text, str)
        }
        described = tuple(
            replace(one, description=descriptions.get(fold_name(one.name), "")) for one in entities
        )
        relations, unusable = _relations(parsed.value["links"], names)
        notes = []
        if not parsed.is_whole or reply.finish == "length":
            notes.append(CUT_NAMES_NOTE)
        if unusable:
            notes.append(UNUSABLE_LINKS_NOTE)
        return Facts(described, tuple(relations), dropped=unusable, notes=tuple(notes))

    def words(self) -> str:
        return (
            f"up to {self.names} names per chunk, found by a parser, described by a language model"
        )

    def _request(
        self, text: str, name_facts: Facts
    ) -> tuple[tuple[ChunkEntity, ...], list[str], Messages]:
        """Return a chunk's principal entities, their names, and the messages.

        The messages are for the model.
        """
        entities = principal_entities(name_facts.entities, self.names)
        names = [entity.name for entity in entities]
        names_json = json.dumps(names, ensure_ascii=False)
        messages = make_messages(DESCRIPTION_PROMPTS, "described", names=names_json, text=text)
        return entities, names, messages

    def _schema(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the JSON schema of a reply: a description by name, and a list of links.

        A link is a list of name, label, name and keyword.
        """
        link = {
            "type": "array",
            "prefixItems": [
                {"enum": list(names)},
                text_schema(DESCRIPTION_LIMITS.max_link_characters),
                {"enum": list(names)},
                text_schema(DESCRIPTION_LIMITS.max_keyword_characters),
            ],
            "minItems": 4,
            "maxItems": 4,
        }
        about = dict.fromkeys(names, text_schema(DESCRIPTION_LIMITS.max_characters))
        links = {"type": "array", "maxItems": self.links, "items": link}
        return object_schema({"about": object_schema(about), "links": links})


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
    At most `limit` entities, the main one first.

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
    minor_types = (PHRASE_TYPE, GROUP_TYPE)
    names = [fold_name(entity.name) for entity in entities if entity.type not in minor_types]
    candidates = []
    for entity in entities:
        padded = f" {fold_name(entity.name)} "
        if entity.type != PHRASE_TYPE or not any(f" {name} " in padded for name in names):
            candidates.append(entity)
    candidates.sort(key=lambda entity: (entity.type in minor_types, -entity.times))
    return tuple(candidates[:limit])


def _parse_reply(text: str) -> JsonReply | None:
    """Parse a reply, with missing parts empty.

    The result is None if the reply does not fit the schema.
    """
    reply = json_reply(text, ("about", "links"))
    if reply is None:
        return None
    parts: dict[str, Any] = {"about": {}, "links": []}
    parts |= {name: reply.value[name] for name in parts if reply.value.get(name) is not None}
    if isinstance(parts["about"], dict) and isinstance(parts["links"], list):
        return JsonReply(parts, reply.is_whole)
    return None


def _relations(links: Sequence[Any], names: Sequence[str]) -> tuple[list[ChunkRelation], int]:
    """Return the usable links as relations, and the number of unusable links.

    Of several links between two names, the first counts. A link of a name with itself is ignored.
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
            text, keyword = one_line(label), one_line(keyword).lower()
            relation = ChunkRelation(head, tail, text, f"{head} {text} {tail}", keyword)
            relations.setdefault(frozenset((head, tail)), relation)
    return list(relations.values()), unusable

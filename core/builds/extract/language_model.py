"""Extraction of entities and relations by a language model with a JSON schema."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from core.builds.base import BuildContext, SampledOperator
from core.builds.extract.extractor import Extractor
from core.builds.extract.model_replies import EXTRACTION_SCHEMAS, ReplyLists, parse_lists
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
from core.languages import is_english
from core.models.base import Chat, ChatReply
from core.models.chat.token_estimates import estimate_tokens
from core.parameters import param
from core.prompts import load_prompts, make_messages, one_line
from core.types import Usage

NAME_WORD = re.compile(r"\w+")
EXTRACTION_PROMPTS = "extraction"
MAX_EXTRACTION_REPLY_TOKENS = 700  # a longer reply is cut, and its complete items are used
EXPECTED_EXTRACTION_TOKENS = 300  # tokens of a reply, as long as no reply is saved
UNREADABLE_REPLY_NOTE = "a reply could not be read and gave nothing"
CUT_REPLY_NOTE = "a reply was cut short; what had ended of it is kept"
UNUSABLE_ITEMS_NOTE = "entities or relations of a reply have no name and were left out"
NOT_READ_CHUNK_NOTE = "longer than the language model reads; nothing was extracted from it"
SCHEMA_CHOICES = ("kg", "tkg", "rkg")
# Prompt with the example that a model may copy, by schema.
EXAMPLE_PROMPTS = {"kg": "triples", "tkg": "tkg", "rkg": "rkg"}


@dataclass(frozen=True, repr=False)
class LanguageModelExtraction(SampledOperator, Extractor):
    """Entities and relations that a language model finds in each chunk.

    With `kg` the model is asked in two steps, for names and then for triples of these names. With
    `tkg` it is asked for entities and relations with descriptions in one step, and with `rkg` also
    for keywords. Then it is asked `gleaning` times for further entities and relations.

    A reply that is not JSON gives nothing and is counted as unreadable. Of a reply that was cut,
    the complete items are used. In both cases the model is asked again immediately, and once more
    in the next build. A name that does not occur in the chunk is dropped with its relations, and
    counted. An entity that only a relation names is added. Missing fields of an entity, other than
    its name, are empty.
    """

    title = "entities and relations by a language model"

    schema: str = param(
        "rkg",
        "Schema",
        "Triples alone, or with descriptions, or with keywords as well.",
        choices=SCHEMA_CHOICES,
    )
    gleaning: int = param(
        1, "Gleaning", "How often the model is asked what it missed.", low=0, high=5
    )
    model: str = param("answer", "Model", "The language model that reads the chunks.", chat=True)

    def models(self) -> tuple[str, ...]:
        return (self.model,)

    def is_final(self, facts: Facts) -> bool:
        """Return whether saved facts are final.

        Facts of an unreadable or cut reply are not, and neither are empty ones. Their replies are
        saved, and a later version may be able to parse them.
        """
        return (
            not facts.unreadable
            and CUT_REPLY_NOTE not in facts.notes
            and bool(facts.entities or facts.relations)
        )

    def signature(self, ctx: BuildContext) -> str:
        request = json.dumps(
            [load_prompts(EXTRACTION_PROMPTS), EXTRACTION_SCHEMAS, MAX_EXTRACTION_REPLY_TOKENS],
            sort_keys=True,
        )
        code = "" if is_english(ctx.language) else f" {ctx.language}"
        return (
            f"{ctx.models.weights(self.model)} {hashlib.sha256(request.encode()).hexdigest()}{code}"
        )

    def extract_facts(self, texts: Sequence[str], ctx: BuildContext) -> Iterator[tuple[int, Facts]]:
        if texts:
            chat = ctx.chat(self.model)
            yield from map_in_parallel(
                lambda text: self.read(chat, text, ctx), texts, self.model, ctx
            )

    def cost(self, texts: Sequence[str], ctx: BuildContext) -> tuple[Usage, float | None]:
        """Estimate the calls without a saved reply, with the tokens of their prompts.

        Parameters
        ----------
        texts : chunks without saved facts.
        ctx : the models, the replies and the settings of the build.

        Returns
        -------
        Calls and tokens, and seconds. The length of a reply is the mean of this model's replies so
        far.
        """
        first = "names" if self.schema == "kg" else self.schema
        calls_per_text = (1 + self.gleaning) * (2 if self.schema == "kg" else 1)
        calls = tokens_read = 0
        for text in texts:
            prompt = in_language(make_messages(EXTRACTION_PROMPTS, first, text=text), ctx)
            if ctx.chat(self.model).find_saved(
                [prompt], EXTRACTION_SCHEMAS[first], MAX_EXTRACTION_REPLY_TOKENS, **self.sampling
            ) == [None]:
                calls += calls_per_text
                tokens_read += calls_per_text * estimate_tokens(prompt)
        reply_tokens = mean_reply_tokens(self.model, EXPECTED_EXTRACTION_TOKENS, ctx)
        usage = Usage(calls, tokens_read, round(calls * reply_tokens))
        return usage, estimate_model_seconds(ctx, self.model, usage)

    def read(self, chat: Chat, text: str, ctx: BuildContext) -> Facts:
        """Return the facts of one chunk.

        Parameters
        ----------
        chat : the language model.
        text : the chunk.
        ctx : the report and the settings of the build.

        Returns
        -------
        The facts, with the number of unreadable replies.

        Raises
        ------
        ModelUnavailable, ModelFailed : as the model raises.
        """
        facts = ReplyFacts(
            NameSearch(text),
            load_prompts(EXTRACTION_PROMPTS)[EXAMPLE_PROMPTS[self.schema]]["system"],
        )
        try:
            if self.schema == "kg":
                self._ask_in_two_steps(chat, text, facts, ctx)
            else:
                for lists in self._ask(chat, self.schema, facts, ctx, text=text):
                    facts.add_entities(lists["entities"])
                    facts.add_relations(lists["relations"])
        except BadInput:  # the prompt is longer than the model reads
            return Facts(unreadable=1, notes=(NOT_READ_CHUNK_NOTE,))
        return facts.to_facts()

    def words(self) -> str:
        return f"{self.schema.upper()} by a language model"

    def _ask_in_two_steps(
        self, chat: Chat, text: str, facts: ReplyFacts, ctx: BuildContext
    ) -> None:
        """Ask for names, then for triples of these names, and add both to `facts`."""
        for lists in self._ask(chat, "names", facts, ctx, text=text):
            facts.add_entities(
                [{"name": name, "type": "", "description": ""} for name in lists["names"]]
            )
        names = [entity.name for entity in facts.entity_of_name.values()]
        if not names:
            return
        for lists in self._ask(chat, "triples", facts, ctx, names=", ".join(names), text=text):
            rows = [
                {"source": one["subject"], "target": one["object"], "name": one["relation"]}
                for one in lists["triples"]
            ]
            facts.add_relations(rows)

    def _ask(
        self, chat: Chat, prompt: str, facts: ReplyFacts, ctx: BuildContext, **values: str
    ) -> Iterator[dict[str, list[Any]]]:
        """Yield the lists of the first reply, then of the further ones.

        Further replies have further items. Ends early if a reply is unreadable or has no items.
        `values` fill the gaps of the prompt.
        """
        conversation = list(make_messages(EXTRACTION_PROMPTS, prompt, **values))
        for _ in range(1 + self.gleaning):
            reply = reply_to(
                conversation,
                chat,
                ctx,
                schema=EXTRACTION_SCHEMAS[prompt],
                max_tokens=MAX_EXTRACTION_REPLY_TOKENS,
                **self.sampling,
            )
            parsed = parse_lists(reply.text, EXTRACTION_SCHEMAS[prompt])
            facts.count_reply(reply, parsed)
            if parsed is None:
                return
            yield parsed.lists
            if not any(parsed.lists.values()):
                return
            conversation += [
                {"role": "assistant", "content": reply.text},
                {"role": "user", "content": load_prompts(EXTRACTION_PROMPTS)["more"]["user"]},
            ]


@dataclass
class ReplyFacts:
    """Entities and relations of the replies for one chunk.

    Only names that occur in the chunk count.
    """

    occurs: NameSearch
    instruction: str  # the prompt with an example, which small models copy
    entity_of_name: dict[str, ChunkEntity] = field(default_factory=dict)  # by folded name
    # By folded names of head, tail and relation.
    relation_of_names: dict[tuple[str, str, str], ChunkRelation] = field(default_factory=dict)
    n_unreadable: int = 0  # replies
    n_cut: int = 0  # replies
    n_dropped: int = 0  # items with a name that does not occur in the chunk
    n_unusable: int = 0  # items without a name
    fault: str = ""  # reason why a reply could not be read, if it is known

    def count_reply(self, reply: ChatReply, lists: ReplyLists | None) -> None:
        """Count a reply that is unreadable or cut, or that holds unusable items.

        Parameters
        ----------
        reply : the reply.
        lists : its lists; None if it is unreadable.
        """
        if lists is None:
            self.n_unreadable += 1
            self.fault = "" if reply.finish == "unreadable" else reply.describe_fault()
            return
        self.n_cut += not lists.is_whole or reply.finish == "length"
        self.n_unusable += lists.unusable

    def add_entities(self, rows: Sequence[dict[str, str]]) -> None:
        """Add entities, given by name, type and description; the first of a name counts."""
        for row in rows:
            description = self._without_example(row["description"])
            self._add(row["name"], one_line(row["type"]).lower(), description)

    def add_relations(self, rows: Sequence[dict[str, str]]) -> None:
        """Add relations; of several with the same ends and name, the first counts.

        A relation of an entity with itself is ignored. Rows have the keys “source” and “target”,
        and may have “name”, “description” and “keywords”.
        """
        for row in rows:
            head, tail = self._add(row["source"]), self._add(row["target"])
            if not (head and tail):
                self.n_dropped += 1
            elif head != tail:
                name = one_line(row.get("name", ""))
                relation = ChunkRelation(
                    self.entity_of_name[head].name,
                    self.entity_of_name[tail].name,
                    name,
                    self._without_example(row.get("description", "")),
                    one_line(row.get("keywords", "")).lower(),
                )
                self.relation_of_names.setdefault((head, tail, fold_name(name)), relation)

    def to_facts(self) -> Facts:
        """Return the results as facts, with notes on unreadable and unusable parts."""
        notes = []
        if self.n_unreadable:
            reason = f" ({self.fault.rstrip('.')})" if self.fault else ""
            notes.append(f"{UNREADABLE_REPLY_NOTE}{reason}")
        if self.n_cut:
            notes.append(CUT_REPLY_NOTE)
        if self.n_unusable:
            notes.append(UNUSABLE_ITEMS_NOTE)
        return Facts(
            tuple(self.entity_of_name.values()),
            tuple(self.relation_of_names.values()),
            self.n_unreadable,
            self.n_dropped + self.n_unusable,
            tuple(notes),
        )

    def _without_example(self, description: str) -> str:
        """Return a description on one line.

        Empty if it is copied from the example of the prompt.
        """
        text = one_line(description)
        return "" if text in self.instruction else text

    def _add(self, name: str, type: str = "", description: str = "") -> str:
        """Add an entity and return its folded name.

        Only an entity that occurs in the chunk is added, else the result is empty.
        """
        key = fold_name(name)
        if not self.occurs(name):
            self.n_dropped += 1
            return ""
        self.entity_of_name.setdefault(key, ChunkEntity(one_line(name), type, description))
        return key


class NameSearch:
    """Search for names in one text, called with a name.

    A name is found if it occurs as written, or if all of its words occur anywhere in the text. Case
    and white space are ignored.

    >>> from core.builds.extract.language_model import NameSearch
    >>> occurs = NameSearch("Lincoln, Abraham, was  born in Kentucky.")
    >>> occurs("Abraham Lincoln"), occurs("kentucky"), occurs("Marie Curie"), occurs(" ")
    (True, True, False, False)
    """

    def __init__(self, text: str):
        self._text = fold_name(text)

    def __call__(self, name: str) -> bool:
        key = fold_name(name)
        if key in self._text:
            return NAME_WORD.search(key) is not None
        words = NAME_WORD.findall(key)
        return bool(words) and self._words.issuperset(words)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(NAME_WORD.findall(self._text))

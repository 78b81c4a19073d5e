"""Conversions of a question: its vector, the names in it, and its keywords."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.graph.names.language import language_code
from core.graph.names.lookup import name_lookup
from core.graph.names.mentions import COMMON_QUESTION_WORDS
from core.graph.texts import has_chunk_nodes
from core.languages.spelling import fold
from core.languages.terms import content_words, search_terms
from core.models.base import question_vectors
from core.models.chat.json_reply import json_reply
from core.operators.base import Context, Operator, Recorder
from core.operators.model_replies import request_reply, skips_model_call
from core.parameters import param
from core.prompts import make_messages
from core.types import Keywords, State, Usage

VOCABULARY_SOURCE, WORDS_SOURCE = "vocabulary", "words"
MAX_NAMES = 20  # names or keywords that are read
MAX_KEYWORDS_NOTED = 5  # keywords of a level that are named in a note
QUERY_TEXTS = ("question", "low keywords", "high keywords")
WITHOUT_HELP = (
    "question: where there are no such keywords the question itself is read; nothing: then "
    "nothing is searched by them."
)
NAMES_SCHEMA = {
    "type": "array",
    "maxItems": MAX_NAMES,
    "items": {"type": "string", "maxLength": 80},
}
KEYWORDS_UNREADABLE_NOTE = (
    "The language model's reply could not be read; the graph's own vocabulary was asked instead."
)


@dataclass(frozen=True, repr=False)
class EmbedQuery(Operator):
    """The vector of the question, or of its low or high keywords.

    Keywords are joined by commas. In-depth analysis, question conversion "vector". If there are no
    such keywords, the question is encoded instead. With `without` "nothing" a search by this vector
    finds nothing then; LightRAG leaves such a search out.

    >>> state = retrieve("EmbedQuery()", graph=story, question="who is Tim", models=scores({}))
    >>> float((state.vector**2).sum().round(3))
    1.0
    """

    stage = "convert"
    title = "question as a vector"
    plain = ""
    writes = ("vector",)

    text: str = param(
        "question",
        "Text",
        "What is encoded: the question, or its keywords of one level.",
        choices=QUERY_TEXTS,
    )
    without: str = param(
        "question", "Without keywords", WITHOUT_HELP, choices=("question", "nothing")
    )
    encoder: str = param("encoder", "Encoder", "The sentence encoder.", model=True)

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return () if self.text == QUERY_TEXTS[0] else ("keywords",)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ctx.watch.report("Encoding the question")
        keywords = (
            ()
            if self.text == QUERY_TEXTS[0] or state.keywords is None
            else getattr(state.keywords, self.text.split()[0])
        )
        if self.text != QUERY_TEXTS[0] and not keywords:
            instead = "the question itself was encoded"
            if self.without == "nothing":
                instead = "nothing is searched by them"
            recorder.notes.append(f"There are no {self.text}; {instead}.")
            if self.without == "nothing":
                return state.replace(vector=None)
        recorder.usage += Usage(texts=1)
        text = ", ".join(keywords) or state.question.text
        return state.replace(
            vector=question_vectors(ctx.models.encoder(self.encoder), [text], ctx.watch)[0]
        )

    def words(self) -> str:
        return "question as a vector" if self.text == QUERY_TEXTS[0] else f"{self.text} as a vector"


@dataclass(frozen=True, repr=False)
class NamesInQuestion(Operator):
    """The names of entities in the question.

    A language model or the graph's own vocabulary finds them. In-depth analysis, question
    conversion "entities": HippoRAG, DALK and ToG ask a language model. The vocabulary finds the
    names that the graph has, in the same spelling. It is also asked if a reply cannot be read, with
    a note, and if no language model may be asked.

    >>> retrieve("NamesInQuestion()", graph=story, question="Is Tim the son of Cratchit?").names
    ('Tim', 'Cratchit')
    """

    stage = "convert"
    title = "names in the question"
    plain = "finds the names in the question"
    writes = ("names",)
    without_model = True

    by: str = param(
        VOCABULARY_SOURCE,
        "Found by",
        "“vocabulary”: names that the graph has; or a language model.",
        chat=True,
        also=(VOCABULARY_SOURCE,),
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        return state.replace(names=names_in(state.question.text, self.by, ctx, recorder))

    def words(self) -> str:
        return self.title + (" by the vocabulary" if self.by == VOCABULARY_SOURCE else "")


@dataclass(frozen=True, repr=False)
class ExtractKeywords(Operator):
    """Keywords of the question: low are the things it names, high its subjects.

    LightRAG asks a language model. "words" asks none: low are the names that the graph has, high
    the other words of the question except function words. In a graph of documents, whose ids are no
    names, these words are both. Words are also taken if a reply cannot be read, with a note, and if
    no language model may be asked.

    >>> retrieve(
    ...     "ExtractKeywords()", graph=story, question="What ailment does Tim suffer?"
    ... ).keywords
    Keywords(low=('Tim',), high=('ailment', 'suffer'))
    """

    stage = "convert"
    title = "keywords"
    plain = "draws keywords from the question"
    writes = ("keywords",)
    without_model = True

    by: str = param(
        WORDS_SOURCE,
        "Found by",
        "“words”: names low, the other content words high; or a language model.",
        chat=True,
        also=(WORDS_SOURCE,),
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        text = state.question.text
        keywords = None
        if self.by != WORDS_SOURCE:
            keywords = _request_keywords(self.by, text, ctx, recorder)
        if keywords is None:
            keywords = _keywords_of_words(text, ctx)
        return state.replace(keywords=keywords)


def _request_keywords(role: str, text: str, ctx: Context, recorder: Recorder) -> Keywords | None:
    """Return the keywords that a language model names, or None if there is no readable reply."""
    keyword_lists = _request_lists(role, "keywords", ("high", "low"), text, ctx, recorder)
    if keyword_lists is None:
        return None
    level_notes = [
        f"{', '.join(keywords[:MAX_KEYWORDS_NOTED])} ({level})"
        for level, keywords in sorted(keyword_lists.items(), reverse=True)
        if keywords
    ]
    recorder.notes.append(f"Keywords by the language model: {'; '.join(level_notes) or 'none'}.")
    return Keywords(tuple(keyword_lists["low"]), tuple(keyword_lists["high"]))


def _keywords_of_words(text: str, ctx: Context) -> Keywords:
    """Return the names in a text as low keywords and its other content words as high ones."""
    low = vocabulary_names(text, ctx)
    high = tuple(dict.fromkeys(_words_beside_names(text, low, ctx)))[:MAX_NAMES]
    if has_chunk_nodes(ctx.graph):
        low = high
    return Keywords(low, high)


def _words_beside_names(text: str, names: Sequence[str], ctx: Context) -> list[str]:
    """Return the content words of a text that are no part of these names in it."""
    name_words = {word for name in names for word in search_terms(name)}
    code = language_code(ctx.graph, text)
    words = [word for word in _content_words(text, code) if word not in name_words]
    if not code:
        return words
    folded_names = [fold(name) for name in names]
    return [word for word in words if not any(word in name for name in folded_names)]


def _content_words(text: str, code: str) -> list[str]:
    """Return the folded words of a text without function words; the empty code is English."""
    if code:
        return content_words(text, code)
    words = [word for word in search_terms(text) if word not in COMMON_QUESTION_WORDS]
    return [word for word in words if len(word) > 1]


def names_in(text: str, by: str, ctx: Context, recorder: Recorder) -> tuple[str, ...]:
    """Return the names of things in a text.

    They are found by a language model of that role. The graph's vocabulary finds them if `by` says
    so, or if the reply cannot be read.
    """
    lists = (
        None
        if by == VOCABULARY_SOURCE
        else _request_lists(by, "names", ("names",), text, ctx, recorder)
    )
    return tuple(lists["names"]) if lists is not None else vocabulary_names(text, ctx)


def vocabulary_names(text: str, ctx: Context) -> tuple[str, ...]:
    """Return the names of the graph that a text mentions, in order.

    The result is empty if nodes are documents, as these are named by their ids.
    """
    if not ctx.graph.n_nodes or has_chunk_nodes(ctx.graph):
        return ()
    nodes = [mention.node for mention in name_lookup(ctx.graph).mentions(text)]
    return tuple(dict.fromkeys(ctx.graph.names(nodes)))[:MAX_NAMES]


def _request_lists(
    role: str, prompt: str, fields: tuple[str, ...], text: str, ctx: Context, recorder: Recorder
) -> dict[str, Any] | None:
    """Return the lists in a language model's reply by field, or None.

    None means that no model may be asked or that the reply cannot be read. A note says why.
    """
    if skips_model_call(
        ctx, recorder, "the question's own words were taken, those that the graph names first"
    ):
        return None
    schema = {
        "type": "object",
        "properties": dict.fromkeys(fields, NAMES_SCHEMA),
        "required": list(fields),
        "additionalProperties": False,
    }
    ctx.watch.report("Asking the language model for names and keywords")
    reply = request_reply(
        ctx.models.chat(role),
        make_messages("texts", prompt, question=text),
        ctx,
        recorder,
        256,
        schema=schema,
    )
    fields_found = json_reply(reply.text, fields)
    if fields_found is None or not any(
        isinstance(fields_found.value.get(field), list) for field in fields
    ):
        recorder.notes.append(KEYWORDS_UNREADABLE_NOTE)
        return None
    lists = {
        field: some if isinstance(some := fields_found.value.get(field), list) else []
        for field in fields
    }
    clean_lists = {
        field: [" ".join(one.split()) for one in some if isinstance(one, str) and one.strip()]
        for field, some in lists.items()
    }
    if any(lists.values()) and not any(clean_lists.values()):
        recorder.notes.append(KEYWORDS_UNREADABLE_NOTE)
        return None
    return {field: list(dict.fromkeys(some[:MAX_NAMES])) for field, some in clean_lists.items()}

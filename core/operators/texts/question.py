"""Operators that convert a question into its vector, its names or its keywords.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

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
from core.prompts import make_messages, one_line
from core.types import Keywords, State, Usage

VOCABULARY_SOURCE = "vocabulary"
WORDS_SOURCE = "words"
MAX_NAMES = 20  # names, or keywords of a level, that are used
MAX_LIST_REPLY_TOKENS = 256
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
    such keywords, the question is encoded instead. With `without` "nothing" there is no vector in
    that case, and a search by vector finds nothing. LightRAG omits such a search too.

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
        return () if self.text == "question" else ("keywords",)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ctx.watch.report("Encoding the question")
        text = state.question.text
        if self.text != "question":
            keywords = state.keywords or Keywords()
            text = ", ".join(keywords.low if self.text == "low keywords" else keywords.high)
            if not text and self.without == "nothing":
                recorder.notes.append(f"There are no {self.text}; nothing is searched by them.")
                return state.replace(vector=None)
            if not text:
                recorder.notes.append(f"There are no {self.text}; the question itself was encoded.")
                text = state.question.text
        recorder.usage += Usage(texts=1)
        (vector,) = question_vectors(ctx.models.encoder(self.encoder), [text], ctx.watch)
        return state.replace(vector=vector)

    def words(self) -> str:
        return "question as a vector" if self.text == "question" else f"{self.text} as a vector"


@dataclass(frozen=True, repr=False)
class NamesInQuestion(Operator):
    """The names of entities in the question.

    They are found by a language model, or in the graph's own vocabulary. In-depth analysis,
    question conversion "entities": HippoRAG, DALK and ToG ask a language model. The vocabulary
    consists of the names of the graph's nodes, in the same spelling. It is also used if a reply
    cannot be read, with a note, and if no language model may be asked.

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
        return state.replace(names=find_names(state.question.text, self.by, ctx, recorder))

    def words(self) -> str:
        return self.title + (" by the vocabulary" if self.by == VOCABULARY_SOURCE else "")


@dataclass(frozen=True, repr=False)
class ExtractKeywords(Operator):
    """Keywords of the question: low are the things it names, high its subjects.

    LightRAG asks a language model. "words" needs none: low keywords are the names of the graph in
    the question, high ones its other words except function words. In a graph of documents, whose
    ids are no names, the words are both low and high keywords. Words are also used if a reply
    cannot be read, with a note, and if no language model may be asked.

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
        return state.replace(keywords=keywords or _keywords_of_words(text, ctx))


def _request_keywords(role: str, text: str, ctx: Context, recorder: Recorder) -> Keywords | None:
    """Return the keywords that a language model names.

    The result is None if there is no readable reply.
    """
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
    """Return the names in a text as low keywords.

    The other content words are the high keywords. In a graph of documents the content words are the
    low keywords too.
    """
    low = vocabulary_names(text, ctx)
    high = tuple(dict.fromkeys(_words_without_names(text, low, ctx)))[:MAX_NAMES]
    return Keywords(high if has_chunk_nodes(ctx.graph) else low, high)


def _words_without_names(text: str, names: Sequence[str], ctx: Context) -> list[str]:
    """Return the content words of a text that are no part of these names."""
    code = language_code(ctx.graph, text)
    words = _content_words(text, code)
    for name in names:
        name_words = search_terms(name)
        words = [word for word in words if word not in name_words]
        if code:  # in other languages than English, a content word may be part of a name's word
            words = [word for word in words if word not in fold(name)]
    return words


def _content_words(text: str, code: str) -> list[str]:
    """Return the content words of a text in a comparable spelling, without function words.

    `code` is the code of the text's language; empty for English.
    """
    if code:
        return content_words(text, code)
    words = [word for word in search_terms(text) if word not in COMMON_QUESTION_WORDS]
    return [word for word in words if len(word) > 1]


def find_names(text: str, source: str, ctx: Context, recorder: Recorder) -> tuple[str, ...]:
    """Return the names of things in a text.

    `source` is the role of a language model, or `VOCABULARY_SOURCE` for the names of the graph's
    nodes. The vocabulary is also used if the model may not be asked or its reply cannot be read.
    """
    if source != VOCABULARY_SOURCE:
        lists = _request_lists(source, "names", ("names",), text, ctx, recorder)
        if lists is not None:
            return tuple(lists["names"])
    return vocabulary_names(text, ctx)


def vocabulary_names(text: str, ctx: Context) -> tuple[str, ...]:
    """Return the names of nodes that a text mentions.

    They are in the order of the text. The result is empty if the nodes are documents, which have
    ids instead of names.
    """
    if not ctx.graph.n_nodes or has_chunk_nodes(ctx.graph):
        return ()
    nodes = [mention.node for mention in name_lookup(ctx.graph).find_mentions(text)]
    return tuple(dict.fromkeys(ctx.graph.names(nodes)))[:MAX_NAMES]


def _request_lists(
    role: str, prompt: str, fields: tuple[str, ...], text: str, ctx: Context, recorder: Recorder
) -> dict[str, Any] | None:
    """Ask a language model for lists of texts.

    They are returned by field, each text once. `prompt` is the name of the prompt. The result is
    None if no model may be asked or the reply cannot be read. A note says why.
    """
    substitute = "the question's own words were taken, those that the graph names first"
    if skips_model_call(ctx, recorder, substitute):
        return None
    schema = {
        "type": "object",
        "properties": dict.fromkeys(fields, NAMES_SCHEMA),
        "required": list(fields),
        "additionalProperties": False,
    }
    ctx.watch.report("Asking the language model for names and keywords")
    messages = make_messages("texts", prompt, question=text)
    reply = request_reply(
        ctx.models.chat(role), messages, ctx, recorder, MAX_LIST_REPLY_TOKENS, schema=schema
    )
    parsed = json_reply(reply.text, fields)
    values = {} if parsed is None else {field: parsed.value.get(field) for field in fields}
    lists = {field: value for field, value in values.items() if isinstance(value, list)}
    texts_by_field = {}
    for field in fields:
        texts = [one_line(item) for item in lists.get(field, ()) if isinstance(item, str)]
        texts_by_field[field] = list(filter(None, texts))[:MAX_NAMES]
    # lists that hold no text at all are unreadable; empty lists are a reply
    if not lists or (any(lists.values()) and not any(texts_by_field.values())):
        recorder.notes.append(KEYWORDS_UNREADABLE_NOTE)
        return None
    return {field: list(dict.fromkeys(texts)) for field, texts in texts_by_field.items()}

"""Passages in a row of a question set: included ones and gold passages.

Gold passages are the documents or texts that the answer rests on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.questions.forms import evidence_texts
from core.questions.values import Row, UnfitRow, as_list, text_of

GOLD_KEYS = (
    "gold",
    "gold_titles",
    "gold_docs",
    "gold_documents",
    "gold_passages",
    "gold_ids",
    "gold_doc_ids",
    "gold_document_ids",
    "relevant_docs",
    "relevant_documents",
    "relevant_ids",
    "relevant_doc_ids",
    "positive_passages",
    "positive_ctxs",
    "positive_doc_ids",
    "supporting_docs",
    "supporting_documents",
    "article_ids",
    "cited_doc_ids",
    "evidence_list",
)
"""Usual keys and columns of the documents that an answer rests on.

Some belong to one data set: `article_ids` to BSARD, `cited_doc_ids` to SciFact, `evidence_list` to
MultiHop-RAG, `positive_ctxs` to DPR, and `positive_passages` to Tevatron.
"""
SUPPORTING_FACTS_KEY = "supporting_facts"
IS_SUPPORTING_KEY = "is_supporting"
PASSAGE_KEYS = (
    "context",
    "contexts",
    "paragraphs",
    "search_results",
    "docs",
    "passages",
    "article",
)
PASSAGE_TITLE_KEYS = ("title", "page_name", "name")
PASSAGE_ID_KEYS = ("id", "doc_id", "docid", "_id", "document_id", "corpus_id")
# Keys of the id of the document of which a row has the text.
ROW_DOCUMENT_ID_KEYS = ("context_id", "article_id")
PASSAGE_TEXT_KEYS = ("paragraph_text", "text", "sentences", "content", "passage", "body", "fact")
WEB_PAGE_KEYS = ("page_result", "page_snippet")
ID_SEPARATOR = ","  # separates several numeric ids in one text (BSARD)


@dataclass(frozen=True)
class Passage:
    """A passage included in a row of a question set.

    Parameters
    ----------
    title, text : empty if the row has none.
    id : id of the document; empty if the row has none.
    is_html : True if the text is HTML.
    is_only_text : True if the passage is the row's only text, which all its questions are about.
    """

    title: str
    text: str
    id: str = ""
    is_html: bool = False
    is_only_text: bool = False


def passages(row: Row) -> list[Passage]:
    """Return the passages included in a row.

    They are taken from the first of `PASSAGE_KEYS` that has any. Known forms are pairs of title and
    sentences (HotpotQA, 2WikiMultihopQA), objects (MuSiQue, HippoRAG, ALCE), web pages (CRAG), and
    a single text (UltraDomain, QuALITY). Raises UnfitRow for any other form.
    """
    for key in PASSAGE_KEYS:
        value = row.get(key)
        if isinstance(value, str) and not value.lstrip().startswith(("[", "{")):
            return _single_passage(row, value)
        candidates = [_to_passage(item, key) for item in as_list(value)]
        row_passages = [passage for passage in candidates if passage is not None]
        if row_passages:
            return row_passages
    return []


def _single_passage(row: Row, text: str) -> list[Passage]:
    """Return the only text of a row as a passage. An empty list if it is blank."""
    metadata = row.get("meta")
    title = _first_text(row, PASSAGE_TITLE_KEYS) or _first_text(
        metadata if isinstance(metadata, Mapping) else {}, PASSAGE_TITLE_KEYS
    )
    if not text.strip():
        return []
    is_html = text.lstrip().startswith("<")
    return [Passage(title, text, _first_text(row, ROW_DOCUMENT_ID_KEYS), is_html, True)]


def gold_passages_of(row: Row, keys: Sequence[str]) -> tuple[str, ...]:
    """Return the passages that the answer of a row rests on.

    Each is an id, a title, or a title, a line break and a text. The title is empty if only the text
    is known. They come from the first of these sources that has any:

    - the first of `keys` with a value: ids, titles, or objects with a title or an id, and maybe a
      text.
    - the reference contexts (RAGAS), which are texts.
    - the titles in `supporting_facts` (HotpotQA).
    - title and text of the included passages that are marked by `is_supporting` (MuSiQue).
    - the id of the row's only text.
    """
    names = _listed_passages(row, keys)
    if names:
        return names
    texts = evidence_texts(row)
    if texts:
        return tuple(dict.fromkeys(f"\n{text}" for text in texts))
    facts = as_list(row.get(SUPPORTING_FACTS_KEY))
    if facts:
        return tuple(dict.fromkeys(map(_title_of, facts)))
    marked = _marked_passages(row)
    if marked:
        supporting = [_to_passage(item, key) for item, key in marked]
        return tuple(f"{item.title}\n{item.text}" for item in supporting if item is not None)
    return tuple(passage.id for passage in passages(row) if passage.is_only_text and passage.id)


def _listed_passages(row: Row, keys: Sequence[str]) -> tuple[str, ...]:
    """Return the names of passages under the first key that has any."""
    for key in keys:
        names: dict[str, None] = {}
        for item in as_list(row.get(key)):
            names |= dict.fromkeys(_passage_names(item, key))
        if names:
            return tuple(names)
    return ()


def _marked_passages(row: Row) -> list[tuple[Mapping[str, Any], str]]:
    """Return the included passages that are marked as supporting, each with its key."""
    marked = []
    for key in PASSAGE_KEYS:
        for item in as_list(row.get(key)):
            if isinstance(item, Mapping) and item.get(IS_SUPPORTING_KEY) is True:
                marked.append((item, key))
    return marked


def _title_of(fact: Any) -> str:
    """Return the title of a supporting fact: [title, sentence number], or an object with both."""
    if isinstance(fact, Mapping) and "title" in fact:
        return text_of(fact["title"], SUPPORTING_FACTS_KEY)
    if isinstance(fact, list) and fact:
        return text_of(fact[0], SUPPORTING_FACTS_KEY)
    raise UnfitRow(
        f"“{SUPPORTING_FACTS_KEY}” should be a list of titles, each with the number of a sentence"
    )


def _passage_names(value: Any, key: str) -> list[str]:
    """Return the names of a gold passage, in the form of `gold_passages_of`.

    A text of several numbers, as in BSARD, is several ids.
    """
    if isinstance(value, Mapping):
        title = _first_text(value, PASSAGE_TITLE_KEYS)
        text = _first_text(value, PASSAGE_TEXT_KEYS)
        id = _first_text(value, PASSAGE_ID_KEYS)
        if not (title or id):
            raise UnfitRow(f"“{key}” should name documents by id or title")
        return [f"{title}\n{text}" if title and text else title or id]
    name = text_of(value, key).strip()
    parts = [part.strip() for part in name.split(ID_SEPARATOR)]
    if all(part.isdecimal() for part in parts):
        return parts
    return [name] if name else []


def _to_passage(value: Any, key: str) -> Passage | None:
    """Convert a passage in a form of a published set. None if it has no text.

    Raises UnfitRow for any other form.
    """
    if isinstance(value, str):
        return Passage("", value) if value.strip() else None
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
        return Passage(value[0], _join_sentences(value[1], key))
    if not isinstance(value, Mapping):
        raise UnfitRow(f"“{key}” should hold passages: a title and a text each")
    title = _first_text(value, PASSAGE_TITLE_KEYS)
    page = _first_text(value, WEB_PAGE_KEYS)
    texts = (value[name] for name in PASSAGE_TEXT_KEYS if value.get(name) is not None)
    text = page or _join_sentences(next(texts, ""), key)
    if not text.strip():
        return None
    is_html = bool(page and value.get(WEB_PAGE_KEYS[0]))  # a snippet is plain text
    return Passage(title, text, _first_text(value, PASSAGE_ID_KEYS), is_html)


def _join_sentences(value: Any, key: str) -> str:
    """Return a text unchanged, or the sentences of a list as one text.

    Spaces are inserted unless the sentences begin with them, as in HotpotQA but not in
    2WikiMultihopQA.
    """
    if not isinstance(value, list):
        return text_of(value, key)
    sentences = [text_of(sentence, key) for sentence in value]
    have_spaces = any(sentence[:1].isspace() for sentence in sentences[1:])
    return ("" if have_spaces else " ").join(sentences)


def _first_text(row: Row, keys: Sequence[str]) -> str:
    """Return the first text under some keys, or an empty text."""
    return next((text_of(row[key], key) for key in keys if row.get(key) not in (None, "", [])), "")

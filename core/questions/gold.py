"""Passages in a row of a question set: the ones included, and the ones an answer rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.questions.forms import evidence_texts
from core.questions.values import Row, UnfitRow, as_list, text_of

GOLD_KEYS = (
    *(
        "gold",
        "gold_titles",
        "gold_docs",
        "gold_documents",
        "gold_passages",
        "gold_ids",
        "gold_doc_ids",
        "gold_document_ids",
    ),
    *(
        "relevant_docs",
        "relevant_documents",
        "relevant_ids",
        "relevant_doc_ids",
        "positive_passages",
        "positive_ctxs",
        "positive_doc_ids",
    ),
    *("supporting_docs", "supporting_documents", "article_ids", "cited_doc_ids", "evidence_list"),
)
"""Usual keys and columns of the documents that an answer rests on.

Some belong to one data set: `article_ids` to BSARD, `cited_doc_ids` to SciFact, `evidence_list` to
MultiHop-RAG, `positive_ctxs` to DPR, and `positive_passages` to Tevatron.
"""
SUPPORTING_FACTS_KEY, IS_SUPPORTING_KEY = "supporting_facts", "is_supporting"
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
# Keys of the document's id in a row with a single text.
ROW_DOCUMENT_ID_KEYS = ("context_id", "article_id")
PASSAGE_TEXT_KEYS = ("paragraph_text", "text", "sentences", "content", "passage", "body", "fact")
WEB_PAGE_KEYS = ("page_result", "page_snippet")
ID_SEPARATOR = ","  # separates several numeric ids in one text (BSARD)


@dataclass(frozen=True)
class Passage:
    """A passage included in a row of a question set.

    `page` is true where the text is HTML. `whole` is true where the passage is the row's only text
    and all questions of the row are about it.
    """

    title: str
    text: str
    id: str = ""
    page: bool = False
    whole: bool = False


def passages(row: Row) -> list[Passage]:
    """Return the passages included in a row, from the first of `PASSAGE_KEYS` that has any.

    Known forms are pairs of title and sentences (HotpotQA, 2WikiMultihopQA), objects (MuSiQue,
    HippoRAG, ALCE), web pages (CRAG), and a single text (UltraDomain, QuALITY). Raises Unfit for
    any other form.
    """
    for key in PASSAGE_KEYS:
        if isinstance(row.get(key), str) and not row[key].lstrip().startswith(("[", "{")):
            text, metadata = row[key], row.get("meta")
            title = _first(row, PASSAGE_TITLE_KEYS) or _first(
                metadata if isinstance(metadata, Mapping) else {}, PASSAGE_TITLE_KEYS
            )
            if text.strip():
                return [
                    Passage(
                        title,
                        text,
                        _first(row, ROW_DOCUMENT_ID_KEYS),
                        text.lstrip().startswith("<"),
                        True,
                    )
                ]
            return []
        if found_passages := [
            one for one in (_passage(one, key) for one in as_list(row.get(key))) if one is not None
        ]:
            return found_passages
    return []


def gold_passages_of(row: Row, keys: Sequence[str]) -> tuple[str, ...]:
    """Return the passages that the answer of a row rests on.

    The first source with a value is taken:

    - the first of `keys` with a value: ids or titles, or objects with them. An object with a text
      gives its title, a line break and the text.
    - the reference contexts (RAGAS), as texts without a title.
    - the titles in `supporting_facts` (HotpotQA).
    - title and text of the included passages that are `is_supporting` (MuSiQue).
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
    marked_passages = _marked_passages(row)
    if marked_passages:
        supporting = [_passage(one, key) for one, key in marked_passages]
        return tuple(f"{one.title}\n{one.text}" for one in supporting if one is not None)
    return tuple(one.id for one in passages(row) if one.whole and one.id)


def _listed_passages(row: Row, keys: Sequence[str]) -> tuple[str, ...]:
    """Return the passages under the first of some keys that has any."""
    for key in keys:
        names: dict[str, None] = {}
        for one in as_list(row.get(key)):
            names.update(dict.fromkeys(_passage_names(one, key)))
        if names:
            return tuple(names)
    return ()


def _marked_passages(row: Row) -> list[tuple[Mapping[str, Any], str]]:
    """Return the included passages that are marked as supporting, each with its key."""
    marked_passages = []
    for key in PASSAGE_KEYS:
        for one in as_list(row.get(key)):
            if isinstance(one, Mapping) and one.get(IS_SUPPORTING_KEY) is True:
                marked_passages.append((one, key))
    return marked_passages


def _title_of(fact: Any) -> str:
    """Return the title of a supporting fact: [title, sentence number], or an object with both."""
    if isinstance(fact, Mapping) and "title" in fact:
        return text_of(fact["title"], SUPPORTING_FACTS_KEY)
    if isinstance(fact, list) and fact:
        return text_of(fact[0], SUPPORTING_FACTS_KEY)
    raise UnfitRow(
        f"“{SUPPORTING_FACTS_KEY}” should be a list of titles, each with the number of a sentence"
    )


def _passage_names(one: Any, key: str) -> Iterator[str]:
    """Names of an evidence passage. A text of several numbers gives several ids."""
    if isinstance(one, Mapping):
        title, text = _first(one, PASSAGE_TITLE_KEYS), _first(one, PASSAGE_TEXT_KEYS)
        id = _first(one, PASSAGE_ID_KEYS)
        if not (title or id):
            raise UnfitRow(f"“{key}” should name documents by id or title")
        yield f"{title}\n{text}" if title and text else title or id
        return
    name = text_of(one, key).strip()
    parts = [part.strip() for part in name.split(ID_SEPARATOR)]
    yield from parts if all(part.isdecimal() for part in parts) else [name] if name else []


def _passage(one: Any, key: str) -> Passage | None:
    """Convert a passage of one of the published forms; None where it has no text."""
    if isinstance(one, str):
        return Passage("", one) if one.strip() else None
    if isinstance(one, list) and len(one) == 2 and isinstance(one[0], str):
        return Passage(one[0], _as_text(one[1], key))
    if isinstance(one, Mapping):
        title, page = _first(one, PASSAGE_TITLE_KEYS), _first(one, WEB_PAGE_KEYS)
        text = page or next(
            (_as_text(one[name], key) for name in PASSAGE_TEXT_KEYS if one.get(name) is not None),
            "",
        )
        if text.strip():
            return Passage(
                title, text, _first(one, PASSAGE_ID_KEYS), bool(page and one.get(WEB_PAGE_KEYS[0]))
            )
        return None
    raise UnfitRow(f"“{key}” should hold passages: a title and a text each")


def _as_text(value: Any, key: str) -> str:
    """Return a text, or the sentences of a list as one text.

    Blanks are inserted where the sentences bring none: HotpotQA's bring them, 2WikiMultihopQA's do
    not.
    """
    if not isinstance(value, list):
        return text_of(value, key)
    sentences = [text_of(one, key) for one in value]
    spaced = any(one[:1].isspace() for one in sentences[1:])
    return ("" if spaced else " ").join(sentences)


def _first(row: Row, keys: Sequence[str]) -> str:
    return next((text_of(row[key], key) for key in keys if row.get(key) not in (None, "", [])), "")

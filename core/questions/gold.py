"""The passages in a row of a question set: those that it brings along, and those that its answer rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.questions.forms import contexts_of
from core.questions.values import Row, Unfit, listed, text_of

GOLD = (
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
"""Usual keys and columns of the documents that an answer rests on. `article_ids` are BSARD's, `cited_doc_ids` SciFact's, `evidence_list`
MultiHop-RAG's; `positive_ctxs` are those of DPR, `positive_passages` those of Tevatron."""
FACTS, SUPPORTING = "supporting_facts", "is_supporting"
PASSAGES = ("context", "contexts", "paragraphs", "search_results", "docs", "passages", "article")
TITLES, IDS = (
    ("title", "page_name", "name"),
    ("id", "doc_id", "docid", "_id", "document_id", "corpus_id"),
)
OWN_IDS = ("context_id", "article_id")  # of the one text of a row
TEXTS, PAGES = (
    ("paragraph_text", "text", "sentences", "content", "passage", "body", "fact"),
    ("page_result", "page_snippet"),
)
SEVERAL = ","  # between ids that are numbers, as BSARD writes them


@dataclass(frozen=True)
class Passage:
    """A passage that a row brings along; `page` where its text is HTML, `whole` where it is the one text that the row's questions are
    about."""

    title: str
    text: str
    id: str = ""
    page: bool = False
    whole: bool = False


def passages(row: Row) -> list[Passage]:
    """The passages that a row brings along, under the first of `PASSAGES` that holds some: pairs of title and sentences (HotpotQA,
    2WikiMultihopQA), objects (MuSiQue, HippoRAG, ALCE), pages (CRAG), or one text (UltraDomain, QuALITY). Raises Unfit for a row whose
    passages are of no such form."""
    for key in PASSAGES:
        if isinstance(row.get(key), str) and not row[key].lstrip().startswith(("[", "{")):
            text, about = row[key], row.get("meta")
            title = _first(row, TITLES) or _first(
                about if isinstance(about, Mapping) else {}, TITLES
            )
            if text.strip():
                return [
                    Passage(title, text, _first(row, OWN_IDS), text.lstrip().startswith("<"), True)
                ]
            return []
        if found := [
            one for one in (_passage(one, key) for one in listed(row.get(key))) if one is not None
        ]:
            return found
    return []


def gold_of(row: Row, keys: Sequence[str]) -> tuple[str, ...]:
    """The passages that the answer rests on, as the first of `keys` that holds some has them: ids or titles, or objects with them, one
    with a text as its title and the text on lines of their own. Else the texts of its reference contexts, without a title (RAGAS), or
    those marked in the row's passages: the titles of its
    `supporting_facts` (HotpotQA), title and text of those that are `is_supporting` (MuSiQue), or the id of the one text of the row."""
    for key in keys:
        if found := tuple(
            dict.fromkeys(name for one in listed(row.get(key)) for name in _named(one, key))
        ):
            return found
    if texts := contexts_of(row):
        return tuple(dict.fromkeys(f"\n{text}" for text in texts))
    if facts := listed(row.get(FACTS)):
        return tuple(dict.fromkeys(_title_of(fact) for fact in facts))
    marked = [
        (one, key)
        for key in PASSAGES
        for one in listed(row.get(key))
        if isinstance(one, Mapping) and one.get(SUPPORTING) is True
    ]
    if marked:
        supporting = [_passage(one, key) for one, key in marked]
        return tuple(f"{one.title}\n{one.text}" for one in supporting if one is not None)
    return tuple(one.id for one in passages(row) if one.whole and one.id)


def _title_of(fact: Any) -> str:
    """The title in a supporting fact: [title, number of the sentence], or an object with them."""
    if isinstance(fact, Mapping) and "title" in fact:
        return text_of(fact["title"], FACTS)
    if isinstance(fact, list) and fact:
        return text_of(fact[0], FACTS)
    raise Unfit(f"“{FACTS}” should be a list of titles, each with the number of a sentence")


def _named(one: Any, key: str) -> Iterator[str]:
    """The names of a gold passage. Numbers in one text are several ids."""
    if isinstance(one, Mapping):
        title, text = _first(one, TITLES), _first(one, TEXTS)
        id = _first(one, IDS)
        if not (title or id):
            raise Unfit(f"“{key}” should name documents by id or title")
        yield f"{title}\n{text}" if title and text else title or id
        return
    name = text_of(one, key).strip()
    parts = [part.strip() for part in name.split(SEVERAL)]
    yield from parts if all(part.isdecimal() for part in parts) else [name] if name else []


def _passage(one: Any, key: str) -> Passage | None:
    """A passage as one of the published forms has it; None for one without a text."""
    if isinstance(one, str):
        return Passage("", one) if one.strip() else None
    if isinstance(one, list) and len(one) == 2 and isinstance(one[0], str):
        return Passage(one[0], _joined(one[1], key))
    if isinstance(one, Mapping):
        title, page = _first(one, TITLES), _first(one, PAGES)
        text = page or next(
            (_joined(one[name], key) for name in TEXTS if one.get(name) is not None), ""
        )
        if text.strip():
            return Passage(title, text, _first(one, IDS), bool(page and one.get(PAGES[0])))
        return None
    raise Unfit(f"“{key}” should hold passages: a title and a text each")


def _joined(value: Any, key: str) -> str:
    """A text, or sentences as one, with blanks between them where they bring none: HotpotQA's bring them, 2WikiMultihopQA's do not."""
    if not isinstance(value, list):
        return text_of(value, key)
    sentences = [text_of(one, key) for one in value]
    spaced = any(one[:1].isspace() for one in sentences[1:])
    return ("" if spaced else " ").join(sentences)


def _first(row: Row, keys: Sequence[str]) -> str:
    return next((text_of(row[key], key) for key in keys if row.get(key) not in (None, "", [])), "")

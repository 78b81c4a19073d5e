"""Inputs of every program: 400 HotpotQA passages with their names, and 40 questions.

They are plain data, which `python -m tests.peers.given FILE` writes for the programs. These run in
an environment without Hopscope.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sys
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

from core.builds.base import BuildContext, BuildOperator, BuildState
from core.builds.chunkers import TokenChunks
from core.builds.extract.noun_phrases import NounPhrases
from core.builds.facts import Facts
from core.builds.run import build_context
from core.corpus import open_corpus
from core.models.registry import Registry
from core.types import Question

CORPUS = "hotpotqa"
PASSAGES, QUESTIONS = 400, 40
KEYWORD = 4  # Shortest letters of a high keyword of a question.


@cache
def given() -> dict[str, Any]:
    """The inputs as plain data.

    They have `passages` as texts, the `facts` of each, `entities` by name and `relations` as
    merged, `communities`, and `questions`.
    """
    corpus = open_corpus(CORPUS)
    questions = corpus.questions(CORPUS)
    ctx = build_context(corpus, Registry())
    chunks = _applied(TokenChunks(size=240, overlap=24), BuildState(corpus), ctx).chunks
    of: dict[str, list[int]] = {}
    for row, document in enumerate(chunks.texts("document")):
        of.setdefault(document, []).append(row)
    rows = _rows(questions, of)[:PASSAGES]
    place = {row: number for number, row in enumerate(rows)}
    passages = [
        unescape(f"{title}\n{text}").strip()
        for title, text in zip(chunks.texts("title", rows), chunks.texts("text", rows))
    ]
    facts = [_plain(one) for one in NounPhrases().find_facts(chunks.texts("text", rows), ctx)]
    gold = {one.id: [row for document in one.gold for row in of[document]] for one in questions}
    asked = [one for one in questions if all(row in place for row in gold[one.id])][:QUESTIONS]
    return {
        "passages": passages,
        "facts": facts,
        "questions": [
            {"text": one.text, "gold": [place[row] for row in gold[one.id]], **_keywords(one.text)}
            for one in asked
        ],
        **_merged(facts),
    }


def digest() -> str:
    """Digest that identifies this version of the inputs."""
    return hashlib.sha256(json.dumps(given(), sort_keys=True).encode()).hexdigest()[:16]


def _applied(operator: BuildOperator, made: BuildState, ctx: BuildContext) -> Any:
    return operator.apply(made, ctx)


def _rows(questions: tuple[Question, ...], of: dict[str, list[int]]) -> list[int]:
    """Chunks of the first questions' gold documents, followed by those of all others."""
    gold = list(
        dict.fromkeys(document for one in questions[: QUESTIONS + 2] for document in one.gold)
    )
    others = [document for document in of if document not in set(gold)]
    return [row for document in [*gold, *others] for row in of[document]]


def _plain(facts: Facts) -> list[Any]:
    """Entities of a passage as name and description, and relations as a list of fields.

    The fields are the ends, description, keywords and weight.
    """
    entities = {
        name: unescape(one.description).strip()
        for one in facts.entities
        if (name := _name(one.name))
    }
    relations = {tuple(sorted((_name(one.head), _name(one.tail)))): one for one in facts.relations}
    between = {ends: one for ends, one in relations.items() if ends[0] and ends[0] != ends[1]}
    told = [
        [*ends, unescape(one.description).strip(), one.keywords, one.weight]
        for ends, one in between.items()
    ]
    return [[list(one) for one in entities.items()], told]


def _name(name: str) -> str:
    """A name in upper case, as in nano-graphrag, with the characters that HippoRAG keeps."""
    return " ".join(re.sub(r"[^A-Z0-9 ]", " ", unescape(name).upper()).split())


def _merged(facts: list[Any]) -> dict[str, Any]:
    """Entities by name with first description and passages, and relations with further fields.

    Relations also have keywords and weight.
    """
    entities: dict[str, list[Any]] = {}
    relations: dict[tuple[str, str], list[Any]] = {}
    for row, (named, told) in enumerate(facts):
        for name, description in named:
            entities.setdefault(name, [description, []])[1].append(row)
        for one, other, description, keywords, weight in told:
            relation = relations.setdefault((one, other), [description, keywords, 0.0, []])
            relation[2] += weight
            relation[3].append(row)
    entities = dict(sorted(entities.items()))
    return {
        "entities": entities,
        "relations": [[*ends, *rest] for ends, rest in sorted(relations.items())],
        "communities": _communities([where[0] for _, where in entities.values()]),
    }


def _communities(first: list[int]) -> list[list[Any]]:
    """Communities of entities by first passage: groups of eighty passages, and of ten.

    Each has title, level, members, report and rating.
    """
    groups: dict[tuple[int, int], list[int]] = {}
    for entity, passage in enumerate(first):
        groups.setdefault((0, passage // 80), []).append(entity)
        groups.setdefault((1, passage // 10), []).append(entity)
    title = lambda level, number: f"{'Part' if level else 'Whole'} {number}"
    told = lambda level, number: f"What {title(level, number).lower()} tells. " * (2 + number % 7)
    return [
        [title(*key), key[0], members, told(*key).strip(), float(1 + key[1] * 7 % 10)]
        for key, members in sorted(groups.items())
    ]


def _keywords(text: str) -> dict[str, list[str]]:
    """Keywords as from a language model: names low, other words of four or more letters high."""
    low = re.findall(r"(?<!^)[A-Z][\w'.-]*(?: (?:[A-Z0-9][\w'.-]*|of|the))*(?<! of)(?<! the)", text)
    named = {word for name in low for word in name.split()}
    high = [
        word for word in re.findall(r"\w+", text)[1:] if len(word) >= KEYWORD and word not in named
    ]
    return {"low": list(dict.fromkeys(low)), "high": list(dict.fromkeys(high))}


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(
        gzip.compress(json.dumps({**given(), "digest": digest()}).encode(), mtime=0)
    )

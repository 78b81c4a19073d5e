"""Queries without answers, in two formats of information retrieval: lines and TREC topics.

A line has an id, a tab and the query. Topics are elements of XML or of TREC's older markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.errors import BadInput
from core.io.files import File, open_unpacked, size_text
from core.types import Question
from core.watch import NO_WATCH, Watch

MAX_TOPICS_FILE_BYTES = 1 << 26  # bytes of a file of TREC topics, which is read whole
QUERY_ID_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:#/-]*")
TOPIC_TAG = re.compile(r"<top(?:ic)?(?=[\s>])[^>]{0,200}>", re.IGNORECASE)
TOPIC_FIELD_TAG = re.compile(
    r"<(num|title|desc|query|question)(?=[\s>])[^>]{0,200}>", re.IGNORECASE
)
TOPIC_LABEL = re.compile(r"\A(?:number|topic|description) ?:", re.IGNORECASE)
TOPIC_NUMBER = re.compile(r"""number\s*=\s*["']([^"']{1,100})""", re.IGNORECASE)
# Fields that may hold the query. The first one with a text is used.
QUERY_FIELDS = ("title", "query", "question", "desc")


def are_queries(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether lines are queries with ids.

    The ids have no blanks and are all different. Each text has several words, or is in another
    script, which may separate no words.

    >>> from core.questions.topics import are_queries
    >>> (are_queries([["301", "Who sails?"], ["302", "Who mends nets?"]]),
    ...  are_queries([["who sails [A]?", "Bo Lee"]]))
    (True, False)
    """
    ids = [row[0].strip() for row in rows]
    return (
        bool(rows)
        and all(len(row) == 2 for row in rows)
        and all(map(QUERY_ID_PATTERN.fullmatch, ids))
        and len(set(ids)) == len(ids)
        and all(len(row[1].split()) > 1 or not row[1].isascii() for row in rows)
    )


def read_query(columns: Sequence[str]) -> Question | None:
    """Return the query of a line with its id. None if the line has not two columns."""
    return Question(columns[1].strip(), columns[0].strip()) if len(columns) == 2 else None


def is_topics(line: str) -> bool:
    """Return whether a first line opens TREC topics. It opens a topic, or an XML file of topics."""
    return bool(TOPIC_TAG.match(line.strip())) or line.strip().casefold().startswith("<topics")


def read_topics(
    file: File, max_bytes: int | None, watch: Watch = NO_WATCH
) -> Iterator[tuple[str, Question]]:
    """Yield the queries of a TREC topics file with their positions.

    An example of a position is `line 3`. The topic's number is the id. The query is the first of
    `QUERY_FIELDS` with a text. Raises BadInput for a file that is too large, and for a topic
    without a text.
    """
    with open_unpacked(file, watch, max_bytes) as stream:
        data = stream.read(MAX_TOPICS_FILE_BYTES + 1)
    if len(data) > MAX_TOPICS_FILE_BYTES:
        raise BadInput(
            f"{stream.name}: a file of topics may hold {size_text(MAX_TOPICS_FILE_BYTES)}."
        )
    text = data.decode("utf-8", "replace")
    topic_tags = list(TOPIC_TAG.finditer(text))
    topic_ends = [*(tag.start() for tag in topic_tags[1:]), len(text)]
    for tag, end in zip(topic_tags, topic_ends):
        where = f"line {text.count(chr(10), 0, tag.start()) + 1}"
        yield where, _read_topic(stream.name, where, tag[0], text[tag.end() : end])


def _read_topic(name: str, where: str, opening_tag: str, text: str) -> Question:
    """Return the query of a topic; `text` is the content of its element."""
    fields: dict[str, str] = {}
    for field in TOPIC_FIELD_TAG.finditer(text):
        words = " ".join(text[field.end() :].partition("<")[0].split())
        fields.setdefault(field[1].casefold(), TOPIC_LABEL.sub("", words).strip())
    number = TOPIC_NUMBER.search(opening_tag)
    query_text = next((fields[key] for key in QUERY_FIELDS if fields.get(key)), "")
    if not query_text:
        raise BadInput(f"{name}, {where}: this topic has neither a title nor a description.")
    return Question(query_text, fields.get("num") or (number[1] if number else ""))

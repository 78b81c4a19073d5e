"""Questions from JSON rows, in the formats of published question sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from string import ascii_uppercase
from typing import Any

from core.errors import BadInput
from core.questions.answers import (
    ANY_OF_ANSWERS_KEYS,
    OTHER_ANSWER_KEYS,
    QA_PAIRS_KEY,
    SHORT_ANSWERS_KEY,
    known_answers,
)
from core.questions.gold import gold_passages_of
from core.questions.values import (
    Row,
    UnfitRow,
    as_list,
    first_text,
    first_texts,
    id_of,
    list_of_objects,
    text_of,
)
from core.types import Question

ROW_FORMATS = {
    "rows": (
        "Rows: question, answer, q_entity (RoG), or question, answers or short_answers, entities "
        "(JSON)"
    ),
    "webqsp": "WebQSP: RawQuestion, Parses (JSON)",
    "cwq": "ComplexWebQuestions: ID, question, answers (JSON)",
    "grailqa": "GrailQA: qid, question, answer, graph_query (JSON)",
    "simplequestions": "SimpleQuestions: question, answer, topic_entity, relation (JSON)",
    "webquestions": "WebQuestions: question or utterance, answers or targetValue, url (JSON)",
}
# Keys of the question. `input` is used by UltraDomain, `user_input` by RAGAS.
ROW_QUESTION_KEYS = (
    "question",
    "query",
    "ambiguous_question",
    "claim",
    "user_input",
    "input",
    "text",
)
QUESTION_ID_KEYS = (
    "id",
    "_id",
    "qid",
    "sample_id",
    "question_id",
    "query_id",
    "question_unique_id",
    "interaction_id",
)
CORRECT_OPTION_KEY = "gold_label"  # key of the correct option's number, from 1 (QuALITY)
ANSWER_KEYS_READ = (
    "answer",
    "answers",
    "a_entity",
    "targetValue",
    "Parses",
    SHORT_ANSWERS_KEY,
    QA_PAIRS_KEY,
    *OTHER_ANSWER_KEYS,
    *ANY_OF_ANSWERS_KEYS,
)
LIKELY_ANSWER_NAMES = (
    *(
        "answer",
        "answers",
        "label",
        "labels",
        "gold",
        "golds",
        "target",
        "targets",
        "output",
        "outputs",
        "solution",
    ),
    *("ground_truths", "gold_answers", "gold_ans", "answer_text", "reference", "references"),
)
# Last words of names such as “possible_answers”.
ANSWER_LAST_WORDS = ("answer", "answers", "aliases", "label", "labels", "solution", "solutions")
KEY_WORD_PATTERN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
SEMPRE_DESCRIPTION = re.compile(r'\(description (?:"((?:[^"\\]|\\.)*)"|([^()"]+))\)')


class TrackedRow(Mapping[str, Any]):
    """A row that records the keys that are read from it in `keys_read`."""

    def __init__(self, row: Row, keys_read: set[str]):
        self._row, self._keys_read = row, keys_read

    def __getitem__(self, key: str) -> Any:
        value = self._row[key]
        self._keys_read.add(key)
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._row

    def __iter__(self) -> Iterator[str]:
        return iter(self._row)

    def __len__(self) -> int:
        return len(self._row)


def question_of_row(
    file: str,
    where: str,
    row: Row,
    format: str = "auto",
    gold: Sequence[str] = (),
    keys_read: set[str] | None = None,
) -> Question:
    """Return the question in a row.

    Its id is empty where the row has none. Raises BadInput, naming file and place.

    Parameters
    ----------
    file, where : the file and the place in it, for error messages.
    row : the row, with the usual keys.
    format : one of `ROW_FORMATS`; `auto` recognises it by the row's keys.
    gold : the keys that may hold the documents that the answer rests on.
    keys_read : a set to which the keys that were read are added.
    """
    row_format = format if format != "auto" else format_of_row(row)
    try:
        others = (
            key
            for key, value in row.items()
            if key not in gold and value is not None and not isinstance(value, bool)
        )
        if not any(key in row for key in (*ANSWER_KEYS_READ, *_right_option_keys(row))) and (
            likely_name := likely_answer_name(others)
        ):
            raise UnfitRow(f"“{likely_name}” seems to hold the answers; call it “answers”")
        tracked_row = TrackedRow(row, set() if keys_read is None else keys_read)
        question = ROW_READERS[row_format](tracked_row)
        return replace(question, gold=gold_passages_of(tracked_row, gold)) if gold else question
    except UnfitRow as error:
        raise BadInput(f"{file}, {where}: {error}.") from None


def format_of_row(row: Row) -> str:
    """Return the format that the keys of a row indicate."""
    if "Parses" in row:
        return "webqsp"
    if (
        "graph_query" in row
        or "s_expression" in row
        or _first_key(row.get("answer"), "answer_argument")
    ):
        return "grailqa"
    if "compositionality_type" in row and "q_entity" not in row:
        return "cwq"
    if "relation" in row and isinstance(row.get("topic_entity"), Mapping):
        return "simplequestions"
    if "utterance" in row or "targetValue" in row or ("url" in row and "answers" in row):
        return "webquestions"
    return "rows"


def likely_answer_name(names: Iterable[str]) -> str:
    """Return the first name that is usual for answers and is not read here.

    Such names are “gold”, “possible_answers” or “correctAnswer”. The result is empty where there is
    none.
    """
    return next(
        (
            name
            for name in names
            if name.strip().casefold() in LIKELY_ANSWER_NAMES
            or _last_word(name) in ANSWER_LAST_WORDS
        ),
        "",
    )


def with_options(text: str, options: Sequence[str]) -> str:
    """Append the lettered options to a question's text, as it is asked.

    >>> from core.questions.rows import with_options
    >>> with_options("What was big?", ["a boy", "a turkey"])
    'What was big? Options: (A) a boy (B) a turkey'
    """
    listing = " ".join(f"({letter}) {option}" for letter, option in zip(ascii_uppercase, options))
    return f"{text} Options: {listing}" if options else text


def _last_word(name: str) -> str:
    """Return the last word of a name whose words are separated by dashes, blanks or capitals."""
    return (KEY_WORD_PATTERN.findall(name) or [""])[-1].casefold()


def _first_key(value: Any, key: str) -> bool:
    return isinstance(first := next(iter(as_list(value)), None), Mapping) and key in first


def _hops(row: Row) -> int | None:
    hops = row.get("hops")
    return hops if isinstance(hops, int) and not isinstance(hops, bool) and hops > 0 else None


def _topics(row: Row) -> tuple[str, ...]:
    """Return the names in `topic_entity`, a mapping from machine ids to names.

    An entity without a name gives its id.
    """
    topics = row.get("topic_entity")
    if not isinstance(topics, Mapping):
        return ()
    return tuple(
        dict.fromkeys(text_of(name, "topic_entity") if name else id for id, name in topics.items())
    )


def _rows(row: Row) -> Question:
    entities = first_texts(row, "q_entity", "entities", "subj") or _topics(row)
    options = tuple(text_of(one, "options") for one in as_list(row.get("options")))
    keys = (
        ("answers", "answer", *OTHER_ANSWER_KEYS)
        if row.get("answers")
        else ("answer", *OTHER_ANSWER_KEYS)
    )
    correct_option = _right_option(row, options)
    answers, aliases = (correct_option, ()) if correct_option else known_answers(row, keys, text_of)
    answers = answers or first_texts(row, "a_entity")
    question_text = with_options(first_text(row, *ROW_QUESTION_KEYS), options)
    further_fields: dict[str, Any] = {
        "options": options,
        "aliases": aliases,
        "abstract": row.get("abstract") is True,
    }
    return Question(
        question_text,
        id_of(row, *QUESTION_ID_KEYS),
        tuple(dict.fromkeys(entities)),
        answers,
        _hops(row),
        **further_fields,
    )


def _right_option_keys(row: Row) -> tuple[str, ...]:
    """Return the key of the correct option's number, where a row has options and such a number."""
    return (
        (CORRECT_OPTION_KEY,)
        if row.get("options") and row.get(CORRECT_OPTION_KEY) is not None
        else ()
    )


def _right_option(row: Row, options: Sequence[str]) -> tuple[str, ...]:
    """Return the correct option where a row has its number.

    `gold_label` counts from 1 (QuALITY), `answer` from 0 (QuALITY's rows on HuggingFace). Raises
    Unfit for a number that is out of range.
    """
    key = next(
        (key for key in (CORRECT_OPTION_KEY, "answer") if options and type(row.get(key)) is int), ""
    )
    if not key or str(row[key]) in options:
        return ()
    option_index = row[key] - (key == CORRECT_OPTION_KEY)
    if not 0 <= option_index < len(options):
        raise UnfitRow(f"“{key}” is {row[key]}, and there are {len(options)} options")
    return (options[option_index],)


def _webqsp(row: Row) -> Question:
    """Read a row of the official WebQSP file.

    Entities and answers are those of all parses. The hops are those of the first parse's
    inferential chain.
    """
    parses = list(list_of_objects(row, "Parses"))
    entities = [
        name for parse in parses for name in first_texts(parse, "TopicEntityName", "TopicEntityMid")
    ]
    answer_rows = [answer for parse in parses for answer in list_of_objects(parse, "Answers")]
    chain = parses[0].get("InferentialChain") if parses else None
    return Question(
        first_text(row, "RawQuestion", "ProcessedQuestion"),
        id_of(row, "QuestionId"),
        tuple(dict.fromkeys(entities)),
        tuple(
            text
            for answer in answer_rows
            for text in first_texts(answer, "EntityName", "AnswerArgument")
        ),
        len(chain) if isinstance(chain, list) and chain else None,
    )


def _cwq(row: Row) -> Question:
    """Read a row of ComplexWebQuestions.

    The official file has `answers`, each with its `answer`. Think-on-Graph's file has `answer` and
    `topic_entity`.
    """
    if _first_key(row.get("answers"), "answer"):
        answers = tuple(
            text
            for part in list_of_objects(row, "answers")
            for text in first_texts(part, "answer", "answer_id")
        )
    else:
        answers = first_texts(row, "answer", "answers")
    return Question(first_text(row, "question"), id_of(row, "ID", "id"), _topics(row), answers)


def _grailqa(row: Row) -> Question:
    """Read a row of GrailQA.

    The entities are the topic entities, else the entities of the query graph. The answers are
    names, else ids or values.
    """
    query = row.get("graph_query")
    nodes = list_of_objects(query, "nodes") if isinstance(query, Mapping) else []
    entities = [
        first_text(node, "friendly_name", "id")
        for node in nodes
        if node.get("node_type") == "entity"
    ]
    answers = tuple(
        text
        for part in list_of_objects(row, "answer")
        for text in first_texts(part, "entity_name", "answer_argument")
    )
    return Question(
        first_text(row, "question"),
        id_of(row, "qid", "id"),
        _topics(row) or tuple(dict.fromkeys(entities)),
        answers,
        _hops(row),
    )


def _simplequestions(row: Row) -> Question:
    return Question(
        first_text(row, "question"),
        id_of(row, "id", "qid"),
        _topics(row),
        first_texts(row, "answer", "answers"),
        1,
    )


def _webquestions(row: Row) -> Question:
    """Read a row of WebQuestions.

    `targetValue` holds `(list (description "A") (description B))`. The entity in `url` is not a
    name, so entities are left to be found in the text.
    """
    answers = first_texts(row, "answers", "answer")
    if not answers and row.get("targetValue") is not None:
        descriptions = SEMPRE_DESCRIPTION.findall(text_of(row["targetValue"], "targetValue"))
        answers = tuple(
            (quoted or bare).replace('\\"', '"').strip() for quoted, bare in descriptions
        )
    return Question(first_text(row, "question", "utterance"), id_of(row, "id", "qid"), (), answers)


ROW_READERS: dict[str, Callable[[Row], Question]] = {
    "rows": _rows,
    "webqsp": _webqsp,
    "cwq": _cwq,
    "grailqa": _grailqa,
    "simplequestions": _simplequestions,
    "webquestions": _webquestions,
}

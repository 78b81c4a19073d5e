"""Questions from rows of JSON or Parquet, in the formats of published question sets.

`question_of_row` recognises the format of a row by its keys.
"""

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
    NameGroups,
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
# Keys under which answers are read, in any of the formats.
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
# Names that answers often have in other files. They are not read, but reported.
LIKELY_ANSWER_NAMES = (
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
    "ground_truths",
    "gold_answers",
    "gold_ans",
    "answer_text",
    "reference",
    "references",
)
# Last words of names such as “possible_answers”.
ANSWER_LAST_WORDS = ("answer", "answers", "aliases", "label", "labels", "solution", "solutions")
# A word of a key such as correctAnswer or gold_answers.
KEY_WORD_PATTERN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
# An answer in the notation of SEMPRE: (description "Jazmyn Bieber") or (description word).
SEMPRE_DESCRIPTION = re.compile(r'\(description (?:"((?:[^"\\]|\\.)*)"|([^()"]+))\)')


class TrackedRow(Mapping[str, Any]):
    """A row that records the keys that are read from it in `keys_read`."""

    def __init__(self, row: Row, keys_read: set[str]):
        self._row = row
        self._keys_read = keys_read

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

    Its id is empty if the row has none. Raises BadInput, naming file and position.

    Parameters
    ----------
    file, where : the file and the position in it, for error messages.
    row : the row, as `core.questions.forms.question_rows` returns it.
    format : one of `ROW_FORMATS`; `auto` recognises it by the row's keys.
    gold : the keys that may hold the gold passages; empty to read none.
    keys_read : a set to which the keys that were read are added; None to note none.
    """
    row_format = format if format != "auto" else format_of_row(row)
    try:
        has_options = bool(row.get("options")) and row.get(CORRECT_OPTION_KEY) is not None
        if not has_options and not any(key in row for key in ANSWER_KEYS_READ):
            other_keys = (
                key
                for key, value in row.items()
                if key not in gold and value is not None and not isinstance(value, bool)
            )
            likely_name = likely_answer_name(other_keys)
            if likely_name:
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
    has_grailqa_query = "graph_query" in row or "s_expression" in row
    if has_grailqa_query or _first_has_key(row.get("answer"), "answer_argument"):
        return "grailqa"
    if "compositionality_type" in row and "q_entity" not in row:
        return "cwq"
    if "relation" in row and isinstance(row.get("topic_entity"), Mapping):
        return "simplequestions"
    if "utterance" in row or "targetValue" in row or ("url" in row and "answers" in row):
        return "webquestions"
    return "rows"


def likely_answer_name(names: Iterable[str]) -> str:
    """Return the first name that probably has answers, such as “gold” or “correctAnswer”.

    The result is empty if there is none.
    """
    for name in names:
        if name.strip().casefold() in LIKELY_ANSWER_NAMES or _last_word(name) in ANSWER_LAST_WORDS:
            return name
    return ""


def with_options(text: str, options: Sequence[str]) -> str:
    """Append the options of a multiple-choice question, with letters, to its text.

    >>> from core.questions.rows import with_options
    >>> with_options("What was big?", ["a boy", "a turkey"])
    'What was big? Options: (A) a boy (B) a turkey'
    """
    listing = " ".join(f"({letter}) {option}" for letter, option in zip(ascii_uppercase, options))
    return f"{text} Options: {listing}" if options else text


def _last_word(name: str) -> str:
    """Return the last word of a name. The words are separated by dashes, blanks or capitals."""
    return (KEY_WORD_PATTERN.findall(name) or [""])[-1].casefold()


def _first_has_key(value: Any, key: str) -> bool:
    """Return whether the first item of a list is an object with this key."""
    items = as_list(value)
    return bool(items) and isinstance(items[0], Mapping) and key in items[0]


def _hops(row: Row) -> int | None:
    """Return the number of hops in a row. None if it has no positive whole number."""
    hops = row.get("hops")
    return hops if isinstance(hops, int) and not isinstance(hops, bool) and hops > 0 else None


def _topic_entities(row: Row) -> tuple[str, ...]:
    """Return the names in `topic_entity`, a mapping from machine ids to names.

    For an entity without a name, its id is returned.
    """
    topics = row.get("topic_entity")
    if not isinstance(topics, Mapping):
        return ()
    return tuple(
        dict.fromkeys(text_of(name, "topic_entity") if name else id for id, name in topics.items())
    )


def _read_row(row: Row) -> Question:
    """Read a row with the usual keys."""
    entities = first_texts(row, "q_entity", "entities", "subj") or _topic_entities(row)
    options = tuple(text_of(option, "options") for option in as_list(row.get("options")))
    keys: tuple[str, ...] = ("answer", *OTHER_ANSWER_KEYS)
    if row.get("answers"):
        keys = ("answers", *keys)
    answers = _correct_option(row, options)
    aliases: NameGroups = ()
    if not answers:
        answers, aliases = known_answers(row, keys, text_of)
        answers = answers or first_texts(row, "a_entity")
    return Question(
        with_options(first_text(row, *ROW_QUESTION_KEYS), options),
        id_of(row, *QUESTION_ID_KEYS),
        tuple(dict.fromkeys(entities)),
        answers,
        _hops(row),
        options=options,
        aliases=aliases,
        abstract=row.get("abstract") is True,
    )


def _correct_option(row: Row, options: Sequence[str]) -> tuple[str, ...]:
    """Return the correct option if a row has its number, else nothing.

    `gold_label` counts from 1 (QuALITY), `answer` from 0 (QuALITY's rows on HuggingFace). Raises
    UnfitRow for a number that is out of range.
    """
    if not options:
        return ()
    key = next((key for key in (CORRECT_OPTION_KEY, "answer") if type(row.get(key)) is int), "")
    # A number that is itself an option is the answer, not the position of one.
    if not key or str(row[key]) in options:
        return ()
    option_index = row[key] - (1 if key == CORRECT_OPTION_KEY else 0)
    if not 0 <= option_index < len(options):
        raise UnfitRow(f"“{key}” is {row[key]}, and there are {len(options)} options")
    return (options[option_index],)


def _texts_in_list(row: Row, list_key: str, *keys: str) -> tuple[str, ...]:
    """Return the texts of the objects in a list.

    Each is under the first of `keys` with a value."""
    texts: list[str] = []
    for item in list_of_objects(row, list_key):
        texts += first_texts(item, *keys)
    return tuple(texts)


def _read_webqsp_row(row: Row) -> Question:
    """Read a row of the official WebQSP file.

    Entities and answers are those of all parses. The hops are those of the first parse's
    inferential chain.
    """
    parses = list_of_objects(row, "Parses")
    entities = _texts_in_list(row, "Parses", "TopicEntityName", "TopicEntityMid")
    answers: list[str] = []
    for parse in parses:
        answers += _texts_in_list(parse, "Answers", "EntityName", "AnswerArgument")
    chain = parses[0].get("InferentialChain") if parses else None
    return Question(
        first_text(row, "RawQuestion", "ProcessedQuestion"),
        id_of(row, "QuestionId"),
        tuple(dict.fromkeys(entities)),
        tuple(answers),
        len(chain) if isinstance(chain, list) and chain else None,
    )


def _read_cwq_row(row: Row) -> Question:
    """Read a row of ComplexWebQuestions.

    The official file has `answers`, each with its `answer`. Think-on-Graph's file has `answer` and
    `topic_entity`.
    """
    if _first_has_key(row.get("answers"), "answer"):
        answers = _texts_in_list(row, "answers", "answer", "answer_id")
    else:
        answers = first_texts(row, "answer", "answers")
    text = first_text(row, "question")
    return Question(text, id_of(row, "ID", "id"), _topic_entities(row), answers)


def _read_grailqa_row(row: Row) -> Question:
    """Read a row of GrailQA.

    The entities are the topic entities, else the entities of the query graph. The answers are
    names, else ids or values.
    """
    query = row.get("graph_query")
    nodes = list_of_objects(query, "nodes") if isinstance(query, Mapping) else []
    entity_nodes = [node for node in nodes if node.get("node_type") == "entity"]
    entities = [first_text(node, "friendly_name", "id") for node in entity_nodes]
    answers = _texts_in_list(row, "answer", "entity_name", "answer_argument")
    return Question(
        first_text(row, "question"),
        id_of(row, "qid", "id"),
        _topic_entities(row) or tuple(dict.fromkeys(entities)),
        answers,
        _hops(row),
    )


def _read_simplequestions_row(row: Row) -> Question:
    return Question(
        first_text(row, "question"),
        id_of(row, "id", "qid"),
        _topic_entities(row),
        first_texts(row, "answer", "answers"),
        1,
    )


def _read_webquestions_row(row: Row) -> Question:
    """Read a row of WebQuestions.

    `targetValue` is `(list (description "A") (description B))`. The `url` has no name of the
    entity, so entities are linked from the text later.
    """
    answers = first_texts(row, "answers", "answer")
    if not answers and row.get("targetValue") is not None:
        descriptions = SEMPRE_DESCRIPTION.findall(text_of(row["targetValue"], "targetValue"))
        answers = tuple(
            (quoted or bare).replace('\\"', '"').strip() for quoted, bare in descriptions
        )
    return Question(first_text(row, "question", "utterance"), id_of(row, "id", "qid"), (), answers)


# Readers by the names of `ROW_FORMATS`.
ROW_READERS: dict[str, Callable[[Row], Question]] = {
    "rows": _read_row,
    "webqsp": _read_webqsp_row,
    "cwq": _read_cwq_row,
    "grailqa": _read_grailqa_row,
    "simplequestions": _read_simplequestions_row,
    "webquestions": _read_webquestions_row,
}

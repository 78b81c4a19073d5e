"""Questions from JSON rows, as the question sets of the field write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from string import ascii_uppercase
from typing import Any

from core.errors import BadInput, shorten
from core.questions.answers import PAIRS, SHORT, known_answers
from core.types import Question

Row = Mapping[str, Any]
ROW_FORMATS = {
    "rows": "Rows: question, answer, q_entity (RoG), or question, answers or short_answers, entities (JSON)",
    "webqsp": "WebQSP: RawQuestion, Parses (JSON)",
    "cwq": "ComplexWebQuestions: ID, question, answers (JSON)",
    "grailqa": "GrailQA: qid, question, answer, graph_query (JSON)",
    "simplequestions": "SimpleQuestions: question, answer, topic_entity, relation (JSON)",
    "webquestions": "WebQuestions: question or utterance, answers or targetValue, url (JSON)",
}
ANSWERS = ("answer", "answers", "a_entity", "targetValue", "Parses", SHORT, PAIRS)
LIKE_ANSWERS = (
    *("answer", "answers", "label", "labels", "gold", "golds", "target", "targets", "output", "outputs", "solution"),
    *("ground_truth", "gold_answer", "gold_answers", "answer_text", "reference", "references"),
)
LAST_WORDS = ("answer", "answers", "aliases", "label", "labels", "solution", "solutions")  # of names such as `possible_answers`
SUPPORTING = "is_supporting"
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
DESCRIPTIONS = re.compile(r'\(description (?:"((?:[^"\\]|\\.)*)"|([^()"]+))\)')


class Unfit(ValueError):
    """A row that cannot be a question; the message says why."""


class Noting(Mapping[str, Any]):
    """A row of which the keys that are looked up are noted in `seen`."""

    def __init__(self, row: Row, seen: set[str]):
        self._row, self._seen = row, seen

    def __getitem__(self, key: str) -> Any:
        value = self._row[key]
        self._seen.add(key)
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._row

    def __iter__(self) -> Iterator[str]:
        return iter(self._row)

    def __len__(self) -> int:
        return len(self._row)


def question_of_row(
    file: str, where: str, row: Row, format: str = "auto", gold: Sequence[str] = (), seen: set[str] | None = None
) -> Question:
    """The question in a row, with an empty id where the row has none. `gold` are the keys that may hold its gold documents; the keys that
    were read are added to `seen`. Raises BadInput naming file and place."""
    chosen = format if format != "auto" else format_of_row(row)
    try:
        others = (key for key, value in row.items() if key not in gold and value is not None and not isinstance(value, bool))
        if not any(key in row for key in ANSWERS) and (found := like_answers(others)):
            raise Unfit(f"“{found}” seems to hold the answers; call it “answers”")
        noting = Noting(row, set() if seen is None else seen)
        question = READERS[chosen](noting)
        return replace(question, gold=_texts(noting, *gold) or _supporting(noting)) if gold else question
    except Unfit as error:
        raise BadInput(f"{file}, {where}: {error}.") from None


def format_of_row(row: Row) -> str:
    """The format that a row's keys tell."""
    if "Parses" in row:
        return "webqsp"
    if "graph_query" in row or "s_expression" in row or _first_key(row.get("answer"), "answer_argument"):
        return "grailqa"
    if "compositionality_type" in row and "q_entity" not in row:
        return "cwq"
    if "relation" in row and isinstance(row.get("topic_entity"), Mapping):
        return "simplequestions"
    if "utterance" in row or "targetValue" in row or ("url" in row and "answers" in row):
        return "webquestions"
    return "rows"


def like_answers(names: Iterable[str]) -> str:
    """The first of these names of keys or columns that is usual for answers and is not read here, as `gold`, `possible_answers` or
    `correctAnswer`; empty where there is none."""
    return next((name for name in names if name.strip().casefold() in LIKE_ANSWERS or _last_word(name) in LAST_WORDS), "")


def with_options(text: str, options: Sequence[str]) -> str:
    """A question's text with its options behind it, each with its letter, as it is asked.

    >>> from core.questions.rows import with_options
    >>> with_options("What was big?", ["a boy", "a turkey"])
    'What was big? Options: (A) a boy (B) a turkey'
    """
    lettered = " ".join(f"({letter}) {option}" for letter, option in zip(ascii_uppercase, options))
    return f"{text} Options: {lettered}" if options else text


def _last_word(name: str) -> str:
    """The last word of a name that is written with dashes, blanks or capitals between its words."""
    return (WORDS.findall(name) or [""])[-1].casefold()


def text_of(value: Any, key: str = "text") -> str:
    """A text or number as text. Raises Unfit where it is neither, or cannot be written as UTF-8."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise Unfit(f"“{key}” should be a text, not “{shorten(str(value), 40)}”")
    try:
        str(value).encode("utf-8")
    except UnicodeEncodeError:
        raise Unfit(f"“{key}” holds half a letter (a lone surrogate)") from None
    return str(value)


def _first_key(value: Any, key: str) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping) and key in value[0]


def _texts(row: Row, *keys: str) -> tuple[str, ...]:
    """The texts under the first of `keys` that is there: a list of them, or one; none where no key is there."""
    key = next((key for key in keys if row.get(key) is not None), None)
    if key is None:
        return ()
    values = row[key] if isinstance(row[key], list) else [row[key]]
    return tuple(text for value in values if (text := text_of(value, key)).strip())


def _text(row: Row, *keys: str) -> str:
    """The one text under the first of `keys` that is there. Raises Unfit where none is."""
    for key in keys:
        if row.get(key) is not None:
            text = " ".join(text_of(row[key], key).split())
            if text:
                return text
            raise Unfit(f"“{key}” is empty")
    raise Unfit(f"the key “{keys[0]}” is missing")


def _whole(row: Row, *keys: str) -> str:
    """The text under the first of `keys` that is there, unchanged. Raises Unfit where none is."""
    return next((text_of(row[key], key) for key in keys if row.get(key) is not None), "") or _text(row, *keys)


def _id(row: Row, *keys: str) -> str:
    return next((text_of(row[key], key).strip() for key in keys if row.get(key) is not None), "")


def _hops(row: Row) -> int | None:
    hops = row.get("hops")
    return hops if isinstance(hops, int) and not isinstance(hops, bool) and hops > 0 else None


def _topics(row: Row) -> tuple[str, ...]:
    """The names of `topic_entity`, a mapping from machine id to name; the id where there is no name."""
    topics = row.get("topic_entity")
    if not isinstance(topics, Mapping):
        return ()
    return tuple(dict.fromkeys(text_of(name, "topic_entity") if name else id for id, name in topics.items()))


def _parts(row: Row, key: str) -> Iterable[Row]:
    """The objects of the list under `key`, none where it is absent. Raises Unfit where it holds something else."""
    parts = row[key] if row.get(key) is not None else []
    if not isinstance(parts, list) or not all(isinstance(part, Mapping) for part in parts):
        raise Unfit(f"“{key}” should be a list of objects")
    return parts


def _rows(row: Row) -> Question:
    entities = _texts(row, "q_entity", "entities") or _topics(row)
    keys = ("answers", "answer") if row.get("answers") else ("answer",)
    answers, aliases = known_answers(row, keys, text_of)
    answers, options = answers or _texts(row, "a_entity"), _texts(row, "options")
    asked, id = with_options(_text(row, "question", "text"), options), _id(row, "id", "_id", "qid", "sample_id")
    more: dict[str, Any] = {"options": options, "aliases": aliases, "abstract": row.get("abstract") is True}
    return Question(asked, id, tuple(dict.fromkeys(entities)), answers, _hops(row), **more)


def _supporting(row: Row) -> tuple[str, ...]:
    """The passages that support the answer, where a row brings its passages along: their titles, as HotpotQA has them in
    `supporting_facts`; else title and text on lines of their own of those marked `is_supporting`, as MuSiQue has them."""
    facts = row.get("supporting_facts")
    if isinstance(facts, Mapping):
        facts = [[title] for title in facts.get("title") or ()]
    if isinstance(facts, list) and facts and all(isinstance(fact, list) and fact for fact in facts):
        return tuple(dict.fromkeys(text_of(fact[0], "supporting_facts") for fact in facts))
    marked = next((row[key] for key in ("paragraphs", "contexts") if _first_key(row.get(key), SUPPORTING)), ())
    passages = [passage for passage in marked if isinstance(passage, Mapping) and passage.get(SUPPORTING) is True]
    return tuple(f"{_text(passage, 'title')}\n{_whole(passage, 'paragraph_text', 'text')}" for passage in passages)


def _webqsp(row: Row) -> Question:
    """The official file: entities and answers of all parses; hops are those of the first parse's inferential chain."""
    parses = list(_parts(row, "Parses"))
    entities = [name for parse in parses for name in _texts(parse, "TopicEntityName", "TopicEntityMid")]
    found = [answer for parse in parses for answer in _parts(parse, "Answers")]
    chain = parses[0].get("InferentialChain") if parses else None
    return Question(
        _text(row, "RawQuestion", "ProcessedQuestion"),
        _id(row, "QuestionId"),
        tuple(dict.fromkeys(entities)),
        tuple(text for answer in found for text in _texts(answer, "EntityName", "AnswerArgument")),
        len(chain) if isinstance(chain, list) and chain else None,
    )


def _cwq(row: Row) -> Question:
    """The official file (`answers`, each with its `answer`), or one with `answer` and `topic_entity` as Think-on-Graph has it."""
    if _first_key(row.get("answers"), "answer"):
        answers = tuple(text for part in _parts(row, "answers") for text in _texts(part, "answer", "answer_id"))
    else:
        answers = _texts(row, "answer", "answers")
    return Question(_text(row, "question"), _id(row, "ID", "id"), _topics(row), answers)


def _grailqa(row: Row) -> Question:
    """Entities are the topic entities where told, else the entities of the query graph; answers are names, else ids or values."""
    query = row.get("graph_query")
    nodes = _parts(query, "nodes") if isinstance(query, Mapping) else []
    entities = [_text(node, "friendly_name", "id") for node in nodes if node.get("node_type") == "entity"]
    answers = tuple(text for part in _parts(row, "answer") for text in _texts(part, "entity_name", "answer_argument"))
    return Question(_text(row, "question"), _id(row, "qid", "id"), _topics(row) or tuple(dict.fromkeys(entities)), answers, _hops(row))


def _simplequestions(row: Row) -> Question:
    return Question(_text(row, "question"), _id(row, "id", "qid"), _topics(row), _texts(row, "answer", "answers"), 1)


def _webquestions(row: Row) -> Question:
    """`targetValue` holds `(list (description "A") (description B))`. The url's entity is no name, so the text is left to tell it."""
    answers = _texts(row, "answers", "answer")
    if not answers and row.get("targetValue") is not None:
        descriptions = DESCRIPTIONS.findall(text_of(row["targetValue"], "targetValue"))
        answers = tuple((quoted or bare).replace('\\"', '"').strip() for quoted, bare in descriptions)
    return Question(_text(row, "question", "utterance"), _id(row, "id", "qid"), (), answers)


READERS: dict[str, Callable[[Row], Question]] = {
    "rows": _rows,
    "webqsp": _webqsp,
    "cwq": _cwq,
    "grailqa": _grailqa,
    "simplequestions": _simplequestions,
    "webquestions": _webquestions,
}

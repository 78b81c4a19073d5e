"""Conversion of rows of question sets and tools to the usual keys.

Rows may be nested, hold several questions, or use keys of their own. `core.questions.rows` and
`core.questions.table` read the converted rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.questions.values import Row, as_list

NESTED_QUESTIONS_KEY = "questions"  # key of several questions in one row (QuALITY)
QUESTION_OBJECT_KEYS = ("question", "query", "user_input", "input", "prompt", "text")
ANSWER_OBJECT_KEYS = (
    "answer",
    "expected_output",
    "reference",
    "expected",
    "output",
    "response",
    "text",
)
INPUT_KEYS = ("inputs", "input")  # keys of objects that hold a question
# Keys of objects that hold a known answer.
OUTPUT_KEYS = (
    "outputs",
    "expected_output",
    "expected_outputs",
    "reference_outputs",
    "expected",
    "expectations",
    "output",
)
EVIDENCE_TEXT_KEYS = ("reference_contexts", "reference_context")  # keys of the evidence texts
RENAMED_KEYS = frozenset({*INPUT_KEYS, *OUTPUT_KEYS, *EVIDENCE_TEXT_KEYS, "user_input"})
# Between the words of a key such as expectedOutput.
KEY_WORD_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])")
USER_ROLES = frozenset({"user", "human"})  # roles of the person who asks in a conversation
HOP_PREFIX = re.compile(r"\A<\d+-hop>\s*")  # prefix of the contexts of RAGAS
ANSWERABLE_KEY = "answerable"  # key that marks questions without an answer


def usual_name(name: str) -> str:
    """Return the usual name of a key or column of a question set.

    Words become lower case with underscores between them. The name of a field in an object of
    questions or answers, with a dot, becomes that of the field. Other names with a dot stay.

    >>> from core.questions.forms import usual_name
    >>> (usual_name("expectedOutput"), usual_name("inputs.question"), usual_name("User Input"),
    ...  usual_name("outputs.output"))
    ('expected_output', 'question', 'user_input', 'answer')
    """
    first, dot, last = name.strip().partition(".")
    first, last = (KEY_WORD_BOUNDARY.sub("_", part).casefold() for part in (first, last))
    if dot and first in INPUT_KEYS:
        return "question" if last in QUESTION_OBJECT_KEYS else last
    if dot and first in OUTPUT_KEYS:
        return "answer" if last in ANSWER_OBJECT_KEYS else last
    return name if dot else "_".join(first.split())


def question_rows(row: Row) -> list[Row]:
    """Return the questions of a row as rows with the usual keys.

    A row of several questions becomes a row for each, with the values that they share. The
    questions are under `questions` (QuALITY), in the `paragraphs` of SQuAD, or by id under
    `queries` (LlamaIndex). Any other row becomes one row. Its question and answer may be in objects
    of their own (LangSmith, Langfuse), whose fields become fields of the row.

    >>> from core.questions.forms import question_rows
    >>> question_rows({"article": "Once.",
    ...     "questions": [{"question": "When?"}, {"question": "Who?"}]})
    [{'article': 'Once.', 'question': 'When?'}, {'article': 'Once.', 'question': 'Who?'}]
    >>> question_rows({"inputs": {"question": "Who?"}, "outputs": {"answer": "Ann"}})
    [{'question': 'Who?', 'answer': 'Ann'}]
    """
    nested_rows = _objects(row.get(NESTED_QUESTIONS_KEY))
    if (nested_rows or row.get(NESTED_QUESTIONS_KEY) == []) and not any(
        key in row for key in QUESTION_OBJECT_KEYS
    ):
        shared_fields = {key: value for key, value in row.items() if key != NESTED_QUESTIONS_KEY}
        return [{**shared_fields, **nested_row} for nested_row in nested_rows]
    if any("qas" in paragraph for paragraph in _objects(row.get("paragraphs"))):
        return list(_squad_rows(row))
    if isinstance(row.get("queries"), Mapping) and isinstance(row.get("relevant_docs"), Mapping):
        return list(_llama_index_rows(row))
    return [_flatten_row(row)]


def _objects(value: Any) -> list[Row]:
    """Return a list of objects unchanged, and an empty list for any other value."""
    items = value if isinstance(value, list) else []
    return items if all(isinstance(item, Mapping) for item in items) else []


def _squad_rows(row: Row) -> Iterator[Row]:
    """Yield the questions of a SQuAD article, each with its paragraph."""
    for paragraph in row["paragraphs"]:
        for question in as_list(paragraph.get("qas")):
            if isinstance(question, Mapping):
                context = paragraph.get("context")
                question_row = {"title": row.get("title"), "context": context, **question}
                if question.get("is_impossible") is True:
                    question_row[ANSWERABLE_KEY] = False
                yield question_row


def _llama_index_rows(row: Row) -> Iterator[Row]:
    """Yield the queries of an EmbeddingQAFinetuneDataset with the texts of their relevant nodes."""
    texts = row.get("corpus")
    texts = texts if isinstance(texts, Mapping) else {}
    for id, query in row["queries"].items():
        nodes = as_list(row["relevant_docs"].get(id))
        yield {
            "id": id,
            "question": query,
            EVIDENCE_TEXT_KEYS[0]: [texts.get(node, node) for node in nodes],
        }


def _flatten_row(row: Row) -> Row:
    """Return a row with the fields of its question and answer objects.

    They get their usual names. Of several fields with one usual name, the first is used.
    """
    flat_row: dict[str, Any] = {}
    for key, value in row.items():
        name = usual_name(str(key))
        nested = _parse_object(value) if name in (*INPUT_KEYS, *OUTPUT_KEYS) else None
        if nested is not None:
            for nested_key, nested_value in nested.items():
                flat_row.setdefault(usual_name(f"{name}.{nested_key}"), nested_value)
            continue
        if name in QUESTION_OBJECT_KEYS:
            value = question_text_of(value)
        is_renamed = "." in str(key) or name in RENAMED_KEYS
        flat_row.setdefault(name if is_renamed else key, value)
    if "expected_output" in flat_row and isinstance(flat_row.get("context"), list):
        flat_row[EVIDENCE_TEXT_KEYS[0]] = flat_row.pop("context")  # DeepEval's evidence texts
    return flat_row


def _parse_object(value: Any) -> Row | None:
    """Return a value that is an object, or a text of one. None for any other value."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = next(iter(as_list(value)), None)
    return value if isinstance(value, Mapping) else None


def question_text_of(value: Any) -> Any:
    """Return the question in an object, or the last question in a conversation.

    Any other value is returned unchanged.

    >>> from core.questions.forms import question_text_of
    >>> (question_text_of({"text": "Who?", "tokens": ["Who"]}),
    ...  question_text_of([{"role": "user", "content": "Why?"}]))
    ('Who?', 'Why?')
    """
    if isinstance(value, Mapping):
        return next(
            (value[key] for key in (*QUESTION_OBJECT_KEYS, "content") if key in value), value
        )
    turns = _objects(value)
    if turns and all("content" in turn for turn in turns):
        user_turns = [turn for turn in turns if USER_ROLES & {turn.get("role"), turn.get("type")}]
        return (user_turns or turns)[-1]["content"]
    return value


def evidence_texts(row: Row) -> tuple[str, ...]:
    """Return the evidence texts of a row, as RAGAS, DeepEval and LlamaIndex store them."""
    texts = (value for key in EVIDENCE_TEXT_KEYS for value in as_list(row.get(key)))
    return tuple(
        HOP_PREFIX.sub("", value).strip()
        for value in texts
        if isinstance(value, str) and value.strip()
    )

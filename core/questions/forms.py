"""Rows of published question sets and evaluation tools, converted to the usual keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.questions.values import Row, listed

NESTED = "questions"  # key of several questions in one row (QuALITY)
ASKED = ("question", "query", "user_input", "input", "prompt", "text")
ANSWERED = ("answer", "expected_output", "reference", "expected", "output", "response", "text")
INPUTS = ("inputs", "input")  # keys of objects that hold a question
# Keys of objects that hold a known answer.
OUTPUTS = (
    *("outputs", "expected_output", "expected_outputs", "reference_outputs", "expected"),
    *("expectations", "output"),
)
CONTEXTS = ("reference_contexts", "reference_context")  # keys of the evidence texts
RENAMED = frozenset({*INPUTS, *OUTPUTS, *CONTEXTS, "user_input"})
CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
USERS = frozenset({"user", "human"})  # roles that ask in a conversation
HOP = re.compile(r"\A<\d+-hop>\s*")  # prefix of the contexts of RAGAS
ANSWERABLE = "answerable"  # key that marks questions without an answer


def usual_name(name: str) -> str:
    """Return the usual name of a key or column of a question set.

    >>> from core.questions.forms import usual_name
    >>> (usual_name("expectedOutput"), usual_name("inputs.question"), usual_name("User Input"),
    ...  usual_name("outputs.output"))
    ('expected_output', 'question', 'user_input', 'answer')
    """
    first, dot, rest = name.strip().partition(".")
    first, rest = (CAPITAL.sub("_", part).casefold() for part in (first, rest))
    if dot and first in INPUTS:
        return "question" if rest in ASKED else rest
    if dot and first in OUTPUTS:
        return "answer" if rest in ANSWERED else rest
    return name if dot else "_".join(first.split())


def rows_within(row: Row) -> list[Row]:
    """Return the questions of a row as rows with the usual keys.

    The result is the row itself, or the questions that it holds, each with the values that all of
    them share. Several questions are under `questions` (QuALITY) or in the `paragraphs` of SQuAD.
    LlamaIndex maps ids to `queries`. Question and answer may be in objects of their own (LangSmith,
    Langfuse).

    >>> from core.questions.forms import rows_within
    >>> rows_within({"article": "Once.",
    ...     "questions": [{"question": "When?"}, {"question": "Who?"}]})
    [{'article': 'Once.', 'question': 'When?'}, {'article': 'Once.', 'question': 'Who?'}]
    >>> rows_within({"inputs": {"question": "Who?"}, "outputs": {"answer": "Ann"}})
    [{'question': 'Who?', 'answer': 'Ann'}]
    """
    within = _objects(row.get(NESTED))
    if (within or row.get(NESTED) == []) and not any(key in row for key in ASKED):
        shared = {key: value for key, value in row.items() if key != NESTED}
        return [{**shared, **one} for one in within]
    if any("qas" in one for one in _objects(row.get("paragraphs"))):
        return list(_of_squad(row))
    if isinstance(row.get("queries"), Mapping) and isinstance(row.get("relevant_docs"), Mapping):
        return list(_of_llama_index(row))
    return [_unfolded(row)]


def _objects(value: Any) -> list[Row]:
    """Return a list that holds objects only; any other value gives an empty list."""
    found = value if isinstance(value, list) else []
    return found if all(isinstance(one, Mapping) for one in found) else []


def _of_squad(row: Row) -> Iterator[Row]:
    """Yield the questions of a SQuAD article, each with its paragraph."""
    for paragraph in row["paragraphs"]:
        for asked in listed(paragraph.get("qas")):
            if isinstance(asked, Mapping):
                without = {ANSWERABLE: False} if asked.get("is_impossible") is True else {}
                context = paragraph.get("context")
                yield {"title": row.get("title"), "context": context, **asked, **without}


def _of_llama_index(row: Row) -> Iterator[Row]:
    """Yield the queries of an EmbeddingQAFinetuneDataset with the texts of their relevant nodes."""
    texts = row.get("corpus")
    texts = texts if isinstance(texts, Mapping) else {}
    for id, query in row["queries"].items():
        nodes = listed(row["relevant_docs"].get(id))
        yield {"id": id, "question": query, CONTEXTS[0]: [texts.get(node, node) for node in nodes]}


def _unfolded(row: Row) -> Row:
    """Flatten the objects that hold the question and the answer into the row, under usual names."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        name = usual_name(str(key))
        inner = _object(value) if name in (*INPUTS, *OUTPUTS) else None
        for part, held in (inner or {}).items():
            found.setdefault(usual_name(f"{name}.{part}"), held)
        if inner is None:
            known = "." in str(key) or name in RENAMED
            found.setdefault(name if known else key, asked_text(value) if name in ASKED else value)
    if "expected_output" in found and isinstance(found.get("context"), list):
        found[CONTEXTS[0]] = found.pop("context")  # DeepEval's evidence texts
    return found


def _object(value: Any) -> Row | None:
    """Return the object that a value is or that its text encodes; None where there is none."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = next(iter(listed(value)), None)
    return value if isinstance(value, Mapping) else None


def asked_text(value: Any) -> Any:
    """Return the text of an object or conversation that holds a question.

    Any other value is returned unchanged.

    >>> from core.questions.forms import asked_text
    >>> (asked_text({"text": "Who?", "tokens": ["Who"]}),
    ...  asked_text([{"role": "user", "content": "Why?"}]))
    ('Who?', 'Why?')
    """
    if isinstance(value, Mapping):
        return next((value[key] for key in (*ASKED, "content") if key in value), value)
    if isinstance(value, list) and value and all(_is_turn(one) for one in value):
        asked = [one for one in value if USERS & {one.get("role"), one.get("type")}]
        return (asked or value)[-1]["content"]
    return value


def _is_turn(value: Any) -> bool:
    return isinstance(value, Mapping) and "content" in value


def contexts_of(row: Row) -> tuple[str, ...]:
    """Return the evidence texts of a row, as RAGAS, DeepEval and LlamaIndex store them."""
    found = (value for key in CONTEXTS for value in listed(row.get(key)))
    return tuple(
        HOP.sub("", value).strip() for value in found if isinstance(value, str) and value.strip()
    )

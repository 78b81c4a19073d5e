"""Forms in which published sets and tools of evaluation write questions, as rows with the usual keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.questions.values import Row, listed

NESTED = "questions"  # the key of several questions in one row, as QuALITY has them
ASKED = ("question", "query", "user_input", "input", "prompt", "text")
ANSWERED = ("answer", "expected_output", "reference", "expected", "output", "response", "text")
INPUTS = ("inputs", "input")  # keys of objects that hold a question
# and of those that hold what is right
OUTPUTS = (
    *("outputs", "expected_output", "expected_outputs", "reference_outputs", "expected"),
    *("expectations", "output"),
)
CONTEXTS = ("reference_contexts", "reference_context")  # texts that an answer rests on
RENAMED = frozenset({*INPUTS, *OUTPUTS, *CONTEXTS, "user_input"})
CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
USERS = frozenset({"user", "human"})  # who asks in a conversation
HOP = re.compile(r"\A<\d+-hop>\s*")  # in front of the contexts of RAGAS
ANSWERABLE = "answerable"  # the key by which a set marks questions that have no answer


def usual_name(name: str) -> str:
    """The name of a key or column as the question sets of the field write it.

    >>> from core.questions.forms import usual_name
    >>> usual_name("expectedOutput"), usual_name("inputs.question"), usual_name("User Input"), usual_name("outputs.output")
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
    """The questions of a row with the usual keys: itself, or those that it holds, each with what the row says of all of them.

    Several questions are under `questions` (QuALITY), or in the `paragraphs` of SQuAD; LlamaIndex keeps `queries` by their ids. The
    question and the answer may be in objects of their own (LangSmith, Langfuse).

    >>> from core.questions.forms import rows_within
    >>> rows_within({"article": "Once.", "questions": [{"question": "When?"}, {"question": "Who?"}]})
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
    """The objects of a list of nothing else; else none."""
    found = value if isinstance(value, list) else []
    return found if all(isinstance(one, Mapping) for one in found) else []


def _of_squad(row: Row) -> Iterator[Row]:
    """The questions of an article of SQuAD, each with its paragraph."""
    for paragraph in row["paragraphs"]:
        for asked in listed(paragraph.get("qas")):
            if isinstance(asked, Mapping):
                without = {ANSWERABLE: False} if asked.get("is_impossible") is True else {}
                context = paragraph.get("context")
                yield {"title": row.get("title"), "context": context, **asked, **without}


def _of_llama_index(row: Row) -> Iterator[Row]:
    """The queries of an EmbeddingQAFinetuneDataset, each with the texts of its relevant nodes."""
    texts = row.get("corpus")
    texts = texts if isinstance(texts, Mapping) else {}
    for id, query in row["queries"].items():
        nodes = listed(row["relevant_docs"].get(id))
        yield {"id": id, "question": query, CONTEXTS[0]: [texts.get(node, node) for node in nodes]}


def _unfolded(row: Row) -> Row:
    """A row of which the objects that hold the question and the answer are part, under usual names."""
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
        found[CONTEXTS[0]] = found.pop("context")  # what DeepEval's answers rest on
    return found


def _object(value: Any) -> Row | None:
    """The object that a value is, or that its text says; None where it is none."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = next(iter(listed(value)), None)
    return value if isinstance(value, Mapping) else None


def asked_text(value: Any) -> Any:
    """The text in an object or a conversation that holds a question; any other value as it is.

    >>> from core.questions.forms import asked_text
    >>> asked_text({"text": "Who?", "tokens": ["Who"]}), asked_text([{"role": "user", "content": "Why?"}])
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
    """The texts that the answer of a row rests on, as RAGAS, DeepEval and LlamaIndex have them; none where it has none."""
    found = (value for key in CONTEXTS for value in listed(row.get(key)))
    return tuple(
        HOP.sub("", value).strip() for value in found if isinstance(value, str) and value.strip()
    )

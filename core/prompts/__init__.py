"""Prompts of language models: TOML files of templates, and functions that fill them.

A template has placeholders such as {question}. Messages are those of a chat model: `role` and
`content`.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from core.errors import BadParameter, suggest_name
from core.languages import is_english, language_of_question
from core.languages.language import name_of

PROMPTS_FOLDER = Path(__file__).parent
# Prompts of `make_messages` whose reply is an answer or a part of one, by file. For a question in
# another language than English they ask for an answer in that language.
ANSWERING_PROMPTS = {
    "passages": ("context", "numbered", "thought"),
    "texts": ("tables", "map", "reduce"),
    "evidence": ("answer",),
}
TEMPLATE_PLACEHOLDER = re.compile(r"\{([a-z_]{1,40})\}")  # a placeholder such as {question}
# the line between the system message and the user message of a user's own template
MESSAGE_SEPARATOR = re.compile(r"^---[ \t]{0,40}$", re.MULTILINE)
# A line of operators that contains the template has to fit in a web address.
MAX_TEMPLATE_CHARACTERS = 6_000
OWN_SOURCE = "a template of your own"  # the `source` of a prompt that a user wrote


@cache
def load_prompts(file: str) -> dict[str, dict[str, Any]]:
    """Return every prompt of `core/prompts/FILE.toml` by name."""
    return tomllib.loads((PROMPTS_FOLDER / f"{file}.toml").read_text("utf-8"))


def choosing_prompts() -> tuple[str, ...]:
    """Return the names of the prompts for choosing from a list.

    A language model chooses with them.
    """
    return tuple(name for name, row in load_prompts("choose").items() if "replies" in row)


def prompts_digest() -> str:
    """Return a text that changes with any prompt file, for cache keys."""
    sha256 = hashlib.sha256()
    for file in sorted(PROMPTS_FOLDER.glob("*.toml")):
        sha256.update(file.read_bytes())
    return f"prompts {sha256.hexdigest()[:16]}"


def system_text(prompt: dict[str, Any], abstract: bool = False) -> str:
    """Return the system message of a prompt.

    For an abstract question, the words that ask for a short answer are removed. They are the
    prompt's field `short`.

    >>> from core.prompts import load_prompts, system_text
    >>> system_text(load_prompts("answer")["question-in-words"], abstract=True)
    'You answer questions from what you know. If you do not know, say so.'
    """
    if abstract and "short" in prompt:
        return prompt["system"].replace(prompt["short"], "")
    return prompt["system"]


def make_messages(
    file: str, name: str, abstract: bool = False, /, **values: str
) -> tuple[dict[str, str], ...]:
    """Return the system and the user message of a prompt with their placeholders filled.

    Parameters
    ----------
    file : the file of the prompt in `core/prompts`, without its suffix.
    name : the name of the prompt in this file.
    abstract : True for an abstract question, whose answer need not be short.
    values : the texts of the placeholders by name.

    >>> from core.prompts import make_messages
    >>> make_messages("stop", "sufficient", paths="A -> r1 -> C",
    ...     question="where")[1]["content"].splitlines()[:4]
    ['Facts:', 'A -> r1 -> C', '', 'Question: where']
    """
    prompt = load_prompts(file)[name]
    texts = {"system": system_text(prompt, abstract), "user": prompt["user"]}
    messages = tuple(
        {"role": role, "content": fill_template(text, **values)} for role, text in texts.items()
    )
    if name in ANSWERING_PROMPTS.get(file, ()) and "question" in values:
        return ask_for_language(messages, values["question"])
    return messages


def with_examples(
    file: str, prompt: dict[str, Any], shots: int, abstract: bool = False, /, **values: str
) -> tuple[dict[str, str], ...]:
    """Return a prompt's messages with its first `shots` solved examples.

    Each example is a turn of the conversation, or a part of the user message if the prompt has the
    field `with_examples`. If the prompt's `examples` is the name of another prompt of the same
    `file`, the examples of that prompt are used. `values` are the texts of the placeholders by
    name, and `abstract` is True for an abstract question.

    >>> from core.prompts import load_prompts, with_examples
    >>> prompt = load_prompts("answer")["walk-and-retrieve"]
    >>> [one["role"] for one
    ...     in with_examples("answer", prompt, 1, question="where", paths="A is in B")]
    ['system', 'user', 'assistant', 'user']
    >>> with_examples("answer", load_prompts("answer")["lego-graphrag"], 1, question="where",
    ...     paths="A -> r1 -> C")[1]["content"][:10]
    '# Examples'
    """
    examples = prompt.get("examples", ())
    if isinstance(examples, str):
        examples = load_prompts(file)[examples]["examples"]
    examples = examples[:shots]
    text = fill_template(prompt["user"], **values)
    messages: list[dict[str, str]] = []
    system = system_text(prompt, abstract)
    if system:
        messages.append({"role": "system", "content": fill_template(system, **values)})
    if examples and "with_examples" in prompt:
        example_texts = [fill_template(prompt["example"], **example) for example in examples]
        text = fill_template(
            prompt["with_examples"], examples="\n\n".join(example_texts), input=text
        )
    else:
        for example in examples:
            messages.append({"role": "user", "content": fill_template(prompt["user"], **example)})
            messages.append({"role": "assistant", "content": example["answer"]})
    messages.append({"role": "user", "content": text})
    # a user's own template gets no sentence on the language
    if prompt.get("source") == OWN_SOURCE or "question" not in values:
        return tuple(messages)
    return ask_for_language(tuple(messages), values["question"])


def ask_for_language(
    messages: tuple[dict[str, str], ...], question: str
) -> tuple[dict[str, str], ...]:
    """Ask for the answer's language if the question is not in English.

    The language is added to the messages if the question is clearly not in English. Otherwise the
    messages are returned unchanged.

    >>> from core.prompts import ask_for_language
    >>> messages = ({"role": "system", "content": "Be brief."},
    ...     {"role": "user", "content": "Wer baute den Turm?"})
    >>> ask_for_language(messages, "Wer baute den Turm?")[0]["content"]
    'Be brief. Answer in German, the language of the question.'
    """
    code = language_of_question(question, False)
    if is_english(code):
        return messages
    return add_instruction(messages, f"Answer in {name_of(code)}, the language of the question.")


def add_instruction(
    messages: Iterable[Mapping[str, str]], sentence: str
) -> tuple[dict[str, str], ...]:
    """Append a sentence to the system message. If there is none, a system message is added."""
    first, *rest = map(dict, messages)
    if first["role"] != "system":
        return {"role": "system", "content": sentence}, first, *rest
    return first | {"content": f"{first['content'].rstrip()} {sentence}"}, *rest


def placeholders_of(template: str) -> set[str]:
    """Return the names of a template's placeholders.

    >>> from core.prompts import placeholders_of
    >>> sorted(placeholders_of('{paths} as {"json": 1}: {question}'))
    ['paths', 'question']
    """
    return set(TEMPLATE_PLACEHOLDER.findall(template))


def own_prompt(template: str, placeholders: Iterable[str]) -> dict[str, Any]:
    """Check a user's template and return it as a prompt, like those of `load_prompts`.

    The text before a line `---` is the system message, and the rest is the user message. Without
    such a line there is no system message. Raises BadParameter for a template without {question},
    with a placeholder that is not in `placeholders`, or with more than `MAX_TEMPLATE_CHARACTERS`.

    >>> from core.prompts import own_prompt
    >>> own_prompt("Be brief.\\n---\\n{paths}\\nQ: {question}", ("question", "paths"))
    {'system': 'Be brief.', 'user': '{paths}\\nQ: {question}', 'source': 'a template of your own'}
    """
    known_names = tuple(placeholders)
    template_names = placeholders_of(template)
    if len(template) > MAX_TEMPLATE_CHARACTERS:
        raise BadParameter(
            f"A template has at most {MAX_TEMPLATE_CHARACTERS:,} characters, this one {len(template):,}."
        )
    if unknown_names := sorted(template_names - set(known_names)):
        known_placeholders = ", ".join(f"{{{name}}}" for name in known_names)
        raise BadParameter(
            f"The template has a place {{{unknown_names[0]}}} that nothing fills; there are "
            f"{known_placeholders}.{suggest_name(unknown_names[0], known_names)}"
        )
    if "question" not in template_names:
        raise BadParameter(
            "The template does not say {question}, so the language model would not know what is "
            "asked."
        )
    *head, user = MESSAGE_SEPARATOR.split(template, maxsplit=1)
    return {"system": "".join(head).strip(), "user": user.strip(), "source": OWN_SOURCE}


def fill_template(template: str, **values: str) -> str:
    """Return a template with the placeholders of `values` filled.

    All are filled in one pass, so braces in the inserted texts stay. Other braces stay too.

    >>> from core.prompts import fill_template
    >>> fill_template('{question} as {"json": 1}', question="who is {name}", name="Ann")
    'who is {name} as {"json": 1}'
    """
    pattern = "|".join(f"{{{name}}}" for name in values)
    return re.sub(pattern, lambda match: values[match[0][1:-1]], template)


def one_line(text: str) -> str:
    """Return a text on one line, with single spaces, as prompts list them."""
    return " ".join(text.split())


def numbered_list(texts: Iterable[str]) -> str:
    """Return texts as a numbered list, one a line, from 1.

    >>> from core.prompts import numbered_list
    >>> print(numbered_list(["directed_by", "has genre"]))
    1. directed_by
    2. has genre
    """
    return "\n".join(f"{number}. {one_line(text)}" for number, text in enumerate(texts, 1))

"""The prompts of language models, which are read from data files once."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from core.errors import BadParameter, nearest
from core.languages import is_english, language_of_question
from core.languages.language import name_of

FOLDER = Path(__file__).parent
# Prompts of `messages` whose reply is an answer or a part of one, by file.
ANSWERING = {
    "passages": ("context", "numbered", "thought"),
    "texts": ("tables", "map", "reduce"),
    "evidence": ("answer",),
}
PLACE = re.compile(r"\{([a-z_]{1,40})\}")  # a placeholder such as {question}
# The line between a template's system message and its user message.
PARTS = re.compile(r"^---[ \t]{0,40}$", re.MULTILINE)
# Characters of a template. A line of operators that contains it has to fit in a web address.
LONGEST_TEMPLATE = 6_000
OWN_SOURCE = "a template of your own"


@cache
def prompts(file: str) -> dict[str, dict[str, Any]]:
    """Return every prompt of `core/prompts/FILE.toml` by name."""
    return tomllib.loads((FOLDER / f"{file}.toml").read_text("utf-8"))


def choosing_prompts() -> tuple[str, ...]:
    """Return the names of the prompts by which a language model chooses from a list."""
    return tuple(name for name, row in prompts("choose").items() if "replies" in row)


def digest() -> str:
    """Return a text that changes with any prompt."""
    whole = hashlib.sha256()
    for file in sorted(FOLDER.glob("*.toml")):
        whole.update(file.read_bytes())
    return f"prompts {whole.hexdigest()[:16]}"


def system(prompt: dict[str, Any], abstract: bool = False) -> str:
    """Return the system message of a prompt.

    For an abstract question, its words on short answers are removed, which are under `short`.

    >>> from core.prompts import prompts, system
    >>> system(prompts("answer")["question-in-words"], abstract=True)
    'You answer questions from what you know. If you do not know, say so.'
    """
    if abstract and "short" in prompt:
        return prompt["system"].replace(prompt["short"], "")
    return prompt["system"]


def messages(
    file: str, name: str, abstract: bool = False, /, **values: str
) -> tuple[dict[str, str], ...]:
    """Return a prompt's system and user message with their placeholders filled.

    Parameters
    ----------
    file, name : the file of the prompt and its name.
    abstract : True for an abstract question.
    values : the texts of the placeholders.

    >>> from core.prompts import messages
    >>> messages("stop", "sufficient", paths="A -> r1 -> C",
    ...     question="where")[1]["content"].splitlines()[:4]
    ['Facts:', 'A -> r1 -> C', '', 'Question: where']
    """
    prompt = prompts(file)[name]
    texts = {"system": system(prompt, abstract), "user": prompt["user"]}
    sent = tuple({"role": role, "content": filled(text, **values)} for role, text in texts.items())
    if name in ANSWERING.get(file, ()) and "question" in values:
        return answered_in(sent, values["question"])
    return sent


def with_examples(
    file: str, prompt: dict[str, Any], shots: int, abstract: bool = False, /, **values: str
) -> tuple[dict[str, str], ...]:
    """Return a prompt's messages with its first `shots` solved examples.

    Each example is a turn of the conversation. If the prompt has a text `with_examples`, all are in
    the user message. The prompt's `examples` may be the name of another prompt of the same `file`,
    whose examples are used. `values` are the texts of the placeholders.

    >>> from core.prompts import prompts, with_examples
    >>> prompt = prompts("answer")["walk-and-retrieve"]
    >>> [one["role"] for one
    ...     in with_examples("answer", prompt, 1, question="where", paths="A is in B")]
    ['system', 'user', 'assistant', 'user']
    >>> with_examples("answer", prompts("answer")["lego-graphrag"], 1, question="where",
    ...     paths="A -> r1 -> C")[1]["content"][:10]
    '# Examples'
    """
    examples = prompt.get("examples", ())
    solved = (prompts(file)[examples]["examples"] if isinstance(examples, str) else examples)[
        :shots
    ]
    text, turns = filled(prompt["user"], **values), list[dict[str, str]]()
    if solved and "with_examples" in prompt:
        listed = "\n\n".join(filled(prompt["example"], **example) for example in solved)
        text = filled(prompt["with_examples"], examples=listed, input=text)
    else:
        for example in solved:
            turns.append({"role": "user", "content": filled(prompt["user"], **example)})
            turns.append({"role": "assistant", "content": example["answer"]})
    head = [{"role": "system", "content": said}] if (said := system(prompt, abstract)) else []
    sent = (*head, *turns, {"role": "user", "content": text})
    own = prompt.get("source") == OWN_SOURCE
    return sent if own or "question" not in values else answered_in(sent, values["question"])


def answered_in(sent: tuple[dict[str, str], ...], question: str) -> tuple[dict[str, str], ...]:
    """Add the language of the answer to the messages, if the question is clearly not in English.

    For English questions the messages are unchanged.

    >>> from core.prompts import answered_in
    >>> sent = ({"role": "system", "content": "Be brief."},
    ...     {"role": "user", "content": "Wer baute den Turm?"})
    >>> answered_in(sent, "Wer baute den Turm?")[0]["content"]
    'Be brief. Answer in German, the language of the question.'
    """
    code = language_of_question(question, False)
    if is_english(code):
        return sent
    return instructed(sent, f"Answer in {name_of(code)}, the language of the question.")


def instructed(sent: Iterable[Mapping[str, str]], sentence: str) -> tuple[dict[str, str], ...]:
    """Append a sentence to the system message, which is created where there is none."""
    first, *rest = map(dict, sent)
    if first["role"] != "system":
        return {"role": "system", "content": sentence}, first, *rest
    return first | {"content": f"{first['content'].rstrip()} {sentence}"}, *rest


def places_of(template: str) -> set[str]:
    """Return the names of a template's placeholders.

    >>> from core.prompts import places_of
    >>> sorted(places_of('{paths} as {"json": 1}: {question}'))
    ['paths', 'question']
    """
    return set(PLACE.findall(template))


def own_prompt(template: str, places: Iterable[str]) -> dict[str, Any]:
    """Return the prompt of a user's template.

    The text before a line `---` is the system message, and the rest is the user message. Raises
    BadParameter for a template without {question}, with a placeholder that is not in `places`, or
    too long.

    >>> from core.prompts import own_prompt
    >>> own_prompt("Be brief.\\n---\\n{paths}\\nQ: {question}", ("question", "paths"))
    {'system': 'Be brief.', 'user': '{paths}\\nQ: {question}', 'source': 'a template of your own'}
    """
    known = tuple(places)
    named = places_of(template)
    if len(template) > LONGEST_TEMPLATE:
        raise BadParameter(
            f"A template has at most {LONGEST_TEMPLATE:,} characters, this one {len(template):,}."
        )
    if strange := sorted(named - set(known)):
        all_places = ", ".join(f"{{{name}}}" for name in known)
        raise BadParameter(
            f"The template has a place {{{strange[0]}}} that nothing fills; there are "
            f"{all_places}.{nearest(strange[0], known)}"
        )
    if "question" not in named:
        raise BadParameter(
            "The template does not say {question}, so the language model would not know what is "
            "asked."
        )
    *head, user = PARTS.split(template, maxsplit=1)
    return {"system": "".join(head).strip(), "user": user.strip(), "source": OWN_SOURCE}


def filled(template: str, **values: str) -> str:
    """Fill the placeholders of a template.

    All are filled at once, so braces in the filled texts are kept.

    >>> from core.prompts import filled
    >>> filled('{question} as {"json": 1}', question="who is {name}", name="Ann")
    'who is {name} as {"json": 1}'
    """
    return re.sub(
        "|".join(f"{{{name}}}" for name in values), lambda place: values[place[0][1:-1]], template
    )


def plain(text: str) -> str:
    """Return a text on one line, with single spaces, as prompts list them."""
    return " ".join(text.split())


def numbered(texts: Iterable[str]) -> str:
    """Return texts as a numbered list, one a line, from 1.

    >>> from core.prompts import numbered
    >>> print(numbered(["directed_by", "has genre"]))
    1. directed_by
    2. has genre
    """
    return "\n".join(f"{number}. {plain(text)}" for number, text in enumerate(texts, 1))

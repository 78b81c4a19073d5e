"""Instances with another prompt: one that a paper prints, or a person's own template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from core.errors import BadInput, nearest
from core.instances.catalogue import Instance
from core.models.combine import with_prompt
from core.operators.base import Operator
from core.operators.generate import PLACES as PATH_PLACES
from core.operators.generate import PROMPTS, READS, Answer
from core.operators.texts.answer.generate import PLACES as TABLE_PLACES
from core.operators.texts.answer.generate import AnswerFromTables
from core.operators.texts.answer.passages import PLACES as PASSAGE_PLACES
from core.operators.texts.answer.passages import AnswerFromPassages
from core.parameters import parameters, values
from core.prompts import LONGEST_TEMPLATE, choosing_prompts, own_prompt, places_of, prompts

OWN = "own prompt"
EVERY_PLACE = tuple(dict.fromkeys((*PATH_PLACES, *TABLE_PLACES, *PASSAGE_PLACES)))


def published_prompts() -> dict[str, str]:
    """Return the prompts that follow a paper's, by name, with the paper.

    They are prompts for the answer, for choosing, or for both.
    """
    rows = {**prompts("choose"), **prompts("answer")}
    return {name: row["source"] for name, row in rows.items() if "source" in row}


def prompt_given(text: str) -> str:
    """Return the prompt that a person named: its name, or the text of a file.

    Raises BadInput.
    """
    if text in PROMPTS or text in choosing_prompts():
        return text
    file = Path(text)
    try:
        if file.stat().st_size > 4 * LONGEST_TEMPLATE:
            raise BadInput(
                f"{file} is too long for a prompt, which has at most {LONGEST_TEMPLATE:,} "
                "characters."
            )
        return file.read_text("utf-8")
    except (OSError, ValueError) as error:
        known = (*PROMPTS, *choosing_prompts())
        raise BadInput(
            f"“{text}” is no prompt and no file of UTF-8 text.{nearest(text, known)}"
        ) from error


def prompted(
    instances: Sequence[Instance], prompt: str, is_chat: Callable[[str], bool]
) -> tuple[tuple[Instance, ...], tuple[str, ...]]:
    """Return the instances with that prompt, and a sentence on each that keeps its own.

    An instance keeps its prompt if its model is shown something that the new one has no place for.

    Parameters
    ----------
    prompt : the name of a prompt (core/prompts), or a template with {question} and what the
        answering model is shown: {paths}, {paths} with {reports}, {tables} or {passages}. A named
        prompt is given to the answering model and to the language models that choose, if it has a
        variant for them.
    is_chat : returns whether a name is that of a language model.

    Raises
    ------
    BadParameter
        If a template fits no answering operator.

    Examples
    --------
    >>> from core.instances.catalogue import find
    >>> from core.instances.prompted import prompted
    >>> is_chat = lambda name: name == "choose"
    >>> (one,), notes = prompted([find("lego-13")], "lego-graphrag", is_chat)
    >>> one.name, one.line.operators[3].prompt, notes
    ('No. 13, prompt lego-graphrag', 'lego-graphrag', ())
    >>> one.line.operators[2].model
    'prefilter(encoder, prompted(choose, lego-graphrag), 32)'
    """
    known = prompt in PROMPTS or prompt in choosing_prompts()
    if not known:
        own_prompt(prompt, EVERY_PLACE)
    found, notes = list[Instance](), list[str]()
    for one in instances:
        line = one.line.changed(lambda operator: _asked_by(operator, prompt, known, is_chat))
        if repr(line) == repr(one.line):
            found.append(one)
            notes.append(
                f"{one.name} keeps its own prompt: this one does not show what it is shown."
            )
        else:
            short = f"{one.name}, {f'prompt {prompt}' if known else OWN}"
            found.append(Instance(repr(line), one.title, line, short=short, notes=one.notes))
    return tuple(found), tuple(notes)


def _asked_by(
    operator: Operator, prompt: str, known: bool, is_chat: Callable[[str], bool]
) -> Operator:
    """Return the operator with that prompt for each of its language models that can use it."""
    if isinstance(operator, Answer | AnswerFromTables | AnswerFromPassages):
        return _answering(operator, prompt, known)
    if prompt not in choosing_prompts():
        return operator
    given = values(operator)
    models = [
        one for one in parameters(type(operator)) if one.model and given[one.name] not in one.also
    ]
    new = {one.name: with_prompt(given[one.name], is_chat, prompt) for one in models}
    if any(given[name] != text for name, text in new.items()):
        return replace(operator, **new)
    return operator


def _answering(
    operator: Answer | AnswerFromTables | AnswerFromPassages, prompt: str, known: bool
) -> Operator:
    shown = {AnswerFromTables: {"tables"}, AnswerFromPassages: {"passages"}}.get(
        type(operator)
    ) or set(operator.reads)
    if known and isinstance(operator, Answer) and prompt in PROMPTS and set(READS[prompt]) == shown:
        return replace(operator, prompt=prompt, template="")
    if known:
        return operator
    if places_of(prompt) - {"question"} == shown:
        return replace(operator, template=prompt)
    return operator

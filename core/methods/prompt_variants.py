"""Variants of methods with another prompt: a paper's prompt, or a user's own template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from core.errors import BadInput, suggest_name
from core.methods.catalogue import Method
from core.models.combine import with_prompt
from core.operators.base import Operator
from core.operators.generate import ANSWER_PROMPTS, PATH_PLACES, PROMPT_READS, Answer
from core.operators.texts.answer.generate import TABLE_PLACES, AnswerFromTables
from core.operators.texts.answer.passages import PASSAGE_PLACES, AnswerFromPassages
from core.parameters import parameter_values, parameters
from core.prompts import (
    MAX_TEMPLATE_CHARACTERS,
    choosing_prompts,
    load_prompts,
    own_prompt,
    placeholders_of,
)

OWN_PROMPT_LABEL = "own prompt"
# Placeholders of templates for any answering operator.
ALL_PLACEHOLDERS = tuple(dict.fromkeys((*PATH_PLACES, *TABLE_PLACES, *PASSAGE_PLACES)))


def published_prompts() -> dict[str, str]:
    """Return the prompts for choosing or answering that follow a paper: the paper by prompt name."""
    prompts = {**load_prompts("choose"), **load_prompts("answer")}
    return {name: prompt["source"] for name, prompt in prompts.items() if "source" in prompt}


def read_prompt(text: str) -> str:
    """Return the name of a known prompt, or a file's template.

    The name is unchanged. Raises BadInput if there is neither such a prompt nor such a file.
    """
    if text in ANSWER_PROMPTS or text in choosing_prompts():
        return text
    file = Path(text)
    try:
        # a character has at most four bytes in UTF-8
        if file.stat().st_size > 4 * MAX_TEMPLATE_CHARACTERS:
            raise BadInput(
                f"{file} is too long for a prompt, which has at most {MAX_TEMPLATE_CHARACTERS:,} "
                "characters."
            )
        return file.read_text("utf-8")
    except (OSError, ValueError) as error:
        names = (*ANSWER_PROMPTS, *choosing_prompts())
        raise BadInput(
            f"“{text}” is no prompt and no file of UTF-8 text.{suggest_name(text, names)}"
        ) from error


def methods_with_prompt(
    methods: Sequence[Method], prompt: str, is_chat: Callable[[str], bool]
) -> tuple[tuple[Method, ...], tuple[str, ...]]:
    """Return the methods with another prompt, and sentences on the rest.

    There is one sentence on each method that keeps its own prompt. A method keeps its prompt if the
    new one does not have the placeholders for what its language model is shown.

    Parameters
    ----------
    prompt : the name of a prompt (core/prompts), or the text of a template with {question} and what
        the answering model is shown: {paths}, {paths} with {reports}, {tables} or {passages}. A
        named prompt is used for the answering model, and for the language models that choose if
        it has a variant for them.
    is_chat : returns True for the name or role of a language model.

    Raises
    ------
    BadParameter
        If a template fits no answering operator.

    Examples
    --------
    >>> from core.methods.catalogue import find_method
    >>> from core.methods.prompt_variants import methods_with_prompt
    >>> is_chat = lambda name: name == "choose"
    >>> (one,), notes = methods_with_prompt([find_method("lego-13")], "lego-graphrag", is_chat)
    >>> one.name, one.line.operators[3].prompt, notes
    ('No. 13, prompt lego-graphrag', 'lego-graphrag', ())
    >>> one.line.operators[2].model
    'prefilter(encoder, prompted(choose, lego-graphrag), 32)'
    """
    is_named_prompt = prompt in ANSWER_PROMPTS or prompt in choosing_prompts()
    if not is_named_prompt:
        own_prompt(prompt, ALL_PLACEHOLDERS)  # raises if it is not a template
    changed_methods, notes = list[Method](), list[str]()
    for method in methods:
        line = method.line.map_operators(
            lambda operator: _operator_with_prompt(operator, prompt, is_named_prompt, is_chat)
        )
        if repr(line) == repr(method.line):
            changed_methods.append(method)
            notes.append(
                f"{method.name} keeps its own prompt: this one does not show what it is shown."
            )
        else:
            label = f"prompt {prompt}" if is_named_prompt else OWN_PROMPT_LABEL
            short = f"{method.name}, {label}"
            changed_methods.append(
                Method(repr(line), method.title, line, short=short, notes=method.notes)
            )
    return tuple(changed_methods), tuple(notes)


def _operator_with_prompt(
    operator: Operator, prompt: str, is_named: bool, is_chat: Callable[[str], bool]
) -> Operator:
    """Return the operator with the prompt, if a model can use it.

    If none of its models can, it is unchanged. `is_named` is True for the name of a prompt, False
    for a template.
    """
    if isinstance(operator, Answer | AnswerFromTables | AnswerFromPassages):
        return _answering_with_prompt(operator, prompt, is_named)
    if prompt not in choosing_prompts():
        return operator
    settings = parameter_values(operator)
    changes = {}
    for parameter in parameters(type(operator)):
        model = settings[parameter.name]
        if parameter.model and model not in parameter.also:
            changes[parameter.name] = with_prompt(model, is_chat, prompt)
    return replace(operator, **changes) if changes else operator


def _answering_with_prompt(
    operator: Answer | AnswerFromTables | AnswerFromPassages, prompt: str, is_named: bool
) -> Operator:
    """Return the answering operator with the prompt. It is unchanged if the prompt does not fit."""
    # the placeholders that the operator fills; those of a subclass are the fields that it reads
    if type(operator) is AnswerFromTables:
        shown_fields = {"tables"}
    elif type(operator) is AnswerFromPassages:
        shown_fields = {"passages"}
    else:
        shown_fields = set(operator.reads)
    if not is_named:
        fits = placeholders_of(prompt) - {"question"} == shown_fields
        return replace(operator, template=prompt) if fits else operator
    if isinstance(operator, Answer) and prompt in ANSWER_PROMPTS:
        if set(PROMPT_READS[prompt]) == shown_fields:
            return replace(operator, prompt=prompt, template="")
    return operator

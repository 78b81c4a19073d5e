"""Warnings about models, questions and texts in different languages.

They become notes in the trace of an operator, and advice on the screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from core.graph.names.language import graph_language
from core.languages import is_english, language_of_question
from core.languages.language import name_of
from core.models.combine import model_names
from core.models.languages import MULTILINGUAL_ADVICE, other_trained_languages
from core.parameters import Parameter, parameters

WORD_MODELS = ("bm25", "tfidf", "tf-idf", "n-gram", "lsa", "lda")  # models that compare words only


def language_mismatches(
    operators: Iterable[Any], models: Any, text_language: str, question: str, noun: str = "texts"
) -> tuple[str, ...]:
    """Return sentences on models and word searches that do not fit the languages.

    A model may not be trained on the language of the question or of the texts. A question in
    another language than the texts shares few words with them, so word search finds little.

    Parameters
    ----------
    operators : the operators of a line.
    models : the models of the environment.
    text_language : language code of the texts; empty if it is not known.
    question : the question; empty if there is none yet.
    noun : word for the texts of the graph, "texts" or "names".
    """
    question_language = (
        language_of_question(question, not is_english(text_language)) if question else ""
    )
    if is_english(text_language) and is_english(question_language):
        return ()
    operators = tuple(operators)
    sentences: list[str] = []
    for name in dict.fromkeys(_model_names(operators)):
        sentences += _model_mismatch(models, name, text_language, question_language, noun)
    is_known = question_language and text_language
    if is_known and question_language != text_language and _has_word_search(operators):
        sentences.append(
            f"The question is in {name_of(question_language)} and the {noun} are in "
            f"{name_of(text_language)}: they share few words, so that a search by words finds "
            "little."
        )
    return tuple(sentences)


def notes_on_language(
    operators: Iterable[Any], graph: Any, models: Any, question: str
) -> tuple[str, ...]:
    """Return the mismatches of operators that run on a graph.

    The result is empty for a graph of another type, which cannot cache its language in `derived`.
    """
    if graph is None or not hasattr(graph, "derived"):
        return ()
    noun = "texts" if graph.columns.chunks is not None else "names"
    return language_mismatches(operators, models, graph_language(graph).code, question, noun)


def _model_mismatch(
    models: Any, name: str, text_code: str, question_code: str, noun: str
) -> list[str]:
    """Return a sentence if a model was not trained on a language.

    The language is that of the question or of the texts.
    """
    # the languages that the model was trained on, in words; empty if it knows the language
    trained_for_texts = other_trained_languages(models, name, text_code)
    trained_for_question = other_trained_languages(models, name, question_code)
    clauses = []
    if trained_for_question and trained_for_texts and text_code == question_code:
        clauses.append(f"the question and the {noun} are in {name_of(text_code)}")
    else:
        if trained_for_question:
            clauses.append(f"the question is in {name_of(question_code)}")
        if trained_for_texts and text_code != question_code:
            clauses.append(f"the {noun} are in {name_of(text_code)}")
    if not clauses:
        return []
    return [
        f"{models.title(name)} was trained on {trained_for_question or trained_for_texts} alone, "
        f"and {' and '.join(clauses)}: what it holds near in meaning says little. "
        f"{MULTILINGUAL_ADVICE}"
    ]


def _text_parameters(operators: Iterable[Any]) -> Iterator[tuple[Parameter, str]]:
    """Yield the text parameters of all operators, with their values."""
    for operator in operators:
        for part in operator.parts():
            for parameter in parameters(type(part)):
                value = getattr(part, parameter.name)
                if isinstance(value, str):
                    yield parameter, value


def _model_names(operators: Iterable[Any]) -> Iterator[str]:
    """Yield the models, other than language models, that operators name."""
    for parameter, value in _text_parameters(operators):
        if parameter.model and not parameter.chat and value not in parameter.also:
            yield from model_names(value)


def _has_word_search(operators: Iterable[Any]) -> bool:
    """Return whether a parameter of the operators names a model that compares words only."""
    return any(value in WORD_MODELS for _, value in _text_parameters(operators))

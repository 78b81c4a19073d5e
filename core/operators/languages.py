"""Warnings about models, questions and texts in different languages.

They are shown before a run costs anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from core.graph.names.language import graph_language
from core.languages import is_english, language_of_question
from core.languages.language import name_of
from core.models.combine import model_names
from core.models.languages import MULTILINGUAL_ADVICE, other_trained_languages
from core.parameters import parameters

WORD_MODELS = ("bm25", "tfidf", "tf-idf", "n-gram", "lsa", "lda")  # models that compare words only


def language_mismatches(
    operators: Iterable[Any], models: Any, text_language: str, question: str, noun: str = "texts"
) -> tuple[str, ...]:
    """Return sentences on models or words that do not fit the languages.

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
    operators, sentences = tuple(operators), list[str]()
    for name in dict.fromkeys(_models(operators)):
        sentences += _model_mismatch(models, name, text_language, question_language, noun)
    if (
        question_language
        and text_language
        and question_language != text_language
        and any(_compares_words(operator) for operator in operators)
    ):
        question_clause = f"The question is in {name_of(question_language)}"
        clause = f"{question_clause} and the {noun} are in {name_of(text_language)}"
        sentences.append(f"{clause}: they share few words, so that a search by words finds little.")
    return tuple(sentences)


def notes_on_language(
    operators: Iterable[Any], graph: Any, models: Any, question: str
) -> tuple[str, ...]:
    """Return the mismatches of operators that run on a graph.

    The result is empty if the language of the graph cannot be determined.
    """
    if graph is None or not hasattr(graph, "derived"):
        return ()
    noun = "texts" if graph.columns.chunks is not None else "names"
    return language_mismatches(operators, models, graph_language(graph).code, question, noun)


def _model_mismatch(
    models: Any, name: str, text_code: str, asked_code: str, noun: str
) -> Iterator[str]:
    theirs = other_trained_languages(models, name, text_code)
    its = other_trained_languages(models, name, asked_code)
    what = [f"the question is in {name_of(asked_code)}"] if its else []
    if theirs and text_code != asked_code:
        what.append(f"the {noun} are in {name_of(text_code)}")
    if its and theirs and text_code == asked_code:
        what = [f"the question and the {noun} are in {name_of(text_code)}"]
    if what:
        title = models.title(name)
        yield (
            f"{title} was trained on {its or theirs} alone, and {' and '.join(what)}: what it "
            f"holds near in meaning says little. {MULTILINGUAL_ADVICE}"
        )


def _models(operators: Iterable[Any]) -> Iterator[str]:
    """Yield the models, other than language models, that operators name."""
    for operator in operators:
        for part in operator.parts():
            for parameter in parameters(type(part)):
                value = getattr(part, parameter.name)
                if (
                    parameter.model
                    and not parameter.chat
                    and isinstance(value, str)
                    and value not in parameter.also
                ):
                    yield from model_names(value)


def _compares_words(operator: Any) -> bool:
    values = (
        getattr(part, parameter.name)
        for part in operator.parts()
        for parameter in parameters(type(part))
    )
    return any(value in WORD_MODELS for value in values if isinstance(value, str))

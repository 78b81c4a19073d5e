"""Questions by a language model, saved as a question set of their corpus.

The set can then be evaluated like any other.
"""

from __future__ import annotations

from core.corpus import Corpus, corpora
from core.datasets.own_sets import clean_name
from core.errors import BadInput
from core.evaluation.questions.abstract_questions import AbstractQuestionWriter, WrittenQuestions
from core.evaluation.questions.linked_questions import LINKED_ID_PREFIX, LinkedQuestionWriter
from core.runtime.jobs import Job


def default_set_name(corpus: str) -> str:
    """Return the default name of a set of written questions.

    It is made from the name of the corpus.
    """
    return f"{corpus}-abstract"


def check_set_name(corpus: Corpus, name: str) -> str:
    """Check that a set of written questions may have a name.

    Parameters
    ----------
    corpus : the corpus of the questions.
    name : the name.

    Returns
    -------
    The same name.

    Raises
    ------
    BadInput : the name is invalid, belongs to another corpus, or belongs to a set with known
        answers or gold passages.
    """
    if not name or clean_name(name) != name:
        raise BadInput(
            f"“{name}” cannot be a set's name; give one of small letters, digits and dashes, such "
            f"as {default_set_name(corpus.name)}."
        )
    owner = next((other for other, entry in corpora().items() if name in entry.sets), corpus.name)
    if owner != corpus.name:
        raise BadInput(
            f"The corpus “{owner}” has a question set “{name}” already; choose another name."
        )
    questions = corpus.questions(name) if name in corpus.sets else ()
    # Linked questions have gold passages although they are written, so they may be replaced.
    others = (one for one in questions if not one.id.startswith(LINKED_ID_PREFIX))
    if any(question.answers or question.gold for question in others):
        raise BadInput(
            f"The set “{name}” has correct answers, and written questions have none; choose "
            "another name."
        )
    return name


def save_question_set(
    corpus: Corpus,
    written: WrittenQuestions,
    name: str,
    writer: str,
    kind: str = AbstractQuestionWriter.kind,
) -> Corpus:
    """Save written questions as a set of their corpus.

    An earlier set of that name is replaced.

    Parameters
    ----------
    corpus : the corpus of the questions.
    written : the questions, as a writer returns them.
    name : name of the set.
    writer : title of the model that wrote them, for the title of the set.
    kind : kind of the questions, for the title of the set.

    Returns
    -------
    The corpus with that set.

    Raises
    ------
    BadInput : the name is refused by `check_set_name`.
    """
    title = f"{corpus.title}, {kind}, written by {writer}"
    return corpus.with_questions({check_set_name(corpus, name): (title, written.questions)})


def start_writing(engine, writer: AbstractQuestionWriter | LinkedQuestionWriter, name: str) -> Job:
    """Start the job that writes questions and saves them as a set.

    Parameters
    ----------
    engine : the engine that runs the job.
    writer : writes the questions.
    name : name of the set.

    Returns
    -------
    The job, whose result is the written questions.

    Raises
    ------
    BadInput : the name is refused by `check_set_name`.
    """
    check_set_name(writer.corpus, name)

    def write_and_save(job: Job) -> WrittenQuestions:
        written = writer(job)
        model_title = writer.models.title(writer.role)
        save_question_set(writer.corpus, written, name, model_title, writer.kind)
        return written

    key = writing_job_key(writer.corpus.name)
    return engine.evaluations.run(key, write_and_save, again=True)


def writing_job_key(corpus: str) -> str:
    """Return the key of the job that writes questions for a corpus."""
    return f"questions-{corpus}"

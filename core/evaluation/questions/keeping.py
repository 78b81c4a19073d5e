"""Written questions saved as a question set of their corpus."""

from __future__ import annotations

from core.corpus import Corpus, corpora
from core.datasets.own import clean_name
from core.errors import BadInput
from core.evaluation.questions.linked import LINKED, LinkedWriting
from core.evaluation.questions.writing import Writing, Written
from core.runtime.jobs import Job


def usual_name(corpus: str) -> str:
    """Return the default name of a set of written questions, from the name of its corpus."""
    return f"{corpus}-abstract"


def check_name(corpus: Corpus, name: str) -> str:
    """Return a name after checking that a set of written questions may have it.

    Raises BadInput if the name is invalid, belongs to another corpus, or belongs to a set with
    known answers or gold passages.
    """
    if not name or clean_name(name) != name:
        raise BadInput(
            f"“{name}” cannot be a set's name; give one of small letters, digits and dashes, such "
            f"as {usual_name(corpus.name)}."
        )
    owner = next((other for other, known in corpora().items() if name in known.sets), corpus.name)
    if owner != corpus.name:
        raise BadInput(
            f"The corpus “{owner}” has a question set “{name}” already; choose another name."
        )
    known = [
        question
        for question in (corpus.questions(name) if name in corpus.sets else ())
        if not question.id.startswith(LINKED)
    ]
    if any(question.answers or question.gold for question in known):
        raise BadInput(
            f"The set “{name}” has known answers, which written questions have not; choose "
            "another name."
        )
    return name


def keep(
    corpus: Corpus, written: Written, name: str, writer: str, kind: str = Writing.kind
) -> Corpus:
    """Save written questions as a set of their corpus, replacing an earlier set of that name.

    The title names the `writer` and the `kind` of questions. Raises BadInput as `check_name` does.
    """
    title = f"{corpus.title}, {kind}, written by {writer}"
    return corpus.with_questions({check_name(corpus, name): (title, written.questions)})


def start(engine, writing: Writing | LinkedWriting, name: str) -> Job:
    """Start the job that writes questions and saves them as a set.

    The job's result is what was written. Raises BadInput as `check_name` does.
    """
    check_name(writing.corpus, name)

    def work(job: Job) -> Written:
        written = writing(job)
        keep(writing.corpus, written, name, writing.models.title(writing.role), writing.kind)
        return written

    key = job_key(writing.corpus.name)
    return engine.evaluations.run(key, work, again=True)


def job_key(corpus: str) -> str:
    """Return the key of the job that writes questions for a corpus."""
    return f"questions-{corpus}"

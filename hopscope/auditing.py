"""Audit of a question set: `audit`."""

from __future__ import annotations

from pathlib import Path

from core.corpus.catalogue import corpora
from core.evaluation.audit.audit import Audit
from core.evaluation.audit.opened_audit import AuditSettings, audit_set
from core.evaluation.runs.store import Store, evaluations_file
from hopscope.evaluating import open_questions
from hopscope.session import WorkProgress, engine
from hopscope.tables import TableLike


def audit(
    questions: str | Path | TableLike,
    *,
    source: str = "",
    evaluation: int = 0,
    vectors: bool = True,
    progress: bool = True,
) -> Audit:
    """Find wrong keys, missing gold and copies in a question set, without a language model.

    Parameters
    ----------
    questions : str, path or table
        Name of a question set, a file, or rows as `evaluate` accepts them.
    source : str
        Name of the graph or corpus that a file or rows are about. Default: the set's own, for
        rows that of MetaQA.
    evaluation : int
        Number of a finished evaluation. Default: the newest one of the set.
    vectors : bool
        Whether copies in other words are searched by the encoder, if it is on this computer.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    Audit
        Its `findings`, the ids of `suspect` questions, `smallest_difference`, and the `order` of
        the evaluation's methods with and without these.

    Raises
    ------
    BadInput
        If there is no such set, source or evaluation.

    Examples
    --------
    >>> import hopscope as hs
    >>> _ = hs.corpus("boats", {"a": "Ann Lee built the harbour."}, progress=False)
    >>> row = {"id": "1", "question": "Who built the harbour?", "answer": "Bo Ek", "gold": ["a"]}
    >>> found = hs.audit([row], source="boats", vectors=False, progress=False)
    >>> [(one.question, one.kind) for one in found.findings]
    [('1', 'missing_answer')]
    """
    is_corpus = source in corpora()
    graph, corpus = ("", source) if is_corpus else (source, "")
    _, opened = open_questions(questions, graph, corpus)
    settings = AuditSettings(graph=graph, evaluation=evaluation, vectors=vectors)
    with WorkProgress("Auditing the questions", progress) as watch:
        done = audit_set(engine(), Store(evaluations_file()), opened, settings, watch)
    return done.open_findings()

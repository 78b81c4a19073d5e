"""Findings of an audit: kinds, and one remark on one question."""

from __future__ import annotations

from dataclasses import dataclass

# Kinds that are likely faults of a set, with their titles.
FAULT_KINDS = {
    "missing_passage": "Evidence that the source does not have",
    "missing_answer": "Answers that the source does not have",
    "missing_entity": "Entities that the graph does not have",
    "contradicted": "Answers that the evidence contradicts",
    "other_type": "Answers of another type than the question asks for",
    "agreed_answer": "Questions on whose answer all methods agree, against the key",
    "incomplete": "Lists that lack answers",
    "copy": "Questions that are asked twice",
}
# Kinds that limit what a set can show, without being faults.
NOTE_KINDS = {
    "no_key": "Questions without a correct answer or evidence",
    "lost_answer": "Answers in the documents, but not in their chunks or graph",
    "variant": "Claims that differ in few words, as opposites do",
    "ambiguous_name": "Names that several entities share",
    "without_context": "Questions that are answered without context",
    "never_right": "Questions that no method gets right",
    "always_right": "Questions that every method gets right",
}
FINDING_TITLES = FAULT_KINDS | NOTE_KINDS


@dataclass(frozen=True)
class Finding:
    """A remark on one question.

    Parameters
    ----------
    question : id of the question.
    kind : a key of `FINDING_TITLES`.
    text : the reason, as a sentence.
    names : what the sentence is about: answers, passages or entities.
    others : ids of the other questions of a copy.
    expected : the answers that the evidence gives in place of the key.
    """

    question: str
    kind: str
    text: str
    names: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()

    @property
    def is_fault(self) -> bool:
        """True if the finding is a likely fault of the set."""
        return self.kind in FAULT_KINDS

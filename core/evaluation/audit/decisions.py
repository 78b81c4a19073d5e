"""Decisions of a person on the questions of a set: keep, correct or leave out.

They lie in a JSON file beside the set, by the question's id and the digest of its content. They are
replayed on the next version of the set: a question whose content has changed is decided anew, and
one that has moved is found by its digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.datasets.own_sets import clean_name
from core.errors import BadInput, StoreError
from core.io.durable_files import write_whole
from core.io.home import home_folder
from core.io.plain_data import from_plain, to_plain
from core.sharing import check_may_change, record_owner
from core.types import Question

KEEP = "keep"
CORRECT = "correct"
LEAVE_OUT = "leave out"
ACTIONS = (KEEP, CORRECT, LEAVE_OUT)
DECISIONS_SUFFIX = ".audit.json"
DECISIONS_FORMAT = "hopscope-audit-1"
DECISIONS_OWNED_KIND = "audit"  # kind of thing in the records of owners


@dataclass(frozen=True)
class Decision:
    """A decision on one question.

    Parameters
    ----------
    question : id of the question.
    digest : digest of the content that was decided on.
    action : one of `ACTIONS`.
    answers, gold, entities : what is correct; None leaves what is there.
    text : the question in words, for those who read the file.
    result : digest of the corrected content.
    """

    question: str
    digest: str
    action: str
    answers: tuple[str, ...] | None = None
    gold: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    text: str = ""
    result: str = ""


@dataclass(frozen=True)
class RevisedSet:
    """A set after the decisions on it.

    Parameters
    ----------
    questions : the questions that are left, corrected.
    corrected, left_out, confirmed : ids of the questions by decision.
    changed : ids of decided questions whose content has changed since.
    """

    questions: tuple[Question, ...]
    corrected: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def decided(self) -> frozenset[str]:
        """Ids of the questions whose decision holds."""
        return frozenset((*self.corrected, *self.left_out, *self.confirmed))


@dataclass(eq=False)
class Decisions:
    """The decisions on a set, by the id of the question."""

    by_question: dict[str, Decision] = field(default_factory=dict)

    @classmethod
    def open(cls, file: Path) -> Decisions:
        """Return the decisions of a file; none if it does not exist.

        Raises BadInput for a file that holds no decisions.
        """
        if not file.exists():
            return cls()
        try:
            content = json.loads(file.read_bytes())
            if content["format"] != DECISIONS_FORMAT:
                raise ValueError("another format")
            decisions = [from_plain(Decision, row) for row in content["decisions"]]
            if any(one.action not in ACTIONS for one in decisions):
                raise ValueError("an unknown action")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BadInput(f"{file} holds no decisions on a question set ({error}).") from None
        return cls({one.question: one for one in decisions})

    def save(self, file: Path) -> None:
        """Write the decisions. Raises StoreError, and NotAllowed for another person's file."""
        is_new = not file.exists()
        if not is_new:
            check_may_change(DECISIONS_OWNED_KIND, str(file))
        text = self.to_json()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, lambda path: path.write_text(text, "utf-8"))
        except OSError as error:
            raise StoreError(f"{file} cannot be written: {error.strerror or error}.") from None
        if is_new:
            record_owner(DECISIONS_OWNED_KIND, str(file))

    def to_json(self) -> str:
        """Return the decisions as the text of their file."""
        rows = [to_plain(one) for one in self.by_question.values()]
        content = {"format": DECISIONS_FORMAT, "decisions": rows}
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"

    def decide(
        self,
        question: Question,
        action: str,
        answers: Iterable[str] | None = None,
        gold: Iterable[str] | None = None,
        entities: Iterable[str] | None = None,
    ) -> None:
        """Decide on a question, in place of an earlier decision.

        Parameters
        ----------
        question : the question as the set has it.
        action : one of `ACTIONS`.
        answers, gold, entities : what is correct, for `CORRECT`; None leaves what is there.

        Raises
        ------
        BadInput : the action is unknown, or a correction changes nothing or leaves no key.
        """
        if action not in ACTIONS:
            raise BadInput(f"A decision is one of {', '.join(ACTIONS)}, not “{action}”.")
        decision = Decision(
            question=question.id,
            digest=content_digest(question),
            action=action,
            answers=_changed(answers, question.answers),
            gold=_changed(gold, question.gold),
            entities=_changed(entities, question.entities),
            text=question.text,
        )
        if action == CORRECT:
            corrected = _correct(question, decision)
            if not corrected.answers and (question.answers or not corrected.gold):
                raise BadInput("Name the correct answers.")
            result = content_digest(corrected)
            if result == decision.digest:
                raise BadInput("The correction is the same as the key that is there.")
            decision = replace(decision, result=result)
        self.by_question[question.id] = decision

    def forget(self, question: str) -> None:
        """Remove the decision on a question, if there is one."""
        self.by_question.pop(question, None)

    def replay(self, questions: Sequence[Question]) -> RevisedSet:
        """Apply the decisions to a version of the set."""
        by_digest = {one.digest: one for one in self.by_question.values()}
        ids_by_action: dict[str, list[str]] = {action: [] for action in ACTIONS}
        left: list[Question] = []
        changed: list[str] = []
        for question in questions:
            digest = content_digest(question)
            decision = self.by_question.get(question.id)
            if decision is None or digest not in (decision.digest, decision.result):
                changed += [question.id] if decision is not None else []
                decision = by_digest.get(digest)
            if decision is None:
                left.append(question)
                continue
            ids_by_action[decision.action].append(question.id)
            if decision.action != LEAVE_OUT:
                left.append(_correct(question, decision))
        return RevisedSet(
            tuple(left),
            corrected=tuple(ids_by_action[CORRECT]),
            left_out=tuple(ids_by_action[LEAVE_OUT]),
            confirmed=tuple(ids_by_action[KEEP]),
            changed=tuple(changed),
        )


def _changed(names: Iterable[str] | None, present: Sequence[str]) -> tuple[str, ...] | None:
    """Return names as a tuple. None for none, and for those that are there."""
    return None if names is None or tuple(names) == tuple(present) else tuple(names)


def _correct(question: Question, decision: Decision) -> Question:
    """Return a question with the key and the entities of a decision."""
    if decision.answers is not None:
        groups = [group for group in question.aliases if group[0] in decision.answers]
        question = replace(question, answers=decision.answers, aliases=tuple(groups))
    if decision.gold is not None:
        question = replace(question, gold=decision.gold)
    if decision.entities is not None:
        question = replace(question, entities=decision.entities)
    return question


def content_digest(question: Question) -> str:
    """Return a digest of the content of a question, without its id.

    >>> from core.evaluation.audit.decisions import content_digest
    >>> from core.types import Question
    >>> digests = [content_digest(Question("who", id, answers=("Ann",))) for id in ("1", "2")]
    >>> digests[0] == digests[1], len(digests[0])
    (True, 16)
    """
    names = (question.entities, question.answers, question.gold, question.options)
    content = [question.text, *names, question.aliases]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def decisions_file(set_name: str) -> Path:
    """Return the file of the decisions on a set: beside a file, else in the person's folder."""
    file = Path(set_name)
    if file.is_file():
        return file.with_name(file.name + DECISIONS_SUFFIX)
    return home_folder() / "audits" / f"{clean_name(set_name)}{DECISIONS_SUFFIX}"


def question_lines(questions: Iterable[Question]) -> str:
    """Return questions as JSON lines, which Hopscope reads as a question set."""
    return "".join(f"{json.dumps(_row(one), ensure_ascii=False)}\n" for one in questions)


def _row(question: Question) -> Mapping[str, Any]:
    """Return a question as a row with the usual keys, without the empty ones."""
    text = question.text
    if question.options:  # the text of a question with options ends with them
        text = text.rsplit(" Options: (A) ", 1)[0]
    names = [list(question.answer_names(answer)) for answer in question.answers]
    answers = [group if len(group) > 1 else group[0] for group in names]
    row = {
        "id": question.id,
        "question": text,
        "entities": question.entities,
        "answers": answers,
        "gold": question.gold,
        "options": question.options,
        "hops": question.hops,
        "abstract": question.abstract,
    }
    return {key: value for key, value in row.items() if value}

"""Pairwise judgement of the answers of an evaluation, in both orders.

Every reply is saved, so that judging can be resumed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import combinations

from core.errors import BadInput, ModelFailed
from core.evaluation.metrics.answering import MODEL, OWN
from core.evaluation.pairwise.tally import Tally
from core.evaluation.pairwise.verdicts import REPLY, SCHEMA, Match, asked, messages, read
from core.evaluation.reports.summary import Summary
from core.io.durations import roughly
from core.models.base import Models, Reply
from core.models.chat.saved_replies import CachedChat, SavedReplies
from core.runtime.flight import Flight
from core.runtime.jobs import Job
from core.watch import NO_WATCH, Watch

ROLE = "judge"
FAULTS = 3  # consecutive failures of the judge after which judging ends


@dataclass(frozen=True)
class Pair:
    """The answers of two instances to a question."""

    question: str
    text: str
    a: str
    b: str
    of_a: str
    of_b: str
    abstract: bool = True


def pairs(summary: Summary, sample: int | None = None, against: str = "") -> tuple[Pair, ...]:
    """Return every two different answers of a language model to the same question.

    Pairs come question by question, in the order in which these were asked. Two answers with the
    same text are left out. Raises BadInput if there are none.

    Parameters
    ----------
    sample : number of questions, the first ones; None takes all.
    against : id of an instance that must be one of each pair; empty for all pairs.
    """
    answers: dict[str, dict[str, str]] = {}
    questions = {row.question.id: row.question for row in summary.rows}
    for row in summary.rows:
        answer = row.outcome.answer if row.outcome is not None else None
        if answer is not None and answer.by in (MODEL, OWN) and answer.text.strip():
            answers.setdefault(row.question.id, {})[row.instance] = answer.text
    found = []
    for question in list(answers)[:sample]:
        known = questions[question]
        given = {
            instance: answers[question][instance]
            for instance in summary.instances
            if instance in answers[question]
        }
        for a, b in combinations(given, 2):
            if given[a].strip() != given[b].strip() and (not against or against in (a, b)):
                found.append(Pair(question, known.text, a, b, given[a], given[b], known.abstract))
    if not found:
        raise BadInput(
            "There are no two different answers of a language model to one question here; run the "
            "evaluation with several methods and let a language model answer."
        )
    return tuple(found)


@dataclass
class _Said:
    """Progress of a job of judging.

    The remaining time is estimated from the replies that were waited for.
    """

    job: Job
    replies: int
    done: int = 0
    waited: int = 0
    start: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self) -> None:
        """Report the progress to the job."""
        taken = (time.monotonic() - self.start) / self.waited if self.waited else 0.0
        left = "time left not known yet"
        if taken:
            left = f"{roughly((self.replies - self.done) * taken)} left"
        self.job.report(
            f"Reply {self.done + 1:,} of {self.replies:,}, {left}", self.done / self.replies
        )

    def received(self) -> None:
        """Count a reply that has come."""
        with self.lock:
            self.done, self.waited = self.done + 1, self.waited + 1

    def known(self) -> None:
        """Count both replies of a pair that were saved before."""
        with self.lock:
            self.done += 2


@dataclass
class Pairwise:
    """Judge of pairs of answers; calling it with its job returns the tally.

    The call judges what is left. `known` returns the tally of the saved replies without asking the
    judge.
    """

    instances: Sequence[str]
    pairs: Sequence[Pair]
    models: Models
    role: str = ROLE
    saved: SavedReplies | None = None
    missing: int = field(default=0, init=False)  # replies that `known` did not find

    def __post_init__(self) -> None:
        self.chat = CachedChat(
            lambda: self.models.chat(self.role),
            self.models.weights(self.role),
            self.saved or SavedReplies(),
        )

    @property
    def judge(self) -> str:
        """Title of the judging model."""
        return self.models.title(self.role)

    def known(self) -> Tally:
        """Return the tally of the pairs that were judged before.

        `missing` then counts the replies that are not saved.
        """
        found = self._saved(self.pairs)
        self.missing = found.count(None)
        matches = (
            _match(pair, there, back)
            for pair, there, back in zip(self.pairs, found[::2], found[1::2])
        )
        return self._tally([match for match in matches if match is not None])

    def __call__(self, job: Job) -> Tally:
        """Judge every pair in both orders, as many pairs at a time as the judge takes.

        Raises Cancelled, ModelUnavailable, and ModelFailed if the judge fails several times in a
        row.
        """
        said, flight = _Said(job, 2 * len(self.pairs)), Flight(lambda: self.chat.at_once, job)
        matches: dict[int, Match] = {}
        faults = 0

        def match(place: int) -> Match:
            found = self._saved_match(self.pairs[place])
            if found is None:
                return self._judged(self.pairs[place], said, flight)
            said.known()
            return found

        with closing(flight.each(match, range(len(self.pairs)))) as each:
            for place, found in each:
                matches[place] = found
                faults = faults + 1 if found.there.failed and found.back.failed else 0
                if faults >= FAULTS:
                    raise ModelFailed(
                        f"The judge failed {FAULTS} times in a row; what was judged is kept. "
                        f"{found.back.why}"
                    )
        return self._tally([matches[place] for place in range(len(self.pairs))])

    def _judged(self, pair: Pair, said: _Said, watch: Watch = NO_WATCH) -> Match:
        verdicts = []
        for first, second in ((pair.of_a, pair.of_b), (pair.of_b, pair.of_a)):
            said.tell()
            verdicts.append(asked(self.chat, pair.text, first, second, watch))
            said.received()
        return Match(pair.question, pair.a, pair.b, *verdicts)

    def _saved_match(self, pair: Pair) -> Match | None:
        """Return the match from the saved replies, None if one of them is missing."""
        return _match(pair, *self._saved([pair]))

    def _saved(self, pairs: Sequence[Pair]) -> list[Reply | None]:
        """Return the saved replies to each pair in both orders, None for missing ones.

        The two replies of a pair follow each other.
        """
        orders = (
            (pair.text, *both)
            for pair in pairs
            for both in ((pair.of_a, pair.of_b), (pair.of_b, pair.of_a))
        )
        return self.chat.saved(
            (messages(*order, self.chat.context) for order in orders), SCHEMA, REPLY
        )

    def _tally(self, matches: Sequence[Match]) -> Tally:
        short = {pair.question for pair in self.pairs if not pair.abstract}
        return Tally(tuple(self.instances), tuple(matches), len(self.pairs), self.judge, len(short))


def _match(pair: Pair, there: Reply | None, back: Reply | None) -> Match | None:
    """Return the match from its replies, None if one is missing."""
    if there is None or back is None:
        return None
    return Match(pair.question, pair.a, pair.b, read(there.text), read(back.text))


def start(
    engine, summary: Summary, sample: int | None = None, role: str = ROLE, against: str = ""
) -> Job:
    """Start the job of the engine that judges the answers of a run in pairs.

    The job's result is a tally. Raises BadInput and BadParameter.
    """
    work = Pairwise(summary.instances, pairs(summary, sample, against), engine.models, role)
    key = job_key(summary)
    return engine.evaluations.run(key, work, again=True)


def job_key(summary: Summary) -> str:
    """Return the key of the job that judges a run."""
    return f"pairwise-{summary.run.id}"

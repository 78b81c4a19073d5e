"""Job in which a language model judges answers in pairs.

The answers are those of an evaluation. Each pair is judged in both orders. Every reply is saved, so
that judging can be resumed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import combinations

from core.errors import BadInput, ModelFailed
from core.evaluation.metrics.answer_scores import ANSWER_BY_METHOD, ANSWER_BY_MODEL
from core.evaluation.pairwise.tally import PairwiseTally
from core.evaluation.pairwise.verdicts import (
    PAIR_REPLY_TOKENS,
    PAIR_SCHEMA,
    Match,
    ask_judge,
    pair_messages,
    parse_pair_verdict,
)
from core.evaluation.reports.summary import RunSummary
from core.io.durations import rough_range_text
from core.models.base import ChatReply, Models
from core.models.chat.saved_replies import CachedChat, SavedReplies
from core.runtime.concurrent_work import ConcurrentWork
from core.runtime.jobs import Job
from core.watch import NO_WATCH, Watch

JUDGE_ROLE = "judge"
MAX_JUDGE_FAULTS = 3  # consecutive pairs without a reply after which judging ends


@dataclass(frozen=True)
class AnswerPair:
    """The answers of two methods to a question.

    `question` is the id of the question, `a` and `b` are those of the methods. `abstract` is true
    for a question that asks for a long answer.
    """

    question: str
    question_text: str
    a: str
    b: str
    answer_a: str
    answer_b: str
    abstract: bool = True


def answer_pairs(
    summary: RunSummary, sample: int | None = None, against: str = ""
) -> tuple[AnswerPair, ...]:
    """Return every two different answers of a language model to the same question.

    The pairs are in the order of the questions. Two answers with the same text are no pair.

    Parameters
    ----------
    summary : figures of the run.
    sample : number of questions, taken from the first ones with an answer; None takes all.
    against : id of a method whose answer is in each pair; empty for all pairs.

    Returns
    -------
    At least one pair.

    Raises
    ------
    BadInput : there are no two different answers to one question.
    """
    answers: dict[str, dict[str, str]] = {}
    questions = {row.question.id: row.question for row in summary.rows}
    for row in summary.rows:
        answer = row.outcome.answer if row.outcome is not None else None
        if answer is None or answer.by not in (ANSWER_BY_MODEL, ANSWER_BY_METHOD):
            continue
        if answer.text.strip():
            answers.setdefault(row.question.id, {})[row.method] = answer.text
    pairs = []
    for id, texts in list(answers.items())[:sample]:
        question = questions[id]
        answering = [method for method in summary.methods if method in texts]
        for a, b in combinations(answering, 2):
            if texts[a].strip() != texts[b].strip() and (not against or against in (a, b)):
                pairs.append(
                    AnswerPair(id, question.text, a, b, texts[a], texts[b], question.abstract)
                )
    if not pairs:
        raise BadInput(
            "There are no two different answers of a language model to one question here; run the "
            "evaluation with several methods and let a language model answer."
        )
    return tuple(pairs)


@dataclass
class _JudgingProgress:
    """Progress of a job of judging, shared by its threads.

    The remaining time is estimated from the replies that were not saved before. `total` is the
    number of replies of the job, `done` that of the replies so far, and `new` that of the replies
    so far that were not saved before.
    """

    job: Job
    total: int
    done: int = 0
    new: int = 0
    start: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def report(self) -> None:
        """Report the progress to the job."""
        reply_seconds = (time.monotonic() - self.start) / self.new if self.new else 0.0
        time_text = "time left not known yet"
        if reply_seconds:
            time_text = f"{rough_range_text((self.total - self.done) * reply_seconds)} left"
        self.job.report(
            f"Reply {self.done + 1:,} of {self.total:,}, {time_text}", self.done / self.total
        )

    def count_reply(self) -> None:
        """Count a new reply."""
        with self.lock:
            self.done += 1
            self.new += 1

    def count_saved_pair(self) -> None:
        """Count the two replies of a pair that were saved before."""
        with self.lock:
            self.done += 2


@dataclass
class PairwiseJudge:
    """Judge of pairs of answers; calling it with its job returns the tally.

    Saved replies are reused. `tally_saved` returns their tally without asking the judge.

    Parameters
    ----------
    methods : ids of the methods.
    pairs : pairs of answers to judge.
    role : role or name of the judging model.
    saved : replies of earlier calls; None for the user's own.
    missing_reply_count : number of replies that the last call of `tally_saved` did not find.
    """

    methods: Sequence[str]
    pairs: Sequence[AnswerPair]
    models: Models
    role: str = JUDGE_ROLE
    saved: SavedReplies | None = None
    missing_reply_count: int = field(default=0, init=False)

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

    def tally_saved(self) -> PairwiseTally:
        """Return the tally of the pairs of which both replies are saved.

        Sets `missing_reply_count`.
        """
        replies = self._saved_replies(self.pairs)
        self.missing_reply_count = replies.count(None)
        # The two replies of a pair follow each other.
        matches = map(_match, self.pairs, replies[::2], replies[1::2])
        return self._tally([match for match in matches if match is not None])

    def __call__(self, job: Job) -> PairwiseTally:
        """Judge every pair in both orders.

        As many pairs are judged at a time as the judge takes. Raises RunCancelled,
        ModelUnavailable, and ModelFailed if the judge fails several times in a row.
        """
        progress = _JudgingProgress(job, 2 * len(self.pairs))
        work = ConcurrentWork(lambda: self.chat.max_concurrent, job)
        matches: dict[int, Match] = {}  # by index of the pair
        faults = 0

        def judge(index: int) -> Match:
            saved_match = self._saved_match(self.pairs[index])
            if saved_match is None:
                return self._judge_pair(self.pairs[index], progress, work)
            progress.count_saved_pair()
            return saved_match

        with closing(work.run_each(judge, range(len(self.pairs)))) as results:
            for index, result in results:
                matches[index] = result
                has_failed = result.verdict_a_first.failed and result.verdict_b_first.failed
                faults = faults + 1 if has_failed else 0
                if faults >= MAX_JUDGE_FAULTS:
                    raise ModelFailed(
                        f"The judge failed {MAX_JUDGE_FAULTS} times in a row; what was judged is kept. "
                        f"{result.verdict_b_first.why}"
                    )
        return self._tally([matches[index] for index in range(len(self.pairs))])

    def _judge_pair(
        self, pair: AnswerPair, progress: _JudgingProgress, watch: Watch = NO_WATCH
    ) -> Match:
        verdicts = []
        for first, second in ((pair.answer_a, pair.answer_b), (pair.answer_b, pair.answer_a)):
            progress.report()
            verdicts.append(ask_judge(self.chat, pair.question_text, first, second, watch))
            progress.count_reply()
        return Match(pair.question, pair.a, pair.b, *verdicts)

    def _saved_match(self, pair: AnswerPair) -> Match | None:
        """Return the match from the saved replies, None if one of them is missing."""
        return _match(pair, *self._saved_replies([pair]))

    def _saved_replies(self, pairs: Sequence[AnswerPair]) -> list[ChatReply | None]:
        """Return the saved replies to each pair in both orders, None for missing ones.

        The two replies of a pair follow each other.
        """
        requests = []
        for pair in pairs:
            for first, second in ((pair.answer_a, pair.answer_b), (pair.answer_b, pair.answer_a)):
                requests.append(pair_messages(pair.question_text, first, second, self.chat.context))
        return self.chat.find_saved(requests, PAIR_SCHEMA, PAIR_REPLY_TOKENS)

    def _tally(self, matches: Sequence[Match]) -> PairwiseTally:
        short_questions = {pair.question for pair in self.pairs if not pair.abstract}
        return PairwiseTally(
            tuple(self.methods),
            tuple(matches),
            pair_count=len(self.pairs),
            judge=self.judge,
            short_question_count=len(short_questions),
        )


def _match(pair: AnswerPair, reply: ChatReply | None, swapped: ChatReply | None) -> Match | None:
    """Return the match from the replies in both orders, None if one is missing."""
    if reply is None or swapped is None:
        return None
    verdicts = map(parse_pair_verdict, (reply.text, swapped.text))
    return Match(pair.question, pair.a, pair.b, *verdicts)


def start_judging(
    engine,
    summary: RunSummary,
    sample: int | None = None,
    role: str = JUDGE_ROLE,
    against: str = "",
) -> Job:
    """Start the job that judges the answers of a run in pairs.

    Parameters
    ----------
    engine : the engine that runs the job.
    summary : figures of the run.
    sample : number of questions whose answers are judged; None for all.
    role : role or name of the judging model.
    against : method whose answers are in each pair; empty for all pairs.

    Returns
    -------
    The job, whose result is a tally.

    Raises
    ------
    BadInput, BadParameter : there are no pairs to judge, or no such method or model.
    """
    pairs = answer_pairs(summary, sample, against)
    judge = PairwiseJudge(summary.methods, pairs, engine.models, role)
    return engine.evaluations.run(judging_job_key(summary), judge, again=True)


def judging_job_key(summary: RunSummary) -> str:
    """Return the key of the job that judges a run."""
    return f"pairwise-{summary.run.id}"

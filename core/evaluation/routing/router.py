"""Routers from finished evaluations: what they reach on unseen questions, and the line to use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from core.errors import BadInput
from core.evaluation.metrics.statistics import PairedTest, RunSpread, paired_test, run_spread
from core.evaluation.reports.export import format_seconds, format_share
from core.evaluation.reports.ranks import DEARER_COST_RATIO, Ranks, ranking_metric
from core.evaluation.reports.summary import RunSummary
from core.evaluation.routing.joint_line import JointLine, join_lines
from core.evaluation.routing.learning import RoutingRows, learn, rule_fields, taken, unseen_arms
from core.evaluation.routing.oracle import Oracle, oracle
from core.evaluation.runs.store import Store
from core.operators.routing_rule import RoutingRule, question_features
from core.operators.text import parse_line
from core.snapshot import thaw_all
from core.types import Question, State

EQUAL_QUALITY_MARGIN = 0.02  # a loss that counts as equal quality
ROUTER_NAME = "router"  # its id in tests against a method


@dataclass(frozen=True)
class Router:
    """A learned rule over methods of an evaluation, and its figures on unseen questions.

    Attributes
    ----------
    run : number of the evaluation.
    methods : ids of the methods between which the rule chooses, the cheapest first.
    names : their names in plain words.
    means, costs : their mean quality and cost.
    oracle : the upper bound for a choice between them.
    quality, cost : paired tests of the router against `best`, on questions that the rules of the
        cross-validation never saw.
    shares : the share of those questions that went to each method.
    rule : the rule learned from all questions.
    line : the text of the line with this rule.
    """

    run: int
    methods: tuple[str, ...]
    names: tuple[str, ...]
    means: tuple[float, ...]
    costs: tuple[float, ...]
    oracle: Oracle
    quality: PairedTest
    cost: PairedTest
    shares: tuple[float, ...]
    rule: RoutingRule
    line: str
    is_dominated: bool  # a single method is as good at no higher cost

    @property
    def best(self) -> int:
        """Index of the method with the highest mean quality."""
        return self.methods.index(self.quality.b)

    @property
    def is_better(self) -> bool:
        """True if the router's quality is above the best method's, beyond chance."""
        return self.quality.low > 0

    @property
    def is_cheaper(self) -> bool:
        """True if it is of equal quality and noticeably cheaper than the best, beyond chance."""
        is_equal = self.quality.low >= -EQUAL_QUALITY_MARGIN
        saves = self.cost.high < 0 and self.cost_ratio * DEARER_COST_RATIO <= 1
        return is_equal and saves

    @property
    def pays(self) -> bool:
        """True if the router is worth using instead of every single method."""
        return not self.is_dominated and (self.is_better or self.is_cheaper)

    @property
    def cost_ratio(self) -> float:
        """Cost of the router as a share of the best method's."""
        best_cost = self.costs[self.best]
        return (best_cost + self.cost.difference) / best_cost if best_cost else 1.0

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the upper bound, the router on unseen questions, and the verdict."""
        best = self.names[self.best]
        bound = (
            f"With hindsight the best method for each question has "
            f"{format_share(self.oracle.quality)}{self._cost_text(self.oracle.cost)}, "
            f"{format_share(self.oracle.lead)} more than {best}. That is an upper bound, part of it "
            "luck: methods of the same scores that do not suit different questions would show "
            f"{format_share(max(0.0, self.oracle.chance_lead))}."
        )
        return bound, self.figures_sentence, self.verdict

    @property
    def figures_sentence(self) -> str:
        """The quality and the cost of the router on unseen questions, against the best method."""
        best = self.best
        quality = self.means[best] + self.quality.difference
        cost = self.costs[best] + self.cost.difference
        shares = ", ".join(
            f"{name} for {share:.0%}" for name, share in zip(self.names, self.shares)
        )
        return (
            f"On unseen questions a router has {format_share(quality)}{self._cost_text(cost)}, "
            f"{self.names[best]} {format_share(self.means[best])}"
            f"{self._cost_text(self.costs[best])}: a difference of "
            f"{self.quality.estimate.format_with_interval(format_share)} at {self.cost_ratio:.0%} "
            f"of the cost, n = {self.quality.n:,}. It takes {shares}."
        )

    @property
    def verdict(self) -> str:
        """A sentence on whether the router pays, and why."""
        if not self.pays:
            if self.is_dominated:
                return "It does not pay: a single method is as good at no higher cost."
            return "It does not pay beyond chance."
        best = self.names[self.best]
        if self.is_better:
            return f"It pays: it is better than {best}, beyond chance."
        return (
            f"It pays: it costs less than {best} beyond chance, and loses less than "
            f"{format_share(EQUAL_QUALITY_MARGIN)}."
        )

    def _cost_text(self, cost: float) -> str:
        if self.cost.metric == "tokens":
            return f" ({cost:,.0f} tokens a question)"
        return f" ({format_seconds(cost)} s a question)"


def find_router(
    store: Store, summary: RunSummary, methods: Sequence[str] = (), seed: int = 0
) -> Router:
    """Return a router between methods of a finished evaluation.

    Parameters
    ----------
    store : the store with the saved states of the run, of which the features are made.
    summary : the figures of the run.
    methods : ids of the methods to choose between; by default all that one branch can hold together
        with the best of them.
    seed : seed of the division into folds.

    Returns
    -------
    The router, whether it pays or not. Its rule is not saved.

    Raises
    ------
    BadInput : nothing is to be chosen, the methods fit in no branch, or the questions are too few.
    """
    ranked = Ranks(summary, ranking_metric(summary) or "accuracy")
    lines = {spec["id"]: parse_line(spec["line"]) for spec in summary.run.spec["instances"]}
    ids = _joinable(ranked, lines, methods)
    ids.sort(key=lambda id: ranked.costs.get(id, 0.0))
    joint = join_lines([lines[id] for id in ids])
    rows, bound, mask = _rows_and_bound(store, ranked, ids, joint)
    arms = unseen_arms(rows, seed)
    fit, price = learn(rows, seed)
    rule = RoutingRule(
        **rule_fields(fit, rows, price),
        arms=tuple(ids),
        set=summary.run.spec["set"],
        questions=len(rows),
        metric=ranked.metric,
        cost=ranked.cost_metric,
        rows=rows_digest(rows),
    )
    tests = _tests(rows, arms, ranked, ids, mask)
    return Router(
        summary.run.id,
        tuple(ids),
        tuple(ranked.names[id] for id in ids),
        tuple(rows.quality.mean(0).tolist()),
        tuple(rows.costs.mean(0).tolist()),
        bound,
        *tests,
        shares=tuple((np.bincount(arms, minlength=len(ids)) / len(rows)).tolist()),
        rule=rule,
        line=repr(joint.with_rule(rule.name)),
        is_dominated=_is_dominated(rows, arms),
    )


def _joinable(ranked: Ranks, lines: dict[str, Any], methods: Sequence[str]) -> list[str]:
    """Return the ids of the methods that a branch can hold. Raises BadInput for fewer than two."""
    unknown = [id for id in methods if id not in ranked.values]
    if unknown:
        raise BadInput(f"The evaluation has no scores of {', '.join(unknown)}.")
    if not ranked.values or not ranked.n:
        raise BadInput("No question has a score of all methods, so nothing can be learned.")
    candidates = list(methods or ranked.values)
    best = max(candidates, key=lambda id: ranked.means[id])
    ids = [best]
    reason = "no other method has scores"
    for id in candidates:
        if id == best:
            continue
        try:
            join_lines([*(lines[one] for one in ids), lines[id]])
            ids.append(id)
        except BadInput as error:
            reason = str(error)
            if methods:
                break
    if len(ids) < 2 or (methods and len(ids) < len(set(methods))):
        raise BadInput(f"No router can choose between these methods: {reason}.".replace("..", "."))
    return ids


def _rows_and_bound(
    store: Store, ranked: Ranks, ids: Sequence[str], joint: JointLine
) -> tuple[RoutingRows, Oracle, np.ndarray]:
    """Return the rows to learn from, their oracle, and the mask of their questions.

    The features are those of the saved states after the common steps. Raises BadInput if one method
    is best on every question.
    """
    summary = ranked.summary
    quality = np.array([ranked.values[id] for id in ids]).T
    costs = np.array([summary.values(id, (ranked.cost_metric,))[:, 0] for id in ids]).T
    costs = np.where(np.isnan(costs), np.nanmean(costs, 0), costs)  # a failed question has none
    mask = ~np.isnan(quality).any(1)
    bound = oracle(quality[mask], costs[mask])
    if max(bound.choices) == mask.sum():
        name = ranked.names[ids[int(np.argmax(bound.choices))]]
        raise BadInput(f"{name} is best on every question, so there is nothing to choose.")
    by_id = {row.question.id: row.question for row in summary.rows}
    questions = [by_id[id] for id, is_scored in zip(summary.questions, mask) if is_scored]
    features = []
    for question in questions:
        state = _prefix_state(store, summary.run.id, ids, joint, question)
        features.append(question_features(state))
    keys = [" ".join(question.text.casefold().split()) for question in questions]
    groups = np.unique(keys, return_inverse=True)[1]
    return RoutingRows(features, quality[mask], costs[mask], groups), bound, mask


def _prefix_state(
    store: Store, run: int, ids: Sequence[str], joint: JointLine, question: Question
) -> State:
    """Return the state in which the rule is asked. Without saved states it has only the question."""
    shared = len(joint.prefix)
    for index, id in enumerate(ids):
        saved = store.states(run, id, question.id)
        if not saved or len(saved["states"]) < max(1, shared):
            continue
        first = max(0, shared - 1)
        (state,) = thaw_all({**saved, "states": saved["states"][first : first + 1]})
        if shared:
            return state
        if "seeds" not in joint.arms[index][0].writes:
            return State(state.question, state.seeds)
    return State(question)


def rows_digest(rows: RoutingRows) -> str:
    """Return the SHA-256 of the scores, costs and features that a rule is learned from."""
    features = [sorted(row.items()) for row in rows.features]
    data = [features, rows.quality.tolist(), rows.costs.tolist(), rows.groups.tolist()]
    return hashlib.sha256(json.dumps(data).encode("utf-8", "surrogatepass")).hexdigest()


def _tests(
    rows: RoutingRows, arms: np.ndarray, ranked: Ranks, ids: Sequence[str], mask: np.ndarray
) -> tuple[PairedTest, PairedTest]:
    """Return the tests of quality and cost of the chosen arms against the best method.

    With repeats, what varies between the runs of the methods counts too.
    """
    best = int(rows.quality.mean(0).argmax())
    tests = []
    for metric, values in ((ranked.metric, rows.quality), (ranked.cost_metric, rows.costs)):
        runs = [ranked.summary.values_by_run(id, metric)[:, mask] for id in ids]
        test = paired_test(
            metric,
            ROUTER_NAME,
            ids[best],
            taken(values, arms),
            values[:, best],
            spreads=(_gain_spread(runs, arms, best),),
        )
        assert test is not None  # every question has both values
        tests.append(test)
    return tests[0], tests[1]


def _gain_spread(runs: Sequence[np.ndarray], arms: np.ndarray, best: int) -> RunSpread | None:
    """Return the spread between repeats of the chosen arms minus the best one.

    Where the best arm is chosen, both are the same in each run. `runs` are the values of each arm,
    float64 [runs, questions]; those of fewer runs begin again.
    """
    gains = []
    for number in range(max(map(len, runs))):
        values = np.array([each[number % len(each)] for each in runs])
        gains.append(taken(values.T, arms) - values[best])
    return run_spread(np.array(gains))


def _is_dominated(rows: RoutingRows, arms: np.ndarray) -> bool:
    """Return whether a single method is as good as the chosen arms, at no higher cost.

    A method that is of equal quality to the best one counts as good, if the router is not better.
    """
    routed = taken(rows.quality, arms)
    best = rows.quality[:, int(rows.quality.mean(0).argmax())]
    cost = taken(rows.costs, arms).mean()
    for index in range(rows.quality.shape[1]):
        own = rows.quality[:, index]
        if rows.costs[:, index].mean() > cost:
            continue
        test = paired_test("", "", "", own, best)
        is_equal = test is not None and test.low >= -EQUAL_QUALITY_MARGIN
        if own.mean() >= routed.mean() or (is_equal and routed.mean() <= best.mean()):
            return True
    return False


def router_data(store: Store, summary: RunSummary) -> dict[str, Any]:
    """Return the router of an evaluation as plain data, and save its rule.

    It has `line`, `sentences`, `pays` and the figures. Where there is no router, `line` is empty
    and the sentence says why.
    """
    try:
        router = find_router(store, summary)
    except BadInput as error:
        return {"line": "", "pays": False, "sentences": [str(error)]}
    router.rule.save()
    figures = asdict(router)
    figures["rule"] = router.rule.name
    return {**figures, "pays": router.pays, "sentences": list(router.sentences())}

"""Choice of a branch's arm by a learned rule, and the arm that adds nothing."""

from __future__ import annotations

from dataclasses import dataclass

from core.environment import Environment
from core.errors import BadInput
from core.operators.base import Context, Operator, Recorder
from core.operators.routing_rule import load_rule, question_features, saved_rules
from core.parameters import param
from core.types import State

RULE_HELP = "The rule's name. An evaluation learns one: docs/routing.md."


@dataclass(frozen=True, repr=False)
class PredictArm(Operator):
    """The arm of a branch that a learned rule expects to be worth its cost.

    The rule reads what the line has found so far: the question's words and entities, and the sizes
    and scores of the first retrieval. `Branch(on='arm', ...)` follows the choice. An evaluation
    learns a rule from its rows, and saves it as JSON (docs/routing.md).

    >>> from core.operators.routing_rule import RoutingRule
    >>> arms = ("EgoNetwork(hops=0)", "EgoNetwork()")
    >>> rule = RoutingRule(
    ...     arms, ("words",), (5.0,), (1.0,), ((0.0,), (1.0,)), (0.0, 0.0), "toys", 2, "hits@1",
    ...     "seconds", ""
    ... )
    >>> _ = rule.save()
    >>> line = f"PredictArm(rule='{rule.name}')"
    >>> [retrieve(line, "A", question=text, models=scores({})).arm for text in ("A", "a b c d e f")]
    [0, 1]
    """

    stage = "convert"
    title = "arm prediction"
    plain = "predicts which way is worth its cost"
    writes = ("arm",)

    rule: str = param("", "Rule", RULE_HELP, known=saved_rules)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        if not self.rule:
            raise BadInput("Name the learned rule: PredictArm(rule='...').")
        rule = load_rule(self.rule)
        values = rule.values(question_features(state))
        arm = int(values.argmax())
        pairs = zip(rule.arms, values.tolist())
        expected = "; ".join(f"{text}: {value:.2f}" for text, value in pairs)
        recorder.notes.append(f"Expected {rule.metric}, less the price of {rule.cost}: {expected}.")
        return state.replace(arm=arm)

    def stamp(self, graph, environment: Environment) -> str:
        return self.rule  # its name has the digest

    def words(self) -> str:
        return "arm predicted"


@dataclass(frozen=True, repr=False)
class KeepResults(Operator):
    """The results so far, unchanged: an arm of a branch that adds nothing to the steps before.

    >>> answers("EgoNetwork(hops=1) >> ShortestPaths(hops=1) >> KeepResults()", "B")
    ['B -> r0_reverse -> A', 'B -> r2 -> C']
    """

    stage = "refine"
    title = "no further step"
    plain = "adds nothing"

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        return state

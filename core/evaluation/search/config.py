"""Configuration of a search: design space, tuning questions and budget.

A search tries lines (sequences of operators) on the tuning questions. It looks for those with the
highest quality at their cost.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass

from core.errors import BadParameter
from core.evaluation.metrics.catalogue import metric
from core.evaluation.runs.evaluation_jobs import model_facts
from core.evaluation.runs.plan import Plan
from core.evaluation.search.space import Space
from core.evaluation.search.space_texts import TextSpace

BUDGET_COSTS = ("seconds", "tokens")


@dataclass(frozen=True, eq=False)
class SearchConfig:
    """Configuration of a search.

    Parameters
    ----------
    tuning : plan with the tuning questions. Its `model` is true only if lines may ask a language
        model.
    space : the design space from which lines are drawn.
    quality : name of a metric that is a share, from 0 to 1.
    cost : metric of the budget, one of `BUDGET_COSTS`.
    budget : largest mean cost per question of a line, in seconds or tokens.
    trials : number of lines to try. A search can be continued with a higher number.
    calls : approximate limit of language-model calls over all trials, used if lines may ask a
        language model. No trial begins once it is reached. It can be raised as `trials` can.
    """

    tuning: Plan
    space: Space | TextSpace
    quality: str = "reader_hit@1"
    cost: str = "seconds"
    budget: float = 1.0
    trials: int = 40
    calls: int = 200

    @property
    def may_ask_model(self) -> bool:
        """True if lines may ask a language model directly.

        Only lines for documents do so. Lines on triples name a language model as a ranker.
        """
        return isinstance(self.space, TextSpace) and self.space.may_ask_model

    def __post_init__(self) -> None:
        quality_metric = metric(self.quality)
        if not quality_metric.is_quality or quality_metric.base == "judge@1":
            raise BadParameter(
                f"{self.quality} is no quality to search by; take a share such as reader_hit@1 or "
                "path_recall@32."
            )
        if self.cost not in BUDGET_COSTS:
            raise BadParameter(
                f"A budget is one of {' or '.join(BUDGET_COSTS)}, not of {self.cost}."
            )
        if not (0 < self.budget < math.inf):
            raise BadParameter("A budget must be more than nothing.")
        if self.trials < 1:
            raise BadParameter("Try at least one method.")
        if self.may_ask_model and self.calls < 1:
            raise BadParameter(
                "Allow at least one call of a language model, or leave out methods that ask one."
            )

    def key(self, models) -> str:
        """Return the key of the search: a digest of all that its trials depend on.

        The limits of trials and calls are not part of it, so a search can be continued with higher
        ones. `models` is the model registry.
        """
        spec = self.tuning.spec("\n".join(map(models.signature, self.space.models())))
        # The methods of the plan are the published ones, which no trial runs.
        del spec["instances"], spec["models"]
        spec |= {
            "space": self.space.describe(),
            "models": [[name, models.signature(name)] for name in self.space.models()],
            "quality": self.quality,
            "cost": self.cost,
            "budget": self.budget,
        }
        if prompts := model_facts(models, self.space.models(), self.may_ask_model):
            spec["prompts"] = prompts
        return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]

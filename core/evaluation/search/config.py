"""What a search is to find: the space it draws lines from, its tuning questions and its budget."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass

from core.errors import BadParameter
from core.evaluation.metrics.catalogue import metric
from core.evaluation.runs.plan import Plan
from core.evaluation.runs.starting import model_facts
from core.evaluation.search.space import Space
from core.evaluation.search.space_texts import TextSpace

COSTS = ("seconds", "tokens")


@dataclass(frozen=True, eq=False)
class SearchConfig:
    """What is to be searched: the space, the tuning questions (a plan without a language model's answers), and the budget.

    `quality` names a metric that is a share, `cost` is seconds or tokens; `budget` is the mean cost a question that a line may
    have. `trials` lines are tried. Where lines may ask a language model, it is asked about `calls` times in all and no line is begun
    after that; more may be allowed later, as more trials.
    """

    tuning: Plan
    space: Space | TextSpace
    quality: str = "reader_hit@1"
    cost: str = "seconds"
    budget: float = 1.0
    trials: int = 40
    calls: int = 200

    @property
    def asks(self) -> bool:
        """Whether lines may ask a language model, as such for documents may; those on triples name it as a ranker."""
        return isinstance(self.space, TextSpace) and self.space.asks

    def __post_init__(self) -> None:
        chosen = metric(self.quality)
        if not chosen.quality or chosen.base == "judge@1":
            raise BadParameter(
                f"{self.quality} is no quality to search by; take a share such as reader_hit@1 or path_recall@32."
            )
        if self.cost not in COSTS:
            raise BadParameter(f"A budget is one of {' or '.join(COSTS)}, not of {self.cost}.")
        if not (0 < self.budget < math.inf):
            raise BadParameter("A budget must be more than nothing.")
        if self.trials < 1:
            raise BadParameter("Try at least one line.")
        if self.asks and self.calls < 1:
            raise BadParameter(
                "Allow at least one call of a language model, or leave out lines that ask one."
            )

    def key(self, models) -> str:
        """The key of the search: all that its trials depend on, without how many of them or of calls are wanted."""
        spec = self.tuning.spec("\n".join(map(models.signature, self.space.models())))
        del spec["instances"], spec["models"]
        spec |= {
            "space": self.space.described(),
            "models": [[name, models.signature(name)] for name in self.space.models()],
        }
        spec |= {"quality": self.quality, "cost": self.cost, "budget": self.budget}
        if prompts := model_facts(models, self.space.models(), self.asks):
            spec["prompts"] = prompts
        return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]

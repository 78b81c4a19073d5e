"""Learned rules that choose an arm of a branch by features of a question.

A rule is a linear function of the features for each arm. It is saved as JSON in the folder
`routers` of the person's folder, under a name that ends with its digest.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import BadInput, shorten, suggest_name
from core.io.digests import DIGEST_KEY, check_own_digest, with_digest
from core.io.durable_files import write_whole
from core.io.home import home_folder
from core.languages.terms import search_terms
from core.types import State

RULE_FORMAT = "hopscope-routing-rule-1"
RULE_NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9-]{0,60}-[0-9a-f]{12}", re.ASCII)
UNFIT_NAME_CHARACTERS = re.compile(r"[^a-z0-9]+")
NAME_DIGEST_CHARACTERS = 12
MAX_RULE_BYTES = 1 << 20
WORD_PREFIX = "word:"  # of features that are 1 if the question has the word


@dataclass(frozen=True)
class RoutingRule:
    """A linear function for each arm; the arm with the highest value is chosen.

    The value of an arm is `intercept + sum(weight * (feature - mean) / scale)`. It is the predicted
    quality less the price of the arm's cost. A missing feature counts as its mean. Of equal values
    the first arm is chosen.

    Attributes
    ----------
    arms : texts of the arms, the cheapest first. The first one is the branch's `otherwise`.
    features, means, scales : names of the features, and how they are standardised.
    weights, intercepts : shape [arms, features] and [arms].
    set, questions, metric, cost : what the rule was learned from, and by which figures.
    rows : SHA-256 of the scores, costs and features that it was learned from.
    """

    arms: tuple[str, ...]
    features: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    intercepts: tuple[float, ...]
    set: str
    questions: int
    metric: str
    cost: str
    rows: str

    def __post_init__(self) -> None:
        n = len(self.features)
        sizes = {len(self.means), len(self.scales), *map(len, self.weights)}
        numbers = [*self.means, *self.scales, *self.intercepts, *sum(self.weights, ())]
        if sizes != {n} or not 2 <= len(self.arms) == len(self.weights) == len(self.intercepts):
            raise ValueError("its lists differ in length")
        if not all(map(math.isfinite, numbers)) or not all(scale > 0 for scale in self.scales):
            raise ValueError("a number is not finite, or a scale is not positive")

    def values(self, features: Mapping[str, float]) -> np.ndarray:
        """Return the value of each arm for the features of a question, float64 [arms]."""
        row = feature_table([features], self.features)[0]
        standardised = np.nan_to_num((row - self.means) / np.array(self.scales))
        return np.array(self.weights) @ standardised + self.intercepts

    @property
    def name(self) -> str:
        """The name under which the rule is saved: its set and its digest."""
        words = UNFIT_NAME_CHARACTERS.sub("-", self.set.casefold()).strip("-")[:40].strip("-")
        digest = self._content()[DIGEST_KEY][:NAME_DIGEST_CHARACTERS]
        return f"{words or 'set'}-{digest}"

    def save(self) -> Path:
        """Save the rule in the person's folder, and return its file. Raises BadInput."""
        file = rule_file(self.name)
        text = json.dumps(self._content(), ensure_ascii=False, indent=1)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, lambda temporary: temporary.write_text(text, "utf-8"))
        except OSError as error:
            raise BadInput(f"{file} cannot be written: {error.strerror or error}.") from None
        return file

    def _content(self) -> dict[str, Any]:
        return with_digest(json.loads(json.dumps({"format": RULE_FORMAT, **asdict(self)})))


def rule_file(name: str) -> Path:
    """Return the file of a rule, which need not exist. Raises BadInput for no name of a rule."""
    if not RULE_NAME_PATTERN.fullmatch(name):
        raise BadInput(
            f"“{shorten(name)}” is no name of a learned rule, such as metaqa-1hop-dev-0123456789ab."
        )
    return home_folder() / "routers" / f"{name}.json"


def saved_rules() -> tuple[str, ...]:
    """Return the names of the saved rules."""
    files = sorted((home_folder() / "routers").glob("*.json"))
    return tuple(file.stem for file in files if RULE_NAME_PATTERN.fullmatch(file.stem))


def load_rule(name: str) -> RoutingRule:
    """Return a saved rule.

    Raises BadInput if there is none, or if the file is not the one that was saved under this name.
    """
    file = rule_file(name)
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_RULE_BYTES + 1)
    except OSError:
        raise BadInput(
            f"There is no learned rule “{name}” in {file.parent}.{suggest_name(name, saved_rules())}"
            " Learn it again, or copy its file there."
        ) from None
    try:
        return _read_rule(data, name)
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise BadInput(
            f"{file} is not the learned rule that was saved under this name ({error}). It was left "
            "as it is and is not used."
        ) from None


def _read_rule(data: bytes, name: str) -> RoutingRule:
    """Return the rule of a file's bytes. Raises ValueError, TypeError or KeyError."""
    if len(data) > MAX_RULE_BYTES:
        raise ValueError("it is too large")
    content = json.loads(data)
    rest = check_own_digest(content)
    if rest.pop("format", None) != RULE_FORMAT:
        raise ValueError("it has another format")
    if rest.keys() != {field.name for field in fields(RoutingRule)}:
        raise ValueError("it has other fields")
    numbers = {key: tuple(map(float, rest[key])) for key in ("means", "scales", "intercepts")}
    texts = {key: tuple(map(str, rest[key])) for key in ("arms", "features")}
    weights = tuple(tuple(map(float, row)) for row in rest["weights"])
    rule = RoutingRule(**{**rest, **numbers, **texts, "weights": weights})
    if rule.name != name:
        raise ValueError("its content is another rule's")
    return rule


def question_features(state: State) -> dict[str, float]:
    """Return the features of a question that its state already holds, by name.

    They cost nothing: the words, the question's entities, the predicted hops, and the sizes and
    scores of what was retrieved so far. A feature of a field that is not set is left out.
    """
    words = search_terms(state.question.text)
    features = {"words": float(len(words)), "seeds": float(len(state.seeds))}
    counts = {"hops": state.hops, "names": None if state.names is None else len(state.names)}
    features |= {name: float(count) for name, count in counts.items() if count is not None}
    if state.subgraph is not None:
        features["subgraph nodes"] = math.log1p(len(state.subgraph.nodes))
        features["subgraph edges"] = math.log1p(len(state.subgraph.edges))
    for kind, ranking in state.ranked.items():
        features[f"{kind} count"] = math.log1p(len(ranking))
        if ranking.scores:
            scores = [float(score) for score in ranking.scores]
            features[f"{kind} best score"] = scores[0]
            features[f"{kind} lead"] = scores[0] - sum(scores) / len(scores)
    finite = {name: value for name, value in features.items() if math.isfinite(value)}
    return finite | {f"{WORD_PREFIX}{word}": 1.0 for word in words}


def feature_table(features: Sequence[Mapping[str, float]], names: Sequence[str]) -> np.ndarray:
    """Return the features of some questions as an array, float64 [questions, names].

    A missing feature is NaN, a missing word is 0.
    """
    absent = [0.0 if name.startswith(WORD_PREFIX) else math.nan for name in names]
    rows = [[row.get(name, gap) for name, gap in zip(names, absent)] for row in features]
    return np.array(rows, np.float64).reshape(len(rows), len(names))

"""Keys of a graph's questions, compared with the relation chains that like questions follow.

Questions are alike if their texts are the same but for their entities, else if their words are
similar. The chain that explains the keys of the others is expected to explain this key too.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from core.evaluation.audit.findings import Finding
from core.evaluation.audit.relation_chains import (
    Chain,
    ChainMatch,
    chain_text,
    compare_answers,
    find_chains,
    follow_chain,
)
from core.evaluation.audit.word_vectors import nearest_texts, word_vectors
from core.graph.names.lookup import name_lookup
from core.graph.protocol import KnowledgeGraph
from core.languages.spelling import fold
from core.types import Question
from core.watch import NO_WATCH, Watch

MAX_SEARCHED_QUESTIONS = 1_500  # questions whose chains are all searched
MAX_SEARCHED_ALIKE = 12  # of these, questions of one template
MIN_CHAIN_F1 = 0.5  # chains that agree less are no evidence
MIN_TEMPLATE_SUPPORT = 0.75  # mean agreement of a chain with the keys of the same template
# Support and number of like questions from which a chain outweighs another that fits the key.
SURE_SUPPORT = 0.9
SURE_ALIKE = 3
NEAR_SUPPORT = 0.9  # chains with this share of the best support are as good
NEAR_TEMPLATES = 6
MIN_NEAR_SUPPORT = 0.6  # weighted agreement with the keys of similar templates
MIN_EXPLAINED_SHARE = 0.7  # of all keys, if a key without any chain is suspicious
MAX_SHOWN_NAMES = 12
ENTITY_SLOT = "_"


@dataclass(frozen=True, eq=False)
class GraphQuestion:
    """A question with its template, and the nodes of its first entity and of its key."""

    question: Question
    start: int
    key: np.ndarray
    template: str


@dataclass(eq=False)
class GraphKeys:
    """Evidence of a graph on the keys of questions.

    Parameters
    ----------
    graph : the graph.
    questions : questions of a set; keys of those without answers or entities are not followed.
    watch : checked before each question.
    """

    graph: KnowledgeGraph
    questions: Sequence[Question]
    watch: Watch = field(default=NO_WATCH, repr=False)
    name_findings: list[Finding] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._located = list(self._locate())
        self._searched = {one.question.id: chains for one, chains in self._search()}
        self._n_searched = Counter(
            one.template for one in self._located if one.question.id in self._searched
        )
        self._votes: dict[str, Counter[Chain]] = defaultdict(Counter)
        for one in self._located:
            self._votes[one.template].update(self._own_votes(one))

    def _locate(self) -> Iterator[GraphQuestion]:
        """Yield the questions whose names are in the graph, and note the other names."""
        lookup = name_lookup(self.graph)
        for question in self.questions:
            self.watch.check()
            starts = [lookup.find_exact(name.strip()) for name in question.entities]
            for name, nodes in zip(question.entities, starts):
                if len(nodes) != 1:
                    kind = "ambiguous_name" if nodes else "missing_entity"
                    text = f"{len(nodes) or 'No'} entities of the graph are called “{name}”."
                    self.name_findings.append(Finding(question.id, kind, text, (name,)))
            key: list[int] = []
            missing = []
            for answer in dict.fromkeys(question.answers):
                found = map(lookup.find_exact, map(str.strip, question.answer_names(answer)))
                nodes = next(filter(None, found), ())
                key += nodes[:1]
                missing += [] if nodes else [answer]
            for answer in missing:
                text = f"The graph has no entity “{answer}”."
                self.name_findings.append(Finding(question.id, "missing_answer", text, (answer,)))
            if key and not missing and starts and starts[0]:
                template = template_of(question.text, question.entities)
                yield GraphQuestion(question, starts[0][0], np.unique(key), template)

    def _search(self) -> Iterator[tuple[GraphQuestion, dict[Chain, ChainMatch]]]:
        """Yield some questions of each template with the chains to their answers."""
        counts: Counter[str] = Counter()
        for one in self._located:
            counts[one.template] += 1
            if counts[one.template] <= MAX_SEARCHED_ALIKE and (
                counts.total() <= MAX_SEARCHED_QUESTIONS or counts[one.template] <= SURE_ALIKE
            ):
                self.watch.check()
                yield one, find_chains(self.graph, one.start, one.key, one.question.hops)

    def _own_votes(self, one: GraphQuestion) -> Counter[Chain]:
        """Return the chains that agree with a key, by their agreement."""
        matches = self._searched.get(one.question.id, {})
        agreeing = {chain: m.f1 for chain, m in matches.items() if m.f1 >= MIN_CHAIN_F1}
        return Counter(agreeing)

    @cached_property
    def _explained_share(self) -> float:
        """Share of the searched keys that some chain explains exactly."""
        exact = [any(m.is_exact for m in found.values()) for found in self._searched.values()]
        return sum(exact) / max(1, len(exact))

    @cached_property
    def _template_vectors(self):
        return word_vectors(list(self._votes))

    def expected_chain(self, one: GraphQuestion) -> tuple[Chain, float, int] | None:
        """Return the chain that the other questions like this one follow. None if unknown.

        It comes with its mean agreement with their keys, and the number of questions of the same
        template; 0 for similar templates.
        """
        own = self._own_votes(one)
        n_alike = self._n_searched[one.template] - (one.question.id in self._searched)
        votes = self._votes[one.template].copy()
        votes.subtract(own)
        if n_alike > 1:  # with one other question, a chain may fit by chance
            best = self._best_chain(one, votes)
            if best is not None and votes[best] >= MIN_TEMPLATE_SUPPORT * n_alike:
                return best, votes[best] / n_alike, n_alike
        if n_alike > SURE_ALIKE:
            return None
        total = float(n_alike)
        templates = list(self._votes)
        row = templates.index(one.template)
        for other, cosine in nearest_texts(self._template_vectors, row, NEAR_TEMPLATES):
            if n_searched := self._n_searched[templates[other]]:
                total += cosine
                for chain, value in self._votes[templates[other]].items():
                    votes[chain] += cosine * value / n_searched  # type: ignore[assignment]
        best = self._best_chain(one, votes)
        # What only similar questions follow counts less than a chain that nearly fits the key.
        if best is None or votes[best] < MIN_NEAR_SUPPORT * total or (own and best not in own):
            return None
        return best, votes[best] / total, 0

    def _best_chain(self, one: GraphQuestion, votes: Counter[Chain]) -> Chain | None:
        """Return the chain with the most votes.

        Among about equal ones, a chain that explains the key is preferred, then one of the known
        number of hops, then the shortest.
        """
        own = self._searched.get(one.question.id, {})
        limit = max(1e-9, NEAR_SUPPORT * max(votes.values(), default=0))

        def sort_key(chain: Chain) -> tuple:
            is_exact = chain in own and own[chain].is_exact
            has_hops = len(chain) == one.question.hops
            return not is_exact, not has_hops, -round(votes[chain], 9), len(chain), chain

        return min((chain for chain in votes if votes[chain] >= limit), key=sort_key, default=None)

    def senses(self) -> dict[str, tuple[int, Chain]]:
        """Return what questions ask, by id: the entity's node and the chain of many like ones."""
        senses = {}
        for one in self._located:
            expected = self.expected_chain(one)
            if expected is not None and _is_sure(*expected[1:]):
                senses[one.question.id] = (one.start, expected[0])
        return senses

    def findings(self) -> Iterator[Finding]:
        """Yield names that the graph lacks, keys that it contradicts, and lists it completes."""
        yield from self.name_findings
        for one in self._located:
            self.watch.check()
            own = self._searched.get(one.question.id)
            is_explained = any(match.is_exact for match in (own or {}).values())
            expected = self.expected_chain(one)
            chain, reason = None, ""
            if expected is not None and (not is_explained or _is_sure(*expected[1:])):
                chain, _, n_alike = expected
                alike = f"{n_alike:,} like questions" if n_alike else "similar questions"
                reason = f"By the chain of {alike}"
            elif expected is None and own is not None and not is_explained:
                if self._explained_share >= MIN_EXPLAINED_SHARE:
                    chain = max(own, key=lambda each: (own[each].f1, -len(each)), default=())
                    reason = f"Unlike {self._explained_share:.0%} of the keys, no chain leads to it"
            if chain is not None and (finding := self._difference(one, chain, reason)):
                yield finding

    def _difference(self, one: GraphQuestion, chain: Chain, reason: str) -> Finding | None:
        """Return the finding on a key that is not what a chain leads to. None if it is."""
        reached = follow_chain(self.graph, one.start, chain) if chain else one.key[:0]
        if compare_answers(reached, one.key).is_exact:
            return None
        wrong = self._names(np.setdiff1d(one.key, reached))
        lacking = self._names(np.setdiff1d(reached, one.key))
        text = f"{reason} ({chain_text(self.graph, chain) or 'none is near'}). "
        text += f"Not reached: {_listed(wrong)}." if wrong else f"Missing: {_listed(lacking)}."
        kind = "contradicted" if wrong else "incomplete"
        return Finding(one.question.id, kind, text, wrong or lacking, expected=self._names(reached))

    def _names(self, nodes: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.graph.names([int(node) for node in nodes]))


def _is_sure(support: float, n_alike: int) -> bool:
    """Return whether a chain outweighs another one that fits a key."""
    return n_alike >= SURE_ALIKE and support >= SURE_SUPPORT


def _listed(names: Sequence[str]) -> str:
    """Return names in quotation marks, the first `MAX_SHOWN_NAMES` of them."""
    rest = f" and {len(names) - MAX_SHOWN_NAMES:,} more" if len(names) > MAX_SHOWN_NAMES else ""
    return ", ".join(f"“{name}”" for name in names[:MAX_SHOWN_NAMES]) + rest


def template_of(text: str, entities: Iterable[str]) -> str:
    """Return the words of a question with a slot in the place of each entity.

    >>> from core.evaluation.audit.graph_keys import template_of
    >>> template_of("Who directed [Inception]?", ("Inception",))
    'who directed _'
    """
    folded = fold(text)
    for name in sorted(map(fold, entities), key=len, reverse=True):
        folded = folded.replace(name, ENTITY_SLOT) if name else folded
    return " ".join(re.findall(r"\w+", folded)) or ENTITY_SLOT

"""Recommendation of a method after an evaluation, with its evidence and its cost.

The sentences are made from the rows of the run alone. Ranks are those of
`core.evaluation.reports.ranks`. Among the methods of rank 1 that cost about as little as the
cheapest of them, the one with the highest mean is recommended.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.diagnosis.wording import number_words
from core.evaluation.metrics.statistics import PairedTest
from core.evaluation.questions.name_questions import (
    KIND_WORDS,
    MADE_QUESTIONS_NOTE,
    MADE_SET_SUFFIX,
    kind_of,
)
from core.evaluation.reports.export import format_seconds, format_share
from core.evaluation.reports.flow import END_RIGHT, PASSAGE_MEASURE, end_stages
from core.evaluation.reports.ranks import (
    DEARER_COST_RATIO,
    DETECTABLE_STANDARD_ERRORS,
    MIN_RANKED_QUESTIONS,
    Ranks,
    ranking_metric,
)
from core.evaluation.reports.reading_shares import gain_sentence, reading_shares
from core.evaluation.reports.summary import RunSummary
from core.methods.catalogue import RUN_PREFIX

# Words for a metric's share, by the metric's name with or without its cut-off.
SHARE_MEANINGS = {
    "hits@1": "of the questions answered right",
    "accuracy": "of the questions answered right",
    "token_recall": "of the words of the correct answers",
    "reader_hit@1": "of the questions answered right by the graph reader",
    "passage_recall": "of the evidence in the first {k} passages",
    "context_recall": "of the answers in the prompt",
    "path_hit@32": "of the questions with an answer in the first 32 paths",
}
MAX_REQUESTED_QUESTIONS = 10_000  # larger samples are not proposed


@dataclass(frozen=True)
class Recommendation:
    """Recommended method with its reasons.

    The field names are those of the JSON that the command `evaluate` prints.

    Parameters
    ----------
    metric : the metric of quality by which the methods are ranked.
    take : id of the recommended method, empty if the rows allow no choice.
    ranks : rank of each compared method: 1 plus the number of methods significantly ahead of it.
    headline : the recommendation as one sentence.
    details : further sentences: evidence, cost, and what the rows leave open.
    more : number of further questions to ask in order to distinguish the two highest means, at most
        the number left in the set. It is 0 if more questions would not help, if none are left, or
        if several sets were asked.
    """

    metric: str
    take: str
    ranks: Mapping[str, int]
    headline: str
    details: tuple[str, ...] = ()
    more: int = 0


def recommendation(summary: RunSummary) -> Recommendation | None:
    """Return the recommendation of a run, based on the rows so far.

    It is None if no method has a figure of quality, or if no question has one for all methods.
    """
    metric = ranking_metric(summary)
    if not metric:
        return None
    ranked = Ranks(summary, metric)
    if not ranked.n:
        return None
    if len(ranked.values) == 1:
        return _for_one_method(ranked)
    if ranked.n < MIN_RANKED_QUESTIONS:
        pick = ""
        questions_text = "One question says"
        if ranked.n > 1:
            questions_text = f"{ranked.n:,} questions say"
        headline = f"{questions_text} too little to recommend a method."
        details = [_power_sentence(ranked)]
    else:
        pick = ranked.first_ranked[0]
        headline = _headline(ranked, pick)
        details = _details(ranked, pick)
    return Recommendation(
        metric,
        take=pick,
        ranks=ranked.ranks,
        headline=headline,
        details=tuple(filter(None, details)),
        more=_further_questions(ranked),
    )


def _details(ranked: Ranks, pick: str) -> list[str]:
    """Return the sentences below the headline; empty ones are left out later."""
    return [
        _evidence_sentences(ranked, pick),
        _highest_mean_sentence(ranked, pick),
        *_equal_results_sentences(ranked),
        *_lead_by_hops_sentences(ranked, pick),
        _full_depth_sentence(ranked, pick),
        _gain_sentence(ranked, pick, ranked.names[pick]),
        _power_sentence(ranked),
        _made_questions_note(ranked),
    ]


def _for_one_method(ranked: Ranks) -> Recommendation:
    """Return the figure of the only method, and how far it is from itself if it was repeated."""
    (method,) = ranked.values
    share = f"{ranked.names[method]}: {_share_text(ranked, method)}."
    details = [_gain_sentence(ranked, method, "")]
    test = ranked.summary.aa_test(method, ranked.metric)
    if test is not None and test.n >= MIN_RANKED_QUESTIONS:
        verdict = "chance alone makes such differences"
        if test.is_significant:
            verdict = "something moves a whole run, so compare with repeats only"
        details.append(f"Against itself (A/A) it differs by {format_interval(test)}: {verdict}.")
    return Recommendation(
        ranked.metric,
        take="",
        ranks={method: 1},
        headline=f"{share} There is no other method to compare.",
        details=tuple(filter(None, details)),
    )


def _headline(ranked: Ranks, pick: str) -> str:
    """Return the sentence that names the recommended method and the reason."""
    tied_count = len(ranked.first_ranked)
    name = ranked.names[pick]
    if tied_count == 1:
        others_text = "the other" if len(ranked.values) == 2 else "each other method"
        return f"Take {name}: it is better than {others_text} (statistically significant)."
    why = _reason_among_equals(ranked, pick)
    if tied_count == len(ranked.values):
        return f"Take {name}: no significant difference; it {why}."
    others_text = "one other" if tied_count == 2 else f"{tied_count - 1} others"
    return (
        f"Take {name}: it shares the first rank with {others_text} (no significant difference), "
        f"and {why}."
    )


def _reason_among_equals(ranked: Ranks, pick: str) -> str:
    """Return why a method is recommended, as a predicate.

    The method is one of those that share rank 1.
    """
    if pick not in ranked.costs:
        return "has the highest mean"
    for method in ranked.first_ranked[1:]:
        if ranked.noticeable_cost_ratio(method, pick) < DEARER_COST_RATIO:
            return "has the highest mean of those that cost as little"
    return "is the cheapest"


def _evidence_sentences(ranked: Ranks, pick: str) -> str:
    """Return sentences on the figure and the cost of the recommended method.

    Its cost is compared with that of the costliest method, if that is noticeably higher. The
    methods of lower rank that it is significantly ahead of are listed.
    """
    text = f"{_share_text(ranked, pick)}{_cost_text(ranked, pick)}."
    costliest = max(ranked.values, key=lambda method: ranked.noticeable_cost_ratio(method, pick))
    if ranked.noticeable_cost_ratio(costliest, pick) >= DEARER_COST_RATIO:
        ratio_words = _cost_ratio_words(ranked.cost_ratio(costliest, pick), "")
        text += (
            f" {ranked.names[costliest]} {ratio_words}{_cost_text(ranked, costliest)}, for "
            f"{format_share(ranked.means[costliest])}."
        )
    leads = []
    for method, rank in ranked.ranks.items():
        test = ranked.test(pick, method) if rank > 1 else None
        if test is not None and test.is_significantly_above:
            leads.append(f"{ranked.names[method]} by {format_interval(test)}")
    if leads:
        text += f" It is ahead of {_join_names(leads)}."
    return text


def _highest_mean_sentence(ranked: Ranks, pick: str) -> str:
    """Return a sentence on the method with the highest mean.

    The sentence is empty if that method is recommended.
    """
    best = max(ranked.values, key=lambda method: ranked.means[method])
    if ranked.means[best] <= ranked.means[pick]:
        return ""
    return (
        f"{ranked.names[best]} has the highest mean, "
        f"{format_interval(ranked.test(best, pick))} more (not significant)."
    )


def _equal_results_sentences(ranked: Ranks) -> Iterator[str]:
    """Yield a sentence for each group of methods with equal results.

    Their retrieval figures are equal on every question.
    """
    groups: dict[tuple, list[str]] = {}
    for method in ranked.values:
        facts = ranked.retrieval_facts(method)
        if facts:
            groups.setdefault(facts, []).append(method)
    for group in groups.values():
        if len(group) < 2:
            continue
        costliest = max(group, key=ranked.noticeable_cost)
        cheapest = min(group, key=ranked.noticeable_cost)
        cost_text = ""
        if ranked.noticeable_cost_ratio(costliest, cheapest) >= DEARER_COST_RATIO:
            ratio = ranked.cost_ratio(costliest, cheapest)
            ratio_words = _cost_ratio_words(ratio, ranked.names[cheapest])
            cost_text = f", and {ranked.names[costliest]} {ratio_words}"
        names = _join_names([ranked.names[method] for method in group])
        yield f"{names} agree in every retrieval figure on every question{cost_text}."


def _lead_by_hops_sentences(ranked: Ranks, pick: str) -> Iterator[str]:
    """Yield sentences on the hop counts at which another method is ahead."""
    for hops, test in ranked.leads_by_hops(pick):
        plural = "" if hops == 1 else "s"
        part = f"On questions of {hops} hop{plural} ({test.n:,} of {ranked.n:,})"
        lead = f"is ahead by {format_interval(test)}{_cost_text(ranked, test.a)}."
        yield f"{part} {ranked.names[test.a]} {lead}"


def _full_depth_sentence(ranked: Ranks, pick: str) -> str:
    """Return a sentence on a method that is better at full depth.

    It finds all gold passages more often at its full depth. The full depth of a method is the
    number of passages that it returns. The sentence is empty unless passages are compared at a
    cut-off, the depths differ, and the recommended method is not the best at full depth.
    """
    depths = ranked.summary.max_passages
    has_cutoff = ranked.metric.startswith("passage_recall@")
    if not has_cutoff or len({depths.get(method) for method in ranked.values}) == 1:
        return ""
    stages = {
        method: list(end_stages(ranked.summary, method, PASSAGE_MEASURE).values())
        for method in ranked.values
    }
    right_counts = {method: ends.count(END_RIGHT) for method, ends in stages.items()}
    best = max(stages, key=lambda method: right_counts[method])
    if right_counts[best] <= right_counts[pick] or best not in depths:
        return ""
    counts_text = (
        f"{right_counts[best]:,} of {len(stages[best]):,} questions, "
        f"{ranked.names[pick]} for {right_counts[pick]:,} of {len(stages[pick]):,}"
    )
    return (
        f"With all {depths[best]:,} passages that it hands on, {ranked.names[best]} "
        f"has all the evidence for {counts_text}."
    )


def _gain_sentence(ranked: Ranks, method: str, name: str) -> str:
    """Return a sentence on what a better retriever and a better reader can win at most.

    The sentence is empty if no evidence is known, or if no answer is wrong.
    """
    for shares in reading_shares(ranked.summary):
        if shares.method == method and shares.right.mean != 1:
            return gain_sentence(shares, name)
    return ""


def _power_sentence(ranked: Ranks) -> str:
    """Return a sentence on the smallest difference that this number of questions can show.

    It also says how many questions would distinguish the two highest means, if these are not
    distinguished yet. It is empty if that difference does not vary over the questions.
    """
    first, second = ranked.top_two
    deviation = ranked.difference_deviation(first, second)
    gap = ranked.means[first] - ranked.means[second]
    names = f"{ranked.names[first]} and {ranked.names[second]}"
    if not deviation:
        if ranked.n == 1 or gap:
            return ""
        return f"{names} have the same on each of {ranked.n:,} questions."
    min_difference = DETECTABLE_STANDARD_ERRORS * deviation / math.sqrt(ranked.n)
    limit_text = (
        f"With {ranked.n:,} questions, differences below {format_share(min_difference)} cannot be "
        "told from chance"
    )
    if ranked.needed_questions <= ranked.n:
        return f"{limit_text}."
    needed_text = "is too small to be settled by asking more"
    if ranked.needed_questions <= MAX_REQUESTED_QUESTIONS:
        needed_text = f"would take about {_round_up(ranked.needed_questions):,}"
    return f"{limit_text}; the {format_share(gap)} between {names} {needed_text}."


def _made_questions_note(ranked: Ranks) -> str:
    """Return the note on questions made from the corpus.

    The note is empty if any question was not made from it.
    """
    sets = [name.strip() for name in ranked.summary.run.spec["set"].split(",")]
    kinds = {kind_of(row.question) for row in ranked.summary.rows}
    if all(name.endswith(MADE_SET_SUFFIX) for name in sets) and kinds <= KIND_WORDS.keys():
        return MADE_QUESTIONS_NOTE
    return ""


def _further_questions(ranked: Ranks) -> int:
    """Return the value of `Recommendation.more`."""
    spec = ranked.summary.run.spec
    is_reachable = ranked.n < ranked.needed_questions <= MAX_REQUESTED_QUESTIONS
    finished_runs = {each["id"] for each in spec["instances"] if each["id"].startswith(RUN_PREFIX)}
    # A finished run has the answers to its own questions alone.
    if "," in spec["set"] or not is_reachable or finished_runs - {spec["set"]}:
        return 0
    return max(0, min(_round_up(ranked.needed_questions), spec["of"]) - spec["sample"])


def _share_text(ranked: Ranks, method: str) -> str:
    """Return the mean of a method with its meaning in words.

    The number of questions is added.
    """
    meaning = SHARE_MEANINGS.get(ranked.metric)
    if meaning is None:
        base, _, k = ranked.metric.partition("@")  # passage_recall@4, or at a lower cut-off
        meaning = SHARE_MEANINGS[base].format(k=number_words(int(k)))
    return f"{format_share(ranked.means[method])} {meaning}, n = {ranked.n:,}"


def _cost_text(ranked: Ranks, method: str) -> str:
    """Return the cost of a method in brackets.

    The text is empty if the cost is unknown.
    """
    if method not in ranked.costs:
        return ""
    cost = ranked.costs[method]
    if ranked.cost_metric == "tokens":
        return f" ({cost:,.0f} tokens a question)"
    return f" ({format_seconds(cost)} s a question)"


def format_interval(test: PairedTest) -> str:
    """Return a difference with its interval, such as `.21 [.04, .37]`."""
    return test.estimate.format_with_interval(format_share)


def _cost_ratio_words(ratio: float, other: str) -> str:
    """Return a ratio of costs in words.

    An example is “costs 1.5 times as much as A”. It is “costs more than A” if the ratio is
    infinite. If `other` is empty, “as A” or “than A” is left out.
    """
    if math.isinf(ratio):
        return f"costs more than {other}" if other else "costs more"
    figure = f"{ratio:.1f}" if ratio < 3 else f"{ratio:,.0f}"
    comparison = f" as {other}" if other else ""
    return f"costs {figure} times as much{comparison}"


def _round_up(questions: int) -> int:
    """Return a number of questions, rounded up to the next ten."""
    return math.ceil(questions / 10) * 10


def _join_names(names: Sequence[str]) -> str:
    """Return names separated by commas, the last one after “and”."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

"""Which names of a graph a text mentions, and which names are nearest to it."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

BRACKETS = re.compile(r"\[([^\[\]]+)\]")
# Words of questions; a node of such a name is meant only where nothing else is named.
COMMON = frozenset(
    (
        "a about act acted acting actor actors actress actresses also an and appear appeared appears applicable are as "
        "associated at be best by came can co co-starred come costarred could date dates describe described did direct "
        "directed director directors directs do does english ever fall falls famous features film films find for from "
        "genre genres give good had has have he her him his how i in into is it its kind kinds language languages list "
        "listed made main make makes me movie movies name named of on one or other out people person play played plays "
        "please popular primary rated rating ratings release released same say screenplay screenwriter screenwriters "
        "script scripts share she show some sort spoken star starred starring stars tag tell that the their them there "
        "these they this those title to together topic topics type types under use used using vote votes was were what "
        "whats when where which who whose why with word words write writer writers written wrote year years you"
    ).split()
)
FUZZY_BAR, FUZZY_WORDS, FUZZY_LETTERS = 85.0, 5, 4


@dataclass(frozen=True)
class Mention:
    """A node named in `question[start:end]`; `text` is that part. `fuzzy` where the spelling differs."""

    start: int
    end: int
    text: str
    node: int
    fuzzy: bool = False


class Vocabulary:
    """The names of a graph by their case-folded form. Each part is prepared when first used; threads may share it."""

    def __init__(self, names: Sequence[str], degrees: np.ndarray):
        self.names, self.degrees = names, degrees
        self._lock = threading.RLock()
        self.folded = [name.casefold() for name in names]
        self._nodes: dict[str, tuple[int, ...]] = {}
        for node, name in enumerate(self.folded):
            self._nodes[name] = self._nodes.get(name, ()) + (node,)

    def nodes(self, folded: str) -> tuple[int, ...]:
        """The nodes whose case-folded name this is, ascending."""
        return self._nodes.get(folded, ())

    def search(self, text: str, k: int) -> list[tuple[int, float]]:
        """The nearest names: (node, score in 0..100) by (-score, node)."""
        from rapidfuzz.fuzz import ratio
        from rapidfuzz.process import cdist

        from core.graph.order import top_k

        wanted = text.casefold().strip()
        if not wanted or k < 1:
            return []
        scores = cdist([wanted], self.folded, scorer=ratio, dtype=np.float32, workers=1)[0].astype(np.float64) * 0.8
        for node, name in enumerate(self.folded):
            if wanted in name:
                scores[node] = max(scores[node], _holding(wanted, name))
        nodes, best = top_k(np.arange(len(scores)), np.round(scores, 4), k)
        return list(zip(nodes.tolist(), best.tolist()))

    def mentions(self, question: str) -> list[Mention]:
        """The nodes that a question names, ordered by place.

        Names in [brackets] win. Else all names at word boundaries, case aside: where some stand in their very case and
        hold an upper-case letter or a digit, only those count; names that are mere question words fall away unless
        nothing else is left; of names that overlap, the longest stays. Where no name is found, the nearest in spelling
        (marked `fuzzy`) stands in.
        """
        marked = [
            Mention(match.start(1), match.end(1), match[1], node)
            for match in BRACKETS.finditer(question)
            if (node := self._choose(match[1])) is not None
        ]
        if marked:
            return marked
        found = self._at_words(question)
        clear = [mention for mention in found if self._is_clear(mention)]
        telling = clear or [mention for mention in found if mention.text.casefold() not in COMMON]
        chosen = _without_overlaps(telling)
        if not clear and chosen:
            longest = max(len(mention.text.split()) for mention in chosen)
            chosen = [mention for mention in chosen if len(mention.text.split()) == longest]
        return chosen or self._nearest(question) or _without_overlaps(found)

    def _is_clear(self, mention: Mention) -> bool:
        name = self.names[mention.node]
        return mention.text == name and name.casefold() not in COMMON and any(letter.isupper() or letter.isdigit() for letter in name)

    def _choose(self, text: str) -> int | None:
        """The node a piece of text names: in its very case, else the one with most edges; None where there is none."""
        nodes = self.nodes(text.casefold())
        if not nodes:
            return None
        return min(nodes, key=lambda node: (self.names[node] != text, -int(self.degrees[node]), node))

    def _at_words(self, question: str) -> list[Mention]:
        """Every name in the text that begins and ends at a word's boundary, overlaps included, by place."""
        letters = [(folded, at) for at, letter in enumerate(question) for folded in letter.casefold()]
        text = "".join(folded for folded, _ in letters)
        bounds = [at for at in range(len(text) + 1) if not _inside_word(text, at)]
        found = []
        for first, last in self._spans(text, bounds):
            start, end = letters[first][1], letters[last - 1][1] + 1
            node = self._choose(question[start:end])
            if node is not None:
                found.append(Mention(start, end, question[start:end], node))
        return sorted(found, key=lambda mention: (mention.start, -mention.end))

    def _spans(self, text: str, bounds: list[int]) -> Iterator[tuple[int, int]]:
        """The names in a case-folded text that begin and end at one of the bounds, as (start, end)."""
        with self._lock:
            ends = list(self._automaton.iter(text)) if len(self._automaton) else []
        allowed = set(bounds)
        for last, length in ends:
            if last + 1 in allowed and last - length + 1 in allowed:
                yield last - length + 1, last + 1

    def _closest(self, text: str, bar: float) -> tuple[str, float, int] | None:
        """The name nearest in spelling to a case-folded text, its likeness from `bar` to 100, and its node."""
        from rapidfuzz.fuzz import ratio
        from rapidfuzz.process import extractOne

        return extractOne(text, self.folded, scorer=ratio, score_cutoff=bar)

    @cached_property
    def _automaton(self):
        import ahocorasick

        automaton = ahocorasick.Automaton()
        for name in self._nodes:
            if name:
                automaton.add_word(name, len(name))
        automaton.make_automaton()
        return automaton

    def _nearest(self, question: str) -> list[Mention]:
        """The one run of words that is nearest in spelling to a name, if it is near enough."""
        words = list(re.finditer(r"[^\s?!,;]+", question))
        best: tuple[float, int, Mention] | None = None
        for size in range(min(FUZZY_WORDS, len(words)), 0, -1):
            for first in range(len(words) - size + 1):
                run = words[first : first + size]
                if all(word[0].casefold() in COMMON for word in (run[0], run[-1])) or len(run[0][0]) + len(run) < 3:
                    continue
                start, end = run[0].start(), run[-1].end()
                text = question[start:end].casefold()
                if len(text) < FUZZY_LETTERS:
                    continue
                hit = self._closest(text, best[0] if best else FUZZY_BAR)
                if hit and hit[0] not in COMMON and (best is None or (hit[1], len(text)) > best[:2]):
                    best = (hit[1], len(text), Mention(start, end, question[start:end], hit[2], fuzzy=True))
        return [best[2]] if best else []


def likeness(wanted: str, name: str) -> float:
    """How near a case-folded name is to a case-folded text, 0 to 100; see `Names.search`."""
    from rapidfuzz.fuzz import ratio

    spelt = ratio(wanted, name) * 0.8
    return max(spelt, _holding(wanted, name)) if wanted in name else spelt


def _holding(wanted: str, name: str) -> float:
    """The score of a name that holds the text: at its beginning, at that of a word, or anywhere."""
    at = name.find(wanted)
    base = 90.0 if at == 0 else 85.0 if not name[at - 1].isalnum() else 75.0
    return base + (10.0 if at == 0 else 5.0) * len(wanted) / len(name)


def _inside_word(text: str, at: int) -> bool:
    """Whether a word runs on over the place between text[at - 1] and text[at]."""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _without_overlaps(found: list[Mention]) -> list[Mention]:
    """The longest mentions first, each that overlaps a longer one left out; ordered by place."""
    kept: list[Mention] = []
    for mention in sorted(found, key=lambda mention: (mention.start - mention.end, mention.start, mention.node)):
        if all(mention.end <= other.start or mention.start >= other.end for other in kept):
            kept.append(mention)
    return sorted(kept, key=lambda mention: mention.start)

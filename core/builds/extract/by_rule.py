"""Rules that find names and phrases in languages without an installed parser.

- Latin, Cyrillic and Greek letters: runs of words with capital letters. The first word of a
  sentence counts only if it is capitalised elsewhere too.
- German, where all nouns are capitalised: runs of capitalised words are names, and so is a word
  after “in” or “aus” without an article. A long noun is a phrase.
- Chinese: names and compound nouns by the dictionary of rjieba where it is installed, else strings
  that recur.
- Japanese: runs of Chinese characters and katakana.
- Arabic: words with the article together with their noun (جامعة القاهرة), and runs that recur.
- Others: runs of words without function words that recur in a chunk.

In all of them, quoted text is a name: «…», „…“, 《…》, 「…」.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from core.builds.extract.mentions import CROWDED, LONGEST, NEAR, PHRASE, TOGETHER, Named, pairs
from core.builds.facts import Facts, Relation
from core.corpus.sentences import sentences
from core.languages import Language
from core.languages.spelling import MARKS
from core.languages.terms import MARKED_WORD

EDITION = 1  # version of the rules; with another version, chunks are read again
NAME, WORK = "name", "work"
WORD = re.compile(rf"{MARKED_WORD}(?:[-'’·.]{MARKED_WORD})*")
QUOTED = re.compile(
    r"《([^《》\n]{1,60})》|「([^「」\n]{1,40})」|『([^『』\n]{1,40})』"
    r"|«\s?([^«»\n]{2,60}?)\s?»|„([^„“”\n]{2,60})[“”]|“([^“”\n]{2,60})”"
)
PARTICLES = frozenset(
    "de da do dos das di del della du des la le les van von den ter ten of bin ibn al el zu "
    "am".split()
)
MOST_PARTICLES = 2  # most particles in a row within a name: Musée de la Rivière
GERMAN_PARTICLES = frozenset("von van de zu am".split())
MONTHS = frozenset(
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
)
ARTICLES = frozenset(
    "der die das den dem des ein eine einer eines einem einen kein keine keinen jede jeder jedes "
    "diese dieser dieses diesem diesen seine seinen seiner ihr ihre ihren ihrer beim vom zum zur "
    "im am ins ans".split()
)
# Prepositions that stand before a name without an article.
NAMING = frozenset("in nach aus von bei bis zwischen".split())
LONG_NOUN = 9  # fewest letters of a German noun that is specific enough, usually a compound
COMPOUND = 2  # fewest adjacent nouns that form a phrase
HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々〇]+")
JAPANESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々〇ァ-ヶー・]{2,20}")
RUN_LETTERS = range(2, 9)  # lengths of recurring strings in scripts without spaces
NOUNS = ("n", "nr", "ns", "nt", "nz", "nrt", "nrfg", "s", "j", "eng")
KINDS = {
    "nr": "person",
    "nrt": "person",
    "nrfg": "person",
    "ns": "place",
    "nt": "organisation",
    "nz": NAME,
}
ARTICLE = re.compile(r"(?:وال|بال|كال|فال|ال|لل)\w{2,}")
# “and” or “in”, written together with the next word
AND = re.compile(r"^(?:[وبفك](?=ال)|و(?=\w{4}))")
# An Arabic verb at the beginning of a clause: in the present tense, or of three letters.
VERB = re.compile(r"[يتن]\w{2,5}$|\w{3}$")
KOREAN_ENDINGS = re.compile(
    r"(?<=[가-힣]{2})(?:에서는|에서|으로|에게|까지|부터|이다|은|는|이|가|을|를|의|에|와|과|도|로)$"
)
RECURS = 2  # fewest occurrences of a recurring string


@dataclass(frozen=True)
class Mention:
    """A name or phrase with its position in the text and its type."""

    start: int
    name: str
    kind: str


def signature(language: Language) -> str:
    """Return what the facts depend on besides the text: rules, and the dictionary if any."""
    if language.code == "zh" and (found := dictionary()):
        return f"rules {EDITION} zh {found}"
    return f"rules {EDITION} {language.code}"


def dictionary() -> str:
    """Return the version of rjieba, which includes its dictionary; empty if not installed."""
    try:
        return f"rjieba {version('rjieba')}"
    except PackageNotFoundError:
        return ""


def read_by_rule(language: Language, texts: Sequence[str]) -> list[Facts]:
    """Return the facts of texts in a language."""
    return [facts_in(text, language) for text in texts]


def facts_in(text: str, language: Language) -> Facts:
    """Return the names and phrases of a chunk, related where they share a sentence.

    >>> from core.builds.extract.by_rule import facts_in
    >>> from core.languages import languages
    >>> facts = facts_in(
    ...     "Die Zahnradbahn führt nach Bergheim. In Bergheim wohnte Ada Quill.", languages()["de"]
    ... )
    >>> [(one.name, one.type, one.times) for one in facts.entities]
    [('Zahnradbahn', 'concept', 1), ('Bergheim', 'name', 2), ('Ada Quill', 'name', 1)]
    """
    spans = sentences(text, language.code)
    mentions = mentions_in(text, language, spans)
    entities: dict[str, Named] = {}
    joined: dict[tuple[str, str], tuple[list[int], str]] = {}
    crowded, at = False, 0
    for start, end in spans:
        said, named = " ".join(text[start:end].split()), dict[str, None]()
        while at < len(mentions) and mentions[at].start < end:
            one = mentions[at]
            entities.setdefault(one.name.casefold(), Named(said)).add(one.name, one.kind)
            named[one.name.casefold()] = None
            at += 1
        crowded = crowded or len(named) > NEAR + 1
        for pair in pairs(list(named)):
            joined.setdefault(pair, ([0], said))[0][0] += 1
    shown = {key: known.entity for key, known in entities.items()}
    relations = (
        Relation(shown[a].name, shown[b].name, TOGETHER, said, "", float(times))
        for (a, b), ((times,), said) in joined.items()
    )
    return Facts(tuple(shown.values()), tuple(relations), notes=(CROWDED,) if crowded else ())


def mentions_in(text: str, language: Language, spans: Sequence[tuple[int, int]]) -> list[Mention]:
    """Return the names and phrases of a text in order; quoted text is preferred to its parts."""
    quoted = [
        Mention(match.start(match.lastindex or 0), match[match.lastindex or 0].strip(), WORK)
        for match in QUOTED.finditer(text)
    ]
    taken = {at for one in quoted for at in range(one.start, one.start + len(one.name))}
    rule = RULES.get(language.code) or (by_capitals if language.cased else by_recurrence)
    found = [one for one in rule(text, language, spans) if one.start not in taken]
    return sorted(
        (one for one in (*quoted, *found) if _is_name(one.name, language)),
        key=lambda one: one.start,
    )


def _is_name(name: str, language: Language) -> bool:
    letters = sum(map(str.isalpha, name))
    return letters > 1 and len(name.split()) <= LONGEST and name.casefold() not in language.common


def by_capitals(
    text: str, language: Language, spans: Sequence[tuple[int, int]]
) -> Iterator[Mention]:
    """Yield runs of capitalised words.

    A single word at the beginning of a sentence counts only if it is capitalised within a sentence
    too.
    """
    inside = {
        word[0]
        for start, end in spans
        for word in list(WORD.finditer(text, start, end))[1:]
        if _capital(word[0])
    }
    for start, end in spans:
        words = list(WORD.finditer(text, start, end))
        for first, last in _runs(text, words, language):
            if first == 0 and last == 1 and words[0][0] not in inside:
                continue
            yield _mention(text, words[first:last], NAME)


def german(text: str, language: Language, spans: Sequence[tuple[int, int]]) -> Iterator[Mention]:
    """Yield German names and phrases.

    A run of several capitalised words is a name. A single word is a name after a preposition of
    place or origin. At the beginning of a sentence, it is a name if it is also capitalised within a
    sentence. Any other single word is a common noun, and a phrase if it is long.
    """
    inside = {
        word[0]
        for start, end in spans
        for word in list(WORD.finditer(text, start, end))[1:]
        if _capital(word[0])
    }
    for start, end in spans:
        words = list(WORD.finditer(text, start, end))
        for first, last in _divided(words, _runs(text, words, language, GERMAN_PARTICLES)):
            word, before = words[first][0], words[first - 1][0].casefold() if first else ""
            # After an article, a title may precede a name of two words: der Bürgermeister Anton
            # Rieß.
            if last - first > 1:
                titled = before in ARTICLES and last - first > COMPOUND
                yield _mention(text, words[first + titled : last], NAME)
            elif word in MONTHS:
                continue
            elif first == 0 and word not in inside:
                if len(word) >= LONG_NOUN:
                    yield _mention(text, words[:1], PHRASE)
            elif (
                first == 0
                or before in NAMING
                or (before in ("und", "oder") and words[first - 2][0] in inside)
            ):
                yield _mention(text, words[first:last], NAME)
            elif len(word) >= LONG_NOUN:
                yield _mention(text, words[first:last], PHRASE)


def _divided(
    words: Sequence[re.Match[str]], runs: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Split runs after an article at their particles.

    Thus "ein Roman von Jonas Wieland" is split, and "Frankfurt am Main" is not.
    """
    for first, last in runs:
        if first and words[first - 1][0].casefold() in ARTICLES:
            cuts = [at for at in range(first, last) if words[at][0] in GERMAN_PARTICLES]
            yield from zip([first, *(cut + 1 for cut in cuts)], [*cuts, last])
        else:
            yield first, last


def _runs(
    text: str,
    words: Sequence[re.Match[str]],
    language: Language,
    particles: frozenset[str] = PARTICLES,
) -> Iterator[tuple[int, int]]:
    """Yield runs of capitalised words as (first, last).

    They may include particles between the words, but no function words.
    """
    named = [_capital(word[0]) and word[0].casefold() not in language.common for word in words]
    joined = [at > 0 and not _between(text, words, at).strip() for at in range(len(words))]
    first = 0
    while first < len(words):
        last = first + 1
        while named[first] and last < len(words):
            ahead = last
            while (
                ahead < min(last + MOST_PARTICLES, len(words))
                and words[ahead][0] in particles
                and joined[ahead]
            ):
                ahead += 1
            if ahead == len(words) or not (named[ahead] and joined[ahead]):
                break
            last = ahead + 1
        if named[first]:
            yield first, last
        first = last


def _capital(word: str) -> bool:
    return word[0].isupper()


def _mention(text: str, words: Sequence[re.Match[str]], kind: str) -> Mention:
    return Mention(
        words[0].start(), " ".join(text[words[0].start() : words[-1].end()].split()), kind
    )


def chinese(text: str, language: Language, spans: Sequence[tuple[int, int]]) -> Iterator[Mention]:
    """Yield names and groups of adjacent nouns, as tagged by rjieba.

    Without rjieba, strings that recur.
    """
    try:
        import rjieba
    except ImportError:
        yield from by_recurring_letters(text, language, spans)
        return
    at, run = 0, list[tuple[int, str, str]]()
    for word, tag in [*rjieba.tag(text.encode("utf-8", "replace").decode()), ("", "x")]:
        if tag in NOUNS and word not in language.common:
            run.append((at, word, tag))
        elif run:
            yield from _compound(run)
            run = []
        at += len(word)


def _compound(run: Sequence[tuple[int, str, str]]) -> Iterator[Mention]:
    """Yield the entities of adjacent nouns.

    They form one name, or together a phrase with the type of its last name.
    """
    kinds = [KINDS[tag] for _, _, tag in run if tag in KINDS]
    people = [one for one in run if KINDS.get(one[2]) == "person" and len(one[1]) > 1]
    if people and len(run) > 1:  # a title or another name next to a person is not part of the name
        for at, word, tag in run:
            if tag in KINDS:
                yield Mention(at, word, KINDS[tag])
    elif kinds or len(run) >= COMPOUND:
        yield Mention(
            run[0][0], "".join(word for _, word, _ in run), kinds[-1] if kinds else PHRASE
        )


def by_recurring_letters(
    text: str, language: Language, spans: Sequence[tuple[int, int]]
) -> Iterator[Mention]:
    """Yield strings of 2 to 8 letters that recur in a text, cut at function words.

    Where several recur together, only the longest counts.
    """
    cuts = re.compile(
        "|".join(re.escape(word) for word in sorted(language.common, key=len, reverse=True)) or "$^"
    )
    runs = [
        (run.start() + at, part) for run in HAN.finditer(text) for at, part in _parts(run[0], cuts)
    ]
    counts = Counter(
        part[i : i + n] for _, part in runs for n in RUN_LETTERS for i in range(len(part) - n + 1)
    )
    recurring = {one for one, times in counts.items() if times >= RECURS}
    longest = recurring - {
        part for one in recurring for part in (one[1:], one[:-1]) if counts[part] == counts[one]
    }
    for start, part in runs:
        at = 0
        while at < len(part):
            name = next(
                (
                    part[at : at + n]
                    for n in reversed(RUN_LETTERS)
                    if part[at : at + n] in longest and at + n <= len(part)
                ),
                "",
            )
            if name:
                yield Mention(start + at, name, NAME)
            at += len(name) or 1


def _parts(run: str, cuts: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    at = 0
    for cut in [*cuts.finditer(run), None]:
        end = len(run) if cut is None else cut.start()
        if end - at >= RUN_LETTERS[0]:
            yield at, run[at:end]
        at = len(run) if cut is None else cut.end()


def japanese(text: str, language: Language, spans: Sequence[tuple[int, int]]) -> Iterator[Mention]:
    """Yield runs of Chinese characters and katakana.

    Content words are written in these; hiragana joins them.
    """
    for run in JAPANESE.finditer(text):
        if run[0] not in language.asks:
            yield Mention(
                run.start(), run[0].strip("・"), NAME if len(run[0]) > COMPOUND else PHRASE
            )


def arabic(text: str, language: Language, spans: Sequence[tuple[int, int]]) -> Iterator[Mention]:
    """Yield words with the article together with their noun, then runs that recur.

    A verb at the beginning of a clause is left out.
    """
    known = set[int]()
    for start, end in spans:
        words = list(WORD.finditer(text, start, end))
        for first, last in _definite(words, text, language):
            known.update(
                range(first and words[first].start() or words[0].start(), words[last - 1].end())
            )
            name = " ".join(text[words[first].start() : words[last - 1].end()].split())
            yield Mention(words[first].start(), AND.sub("", name), NAME)
    yield from (one for one in by_recurrence(text, language, spans) if one.start not in known)


def _definite(
    words: Sequence[re.Match[str]], text: str, language: Language
) -> Iterator[tuple[int, int]]:
    """Yield runs of words with the article, as (first, last).

    A run includes the noun before it if that is in the same clause and not a verb.
    """
    at = 0
    while at < len(words):
        last = at
        while last < len(words) and ARTICLE.fullmatch(words[last][0]):
            # A word with “and” before it begins another entity.
            if last > at and (_between(text, words, last).strip() or words[last][0][0] != "ا"):
                break
            last += 1
        if last == at:
            at += 1
            continue
        head = at - 1
        owned = (
            head >= 0
            and words[at][0][0] == "ا"
            and not _between(text, words, at).strip()
            and words[head][0] not in language.common
        )
        verb = owned and (
            head == 0
            or words[head - 1][0] in language.common
            or _between(text, words, head).strip()
        )
        plain = AND.sub("", MARKS.sub("", words[head][0]))
        verb = verb or plain != MARKS.sub("", words[head][0])
        if owned and len(plain) > 2 and not (verb and VERB.match(plain)):
            yield head, last
        elif last - at > 1:
            yield at, last
        at = last


def _between(text: str, words: Sequence[re.Match[str]], at: int) -> str:
    """Return the text between a word and the one before it."""
    return text[words[at - 1].end() : words[at].start()]


def by_recurrence(
    text: str, language: Language, spans: Sequence[tuple[int, int]]
) -> Iterator[Mention]:
    """Yield runs of up to three words without function words that recur in a text.

    Where several recur together, only the longest counts.
    """
    runs = [
        run
        for start, end in spans
        for run in _content_runs(text, list(WORD.finditer(text, start, end)), language)
    ]
    grams = Counter(gram for run in runs for gram in _grams([word for _, word in run]))
    recurring = {gram for gram, times in grams.items() if times >= RECURS}
    longest = recurring - {
        part
        for gram in recurring
        for part in (gram[1:], gram[:-1])
        if part and grams[part] == grams[gram]
    }
    for run in runs:
        at = 0
        while at < len(run):
            size = next(
                (
                    n
                    for n in (3, 2, 1)
                    if tuple(word for _, word in run[at : at + n]) in longest and at + n <= len(run)
                ),
                0,
            )
            if size:
                yield Mention(
                    run[at][0],
                    " ".join(word for _, word in run[at : at + size]),
                    NAME if size > 1 else PHRASE,
                )
            at += size or 1


def _content_runs(
    text: str, words: Sequence[re.Match[str]], language: Language
) -> Iterator[list[tuple[int, str]]]:
    run: list[tuple[int, str]] = []
    for at, word in enumerate(words):
        plain = KOREAN_ENDINGS.sub("", word[0]) if language.code == "ko" else word[0]
        broken = at and text[words[at - 1].end() : word.start()].strip()
        content = (
            len(plain) > 2 - (language.code == "ko")
            and plain.casefold() not in language.common
            and not plain.isdecimal()
        )
        if run and (broken or not content):
            yield run
            run = []
        if content:
            run.append((word.start(), plain))
            if plain != word[0]:  # a particle ends a phrase
                yield run
                run = []
    if run:
        yield run


def _grams(words: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return (tuple(words[at : at + n]) for n in (1, 2, 3) for at in range(len(words) - n + 1))


Rule = Callable[[str, Language, Sequence[tuple[int, int]]], Iterator[Mention]]
RULES: dict[str, Rule] = {"de": german, "zh": chinese, "ja": japanese, "ar": arabic}

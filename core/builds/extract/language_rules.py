"""Rules that find names and phrases in texts of languages without an installed parser.

- Latin, Cyrillic and Greek letters: runs of capitalised words. The first word of a sentence counts
  only if it is capitalised elsewhere too.
- German, in which all nouns are capitalised: runs of capitalised words are names, and so is a word
  after “in” or “aus” without an article. A long noun is a phrase.
- Chinese: names and compound nouns by the dictionary of rjieba if it is installed, else strings
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
from typing import TypeVar

from core.builds.extract.mentions import MAX_ENTITY_WORDS, PHRASE_TYPE, SentenceFacts
from core.builds.facts import Facts
from core.corpus.sentences import sentence_spans
from core.languages import Language
from core.languages.spelling import OPTIONAL_MARKS
from core.languages.terms import MARKED_WORD

RULES_EDITION = 1  # increased when the rules change, so that chunks are read again
NAME_TYPE, WORK_TYPE = "name", "work"
RULE_WORD = re.compile(rf"{MARKED_WORD}(?:[-'’·.]{MARKED_WORD})*")
QUOTED_TITLE = re.compile(
    r"《([^《》\n]{1,60})》|「([^「」\n]{1,40})」|『([^『』\n]{1,40})』"
    r"|«\s?([^«»\n]{2,60}?)\s?»|„([^„“”\n]{2,60})[“”]|“([^“”\n]{2,60})”"
)
NAME_PARTICLES = frozenset(
    "de da do dos das di del della du des la le les van von den ter ten of bin ibn al el zu "
    "am".split()
)
MAX_PARTICLES_IN_ROW = 2  # within a name: Musée de la Rivière
GERMAN_PARTICLES = frozenset("von van de zu am".split())
GERMAN_MONTHS = frozenset(
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
)
GERMAN_ARTICLES = frozenset(
    "der die das den dem des ein eine einer eines einem einen kein keine keinen jede jeder jedes "
    "diese dieser dieses diesem diesen seine seinen seiner ihr ihre ihren ihrer beim vom zum zur "
    "im am ins ans".split()
)
# Prepositions that stand before a name without an article.
NAMING_PREPOSITIONS = frozenset("in nach aus von bei bis zwischen".split())
# Fewest letters of a German noun that is specific enough; it is usually a compound.
MIN_COMPOUND_LETTERS = 9
MIN_PHRASE_NOUNS = 2  # fewest adjacent nouns that form a phrase
HAN_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々〇]+")
JAPANESE_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々〇ァ-ヶー・]{2,20}")
RUN_LETTERS = range(2, 9)  # lengths of recurring strings in scripts without spaces
# rjieba's tags of nouns and names, and the types of the names.
NOUN_TAGS = ("n", "nr", "ns", "nt", "nz", "nrt", "nrfg", "s", "j", "eng")
TYPE_OF_TAG = {
    "nr": "person",
    "nrt": "person",
    "nrfg": "person",
    "ns": "place",
    "nt": "organisation",
    "nz": NAME_TYPE,
}
ARABIC_ARTICLE = re.compile(r"(?:وال|بال|كال|فال|ال|لل)\w{2,}")
# “and” or “in”, written together with the next word
ARABIC_PREFIX = re.compile(r"^(?:[وبفك](?=ال)|و(?=\w{4}))")
# An Arabic verb at the beginning of a clause: in the present tense, or a word of three letters.
ARABIC_VERB = re.compile(r"[يتن]\w{2,5}$|\w{3}$")
KOREAN_ENDINGS = re.compile(
    r"(?<=[가-힣]{2})(?:에서는|에서|으로|에게|까지|부터|이다|은|는|이|가|을|를|의|에|와|과|도|로)$"
)
MIN_RECURRENCES = 2  # fewest occurrences of a recurring string
Gram = TypeVar("Gram", str, tuple[str, ...])  # letters or words in a row


@dataclass(frozen=True)
class RuleMention:
    """A name or phrase, its start in characters, and its type: `NAME_TYPE`, “person” and so on."""

    start: int
    name: str
    kind: str


def signature(language: Language) -> str:
    """Return an id of the rules for a language.

    The id includes the dictionary if the rules use one.
    """
    if language.code == "zh" and (lexicon := dictionary_version()):
        return f"rules {RULES_EDITION} zh {lexicon}"
    return f"rules {RULES_EDITION} {language.code}"


def dictionary_version() -> str:
    """Return the version of rjieba, which contains a dictionary.

    Empty if rjieba is not installed.
    """
    try:
        return f"rjieba {version('rjieba')}"
    except PackageNotFoundError:
        return ""


def read_by_rule(language: Language, texts: Sequence[str]) -> list[Facts]:
    """Return the facts of texts in a language without a parser.

    Parameters
    ----------
    language : the language, with its stop words.
    texts : texts of chunks.

    Returns
    -------
    One entry for each text, in their order.
    """
    return [facts_in(text, language) for text in texts]


def facts_in(text: str, language: Language) -> Facts:
    """Return the names and phrases of a chunk, with their relations.

    Names and phrases in the same sentence are related.

    Parameters
    ----------
    text : text of a chunk.
    language : the language, with its words.

    Returns
    -------
    Entities with the number of their mentions, and relations within sentences.

    Examples
    --------
    >>> from core.builds.extract.language_rules import facts_in
    >>> from core.languages import languages
    >>> facts = facts_in(
    ...     "Die Zahnradbahn führt nach Bergheim. In Bergheim wohnte Ada Quill.", languages()["de"]
    ... )
    >>> [(one.name, one.type, one.times) for one in facts.entities]
    [('Zahnradbahn', 'concept', 1), ('Bergheim', 'name', 2), ('Ada Quill', 'name', 1)]
    """
    spans = sentence_spans(text, language.code)
    mentions = mentions_in(text, language, spans)
    sentences = SentenceFacts()
    position = 0
    for start, end in spans:
        first = position
        while position < len(mentions) and mentions[position].start < end:
            position += 1
        names = [(one.name, one.kind) for one in mentions[first:position]]
        sentences.add(" ".join(text[start:end].split()), names)
    return sentences.facts()


def mentions_in(
    text: str, language: Language, spans: Sequence[tuple[int, int]]
) -> list[RuleMention]:
    """Return the names and phrases of a text.

    A quoted title is preferred to its parts.

    Parameters
    ----------
    text : text of a chunk.
    language : the language, with its words.
    spans : start and end of each sentence, in characters.

    Returns
    -------
    Mentions in the order of their start.
    """
    quotes: list[RuleMention] = []
    quoted = set[int]()  # positions of characters within quotes
    for match in QUOTED_TITLE.finditer(text):
        # The only group that matched is the text between one kind of quotes.
        start, name = match.start(match.lastindex or 0), match[match.lastindex or 0].strip()
        quotes.append(RuleMention(start, name, WORK_TYPE))
        quoted.update(range(start, start + len(name)))
    general_rule = by_capitals if language.has_case else by_recurrence
    rule = RULE_OF_LANGUAGE.get(language.code, general_rule)
    unquoted = [found for found in rule(text, language, spans) if found.start not in quoted]
    mentions = [found for found in (*quotes, *unquoted) if _is_name(found.name, language)]
    return sorted(mentions, key=lambda mention: mention.start)


def _is_name(name: str, language: Language) -> bool:
    """Return whether a text can be a name.

    A name has two letters, not too many words, and is no stop word.
    """
    letters = sum(map(str.isalpha, name))
    return (
        letters > 1
        and len(name.split()) <= MAX_ENTITY_WORDS
        and name.casefold() not in language.stop_words
    )


def by_capitals(
    text: str, language: Language, spans: Sequence[tuple[int, int]]
) -> Iterator[RuleMention]:
    """Yield runs of capitalised words as names: the rule for alphabets with capital letters.

    A single word at the beginning of a sentence counts only if it is capitalised within a sentence
    too.

    Parameters
    ----------
    text : text of a chunk.
    language : the language, with its words.
    spans : start and end of each sentence, in characters.

    Yields
    ------
    A mention with its start.
    """
    inside = _capitals_inside(text, spans)
    for start, end in spans:
        words = list(RULE_WORD.finditer(text, start, end))
        for first, last in _name_runs(text, words, language):
            if first == 0 and last == 1 and words[0][0] not in inside:
                continue
            yield _mention(text, words[first:last], NAME_TYPE)


def german_mentions(
    text: str, language: Language, spans: Sequence[tuple[int, int]]
) -> Iterator[RuleMention]:
    """Yield German names and phrases.

    A run of several capitalised words is a name. A single word is a name after a preposition of
    place or origin. At the beginning of a sentence, it is a name if it is also capitalised within a
    sentence. Any other single word is a common noun, and a phrase if it is long.

    Parameters
    ----------
    text : text of a chunk.
    language : the language, with its words.
    spans : start and end of each sentence, in characters.

    Yields
    ------
    A mention with its start.
    """
    inside = _capitals_inside(text, spans)
    for start, end in spans:
        words = list(RULE_WORD.finditer(text, start, end))
        for first, last in _split_runs(words, _name_runs(text, words, language, GERMAN_PARTICLES)):
            kind = _kind_of_german_run(words, first, last, inside)
            if kind:
                first += _begins_with_title(words, first, last)  # leaves out the title, one word
                yield _mention(text, words[first:last], kind)


def _capitals_inside(text: str, spans: Sequence[tuple[int, int]]) -> set[str]:
    """Return the words that are capitalised within a sentence, not at its beginning."""
    inside: set[str] = set()
    for start, end in spans:
        words = [word[0] for word in RULE_WORD.finditer(text, start, end)]
        inside.update(filter(_is_capitalised, words[1:]))
    return inside


def _begins_with_title(words: Sequence[re.Match[str]], first: int, last: int) -> bool:
    """Return whether a run of German words begins with the title of a person.

    After an article, the first of three or more words is a title: der Bürgermeister Anton Rieß. It
    is no part of the name.
    """
    if not first or last - first <= MIN_PHRASE_NOUNS:
        return False
    return words[first - 1][0].casefold() in GERMAN_ARTICLES


def _kind_of_german_run(
    words: Sequence[re.Match[str]], first: int, last: int, inside: set[str]
) -> str:
    """Return the type of a run of capitalised German words. Empty if the run is no entity."""
    if last - first > 1:
        return NAME_TYPE
    word = words[first][0]
    if word in GERMAN_MONTHS:
        return ""
    if _is_german_name(words, first, inside):
        return NAME_TYPE
    return PHRASE_TYPE if len(word) >= MIN_COMPOUND_LETTERS else ""


def _is_german_name(words: Sequence[re.Match[str]], i: int, inside: set[str]) -> bool:
    """Return whether a single capitalised German word is a name. The words before it decide."""
    if i == 0:
        return words[0][0] in inside
    previous_word = words[i - 1][0].casefold()
    if previous_word in NAMING_PREPOSITIONS:
        return True
    return previous_word in ("und", "oder") and words[i - 2][0] in inside


def _split_runs(
    words: Sequence[re.Match[str]], runs: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Split runs after an article at their particles.

    Thus "ein Roman von Jonas Wieland" is split, and "Frankfurt am Main" is not.
    """
    for first, last in runs:
        if first and words[first - 1][0].casefold() in GERMAN_ARTICLES:
            cuts = [i for i in range(first, last) if words[i][0] in GERMAN_PARTICLES]
            pieces = zip([first, *(cut + 1 for cut in cuts)], [*cuts, last])
            # Between two particles in a row is no word.
            yield from (piece for piece in pieces if piece[0] < piece[1])
        else:
            yield first, last


def _name_runs(
    text: str,
    words: Sequence[re.Match[str]],
    language: Language,
    particles: frozenset[str] = NAME_PARTICLES,
) -> Iterator[tuple[int, int]]:
    """Yield runs of capitalised words as (first, last), exclusive of `last`.

    A run may include particles between its words, but no stop words. Its words are separated by
    white space alone.
    """
    is_name = [
        _is_capitalised(word[0]) and word[0].casefold() not in language.stop_words for word in words
    ]
    is_joined = [i > 0 and not _gap_before(text, words, i).strip() for i in range(len(words))]
    first = 0
    while first < len(words):
        last = first + 1
        while is_name[first] and last < len(words):
            ahead = last  # moves past particles to the next capitalised word
            while (
                ahead < min(last + MAX_PARTICLES_IN_ROW, len(words))
                and words[ahead][0] in particles
                and is_joined[ahead]
            ):
                ahead += 1
            if ahead == len(words) or not (is_name[ahead] and is_joined[ahead]):
                break
            last = ahead + 1
        if is_name[first]:
            yield first, last
        first = last


def _is_capitalised(word: str) -> bool:
    return word[0].isupper()


def _mention(text: str, words: Sequence[re.Match[str]], kind: str) -> RuleMention:
    """Return the mention of adjacent words, with single blanks between them."""
    start = words[0].start()
    return RuleMention(start, " ".join(text[start : words[-1].end()].split()), kind)


def chinese_mentions(
    text: str, language: Language, spans: Sequence[tuple[int, int]]
) -> Iterator[RuleMention]:
    """Yield names and groups of adjacent nouns, as tagged by rjieba.

    If rjieba is not installed, strings that recur are yielded.

    Parameters
    ----------
    text : text of a chunk.
    language : the language, with its words.
    spans : start and end of each sentence, in characters.

    Yields
    ------
    A mention with its start.
    """
    try:
        import rjieba
    except ImportError:
        yield from by_recurring_letters(text, language, spans)
        return
    position, run = 0, list[tuple[int, str, str]]()
    # rjieba refuses lone surrogates. The last, empty word ends a run at the end of the text.
    for word, tag in [*rjieba.tag(text.encode("utf-8", "replace").decode()), ("", "x")]:
        if tag in NOUN_TAGS and word not in language.stop_words:
            run.append((position, word, tag))
        elif run:
            yield from _compound(run)
            run = []
        position += len(word)


def _compound(run: Sequence[tuple[int, str, str]]) -> Iterator[RuleMention]:
    """Yield the entities of adjacent nouns, given as (start, word, tag).

    The nouns form one entity, with the type of the last name among them. Next to a person, each
    name is an entity of its own.
    """
    names = [
        RuleMention(start, word, TYPE_OF_TAG[tag]) for start, word, tag in run if tag in TYPE_OF_TAG
    ]
    has_person = any(name.kind == "person" and len(name.name) > 1 for name in names)
    if has_person and len(run) > 1:  # a title next to a person is not part of the name
        yield from names
    elif names or len(run) >= MIN_PHRASE_NOUNS:
        compound = "".join(word for _, word, _ in run)
        yield RuleMention(run[0][0], compound, names[-1].kind if names else PHRASE_TYPE)


def by_recurring_letters(
    text: str, language: Language, spans: Sequence[tuple[int, int]]
) -> Iterator[RuleMention]:
    """Yield strings of 2 to 8 letters that recur in a text.

    Strings are cut at function words. Of strings that always recur together, only the longest
    counts.

    Parameters
    ----------
    text : text of a chunk.
    language : the language, with its words.
    spans : start and end of each sentence, in characters.

    Yields
    ------
    A mention with its start.
    """
    runs: list[tuple[int, str]] = []
    cuts = _pattern_of_words(language.stop_words)
    for match in HAN_RUN.finditer(text):
        runs += [(match.start() + offset, part) for offset, part in _cut_parts(match[0], cuts)]
    counts: Counter[str] = Counter()
    for _, part in runs:
        for size in RUN_LETTERS:
            counts.update(part[offset : offset + size] for offset in range(len(part) - size + 1))
    longest = _longest_recurring(counts)
    for start, part in runs:
        position = 0
        while position < len(part):
            name = _longest_name_at(part, position, longest)
            if name:
                yield RuleMention(start + position, name, NAME_TYPE)
            position += len(name) or 1


def _pattern_of_words(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of the words.

    The longest is tried first. Without words, nothing is found.
    """
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile("|".join(re.escape(word) for word in longest_first) or "$^")


def _longest_recurring(counts: Counter[Gram]) -> set[Gram]:
    """Return the recurring grams, without those that recur only within a longer one."""
    recurring = {gram for gram, times in counts.items() if times >= MIN_RECURRENCES}
    parts: set[Gram] = set()
    for gram in recurring:
        parts.update(part for part in (gram[1:], gram[:-1]) if counts[part] == counts[gram])
    return recurring - parts


def _longest_name_at(part: str, position: int, names: set[str]) -> str:
    """Return the longest of some names that begins at a position. Empty if there is none."""
    for size in reversed(RUN_LETTERS):
        name = part[position : position + size]
        if len(name) == size and name in names:
            return name
    return ""


def _cut_parts(run: str, cuts: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield the parts of a run between cuts, with their offsets.

    A part has at least two letters.
    """
    start = 0
    spans = [cut.span() for cut in cuts.finditer(run)]
    for end, next_start in [*spans, (len(run), len(run))]:
        if end - start >= RUN_LETTERS[0]:
            yield start, run[start:end]
        start = next_start


def japanese_mentions(
    text: str, language: Language, spans: Sequence[tuple[int, int]]
) -> Iterator[RuleMention]:
    """Yield runs of Chinese characters and katakana, in which content words are written.

    Parameters
    ----------
    text : text of a chunk.
    language : the language, with its words.
    spans : not used; a parameter of all rules.

    Yields
    ------
    A mention with its start.
    """
    for run in JAPANESE_RUN.finditer(text):
        if run[0] not in language.kinds_by_question_phrase:
            kind = NAME_TYPE if len(run[0]) > MIN_PHRASE_NOUNS else PHRASE_TYPE
            yield RuleMention(run.start(), run[0].strip("・"), kind)


def arabic_mentions(
    text: str, language: Language, spans: Sequence[tuple[int, int]]
) -> Iterator[RuleMention]:
    """Yield Arabic words with the article together with their noun, then runs that recur.

    A verb at the beginning of a clause is left out.

    Parameters
    ----------
    text : text of a chunk.
    language : the language, with its words.
    spans : start and end of each sentence, in characters.

    Yields
    ------
    A mention with its start.
    """
    covered = set[int]()  # positions of characters within these names
    for start, end in spans:
        words = list(RULE_WORD.finditer(text, start, end))
        for first, last in _definite_runs(words, text, language):
            covered.update(range(words[first].start(), words[last - 1].end()))
            name = _mention(text, words[first:last], NAME_TYPE)
            yield RuleMention(name.start, ARABIC_PREFIX.sub("", name.name), name.kind)
    recurring = by_recurrence(text, language, spans)
    yield from (mention for mention in recurring if mention.start not in covered)


def _definite_runs(
    words: Sequence[re.Match[str]], text: str, language: Language
) -> Iterator[tuple[int, int]]:
    """Yield runs of Arabic words with the article as (first, last), exclusive of `last`.

    A run includes the noun before it if that is in the same clause and not a verb.
    """
    first = 0
    while first < len(words):
        last = _articled_end(words, first, text)
        if last == first:
            first += 1
            continue
        if _follows_noun(words, first, text, language):
            yield first - 1, last
        elif last - first > 1:
            yield first, last
        first = last


def _articled_end(words: Sequence[re.Match[str]], first: int, text: str) -> int:
    """Return the end (exclusive) of a run of words with the article.

    The run begins at the word `first`. It equals `first` if that word has no article.
    """
    last = first
    while last < len(words) and ARABIC_ARTICLE.fullmatch(words[last][0]):
        # A word with “and” before it begins another entity.
        if last > first and (_gap_before(text, words, last).strip() or words[last][0][0] != "ا"):
            break
        last += 1
    return last


def _follows_noun(words: Sequence[re.Match[str]], i: int, text: str, language: Language) -> bool:
    """Return whether a word with the article follows its noun, rather than a verb.

    The noun has no article itself: جامعة القاهرة, University of Cairo.
    """
    head = i - 1
    if head < 0 or words[i][0][0] != "ا" or _gap_before(text, words, i).strip():
        return False
    if words[head][0] in language.stop_words:
        return False
    unmarked = OPTIONAL_MARKS.sub("", words[head][0])
    stem = ARABIC_PREFIX.sub("", unmarked)
    if len(stem) <= 2:
        return False
    begins_clause = (
        head == 0
        or words[head - 1][0] in language.stop_words
        or bool(_gap_before(text, words, head).strip())
        or stem != unmarked
    )
    return not (begins_clause and ARABIC_VERB.match(stem))


def _gap_before(text: str, words: Sequence[re.Match[str]], i: int) -> str:
    """Return the text between a word and the one before it."""
    return text[words[i - 1].end() : words[i].start()]


def by_recurrence(
    text: str, language: Language, spans: Sequence[tuple[int, int]]
) -> Iterator[RuleMention]:
    """Yield runs of up to three words without stop words that recur: the rule without capitals.

    Of runs that always recur together, only the longest counts.

    Parameters
    ----------
    text : text of a chunk.
    language : the language, with its words.
    spans : start and end of each sentence, in characters.

    Yields
    ------
    A mention with its start.
    """
    runs: list[list[tuple[int, str]]] = []
    for start, end in spans:
        words = list(RULE_WORD.finditer(text, start, end))
        runs += _content_runs(text, words, language)
    grams = Counter[tuple[str, ...]]()
    for run in runs:
        grams.update(_grams([word for _, word in run]))
    longest = _longest_recurring(grams)
    for run in runs:
        position = 0
        while position < len(run):
            gram = _longest_gram_at(run, position, longest)
            if gram:
                kind = NAME_TYPE if len(gram) > 1 else PHRASE_TYPE
                yield RuleMention(run[position][0], " ".join(gram), kind)
            position += len(gram) or 1


def _longest_gram_at(
    run: Sequence[tuple[int, str]], position: int, grams: set[tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the longest of some word sequences that begins at a position. Empty if none does."""
    for size in (3, 2, 1):
        gram = tuple(word for _, word in run[position : position + size])
        if len(gram) == size and gram in grams:
            return gram
    return ()


def _content_runs(
    text: str, words: Sequence[re.Match[str]], language: Language
) -> Iterator[list[tuple[int, str]]]:
    """Yield runs of adjacent content words, each word with its start.

    A Korean word loses its particle, which also ends the run.
    """
    is_korean = language.code == "ko"
    min_letters = 2 if is_korean else 3
    run: list[tuple[int, str]] = []
    for i, word in enumerate(words):
        stem = KOREAN_ENDINGS.sub("", word[0]) if is_korean else word[0]
        follows_mark = i > 0 and _gap_before(text, words, i).strip() != ""
        is_content = (
            len(stem) >= min_letters
            and stem.casefold() not in language.stop_words
            and not stem.isdecimal()
        )
        if run and (follows_mark or not is_content):
            yield run
            run = []
        if is_content:
            run.append((word.start(), stem))
            if stem != word[0]:  # a particle ends a phrase
                yield run
                run = []
    if run:
        yield run


def _grams(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield all sequences of one to three of the words."""
    for n in (1, 2, 3):
        yield from (tuple(words[i : i + n]) for i in range(len(words) - n + 1))


MentionRule = Callable[[str, Language, Sequence[tuple[int, int]]], Iterator[RuleMention]]
RULE_OF_LANGUAGE: dict[str, MentionRule] = {
    "de": german_mentions,
    "zh": chinese_mentions,
    "ja": japanese_mentions,
    "ar": arabic_mentions,
}

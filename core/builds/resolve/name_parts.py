"""Search for names that stand for other names in a document.

They are parts, acronyms or aliases of the other names. Names are given by their keys
(`corpus_names.key_of_name`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from core.builds.extract.mentions import ALSO_CALLED, PHRASE_TYPE
from core.builds.resolve.corpus_names import PERSON_TYPE, PLACE_TYPE, CorpusName
from core.builds.resolve.terms import RARE_ZIPF, commonness
from core.corpus.entity_merges import ordered_pair

SMALL_WORDS = frozenset("of the and for in on at to a an de la".split())
ACRONYM_PATTERN = re.compile(r"[A-Z][A-Z0-9&]{1,6}s?")
PERSON_TITLES = frozenset(
    "mr mrs ms miss dr prof sir lady lord dame madame king queen prince princess saint st uncle "
    "aunt".split()
)
# Lowest Zipf value of a common word. Without a type from the parser, it is no part of a name.
MIN_PLAIN_WORD_ZIPF = 4.5
PART_RULE, ACRONYM_RULE = "part of a name", "acronym"
ALIAS_RULE, REPETITION_RULE = "called so by the text", "written twice"
# Documents that must join a part with the same full name, so that all other documents do, too.
MIN_JOINING_DOCUMENTS = 2
MAX_JOIN_STEPS = 4  # from a name to the one that it is finally joined with
Joins = dict[str, tuple[str, str]]  # full name and rule, by the name that is joined with it


@dataclass(frozen=True)
class FullNames:
    """Names of a document of which other names may be parts or acronyms.

    `by_word` holds persons by their first and last words, `by_initials` other names by their
    initials. `rank` is the position of each name of the document in the order of the text, from 0.
    """

    by_word: dict[str, list[str]]
    by_initials: dict[str, list[str]]
    rank: dict[str, int]


class PartFinder:
    """Finder of names that stand for other names in a document.

    They are parts, acronyms or aliases of the other names.

    Parameters
    ----------
    by_key : names of the corpus by key.
    refused : pairs of spellings that a person marked as different, which are never joined.
    """

    def __init__(self, by_key: dict[str, CorpusName], refused: Set[tuple[str, str]] = frozenset()):
        self.by_key, self.refused = by_key, refused
        # Refused pairs that would otherwise have been joined, in all documents so far.
        self.separated: set[tuple[str, str]] = set()
        # Full names of each part in the latest document that fits more than one.
        self.ambiguous_parts: dict[str, list[str]] = {}

    def join_parts(
        self,
        keys: Iterable[str],
        terms: Set[str],
        aliases: Iterable[tuple[str, str, str]] = (),
        is_long: bool = False,
    ) -> Joins:
        """Return the full name and the rule for each part.

        Parts and full names are names of one document.

        Parameters
        ----------
        keys : keys of the names in the order of the text.
        terms : keys of common terms, which are never full names.
        aliases : pairs of names that the text gives as names of one entity, with their label,
            `ALSO_CALLED` or `IN_BRACKETS`.
        is_long : the document is long. Initials then fit by chance, so only aliases join acronyms.

        Returns
        -------
        Key of the full name and the rule, by the key of a part.
        """
        self.ambiguous_parts = {}
        full_of_part: Joins = {}
        full_names = self._full_names(keys, terms, is_long)
        # The condition on `final_name` prevents circles of joins.
        for part, full, rule in self._join_aliases(aliases):
            if final_name(full, full_of_part) != part and not self.check_refused(part, full):
                full_of_part[part] = full, rule
        for key in sorted(full_names.rank.keys() - full_of_part.keys()):
            rule, fulls = self._find_full_names(key, full_names)
            fulls = [full for full in fulls if not self.check_refused(key, full)]
            if len(fulls) == 1 and final_name(fulls[0], full_of_part) != key:
                full_of_part[key] = fulls[0], rule
            elif len(fulls) > 1:
                self.ambiguous_parts[key] = fulls
        return {
            key: (final_name(full, full_of_part), rule)
            for key, (full, rule) in full_of_part.items()
        }

    def _full_names(self, keys: Iterable[str], terms: Set[str], is_long: bool) -> FullNames:
        """Return a document's names that may have parts or acronyms.

        In a long document no acronyms are found, because initials then fit by chance.
        """
        rank = {key: index for index, key in enumerate(keys)}
        by_word: dict[str, list[str]] = {}
        by_initials: dict[str, list[str]] = {}
        for key in sorted(rank):
            words = key.split()
            if len(words) < 2 or key not in self.by_key or key in terms:
                continue
            if self.by_key[key].kind != PERSON_TYPE:
                for initials in () if is_long else _initials(words):
                    by_initials.setdefault(initials, []).append(key)
            elif self._is_full(key):
                for word in {words[0], words[-1]}:
                    by_word.setdefault(word, []).append(key)
        return FullNames(by_word, by_initials, rank)

    def check_refused(self, key: str, full: str) -> bool:
        """Return whether a person marked two names as different, and record such a pair.

        Parameters
        ----------
        key, full : keys of the two names.

        Returns
        -------
        False if they may be joined.
        """
        names = ordered_pair(self.by_key[key].best_spelling, self.by_key[full].best_spelling)
        if names not in self.refused:
            return False
        self.separated.add(names)
        return True

    def _join_aliases(
        self, aliases: Iterable[tuple[str, str, str]]
    ) -> Iterator[tuple[str, str, str]]:
        """Yield each alias, its full name and the rule that joins them.

        An alias is left out if the text gives it two full names equally often.
        """
        fulls: dict[str, Counter[tuple[str, str]]] = {}
        for head, tail, label in aliases:
            if head not in self.by_key or tail not in self.by_key:
                continue
            rule = self._alias_rule(head, tail, label)
            if rule:
                part, full = tail, head
                if rule == ACRONYM_RULE and len(head) < len(tail):
                    part, full = head, tail
                fulls.setdefault(part, Counter())[full, rule] += 1
        for part, counts in sorted(fulls.items()):
            (first, times), *others = counts.most_common(2)
            if not others or times > others[0][1]:
                yield part, *first

    def _is_full(self, key: str) -> bool:
        """Return whether a person's name is a full one.

        Its first word is no role (“Mrs Cratchit”), its last is capitalised, and it has no digit.
        """
        name = self.by_key[key].best_spelling
        return (
            key.split()[0] not in PERSON_TITLES
            and name.split()[-1][0].isupper()
            and not any(letter.isdigit() for letter in name)
        )

    def _alias_rule(self, head: str, tail: str, label: str) -> str:
        """Return the rule that joins a name with an alias.

        Empty for none. The text gives the alias. `tail` follows `head` in brackets, or after words
        such as “also called”. A name in brackets is an acronym, or a brand after a rare word in
        small letters (“pembrolizumab (Keytruda)”). After words such as “also called”, any name of a
        similar type is joined. An exception is a single common noun, which usually ends a longer
        term.
        """
        short, long = sorted((head, tail), key=len)
        if self._is_acronym(short) and abbreviates(short, long):
            return ACRONYM_RULE
        head_name, tail_name = self.by_key[head], self.by_key[tail]
        if label == ALSO_CALLED:
            kinds = {head_name.kind, tail_name.kind}
            may_be_same = len(kinds) == 1 or kinds.isdisjoint((PERSON_TYPE, PLACE_TYPE))
            is_joined = may_be_same and (" " in head or PHRASE_TYPE not in kinds)
        else:
            is_rare = all(commonness(word) == RARE_ZIPF for word in f"{head} {tail}".split())
            is_brand = not tail_name.best_spelling.islower() and not ACRONYM_PATTERN.match(
                tail_name.best_spelling
            )
            is_joined = is_rare and is_brand and any(map(str.islower, head_name.spellings))
        return ALIAS_RULE if is_joined else ""

    def _is_acronym(self, key: str) -> bool:
        """Return whether a name is written as an acronym, with or without full stops."""
        return bool(ACRONYM_PATTERN.fullmatch(self.by_key[key].best_spelling.replace(".", "")))

    def _find_full_names(self, key: str, full_names: FullNames) -> tuple[str, list[str]]:
        """Return the rule for a name, and its possible full names.

        Both are empty if there is no rule for the name.
        """
        name = self.by_key.get(key)
        if name is None:
            return "", []
        words = key.split()
        half = self._repeated_half(words, name)
        if half:
            return REPETITION_RULE, [half]
        if key in full_names.by_word and _may_be_part(key, name):
            return PART_RULE, self._persons_with_word(key, name, full_names)
        if name.kind == PERSON_TYPE:
            persons = full_names.by_word.get(words[-1], ()) if len(words) > 1 else ()
            return PART_RULE, [full for full in persons if is_part_of_name(words, full.split())]
        if len(words) == 1 and self._is_acronym(key):
            return ACRONYM_RULE, full_names.by_initials.get(key, [])
        return "", []

    def _repeated_half(self, words: Sequence[str], name: CorpusName) -> str:
        """Return the more frequent name that a name repeats (“rome rome”); else empty."""
        first_half = words[: len(words) // 2]
        half = " ".join(first_half)
        if [*first_half, *first_half] != words or half not in self.by_key:
            return ""
        return half if self.by_key[half].chunks > name.chunks else ""

    def _persons_with_word(self, key: str, name: CorpusName, full_names: FullNames) -> list[str]:
        """Return the full names with a first name or surname.

        Parts of longer full names are left out.
        """
        persons = full_names.by_word[key]
        # The parser may take a rare surname without a first name for a place.
        if name.kind not in (PERSON_TYPE, PHRASE_TYPE):
            most_chunks = max(self.by_key[person].chunks for person in persons)
            if commonness(key) != RARE_ZIPF or name.chunks > most_chunks:
                return []
            rank = full_names.rank
            bearers = [person for person in persons if person.endswith(f" {key}")]
            persons = [person for person in bearers if rank[person] < rank[key]]
        return [person for person in persons if not _is_part_of_any(person, persons)]

    def joined_everywhere(self, by_document: dict[str, Joins]) -> dict[str, str]:
        """Return the full names of parts that are joined everywhere.

        Such a part is joined in documents without the full name, too. No document may join the part
        with another full name. A single word must be joined in at least `MIN_JOINING_DOCUMENTS`
        documents, and be part of no other person's name.

        Parameters
        ----------
        by_document : the joins of each document.

        Returns
        -------
        Full name by part.
        """
        fulls: dict[str, Counter[str]] = {}
        for joins in by_document.values():
            for key, (full, _) in joins.items():
                fulls.setdefault(key, Counter())[full] += 1
        n_persons = Counter[str]()  # number of persons with a word in their full names
        for key, name in self.by_key.items():
            if " " in key and name.kind == PERSON_TYPE:
                n_persons.update(set(key.split()))
        result = {}
        for key, counts in fulls.items():
            full, times = counts.most_common(1)[0]
            n_others = n_persons[key] - (key in full.split())
            is_certain = times >= MIN_JOINING_DOCUMENTS and n_others <= 0
            if len(counts) == 1 and (" " in key or is_certain):
                result[key] = full
        return result


def is_part_of_name(words: Sequence[str], full: Sequence[str]) -> bool:
    """Return whether a longer name has a shorter one's words.

    The words are in the same order.

    Parameters
    ----------
    words : words of the shorter name.
    full : words of the longer name.

    Returns
    -------
    False if their first or last words differ, or if they are equally long.
    """
    remaining = iter(full)  # each word is searched after the one before
    return (
        len(words) < len(full)
        and words[0] == full[0]
        and words[-1] == full[-1]
        and all(word in remaining for word in words)
    )


def _is_part_of_any(name: str, others: Iterable[str]) -> bool:
    """Return whether a name is a part of a longer one among these."""
    return any(is_part_of_name(name.split(), other.split()) for other in others)


def _may_be_part(key: str, name: CorpusName) -> bool:
    """Return whether a name may be a person's first name or surname."""
    if " " in key or len(key) < 2 or not name.best_spelling[:1].isupper():
        return False
    return name.kind != PHRASE_TYPE or commonness(key) < MIN_PLAIN_WORD_ZIPF


def abbreviates(short: str, long: str) -> bool:
    """Return whether a name can be abbreviated by an acronym.

    The name has the letters of the acronym in order, the first at its beginning. Every word of
    the name begins with one of the letters, except for small words.

    Parameters
    ----------
    short : the folded acronym; an s at its end does not count.
    long : the folded name.

    Returns
    -------
    False for a name with only one word that is not small.

    Notes
    -----
    Schwartz and Hearst, PSB 2003.

    Examples
    --------
    >>> from core.builds.resolve.name_parts import abbreviates
    >>> abbreviates("pcp", "primary care physician"), abbreviates("nbc", "national football league")
    (True, False)
    >>> abbreviates("us", "unix")
    False
    """
    letters = [letter for letter in short.removesuffix("s") if letter.isalnum()]
    position = -1
    for letter in letters:
        position = long.find(letter, position + 1)
        if position < 0:
            return False
    large = [word for word in long.split() if word not in SMALL_WORDS]
    return (
        len(large) > 1
        and long[0] == letters[0]
        and len(letters) >= len(large)
        and all(word[0] in letters for word in large)
    )


def _initials(words: Sequence[str]) -> set[str]:
    """Return the possible initials of a name, with and without its small words."""
    large = [word for word in words if word not in SMALL_WORDS]
    return {"".join(word[0] for word in some) for some in (words, large) if len(some) > 1}


def final_name(key: str, joins: Joins) -> str:
    """Return the name at the end of a chain of joins.

    The name at the start is finally joined with it.

    Parameters
    ----------
    key : key of a name.
    joins : full name and rule by the key of a name.

    Returns
    -------
    The last key of the chain, after at most `MAX_JOIN_STEPS` steps.
    """
    for _ in range(MAX_JOIN_STEPS):
        if key not in joins:
            break
        key = joins[key][0]
    return key

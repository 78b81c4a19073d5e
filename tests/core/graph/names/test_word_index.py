"""Index of names by their words, against its definition, applied to each name and run of words."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from core.graph.names.word_index import (
    LONG_NAME_LETTERS,
    MAX_JOINED_WORDS,
    MAX_NAME_WORDS,
    WordIndex,
    words_of,
)

WORDS = st.sampled_from(
    ["the", "teh", "pulp", "Pulp", "fiction", "fictoin", "L'Été", "ete", "O'Neil", "oneil", "o''n"]
    + ["1994", "1995", "x2", "a", "_", "-", "\n", "'", "ـ", "ͺ", "北京", "½"]
)
RANDOM_WORDS = st.text("abé'1 -_\n", max_size=4)
NAMES = st.lists(
    st.lists(WORDS | RANDOM_WORDS, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=8
)


@st.composite
def names_and_questions(draw):
    """Names, and a question that holds some of them with errors."""
    names = draw(NAMES)
    parts = draw(st.lists(st.sampled_from(names) | WORDS, max_size=4))
    question = draw(st.sampled_from([" ", "", " of "])).join(parts)
    for _ in range(draw(st.integers(0, 2))):
        position = draw(st.integers(0, len(question)))
        kept = draw(st.integers(0, 1))
        question = question[:position] + draw(RANDOM_WORDS) + question[position + kept :]
    return names, question


def found_by_definition(names, words):
    """Node, run and errors of each match: word by word first, else as one text without spaces."""
    found = set()
    for node, name in enumerate(names):
        own = [word.text for word in words_of(name)]
        for first in range(len(words)):
            for last in range(first + 1, len(words) + 1):
                run = [word.text for word in words[first:last]]
                errors = word_errors(run, own)
                if errors is not None and len(own) <= MAX_NAME_WORDS:
                    found.add((node, first, last, errors))
                elif own and len(own) <= MAX_NAME_WORDS and len(run) <= MAX_JOINED_WORDS:
                    if "".join(run) == "".join(own):
                        found.add((node, first, last, (1, *[0] * (len(run) - 1))))
    return found


def word_errors(run, own):
    """Errors of each word, or None where two words differ too much or there are too many."""
    if len(run) != len(own):
        return None
    errors: list[int] = []
    for position, (word, own_word) in enumerate(zip(run, own, strict=True)):
        count = OSA.distance(word, own_word)
        letters = sum(map(len, run[: position + 1]))
        has_digits = any(letter.isdigit() for letter in word + own_word)
        if count > 1 or (count and has_digits):
            return None
        if count and sum(errors) >= 1 + (letters >= LONG_NAME_LETTERS):
            return None
        errors.append(count)
    return tuple(errors)


@given(names_and_questions())
@example((["the " * 16], "the " * 17))
@example((["the " * 17], "the " * 17))
@example((["ab c"], "a bc abc"))
@example((["ـ", "ـ a"], "ـ a ـa"))
def test_index_finds_the_names_of_the_definition(case):
    names, question = case
    words = words_of(question)
    index = WordIndex(names)
    matches = index.find(words)
    found = [
        (node, match.first, match.last, match.errors) for match in matches for node in match.nodes
    ]
    assert len(found) == len(set(found))
    assert set(found) == found_by_definition(names, words)
    indexed = [own for own in map(words_of, names) if len(own) <= MAX_NAME_WORDS]
    assert all(word.text in index for own in indexed for word in own)

"""Labels of relations between two mentions of a parsed sentence.

A label is the verb, noun or preposition that connects them in the syntax tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import dropwhile
from typing import TYPE_CHECKING

from core.builds.extract.mentions import ALSO_CALLED, IN_BRACKETS, PHRASE_TYPE
from core.builds.extract.names_in_text import OPENING_QUOTES, ParsedMention

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MAX_LABEL_WORDS = 4
MAX_JOINED_VERBS = 4  # verbs of a chain (“came and saw and won”) among which a subject is searched
# Phrases between two names of the same entity, after leaving out `WORDS_BEFORE_ALIAS`.
ALIAS_PHRASES = frozenset(
    "also called|also known as|also named|also referred to as|better known as|commonly known as|"
    "commonly called|formerly known as|formerly called|previously known as|"
    "known professionally as|known simply as|abbreviated|abbreviated as|abbreviated to|"
    "abbreviated with".split("|")
)
# Such phrases if both mentions are names and not terms.
NAME_ALIAS_PHRASES = frozenset(("known as", "born", "nicknamed"))
LAST_ALIAS_WORDS = frozenset(
    ("(", *(words.split()[-1] for words in (*ALIAS_PHRASES, *NAME_ALIAS_PHRASES)))
)
WORDS_BEFORE_ALIAS = frozenset(
    "which who that is was are were often sometimes usually more most widely or and , : "
    '" “ ‘ the'.split()
)
# spaCy's labels of dependencies.
SUBJECT_DEPENDENCIES = ("nsubj", "nsubjpass")
OBJECT_DEPENDENCIES = ("dobj", "attr", "oprd", "dative", "appos")


class MentionLabels:
    """Labels between the mentions of a sentence, by its syntax tree.

    Parameters
    ----------
    doc : the parsed sentence, or a document that contains it.
    mentions : mentions in the order of the text.
    """

    def __init__(self, doc: Doc, mentions: Sequence[ParsedMention]):
        self.doc = doc
        self.mention_of_token: dict[int, ParsedMention] = {}  # by index of the token
        for mention in mentions:
            self.mention_of_token.update(dict.fromkeys(range(mention.start, mention.end), mention))

    def label_between(self, first: ParsedMention, second: ParsedMention) -> tuple[str, str] | None:
        """Return the label of two mentions.

        Parameters
        ----------
        first, second : the mentions, in the order of the text.

        Returns
        -------
        The folded name of the relation's head, and the label. None if the sentence has none.
        """
        alias = self._alias_label(first, second)
        # An acronym, perhaps with a plural s, also abbreviates the end of a longer term.
        if alias and (second.name[:-1].isupper() or not self._ends_longer_term(first)):
            return first.name.casefold(), alias
        for head, tail in ((first, second), (second, first)):
            label = self._syntax_label(head, tail)
            if label:
                return head.name.casefold(), label
        return None

    def _ends_longer_term(self, mention: ParsedMention) -> bool:
        """Return whether a mention ends a longer term.

        The other name then belongs to that term. An example is "removal of the uterus
        (hysterectomy)".
        """
        root = _root(self.doc, mention)
        return root.dep_ == "pobj" and root.head.head.pos_ in ("NOUN", "PROPN")

    def _alias_label(self, first: ParsedMention, second: ParsedMention) -> str:
        """Return the label of an alias.

        It is empty unless the second mention is an alias of the first. An alias follows directly:
        after words such as “also known as”, or in brackets.
        """
        doc = self.doc
        end = second.start  # of the tokens between the two
        while end > first.end and doc[end - 1].lower_ in ("the", *OPENING_QUOTES):
            end -= 1
        if end > first.end and doc[end - 1].lower_ not in LAST_ALIAS_WORDS:
            return ""
        words, in_brackets = _words_outside_brackets(doc[first.end : end])
        if in_brackets:
            brackets = (index for index in range(first.end, end) if doc[index].text == "(")
            last_bracket = max(brackets)
            if last_bracket > first.end:
                return ""
            words = [token.lower_ for token in doc[last_bracket + 1 : end]]
            if not words:
                is_closed = second.end < len(doc) and doc[second.end].text in (")", ",", ";")
                return IN_BRACKETS if is_closed else ""
        phrase = " ".join(dropwhile(WORDS_BEFORE_ALIAS.__contains__, words))
        return ALSO_CALLED if _gives_alias(phrase, first, second) else ""

    def _syntax_label(self, head: ParsedMention, tail: ParsedMention) -> str:
        """Return the words between head and tail in the syntax tree.

        The words connect the head with the tail. Empty if there are none. The head is the subject
        of a verb and the tail its object, or the tail belongs to the head as an apposition, a
        possessor or through a preposition.
        """
        token, preposition = _root(self.doc, tail), ""
        while token.dep_ == "conj" and token.head.pos_ in ("NOUN", "PROPN"):
            token = token.head
        if self.mention_of_token.get(token.i) is head:
            return ""
        if token.dep_ in ("pobj", "pcomp"):
            token = token.head
            preposition = token.lower_
            if token.dep_ in ("prep", "agent"):
                token = token.head
        elif token.dep_ == "appos":
            return "is" if self.mention_of_token.get(token.head.i) is head else ""
        elif token.dep_ == "poss":
            return "of" if self.mention_of_token.get(token.head.i) is head else ""
        elif token.dep_ in OBJECT_DEPENDENCIES:
            token = token.head
        else:
            return ""
        if self.mention_of_token.get(token.i) is head:
            return preposition
        return self._verb_label(head, token, preposition)

    def _verb_label(self, head: ParsedMention, token: Token, preposition: str) -> str:
        """Return the label through a verb or noun above the tail.

        Empty if there is none. The head is the subject of the verb, or the noun describes it.
        `token` is the word above the tail, and `preposition` is the one between the two, or empty.
        """
        words = [preposition] if preposition else []
        if self._is_noun_between(token):
            words = [token.lower_, *words]
            above = token.head
            if token.dep_ == "appos":
                return " ".join(words) if self.mention_of_token.get(above.i) is head else ""
            if token.dep_ == "pobj" and above.dep_ == "prep":
                words = [above.lower_, *words]
                above = above.head
            token = above
        if token.pos_ not in ("VERB", "AUX") or head not in self._subject_mentions(token):
            return ""
        return " ".join([*_verb_words(token), *words][:MAX_LABEL_WORDS]) or "is"

    def _is_noun_between(self, token: Token) -> bool:
        """Return whether a token is a noun of the label. A noun in a name is not."""
        mention = self.mention_of_token.get(token.i)
        if mention is not None and mention.type != PHRASE_TYPE:
            return False
        return token.pos_ in ("NOUN", "PROPN") and token.dep_ in ("attr", "appos", "dobj", "pobj")

    def _subject_mentions(self, verb: Token) -> list[ParsedMention]:
        """Return the mentions that are subjects of a verb.

        If there are none, those of a verb that it depends on are returned.
        """
        for _ in range(MAX_JOINED_VERBS):
            mentions: list[ParsedMention] = []
            for child in verb.children:
                if child.dep_ in SUBJECT_DEPENDENCIES:
                    mentions += self._joined_mentions(child)
            if mentions:
                return mentions
            if verb.dep_ in ("acl", "relcl"):
                return self._joined_mentions(verb.head)
            if verb.dep_ not in ("conj", "xcomp", "advcl", "ccomp"):
                return []
            verb = verb.head
            if verb.pos_ not in ("VERB", "AUX"):
                return []
        return []

    def _joined_mentions(self, token: Token) -> list[ParsedMention]:
        """Return the mention at a token, and those joined to it by “and”.

        A relative pronoun stands for the noun that its clause describes.
        """
        if token.tag_ in ("WDT", "WP") and token.head.dep_ == "relcl":
            token = token.head.head
        tokens = [token, *(child for child in token.children if child.dep_ == "conj")]
        return [self.mention_of_token[one.i] for one in tokens if one.i in self.mention_of_token]


def _words_outside_brackets(tokens: Iterable[Token]) -> tuple[list[str], bool]:
    """Return the words outside of brackets, and whether a bracket stays open.

    The words are in lower case.
    """
    words: list[str] = []
    depth = 0
    for token in tokens:
        if token.text == "(":
            depth += 1
        elif token.text == ")":
            depth = max(0, depth - 1)
        elif not depth:
            words.append(token.lower_)
    return words, depth > 0


def _gives_alias(phrase: str, first: ParsedMention, second: ParsedMention) -> bool:
    """Return whether a phrase between two mentions says that they name the same entity."""
    if phrase in ALIAS_PHRASES:
        return True
    if phrase not in NAME_ALIAS_PHRASES:
        return False
    if phrase == "born" and not first.type == second.type == "person":
        return False
    if PHRASE_TYPE not in (first.type, second.type):
        return True
    return first.name[0].isupper() and second.name[0].isupper()


def _verb_words(verb: Token) -> list[str]:
    """Return a verb with its particles, without a form of “be”."""
    is_copula = verb.lemma_ == "be" or verb.lower_ in ("is", "was", "are", "were", "be", "been")
    words = [] if is_copula else [verb.lower_]
    return words + [child.lower_ for child in verb.children if child.dep_ == "prt"]


def _root(doc: Doc, mention: ParsedMention) -> Token:
    """Return the word of a mention on which its other words depend."""
    return doc[mention.start : mention.end].root

"""Faults planted in question sets, for the benchmark `audit`.

One question in ten gets a wrong key, one in twenty gold that the source lacks, and one in twenty a
near copy. No question gets two faults. The kinds of wrong keys are those that audits of question
sets list (KGQAGen, arXiv 2505.23495: inaccurate, outdated and incomplete answers; Northcutt et al.
2021: labels of another item, slips of the pen):

- `other entity`: another entity of the same type takes the place of one answer.
- `outdated`: an earlier year or number, else the value of a related item.
- `other question`: the key of another question.
- `typing error`: two letters of an answer swapped, or one missing, doubled or wrong.
- `part of a list`: some of the answers are missing.

Gold is missing as a name (`made-up name`) or as a passage (`unknown passage`). Near copies are
`reworded`, in another `word order`, with `typing errors`, or in another letter `case`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.diagnosis.answer_match import YES_NO_ANSWERS
from core.types import Question

KEY_SHARE, GOLD_SHARE, COPY_SHARE = 0.1, 0.05, 0.05
KEY_KINDS = ("other entity", "outdated", "other question", "typing error", "part of a list")
GOLD_KINDS = ("made-up name", "unknown passage")
COPY_KINDS = ("reworded", "word order", "typing errors", "case")
NUMBER = re.compile(r"\d[\d,]*")
NAME = re.compile(r"[A-Z][\w'’.-]+(?: (?:of |the |de |van )?[A-Z][\w'’.-]+)*")
PREPOSITIONS = ("in", "of", "by", "for", "with", "from", "during", "on", "at")
# Words that may stand for each other in questions and claims.
SAME_WORDS = (
    ("movies", "films"), ("movie", "film"), ("which", "what"), ("starred", "acted"),
    ("written", "penned"), ("genres", "types"), ("genre", "kind"), ("directed", "made"),
    ("release", "come out"), ("released", "put out"), ("years", "dates"), ("person", "man or woman"),
    ("what is", "tell me"), ("who is", "tell me who is"), ("where", "in which place"),
    ("when", "at what time"), ("how many", "what number of"), ("city", "town"),
    ("founded", "established"), ("located", "situated"), ("known", "famous"), ("name", "title"),
    ("increases", "raises"), ("increase", "raise"), ("decreases", "lowers"), ("reduces", "lowers"),
    ("associated", "linked"), ("patients", "people"), ("leads to", "results in"),
    ("treatment", "therapy"), ("risk", "probability"), ("inhibits", "blocks"),
    ("promotes", "boosts"), ("induces", "triggers"), ("required", "needed"), ("cause", "bring about"),
    ("causes", "brings about"), ("plays", "has"), ("important", "major"), ("lower", "smaller"),
    ("higher", "greater"), ("regulates", "controls"), ("used", "employed"),
)  # fmt: skip


@dataclass(frozen=True)
class Plants:
    """A question set with planted faults.

    Parameters
    ----------
    questions : the set, with the copies at random places.
    kinds : group ("key", "gold" or "copy") and kind of each planted fault, by the question's id.
    originals : the copied question of each copy, by the copy's id.
    """

    questions: tuple[Question, ...]
    kinds: dict[str, tuple[str, str]]
    originals: dict[str, str]


def plant(questions: Sequence[Question], source, seed: int) -> Plants:
    """Plant faults in questions; `source` is a `GraphNames` or a `CorpusNames`."""
    rng = random.Random(seed)
    changed = {question.id: question for question in questions}
    free = list(questions)
    rng.shuffle(free)
    kinds: dict[str, tuple[str, str]] = {}

    def spoil(group: str, names: Sequence[str], share: float, change: Callable) -> list[Question]:
        """Change free questions, the kinds in turn. Kinds that no question allows are left out."""
        made: list[Question] = []
        left = list(names)
        while left and len(made) < round(share * len(questions)):
            kind = left.pop(0)
            for question in free:
                if (result := change(question, kind)) is not None:
                    free.remove(question)
                    made.append(result)
                    kinds[result.id] = (group, kind)
                    left.append(kind)
                    break
        return made

    keyed = [question for question in questions if question.answers]
    wrong = spoil(
        "key", KEY_KINDS, KEY_SHARE, lambda one, kind: _wrong_key(one, kind, source, keyed, rng)
    )
    missing = spoil(
        "gold", GOLD_KINDS, GOLD_SHARE, lambda one, kind: _missing_gold(one, kind, source, rng)
    )
    changed |= {one.id: one for one in (*wrong, *missing)}
    originals: dict[str, str] = {}

    def copy(question: Question, kind: str) -> Question | None:
        text = reword(question, kind, rng)
        if text == question.text:
            return None
        made = replace(question, text=text, id=f"{rng.getrandbits(40):x}")
        originals[made.id] = question.id
        return made

    planted = list(changed.values())
    taken: set[str] = set()
    order, left = list(free), list(COPY_KINDS)
    while left and len(taken) < round(COPY_SHARE * len(questions)):
        kind = left.pop(0)
        for question in order:
            if question.id not in taken and (made := copy(question, kind)) is not None:
                taken.add(question.id)
                kinds[made.id] = ("copy", kind)
                planted.insert(rng.randrange(len(planted) + 1), made)
                left.append(kind)
                break
    return Plants(tuple(planted), kinds, originals)


def _wrong_key(question: Question, kind: str, source, others, rng) -> Question | None:
    """Return a question with a wrong key of a kind; None if the kind does not fit it."""
    answers = list(question.answers)
    if not answers:
        return None
    place = rng.randrange(len(answers))
    if kind == "part of a list":
        if len(answers) < 2:
            return None
        left = rng.sample(answers, rng.randrange(1, len(answers)))
        return replace(question, answers=tuple(one for one in answers if one in left))
    if kind == "other question":
        for _ in range(20):
            other = rng.choice(others)
            if not set(other.answers) & set(answers):
                return replace(question, answers=other.answers, aliases=other.aliases)
        return None
    if kind == "typing error":
        wrong = mistype(answers[place], rng) if len(answers[place]) > 3 else ""
    elif kind == "outdated":
        wrong = _earlier(answers[place], rng) or source.related(question, answers[place], rng)
    else:
        wrong = source.same_type(question, answers[place], rng)
    if not wrong or wrong in answers:
        return None
    answers[place] = wrong
    return replace(question, answers=tuple(answers), aliases=())


def _missing_gold(question: Question, kind: str, source, rng) -> Question | None:
    """Return a question with gold that the source lacks; None if the kind does not fit it."""
    if kind == "unknown passage":
        if not question.gold:
            return None
        gold = list(question.gold)
        gold[rng.randrange(len(gold))] = source.unknown_passage(rng)
        return replace(question, gold=tuple(gold))
    if not question.answers or question.answers[0].lower() in YES_NO_ANSWERS:
        return None
    answers = list(question.answers)
    answers[rng.randrange(len(answers))] = source.made_up(rng)
    return replace(question, answers=tuple(answers), aliases=())


def mistype(word: str, rng: random.Random) -> str:
    """Return a text with one typing error that changes it."""
    for _ in range(50):
        place = rng.randrange(len(word) - 1)
        a, b = word[place], word[place + 1]
        if not (a.isalnum() and b.isalnum()) or a.lower() == b.lower():
            continue
        letters = "0123456789" if a.isdigit() else "abcdefghijklmnopqrstuvwxyz"
        wrong = rng.choice((b + a, b, a + a + b, rng.choice(letters) + b))
        if wrong.lower() != (a + b).lower():
            return word[:place] + wrong + word[place + 2 :]
    return ""


def _earlier(answer: str, rng: random.Random) -> str:
    """Return an answer with an earlier year or a smaller number; empty if it has none."""
    number = NUMBER.search(answer)
    if number is None:
        return ""
    value = int(number[0].replace(",", ""))
    less = value - rng.randrange(1, 9) if value >= 10 else value + 1
    text = f"{less:,}" if "," in number[0] else str(less)
    return answer[: number.start()] + text + answer[number.end() :]


def reword(question: Question, kind: str, rng: random.Random) -> str:
    """Return the text of a near copy. The names of the question's entities stay."""
    text = question.text
    if kind == "case":
        return rng.choice((str.upper, str.lower, str.title))(text)
    hidden = {f"\x00{i}\x00": name for i, name in enumerate(question.entities) if name in text}
    for mark, name in hidden.items():
        text = text.replace(name, mark)
    if kind == "reworded":
        text = _with_same_words(text, rng)
    elif kind == "word order":
        text = _with_tail_in_front(text, rng)
    else:
        words = text.split(" ")
        long = [i for i, word in enumerate(words) if len(word) > 4 and "\x00" not in word]
        for i in rng.sample(long, min(2, len(long))):
            words[i] = mistype(words[i], rng) or words[i]
        text = " ".join(words)
    for mark, name in hidden.items():
        text = text.replace(mark, name)
    return text


def _with_same_words(text: str, rng: random.Random) -> str:
    """Replace words by others of the same sense, at most three; without any, begin anew."""
    pairs = [pair for one in SAME_WORDS for pair in (one, one[::-1])]
    rng.shuffle(pairs)
    done = 0
    used: set[str] = set()
    for old, new in pairs:
        pattern = re.compile(rf"\b{re.escape(old)}\b", re.IGNORECASE)
        if done < 3 and not used & {old, new} and pattern.search(text):
            text = pattern.sub(new, text, count=1)
            used |= {old, new}
            done += 1
    if done:
        return text
    start = rng.choice(("please tell me, ", "I would like to know: ", "it is known that "))
    return start + text[:1].lower() + text[1:]


def _with_tail_in_front(text: str, rng: random.Random) -> str:
    """Move the text from a preposition on to its front, else its last two words."""
    words = text.rstrip(" ?.").split(" ")
    places = [i for i, word in enumerate(words) if i > 1 and word.lower() in PREPOSITIONS]
    cut = rng.choice(places) if places else max(1, len(words) - 2)
    return " ".join([*words[cut:], *words[:cut]])


class GraphNames:
    """Names of a graph for planted faults."""

    def __init__(self, graph):
        self.graph = graph

    def _node(self, name: str) -> int | None:
        nodes = self.graph.nodes_named(name)
        return nodes[0] if nodes else None

    def same_type(self, question: Question, answer: str, rng: random.Random) -> str:
        """Another end of the relation that the answer has most often, on the same side."""
        node = self._node(answer)
        if node is None:
            return ""
        _, edges, forward = self.graph.steps(node)
        relations = self.graph.triples(edges)[1]
        kinds = list(zip(relations.tolist(), forward.tolist()))
        common = max(kinds, key=kinds.count)
        for _ in range(2_000):
            edge = rng.randrange(self.graph.n_edges)
            head, relation, tail = (int(ids[0]) for ids in self.graph.triples(np.array([edge])))
            name = self.graph.node_name(head if common[1] else tail)
            if relation == common[0] and name not in (answer, *question.entities):
                return name
        return ""

    def related(self, question: Question, answer: str, rng: random.Random) -> str:
        """The value that an item next to the answer's item has of the same relation."""
        node = self._node(answer)
        if node is None:
            return ""
        for _ in range(60):
            step = self._step(node, rng)
            near = self._step(step[0], rng) if step else None
            far = self._step(near[0], rng) if near else None
            if step is None or far is None:
                continue
            nodes, edges, forward = self.graph.steps(far[0])
            relations = self.graph.triples(edges)[1]
            fits = (relations == step[1]) & (forward != step[2])
            names = [self.graph.node_name(int(one)) for one in nodes[fits]]
            names = [one for one in names if one not in (*question.answers, *question.entities)]
            if names:
                return rng.choice(names)
        return ""

    def _step(self, node: int, rng: random.Random) -> tuple[int, int, bool] | None:
        """A random step: the node that it leads to, its relation, and if it goes forward."""
        nodes, edges, forward = self.graph.steps(node)
        if not len(nodes):
            return None
        place = rng.randrange(len(nodes))
        relation = int(self.graph.triples(edges[place : place + 1])[1][0])
        return int(nodes[place]), relation, bool(forward[place])

    def made_up(self, rng: random.Random) -> str:
        """A name of the words of two nodes that no node has."""
        while True:
            first, second = (
                self.graph.node_name(rng.randrange(self.graph.n_nodes)).split() for _ in range(2)
            )
            name = f"{first[0]} {second[-1]}ov"
            if not self.graph.nodes_named(name):
                return name

    def unknown_passage(self, rng: random.Random) -> str:
        raise NotImplementedError("questions of a graph have no passages")


class CorpusNames:
    """Names of a corpus for planted faults."""

    def __init__(self, corpus):
        self.documents = list(corpus)
        self.texts = {document.id: document.text for document in self.documents}
        self.all_text = "\n".join(self.texts.values()).lower()

    def same_type(self, question: Question, answer: str, rng: random.Random) -> str:
        """The opposite of yes or no, another number, or a name from another document."""
        if answer.lower() in YES_NO_ANSWERS:
            return "no" if answer.lower() == "yes" else "yes"
        pattern = NUMBER if NUMBER.search(answer) else NAME
        is_person = question.text.lower().startswith("who")
        for _ in range(500):
            document = rng.choice(self.documents)
            if is_person and "born" not in document.text[:200]:
                continue
            found = [document.title] if is_person else pattern.findall(document.text)
            found = [one for one in found if len(one) > 3 and one != answer]
            if found:
                return rng.choice(found)
        return ""

    def related(self, question: Question, answer: str, rng: random.Random) -> str:
        """A name from the evidence, or from a document that names the same things."""
        if answer.lower() in YES_NO_ANSWERS:
            return "no" if answer.lower() == "yes" else "yes"
        gold = [self.texts[one] for one in question.gold if one in self.texts]
        names = {name for text in gold for name in NAME.findall(text) if " " in name}
        near = [text for text in self.texts.values() if any(name in text for name in names)]
        found = [one for text in (*gold, *near) for one in NAME.findall(text)]
        found = [one for one in found if len(one) > 3 and one.lower() != answer.lower()]
        return rng.choice(found) if found else ""

    def made_up(self, rng: random.Random) -> str:
        """A name of the words of two documents that no text has."""
        while True:
            first, second = (
                NAME.findall(rng.choice(self.documents).text) or ["Ada"] for _ in range(2)
            )
            name = f"{rng.choice(first).split()[0]} {rng.choice(second).split()[-1]}ov"
            if name.lower() not in self.all_text:
                return name

    def unknown_passage(self, rng: random.Random) -> str:
        """An id in the form of the corpus that no document has."""
        while True:
            id = mistype(rng.choice(self.documents).id, rng)
            if id and id not in self.texts:
                return id

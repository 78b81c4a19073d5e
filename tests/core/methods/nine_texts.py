"""Nine texts of a Christmas Carol make a corpus small enough to work out by hand.

Beside them stands what a model finds in them, and how near each thing is to the question.

Names are upper-case. Every number is chosen so that no order is left to chance: no two things tie.
"""

from __future__ import annotations

import math

QUESTION = "Whose son is Tiny Tim?"

CHUNKS = (
    "Marley was dead, to begin with. Scrooge signed the register of his burial.",
    "Scrooge kept his clerk, Bob Cratchit, in a cold little office.",
    "Fred wished his uncle Scrooge a merry Christmas and asked him to dinner.",
    "Bob Cratchit carried Tiny Tim on his shoulder, and Martha came home.",
    "Belle released Scrooge from their engagement.",
    "Old Fezziwig gave a ball for his apprentices, of whom Scrooge was one.",
    "Scrooge raised the salary of Bob Cratchit and was a second father to Tiny Tim.",
    "Topper danced at the dinner that Fred gave.",
    "The turkey was as big as a boy.",
)

# name: type, description, chunks, cosine with the question
ENTITIES = {
    "SCROOGE": ("PERSON", "A miser who mends his ways.", (0, 1, 2, 4, 5, 6), 0.52),
    "MARLEY": ("PERSON", "A partner, dead these seven years.", (0,), 0.1),
    "BOB CRATCHIT": ("PERSON", "A poor clerk and a good father.", (1, 3, 6), 0.8),
    "FRED": ("PERSON", "A cheerful nephew.", (2, 7), 0.4),
    "TINY TIM": ("PERSON", "A lame boy.", (3, 6), 0.9),
    "MARTHA": ("PERSON", "A milliner's apprentice.", (3,), 0.15),
    "BELLE": ("PERSON", "A bride that was not to be.", (4,), 0.12),
    "FEZZIWIG": ("PERSON", "A jovial merchant.", (5,), 0.05),
    "TOPPER": ("PERSON", "A bachelor at a dinner.", (7,), 0.02),
}

# ends, sorted: description, keywords, weight in each chunk that tells it, chunks, cosine with the question
RELATIONS = {
    ("MARLEY", "SCROOGE"): ("They were partners for many years.", "partnership", 3, (0,), 0.1),
    ("BOB CRATCHIT", "SCROOGE"): ("Scrooge employs Bob as his clerk.", "work", 2, (1, 6), 0.35),
    ("FRED", "SCROOGE"): ("Fred is the nephew of Scrooge.", "family", 2, (2,), 0.6),
    ("BOB CRATCHIT", "TINY TIM"): (
        "Tim is the youngest son of Bob.",
        "family, love",
        4,
        (3,),
        0.95,
    ),
    ("BOB CRATCHIT", "MARTHA"): (
        "Martha is the eldest daughter of Bob.",
        "family, toil",
        1,
        (3,),
        0.7,
    ),
    ("BELLE", "SCROOGE"): ("Belle was once engaged to Scrooge.", "love lost", 2, (4,), 0.3),
    ("FEZZIWIG", "SCROOGE"): (
        "Scrooge was bound to Fezziwig as a youth.",
        "work, youth",
        1,
        (5,),
        0.15,
    ),
    ("SCROOGE", "TINY TIM"): (
        "Scrooge became a second father to Tim.",
        "love, mending",
        1,
        (6,),
        0.8,
    ),
    ("FRED", "TOPPER"): ("Topper was a guest of Fred.", "friendship", 1, (7,), 0.05),
}

# number: level, members, title, summary, rating, score of the point that it gives
COMMUNITIES = {
    0: (
        0,
        ("SCROOGE", "MARLEY", "BELLE", "FEZZIWIG", "BOB CRATCHIT", "TINY TIM", "MARTHA"),
        "London",
        "A miser and his city.",
        5,
        40,
    ),
    1: (0, ("FRED", "TOPPER"), "Dinner", "A merry party at the house of a nephew.", 3, 0),
    2: (
        1,
        ("BOB CRATCHIT", "TINY TIM", "MARTHA"),
        "Cratchits",
        "A poor and loving family of Camden Town.",
        8,
        90,
    ),
    3: (
        1,
        ("SCROOGE", "MARLEY", "BELLE", "FEZZIWIG"),
        "Counting-house",
        "Money and those that it drove away.",
        6,
        40,
    ),
    4: (3, ("TINY TIM", "MARTHA"), "Children", "Two of the children.", 9, 99),
}

COMMUNITY_COSINES = (0.6, 0.1, 0.9, 0.3, 0.8)
CHUNK_COSINES = (0.2, 0.45, 0.25, 0.85, 0.22, 0.21, 0.65, 0.3, 0.01)
NEAR = [("relation", told[0], told[4]) for told in RELATIONS.values()]
NEAR += [("chunk", text, cosine) for text, cosine in zip(CHUNKS, CHUNK_COSINES)]
NEAR += [
    ("community", told[3], cosine) for told, cosine in zip(COMMUNITIES.values(), COMMUNITY_COSINES)
]
NEAR += [("entity", name, told[3]) for name, told in ENTITIES.items()]
SIZE = len(NEAR) + 1


def vector(text: str) -> list[float]:
    """The vector of a text.

    A thing of the corpus has a vector with its own cosine to the question's. All other texts have
    the question's vector.
    """
    for place, (kind, mark, cosine) in enumerate(NEAR, 1):
        if text.startswith(mark) if kind == "entity" else mark in text:
            return [
                cosine if i == 0 else math.sqrt(1 - cosine**2) if i == place else 0.0
                for i in range(SIZE)
            ]
    return [float(i == 0) for i in range(SIZE)]

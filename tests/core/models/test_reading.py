"""What is known of candidates while they are read: previews, groups, and the parts that combinators hand on."""

import numpy as np
import pytest

from core.errors import Cancelled
from core.models.base import Task
from core.models.combine import Prefilter, Rounds
from core.models.scorers import EncoderScorer, LateInteractionScorer, NGram

QUESTION, TEXTS = "far", ["near", "far", "near", "mid"]
ANGLES = {"far": 0.0, "mid": 0.5, "near": 1.5}


class Circle:
    """Vectors on a circle, handed out one text at a time where `received` is True, the last text first."""

    def __init__(self, received: bool):
        self.received = received

    def encode(self, texts, check=None, received=None):
        found = np.array([[np.cos(ANGLES[text]), np.sin(ANGLES[text])] for text in texts], np.float32).reshape(-1, 2)
        for at in reversed(range(len(texts)) if received else ()):
            if check:
                check()
            received([texts[at]], found[[at]])
        return found

    def encode_tokens(self, texts, check=None):
        places = {text: [at for at, other in enumerate(texts) if other == text] for text in texts}
        for text, positions in places.items():
            yield positions, self.encode([text])


def previews_of(scorer, texts=TEXTS, **settings):
    """All that a preview was called with, as lists, and the scores in the end."""
    calls = []
    scores = scorer.score(Task(QUESTION, preview=lambda at, scores: calls.append((at.tolist(), scores.tolist())), **settings), texts)
    return calls, scores.tolist()


def test_a_preview_is_called_with_all_that_is_scored_so_far():
    calls, scores = previews_of(EncoderScorer(Circle(True)))
    assert [at for at, _ in calls] == [[3], [1, 3], [0, 1, 2, 3]]
    assert scores == pytest.approx([np.cos(1.5), 1, np.cos(1.5), np.cos(0.5)])
    assert all(some == [scores[i] for i in at] for at, some in calls)


def test_an_encoder_that_hands_out_nothing_on_the_way_gives_one_preview():
    assert previews_of(EncoderScorer(Circle(False)))[0] == [([0, 1, 2, 3], previews_of(EncoderScorer(Circle(True)))[1])]


def test_late_interaction_gives_previews_too():
    calls, scores = previews_of(LateInteractionScorer(Circle(False)))
    assert [at for at, _ in calls] == [[0, 2], [0, 1, 2], [0, 1, 2, 3]]
    assert calls[-1][1] == scores


def test_nothing_to_read_gives_no_preview():
    assert previews_of(EncoderScorer(Circle(True)), []) == ([], [])


def test_a_cancelled_reading_gives_no_more_previews():
    calls, checks = [], iter(range(9))

    def check():
        if next(checks) == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        EncoderScorer(Circle(True)).score(Task(QUESTION, check=check, preview=lambda *call: calls.append(call)), TEXTS)
    assert len(calls) == 2


def test_a_part_of_a_task_has_its_groups_and_previews_by_the_positions_among_all():
    calls = []
    task = Task(QUESTION, groups=np.array([5, 6, 7, 8]), preview=lambda at, scores: calls.append((at.tolist(), scores.tolist())))
    part = task.part([3, 0])
    assert part.groups is not None and part.preview is not None
    assert part.groups.tolist() == [8, 5]
    part.preview(np.array([0, 1]), np.array([0.5, 0.25]))  # of positions 3 and 0 among all
    assert calls == [([0, 3], [0.25, 0.5])]
    assert Task(QUESTION).part([0]) == Task(QUESTION)


def test_combinators_preview_by_the_positions_among_all():
    # An n-gram model, which gives no previews, has "far" first, then the others as they come: two reach the encoder.
    seen = []
    task = Task(QUESTION, preview=lambda at, scores: seen.append(at.tolist()))
    Prefilter(NGram(), EncoderScorer(Circle(False)), 2).choose(task, ["near", "mid", "far"], 1)
    assert seen == [[0, 2]]
    seen.clear()
    Rounds(EncoderScorer(Circle(False)), 2).choose(task, ["near", "mid", "far"], 1)
    assert seen == [[0, 1], [2], [1, 2]]  # both windows, and the best of each

"""Failed questions in words: reasons that differ only in names, numbers and hints are one kind."""

from core.evaluation.metrics.failures import answered_text, failure_patterns, join_reasons

NOBODY = "“Nobody” is not in the graph. Did you mean Nobel, Bodo?"
NONE = "“None at all” is not in the graph."
LATE = "The model gave no answer in 30 s."


def test_sentences_of_one_kind_are_counted_together_most_often_first():
    later = LATE.replace("30", "1,200.5")
    assert failure_patterns([LATE, NOBODY, NONE, later, NOBODY]) == {
        "“…” is not in the graph.": 3,
        "The model gave no answer in … s.": 2,
    }


def test_a_kind_of_one_sentence_is_told_in_full():
    assert failure_patterns([NOBODY, NOBODY, LATE]) == {NOBODY: 2, LATE: 1}
    assert failure_patterns([]) == {}


def test_the_count_stands_with_the_reasons():
    assert join_reasons({LATE: 3}) == LATE
    assert join_reasons({NONE: 30, LATE: 8}) == f"30 × {NONE} 8 × {LATE}"
    assert join_reasons({}) == ""
    assert answered_text(2, 38, "30 × A. 8 × B.") == "2 of 40 answered, 38 failed: 30 × A. 8 × B."
    assert answered_text(1_000, 1_000, LATE) == f"1,000 of 2,000 answered, 1,000 failed: {LATE}"
    assert answered_text(40, 0, "") == ""


def test_of_quotes_within_quotes_the_inner_one_is_left_out():
    assert failure_patterns(["No “a “b” c”.", "No “a “d” c”."]) == {"No “a “…” c”.": 2}

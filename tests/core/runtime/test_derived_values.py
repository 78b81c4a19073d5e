"""Cache of values derived from an object: computed once, with the least recently used dropped.

The last requested value is found without a lock.
"""

from __future__ import annotations

import threading

import pytest

from core.runtime.derived_values import DerivedValues


def test_least_recently_used_value_is_computed_again():
    derived, made = DerivedValues(), []
    ask = lambda key: derived.get_or_make(
        "squares", key, lambda: made.append(key) or key * key, size=2
    )
    assert [ask(key) for key in (2, 3, 3, 2, 4, 2, 3)] == [4, 9, 9, 4, 16, 4, 9]
    assert made == [2, 3, 4, 3]


def test_failed_value_is_computed_again():
    derived = DerivedValues()
    with pytest.raises(ZeroDivisionError):
        derived.get_or_make("x", None, lambda: 1 / 0)
    assert derived.get_or_make("x", None, lambda: 1) == 1


def test_known_value_is_found_during_a_computation():
    derived, begun, free = DerivedValues(), threading.Event(), threading.Event()
    assert derived.get_or_make("x", 1, lambda: "one") == "one"
    maker = threading.Thread(
        target=derived.get_or_make, args=("x", 2, lambda: (begun.set(), free.wait(30), "two")[-1])
    )
    maker.start()
    assert begun.wait(30)
    found = []
    reader = threading.Thread(
        target=lambda: found.append(derived.get_or_make("x", 1, lambda: "again")), daemon=True
    )
    reader.start()
    reader.join(10)
    free.set()
    maker.join(30)
    assert found == ["one"] and derived.get_or_make("x", 2, lambda: "again") == "two"

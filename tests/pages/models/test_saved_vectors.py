"""The line of saved vectors on the page Models, and its button."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.models.encoders.saved_vectors import SavedVectors, VectorFileUse, vector_file
from pages.parts.models.saved_vectors import vectors_sentence


@pytest.mark.parametrize(
    "facts, words",
    [
        (
            VectorFileUse(0, 0, 0, 0, 0, ""),
            "Vectors of texts are not saved: HOPSCOPE_SAVED_VECTORS is 0",
        ),
        (VectorFileUse(0, 4096, 1 << 29, 0, 0, ""), "No vectors of texts are saved yet."),
        (VectorFileUse(1200, 10**6, 1 << 29, 0, 0, ""), "Saved vectors of texts: 1,200, "),
        (VectorFileUse(1200, 10**6, 1 << 29, 40, 10, ""), "Cache hits since start: 10 of 40 (25%)"),
    ],
)
def test_the_line(facts, words):
    assert words in vectors_sentence(facts)


def test_they_are_cleared_on_the_page(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    SavedVectors(vector_file(), "one").save({"a": np.ones(384, np.float16)}, 1.0)

    def page() -> None:
        from pages.parts.models.saved_vectors import draw_saved_vectors

        draw_saved_vectors()

    at = AppTest.from_function(page).run(timeout=30)
    assert "1, 1 MB of at most" in at.caption[0].value
    at.button(key="clear-saved-vectors").click().run(timeout=30)
    assert (
        "No vectors of texts are saved" in at.caption[0].value
        and not at.button
        and not vector_file().measure_use().texts
    )

"""The page of operators and instances is of the code as it is."""

from __future__ import annotations

from core.instances.catalogue import published
from core.instances.page import page
from core.io.home import ROOT
from core.operators import OPERATORS


def test_the_page_is_current():
    told = (ROOT / "docs" / "operators-and-instances.md").read_text("utf-8")
    assert told == page(), (
        "make it anew: python -m core instances --page > docs/operators-and-instances.md"
    )


def test_every_operator_and_instance_is_told():
    told = page()
    assert all(f"### {name}\n" in told for name in OPERATORS) and all(
        f"| `{key}` |" in told for key in published()
    )

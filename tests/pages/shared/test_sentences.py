"""Sentences of the screens, whose values are shown letter by letter."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def page():
    from pages.parts.shared.sentences import caption, write

    caption("{name} of {count:,}{more}", name="*a* [b](c)", count=1200, more=" · _d_")
    write("**{name}** and אבג", name="אבג")


def test_values_are_escaped_and_the_text_itself_is_not():
    app = AppTest.from_function(page).run()
    assert app.caption[0].value == r"\*a\* \[b\](c) of 1,200 · \_d\_"
    assert app.markdown[0].value == "**\u2068אבג\u2069** and אבג"

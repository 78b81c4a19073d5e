"""Script of the web app: page settings, navigation and the sidebar, then the page itself.

The server of app.py runs it for each visitor, at the start and after each interaction.
"""

from __future__ import annotations

import streamlit as st

from core.io.home import ROOT, home_folder, keep_private
from core.sharing import shared
from pages.parts.palette.command_palette import draw_command_palette
from pages.parts.shared.actions import result_of
from pages.parts.shared.address import go_to_wanted_address
from pages.parts.shared.people import may_enter, require_sign_in
from pages.parts.shared.session import engine, record_page
from pages.parts.shared.sidebar import sidebar
from pages.parts.shared.wording import tr

keep_private()
st.set_page_config(
    page_title="Hopscope", page_icon=str(ROOT / "assets" / "icon.svg"), layout="wide"
)
st.logo(str(ROOT / "assets" / "logo.svg"), size="large")
st.html(ROOT / "assets" / "style.css")
if result_of(home_folder) is None:  # such as a folder that cannot be made; the error is drawn
    st.stop()

PAGES = [
    st.Page("pages/compare.py", title=tr("Compare"), icon=":material/view_column:", default=True),
    st.Page("pages/build.py", title=tr("Build"), icon=":material/construction:"),
    st.Page("pages/texts.py", title=tr("Texts"), icon=":material/article:"),
    st.Page("pages/graphs.py", title=tr("Graphs"), icon=":material/hub:"),
    st.Page("pages/indexes.py", title=tr("Indexes"), icon=":material/inventory_2:"),
    st.Page("pages/evaluate.py", title=tr("Evaluate"), icon=":material/analytics:"),
    st.Page("pages/cases.py", title=tr("Cases"), icon=":material/bookmarks:"),
    st.Page("pages/models.py", title=tr("Models"), icon=":material/memory:"),
]
page = st.navigation(PAGES, position="sidebar" if may_enter() else "hidden")
require_sign_in()
# A sign-in returns to the first page. The visitor goes on to the address that was opened before.
if shared() and st.user.get("is_logged_in"):
    go_to_wanted_address([listed_page.url_path for listed_page in PAGES])
record_page(page.url_path or "compare")  # The default page has an empty path.


def draw_sidebar() -> bool:
    """Draw palette and sidebar and return True: `result_of` returns None only after an error."""
    draw_command_palette(PAGES)
    sidebar()
    return True


if result_of(draw_sidebar) is None:  # such as for files of another user, which cannot be read
    st.stop()
try:
    page.run()
finally:  # after the page, so that the first page does not wait for the models
    engine().jobs.run("warm", lambda job: engine().preload())
    engine().housekeeping.start()

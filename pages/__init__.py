"""Screens of the app. No other package of the project imports streamlit.

Until `st.navigation` has run once, Streamlit reads a folder named `pages` as its older kind of
multipage app. If the first request of a server were the address of a page, Streamlit would run that
page without main.py. This module is imported when the server starts, and turns the older kind off.
"""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

had_older_pages = PagesManager.uses_pages_directory
PagesManager.uses_pages_directory = False
if had_older_pages:  # The present run is of the older kind, and is begun again.
    st.rerun()

"""The screens: choose, run, look. The only code that imports streamlit.

Streamlit takes a folder of this name for its older kind of multipage app until `st.navigation` has
first run, so that a server whose very first request is the address of a page would run that page
without main.py. The first import, that of the server, says no.
"""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

older, PagesManager.uses_pages_directory = PagesManager.uses_pages_directory, False
if older:
    st.rerun()

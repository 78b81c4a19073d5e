"""Entry point of `streamlit run app.py`: the web server, with access control and a clean shutdown.

Streamlit runs the script `main.py` for each visitor, at the start and after each interaction.
"""

from __future__ import annotations

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from pages.parts.palette.search_list import LIST_FILE, serve_list
from pages.parts.shared.access_control import AccessMiddleware, accept_named_hosts
from pages.parts.shared.shutdown import server_lifespan

accept_named_hosts()
app = st.App(
    "main.py",
    middleware=[Middleware(AccessMiddleware)],
    lifespan=server_lifespan,
    routes=[Route(f"/{{base:path}}{LIST_FILE}", serve_list)],  # also below server.baseUrlPath
)

"""What `streamlit run app.py` starts: the server, which asks at its door who may come in. `main.py` is what it shows."""

from __future__ import annotations

import streamlit as st
from starlette.middleware import Middleware

from pages.parts.shared.door import Door, accept_named_hosts
from pages.parts.shared.ending import ending

accept_named_hosts()
app = st.App("main.py", middleware=[Middleware(Door)], lifespan=ending)

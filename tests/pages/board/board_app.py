"""A Streamlit script that mounts the board; run by test_board.py in a real server."""

import streamlit as st

from pages.parts.board.component import board
from tests.pages.board import board_payload

st.set_page_config(layout="wide")
st.sidebar.write("Hopscope")


@st.fragment(run_every=0.4)
def lanes() -> None:
    turn = st.session_state["turn"] = st.session_state.get("turn", 0) + 1
    data = board_payload.finished(3)
    data["lanes"][0]["answer"] = f"streamed {turn}"
    pressed = board(data, key="board")
    for name in ("go", "repair"):
        if getattr(pressed, name) is not None:
            st.session_state[name] = getattr(pressed, name)
        st.write(f"{name}: {st.session_state.get(name)}")


lanes()

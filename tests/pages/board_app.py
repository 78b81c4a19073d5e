"""A Streamlit script that mounts the board; run by test_board.py in a real server."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

import board_payload  # noqa: E402
import streamlit as st  # noqa: E402

from pages.parts.board.component import board  # noqa: E402

st.set_page_config(layout="wide")
st.sidebar.write("Hopscope")


@st.fragment(run_every=0.4)
def lanes() -> None:
    turn = st.session_state["turn"] = st.session_state.get("turn", 0) + 1
    data = board_payload.told(3)
    data["lanes"][0]["answer"] = f"streamed {turn}"
    pressed = board(data, key="board")
    for name in ("go", "repair"):
        if pressed[name] is not None:
            st.session_state[name] = pressed[name]
        st.write(f"{name}: {st.session_state.get(name)}")


lanes()

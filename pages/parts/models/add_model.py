"""Adding a model: a server by its address, and what to do for a graphics card."""

from __future__ import annotations

import re

import streamlit as st

from core.errors import BadInput, HopscopeError
from core.models.chat.openai import OpenAIChat
from core.models.declared import own_file
from core.models.hosts import check_host
from core.models.keys import HOW, NAME, key_for
from core.sharing import check_administrator
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain

TIMEOUT = 20.0  # seconds a server may take to answer the test


def add_model() -> None:
    """Draw the form for a server, and the instructions for a graphics card."""
    st.subheader("A server")
    st.write("Any server that speaks the OpenAI protocol: vLLM, llama.cpp, Ollama, or a hosted service.")
    with st.container(border=True, key="server-box"):
        with st.container(horizontal=True, gap="medium"):
            name = st.text_input(
                "Name",
                key="server_name",
                persist_state="session",
                placeholder="my-server",
                width=220,
                help="How lines and roles call it: letters, digits, dashes and dots.",
            )
            url = st.text_input(
                "Address",
                key="server_url",
                persist_state="session",
                placeholder="http://localhost:8000/v1",
                width=340,
                help="The base address, usually ending in /v1.",
            )
            model = st.text_input(
                "Model",
                key="server_model",
                persist_state="session",
                placeholder="Qwen/Qwen2.5-7B-Instruct",
                width=280,
                help="The model's name on that server.",
            )
            variable = st.text_input(
                "Environment variable of the key",
                key="server_key",
                persist_state="session",
                placeholder="none needed",
                width=250,
                help="Its name, HOPSCOPE_KEY_..., not the key. It holds this address, a space and the key, which is sent nowhere else.",
            )
        with st.container(horizontal=True):
            tested = st.button("Test the connection", key="server-go", icon=":material/network_check:")
            added = st.button("Add", key="server-add", type="primary", icon=":material/add:")
    if tested or added:
        try:
            given = checked(name, url, model, variable)
            _test(*given) if tested else _add(*given)
        except HopscopeError as error:
            st.error(plain(str(error)))
    if title := Session.model_added.take():
        st.success(f"Added {plain(title)}. Give it a role under “Models”, or try it under “Try one”.", icon=":material/check_circle:")
    with st.expander("A model on a graphics card (vLLM)"):
        _gpu()


def checked(name: str, url: str, model: str, variable: str) -> tuple[str, str, str, str]:
    """The fields, trimmed. Raises BadInput that says which one is not usable."""
    check_administrator("add models")
    name, url, model, variable = name.strip(), url.strip().rstrip("/"), model.strip(), variable.strip()
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._\-]{0,59}", name):
        raise BadInput("Give the server a name of letters, digits, dashes and dots.")
    if name in {info.name for info in engine().models.declared() if not info.own}:
        raise BadInput(f"“{name}” is the name of a model that comes with Hopscope; choose another.")
    if not re.fullmatch(r"https?://[^\s/]+\S*", url):
        raise BadInput("The address must begin with http:// or https://, such as http://localhost:8000/v1.")
    check_host(url)
    if not model:
        raise BadInput("Name the model as the server calls it.")
    if variable:
        if not NAME.fullmatch(variable):
            raise BadInput(f"The key's environment variable is named HOPSCOPE_KEY_...; it holds the address and the key, as in: {HOW}")
        key_for(variable, url, name)
    return name, url, model, variable


def _test(name: str, url: str, model: str, variable: str) -> None:
    """Ask the server for a few words."""
    with st.spinner("Asking the server …"):
        reply = OpenAIChat(url, model, name, variable, timeout=TIMEOUT).reply([{"role": "user", "content": "Say: ready"}], max_tokens=8)
    st.success("The server answers:", icon=":material/check_circle:")
    st.text(reply.text if reply.text.strip() else reply.fault())


def _add(name: str, url: str, model: str, variable: str) -> None:
    fields = {"url": url, "model": model, "title": f"{model} at {url}"} | ({"key_variable": variable} if variable else {})
    session.model_added = engine().models.add(name, "chat", "openai", **fields).title
    st.rerun()  # the lists of models stand above and were drawn without it


def _gpu() -> None:
    st.write("On a computer with an NVIDIA card, install Hopscope with its graphics packages, then start it:")
    st.code("pip install -r requirements-gpu.txt\nstreamlit run app.py", language="bash")
    st.write(
        "Choose the model that runs on the card for a role under “Models”: its server starts at the first question and ends with Hopscope. "
        "To declare another, add a row to your own file and start Hopscope again:"
    )
    st.code(
        '[model."my-model"]\nkind = "chat"\nbackend = "vllm"\ntitle = "My model"\n'
        'weights = "Qwen/Qwen2.5-7B-Instruct"  # a folder, or a name on the model hub\ncontext = 8192',
        language="toml",
    )
    st.caption(f"Your own file is {plain(str(own_file()))}")
    st.write("Or serve it from another computer, and add that as a server above:")
    st.code("vllm serve Qwen/Qwen2.5-7B-Instruct --port 8000", language="bash")

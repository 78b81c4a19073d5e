"""Form to add a model on a server, and vLLM instructions.

The server speaks the OpenAI protocol. It is found on this computer, or given by its address.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from core.errors import BadInput
from core.models.api_keys import (
    KEY_VARIABLE_EXAMPLE,
    KEY_VARIABLE_PATTERN,
    check_key,
    read_key_variable,
)
from core.models.chat.openai import OpenAIChat
from core.models.declarations import ROLE_KINDS, own_file
from core.models.discovery import SERVER_PORTS, FoundServer, find_servers, guess_kind, list_models
from core.models.hosts import check_host, complete_address
from core.sharing import check_administrator
from pages.parts.models.roles import ROLE_TITLES
from pages.parts.models.server_abilities import begin_measure
from pages.parts.shared.actions import button, shown_errors
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

TEST_TIMEOUT_SECONDS = 20.0  # most seconds for the answer to a test
SERVER_KIND_TITLES = {
    "chat": tr("Language model"),
    "encoder": tr("Encoder"),
    "reranker": tr("Re-ranker"),
}
# Backend of models.toml by the kind of model.
SERVER_BACKENDS = {"chat": "openai", "encoder": "openai-embeddings", "reranker": "rerank"}


@dataclass(frozen=True)
class ServerForm:
    """Values of the form of a model on a server.

    `name` is the name in Hopscope, and `model` that on the server. `key` is the typed API key, and
    `variable` the name of an environment variable with the key. At most one of them may be set.
    """

    name: str
    url: str
    model: str
    variable: str = ""
    key: str = field(default="", repr=False)
    kind: str = "chat"
    roles: tuple[str, ...] = ()


def draw_add_model() -> None:
    """Draw the search for servers, the form for one, and the instructions for a graphics card."""
    st.subheader(tr("A server"))
    write(
        "Any server that speaks the OpenAI protocol: Ollama, LM Studio, llama.cpp, vLLM, or a "
        "hosted service."
    )
    _draw_found_servers()
    with st.container(border=True, key="server-box"):
        server_form = _draw_form()
        with st.container(horizontal=True):
            lists_models = button(
                tr("List its models"),
                key="server-list",
                icon="list",
                help=tr("Asks the server at the address above."),
            )
            tested = button(tr("Test the connection"), key="server-go", icon="network_check")
            added = button(tr("Add"), key="server-add", type="primary", icon="add")
        with shown_errors():
            if lists_models:
                _list_models(server_form)
            elif tested:
                _test(check_form(server_form))
            elif added:
                _add(check_form(server_form))
        _draw_listed_models()
    if title := Session.model_added.take():
        st.success(tr("Added {title}.", title=plain(title)), icon=":material/check_circle:")
    with st.expander(tr("A model on a graphics card (vLLM)")):
        _draw_gpu_instructions()


def _draw_found_servers() -> None:
    """Draw the button that searches for servers, and the servers that were found."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if button(tr("Look for servers on this computer"), key="server-find", icon="radar"):
            with st.spinner(tr("Looking …"), show_time=True):
                session.servers_found = find_servers()
        caption("Ports {ports}", ports=", ".join(map(str, SERVER_PORTS)))
    if session.servers_found == ():
        st.info(
            tr(
                "No model server answers on these ports. Start one (such as `ollama serve`), or "
                "give its address below."
            ),
            icon=":material/search_off:",
        )
    for server in session.servers_found or ():
        with st.container(
            border=True,
            horizontal=True,
            vertical_alignment="center",
            key=f"server-found-{server.url.split(':')[-1][:-3]}",  # the port, without “/v1”
        ):
            st.markdown(f"**{plain(server.program)}**", width="content")
            st.text(server.url, width="content")
            if server.needs_key:
                caption("asks for a key")
            elif not server.models:
                caption("has no model loaded")
            model = ""
            if server.models:
                model = st.selectbox(
                    tr("Model"),
                    server.models,
                    key=f"found-{server.url}",
                    label_visibility="collapsed",
                    width=280,
                )
            button(
                tr("Use this"),
                partial(_fill_form, server, model),
                key=f"take-{server.url}",
                icon="south",
            )


def _fill_form(server: FoundServer, model: str) -> None:
    """Fill the form with a server that was found."""
    Session.server_url.value = server.url
    Session.server_model.value = model
    Session.server_kind.value = guess_kind(model)
    Session.server_roles.value = _unfilled_roles()
    Session.server_name.value = _free_name(model or server.program)
    Session.server_models.drop()


def _free_name(model: str) -> str:
    """Return an unused name, made of a server's model name."""
    short_name = model.split("/")[-1].removesuffix(":latest")
    base = re.sub(r"[^A-Za-z0-9.]+", "-", short_name).strip("-.").lower()[:50] or "my-server"
    used_names = {info.name for info in engine().models.list_models()}
    candidates = (base, *(f"{base}-{number}" for number in range(2, 1000)))
    return next(name for name in candidates if name not in used_names)


def _draw_form() -> ServerForm:
    """Draw the fields and return their values, without blanks around them."""
    if Session.server_pill_set.take():
        _choose_listed()
    if Session.server_emptied.take():
        for text_key in (
            Session.server_name,
            Session.server_url,
            Session.server_model,
            Session.server_key,
            Session.server_variable,
        ):
            text_key.value = ""
        Session.server_roles.value = []
    with st.container(horizontal=True, gap="medium"):
        url = _draw_field(
            tr("Address"),
            Session.server_url.name,
            "http://localhost:8000/v1",
            270,
            tr("The base address, usually ending in /v1."),
        )
        model = _draw_field(
            tr("Model"),
            Session.server_model.name,
            "Qwen/Qwen2.5-7B-Instruct",
            240,
            tr("The model's name on that server."),
        )
        name = _draw_field(
            tr("Name"),
            Session.server_name.name,
            "my-server",
            160,
            tr("Its name in methods and roles: letters, digits, dashes and dots."),
        )
        kind = st.selectbox(
            tr("What it is"),
            list(SERVER_KIND_TITLES),
            format_func=SERVER_KIND_TITLES.__getitem__,
            key=Session.server_kind.name,
            width=160,
            persist_state="session",
        )
    with st.container(horizontal=True, gap="medium"):
        key = st.text_input(
            tr("Key"),
            key=Session.server_key.name,
            type="password",
            placeholder=tr("none needed"),
            width=270,
            help=tr("Saved for you alone, and sent to this address only."),
        )
        variable = _draw_field(
            tr("or an environment variable with it"),
            Session.server_variable.name,
            "HOPSCOPE_KEY_…",
            240,
            tr(
                "The variable's name, HOPSCOPE_KEY_..., not the key. It holds this address, a "
                "space and the key."
            ),
        )
        role_names = _roles_of_kind(kind)
        Session.server_roles.value = [
            role for role in Session.server_roles.value if role in role_names
        ]
        roles = st.multiselect(
            tr("Use it for"),
            role_names,
            key=Session.server_roles.name,
            format_func=lambda role: ROLE_TITLES[role][0],
            width=340,
            placeholder=tr("nothing yet"),
            help=tr("The roles that it gets now. Change them under “Models”."),
        )
    return ServerForm(
        name=name.strip(),
        url=complete_address(url),
        model=model.strip(),
        variable=variable.strip(),
        key=key.strip(),
        kind=kind or "chat",
        roles=tuple(roles),
    )


def _draw_field(label: str, key: str, example: str, width: int, help_text: str) -> str:
    return st.text_input(
        label, key=key, persist_state="session", placeholder=example, width=width, help=help_text
    )


def check_form(form: ServerForm) -> ServerForm:
    """Return the values unchanged if a model can be added with them.

    Raises BadInput with a sentence on the first field that cannot be used.
    """
    check_administrator(tr("add models"))
    _check_address(form)
    if not form.model:
        raise BadInput(
            tr("Enter the model's name on the server. “List its models” shows the names.")
        )
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._\-]{0,59}", form.name):
        raise BadInput(tr("Enter a name of letters, digits, dashes and dots."))
    if form.name in {info.name for info in engine().models.list_models() if not info.own}:
        raise BadInput(
            tr(
                "“{given}” is the name of a model that comes with Hopscope; choose another.",
                given=form.name,
            )
        )
    return form


def _check_address(form: ServerForm) -> None:
    """Raise BadInput if the address or the key cannot be used."""
    if not re.fullmatch(r"https?://[^\s/]+\S*", form.url):
        raise BadInput(
            tr("The address must begin with http:// or https://, such as http://localhost:8000/v1.")
        )
    check_host(form.url)
    if form.key and form.variable:
        raise BadInput(tr("Enter the key or the name of its variable, not both."))
    check_key(form.key)
    if form.variable:
        if not KEY_VARIABLE_PATTERN.fullmatch(form.variable):
            raise BadInput(
                tr(
                    "The key's environment variable is named HOPSCOPE_KEY_...; it holds the "
                    "address and the key, as in: {how}",
                    how=KEY_VARIABLE_EXAMPLE,
                )
            )
        read_key_variable(form.variable, form.url, form.name or tr("The server"))


def _list_models(form: ServerForm) -> None:
    """Ask the server for its models, and store their names.

    The only model of a server is chosen, unless the form names one.
    """
    check_administrator(tr("add models"))
    _check_address(form)
    with st.spinner(tr("Asking the server …"), show_time=True):
        models = list_models(form.url, form.variable, form.key or None)
    session.server_models = (form.url, models)
    if len(models) == 1 and not form.model:
        Session.server_pill.value = models[0]
        session.server_pill_set = True
        st.rerun()  # The fields above were drawn without it.


def _draw_listed_models() -> None:
    """Draw the models of the server that was asked, to choose from.

    Nothing is drawn if the address in the form has changed since.
    """
    url, models = session.server_models
    if url and url == complete_address(Session.server_url.value):
        if not models:
            caption("The server has no model loaded.")
            return
        st.pills(tr("Its models"), models, key=Session.server_pill.name, on_change=_choose_listed)


def _choose_listed() -> None:
    """Copy the chosen model into the form.

    A name is added if the form has none. Without chosen roles it gets those that no installed
    model has.
    """
    model = Session.server_pill.value
    if model:
        Session.server_model.value, Session.server_kind.value = model, guess_kind(model)
        if not Session.server_name.value.strip():
            Session.server_name.value = _free_name(model)
        if not Session.server_roles.value:
            Session.server_roles.value = _unfilled_roles()


def _unfilled_roles() -> list[str]:
    """Return the roles for the form's kind of model whose model is not on this computer."""
    registry = engine().models
    roles = _roles_of_kind(Session.server_kind.value)
    return [role for role in roles if not registry.info(role).present]


def _roles_of_kind(kind: str | None) -> list[str]:
    """Return the roles that a model of a kind can get."""
    return [
        role
        for role, role_kind in ROLE_KINDS.items()
        if role_kind == kind or (role_kind == "scorer" and kind != "chat")
    ]


def _test(form: ServerForm) -> None:
    """Ask a language model for a short reply, or look another model up in the server's list."""
    if form.kind != "chat":
        if form.model in list_models(form.url, form.variable, form.key or None):
            st.success(tr("The server answers and has this model."), icon=":material/check_circle:")
        else:
            text = tr("The server answers, but does not list a model “{model}”.", model=form.model)
            st.warning(plain(text))
        return
    with st.spinner(tr("Asking the server …"), show_time=True):
        chat = OpenAIChat(
            form.url,
            form.model,
            form.name,
            form.variable,
            timeout=TEST_TIMEOUT_SECONDS,
            key=form.key or None,
        )
        reply = chat.reply([{"role": "user", "content": "Say: ready"}], max_tokens=8)
    st.success(tr("The server answers:"), icon=":material/check_circle:")
    st.text(reply.text if reply.text.strip() else reply.describe_fault())


def _add(form: ServerForm) -> None:
    """Add the model, clear the form, and run the page again.

    The abilities of a language model are then measured in the background.
    """
    fields: dict[str, Any] = {
        "url": form.url,
        "model": form.model,
        "title": tr("{model} at {url}", model=form.model.split("/")[-1], url=form.url),
    }
    if form.variable:
        fields["key_variable"] = form.variable
    backend = SERVER_BACKENDS[form.kind]
    registry = engine().models
    info = registry.add(form.name, form.kind, backend, serves=form.roles, key=form.key, **fields)
    session.model_added = info.title
    if form.kind == "chat":
        begin_measure(form.name)
    Session.server_models.drop()
    session.server_emptied = True
    st.rerun()  # The lists of models above were drawn without the new one.


def _draw_gpu_instructions() -> None:
    write(
        "On a computer with an NVIDIA card, install Hopscope with its graphics packages, then "
        "start it:"
    )
    st.code("pip install -r requirements-gpu.txt\nstreamlit run app.py", language="bash")
    write(
        "Choose the model that runs on the card for a role under “Models”: its server starts at "
        "the first question and ends with Hopscope. To declare another, add a row to your own "
        "file and start Hopscope again:"
    )
    st.code(
        tr(
            '[model."my-model"]\nkind = "chat"\nbackend = "vllm"\ntitle = "My model"\n'
            'weights = "Qwen/Qwen2.5-7B-Instruct"  # a folder, or a name on the model '
            "hub\ncontext = 8192"
        ),
        language="toml",
    )
    caption("Your own file is {own_file}", own_file=str(own_file()))
    write("Or serve it from another computer, and add that as a server above:")
    st.code("vllm serve Qwen/Qwen2.5-7B-Instruct --port 8000", language="bash")

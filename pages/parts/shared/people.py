"""Visitors of a shared installation: their sign-in, their property and their rights.

Without sharing, the one user of this computer may do everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.errors import HopscopeError
from core.sharing import (
    NO_PERSON,
    VISIT_PREFIX,
    Person,
    change_refusal,
    current_person,
    owner_of,
    owner_words,
    person_of_email,
    person_of_visit,
    set_person_source,
    shared,
)
from pages.parts.shared.access_control import admit_session
from pages.parts.shared.address import keep_wanted_address
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def visitor() -> Person:
    """Return the visitor of the page.

    This is the person with the email address of the sign-in. Without a sign-in, or if the provider
    says that the address was never verified, it is a person for this visit alone. Outside the run
    of a page it is `NO_PERSON`.
    """
    if get_script_run_ctx(suppress_warning=True) is None:
        return NO_PERSON
    if str(st.user.get("email_verified")).lower() == "false":
        person = NO_PERSON
    else:
        person = person_of_email(str(st.user.get("email") or ""))
    if person != NO_PERSON:
        return person
    session.visit_token = session.visit_token or uuid4().hex
    return person_of_visit(session.visit_token)


def may_enter() -> bool:
    """Return whether the visitor may see the pages.

    Only visitors without a sign-in are refused, and only if sharing and sign-in are set up.
    """
    return not shared() or bool(st.user.get("is_logged_in", True))


def admit(page: Callable[[], None]) -> None:
    """Draw a page for visitors who may see it.

    Each page calls this by itself, because Streamlit runs the file of a page without main.py until
    somebody has opened main.py. An error of a button's action is drawn above the page.
    """
    require_sign_in()
    if problem := Session.action_error.take():
        st.error(plain(problem))
    page()


def require_sign_in() -> None:
    """Make the visitor the current person of this run, or draw the sign-in and end the run."""
    set_person_source(visitor)
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        admit_session(context.session_id, may_enter())
    if may_enter():
        return
    keep_wanted_address()
    st.header("Hopscope", anchor=False)
    st.write(tr("Sign in to ask questions, compare methods and see what others shared."))
    for provider, title in _providers().items():
        st.button(
            title,
            key=f"sign-in-{provider}",
            type="primary",
            icon=":material/login:",
            on_click=st.login,
            args=(provider or None,),
        )
    st.stop()


def _providers() -> dict[str, str]:
    """Return the configured sign-in providers with their button labels.

    They are in `[auth]` of secrets.toml. A provider without a name, the only one of a simple
    configuration, is the empty string.
    """
    auth = st.secrets["auth"]
    named_providers = {
        name: tr("Sign in with {name}", name=name)
        for name, value in auth.items()
        if isinstance(value, Mapping) and "client_id" in value
    }
    return ({"": tr("Sign in")} if "client_id" in auth else {}) | named_providers


def draw_visitor() -> None:
    """Draw the visitor's name and rights, and the sign-out button.

    Nothing is drawn without sharing.
    """
    if not shared():
        return
    person = current_person()
    st.markdown(tr("**Shared with others**"))
    if person.id.startswith(VISIT_PREFIX):
        until = tr(
            "You can change or delete it until you close or reload this page. After that, only "
            "the administrator can."
        )
        st.caption(tr("You are not signed in. Everyone sees what you save. {until}", until=until))
    else:
        role = tr(" · administrator") if person.administrator else ""
        st.caption(
            tr(
                "{id}{role}  \nEveryone sees what you save; only you can change it.",
                id=plain(person.id),
                role=role,
            )
        )
    if st.user.get("is_logged_in"):
        st.button(
            tr("Sign out"),
            key="sign-out",
            icon=":material/logout:",
            type="tertiary",
            on_click=st.logout,
        )


def visitor_refusal(kind: str, name: str) -> str:
    """Return a sentence why the visitor may not change a thing.

    Empty if they may. `kind` and `name` identify the thing, such as a case, among all owned things.
    """
    try:
        return change_refusal(kind, name)
    except HopscopeError as error:
        return str(error)


def disabled_arguments(why: str, help: str | None = None) -> dict[str, Any]:
    """Return widget arguments that disable a control and show the reason as its help.

    An empty reason keeps the control enabled.
    """
    return {"disabled": bool(why), "help": plain(why) or help}


def owner_text(kind: str, name: str) -> str:
    """Return the owner of a thing, such as “yours”.

    Empty without sharing.
    """
    if not shared():
        return ""
    try:
        owner_id = owner_of(kind, name)
    except HopscopeError as error:
        return str(error)
    if owner_id and owner_id == current_person().id:
        return tr("yours")
    return tr("by {called}", called=owner_words(owner_id))

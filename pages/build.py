"""Build: compose a method from operators, try it on a question, keep it."""

from __future__ import annotations

import streamlit as st

from core.errors import BadParameter, HopscopeError
from core.instances.catalogue import KIND, OWN, Instance, delete, find, named, save
from core.operators import OPERATORS
from core.operators.base import STAGES, Line
from pages.parts.build.draft import Draft, heading
from pages.parts.build.trying import try_it
from pages.parts.methods.advice import show_advice, tried
from pages.parts.methods.forms import operator_form, sentence_of
from pages.parts.methods.groups import is_heading, options
from pages.parts.shared.people import admit, barred, held, whose
from pages.parts.shared.session import instances, said
from pages.parts.shared.text import plain

EMPTY = ""
SAVED = "keep_saved"  # in the session: the title of a method just saved, shown once the whole page lists it
STAGE_WORDS = {
    "graph": "Stand on a graph of texts",
    "convert": "Read the question",
    "extract": "Take a part of the graph",
    "filter": "Thin that part",
    "retrieve": "Find paths or texts",
    "refine": "Choose among what was found",
    "read": "Answer from the graph",
    "generate": "Answer with a language model",
}


def page() -> None:
    """Draw the screen."""
    known = instances()
    draft = restore(known)
    st.header("Build")
    st.write("A method is a line of steps (operators), run from top to bottom. Start from one you know, change it, try it, keep it.")
    start(known, draft)
    for position in range(len(draft.cards)):
        card(draft, position)
    adding(draft)
    line = whole(draft)
    trying, keeping = st.container(), st.container()
    with keeping:  # drawn below, but done first: a run may end the screen early
        st.subheader("Keep it")
        keep(line, known)
    with trying:
        st.subheader("Try it on a question")
        if line is not None:
            st.caption(plain(f"{named(line, known).name}: {line.words()}"))
        try_it(line, known)


def restore(known: dict[str, Instance]) -> Draft:
    """The draft of this session; an address that names a line or an instance is loaded into it, once."""
    draft = st.session_state.setdefault("draft", Draft())
    wanted = st.query_params.get("line") or st.query_params.get("from")
    if wanted and wanted != st.session_state.get("draft_wanted"):
        st.session_state.draft_wanted = wanted
        instance = said(lambda: find(wanted, known))
        if instance is not None:
            draft.load(instance.line)
    return draft


def start(known: dict[str, Instance], draft: Draft) -> None:
    """The choice of what to start from."""
    names = {EMPTY: "an empty line"} | options(known)

    def load() -> None:
        chosen = st.session_state.build_start
        if chosen is not None and not is_heading(chosen):
            draft.load(known[chosen].line if chosen else Line())
        st.session_state.build_start = None

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Start from",
            list(names),
            index=None,
            key="build_start",
            format_func=names.__getitem__,
            on_change=load,
            placeholder="Choose a method, or an empty line",
            help="Replaces the line below; “Undo” brings it back.",
        )
        st.button(
            "Undo",
            icon=":material/undo:",
            on_click=draft.undo,
            disabled=not draft.before,
            key="undo",
            help="Go back one added, moved or removed step, or the line before the last start.",
        )
    if not draft.cards:
        st.info("The line is empty. Choose a method above, or add a first step below.", icon=":material/construction:")


def card(draft: Draft, position: int) -> None:
    """One operator: what it is, its form, and the buttons that move or remove it."""
    this = draft.cards[position]
    operator, last = this.operator, len(draft.cards) - 1
    with st.container(border=True, key=f"{this.key}-box"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{position + 1}. {plain(heading(operator))}**", width="content")
            st.caption(STAGE_WORDS[operator.stage], width="stretch")
            for icon, by, words, off in (
                ("arrow_upward", -1, "Move up", position == 0),
                ("arrow_downward", 1, "Move down", position == last),
            ):
                st.button(
                    "",
                    key=f"{this.key}-{by}",
                    icon=f":material/{icon}:",
                    type="tertiary",
                    help=words,
                    disabled=off,
                    on_click=draft.move,
                    args=(position, by),
                )
            st.button(
                "",
                key=f"{this.key}-remove",
                icon=":material/close:",
                type="tertiary",
                help="Remove",
                on_click=draft.remove,
                args=(position,),
            )
        st.caption(plain(sentence_of(operator)))
        changed = operator_form(operator, this.key)
        this.broken = changed is None
        this.operator = changed or operator
        show_advice(this.operator, tried(), this.key, lambda better: draft.change(position, better))
        reason = draft.reasons()[position]
        if reason:
            st.warning(plain(reason), icon=":material/warning:")


def adding(draft: Draft) -> None:
    """The operators that can be added, by stage; the others greyed, with the reason."""
    with st.container(border=True, key="adding"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("**Add a step**")
            position = _place(draft)
        for stage in STAGES:
            classes = [cls for cls in OPERATORS.values() if cls.stage == stage]
            reasons = {cls: draft.cannot_add(position, cls()) for cls in classes}
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(STAGE_WORDS[stage], width=200)
                for cls in classes:
                    st.button(
                        plain(heading(cls)),
                        key=f"add-{cls.__name__}",
                        disabled=reasons[cls] is not None,
                        on_click=draft.insert,
                        args=(position, cls()),
                        help=plain(reasons[cls] or sentence_of(cls())),
                    )
                refused = [reason for reason in reasons.values() if reason]
                every = len(refused) == len(classes)
                if refused:
                    st.caption(plain(_together(refused, every)), width="stretch" if every else 600)


def _place(draft: Draft) -> int:
    """Where the operator goes; the usual place unless chosen otherwise."""
    if not draft.cards:
        return 0
    places = {len(draft.cards): "at the end"} | {i: f"before {i + 1}. {heading(c.operator)}" for i, c in enumerate(draft.cards)}
    shape = "-".join(card.key for card in draft.cards)
    return st.selectbox(
        "Where",
        list(places),
        index=list(places).index(draft.usual_place()),
        format_func=places.__getitem__,
        key=f"place-{shape}",
        label_visibility="collapsed",
        width=240,
    )


def _together(reasons: list[str], all_refused: bool) -> str:
    """The reasons for which operators of a stage are refused: one sentence where they are the same."""
    tails = {reason.split("” ", 1)[-1] for reason in reasons}
    if len(tails) > 1:
        return " ".join(reasons)
    return f"Not here: it {tails.pop()}" if all_refused else f"Greyed ones: each {tails.pop()}"


def whole(draft: Draft) -> Line | None:
    """The line if it can be run, put into the address; else None, with the reason."""
    try:
        line = draft.line()
    except BadParameter as error:
        if draft.cards:
            st.error(f"This line cannot be run yet. {plain(str(error))}")
        return None
    st.session_state.draft_wanted = st.query_params["line"] = repr(line)
    st.query_params.pop("from", None)
    return line


def keep(line: Line | None, known: dict[str, Instance]) -> None:
    """Save the line under a name; delete what was saved."""
    with st.container(key="keep-box"), st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Name", key="keep_name", persist_state="session", placeholder="A name of your own", max_chars=80)
        pressed = st.button("Save", key="keep-go", icon=":material/save:", disabled=line is None)
    if pressed and line is not None:
        saved = said(lambda: save(name, line))
        if saved is not None:
            st.session_state[SAVED] = saved.title
            st.rerun()  # the list to start from is above and was drawn without it
    if title := st.session_state.pop(SAVED, ""):
        st.toast(f"Saved “{plain(title)}”.", icon=":material/check:")
    if line is None:
        st.caption("A line can be saved once it can be run.")
    own = [instance for instance in known.values() if instance.group == OWN]
    if not own:
        st.caption("Nothing saved yet. What you save appears here, under “Start from”, and as a lane on Compare.")
    for instance in own:
        with st.container(horizontal=True, vertical_alignment="center", key=f"own-{instance.id}"):
            st.text("  ·  ".join(filter(None, (instance.label, instance.line.words(), whose(KIND, instance.id)))), width="stretch")
            how = held(barred(KIND, instance.id))
            st.button(
                "Delete",
                key=f"delete-{instance.id}",
                type="tertiary",
                icon=":material/delete:",
                on_click=_delete,
                args=(instance.id,),
                **how,
            )


def _delete(key: str) -> None:
    try:
        delete(key)
    except HopscopeError as error:
        st.toast(plain(str(error)))


admit(page)

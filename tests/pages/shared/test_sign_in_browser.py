"""People sign in by OpenID Connect, with a real provider and a real browser.

The provider is on loopback. There are two people; a forged token or cookie lets nobody in.
"""

from __future__ import annotations

import os

import pytest

from core.cases import cases, duplicate, get_case
from core.io.home import models_folder
from core.sharing import acting_as, person_of_email
from tests.pages.shared.oidc import CLIENT, SECRET, provider
from tests.server import open_page, server, settle

ANN, BOB = "ann@example.com", "bob@example.com"


@pytest.fixture(scope="module")
def room(browser, movies, tmp_path_factory):
    """The address of a shared app, its provider, and a case of Ann's."""
    home = tmp_path_factory.mktemp("shared")
    with provider() as issuer, pytest.MonkeyPatch.context() as patch:
        auth = {
            "client_id": CLIENT,
            "client_secret": SECRET,
            "cookie_secret": "a long secret of the tests alone, made up",
        }
        auth |= {
            "redirect_uri": "http://127.0.0.1:{port}/oauth2callback",
            "server_metadata_url": f"{issuer.issuer}/.well-known/x",
        }
        (home / ".streamlit").mkdir()
        (home / ".streamlit" / "secrets.toml").write_text(
            "[auth]\n" + "\n".join(f'{key} = "{value}"' for key, value in auth.items())
        )
        (home / "graphs").symlink_to(os.path.join(os.environ["HOPSCOPE_HOME"], "graphs"))
        patch.setenv("HOPSCOPE_HOME", str(home))
        patch.setenv("HOPSCOPE_SHARED", "1")
        with acting_as(person_of_email(ANN)):
            key = duplicate(next(case.id for case in cases() if case.example)).id
        with server(HOME=str(home), HOPSCOPE_MODELS=str(models_folder())) as (address, _):
            yield address, issuer, key


def plainly(text: str) -> str:
    """A text with an address as the page shows it, where nothing becomes a link."""
    return text.replace("@", "@\u2060")


def sign_in(page, issuer, to: str, **claims) -> None:
    """Signs in whom the claims tell of, and waits for the address at which that ends."""
    issuer.claims = {"email_verified": True, **claims}
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_text(plainly(claims["email"].lower())).first.wait_for(timeout=60_000)
    page.wait_for_url(to, timeout=60_000)
    settle(page)


def test_two_people_sign_in_and_each_changes_their_own_alone(room):
    address, issuer, key = room
    for email, mine in ((ANN.upper(), True), (BOB, False)):
        with open_page(f"{address}/cases?case={key}") as page:
            page.get_by_text("Sign in to ask questions").wait_for()
            assert not page.get_by_text("Cases").count() and not page.get_by_text("Models").count()
            sign_in(page, issuer, f"{address}/cases?case={key}", email=email)
            page.get_by_text(plainly(email.lower())).first.wait_for()
            button = page.get_by_role("button", name="Delete", exact=False).first
            button.wait_for()
            settle(page)
            assert (
                button.is_enabled() == mine
                and page.get_by_text("yours" if mine else plainly(f"by {ANN}")).count()
            )
            page.get_by_role("button", name="Sign out").click()
            page.get_by_text("Sign in to ask questions").wait_for()
    assert get_case(key).id == key


KEPT_ADDRESSES = (
    ("/cases?case=0123456789ab&code=x&next=//example.org", "/cases?case=0123456789ab"),
    ("//example.org/?q=who", "/"),
    ("https://example.org/", "/"),
)


def test_whatever_a_browser_kept_leads_to_a_page_of_ours_with_parameters_of_ours(room):
    address, issuer, _ = room
    with open_page(address) as page:
        for kept, to in KEPT_ADDRESSES:
            page.get_by_text("Sign in to ask questions").wait_for()
            settle(page)
            page.evaluate("kept => sessionStorage.setItem('hopscope-wished', kept)", kept)
            sign_in(page, issuer, f"{address}{to}", email=BOB)
            page.wait_for_function("sessionStorage.getItem('hopscope-wished') === null")
            assert page.url == f"{address}{to}"
            page.get_by_role("button", name="Sign out").click()


def test_a_token_that_another_key_signed_lets_nobody_in(room):
    address, issuer, _ = room
    issuer.forged = True
    try:
        with open_page(address) as page:
            page.get_by_text("Sign in to ask questions").wait_for()
            page.get_by_role("button", name="Sign in", exact=True).click()
            page.wait_for_timeout(1500)
            page.goto(address)
            page.get_by_text("Sign in to ask questions").wait_for()
    finally:
        issuer.forged = False


def test_a_cookie_that_another_secret_signed_lets_nobody_in(room):
    from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

    address, _, _ = room
    forged = create_signed_value(
        "another secret", "_streamlit_user", '{"email": "ann@example.com", "is_logged_in": true}'
    ).decode()
    with open_page("about:blank") as page:
        page.context.add_cookies([{"name": "_streamlit_user", "value": forged, "url": address}])
        page.goto(address)
        page.get_by_text("Sign in to ask questions").wait_for()

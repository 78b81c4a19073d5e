"""A name that is not the server's is refused at every route.

Where people share, files of those who are not signed in are refused too.
"""

from __future__ import annotations

import http.client
import socket
from urllib.parse import urlsplit

import pytest
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from pages.parts.shared.access_control import is_allowed_host
from tests.server import server

STRANGER = "rebound.example.net"
SECRETS = """
[auth]
redirect_uri = "http://localhost/oauth2callback"
cookie_secret = "a secret of this test alone, of more than 32 letters"
client_id = "hopscope"
client_secret = "x"
server_metadata_url = "http://127.0.0.1:9/none"
"""


def asked(url: str, path: str, host: str, method: str = "GET") -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    connection.request(method, path, headers={"Host": host})
    return connection.getresponse()


ROUTES = [
    "/",
    "/cases",
    "/_stcore/health",
    "/_stcore/host-config",
    "/media/x.png",
    "/app/static/x.js",
    "/static/x.js",
    "/oauth2callback",
]


@pytest.mark.parametrize("path", ROUTES)
def test_a_foreign_name_is_refused_everywhere(app, path):
    reply = asked(app, path, f"{STRANGER}:{urlsplit(app).port}")
    assert reply.status == 421
    assert reply.read().decode().startswith(f"Hopscope does not answer to the name “{STRANGER}")
    assert asked(app, path, urlsplit(app).netloc).status != 421


def test_a_page_asks_nobody_else(app):
    headers = asked(app, "/", urlsplit(app).netloc).headers
    assert (
        "img-src 'self' data: blob:" in headers["Content-Security-Policy"]
        and "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    )
    assert (headers["X-Frame-Options"], headers["X-Content-Type-Options"]) == ("DENY", "nosniff")


def test_files_of_a_foreign_name_are_refused(app):
    assert asked(app, "/_stcore/upload_file/a/b", STRANGER, "PUT").status == 421


@pytest.mark.parametrize("host", [STRANGER, "127.0.0.1.example.net", "localhost.example.net"])
def test_the_connection_of_a_page_is_refused_to_a_foreign_name(app, host):
    with pytest.raises(InvalidStatus) as refused:
        opened(app, host, f"http://{host}").close()
    assert refused.value.response.status_code == 403
    opened(app, urlsplit(app).netloc, app).close()


def opened(url: str, host: str, origin: str | None = None):
    """The connection of a page, which sends this Host."""
    line = socket.create_connection(("127.0.0.1", urlsplit(url).port))
    return connect(
        f"ws://{host}/_stcore/stream",
        sock=line,
        origin=origin,
        subprotocols=["streamlit"],
        max_size=None,
        proxy=None,
    )


@pytest.mark.parametrize(
    "host, right",
    [
        ("localhost:8501", True),
        ("LOCALHOST", True),
        ("127.0.0.1:8501", True),
        ("[::1]:8501", True),
        ("192.168.1.20:8501", True),  # no name, so none that a stranger could lead here
        ("localhost.", True),
        ("hopscope.lan", False),
        ("", False),
        ("localhost@example.net", False),
        ("localhost/example.net", False),
        ("localhost:port", False),
        ("example.net#localhost", False),
    ],
)
def test_names_that_are_the_servers_own(host, right):
    assert is_allowed_host(host) is right


def test_a_configured_name_is_its_own(monkeypatch):
    known = {"server.address": "0.0.0.0", "browser.serverAddress": "Hopscope.lan"}
    monkeypatch.setattr(config, "get_option", known.get)
    assert is_allowed_host("hopscope.lan:8501") and not is_allowed_host(STRANGER)
    known["server.allowedHosts"] = ["*.example.com"]
    assert is_allowed_host("hopscope.example.com") and not is_allowed_host("hopscope.lan:8501")


def sent(address: str) -> tuple[int, str]:
    """Return the reply to a file that is sent once the first page was drawn."""
    cookies = asked(address, "/_stcore/health", urlsplit(address).netloc).headers["Set-Cookie"]
    token = cookies.partition("_streamlit_xsrf=")[2].partition(";")[0]
    with opened(address, urlsplit(address).netloc, address) as stream:
        rerun = BackMsg()
        rerun.rerun_script.query_string = ""
        stream.send(rerun.SerializeToString())
        session, drawn = "", False
        while not drawn:
            message = ForwardMsg.FromString(stream.recv(timeout=60))
            session = message.new_session.initialize.session_id or session
            drawn = message.HasField("script_finished")
        body = '--x\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\nabc\r\n--x--\r\n'
        headers = {
            "Content-Type": "multipart/form-data; boundary=x",
            "X-Xsrftoken": token,
            "Cookie": f"_streamlit_xsrf={token}",
        }
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)
        connection.request("PUT", f"/_stcore/upload_file/{session}/f", body, headers)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()


def test_files_of_those_who_did_not_sign_in_are_refused(tmp_path):
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text(SECRETS)
    homes = {"HOME": str(tmp_path), "HOPSCOPE_HOME": str(tmp_path / "home")}
    with server(HOPSCOPE_SHARED="1", **homes) as (url, _):
        assert sent(url) == (
            403,
            "Sign in first. Only visitors who may see the pages can upload files.\n",
        )


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    """Yield a server that people share, with public names and a page that may frame it.

    One of the names is that of a Space. Nobody can sign in there.
    """
    names = {"HOPSCOPE_HOSTS": "hopscope.example.com", "SPACE_HOST": "ann-hopscope.example.net"}
    shared = {"HOPSCOPE_SHARED": "1", "HOPSCOPE_HOME": str(tmp_path_factory.mktemp("public"))}
    with server(**names, **shared, HOPSCOPE_FRAMES="https://hub.example.org") as (url, _):
        yield url


def test_files_of_visitors_are_taken_where_nobody_can_sign_in(public):
    assert sent(public) == (204, "")


@pytest.mark.parametrize("name", ["hopscope.example.com", "ann-hopscope.example.net"])
def test_public_name_is_answered_and_its_pages_connect(public, name):
    assert asked(public, "/", name).status == 200
    with opened(public, name, f"https://{name}"):
        pass
    assert asked(public, "/", STRANGER).status == 421


def test_named_page_may_frame_it(public):
    headers = asked(public, "/", "hopscope.example.com").headers
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'self' https://hub.example.org" in policy
    assert headers["X-Frame-Options"] is None

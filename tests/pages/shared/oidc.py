"""A provider of OpenID Connect on loopback, which lets in at once whom the test names."""

from __future__ import annotations

import base64
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "hopscope", "only-for-the-test"


class Provider:
    """The provider, which lets in next the person whom `claims` describe.

    With `forged` it signs by a key that it does not publish.
    """

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {}
        self.forged = False
        self.key, self.other = (
            RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
            for _ in range(2)
        )
        self.codes: dict[str, dict[str, Any]] = {}
        self.server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"provider": self})
        )
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"

    def metadata(self) -> dict[str, Any]:
        ends = {
            "authorization_endpoint": "authorize",
            "token_endpoint": "token",
            "jwks_uri": "keys",
        }
        return {
            "issuer": self.issuer,
            **{name: f"{self.issuer}/{end}" for name, end in ends.items()},
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def authorized(self, asked: dict[str, str]) -> str:
        """The address to which who asked is sent back, with a code that serves once."""
        code = f"code-{len(self.codes)}"
        self.codes[code] = {**self.claims, "nonce": asked.get("nonce")}
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, code: str) -> dict[str, Any]:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "1",
            "iat": now,
            "exp": now + 600,
            **self.codes.pop(code),
        }
        signed = jwt.encode(
            {"alg": "RS256", "kid": "one"}, claims, self.other if self.forged else self.key
        )
        return {"access_token": "x", "token_type": "Bearer", "expires_in": 600, "id_token": signed}


class _Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/authorize":
            self.send_response(302)
            self.send_header(
                "Location",
                self.provider.authorized({k: v[0] for k, v in parse_qs(url.query).items()}),
            )
            self.end_headers()
        elif url.path == "/keys":
            self._reply({"keys": [self.provider.key.as_dict(private=False)]})
        else:
            self._reply(self.provider.metadata())

    def do_POST(self) -> None:
        given = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        known = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        assert self.headers.get("Authorization") == f"Basic {known}"
        self._reply(self.provider.token(given["code"][0]))

    def _reply(self, what: dict[str, Any]) -> None:
        body = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def provider():
    """A provider at work."""
    one = Provider()
    threading.Thread(target=one.server.serve_forever, daemon=True).start()
    try:
        yield one
    finally:
        one.server.shutdown()
        one.server.server_close()

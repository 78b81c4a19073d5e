"""HTTP API with a key for the calls of `core.serving.calls`, described by OpenAPI."""

from __future__ import annotations

import html
import secrets
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException as StarletteHTTPException

from core import __version__
from core.errors import BadInput, BadParameter, HopscopeError, UnknownEntity, shorten
from core.io.outside import MAX_LINE_LETTERS, MAX_LIST_ITEMS
from core.runtime.jobs import sentence
from core.serving import calls

if TYPE_CHECKING:
    from core.engine import Engine

MAX_BODY = 1 << 20  # most bytes of a request
Name = Annotated[str, Field(max_length=MAX_LINE_LETTERS)]
Names = Annotated[list[Name], Field(max_length=MAX_LIST_ITEMS)]
BEARER = HTTPBearer(auto_error=False)
Given = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]


class Sent(BaseModel):
    """The body of a request. A field that the call does not have is refused."""

    model_config = ConfigDict(extra="forbid")


class Asked(Sent):
    """Body of a request with a question and the graph or corpus to ask."""

    question: str = Field(min_length=1, max_length=calls.MAX_QUESTION)
    graph: Name = ""
    corpus: Name = ""
    entities: Names = []
    seed: int = 0
    items: int = Field(default=10, ge=1, le=calls.MAX_ITEMS)


class Compared(Asked):
    """Body of `/ask`: a question to several methods, with known answers."""

    methods: Names = []
    answers: Names = []
    gold: Names = []
    language_model: bool = False


class Retrieved(Asked):
    """Body of `/retrieve`: a question to one method."""

    method: Name = ""


class Evaluated(Sent):
    """Body of `/evaluate`: methods and a sample of a question set."""

    questions: Name
    methods: Names = Field(min_length=1)
    sample: int = Field(default=20, ge=1, le=calls.MAX_QUESTIONS)
    seed: int = 0
    language_model: bool = False


def api(engine: Engine, key: str) -> FastAPI:
    """Return the web application.

    Every call except `/health` and `/docs` needs the header `Authorization: Bearer KEY`.
    """

    def allowed(given: Given) -> None:
        if given is None or not secrets.compare_digest(given.credentials.encode(), key.encode()):
            raise HTTPException(
                401, "Send the key as “Authorization: Bearer KEY”.", {"WWW-Authenticate": "Bearer"}
            )

    made = FastAPI(
        title="Hopscope",
        version=__version__,
        description="Compare, retrieve and evaluate by methods of graph retrieval.",
        # FastAPI's own page loads scripts from other servers; `/docs` below does not.
        docs_url=None,
        redoc_url=None,
    )
    keyed: dict[str, Any] = {"dependencies": [Depends(allowed)]}

    @made.middleware("http")
    async def bounded(request: Request, call_next: Any) -> Any:
        length = request.headers.get("content-length", "0")
        if (
            not length.isdecimal()
            or int(length) > MAX_BODY
            or "chunked" in request.headers.get("transfer-encoding", "")
        ):
            return JSONResponse(
                {"error": f"A request has at most {MAX_BODY:,} bytes, and says how many."}, 413
            )
        return await call_next(request)

    _refuse_in_sentences(made)

    @made.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(docs_page(made.openapi()))

    @made.get("/health")
    def health() -> dict[str, str]:
        """Return the status and the version of the server."""
        return {"status": "ok", "version": __version__}

    @made.post("/ask", **keyed)
    def ask(asked: Compared) -> dict[str, Any]:
        """Ask one question by several methods.

        Returns the object of `hopscope ask --json`, with at most `items` paths and hits of each
        kind.
        """
        return calls.compare(engine, **asked.model_dump())

    @made.post("/retrieve", **keyed)
    def retrieve(asked: Retrieved) -> dict[str, Any]:
        """Return the items that one method retrieves, best first."""
        return calls.retrieve(engine, **asked.model_dump())

    @made.post("/evaluate", **keyed)
    def evaluate(asked: Evaluated) -> dict[str, Any]:
        """Evaluate methods on a sample of a question set. It answers once the whole run is done."""
        return calls.evaluate(engine, **asked.model_dump())

    @made.get("/methods", **keyed)
    def methods(words: str = "") -> list[dict[str, str]]:
        """Return the methods whose id, title or paper contains each of these words."""
        return calls.list_methods(words)

    @made.get("/sources", **keyed)
    def sources() -> list[dict[str, Any]]:
        """Return the graphs and corpora that can be asked, with their question sets."""
        return calls.list_sources()

    return made


def _refuse_in_sentences(made: FastAPI) -> None:
    """Answer every error with `{"error": "a sentence"}`."""

    @made.exception_handler(HopscopeError)
    async def refused(request: Request, error: HopscopeError) -> JSONResponse:
        wrong = isinstance(error, BadInput | BadParameter | UnknownEntity)
        return JSONResponse({"error": calls.refusal(error)}, 400 if wrong else 503)

    @made.exception_handler(RequestValidationError)
    async def unfit(request: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"error": shorten(_unfit(error), calls.MAX_SENTENCE)}, 400)

    @made.exception_handler(StarletteHTTPException)
    async def denied(request: Request, error: StarletteHTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)

    @made.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": shorten(sentence(error), calls.MAX_SENTENCE)}, 500)


def _unfit(error: RequestValidationError) -> str:
    """Describe the first fault in a request, with its field."""
    first = error.errors()[0]
    if first["type"] in ("json_invalid", "model_attributes_type", "missing") and len(
        first["loc"]
    ) < 2 + (first["type"] == "json_invalid"):
        return "Send a JSON object, with the header “Content-Type: application/json”."
    return calls.unfit(first["loc"][1:], first["type"], first["msg"])


def docs_page(schema: dict[str, Any]) -> str:
    """Return the documentation of the API as one HTML page that loads nothing.

    Parameters
    ----------
    schema : the OpenAPI description.
    """
    parts = [f"<h1>{html.escape(schema['info']['title'])}</h1>"]
    parts += [f"<p>{html.escape(schema['info']['description'])} "]
    parts += ['<a href="openapi.json">OpenAPI</a></p>']
    for path, calls_of in schema["paths"].items():
        for verb, call in calls_of.items():
            parts.append(f"<h2><code>{verb.upper()} {html.escape(path)}</code></h2>")
            parts.append(f"<p>{html.escape(call.get('description', ''))}</p>")
            parts.append(_fields_table(schema, call))
    style = (
        "body{font:16px/1.5 sans-serif;max-width:50em;margin:2em auto}"
        "td,th{text-align:left;padding:2px 12px 2px 0}"
    )
    return (
        "<!doctype html><meta charset=utf-8><title>Hopscope</title>"
        f"<style>{style}</style>{''.join(parts)}"
    )


def _fields_table(schema: dict[str, Any], call: dict[str, Any]) -> str:
    """Return the HTML table of a call's fields.

    Empty for a call without a body.
    """
    body = call.get("requestBody")
    if body is None:
        return ""
    name = body["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
    described = schema["components"]["schemas"][name]
    rows = []
    for field, about in described["properties"].items():
        needed = "needed" if field in described.get("required", ()) else repr(about.get("default"))
        rows.append(
            f"<tr><td><code>{field}</code><td>{about.get('type', '')}<td>{html.escape(needed)}"
        )
    return f"<table><tr><th>field<th>type<th>default{''.join(rows)}</table>"

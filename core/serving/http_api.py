"""Hopscope over HTTP: the calls of `core.serving.calls` as a small API with a key, described by OpenAPI."""

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

MAX_BODY = 1 << 20  # bytes of a request
Name = Annotated[str, Field(max_length=MAX_LINE_LETTERS)]
Names = Annotated[list[Name], Field(max_length=MAX_LIST_ITEMS)]
BEARER = HTTPBearer(auto_error=False)
Given = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]


class Sent(BaseModel):
    """The body of a request: a field that no call has is refused, as it would change nothing."""

    model_config = ConfigDict(extra="forbid")


class Asked(Sent):
    """A question, and what it is asked of."""

    question: str = Field(min_length=1, max_length=calls.MAX_QUESTION)
    graph: Name = ""
    corpus: Name = ""
    entities: Names = []
    seed: int = 0
    items: int = Field(default=10, ge=1, le=calls.MAX_ITEMS)


class Compared(Asked):
    """The same to several methods, with what is known to be right."""

    methods: Names = []
    answers: Names = []
    gold: Names = []
    language_model: bool = False


class Retrieved(Asked):
    """The same to one method."""

    method: Name = ""


class Evaluated(Sent):
    """Methods over a sample of a question set."""

    questions: Name
    methods: Names = Field(min_length=1)
    sample: int = Field(default=20, ge=1, le=calls.MAX_QUESTIONS)
    seed: int = 0
    language_model: bool = False


def api(engine: Engine, key: str) -> FastAPI:
    """The application. Every call but `/health` needs the header `Authorization: Bearer KEY`."""

    def allowed(given: Given) -> None:
        if given is None or not secrets.compare_digest(given.credentials.encode(), key.encode()):
            raise HTTPException(
                401, "Send the key as “Authorization: Bearer KEY”.", {"WWW-Authenticate": "Bearer"}
            )

    made = FastAPI(
        title="Hopscope",
        version=__version__,
        description="Compare, retrieve and evaluate by methods of graph retrieval.",
        docs_url=None,  # its page loads scripts from elsewhere
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
        """Whether it serves, and the version."""
        return {"status": "ok", "version": __version__}

    @made.post("/ask", **keyed)
    def ask(asked: Compared) -> dict[str, Any]:
        """One question to several methods: the object of `hopscope ask --json`, with at most `items` paths and hits of each kind."""
        return calls.compare(engine, **asked.model_dump())

    @made.post("/retrieve", **keyed)
    def retrieve(asked: Retrieved) -> dict[str, Any]:
        """What one method retrieves, best first."""
        return calls.retrieve(engine, **asked.model_dump())

    @made.post("/evaluate", **keyed)
    def evaluate(asked: Evaluated) -> dict[str, Any]:
        """Methods over a sample of a question set; answers once all is done."""
        return calls.evaluate(engine, **asked.model_dump())

    @made.get("/methods", **keyed)
    def methods(words: str = "") -> list[dict[str, str]]:
        """Methods whose id, title or paper has each of these words."""
        return calls.list_methods(words)

    @made.get("/sources", **keyed)
    def sources() -> list[dict[str, Any]]:
        """Graphs and corpora that can be asked, with their question sets."""
        return calls.list_sources()

    return made


def _refuse_in_sentences(made: FastAPI) -> None:
    """Answer every refusal with `{"error": "a sentence"}`."""

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
    """Say the first thing that is wrong in a request, with its field."""
    first = error.errors()[0]
    if first["type"] in ("json_invalid", "model_attributes_type", "missing") and len(
        first["loc"]
    ) < 2 + (first["type"] == "json_invalid"):
        return "Send a JSON object, with the header “Content-Type: application/json”."
    return calls.unfit(first["loc"][1:], first["type"], first["msg"])


def docs_page(schema: dict[str, Any]) -> str:
    """Return the description of the calls as a page of HTML that loads nothing.

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
    style = "body{font:16px/1.5 sans-serif;max-width:50em;margin:2em auto}td,th{text-align:left;padding:2px 12px 2px 0}"
    return f"<!doctype html><meta charset=utf-8><title>Hopscope</title><style>{style}</style>{''.join(parts)}"


def _fields_table(schema: dict[str, Any], call: dict[str, Any]) -> str:
    """Return the table of a call's fields; empty for one without a body."""
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

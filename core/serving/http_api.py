"""HTTP API with a key for the calls of `core.serving.calls`, described by OpenAPI.

The descriptions of the routes are their docstrings.
"""

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
from core.errors import BadInput, BadParameter, HopscopeError, UnknownEntity
from core.io.input_checks import MAX_LINE_LETTERS, MAX_LIST_ITEMS
from core.runtime.jobs import error_sentence
from core.serving import calls

if TYPE_CHECKING:
    from core.engine import Engine

MAX_BODY_BYTES = 1 << 20  # most bytes of a request
BoundedName = Annotated[str, Field(max_length=MAX_LINE_LETTERS)]
BoundedNames = Annotated[list[BoundedName], Field(max_length=MAX_LIST_ITEMS)]
BEARER_SCHEME = HTTPBearer(auto_error=False)
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER_SCHEME)]


class RequestBody(BaseModel):
    """The body of a request. A field that the call does not have is refused."""

    model_config = ConfigDict(extra="forbid")


class QuestionRequest(RequestBody):
    """Body of a request with a question and the graph or corpus to ask."""

    question: str = Field(min_length=1, max_length=calls.SERVING.max_question_characters)
    graph: BoundedName = ""
    corpus: BoundedName = ""
    entities: BoundedNames = []
    seed: int = 0
    items: int = Field(default=10, ge=1, le=calls.SERVING.max_lane_items)


class CompareRequest(QuestionRequest):
    """Body of `/ask`: a question to several methods, with known answers."""

    methods: BoundedNames = []
    answers: BoundedNames = []
    gold: BoundedNames = []
    language_model: bool = False


class RetrieveRequest(QuestionRequest):
    """Body of `/retrieve`: a question to one method."""

    method: BoundedName = ""


class EvaluateRequest(RequestBody):
    """Body of `/evaluate`: methods and a sample of a question set."""

    questions: BoundedName
    methods: BoundedNames = Field(min_length=1)
    sample: int = Field(default=20, ge=1, le=calls.SERVING.max_sample_questions)
    seed: int = 0
    language_model: bool = False


def make_api(engine: Engine, key: str) -> FastAPI:
    """Return the web application of an engine.

    Every call except `/health` and `/docs` needs the header `Authorization: Bearer KEY`.
    """

    def check_key(credentials: Credentials) -> None:
        # The comparison takes the same time for every wrong key, so the key cannot be guessed by
        # time.
        if credentials is None or not secrets.compare_digest(
            credentials.credentials.encode(), key.encode()
        ):
            raise HTTPException(
                401, "Send the key as “Authorization: Bearer KEY”.", {"WWW-Authenticate": "Bearer"}
            )

    web_app = FastAPI(
        title="Hopscope",
        version=__version__,
        description="Compare, retrieve and evaluate by methods of graph retrieval.",
        # FastAPI's own page loads scripts from other servers; `/docs` below does not.
        docs_url=None,
        redoc_url=None,
    )
    key_check: dict[str, Any] = {"dependencies": [Depends(check_key)]}

    @web_app.middleware("http")
    async def check_body_size(request: Request, call_next: Any) -> Any:
        # A chunked request does not say its length, so it could be of any size.
        length = request.headers.get("content-length", "0")
        if (
            not length.isdecimal()
            or int(length) > MAX_BODY_BYTES
            or "chunked" in request.headers.get("transfer-encoding", "")
        ):
            return JSONResponse(
                {"error": f"A request has at most {MAX_BODY_BYTES:,} bytes, and says how many."},
                413,
            )
        return await call_next(request)

    _add_error_handlers(web_app)

    @web_app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(docs_page(web_app.openapi()))

    @web_app.get("/health")
    def health() -> dict[str, str]:
        """Return the status and the version of the server."""
        return {"status": "ok", "version": __version__}

    @web_app.post("/ask", **key_check)
    def ask(body: CompareRequest) -> dict[str, Any]:
        """Ask one question by several methods.

        Returns the object of `hopscope ask --json`, with at most `items` paths and hits of each
        kind.
        """
        return calls.compare(engine, **body.model_dump())

    @web_app.post("/retrieve", **key_check)
    def retrieve(body: RetrieveRequest) -> dict[str, Any]:
        """Return the items that one method retrieves, best first."""
        return calls.retrieve(engine, **body.model_dump())

    @web_app.post("/evaluate", **key_check)
    def evaluate(body: EvaluateRequest) -> dict[str, Any]:
        """Evaluate methods on a sample of a question set. It answers once the whole run is done."""
        return calls.evaluate(engine, **body.model_dump())

    @web_app.get("/methods", **key_check)
    def methods(words: str = "") -> list[dict[str, str]]:
        """Return the methods whose id, title or paper contains each of these words."""
        return calls.list_methods(words)

    @web_app.get("/sources", **key_check)
    def sources() -> list[dict[str, Any]]:
        """Return the graphs and corpora that can be asked, with their question sets."""
        return calls.list_sources()

    return web_app


def _add_error_handlers(web_app: FastAPI) -> None:
    """Answer every error with `{"error": "a sentence"}`."""

    @web_app.exception_handler(HopscopeError)
    async def answer_hopscope_error(request: Request, error: HopscopeError) -> JSONResponse:
        is_wrong_input = isinstance(error, BadInput | BadParameter | UnknownEntity)
        return JSONResponse({"error": calls.short_message(error)}, 400 if is_wrong_input else 503)

    @web_app.exception_handler(RequestValidationError)
    async def answer_invalid_body(request: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"error": calls.short_message(_request_fault(error))}, 400)

    @web_app.exception_handler(StarletteHTTPException)
    async def answer_http_error(request: Request, error: StarletteHTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)

    @web_app.exception_handler(Exception)
    async def answer_other_error(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": calls.short_message(error_sentence(error))}, 500)


def _request_fault(error: RequestValidationError) -> str:
    """Describe the first fault in a request, with its field."""
    fault = error.errors()[0]
    kind, location = fault["type"], fault["loc"]  # the location begins with “body”
    is_missing = kind in ("model_attributes_type", "missing") and len(location) < 2
    # The location of broken JSON also has the position in the text.
    if is_missing or (kind == "json_invalid" and len(location) < 3):
        return "Send a JSON object, with the header “Content-Type: application/json”."
    return calls.describe_field_fault(location[1:], kind, fault["msg"])


def docs_page(schema: dict[str, Any]) -> str:
    """Return the documentation of the API as one HTML page that loads nothing.

    Parameters
    ----------
    schema : the OpenAPI description.
    """
    parts = [
        f"<h1>{html.escape(schema['info']['title'])}</h1>",
        f"<p>{html.escape(schema['info']['description'])} ",
        '<a href="openapi.json">OpenAPI</a></p>',
    ]
    for path, path_calls in schema["paths"].items():
        for verb, call in path_calls.items():
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
    """Return the HTML table of a call's fields. Empty for a call without a body."""
    body = call.get("requestBody")
    if body is None:
        return ""
    name = body["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
    model = schema["components"]["schemas"][name]
    rows = []
    for field, details in model["properties"].items():
        default = "needed" if field in model.get("required", ()) else repr(details.get("default"))
        rows.append(
            f"<tr><td><code>{field}</code><td>{details.get('type', '')}<td>{html.escape(default)}"
        )
    return f"<table><tr><th>field<th>type<th>default{''.join(rows)}</table>"

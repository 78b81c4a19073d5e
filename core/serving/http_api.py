"""HTTP API with a key for the calls of `core.serving.served_calls`, described by OpenAPI.

The descriptions of the paths are the docstrings of their functions.
"""

from __future__ import annotations

import html
import secrets
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, create_model
from starlette.exceptions import HTTPException as StarletteHTTPException

from core import __version__
from core.errors import BadInput, BadParameter, HopscopeError, UnknownEntity
from core.io.json_text import json_text
from core.runtime.jobs import error_sentence
from core.serving import calls
from core.serving.served_calls import SERVED_CALLS, CallJobs, ServedCall, describe, run_call

if TYPE_CHECKING:
    from core.engine import Engine

MAX_BODY_BYTES = 1 << 20  # most bytes of a request
OLD_PATHS = {"compare": "/ask"}  # earlier paths of calls, which still work
# The page of the documentation has styles of its own, and the browser loads nothing else.
DOCS_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
BEARER_SCHEME = HTTPBearer(auto_error=False)
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER_SCHEME)]


class RequestBody(BaseModel):
    """The body of a request. A field that the call does not have is refused."""

    model_config = ConfigDict(extra="forbid")


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
        description="Compare, retrieve, explain and evaluate by methods of graph retrieval. Send the "
        "key of the server as “Authorization: Bearer KEY”.",
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
        page = docs_page(web_app.openapi())
        return HTMLResponse(page, headers={"Content-Security-Policy": DOCS_POLICY})

    @web_app.get("/health")
    def health() -> dict[str, str]:
        """Return the status and the version of the server."""
        return {"status": "ok", "version": __version__}

    jobs = CallJobs()
    for call in SERVED_CALLS:
        _add_call(web_app, call, partial(run_call, call, engine, jobs), key_check)
    _add_lists(web_app, key_check)
    web_app.get("/jobs/{job}", **key_check)(jobs.state)
    web_app.delete("/jobs/{job}", **key_check)(jobs.cancel)
    return web_app


def _add_call(
    web_app: FastAPI,
    call: ServedCall,
    run: Callable[[dict[str, Any]], Any],
    key_check: dict[str, Any],
) -> None:
    """Add the path of a call, with a body that has its fields."""
    body_name = f"{call.name.replace('_', ' ').title().replace(' ', '')}Request"
    body_class: Any = create_model(body_name, __base__=RequestBody, **cast(Any, call.fields))

    def answer(body: Any) -> Any:
        arguments = body.model_dump()
        if arguments.get("wait", True):
            return run(arguments)
        return JSONResponse(run(arguments), 202)

    answer.__annotations__ = {"body": body_class, "return": dict[str, Any]}
    options: dict[str, Any] = {"name": call.name, "description": call.description, **key_check}
    web_app.post(f"/{call.name}", **options)(answer)
    if call.name in OLD_PATHS:
        web_app.post(OLD_PATHS[call.name], include_in_schema=False, **options)(answer)


def _add_lists(web_app: FastAPI, key_check: dict[str, Any]) -> None:
    """Add the paths of methods, sources and saved comparisons."""
    functions: dict[str, Callable[..., Any]] = {
        "/methods": calls.list_methods,
        "/sources": calls.list_sources,
        "/cases": calls.list_cases,
        "/cases/{case}": calls.open_case,
    }
    for path, function in functions.items():
        web_app.get(path, description=describe(function), **key_check)(function)


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
            paragraphs = call.get("description", "").split("\n\n")
            parts += [f"<p>{html.escape(text)}</p>" for text in paragraphs]
            parts.append(_fields_table(schema, call))
    style = (
        "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
        "td,th{text-align:left;vertical-align:top;padding:2px 12px 2px 0}"
    )
    return (
        "<!doctype html><meta charset=utf-8><title>Hopscope</title>"
        f"<style>{style}</style>{''.join(parts)}"
    )


def _fields_table(schema: dict[str, Any], call: dict[str, Any]) -> str:
    """Return the HTML table of a call's fields. Empty for a call without any."""
    fields = {
        field["name"]: field["schema"] | {"is_needed": field["required"]}
        for field in call.get("parameters", ())
    }
    if "requestBody" in call:
        name = call["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        model = schema["components"]["schemas"][name.rsplit("/", 1)[1]]
        for field, details in model["properties"].items():
            fields[field] = details | {"is_needed": field in model.get("required", ())}
    rows = []
    for field, details in fields.items():
        default = "needed" if details["is_needed"] else json_text(details.get("default"))
        cells = (details.get("type", ""), default, details.get("description", ""))
        rows.append(f"<tr><td><code>{field}</code><td>{'<td>'.join(map(html.escape, cells))}")
    head = "<tr><th>field<th>type<th>default<th>meaning"
    return f"<table>{head}{''.join(rows)}</table>" if rows else ""

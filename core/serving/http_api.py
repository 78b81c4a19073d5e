"""Hopscope over HTTP: the calls of `core.serving.calls` as a small API with a key, described by OpenAPI."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

from core import __version__
from core.errors import BadInput, BadParameter, HopscopeError, UnknownEntity
from core.serving import calls

if TYPE_CHECKING:
    from core.engine import Engine

MAX_BODY = 1 << 20  # bytes of a request
MAX_LIST, MAX_NAME, MAX_QUESTION = (
    64,
    2_000,
    20_000,
)  # names in a list, characters of a name or a line, and of a question
Name = Annotated[str, Field(max_length=MAX_NAME)]
Names = Annotated[list[Name], Field(max_length=MAX_LIST)]
BEARER = HTTPBearer(auto_error=False)
Given = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]


class Asked(BaseModel):
    """A question, and what it is asked of."""

    question: str = Field(min_length=1, max_length=MAX_QUESTION)
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


class Evaluated(BaseModel):
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

    @made.exception_handler(HopscopeError)
    async def said(request: Request, error: HopscopeError) -> JSONResponse:
        return JSONResponse(
            {"error": str(error)},
            400 if isinstance(error, BadInput | BadParameter | UnknownEntity) else 503,
        )

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
        return calls.list_methods(words[:MAX_NAME])

    @made.get("/sources", **keyed)
    def sources() -> list[dict[str, Any]]:
        """Graphs and corpora that can be asked, with their question sets."""
        return calls.list_sources()

    return made

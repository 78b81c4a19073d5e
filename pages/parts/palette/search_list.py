"""List of what the command palette finds, served to the browser as JSON.

The browser requests it when the palette opens, so a run of a page sends none of it. The questions
of a set are requested once words are typed, one set after the other.
"""

from __future__ import annotations

from hmac import compare_digest
from itertools import islice
from secrets import token_urlsafe
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from core.cases import cases
from core.errors import HopscopeError
from core.methods.catalogue import catalogue
from core.sources import AnswerSource, available_sources, source_in
from pages.parts.shared.wording import tr

LIST_FILE = "command-palette.json"
MAX_SET_QUESTIONS = 20_000  # most questions of a set that are sent to a browser
# Only visitors who may see the pages get this key. A sign-in guards the pages, not this address.
_ACCESS_KEY = token_urlsafe(16)


def list_address(source: AnswerSource) -> str:
    """Return the address of the list for a chosen graph or corpus, relative to the app's root."""
    return f"{LIST_FILE}?{urlencode({**source.parameters, 'key': _ACCESS_KEY})}"


def serve_list(request: Request) -> Response:
    """Reply with the list for a graph or corpus, or with the questions of one of its sets."""
    query = request.query_params
    source = source_in(query)
    if source is None or not compare_digest(query.get("key", "").encode(), _ACCESS_KEY.encode()):
        return PlainTextResponse("There is no such list.\n", 404)
    try:
        content = set_questions(source, query["set"]) if "set" in query else list_entries(source)
    except HopscopeError as error:
        return PlainTextResponse(str(error), 500)
    return JSONResponse(content)


def list_entries(source: AnswerSource) -> dict[str, Any]:
    """Return the methods, graphs, documents and cases, and the titles of the question sets."""
    entries = [
        {
            "kind": "method",
            "id": method.id,
            "title": tr(method.label),
            "name": method.secondary_name,
            "note": " · ".join(
                (method.typed_name, *([tr(method.title)] if method.title != method.label else []))
            ),
            "adds": method.is_for(source),  # else the method can only be opened in Build
        }
        for method in catalogue().values()
    ]
    for listed, title in available_sources().items():
        entries.append({"kind": listed.kind, "id": listed.name, "title": title})
    for case in cases():
        note = ", ".join(map(tr, case.method_labels))
        entries.append({"kind": "case", "id": case.id, "title": case.question, "note": note})
    return {"entries": entries, "sets": dict(source.sets)}


def set_questions(source: AnswerSource, set_name: str) -> dict[str, Any]:
    """Return the texts of a set's first questions, and their number in the whole set."""
    questions = source.questions(set_name)
    texts = [question.text for question in islice(questions, MAX_SET_QUESTIONS)]
    return {"questions": texts, "total": len(questions)}

"""Server of the Model Context Protocol.

Its tools, which agents call, are the functions of `core.serving.calls`. Its resources are the saved
comparisons (cases).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from core import __version__
from core.cases import cases, comparison_of_case
from core.errors import HopscopeError, with_command
from core.io.input_checks import checked_text
from core.io.json_text import json_text, without_nan
from core.results import comparison_dict
from core.runtime.jobs import error_sentence
from core.serving import calls

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from core.engine import Engine

CallT = TypeVar("CallT")
SERVER_INSTRUCTIONS = """Hopscope compares methods of graph retrieval. Ask `list_sources` for what can be asked \
and `list_methods` for methods;
`compare` puts one question to several of them, `explain_loss` says at which step a correct answer \
was lost, `evaluate` scores methods over a
question set."""


def make_server(engine: Engine) -> MCPServer:
    """Return a server with all tools and resources.

    Raises HopscopeError if the library `mcp` is not installed.
    """
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ResourceError, ToolError
        from pydantic import ValidationError
    except ImportError:
        raise HopscopeError(
            with_command(
                "The Model Context Protocol needs its library, which is not installed.",
                "pip install mcp",
            )
        ) from None

    class StrictServer(MCPServer):
        """A server that answers wrong or unknown arguments of a tool with one sentence."""

        async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
            for tool in await self.list_tools():
                unknown = set(arguments) - set(tool.input_schema["properties"])
                if tool.name == name and unknown:
                    raise ToolError(
                        calls.describe_field_fault([min(unknown)], "extra_forbidden", "")
                    )
            try:
                return await super().call_tool(name, arguments, context)
            except ToolError as error:
                if not isinstance(error.__cause__, ValidationError):
                    raise
                fault = error.__cause__.errors()[0]
                sentence = calls.describe_field_fault(fault["loc"], fault["type"], fault["msg"])
                raise ToolError(calls.short_message(sentence)) from error

    mcp_server = StrictServer("hopscope", version=__version__, instructions=SERVER_INSTRUCTIONS)

    async def run_in_thread(work: Callable[[], CallT]) -> CallT:
        """Run a call in a thread and return its plain result.

        Errors become tool errors with the sentence that a person would see.
        """
        try:
            return without_nan(await asyncio.to_thread(work))
        except HopscopeError as error:
            raise ToolError(calls.short_message(error)) from None
        except Exception as error:
            raise ToolError(calls.short_message(error_sentence(error))) from error

    @mcp_server.tool()
    async def compare(
        question: str,
        methods: list[str] | None = None,
        graph: str = "",
        corpus: str = "",
        entities: list[str] | None = None,
        answers: list[str] | None = None,
        gold: list[str] | None = None,
        language_model: bool = False,
        items: int = 10,
    ) -> dict[str, Any]:
        """Compare up to eight methods on one question, side by side.

        `methods` are names of list_methods or lines of operators. The question goes to a `graph`
        (default: metaqa) or to the documents of a `corpus`. `answers` or `gold` (document ids) are
        the known correct answers. Returns for each lane the answer, paths, hits, prompt, cost, and
        the known answers that are left at each stage.
        """
        arguments = (
            question,
            methods or (),
            graph,
            corpus,
            entities or (),
            answers or (),
            gold or (),
            language_model,
        )
        return await run_in_thread(lambda: calls.compare(engine, *arguments, items=items))

    @mcp_server.tool()
    async def retrieve(
        question: str,
        method: str = "",
        graph: str = "",
        corpus: str = "",
        entities: list[str] | None = None,
        items: int = 10,
    ) -> dict[str, Any]:
        """Return the items that one method retrieves for a question, without an answer.

        The items are paths, passages, entities or relations with scores, best first.
        """
        return await run_in_thread(
            lambda: calls.retrieve(engine, question, method, graph, corpus, entities or (), items)
        )

    @mcp_server.tool()
    async def explain_loss(
        question: str,
        methods: list[str] | None = None,
        graph: str = "",
        corpus: str = "",
        answers: list[str] | None = None,
        gold: list[str] | None = None,
    ) -> dict[str, Any]:
        """Explain at which step each method lost the known answers, and why.

        On documents, `gold` names the documents that hold the evidence, in place of `answers`.
        """
        return await run_in_thread(
            lambda: calls.explain_loss(
                engine, question, methods or (), graph, corpus, answers or (), gold or ()
            )
        )

    @mcp_server.tool()
    async def evaluate(
        questions: str, methods: list[str], sample: int = 20, language_model: bool = False
    ) -> dict[str, Any]:
        """Evaluate methods on a sample of a question set of list_sources.

        It takes seconds per question. The run is saved, and a later call with the same arguments
        continues it.
        """
        return await run_in_thread(
            partial(
                calls.evaluate, engine, questions, methods, sample, language_model=language_model
            )
        )

    @mcp_server.tool()
    async def list_methods(words: str = "") -> list[dict[str, str]]:
        """Return the methods whose id, title or paper contains each of these words."""
        return await run_in_thread(lambda: calls.list_methods(words))

    @mcp_server.tool()
    async def list_sources() -> list[dict[str, Any]]:
        """Return the graphs and corpora that can be asked, with their question sets."""
        return await run_in_thread(calls.list_sources)

    @mcp_server.tool()
    async def build_graph(
        corpus: str, graph: str = "rkg", extractor: str = "names"
    ) -> dict[str, Any]:
        """Build a graph of a corpus.

        Entities are noun phrases, unless `extractor` names a language model (llm), which takes long
        and may cost money.
        """
        return await run_in_thread(lambda: calls.build_graph(engine, corpus, graph, extractor))

    @mcp_server.resource("hopscope://cases", mime_type="application/json")
    def saved_cases() -> str:
        """Return the saved comparisons: id, question, methods and notes."""
        rows = []
        for case in cases():
            row = {"id": case.id, "question": case.question}
            rows.append(row | {"methods": list(case.methods), "notes": case.notes})
        return json_text(rows)

    @mcp_server.resource("hopscope://cases/{case}", mime_type="application/json")
    def saved_case(case: str) -> str:
        """Return one saved comparison in the form of `compare`."""
        try:
            comparison = comparison_dict(comparison_of_case(checked_text(case, "case")))
        except HopscopeError as error:
            raise ResourceError(calls.short_message(error)) from None
        return json_text(calls.bound_reply(comparison, calls.SERVING.max_lane_items))

    return mcp_server

"""Server of the Model Context Protocol.

Its tools, which agents call, are those of `core.serving.served_calls`. Its resources are the saved
comparisons (cases).
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from core import __version__
from core.errors import HopscopeError, RunCancelled, with_command
from core.io.json_text import json_text, without_nan
from core.runtime.jobs import error_sentence
from core.serving import calls
from core.serving.served_calls import SERVED_CALLS, CallJobs, ServedCall, describe, run_call
from core.watch import Watch

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from core.engine import Engine

OLD_NAMES = {"explain_loss": "why_lost"}  # earlier names of tools, which still work
SERVER_INSTRUCTIONS = """Hopscope compares methods of graph retrieval. Ask `list_sources` for what \
can be asked and `list_methods` for methods. `compare` puts one question to several of them, and \
with `without` asks again with something taken away. `why_lost` says at which step a correct \
answer was lost, `evaluate` scores methods over a question set, and `advise` says whether documents \
need a graph. The last two take minutes: with `wait` false they reply with the id of a job for \
`get_job` and `cancel_job`."""


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
            name = OLD_NAMES.get(name, name)
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

    jobs = CallJobs()
    for call in SERVED_CALLS:
        tool = _make_tool(call, partial(run_call, call, engine, jobs))
        mcp_server.add_tool(tool, call.name, description=call.description)
    functions: dict[str, Callable[..., Any]] = {
        "list_methods": calls.list_methods,
        "list_sources": calls.list_sources,
        "get_job": jobs.state,
        "cancel_job": jobs.cancel,
    }
    for name, function in functions.items():
        mcp_server.add_tool(_in_thread(function), name, description=describe(function))

    @mcp_server.resource("hopscope://cases", mime_type="application/json")
    def saved_cases() -> str:
        """Return the saved comparisons: id, question, methods and notes."""
        return json_text(calls.list_cases())

    @mcp_server.resource("hopscope://cases/{case}", mime_type="application/json")
    def saved_case(case: str) -> str:
        """Return one saved comparison in the form of `compare`."""
        try:
            return json_text(calls.open_case(case))
        except HopscopeError as error:
            raise ResourceError(calls.short_message(error)) from None

    return mcp_server


def _make_tool(call: ServedCall, run: Callable[..., Any]) -> Callable[..., Any]:
    """Return the tool of a call, with a parameter for each field.

    It reports its progress to the client, and stops a long call if the client cancels.
    """
    from mcp.server.mcpserver import Context

    async def answer(context: Any, **arguments: Any) -> Any:
        cancelled = threading.Event()
        watch = _client_watch(context, cancelled)
        try:
            return await _run_in_thread(partial(run, arguments, watch))
        finally:
            cancelled.set()

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("context", kind, annotation=Context)]
    for name, (hint, default) in call.fields.items():
        value = inspect.Parameter.empty if default is ... else default
        parameters.append(inspect.Parameter(name, kind, default=value, annotation=hint))
    signature = inspect.Signature(parameters, return_annotation=dict[str, Any])
    answer.__name__ = call.name
    vars(answer)["__signature__"] = signature
    answer.__annotations__ = {"context": Context}
    return answer


def _in_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a tool that runs a function in a thread."""

    @wraps(function)
    async def answer(**arguments: Any) -> Any:
        return await _run_in_thread(partial(function, **arguments))

    return answer


async def _run_in_thread(work: Callable[[], Any]) -> Any:
    """Run a call in a thread and return its plain result.

    Errors become tool errors with the sentence that a person would see.
    """
    from mcp.server.mcpserver.exceptions import ToolError

    try:
        return without_nan(await asyncio.to_thread(work))
    except HopscopeError as error:
        raise ToolError(calls.short_message(error)) from None
    except Exception as error:
        raise ToolError(calls.short_message(error_sentence(error))) from error


def _client_watch(context: Any, cancelled: threading.Event) -> Watch:
    """Return the watch of a call, which sends its progress to the client.

    The protocol wants a growing number, so a report without a larger fraction is not sent.
    """
    loop = asyncio.get_running_loop()
    last_fraction = -1.0

    def check() -> None:
        if cancelled.is_set():
            raise RunCancelled()

    def report(text: str, fraction: float | None = None) -> None:
        nonlocal last_fraction
        if fraction is not None and fraction > last_fraction and not cancelled.is_set():
            last_fraction = fraction
            progress = context.report_progress(fraction, 1.0, text)
            asyncio.run_coroutine_threadsafe(progress, loop)

    return Watch(check, report)

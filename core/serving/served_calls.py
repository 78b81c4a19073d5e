"""The calls that both servers offer, by the same names and fields.

Names, types, defaults and descriptions of the fields are those of the functions in
`core.serving.calls`.
"""

from __future__ import annotations

import inspect
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from core.errors import BadInput, HopscopeError, shorten
from core.runtime.jobs import Job, Jobs
from core.serving import calls
from core.watch import NO_WATCH, Watch

if TYPE_CHECKING:
    from core.engine import Engine

SECTION_TITLE = re.compile(r"\n+^(\w+)\n-{3,}\n", re.MULTILINE)
PARAMETER = re.compile(r"^(\S.*?) : (.*(?:\n    .*)*)", re.MULTILINE)
WAIT_TEXT = (
    "False replies at once with the id of a job, for the calls that follow and cancel one; True "
    "replies with the result."
)
JOB_ID_BYTES = 12


@dataclass(frozen=True)
class ServedCall:
    """A function of `core.serving.calls` under the name by which the servers offer it.

    Parameters
    ----------
    name : name of the tool, and of the path.
    function : name of the function.
    is_long : True if it may run for minutes, and then also as a job.
    """

    name: str
    function: str
    is_long: bool = False

    def run(self, engine: Engine, arguments: dict[str, Any], watch: Watch = NO_WATCH) -> Any:
        """Call the function. The watch is for a long call alone."""
        extra = {"watch": watch} if self.is_long else {}
        return self._function(engine, **arguments, **extra)

    @property
    def description(self) -> str:
        """Text on the purpose and the result of the call, without its fields."""
        returns = self._sections["Returns"]
        return f"{describe(self._function)}\n\nReturns: {returns}"

    @property
    def fields(self) -> dict[str, tuple[Any, Any]]:
        """Annotated type and default of each field, by its name; an ellipsis if it is needed."""
        from pydantic import Field

        hints = get_type_hints(self._function, localns={"Engine": object})
        texts: dict[str, str] = {}
        for names, text in PARAMETER.findall(self._sections["Parameters"]):
            texts |= dict.fromkeys(names.split(", "), " ".join(text.split()))
        fields: dict[str, tuple[Any, Any]] = {}
        for name, parameter in inspect.signature(self._function).parameters.items():
            if name in ("engine", "watch"):
                continue
            is_needed = parameter.default is inspect.Parameter.empty
            fields[name] = (
                Annotated[hints[name], Field(description=texts[name])],
                ... if is_needed else parameter.default,
            )
        if self.is_long:
            fields["wait"] = (Annotated[bool, Field(description=WAIT_TEXT)], True)
        return fields

    @property
    def _sections(self) -> dict[str, str]:
        """The sections of the docstring, by their titles."""
        _, *parts = SECTION_TITLE.split(inspect.getdoc(self._function) or "")
        return dict(zip(parts[::2], parts[1::2]))

    @property
    def _function(self) -> Callable[..., Any]:
        return getattr(calls, self.function)


def describe(function: Callable[..., Any]) -> str:
    """Return the docstring of a function without its sections and examples."""
    return SECTION_TITLE.split(inspect.getdoc(function) or "")[0].split("\n\n>>>")[0]


SERVED_CALLS = (
    ServedCall("compare", "compare"),
    ServedCall("retrieve", "retrieve"),
    ServedCall("why_lost", "explain_loss"),
    ServedCall("evaluate", "evaluate", is_long=True),
    ServedCall("advise", "advise", is_long=True),
    ServedCall("build_graph", "build_graph", is_long=True),
)


class CallJobs:
    """Long calls that run while their callers do something else.

    The id of a job is known to its caller alone.
    """

    def __init__(self) -> None:
        self._jobs = Jobs(calls.SERVING.max_open_jobs)

    def start(self, work: Callable[[Watch], Any]) -> dict[str, Any]:
        """Start a job and return its state. Raises HopscopeError if too many have not ended."""
        open_jobs = [job for job in self._jobs.with_key_prefix("") if not job.has_ended]
        if len(open_jobs) >= calls.SERVING.max_open_jobs:
            raise HopscopeError(
                f"“wait”: {len(open_jobs)} jobs are running, and no more are taken; cancel one, or "
                "ask again later."
            )
        job_id = secrets.token_urlsafe(JOB_ID_BYTES)
        self._jobs.run(job_id, work)
        return self.state(job_id)

    def state(self, job: str) -> dict[str, Any]:
        """Return the state of a job, by its id.

        It has `job`, `status` (waiting, running, done, failed, cancelled), `text`, `fraction` (the
        part that is done, or null), `error`, and `result` once it is done.
        """
        found_job = self._find_job(job)
        fields = ("status", "text", "fraction", "error", "result")
        return {"job": job} | {name: getattr(found_job, name) for name in fields}

    def cancel(self, job: str) -> dict[str, Any]:
        """Ask a job to stop, by its id, and return its state. What is done stays saved."""
        self._find_job(job).stop()
        return self.state(job)

    def _find_job(self, job: str) -> Job:
        found_job = self._jobs.get(job)
        if found_job is None:
            raise BadInput(f"“job”: there is no job “{shorten(job)}” here.")
        return found_job


def run_call(
    call: ServedCall,
    engine: Engine,
    jobs: CallJobs,
    arguments: dict[str, Any],
    watch: Watch = NO_WATCH,
) -> Any:
    """Run a call, or start it as a job if its field `wait` is false.

    Returns the result of the call, or the state of the job.
    """
    if arguments.pop("wait", True):
        return call.run(engine, arguments, watch)
    return jobs.start(partial(call.run, engine, arguments))

"""Measurement of a language model server's abilities in the background.

Abilities are its context length, streaming, schemas and the like. The model's card shows them.
"""

from __future__ import annotations

from functools import partial

from core.models.registry import ModelInfo
from core.runtime.jobs import JOB_DONE
from core.sharing import current_person
from pages.parts.shared.actions import button
from pages.parts.shared.job_progress import draw_job
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine
from pages.parts.shared.wording import tr


def begin_measure(name: str) -> None:
    """Start to measure the abilities of a model's server."""
    registry = engine().models
    engine().jobs.run(f"measure-{name}", lambda job: registry.measure(name, job), again=True)


def draw_abilities(info: ModelInfo) -> None:
    """Draw the measured abilities of a server, the progress, or a note that there are none."""
    job = engine().jobs.get(f"measure-{info.name}")
    if job is not None and not (job.has_ended and job.status == JOB_DONE):
        draw_job(job, f"measure-{info.name}", tr("The measurement did not finish."))
        if not job.has_ended:
            return
    if info.profile is not None:
        caption(
            "Measured {measured}: {sentences}.",
            measured=info.profile.measured,
            sentences="; ".join(info.profile.sentences()),
        )
    elif job is None and current_person().administrator:
        caption("Not measured yet. Its context length and other abilities are unknown.")


def draw_measure_button(info: ModelInfo) -> None:
    """Draw the button that measures a server, or measures it again."""
    job = engine().jobs.get(f"measure-{info.name}")
    if job is None or job.has_ended:
        button(
            tr("Measure again") if info.profile else tr("Measure"),
            partial(begin_measure, info.name),
            key=f"measure-{info.name}",
            icon="speed",
            type="tertiary",
            help=tr(
                "Sends about twenty requests: context length, streaming, schemas, and more. Takes "
                "a minute or two."
            ),
        )

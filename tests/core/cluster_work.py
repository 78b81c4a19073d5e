"""Work that tests of the cluster give to workers."""

import os
import signal
from pathlib import Path

from core.builds.facts import ChunkEntity, Facts
from core.errors import BadInput
from core.models.base import ChatReply


def square(number):
    return number * number


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(flag):
    """Dies where the file is not there yet, and makes it first."""
    if flag and not Path(flag).exists():
        Path(flag).touch()
        die(None)
    return os.getpid()


def fail(number):
    if number == 1:
        raise BadInput("There is no one.")
    return number


def settings(names):
    return {name: os.environ.get(name) for name in names}


def slow(number):
    import time

    time.sleep(60)
    return number


def any_of(piece):
    """The function of that name on its argument."""
    name, argument = piece
    return globals()[name](argument)


class LastWordExtractor:
    """An extractor that finds each text's last word, and reports a call for it."""

    def extract_facts(self, texts, ctx):
        for number, text in reversed(list(enumerate(texts))):
            ctx.report.add_usage(ChatReply("", 2, 1))
            ctx.report.count(**{"asked again": 1})
            yield number, Facts((ChunkEntity(text.split()[-1]),))

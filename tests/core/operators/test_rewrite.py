"""Paths rewritten as a paragraph by a language model, or by a template without one."""

import pytest

from core.environment import Environment
from core.operators import Answer, EgoNetwork, RewritePaths, ShortestPaths
from core.operators.base import Context
from core.types import Ranking


@pytest.fixture
def paths(kit):
    whole = EgoNetwork(hops=4)(kit.state("One"), kit.context())
    return ShortestPaths(parallel=False)(whole, kit.context())


def test_each_triple_is_rewritten_once(kit, paths):
    chat = kit.Parrot("Ann directed\n One and Two.")
    after = RewritePaths(paths=3)(paths, kit.context(chat=chat))
    if isinstance(chat.asked[-1], (list, tuple)):
        told = chat.asked[-1][-1]["content"]
    else:
        told = chat.asked[-1]
    assert str(told).count("(One, directed_by, Ann)") == 1 and "(Two, directed_by, Ann)" in str(
        told
    )
    assert after.reports[0].text == "Ann directed One and Two." and after.trace[-1].usage.calls == 1
    answered = Answer(prompt="rewritten")(after, kit.context())
    user = answered.prompt.messages[-1]["content"]
    assert "Ann directed One and Two." in user and "->" not in user and answered.prompt.reports == 1


def test_template_replaces_a_missing_model(kit, paths):
    after = RewritePaths(paths=2)(
        paths, Context(kit.graph, Environment(kit.Written(None)), answering=False)
    )
    assert after.reports[0].text == "One directed by Ann; One has genre Drama"
    assert "template" in after.trace[-1].notes[0] and after.trace[-1].usage.calls == 0


def test_empty_reply_and_missing_paths_are_handled(kit, paths):
    after = RewritePaths(paths=1)(paths, kit.context(chat=kit.Parrot("  ")))
    assert (
        after.reports[0].text == "One directed by Ann"
        and "wrote nothing" in after.trace[-1].notes[1]
    )
    none = RewritePaths()(paths.replace(paths=Ranking("path", ())), kit.context())
    assert none.reports == () and none.trace[-1].usage.calls == 0

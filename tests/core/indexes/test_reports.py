"""Community reports: their prompts, their saved form and keys, and unusable replies."""

import json
import sqlite3

import numpy as np
import pytest

from core.errors import RunCancelled, StoreError
from core.graph.algorithms.leiden import NodeCommunities
from core.graph.building.build import build
from core.indexes.index_storage import index_folder
from core.indexes.reports import MAX_FACTS_TOKENS, ReportStore, report_prompt
from core.models.base import ChatReply
from core.watch import Watch

REPORT_REPLY = json.dumps(
    {"title": "Ann and her films", "summary": "Ann directed  One.", "findings": ["She wrote\nTwo."]}
)


class RecordedReportChat:
    """A chat model that gives recorded replies in turn and records its prompts.

    The last reply is repeated.
    """

    context = 4096

    def __init__(self, *replies):
        self.replies, self.asked = list(replies), []

    def reply(self, messages, **_):
        self.asked.append(messages)
        return ChatReply(self.replies.pop(0) if len(self.replies) > 1 else self.replies[0], 100, 20)


@pytest.fixture
def films(tmp_path):
    from tests.films import TRIPLES

    return build(TRIPLES, tmp_path / "films", "films", "both")


def report_store(graph, chat, signature="a"):
    # Nodes by name: 1999 Ann Drama One Two. Communities: {One, Drama} and {Ann, Two, 1999}.
    return ReportStore(
        graph, NodeCommunities(np.array([1, 1, 0, 0, 1], np.int32)), lambda: chat, signature
    )


def test_facts_inside_a_community_come_first_by_degree(films):
    # Of {Ann, Two, 1999} (degrees 3, 3, 1): Two-Ann comes twice (3 + 3), then Two-1999 (3 + 1).
    # Outside is One-Ann.
    user = report_prompt(films, np.array([0, 1, 4]))[1]["content"]
    facts = [line for line in user.splitlines() if "->" in line and "each entity" not in line]
    assert facts == [
        "Two -> directed_by -> Ann",
        "Two -> written_by -> Ann",
        "Two -> release_year -> 1999",
        "One -> directed_by -> Ann",
    ]
    assert "Entities of the group: Ann, Two, 1999" in user


def test_the_prompt_about_a_hub_is_bounded(tmp_path):
    hub = build(
        [(f"film {i:05}", "release_year", "1999") for i in range(5_000)],
        tmp_path / "hub",
        "hub",
        "both",
    )
    content = report_prompt(hub, np.array([1]))[1]["content"]  # The second name is 1999.
    assert (
        "1999" in content
        and len(content) < MAX_FACTS_TOKENS * 3.5 + 300
        and "film 00000 -> release_year -> 1999" in content
    )


def test_a_report_is_written_once_and_saved(films):
    chat = RecordedReportChat(REPORT_REPLY)
    first = report_store(films, chat).get_report(1)
    assert (first.title, first.text, first.note) == (
        "Ann and her films",
        "Ann directed One. She wrote Two.",
        "",
    )
    assert first.is_new and (first.usage.calls, first.usage.tokens_in, first.usage.tokens_out) == (
        1,
        100,
        20,
    )
    again = report_store(films, RecordedReportChat("never asked")).get_report(1)
    assert again.text == first.text and not again.is_new and len(chat.asked) == 1


def test_reports_depend_on_model_members_and_prompt(films, monkeypatch):
    report_store(films, RecordedReportChat(REPORT_REPLY)).get_report(1)
    assert report_store(films, None).saved_report(1) is not None
    assert report_store(films, None, "b").saved_report(1) is None
    other = ReportStore(
        films, NodeCommunities(np.array([0, 1, 1, 1, 1], np.int32)), lambda: None, "a"
    )
    assert other.saved_report(1) is None
    monkeypatch.setattr("core.indexes.reports.MAX_FACTS_TOKENS", 10)
    assert report_store(films, None).saved_report(1) is None


@pytest.mark.parametrize(
    "said", ["Ann made films.", '{"title": "Ann", "summa', '{"title": 3, "summary": []}', "[]", ""]
)
def test_other_replies_are_shown_and_requested_again(films, said):
    written = report_store(films, RecordedReportChat(said)).get_report(0)
    assert written.text == said and ("no whole JSON" if said else "empty reply") in written.note
    assert report_store(films, None).saved_report(0).note == written.note
    again = report_store(
        films, RecordedReportChat('```json\n{"summary": "Ann directed One."}\n```')
    ).get_report(0)
    assert (again.title, again.text, again.note) == ("Report", "Ann directed One.", "")
    assert report_store(films, None).get_report(0).text == "Ann directed One."


def test_prepare_continues_after_a_stop(films):
    chat = RecordedReportChat(REPORT_REPLY)

    def check():
        if chat.asked:
            raise RunCancelled()

    told = []
    with pytest.raises(RunCancelled):
        report_store(films, chat).write_missing(
            [1, 0, 1], Watch(check, lambda text, share: told.append((text, share)))
        )
    assert len(chat.asked) == 1 and told == [("Reports: 0 of 2", 0.0), ("Reports: 1 of 2", 0.5)]
    assert report_store(films, chat).write_missing([1, 0]) == (1, 1)
    assert len(chat.asked) == 2


def test_a_damaged_file_is_named(films):
    (index_folder(films) / "reports.sqlite").write_bytes(
        b"this is no database, and it is long enough to be one" * 50
    )
    with pytest.raises(StoreError, match="reports.sqlite"):
        report_store(films, RecordedReportChat(REPORT_REPLY)).get_report(0)


def test_each_report_is_on_disk_as_soon_as_it_is_written(films):
    kept = report_store(films, RecordedReportChat(REPORT_REPLY))
    kept.get_report(0)
    with sqlite3.connect(index_folder(films) / "reports.sqlite") as base:
        assert base.execute("select count(*) from reports").fetchone() == (1,)


def test_a_server_writes_many_reports_at_a_time(films):
    from core.models.chat.openai import OpenAIChat
    from tests.core.evaluation.runs.test_flight import server

    told = []
    with server(together=4) as (address, seen):
        chat = OpenAIChat(address, "m", "m", max_concurrent=4)
        each = ReportStore(
            films, NodeCommunities(np.array([0, 1, 2, 3, 4], np.int32)), lambda: chat, "a"
        )
        assert each.write_missing(
            range(5), Watch(report=lambda text, share: told.append(text))
        ) == (5, 0)
        assert seen.most == 4 and len(set(seen.asked)) == 5
    assert (
        told[0] == "Reports: 0 of 5"
        and told[-1] == "Reports: 5 of 5"
        and each.saved_report(3).text in ("Drama", "Comedy", "Ann")
    )

"""Errors of copying over Bolt where no database replies.

tests/peers/test_bolt.py copies from a real database.
"""

from __future__ import annotations

import socket
import threading

import pytest

from core.databases import bolt
from core.databases.address import address_of
from core.databases.bolt import copy_bolt
from core.databases.limits import CopyLimits
from core.errors import BadInput, RunCancelled
from core.watch import Watch


@pytest.fixture
def silent():
    """Address of a port that accepts connections and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield address_of(f"bolt://127.0.0.1:{server.getsockname()[1]}")


def test_a_silent_server_is_reported(silent, tmp_path, monkeypatch):
    pytest.importorskip("neo4j", reason="the driver of Bolt is not installed")
    monkeypatch.setattr(bolt, "PIECE_WAIT_SECONDS", 0.4)
    with pytest.raises(BadInput, match=r"did not answer within 0\.4 s"):
        copy_bolt(silent, "", CopyLimits(), tmp_path / "g")


def test_waiting_for_a_silent_server_can_be_cancelled(silent, tmp_path):
    pytest.importorskip("neo4j", reason="the driver of Bolt is not installed")
    stopped = threading.Event()

    def check():
        if stopped.is_set():
            raise RunCancelled

    threading.Timer(0.3, stopped.set).start()
    with pytest.raises(RunCancelled):
        copy_bolt(silent, "", CopyLimits(watch=Watch(check)), tmp_path / "g")


def test_missing_servers_and_other_protocols_are_reported(tmp_path):
    pytest.importorskip("neo4j", reason="the driver of Bolt is not installed")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = address_of(f"bolt://127.0.0.1:{server.getsockname()[1]}")

        def rude():
            for _ in range(3):
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n<script>")

        threading.Thread(target=rude, daemon=True).start()
        with pytest.raises(BadInput, match="cannot be reached, or broke off|cannot be read"):
            copy_bolt(address, "ann:secret-word", CopyLimits(), tmp_path / "g")
    with pytest.raises(BadInput, match="cannot be reached, or broke off") as lost:
        copy_bolt(address, "ann:secret-word", CopyLimits(), tmp_path / "g")
    assert "secret-word" not in str(lost.value)


def test_a_missing_driver_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BadInput, match="pip install neo4j"):
        copy_bolt(address_of("bolt://localhost:7687"), "", CopyLimits(), tmp_path / "g")


def test_texts_are_escaped_for_xml():
    assert bolt._data("name", "a\x00<b>&\ud800") == '<data key="name">a&lt;b&gt;&amp;</data>'
    assert len(bolt._data("name", "x" * 100_000)) < 21_000

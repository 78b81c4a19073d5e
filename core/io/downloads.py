"""Downloads of files that can be resumed, and checks of their digests."""

from __future__ import annotations

import hashlib
from pathlib import Path

from core.errors import FetchFailed
from core.watch import NO_WATCH, Watch

DOWNLOAD_PIECE_BYTES = 4 << 20
TIMEOUT_SECONDS = (3, 15)  # until a connection, and between two pieces of an answer


def download_file(url: str, partial: Path, name: str, source: str, watch: Watch = NO_WATCH) -> Path:
    """Download a file into `partial`, which an earlier call may have begun.

    Parameters
    ----------
    url : address of the file.
    partial : the file to write or to continue.
    name, source : what is downloaded from where, for the progress.
    watch : receives the progress; it may raise RunCancelled.

    Raises
    ------
    FetchFailed : the server cannot be reached or refuses, or the connection broke.
    """
    import requests

    received_bytes = partial.stat().st_size if partial.exists() else 0
    headers = {"Range": f"bytes={received_bytes}-"} if received_bytes else {}
    try:
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_SECONDS) as answer:
            if answer.status_code == 416:  # the partial file is complete
                return partial
            answer.raise_for_status()
            is_resumed = answer.status_code == 206
            if not is_resumed:
                received_bytes = 0
            total = received_bytes + int(answer.headers.get("Content-Length") or 0)
            with partial.open("ab" if is_resumed else "wb") as out:
                for piece in answer.iter_content(DOWNLOAD_PIECE_BYTES):
                    out.write(piece)
                    received_bytes += len(piece)
                    watch.report(
                        f"{name}: {received_bytes >> 20} of {total >> 20} MB from {source}",
                        0.95 * received_bytes / max(total, 1),
                    )
                    watch.check()
    except requests.RequestException as error:
        raise FetchFailed(f"cannot be reached ({type(error).__name__}).") from error
    return partial


def check_digest(name: str, path: Path, sha256: str, watch: Watch = NO_WATCH) -> None:
    """Remove the file and raise FetchFailed if a digest is declared and differs."""
    digest = hashlib.sha256()
    watch.report(f"{name}: checking the digest", 0.96)
    with path.open("rb") as file:
        while piece := file.read(DOWNLOAD_PIECE_BYTES):
            digest.update(piece)
            watch.check()
    if sha256 and digest.hexdigest() != sha256:
        path.unlink()
        raise FetchFailed(
            f"what came has the sha256 {digest.hexdigest()}, but {sha256} is declared, so it was "
            "removed."
        )

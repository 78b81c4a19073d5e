"""Lock files: one holder at a time, waiting that can be given up, and files that were deleted meanwhile."""

import pytest

from core.io.locks import is_locked, locked


class Busy(Exception):
    pass


def refuse():
    raise Busy


def test_one_holder_at_a_time(tmp_path):
    file = tmp_path / "a.lock"
    assert not is_locked(file) and not file.exists()
    with locked(file, refuse):
        assert is_locked(file)
        with pytest.raises(Busy), locked(file, refuse):
            pass
    assert not is_locked(file)
    with locked(file, refuse):
        pass


def test_whoever_waits_gets_it_once_it_is_free(tmp_path):
    file = tmp_path / "a.lock"
    first = locked(file, refuse)
    first.__enter__()
    tries = []

    def busy():
        tries.append(1)
        if len(tries) == 2:
            file.unlink()  # as a holder may
            first.__exit__(None, None, None)

    with locked(file, busy):
        assert len(tries) == 2 and is_locked(file)

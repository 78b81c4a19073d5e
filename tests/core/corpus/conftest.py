"""Files are read by processes that last as long as a module."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def lasting_processes(one_reading_process):
    pass

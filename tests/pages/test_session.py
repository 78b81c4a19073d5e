"""Visitors who come at the same moment share one engine."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from pages.parts.shared import session


def test_the_first_visitors_get_one_engine(monkeypatch):
    monkeypatch.setattr(session, "_engine", cache(lambda: time.sleep(0.05) or object()))
    with ThreadPoolExecutor(8) as pool:
        assert len({id(one) for one in pool.map(lambda _: session.engine(), range(8))}) == 1

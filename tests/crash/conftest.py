"""The nursery loads everything once; all tests of this folder have their bots from it."""

from collections.abc import Iterator

import pytest

from tests.crash.lives import Nursery


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()

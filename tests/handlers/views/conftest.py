"""`pytest tests/handlers/views --regenerate` writes the golden files anew from what the views draw now."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regenerate", action="store_true", default=False, help="write the golden files of the views anew")


@pytest.fixture
def regenerate(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--regenerate", default=False))

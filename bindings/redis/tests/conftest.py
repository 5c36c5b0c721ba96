import pytest
from server import Server


@pytest.fixture(scope="session")
def shared():
    """One server for all tests that leave it as it was but for keys."""
    with Server() as server:
        yield server


@pytest.fixture
def server(shared):
    shared.client.flushall()
    yield shared
    assert shared.client.ping()
    assert shared.process.poll() is None

"""A store in each kind of database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from backend.database.address import Location
from backend.runs.store import Store
from tests.runs.stored import opened


@pytest.fixture
def store(location: Location) -> Iterator[Store]:
    with opened(location) as made:
        yield made

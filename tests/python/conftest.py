"""Tests of the Python package; `make python` builds and installs it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    if importlib.util.find_spec("monet") is None:
        pytest.skip("the Python package is not installed; run `make python`")


@pytest.fixture(scope="session")
def program(monet: Path) -> Path:
    """The program `monet`, whose name is the package's here."""
    return monet

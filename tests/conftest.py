"""What the Python tests share: where the programs are, and where the optional shared data are."""

import os
from pathlib import Path

import onnx  # noqa: F401  before pytest gives its name to the folder tests/onnx
import pytest

SOURCE = Path(__file__).resolve().parent.parent


# What a user has kept must not answer for what is tested, and tests are to leave nothing there.
os.environ["MONET_NO_CACHE"] = "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first: with several processes nobody waits for the last one."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def built(name: str) -> Path:
    program = Path(os.environ.get("MONET_BUILD", SOURCE / "build")) / name
    assert program.exists(), f"{program} is not built; run `make test`"
    return program


@pytest.fixture(scope="session")
def monet() -> Path:
    """The program `monet`."""
    return built("monet")


@pytest.fixture(scope="session")
def oracle() -> Path:
    """The program `monet_oracle`, which runs a model on given values."""
    return built("monet_oracle")


@pytest.fixture(scope="session")
def numbers() -> Path:
    """The program `monet_numbers`, which rounds and quantizes."""
    return built("monet_numbers")


@pytest.fixture(scope="session")
def data() -> Path:
    """The project's own networks and measurements."""
    return SOURCE / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Graphs and figures that belong to others; tests that need them are skipped where they are absent."""
    folder = Path(os.environ.get("MONET_SHARED", SOURCE.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent; set MONET_SHARED to the folder with reference graphs")
    return folder

"""Packages that only some calls need."""

from __future__ import annotations

import importlib
from typing import Any

from monet.errors import MissingPackage


def needed(name: str, extra: str, purpose: str) -> Any:
    """The module of that name; an error that says how to get it where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingPackage(
            f"{purpose} needs {name.partition('.')[0]}: {error}", advice=f"pip install 'monet-train[{extra}]'"
        ) from None


def pandas() -> Any:
    return needed("pandas", "notebook", "a table for pandas")


def pyplot() -> Any:
    return needed("matplotlib.pyplot", "notebook", "a plot")


def parquet() -> Any:
    return needed("pyarrow.parquet", "notebook", "a Parquet file")

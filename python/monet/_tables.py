"""Results as tables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from monet import _packages
from monet._options import nearest
from monet.errors import Error

if TYPE_CHECKING:
    import pandas


class Tabular:
    """What can be had as tables by name; the first is the default."""

    def _tables(self) -> tuple[str, ...]:
        raise NotImplementedError

    def _table(self, name: str) -> Any:
        """A list of rows, or lists by column, or a DataFrame."""
        raise NotImplementedError

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """A table as a pandas DataFrame; what a row has in parts is in columns like `energy_breakdown.memory`."""
        names = self._tables()
        name = names[0] if table is None else table
        if name not in names:
            raise Error(f"{type(self).__name__} has no table '{name}'", advice=nearest(name, names))
        frames = _packages.pandas()
        found = self._table(name)
        frame: pandas.DataFrame = frames.json_normalize(found) if isinstance(found, list) else frames.DataFrame(found)
        return frame

    def to_parquet(self, path: str | os.PathLike[str], table: str | None = None) -> None:
        """The same table as a Parquet file."""
        _packages.parquet()
        frame = self.to_pandas(table)
        try:
            frame.to_parquet(os.fspath(path), engine="pyarrow", index=False)
        except OSError as error:
            raise Error(
                f"cannot be written: {error}", place=os.fspath(path), advice="name a file in a folder that exists"
            ) from None

"""Writes the model of every operator case to a folder: small, varied files to start fuzzing from."""

import importlib
import sys
from pathlib import Path


def main(folder: str) -> None:
    here = Path(__file__).parent
    sys.path.insert(0, str(here))
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(here.glob("cases_*.py")):
        for i, (_, model, _) in enumerate(importlib.import_module(path.stem).cases()):
            (target / f"{path.stem}_{i}.onnx").write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main(sys.argv[1])

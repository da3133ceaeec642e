"""Puts a self-contained wheel together: the package, a module for each Python, and the program.

    python3 scripts/make_wheel.py BUILD DIST

BUILD/standalone has monet and python/_core.*.so, which `make wheel` builds. The wheel has one tag for all Pythons, since
its modules are told apart by their names: `_core.cpython-39-….so` to 3.11, `_core.abi3.so` from 3.12 on.
"""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST_GLIBC = (2, 28)  # cmake/standalone/glibc_2_28.txt
TIME = (2020, 1, 1, 0, 0, 0)  # of every file: equal contents give an equal wheel


def project() -> dict[str, object]:
    """Of pyproject.toml what the wheel says of itself; not every Python that may run this has tomllib."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = {key: re.search(rf'^{key} = "([^"]+)"', text, re.MULTILINE)[1] for key in ("name", "description", "requires-python")}
    extras = re.search(r"\[project.optional-dependencies\]\n(.*?)\n\n", text, re.DOTALL)[1]
    found["extras"] = {
        line.split(" = ")[0]: re.findall(r'"([^"]+)"', line.split(" = ", 1)[1]) for line in extras.splitlines()
    }
    version = (ROOT / "include/monet/version.h").read_text(encoding="utf-8")
    found["version"] = re.search(r'version = "([^"]+)"', version)[1]
    return found


def metadata(about: dict[str, object]) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {about['name']}",
        f"Version: {about['version']}",
        f"Summary: {about['description']}",
        "License: MIT",
        f"Requires-Python: {about['requires-python']}",
    ]
    for extra, needed in about["extras"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {need}; extra == "{extra}"' for need in needed]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / "README.md").read_text(encoding="utf-8")]
    return "\n".join(lines)


def newest_glibc(library: Path) -> tuple[int, ...]:
    """The version of glibc that a module asks for."""
    said = subprocess.run(["objdump", "-T", library], check=True, capture_output=True, text=True).stdout
    return max((tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", said)), default=(0,))


def needed(library: Path) -> set[str]:
    said = subprocess.run(["objdump", "-p", library], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"NEEDED +(\S+)", said))


def unknown(library: Path) -> list[str]:
    """Names that neither the C library nor Python has."""
    said = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, capture_output=True, text=True).stdout
    names = [line.split()[-1] for line in said.splitlines() if line.split()[-2] == "U"]
    return [name for name in names if "@" not in name and not name.startswith(("Py", "_Py"))]


def check(library: Path) -> None:
    others = needed(library) - {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}
    if others:
        raise SystemExit(f"wheel: {library.name} needs {', '.join(sorted(others))}")
    if unknown(library):
        raise SystemExit(f"wheel: {library.name} lacks {', '.join(unknown(library))}")
    if re.search("RUNPATH|RPATH", subprocess.run(["objdump", "-p", library], check=True, capture_output=True, text=True).stdout):
        raise SystemExit(f"wheel: {library.name} names a folder of this machine")
    if newest_glibc(library) > OLDEST_GLIBC:
        raise SystemExit(f"wheel: {library.name} needs glibc {newest_glibc(library)}, newer than {OLDEST_GLIBC}")


class Wheel:
    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self._record: list[str] = []

    def add(self, name: str, content: bytes, mode: int = 0o644) -> None:
        entry = zipfile.ZipInfo(name, TIME)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._archive.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(content)}")

    def close(self, record: str) -> None:
        self.add(record, "\n".join([*self._record, f"{record},,", ""]).encode())
        self._archive.close()


def main() -> None:
    built, dist = Path(sys.argv[1]) / "standalone", Path(sys.argv[2])
    about = project()
    distribution = about["name"].replace("-", "_")
    modules = sorted((built / "python").glob("_core.*.so"))
    if not modules or not (built / "monet").exists():
        raise SystemExit(f"wheel: {built} has no program or no modules: make wheel builds them")
    for module in modules:
        check(module)
    if needed(built / "monet"):
        raise SystemExit("wheel: the program needs libraries")
    tag = f"py3-none-manylinux_{OLDEST_GLIBC[0]}_{OLDEST_GLIBC[1]}_x86_64"
    dist.mkdir(parents=True, exist_ok=True)
    for old in dist.glob(f"{distribution}-*.whl"):
        old.unlink()
    path = dist / f"{distribution}-{about['version']}-{tag}.whl"
    wheel = Wheel(path)
    for file in sorted((ROOT / "python/monet").rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            wheel.add(file.relative_to(ROOT / "python").as_posix(), file.read_bytes())
    for module in modules:
        wheel.add(f"monet/{module.name}", module.read_bytes(), 0o755)
    info = f"{distribution}-{about['version']}.dist-info"
    wheel.add(f"{distribution}-{about['version']}.data/scripts/monet", (built / "monet").read_bytes(), 0o755)
    wheel.add(f"{info}/METADATA", metadata(about).encode())
    wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: monet\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    wheel.add(f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
    wheel.close(f"{info}/RECORD")
    print(f"wheel: {path}, {path.stat().st_size / 2**20:.1f} MiB, Python {about['requires-python']}, {len(modules)} modules")


if __name__ == "__main__":
    main()

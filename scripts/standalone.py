"""Fetches what programs and Python modules are made of that need no library of the system; see cmake/standalone/standalone.cmake.

    python3 scripts/standalone.py FOLDER [--program]

FOLDER gets httplib/httplib.h, the source of the package libcpp-httplib-dev with Debian's patches; unless --program is
given also nanobind/ (by pip) and python/VERSION/, the headers of Pythons, of packages of Debian and Ubuntu. What is
there already stays. Every file is compared with a digest: of this file, or of a list that the distribution serves.
"""

from __future__ import annotations

import functools
import hashlib
import lzma
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from pathlib import Path

DEBIAN = "https://deb.debian.org/debian"
UBUNTU = "https://archive.ubuntu.com/ubuntu"

HTTPLIB = {
    "cpp-httplib_0.11.4+ds.orig.tar.xz": "8b1a5df569003b6a4f24c68489bbda5c64aec94697bdc9ebba5d79408b2ae7eb",
    "cpp-httplib_0.11.4+ds-1+deb12u1.debian.tar.xz": "a0adf8a38610806f6d94ba69839438635e5e6580775e28ff31d6a081e34f1484",
}
NANOBIND = "nanobind==2.15.0"  # the newest line that knows Python 3.9

# Where the headers of a Python are. From 3.12 on one module serves all: those of any later one do.
PYTHONS = {
    "3.9": (DEBIAN, "bullseye", "libpython3.9-dev"),
    "3.10": (UBUNTU, "jammy", "libpython3.10-dev"),
    "3.11": (DEBIAN, "bookworm", "libpython3.11-dev"),
    "3.12": (UBUNTU, "noble", "libpython3.12-dev"),
}


def fetched(url: str, digest: str = "") -> bytes:
    with urllib.request.urlopen(url, timeout=120) as answer:
        content = answer.read()
    found = hashlib.sha256(content).hexdigest()
    if digest and found != digest:
        raise SystemExit(f"standalone: {url} has the digest {found}, not {digest}")
    return content


def fetch_httplib(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for file, digest in HTTPLIB.items():
            (work / file).write_bytes(fetched(f"{DEBIAN}/pool/main/c/cpp-httplib/{file}", digest))
            subprocess.run(["tar", "-xf", file], cwd=work, check=True)
        (header,) = work.glob("*cpp-httplib*/httplib.h")
        patches = work / "debian" / "patches"
        for patch in (patches / "series").read_text().split():
            command = ["patch", "--quiet", "-p1", "--forward", "-i", patches / patch]
            subprocess.run(command, cwd=header.parent, check=True)
        folder.mkdir(parents=True)
        shutil.copy(header, folder)


def fetch_nanobind(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", work, NANOBIND]
        subprocess.run(command, check=True)
        (wheel,) = Path(work).glob("*.whl")
        with zipfile.ZipFile(wheel) as files:
            files.extractall(work)
        shutil.copytree(Path(work) / "nanobind", folder)


def package(mirror: str, suite: str, name: str) -> tuple[str, str]:
    """The address of a package and its digest."""
    listing = lzma.decompress(fetched(f"{mirror}/dists/{suite}/main/binary-amd64/Packages.xz")).decode()
    for paragraph in listing.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line and line[0] != " ")
        if fields.get("Package") == name:
            return f"{mirror}/{fields['Filename']}", fields["SHA256"]
    raise SystemExit(f"standalone: {suite} has no package {name}")


def fetch_headers(folder: Path, version: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        archive = work / "package.deb"
        archive.write_bytes(fetched(*package(*PYTHONS[version])))
        subprocess.run(["dpkg-deb", "-x", archive, work / "files"], check=True)
        include = work / "files" / "usr" / "include"
        made = include / f"python{version}"
        # What differs by processor lies in a folder of its own.
        for file in include.glob(f"*-linux-gnu/python{version}/pyconfig.h"):
            shutil.copy(file, made)
        shutil.copytree(made, folder, symlinks=False)


def main() -> None:
    folder = Path(sys.argv[1])
    parts = {"httplib": fetch_httplib}
    if "--program" not in sys.argv:
        parts["nanobind"] = fetch_nanobind
        for version in PYTHONS:
            parts[f"python/{version}"] = functools.partial(fetch_headers, version=version)
    for part, fetch in parts.items():
        if (folder / part).exists():
            continue
        print(f"standalone: fetching {part}", flush=True)
        unfinished = folder / f"{part}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.parent.mkdir(parents=True, exist_ok=True)
        fetch(unfinished)
        unfinished.rename(folder / part)


if __name__ == "__main__":
    main()

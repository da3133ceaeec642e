"""Does cmake/embed_page.cmake take a page that is built, build one that is not, and say what is wrong?"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "cmake" / "embed_page.cmake"
MARK = '<script id="data" type="application/json">/*DATA*/</script>'
ODD = 'a;b [c] \\n ${x} $y "quoted" é'

# Stands in for npm: notes what it is asked, and "builds" src/page.html.
NPM = """\
#!/bin/sh
echo "$@" >> "$(dirname "$0")/asked"
[ "$1" = ci ] && mkdir -p node_modules
[ "$1" = run ] && { mkdir -p dist && cp src/*.html dist/; }
exit 0
"""


@pytest.fixture
def web(tmp_path: Path) -> Path:
    web = tmp_path / "web"
    (web / "src").mkdir(parents=True)
    (web / "package.json").write_text("{}")
    (web / "package-lock.json").write_text("{}")
    (web / "src" / "page.html").write_text(f"<html>{ODD}{MARK}</html>\n")
    (web / "src" / "serve.html").write_text(f"<html>{ODD}</html>\n")
    return web


@pytest.fixture
def npm(tmp_path: Path) -> Path:
    path = tmp_path / "npm"
    path.write_text(NPM)
    path.chmod(0o755)
    return path


@pytest.fixture
def embed(web: Path, tmp_path: Path):
    def call(npm: object = "") -> subprocess.CompletedProcess:
        return subprocess.run(["cmake", "-D", f"OUTPUT={tmp_path / 'page.cpp'}", "-D", f"SOURCE={web}", "-D",
                               f"WORK={tmp_path / 'work'}", "-D", f"NPM={npm}", "-P", SCRIPT],
                              capture_output=True, text=True, check=False)

    return call


def embedded(tmp_path: Path, name: str = "page") -> str:
    texts = re.findall(r'(\w+)_template\(\).*?R"embedded\((.*?)\)embedded"', (tmp_path / "page.cpp").read_text(), re.DOTALL)
    return dict(texts)[name]


def built(web: Path, text: str, age_s: float) -> None:
    """A page in web/dist, so much older than its sources."""
    (web / "dist").mkdir(exist_ok=True)
    page = web / "dist" / "page.html"
    page.write_text(text)
    newest = max(path.stat().st_mtime for path in web.rglob("*.*") if path.is_file() and path != page)
    os.utime(page, (newest - age_s, newest - age_s))


def test_npm_builds_on_a_copy_and_installs_once(embed, npm, web, tmp_path) -> None:
    before = sorted(web.rglob("*"))
    assert embed(npm).returncode == 0
    for name in ("page", "serve"):
        assert embedded(tmp_path, name) == (web / "src" / f"{name}.html").read_text()
    assert embed(npm).returncode == 0
    asked = [line.split()[0] for line in (tmp_path / "asked").read_text().splitlines()]
    assert asked == ["ci", "run", "run"]
    (web / "package-lock.json").write_text('{"new": 1}')
    assert embed(npm).returncode == 0
    assert [line.split()[0] for line in (tmp_path / "asked").read_text().splitlines()][3:] == ["ci", "run"]
    assert sorted(web.rglob("*")) == before, "nothing is written into the source tree"


def test_a_page_that_is_built_is_taken_as_it_is(embed, npm, web, tmp_path) -> None:
    built(web, f"built {MARK}", age_s=-60)
    assert embed(npm).returncode == 0
    assert embedded(tmp_path) == f"built {MARK}" and not (tmp_path / "asked").exists()


def test_a_page_that_is_old_is_built_again(embed, npm, web, tmp_path) -> None:
    built(web, f"old {MARK}", age_s=60)
    assert embed(npm).returncode == 0
    assert embedded(tmp_path) == (web / "src" / "page.html").read_text()
    result = embed()
    assert result.returncode == 0 and "older than its sources" in " ".join(result.stderr.split())
    assert embedded(tmp_path) == f"old {MARK}"


def test_without_npm_there_is_none(embed, tmp_path) -> None:
    result = embed()
    assert result.returncode == 0 and "without the report page" in result.stdout + result.stderr
    assert embedded(tmp_path) == embedded(tmp_path, "serve") == ""


def test_what_goes_wrong_is_said(embed, npm, web, tmp_path) -> None:
    npm.write_text("#!/bin/sh\necho out of reach; exit 7\n")
    result = embed(npm)
    assert result.returncode != 0
    for words in ("The report page cannot be built", "out of reach", "MONET_PAGE=OFF"):
        assert words in result.stderr
    for text in ("no mark", f"{MARK}{MARK}"):
        built(web, text, age_s=0)
        result = embed()
        assert result.returncode != 0 and "must have the mark /*DATA*/ once" in " ".join(result.stderr.split())

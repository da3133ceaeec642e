"""Are the commands of a document found, with their lines and what is said about them?"""

from pathlib import Path

from documents import blocks_of
from shown_output import as_shown, same

TEXT = """\
# A page

    monet inspect MODEL [--batch N]

```sh
monet inspect resnet18   # a comment
# nothing
monet train resnet18 \\
  --batch 8
cat > a.txt <<'END'
monet is no command here
END
```

<!-- output -->

    $ monet hardware list
    name
    ...

    $ monet --version
    1

<!-- not run: needs a cloud -->
<!-- exit status: 2 -->
    monet explore far

```python
x = 1
```

<!-- file: machine.yaml -->
```yaml
monet: 1
```

```text
monet is shown
```

Words, and an indented block that is none:

    x = y + z
"""


def test_blocks(tmp_path: Path):
    document = tmp_path / "page.md"
    document.write_text(TEXT)
    shell, transcript, left_out, python, file = blocks_of(document)

    assert [(command.line, command.text) for command in shell.commands] == [
        (6, "monet inspect resnet18   # a comment"),
        (8, "monet train resnet18 \\\n  --batch 8"),
        (10, "cat > a.txt <<'END'\nmonet is no command here\nEND"),
    ]
    assert shell.not_run is None
    assert shell.exit_status == 0

    first, second = transcript.commands
    assert (first.line, first.text, first.shown, first.shown_from) == (
        17,
        "monet hardware list",
        ["name", "...", ""],
        18,
    )
    assert (second.line, second.shown) == (21, ["1"])
    assert "output" in transcript.marks

    assert (left_out.not_run, left_out.exit_status) == ("needs a cloud", 2)
    assert (python.kind, python.line, python.text) == ("python", 29, "x = 1\n")
    assert (file.kind, file.marks["file"], file.text) == ("file", "machine.yaml", "monet: 1\n")


def test_same_lines():
    output = ["a  ", "b", "computed in  3 ms", "c", "d", ""]
    for shown in (
        ["a", "b", "computed in  9 ms", "c", "d"],
        ["a", "..."],
        ["...", "d"],
        ["a", "...", "c", "…", "d"],
        ["..."],
    ):
        assert same(shown, output), shown
    for shown in (
        ["a", "b", "c"],
        ["b", "..."],
        ["a", "...", "c"],
        ["...", "b", "...", "b", "..."],
        ["a", "b", "...", "b", "c", "d"],
    ):
        assert not same(shown, output), shown


def test_what_is_shown_is_brought_up_to_date():
    assert as_shown(["x"], ["1", "2"]) == ["1", "2"]
    assert as_shown(["x", "..."], ["1", "2", "3"]) == ["1", "..."]
    assert as_shown(["x", "...", "y", "z"], ["1", "2", "3", "4"]) == ["1", "...", "3", "4"]

"""What a notebook shows: cards and a table, in whatever colours the notebook has."""

from __future__ import annotations

from html import escape

_BORDER = "1px solid rgba(128,128,128,.35)"
_CARD = f"border:{_BORDER};border-radius:6px;padding:6px 12px;min-width:7em"
_CELL = "padding:2px 10px;text-align:{align};font-variant-numeric:tabular-nums;color:inherit"

_NUMBER = tuple("0123456789+-")


def page(
    title: str,
    cards: list[tuple[str, str, str]],
    heading: list[str],
    rows: list[list[str]],
    count: int,
    warnings: list[str],
) -> str:
    """Cards are name, value and a remark; `count` is the number of rows there are, of which some are shown."""
    parts = ['<div class="monet" style="font-family:sans-serif">', f'<div style="margin:4px 0"><b>{escape(title)}</b></div>']
    if cards:
        parts.append('<div style="display:flex;flex-wrap:wrap;gap:8px;margin:6px 0">')
        parts += [_card(*card) for card in cards]
        parts.append("</div>")
    parts += [f'<div style="margin:2px 0">⚠ {escape(warning)}</div>' for warning in warnings]
    if rows:
        parts.append(_table(heading, rows))
        if count > len(rows):
            parts.append(f'<div style="opacity:.7;font-size:85%">{len(rows)} of {count}; all: .to_pandas()</div>')
    return "".join([*parts, "</div>"])


def _card(name: str, value: str, remark: str) -> str:
    return (
        f'<div style="{_CARD}"><div style="opacity:.7;font-size:85%">{escape(name)}</div>'
        f'<div style="font-size:120%">{escape(value)}</div>'
        f'<div style="opacity:.7;font-size:85%">{escape(remark)}</div></div>'
    )


def _table(heading: list[str], rows: list[list[str]]) -> str:
    """Columns of numbers are set to the right."""
    numbers = [column > 0 and rows[0][column][:1] in _NUMBER for column in range(len(heading))]

    def line(cells: list[str], tag: str) -> str:
        texts = (
            f'<{tag} style="{_CELL.format(align="right" if number else "left")}">{escape(cell)}</{tag}>'
            for cell, number in zip(cells, numbers)
        )
        return f'<tr style="border-bottom:{_BORDER};background:transparent">{"".join(texts)}</tr>'

    head, body = line(heading, "th"), "".join(line(row, "td") for row in rows)
    style = "border-collapse:collapse;color:inherit"
    return f'<table style="{style}"><thead>{head}</thead><tbody>{body}</tbody></table>'

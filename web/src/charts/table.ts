// A table that is sorted by a click on a heading and filtered by words, and shows the first rows until asked for more.
import { button, fill, h, searchBox, type Child } from '../base/dom';
import { grouped } from '../base/units';

export interface Column<Row> {
  name: string;
  title?: string; // what the heading means
  value(row: Row): number | string; // to sort by
  show?(row: Row): Child;
  bar?(row: Row): number; // share of the cell to fill, 0 to 1
}

export interface TableOptions<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  sort?: { column: number; down: boolean };
  first?: number; // rows shown at first
  filter?: string; // placeholder of the filter box; none: no box
  words?(row: Row): string; // what the filter looks at; else all columns
  pick?(row: Row): void;
}

export interface Table<Row> {
  element: HTMLElement;
  setRows(rows: Row[]): void;
  setFilter(text: string): void;
  mark(row: Row | null): void;
}

export function table<Row>(options: TableOptions<Row>): Table<Row> {
  const { columns } = options;
  const first = options.first ?? 12;
  let rows = options.rows;
  let sort = options.sort ?? null;
  let shown = first;
  let filter = '';
  let marked: Row | null = null;
  const body = h('tbody');
  const headings = columns.map((column, k) => heading(column, k));
  const foot = h('div', { class: 'table-foot' });
  const box = options.filter
    ? searchBox(options.filter, (text) => {
        filter = text;
        shown = first;
        render();
      })
    : null;

  function heading(column: Column<Row>, k: number): HTMLElement {
    const press = h(
      'button',
      {
        type: 'button',
        title: column.title ?? `Sort by ${column.name}`,
        click: () => {
          const down =
            sort?.column === k
              ? !sort.down
              : typeof rows[0] !== 'undefined' && typeof column.value(rows[0]) === 'number';
          sort = { column: k, down };
          render();
        },
      },
      column.name,
    );
    return h('th', { scope: 'col' }, press);
  }

  function chosen(): Row[] {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const text = options.words ?? ((row: Row) => columns.map((column) => column.value(row)).join(' '));
    const found =
      words.length === 0
        ? rows.slice()
        : rows.filter((row) => words.every((word) => text(row).toLowerCase().includes(word)));
    if (sort) {
      const { value } = columns[sort.column];
      const sign = sort.down ? -1 : 1;
      found.sort((a, b) => sign * order(value(a), value(b)));
    }
    return found;
  }

  function render(): void {
    const found = chosen();
    headings.forEach((element, k) => {
      element.setAttribute('aria-sort', sort?.column === k ? (sort.down ? 'descending' : 'ascending') : 'none');
      element.classList.toggle('number', rows.length > 0 && typeof columns[k].value(rows[0]) === 'number');
    });
    fill(body, found.slice(0, shown).map(line));
    const rest = found.length - shown;
    fill(
      foot,
      found.length === 0 && h('span', { class: 'quiet' }, rows.length === 0 ? 'None.' : 'Nothing matches.'),
      rest > 0 && h('span', { class: 'quiet' }, `${grouped(shown)} of ${grouped(found.length)}`),
      rest > 0 && more(`Show ${Math.min(rest, 100)} more`, () => (shown += 100)),
      rest > 100 && rest <= 5000 && more('Show all', () => (shown = found.length)),
      shown > first && found.length > first && more('Show fewer', () => (shown = first)),
    );
  }

  function more(text: string, change: () => void): HTMLElement {
    return button(
      text,
      text,
      () => {
        change();
        render();
      },
      'quiet-button',
    );
  }

  function line(row: Row): HTMLElement {
    const pick = options.pick;
    const attributes = pick
      ? {
          class: row === marked ? 'pick marked' : 'pick',
          tabindex: 0,
          click: () => pick(row),
          keydown: (event: KeyboardEvent) => {
            if (event.key === 'Enter' || event.key === ' ') {
              event.preventDefault();
              pick(row);
            }
          },
        }
      : null;
    return h(
      'tr',
      attributes,
      columns.map((column) => cell(column, row)),
    );
  }

  function cell(column: Column<Row>, row: Row): HTMLElement {
    const value = column.value(row);
    const share = column.bar?.(row);
    const content = column.show ? column.show(row) : typeof value === 'number' ? grouped(value) : value;
    return h(
      'td',
      {
        class: typeof value === 'number' ? 'number' : null,
        style: share !== undefined && share > 0 ? `--share:${Math.min(1, share)}` : null,
        'data-bar': share !== undefined && share > 0,
      },
      content,
    );
  }

  render();
  return {
    element: h(
      'div',
      { class: 'table-block' },
      box && h('div', { class: 'controls' }, box),
      h(
        'div',
        { class: 'table-scroll', tabindex: 0, role: 'region', 'aria-label': options.label },
        h('table', { 'aria-label': options.label }, h('thead', null, h('tr', null, headings)), body),
      ),
      foot,
    ),
    setRows: (next) => {
      rows = next;
      render();
    },
    setFilter: (text) => {
      filter = text;
      if (box) box.value = text;
      render();
    },
    mark: (row) => {
      marked = row;
      render();
    },
  };
}

function order(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number')
    return (Number.isNaN(a) ? -Infinity : a) - (Number.isNaN(b) ? -Infinity : b) || 0;
  return String(a).localeCompare(String(b), 'en', { numeric: true });
}

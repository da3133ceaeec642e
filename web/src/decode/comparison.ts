// What changed between two evaluations.
import type { ComparisonData } from '../data';
import { Missing, number, object, objects, text } from '../base/read';

// Sums in another order differ in their last digits: that is no change.
function settled(delta: number, a: number, b: number): number {
  return Math.abs(delta) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b)) ? 0 : delta;
}

export function decodeComparison(data: unknown): ComparisonData {
  const raw = object(data);
  if (!Array.isArray(raw.rows)) throw new Missing('The comparison has no rows.');
  const recipes = object(raw.recipe_text);
  return {
    a: text(raw.a, 'A'),
    b: text(raw.b, 'B'),
    rows: objects(raw.rows, (r) => ({
      part: text(r.part),
      unit: text(r.unit) as ComparisonData['rows'][number]['unit'],
      a: number(r.a),
      b: number(r.b),
      delta: settled(number(r.delta, number(r.b) - number(r.a)), number(r.a), number(r.b)),
    })),
    operators: objects(raw.operators, (o) => ({
      name: text(o.name),
      phase: text(o.phase),
      a_cycles: number(o.a_cycles),
      b_cycles: number(o.b_cycles),
      a_pj: number(o.a_pj),
      b_pj: number(o.b_pj),
    })),
    assumptions: objects(raw.assumptions, (s) => ({ what: text(s.what), a: text(s.a), b: text(s.b) })),
    recipe_text: { a: text(recipes.a), b: text(recipes.b) },
  };
}

export interface Group {
  total: ComparisonData['rows'][number];
  parts: ComparisonData['rows'];
}

// A total ("latency") and the rows that add up to it ("latency: compute").
export function groupsOf(comparison: ComparisonData): Group[] {
  return comparison.rows
    .filter((row) => !row.part.includes(': '))
    .map((total) => ({ total, parts: comparison.rows.filter((row) => row.part.startsWith(`${total.part}: `)) }));
}

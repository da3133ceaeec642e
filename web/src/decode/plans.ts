// Plans of optimize and checkpoint.
import type { PlanData, PlansData } from '../data';
import { Missing, nullable, number, object, objects, text, texts, type Unknown } from '../base/read';

export function decodePlans(data: unknown): PlansData {
  const raw = object(data);
  if (!Array.isArray(raw.plans)) throw new Missing('The data hold no list of plans.');
  const bound = object(raw.bound);
  return {
    command: raw.command === 'checkpoint' ? 'checkpoint' : 'optimize',
    model: text(raw.model),
    hardware: text(raw.hardware),
    recipe_text: text(raw.recipe_text),
    memory: text(raw.memory),
    objective: text(raw.objective),
    clock_hz: nullable(raw.clock_hz),
    budget_bytes: number(raw.budget_bytes, 0),
    deadline_cycles: number(raw.deadline_cycles, 0),
    start: raw.start === undefined || raw.start === null ? undefined : decodePlan(object(raw.start)),
    plans: objects(raw.plans, decodePlan),
    bound: { latency_cycles: nullable(bound.latency_cycles), energy_pj: nullable(bound.energy_pj) },
    evaluated: number(raw.evaluated),
    wall_s: number(raw.wall_s),
    warnings: texts(raw.warnings),
    notes: texts(raw.notes),
  };
}

function decodePlan(p: Unknown): PlanData {
  return {
    latency_cycles: number(p.latency_cycles),
    latency_s: nullable(p.latency_s),
    energy_pj: number(p.energy_pj),
    peak_bytes: number(p.peak_bytes),
    saved_bytes_dropped: number(p.saved_bytes_dropped),
    stacks: number(p.stacks),
    order: text(p.order),
    recomputed: texts(p.recomputed),
    paged: texts(p.paged),
    why: text(p.why),
    plan_file: text(p.plan_file),
    plan_yaml: text(p.plan_yaml),
  };
}

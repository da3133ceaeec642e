// The sections of one evaluation.
import { section, type Section } from './charts/section';
import type { Evaluation } from './decode/result';
import { assumptionsSection } from './sections/assumptions';
import { breakdownSection } from './sections/breakdown';
import { graphSection } from './sections/graph';
import { memorySection } from './sections/memory';
import { operatorsSection } from './sections/operators';
import { rooflineSection } from './sections/roofline';
import { scheduleSection } from './sections/schedule';
import { summarySection } from './sections/summary';

// `prefix` keeps the anchors of two evaluations apart.
export function evaluationSections(evaluation: Evaluation, prefix: string): Section[] {
  return [
    section(`${prefix}summary`, 'Summary', null, () => summarySection(evaluation)),
    section(`${prefix}schedule`, 'Schedule', 'Every tile on its core, every transfer on its links and ports.', () =>
      scheduleSection(evaluation),
    ),
    section(
      `${prefix}memory`,
      'Memory',
      'What lies in a memory over time, by role; who is alive at its peak; and where everything lies.',
      () => memorySection(evaluation),
    ),
    section(
      `${prefix}breakdown`,
      'Latency and energy',
      'Where time and energy go. Parts by cause add up to the whole.',
      () => breakdownSection(evaluation),
    ),
    section(
      `${prefix}roofline`,
      'Roofline',
      'How fast each operator computes, by how much it computes for each byte of home memory.',
      () => rooflineSection(evaluation),
    ),
    section(`${prefix}operators`, 'Operators', 'Click a heading to sort, a row for its numbers.', () =>
      operatorsSection(evaluation),
    ),
    section(
      `${prefix}graph`,
      'Graph',
      'The step as it ran: forward down, backward up beside it; saved tensors cross over.',
      () => graphSection(evaluation),
    ),
    section(`${prefix}assumptions`, 'Assumptions', 'What these numbers rest on.', () => assumptionsSection(evaluation)),
  ];
}

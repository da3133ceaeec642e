// Reads the data that the program put into the page, and lays out what they hold.
import { h } from './base/dom';
import { list, Missing, object, text } from './base/read';
import { start } from './base/theme';
import { notice, section, type Section } from './charts/section';
import { decodeEvaluation, type Evaluation } from './decode/result';
import { decodeExploration } from './decode/exploration';
import { frame } from './frame';
import { evaluationSections } from './evaluation';
import { comparisonSection } from './sections/comparison';
import { explorationAnalysis, explorationSummary } from './sections/exploration_facts';
import { exploreChart } from './sections/exploration';
import { plansSection } from './sections/plans';
import { precisionSections } from './sections/precisions';

function read(): Record<string, unknown> {
  const raw = document.getElementById('data')?.textContent ?? '';
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (problem) {
    throw new Missing(`The data in this page cannot be read: ${problem instanceof Error ? problem.message : problem}`);
  }
  const data = object(value);
  if (data.schema !== undefined && data.schema !== 1)
    throw new Missing(
      `The data are of schema ${text(data.schema)}; this page reads schema 1. Write it anew with this version of the program.`,
    );
  return data;
}

function sections(data: Record<string, unknown>, evaluations: Evaluation[]): Section[] {
  const made: Section[] = [];
  if (data.comparison !== undefined) {
    made.push(
      section('comparison', 'Comparison', null, () =>
        comparisonSection(
          data.comparison,
          evaluations.map((e) => e.clock),
        ),
      ),
    );
  }
  if (data.plans !== undefined) made.push(section('plans', 'Plans', null, () => plansSection(data.plans)));
  if (data.precisions !== undefined) made.push(...precisionSections(data.precisions));
  if (data.exploration !== undefined) {
    const raw = data.exploration;
    made.push(section('exploration', 'Exploration', null, () => explorationSummary(decodeExploration(raw))));
    made.push(section('designs', 'Designs', null, () => exploreChart(decodeExploration(raw))));
    made.push(
      section(
        'analysis',
        'What matters',
        'How much of the variance each parameter explains alone, which metrics go together, and what failed.',
        () => explorationAnalysis(decodeExploration(raw)),
      ),
    );
  }
  return made;
}

function show(): void {
  const page = document.getElementById('page') ?? document.body;
  try {
    const data = read();
    const evaluations = list(data.evaluations, decodeEvaluation);
    const first = sections(data, evaluations);
    if (first.length === 0 && evaluations.length === 0) throw new Missing('This page holds no results.');
    const title = text(data.title) || (evaluations[0]?.name ?? 'A report');
    document.title = /monet/i.test(title) ? title : `${title} · MONET`;
    page.replaceChildren(frame(title, text(data.program), first, evaluations, evaluationSections));
  } catch (problem) {
    page.replaceChildren(h('main', { class: 'alone' }, h('h1', null, 'MONET'), notice(problem)));
  }
}

start();
show();

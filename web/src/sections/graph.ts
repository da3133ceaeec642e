// The training graph: a picture that is zoomed, moved and searched, and the numbers of a node.
import { button, choice, fill, h, searchBox, toggle, type Child } from '../base/dom';
import { styleColour } from '../base/colours';
import { onRedraw } from '../base/theme';
import { byteSize, plural } from '../base/units';
import { facts, swatch } from '../charts/tooltip';
import { decodeGraph, type Graph, type Tensor } from '../decode/graph';
import type { Evaluation } from '../decode/result';
import { graphChart, type GraphMode } from './graph_chart';
import { operatorFacts, showOperator } from './operators';

export function graphSection(evaluation: Evaluation): Child {
  const graph = decodeGraph(evaluation.raw.graph, evaluation.result.operators.length);
  const details = h('div', { class: 'panel details', 'aria-live': 'polite' });
  const matched = h('span', { class: 'quiet', 'aria-live': 'polite' });
  const pick = (node: number) =>
    fill(
      details,
      nodePanel(evaluation, graph, node, (next) => chart.show(next)),
    );
  const chart = graphChart(graph, pick);
  pick(-1);
  let mode: GraphMode = 'phase';
  const legend = h('span', { class: 'legend' });
  const explain = () =>
    fill(
      legend,
      chart.colourBy(mode).map(({ name, colour }) => h('span', null, swatch(colour), name)),
      mode === 'stack' && 'one colour for each stack',
    );
  explain();
  onRedraw(explain);
  const saved = graph.tensors.filter((tensor) => tensor.saved);
  const decisions = [...new Set(saved.map((tensor) => tensor.decision).filter(Boolean))].sort();
  return [
    h(
      'div',
      { class: 'controls' },
      choice(
        'Colour by',
        [
          ['phase', 'phase'],
          ['stack', 'stack'],
          ['operator', 'operator type'],
        ],
        'phase',
        (next) => {
          mode = next as GraphMode;
          explain();
        },
      ),
      toggle('Saved tensors', true, (on) => chart.showSaved(on)),
      searchBox(
        'Find operators, types and tensors',
        (text) => {
          const count = chart.search(text);
          matched.textContent = text.trim() === '' ? '' : `${plural(count, 'node')}; Enter goes to the next`;
        },
        () => chart.next(),
      ),
      matched,
      h('span', { class: 'spacer' }),
      button('−', 'Zoom out', () => chart.zoomBy(1 / 1.5)),
      button('+', 'Zoom in', () => chart.zoomBy(1.5)),
      button('Fit', 'Show the whole graph', () => chart.fit()),
    ),
    h(
      'div',
      { class: 'panel chart-panel' },
      h('div', { class: 'graph' }, chart.canvas),
      h(
        'div',
        { class: 'legend' },
        legend,
        decisions.map((decision) => {
          const some = saved.filter((tensor) => tensor.decision === decision);
          return h(
            'span',
            null,
            h('span', { class: 'stroke', style: `background:${styleColour(decision)}` }),
            `${decision}: ${plural(some.length, 'saved tensor')}, ${byteSize(some.reduce((total, tensor) => total + tensor.bytes, 0))}`,
          );
        }),
      ),
    ),
    h(
      'p',
      { class: 'quiet hint keys' },
      'Click the picture, then: wheel or + − to zoom, drag or arrows to move, 0 to fit. Frames are fusion stacks; dashed nodes are recomputed.',
    ),
    details,
  ];
}

function nodePanel(evaluation: Evaluation, graph: Graph, node: number, show: (node: number) => void): Child {
  if (node < 0) return h('p', { class: 'quiet hint' }, 'Click a node: its numbers, inputs and outputs appear here.');
  const operator = evaluation.result.operators[graph.node[node]];
  const inputs = graph.read[node].map((index) => graph.tensors[index]);
  const outputs = graph.made[node].map((index) => graph.tensors[index]);
  return h(
    'div',
    { class: 'pinned' },
    h(
      'div',
      null,
      h('h4', null, graph.name[node]),
      operator
        ? facts(operatorFacts(evaluation, operator))
        : facts([
            ['type', graph.operator[node]],
            ['phase', graph.phase[node]],
            ['cost', 'none: a view of another tensor'],
          ]),
      operator &&
        button('Show in the table', 'Show in the table of operators', () => showOperator(evaluation, operator)),
    ),
    h(
      'div',
      null,
      h('h4', null, 'Reads'),
      tensorList(graph, inputs, (tensor) => (tensor.from >= 0 ? [tensor.from] : []), show),
    ),
    h(
      'div',
      null,
      h('h4', null, 'Makes'),
      tensorList(graph, outputs, (tensor) => tensor.to, show),
    ),
  );
}

function tensorList(
  graph: Graph,
  tensors: Tensor[],
  ends: (tensor: Tensor) => number[],
  show: (node: number) => void,
): Child {
  return h(
    'ul',
    { class: 'chain tensors' },
    tensors.map((tensor) =>
      h(
        'li',
        null,
        h('code', null, tensor.name),
        h(
          'span',
          { class: 'quiet' },
          ` ${tensor.shape} · ${byteSize(tensor.bytes)} · ${tensor.role}${tensor.decision ? ` · ${tensor.decision}` : ''}`,
        ),
        h(
          'div',
          null,
          ends(tensor)
            .slice(0, 12)
            .map((node) => button(graph.name[node], 'Show in the picture', () => show(node), 'link')),
        ),
      ),
    ),
  );
}

// The training graph with its places: nodes, tensors, and who makes and reads what.
import { column, indices, list, Missing, number, object, texts } from '../base/read';

export interface Graph {
  count: number;
  name: string[];
  operator: string[];
  phase: string[];
  stack: Int32Array;
  recomputed: Uint8Array;
  x: Float64Array;
  y: Float64Array;
  node: Int32Array; // index into the result's operators
  tensors: Tensor[];
  made: number[][]; // tensors by node
  read: number[][];
}

export interface Tensor {
  name: string;
  role: string;
  shape: string;
  bytes: number;
  from: number;
  to: number[];
  saved: boolean;
  decision: string;
}

export function decodeGraph(data: unknown, operators: number): Graph {
  if (data === undefined || data === null)
    throw new Missing('This result has no graph: it was made from result.json alone.');
  const nodes = object(object(data).nodes);
  if (!Array.isArray(nodes.name)) throw new Missing('The graph has no nodes.');
  const count = nodes.name.length;
  const graph: Graph = {
    count,
    name: texts(nodes.name),
    operator: padded(nodes.operator, count),
    phase: padded(nodes.phase, count),
    stack: indices(nodes.stack, count, 'stack', 2 ** 31),
    recomputed: Uint8Array.from(column(nodes.recomputed, count, 'recomputed'), (value) => (value === 1 ? 1 : 0)),
    x: column(nodes.x, count, 'x').map((value) => number(value, 0)),
    y: column(nodes.y, count, 'y').map((value) => number(value, 0)),
    node: indices(nodes.node, count, 'node', operators),
    tensors: decodeTensors(object(data).tensors, count),
    made: Array.from({ length: count }, () => []),
    read: Array.from({ length: count }, () => []),
  };
  graph.tensors.forEach((tensor, index) => {
    if (tensor.from >= 0) graph.made[tensor.from].push(index);
    for (const reader of tensor.to) graph.read[reader].push(index);
  });
  return graph;
}

function padded(value: unknown, count: number): string[] {
  const found = texts(value);
  while (found.length < count) found.push('');
  return found;
}

function decodeTensors(value: unknown, nodes: number): Tensor[] {
  const raw = object(value);
  const names = texts(raw.name);
  const count = names.length;
  const from = indices(raw.from, count, 'from', nodes);
  const bytes = column(raw.bytes, count, 'bytes');
  const saved = column(raw.saved, count, 'saved');
  const roles = padded(raw.role, count);
  const shapes = padded(raw.shape, count);
  const decisions = padded(raw.decision, count);
  const to = list(raw.to, (readers) =>
    list(readers, (reader) => number(reader, -1)).filter((r) => Number.isInteger(r) && r >= 0 && r < nodes),
  );
  return names.map((name, i) => ({
    name,
    role: roles[i],
    shape: shapes[i],
    bytes: bytes[i],
    from: from[i],
    to: to[i] ?? [],
    saved: saved[i] === 1,
    decision: decisions[i],
  }));
}

// What lies in memories, and where, as typed arrays.
import { column, indices, Missing, number, object, texts } from '../base/read';

export interface Lifetimes {
  count: number;
  memories: string[];
  names: string[];
  roles: string[];
  memory: Int32Array;
  name: Int32Array;
  role: Int32Array;
  start: Float64Array; // cycles
  end: Float64Array;
  bytes: Float64Array;
  address: Float64Array; // -1: not packed
}

export function decodeLifetimes(data: unknown): Lifetimes {
  if (data === undefined || data === null)
    throw new Missing('This result has no lifetimes: it was made from result.json alone.');
  const raw = object(data);
  if (!Array.isArray(raw.start)) throw new Missing('The lifetimes have no column “start”.');
  const count = raw.start.length;
  const tick = number(raw.tick, 1) || 1;
  const memories = texts(raw.memories);
  const names = texts(raw.names);
  const roles = texts(raw.roles);
  const start = column(raw.start, count, 'start');
  const end = column(raw.length, count, 'length');
  for (let i = 0; i < count; ++i) {
    start[i] *= tick;
    end[i] = start[i] + end[i] * tick;
  }
  return {
    count,
    memories,
    names,
    roles,
    memory: indices(raw.memory, count, 'memory', memories.length),
    name: indices(raw.name, count, 'name', names.length),
    role: indices(raw.role, count, 'role', roles.length),
    start,
    end,
    bytes: column(raw.bytes, count, 'bytes'),
    address: column(raw.address, count, 'address'),
  };
}

/** Replay scoring and rollout groups return the same bits in Python, in process, as in TypeScript. */
import { describe, expect, it } from 'vitest';
import { rolloutGroups, scoreReplay } from '../../src/index.js';
import { snakeCase } from '../../src/shared/letter-case.js';
import { askPython, whyAbsent } from '../support/python.js';
import { Random } from '../support/random.js';

const SCRIPT = 'package/rollouts.py';
/** Chosen by hand: more rows take longer. */
const ROWS = 2000;
const OPTIONS = [
  { grader: 'v2' },
  { grader: 'v3', shaping: { repetition: true, exploration: true } },
  { grader: 'v1', shaping: { repetition: true } },
];

interface Answer {
  readonly scores: readonly Record<string, string>[];
  readonly faults: readonly (readonly [number, string])[][];
  readonly groups: Record<string, string>;
}

const random = new Random('package-rollouts');
const below = (limit: number) => random.integer(0, limit - 1);

/** Draws beliefs, with NaN in the rows that state no belief. */
function drawBeliefs(rows: number): Float32Array {
  const beliefs = Float32Array.from({ length: 3 * rows }, () => random.real(-0.2, 1.2));
  for (let row = 0; row < rows; row++) if (below(3) === 0) beliefs.fill(Number.NaN, 3 * row, 3 * row + 3);
  return beliefs;
}

/** Draws rows. Some are invalid. */
function drawColumns() {
  const columns = {
    seeds: Uint32Array.from({ length: ROWS }, () => below(2 ** 32)),
    stepIndices: Uint8Array.from({ length: ROWS }, () => below(28)),
    histories: Uint8Array.from({ length: 28 * ROWS }, () => below(10)),
    actions: Int8Array.from({ length: ROWS }, () => below(11) - 1),
    beliefs: drawBeliefs(ROWS),
    beliefHistories: drawBeliefs(28 * ROWS),
  };
  for (let fault = 0; fault < 10; fault++) {
    columns.stepIndices[below(ROWS)] = 28 + fault;
    columns.actions[below(ROWS)] = 10 + fault;
    columns.histories[28 * below(ROWS)] = 77;
    columns.beliefs[3 * below(ROWS)] = Number.NaN;
  }
  return columns;
}

const DTYPES = new Map<unknown, string>([
  [Uint8Array, 'u8'],
  [Int8Array, 'i8'],
  [Uint32Array, 'u32'],
  [Float32Array, 'f32'],
]);
const base64 = (array: ArrayBufferView): string =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');

/** Encodes the arrays of a result by their names in Python. NaN has one pattern of bits on both sides. */
const encoded = (result: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(result)
      .filter(([, value]) => ArrayBuffer.isView(value))
      .map(([name, value]) => [snakeCase(name), base64(value)]),
  );

const absent = whyAbsent('rhythm-vec', '(npm run test:python-package)', SCRIPT, {
  columns: {},
  options: [],
  groups: { seeds: [1], group_size: 1 },
});

describe.skipIf(absent !== null)(
  `the Python package${absent === null ? '' : ` (skipped: ${absent})`}`,
  () => {
    it('scores replays and plays rollout groups as TypeScript does', async () => {
      const columns = drawColumns();
      const groups = { seeds: [5, 6, 7], groupSize: 4, gamma: 0.9, grader: 'v3' };
      const sent = Object.entries(columns).map(([name, array]) => [
        snakeCase(name),
        { dtype: DTYPES.get(array.constructor), bytes: base64(array) },
      ]);
      const { groupSize, ...others } = groups;
      const answer = askPython<Answer>(SCRIPT, {
        columns: Object.fromEntries(sent),
        options: OPTIONS,
        groups: { ...others, group_size: groupSize },
      });
      for (const [k, options] of OPTIONS.entries()) {
        // TypeScript returns `beliefSkill` beside the rewards and as a reward, Python only as a reward.
        const { rewards, faults, beliefSkill: _, ...scores } = scoreReplay(columns, options);
        expect(answer.scores[k]).toEqual(encoded({ ...scores, ...rewards }));
        expect(answer.faults[k]).toEqual(faults.map(({ index, code }) => [index, code]));
        expect(faults.length).toBeGreaterThan(20);
      }
      const played = await rolloutGroups({ ...groups, policy: 'random' });
      expect(answer.groups).toEqual(encoded(played));
    });
  },
);

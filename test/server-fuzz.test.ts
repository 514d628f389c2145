/** Whatever comes as a frame is answered, by an error if need be: nothing gets through to what nobody foresaw. */
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { InputError } from '../src/index.js';
import { Session } from '../src/server/session.js';
import { decodeFrame, encodeFrame } from '../src/server/vec/frame.js';
import { VecPool } from '../src/server/vec/pool.js';
import { VecSession } from '../src/server/vec/vec-session.js';
import { Slots } from '../src/slots/slots.js';
import { ACTION_NAMES } from '../src/world/fields.js';

const slots = new Slots({ capacity: 4, backend: 'reference' });
const session = new Session(slots);
const pool = new VecPool(16);
const vec = new VecSession({
  ...{ pool, engine: { backend: 'reference' } },
  turn: async () => {},
  onStepped: () => {},
});
afterAll(() => {
  session.end();
  vec.end();
  expect([slots.taken, pool.slots]).toEqual([0, 0]);
  slots.close();
});

const CODES = [
  'INVALID_JSON',
  'UNKNOWN_TYPE',
  'VALIDATION_ERROR',
  'EXECUTION_ERROR',
  'SESSION_ERROR',
  'CAPACITY_REACHED',
];
const TYPES = ['observation', 'state', 'mcp', 'created'];

function expectAnswer(frame: string | Uint8Array | null): void {
  if (frame === null || typeof frame !== 'string') return;
  const { type, data } = JSON.parse(frame);
  if (type !== 'error') expect(TYPES).toContain(type);
  else {
    expect(CODES).toContain(data.code);
    expect(data.message).toMatch(/\S/);
  }
}

const values = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(...ACTION_NAMES, 'v1', 'sampled', 0, -1, 2 ** 32, 1e300, []),
);
const keys = [
  'seed',
  'action_type',
  'belief',
  'profile',
  'grader',
  'num_envs',
  'actions',
  'mask',
  'observation',
  'outputs',
];
const messages = fc.record(
  {
    type: fc.oneof(fc.constantFrom('reset', 'step', 'state', 'mcp', 'create'), values),
    data: fc.oneof(fc.dictionary(fc.constantFrom(...keys), values), values),
  },
  { requiredKeys: [] },
);
const texts = fc.oneof(
  messages.map((message) => JSON.stringify(message)),
  fc.json(),
  fc.string(),
);

it('any text is answered by a session', async () => {
  const property = fc.asyncProperty(texts, async (text) => {
    expectAnswer((await session.answer(Buffer.from(text), false)).frame);
  });
  await fc.assert(property, { numRuns: 2000 });
});

it('any text is answered by a vector environment', async () => {
  const property = fc.asyncProperty(texts, async (text) => {
    expectAnswer((await vec.answer(Buffer.from(text), false)).frame);
  });
  await fc.assert(property, { numRuns: 2000 });
});

it('any bytes are a frame, or refused as none', () => {
  const good = encodeFrame('step', {}, [
    { name: 'actions', values: Uint8Array.of(1, 2, 3), shape: [3] },
    { name: 'beliefs', values: new Float32Array(9), shape: [3, 3] },
  ]);
  const damaged = fc
    .array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 4 })
    .map((changes) => {
      const bytes = Buffer.from(good);
      for (const [at, byte] of changes) bytes[at] = byte;
      return bytes;
    });
  const cut = fc.nat(good.length).map((length) => Buffer.from(good.slice(0, length)));
  const noise = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  const property = fc.property(fc.oneof(damaged, cut, noise), (bytes) => {
    try {
      decodeFrame(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
    }
  });
  fc.assert(property, { numRuns: 3000 });
});

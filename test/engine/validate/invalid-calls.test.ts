/** Invalid calls have the errors of test/support/invalid-calls.jsonl: python/tests/test_bad_input.py expects the same ones. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createVecEnv, type VecEnv } from '../../../src/engine/node.js';
import type { InputError } from '../../../src/shared/errors.js';
import { any } from '../../support/bad-calls.js';
import { fromLines } from '../../support/cli.js';
import { refusalOf } from '../../support/refusals.js';

/** The number of environments. */
const N = 4;

interface Case {
  readonly name: string;
  readonly call: 'step' | 'reset' | 'run' | 'fork' | 'assign' | 'create';
  /** JSON, in which NaN and Infinity are text and `{ repeat, count, at, as }` is a list, typed if `as` names a type. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly code: string;
  /** The field and row of the error; null for none. */
  readonly field: string | null;
  readonly row: number | null;
  /** The end of the message; null if it differs between the languages. */
  readonly remedy: string | null;
}

const CASES: Case[] = fromLines(
  readFileSync(new URL('../../support/invalid-calls.jsonl', import.meta.url), 'utf8'),
);
const ARRAYS = { Uint8Array, Int32Array, Float32Array };

interface Repeated {
  readonly repeat: unknown;
  readonly count: number;
  readonly at?: Readonly<Record<number, unknown>>;
  readonly as?: keyof typeof ARRAYS;
}

const isRepeated = (value: object): value is Repeated => 'repeat' in value;

/** Returns a value of a case as an argument. */
function decoded(value: unknown): unknown {
  if (value === 'NaN' || value === 'Infinity') return Number(value);
  if (Array.isArray(value)) return value.map(decoded);
  if (typeof value !== 'object' || value === null) return value;
  if (!isRepeated(value))
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, decoded(entry)]));
  const list = Array.from({ length: value.count }, (_, at) => any(decoded(value.at?.[at] ?? value.repeat)));
  return value.as === undefined ? list : ARRAYS[value.as].from(list);
}

function perform(env: VecEnv, { call, args }: Case): unknown {
  const { actions, policy, indices, ...options } = any(decoded(args));
  if (call === 'create') return createVecEnv({ numEnvs: N, ...options });
  if (call === 'reset') return env.reset(options);
  if (call === 'run') return env.run(policy, options);
  if (call === 'fork') return env.fork(indices, options);
  return call === 'assign' ? env.assign(env, indices) : env.step(actions, options);
}

describe('an invalid call, such as one with', () => {
  it.each(CASES)('$name', (given) => {
    using env = createVecEnv({ numEnvs: N });
    env.reset({ seed: 7 });
    env.step(new Uint8Array(N));
    const { code, field, row, message } = refusalOf(() => perform(env, given)) as InputError;
    expect([code, field ?? null, row ?? null]).toEqual([given.code, given.field, given.row]);
    if (given.remedy !== null) expect(message.endsWith(given.remedy), message).toBe(true);
  });
});

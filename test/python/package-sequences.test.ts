/** Random call sequences have the same results and errors in the Python package as in TypeScript. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { RecordedTrajectory } from '../../src/engine/backends/backend.js';
import type { VecEnv } from '../../src/engine/node.js';
import { RhythmError } from '../../src/shared/errors.js';
import { rowsOfTrajectory } from '../support/bits.js';
import { type Call, drawCall, drawCreate, Sequence } from '../support/package-calls.js';
import { askPython, whyAbsent } from '../support/python.js';
import { drawsOf, Random } from '../support/random.js';
import { outputColumns } from '../support/unchanged.js';

const SCRIPT = 'package/sequences.py';
/** The number of calls of a sequence. Chosen by hand: longer sequences take longer. */
const CALLS = 60;

interface Answer {
  readonly difference: { readonly at: number; readonly columns: Record<string, string> } | null;
  /** A snapshot of each environment at the end; null if it refuses one. */
  readonly snapshots: readonly (string | null)[];
}

type Bytes = Record<string, Uint8Array>;

const bytesOf = (array: ArrayBufferView): Uint8Array =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the bytes that a method returns, or the code of its error. */
function attempt(read: () => ArrayBufferView): Uint8Array {
  try {
    return bytesOf(read());
  } catch (error) {
    return Buffer.from((error as RhythmError).code);
  }
}

/** Copies all outputs and properties of an environment, by their names in Python. Trajectories are row-major. */
function outputsOf(env: VecEnv, result: object | null, trajectory: RecordedTrajectory | null): Bytes {
  const steps = Object.entries(trajectory === null ? {} : rowsOfTrajectory(trajectory, env.numEnvs));
  const columns = {
    ...outputColumns(env, result as never),
    ...Object.fromEntries(steps.map(([name, column]) => [`trajectory_${name}`, column])),
  };
  return {
    ...Object.fromEntries(
      Object.entries(columns).map(([name, column]) => [snakeCase(name), bytesOf(column)]),
    ),
    hash: attempt(() => env.stateHash()),
    targets: attempt(() => env.beliefTargets()),
    snapshot: attempt(() => env.snapshot()),
  };
}

/**
 * Makes a call. @returns the outputs and properties of its environment afterwards, and the name and code of the error, or "".
 */
function perform(sequence: Sequence, call: Call): Bytes {
  let trajectory: RecordedTrajectory | null = null;
  let refusal = '';
  try {
    trajectory = sequence.perform(call);
  } catch (error) {
    if (!(error instanceof RhythmError)) throw error;
    refusal = `${error.name} ${error.code}`;
  }
  const outputs = outputsOf(sequence.envs[call.env], sequence.results[call.env], trajectory);
  return { ...outputs, refusal: Buffer.from(refusal) };
}

function digestOf(columns: Bytes): string {
  const digest = createHash('sha256');
  for (const name of Object.keys(columns).sort()) digest.update(name).update(columns[name]);
  return digest.digest('hex');
}

const DTYPES: Readonly<Record<string, string>> = {
  Uint8Array: 'u8',
  Uint32Array: 'u32',
  Float32Array: 'f32',
};

/** Encodes arguments for the script: typed arrays as bytes, also within options. JSON leaves out undefined arguments. */
const encoded = (args: object): object =>
  Object.fromEntries(Object.entries(args).map(([name, value]) => [name, encodedValue(value)]));

function encodedValue(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) {
    return {
      dtype: DTYPES[value.constructor.name],
      bytes: Buffer.from(bytesOf(value)).toString('base64'),
    };
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? encoded(value) : value;
}

/** The calls of a sequence, and their results. */
interface Played {
  readonly sequence: Sequence;
  readonly calls: readonly Call[];
  readonly outputs: readonly Bytes[];
}

function play(seed: string): Played {
  const random = new Random(seed);
  const sequence = new Sequence();
  const calls: Call[] = [];
  const outputs: Bytes[] = [];
  const make = (call: Call): void => {
    calls.push(call);
    outputs.push(perform(sequence, call));
  };
  for (let env = 0; env < random.integer(1, 3); env++) make(drawCreate(random, env));
  while (calls.length < CALLS) make(drawCall(random, sequence));
  return { sequence, calls, outputs };
}

/** Describes the first call whose results differ in Python, and its differing columns. */
function describeDifference({ calls, outputs }: Played, { difference }: Answer): string[] {
  if (difference === null) return [];
  const { at, columns } = difference;
  const history = calls.slice(0, at + 1).map(({ name, env }) => `${name}(${env})`);
  const expected = outputs[at];
  const names = Object.keys({ ...expected, ...columns });
  const differing = names.filter(
    (name) => Buffer.from(expected[name] ?? []).toString('base64') !== columns[name],
  );
  const refusals = [expected.refusal, Buffer.from(columns.refusal, 'base64')].map(String).join(' and ');
  return [
    `call ${at}: ${JSON.stringify(calls[at])}: ${differing}; refusals: ${refusals}; after ${history.join(' ')}`,
  ];
}

/** Expects that an environment can restore the snapshot that Python took of the same environment. */
function expectRestorable(env: VecEnv, snapshot: string | null): void {
  if (snapshot === null) return;
  env.restore(Buffer.from(snapshot, 'base64'));
  expect(Buffer.from(env.snapshot()).toString('base64')).toBe(snapshot);
}

const absent = whyAbsent('rhythm-vec', '(npm run test:python-package)', SCRIPT, { sequences: [] });

describe.skipIf(absent !== null)(
  `the Python package${absent === null ? '' : ` (skipped: ${absent})`}`,
  () => {
    const played = Array.from({ length: absent === null ? drawsOf(200) : 0 }, (_, k) => play(`package ${k}`));

    it('returns the same bits as the TypeScript API', () => {
      const sequences = played.map(({ calls, outputs }) =>
        calls.map(({ name, env, args }, at) => ({
          name,
          env,
          args: encoded(args),
          digest: digestOf(outputs[at]),
        })),
      );
      const answers = askPython<Answer[]>(SCRIPT, { sequences });
      expect(answers.flatMap((answer, k) => describeDifference(played[k], answer))).toEqual([]);
      for (const [k, { snapshots }] of answers.entries()) {
        for (const [env, snapshot] of snapshots.entries()) {
          expectRestorable(played[k].sequence.envs[env], snapshot);
        }
      }
    });

    it('draws calls that succeed and calls that are refused', () => {
      const outcomes = played.flatMap(({ calls, outputs }) =>
        calls.map(({ name }, at) => `${name} ${outputs[at].refusal}`.trim()),
      );
      const succeeded = ['reset', 'step', 'run', 'fork', 'assign', 'snapshot', 'restore', 'close'];
      const refused = [
        'step InputError bad_belief',
        'step InputError illegal_action',
        'step StateError episode_over',
        'fork InputError bad_profile',
        'fork StateError episode_over',
        'fork StateError foreign_past',
        'reset InputError bad_belief',
        'reset InputError out_of_range',
        'run InputError unknown_name',
        'assign InputError bad_seed',
        'snapshot StateError foreign_past',
        'restore InputError bad_snapshot',
      ];
      expect(outcomes).toEqual(expect.arrayContaining([...succeeded, ...refused]));
    });
  },
);

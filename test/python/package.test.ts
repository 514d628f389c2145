/** The Python package returns the same bits and errors as TypeScript: random calls, replays, rollout groups and students. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadStudent, STUDENT_NAMES } from '../../src/agents/student/packaged-students.js';
import { encodeStudent } from '../../src/agents/student/student-file.js';
import type { RecordedTrajectory } from '../../src/engine/backends/backend.js';
import type { VecEnv } from '../../src/engine/node.js';
import { rolloutGroups, scoreReplay } from '../../src/index.js';
import { RhythmError } from '../../src/shared/errors.js';
import { snakeCase } from '../../src/shared/names.js';
import { rowsOfTrajectory } from '../support/bits.js';
import { temporaryDirectory } from '../support/cli.js';
import { type Call, drawCall, drawCreate, Sequence } from '../support/package-calls.js';
import { askPython, whyAbsent } from '../support/python.js';
import { drawsOf, Random } from '../support/random.js';
import { EVALUATION_SEEDS, playStudent } from '../support/student-episodes.js';
import { outputColumns } from '../support/unchanged.js';

const SCRIPT = 'package/sequences.py';
const PLAY = 'package/play.py';
/** The number of calls of a sequence, and of rows to score. Chosen by hand: more take longer. */
const [CALLS, ROWS] = [60, 2000];
const OPTIONS = [
  { grader: 'v2' },
  { grader: 'v3', shaping: { repetition: true, exploration: true } },
  { grader: 'v1', shaping: { repetition: true } },
];

interface Answer {
  readonly difference: { readonly at: number; readonly columns: Record<string, string> } | null;
  /** A snapshot of each environment at the end; null if it refuses one. */
  readonly snapshots: readonly (string | null)[];
}

type Bytes = Record<string, Uint8Array>;

const bytesOf = (array: ArrayBufferView): Uint8Array =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);
const base64 = (array: ArrayBufferView): string => Buffer.from(bytesOf(array)).toString('base64');

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
  Int8Array: 'i8',
  Uint8Array: 'u8',
  Uint32Array: 'u32',
  Float32Array: 'f32',
};

/** Encodes arguments for the script: typed arrays as bytes, also within options. JSON leaves out undefined arguments. */
const encoded = (args: object): object =>
  Object.fromEntries(Object.entries(args).map(([name, value]) => [name, encodedValue(value)]));

function encodedValue(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) {
    return { dtype: DTYPES[value.constructor.name], bytes: base64(value) };
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? encoded(value) : value;
}

/** Encodes the arrays of a result by their names in Python. NaN has one pattern of bits on both sides. */
const arraysOf = (result: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(result)
      .filter(([, value]) => ArrayBuffer.isView(value))
      .map(([name, value]) => [snakeCase(name), base64(value)]),
  );

/** Draws columns of rows to score. Some rows are invalid, and some state no belief: three NaN. */
function drawColumns() {
  const random = new Random('package rows');
  const below = (limit: number) => random.integer(0, limit - 1);
  const columns = {
    seeds: random.seeds(ROWS),
    stepIndices: random.bytes(ROWS, 0, 27),
    histories: random.bytes(28 * ROWS, 0, 9),
    actions: Int8Array.from({ length: ROWS }, () => below(11) - 1),
    beliefs: random.beliefs(ROWS, 0.7).beliefs,
    beliefHistories: random.beliefs(28 * ROWS, 0.7).beliefs,
  };
  for (let fault = 0; fault < 10; fault++) {
    columns.stepIndices[below(ROWS)] = 28 + fault;
    columns.actions[below(ROWS)] = 10 + fault;
    columns.histories[28 * below(ROWS)] = 77;
    columns.beliefs[3 * below(ROWS)] = Number.NaN;
  }
  return columns;
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

const pathOf = temporaryDirectory();
const playStudents = (students: readonly string[], seeds: readonly number[]) =>
  askPython<{ actions: string; beliefs: string }[]>(PLAY, { students, seeds });

const absent = whyAbsent('rhythm-vec', '(npm run test:python-package)', SCRIPT, { sequences: [] });

describe.skipIf(absent !== null)(
  `the Python package${absent === null ? '' : ` (skipped: ${absent})`}`,
  () => {
    it('returns the same bits and errors for random calls', () => {
      const played = Array.from({ length: drawsOf(200) }, (_, k) => play(`package ${k}`));
      const sequences = played.map(({ calls, outputs }) =>
        calls.map((call, at) => ({ ...call, args: encoded(call.args), digest: digestOf(outputs[at]) })),
      );
      const answers = askPython<Answer[]>(SCRIPT, { sequences });
      expect(answers.flatMap((answer, k) => describeDifference(played[k], answer))).toEqual([]);
      for (const [k, { snapshots }] of answers.entries()) {
        for (const [env, snapshot] of snapshots.entries())
          expectRestorable(played[k].sequence.envs[env], snapshot);
      }
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

    it('scores replays and plays rollout groups as TypeScript does', async () => {
      const columns = drawColumns();
      const { groupSize, ...groups } = { seeds: [5, 6, 7], groupSize: 4, gamma: 0.9, grader: 'v3' };
      const sent = Object.entries(encoded(columns)).map(([name, column]) => [snakeCase(name), column]);
      const answer = askPython<{
        scores: Record<string, string>[];
        faults: [number, string][][];
        groups: Record<string, string>;
      }>(PLAY, {
        columns: Object.fromEntries(sent),
        options: OPTIONS,
        groups: { ...groups, group_size: groupSize },
      });
      for (const [k, options] of OPTIONS.entries()) {
        // TypeScript returns `beliefSkill` beside the rewards and as a reward, Python only as a reward.
        const { rewards, faults, beliefSkill: _, ...scores } = scoreReplay(columns, options);
        expect(answer.scores[k]).toEqual(arraysOf({ ...scores, ...rewards }));
        expect(answer.faults[k]).toEqual(faults.map(({ index, code }) => [index, code]));
        expect(faults.length).toBeGreaterThan(20);
      }
      expect(answer.groups).toEqual(
        arraysOf(await rolloutGroups({ ...groups, groupSize, policy: 'random' })),
      );
    });

    it('plays students with the same actions and beliefs in all evaluation episodes', async () => {
      const answers = playStudents(STUDENT_NAMES, EVALUATION_SEEDS);
      for (const [k, name] of STUDENT_NAMES.entries()) {
        const { actions, beliefs } = await playStudent(name, EVALUATION_SEEDS);
        expect(answers[k].actions).toBe(base64(Uint8Array.from(actions)));
        expect(answers[k].beliefs).toBe(base64(Float32Array.from(beliefs)));
      }
    });

    it('reads students from files, and refuses damaged files and files of newer releases', async () => {
      const { manifest, network } = await loadStudent(STUDENT_NAMES[0]);
      const bytes = encodeStudent(manifest, network);
      const write = (name: string, content: Uint8Array | string): string => {
        writeFileSync(pathOf(name), content);
        return pathOf(name);
      };
      const whole = write('whole.safetensors', bytes);
      expect(playStudents([whole], [7])).toEqual(playStudents([STUDENT_NAMES[0]], [7]));
      const changed = bytes.slice();
      changed[changed.length - 100] ^= 1;
      const newer = Buffer.from(bytes)
        .toString('latin1')
        .replace('"features_version":"1"', '"features_version":"2"');
      for (const [content, message] of [
        [changed, 'Pass an undamaged copy'],
        [bytes.slice(0, 500), 'complete and unchanged'],
        [Buffer.from(newer, 'latin1'), 'Make it again with this release'],
      ] as const) {
        expect(() => playStudents([write('bad.safetensors', content)], [7])).toThrow(message);
      }
    });
  },
);

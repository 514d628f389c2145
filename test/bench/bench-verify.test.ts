/** The bench refuses to time cases with wrong outputs, and counts the written bytes correctly. */
import { describe, expect, test } from 'vitest';
import { rowsOf, SEQUENCE_ROWS, sequenceOf, stepsOf } from '../../bench/action-sequences.js';
import type { Case } from '../../bench/cases.js';
import { measure } from '../../bench/measure.js';
import { ROLLOUTS } from '../../bench/names.js';
import * as plays from '../../bench/plays.js';
import { copyOutputs, firstEnvs, type OpenRig, openEpisodes, type Setting } from '../../bench/rig.js';
import { compare, Mismatch, ReferenceOutputs, verify } from '../../bench/verify.js';
import { GRADE_ARRAYS, STEP_ARRAYS, WRITES } from '../../bench/writes.js';
import { NUM_COMPONENTS, NUM_METERS, NUM_STEPS, OBSERVATION_SIZE } from '../../src/world/fields.js';
import { NATIVE, reportAbsentEngines } from '../support/engines.js';

reportAbsentEngines();

/** A multiple of ROLLOUTS, the number of rollouts per state. */
const EPISODES = 3 * ROLLOUTS;
const REFERENCE: Setting = {
  backend: 'reference',
  kernel: null,
  threads: 1,
  episodes: EPISODES,
  layout: 'row-major',
};

/** Fills the outputs before a step. A step that writes an array changes at least one of its values. */
const UNWRITTEN = 77;

const caseOf = (open: OpenRig, openExpected: OpenRig, setting: Setting = REFERENCE): Case => ({
  ...setting,
  name: 'a case',
  writes: WRITES.grades,
  open,
  openExpected,
  steps: NUM_STEPS,
});
const time = (...cases: Case[]) => measure(cases, { rounds: 1, plays: 1, ms: 0, warmMs: 0 }, null, () => {});

describe('measure refuses to time', () => {
  test('outputs with one wrong bit in one episode', async () => {
    let played = 0;
    const faulty: OpenRig = (setting) => {
      const rig = plays.random(setting);
      return {
        ...rig,
        play(onOutputs) {
          played++;
          rig.play(onOutputs);
        },
        outputs() {
          const outputs = rig.outputs();
          const scores = outputs.get('finalScores')!;
          new Uint32Array(scores.buffer)[EPISODES - 1] ^= 1;
          return outputs;
        },
      };
    };
    const timed = time(caseOf(faulty, plays.random));
    await expect(timed).rejects.toThrow(Mismatch);
    await expect(timed).rejects.toThrow(`finalScores[${EPISODES - 1}]`);
    // Verification plays twice and compares the second play, because the bench times repeated plays.
    expect(played).toBe(2);
  });

  test('outputs of another policy', async () => {
    await expect(time(caseOf(plays.heuristic, plays.random))).rejects.toThrow(Mismatch);
  });

  test('a play that continues the previous play', async () => {
    const continuing: OpenRig = (setting) => {
      const rig = plays.random(setting);
      rig.begin();
      return { ...rig, begin() {} };
    };
    await expect(time(caseOf(continuing, plays.random))).rejects.toThrow(Mismatch);
  });

  test('too few results, and results with other arrays', async () => {
    await expect(time(caseOf(plays.sequence, plays.steps))).rejects.toThrow(`Expected ${NUM_STEPS} results`);
    await expect(time(caseOf(plays.sequence, plays.recordedSequence))).rejects.toThrow('trajectory.rewards');
  });
});

test('measure returns one row for each correct case', async () => {
  const { rows } = await time(caseOf(plays.random, plays.random), caseOf(plays.fork, plays.forkFromReset));
  expect(rows).toHaveLength(2);
  const { backend, kernel, threads, episodes, layout } = REFERENCE;
  expect(rows[0]).toMatchObject({ backend, kernel, threads, episodes, layout, name: 'a case' });
});

describe.each(NATIVE)('$name', ({ kernel }) => {
  const layouts = ['row-major', 'column-major'] as const;
  const workloads: [string, OpenRig, OpenRig][] = [
    ['single steps', plays.steps, plays.steps],
    ['steps of VecEnv', plays.envSteps, plays.steps],
    ['steps looped in the addon', plays.addonSteps, plays.sequence],
    ['a recorded action sequence', plays.recordedSequence, plays.recordedSequence],
    ['a fork', plays.fork, plays.forkFromReset],
  ];
  test.each(layouts.flatMap((layout) => workloads.map((workload) => [layout, ...workload] as const)))(
    '%s, %s: the outputs equal the reference',
    (layout, _name, open, openExpected) => {
      const setting: Setting = { ...REFERENCE, backend: 'native', kernel: kernel!, layout };
      const rig = open(setting);
      verify(caseOf(open, openExpected, setting), rig, new ReferenceOutputs());
      rig.close();
    },
  );

  test('a step writes the counted arrays, and the last step also the counted arrays of the grade', () => {
    const setting: Setting = { ...REFERENCE, backend: 'native', kernel: kernel! };
    const { batch, outputs, reset } = openEpisodes(setting);
    const rows = rowsOf(stepsOf(sequenceOf(EPISODES)));
    const unused = { beliefs: null, given: null, stepMask: null, resetMask: null, resetSeeds: null };
    const written = (actions: Uint8Array): string[] => {
      for (const name of [...STEP_ARRAYS, ...GRADE_ARRAYS]) outputs[name]!.fill(UNWRITTEN);
      batch.submit({ actions, ...unused });
      return Array.from(copyOutputs(outputs))
        .filter(([, array]) => array.some((value) => value !== UNWRITTEN))
        .map(([name]) => name);
    };
    reset();
    const byStep = rows.map(written);
    const all = [...STEP_ARRAYS, ...GRADE_ARRAYS].sort();
    for (const names of byStep.slice(0, -1)) expect(names.sort()).toEqual([...STEP_ARRAYS].sort());
    expect(byStep.at(-1)!.sort()).toEqual(all);
    batch.close();
  });
});

test('the counted bytes are the sizes of the written arrays', () => {
  // The observation, the reward and a byte of finalMask; then the components, six other numbers and the byte of `terminated`.
  const step = 4 * OBSERVATION_SIZE + 4 + 1;
  const grade = 4 * NUM_COMPONENTS + 6 * 4 + 1;
  expect(WRITES.grades.bytes()).toBe(step + grade);
  expect(WRITES.steps.bytes(NUM_STEPS)).toBe(NUM_STEPS * step + grade);
  expect(WRITES.trajectory.bytes()).toBe(NUM_STEPS * (1 + 1 + 4 + 3 * 4 * NUM_METERS) + step + grade);
});

describe('action sequences', () => {
  test('begin with the same rows at any size, and repeat them', () => {
    const long = sequenceOf(SEQUENCE_ROWS + 3);
    const rowAt = (i: number) => long.subarray(i * NUM_STEPS, (i + 1) * NUM_STEPS);
    expect(sequenceOf(2)).toEqual(long.subarray(0, 2 * NUM_STEPS));
    expect(rowAt(SEQUENCE_ROWS + 2)).toEqual(rowAt(2));
    expect(rowAt(1)).not.toEqual(rowAt(2));
  });

  test('have the same actions when they are stored by step', () => {
    const sequence = sequenceOf(3);
    rowsOf(stepsOf(sequence)).forEach((actions, t) => {
      expect(Array.from(actions)).toEqual([0, 1, 2].map((i) => sequence[i * NUM_STEPS + t]));
    });
  });
});

test('a large batch is compared with a small batch, environment by environment', () => {
  const outputsOf = (episodes: number) => {
    const rig = plays.random({ ...REFERENCE, episodes });
    rig.begin();
    rig.play();
    return rig.outputs();
  };
  const [small, large] = [outputsOf(5), outputsOf(8)];
  compare('same', firstEnvs(large, 8, 5), small);
  large.get('components')![4 * NUM_COMPONENTS] += 1;
  expect(() => compare('changed', firstEnvs(large, 8, 5), small)).toThrow(
    `components[${4 * NUM_COMPONENTS}]`,
  );
});

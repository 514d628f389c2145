/** The bench refuses to time cases with wrong outputs, and counts the written bytes and memory correctly. */
import { describe, expect, test } from 'vitest';
import { type Case, GRADE_ARRAYS, STEP_ARRAYS, WRITES } from '../../bench/cases.js';
import * as plays from '../../bench/episodes.js';
import { measure } from '../../bench/measure.js';
import { measurePromptMemory } from '../../bench/memory.js';
import { goldenOutputs } from '../../bench/peers/inputs.js';
import { compareOutputs } from '../../bench/peers/measure.js';
import { ROLLOUTS } from '../../bench/ratios.js';
import { compare, firstEnvs, Mismatch, ReferenceOutputs, verify } from '../../bench/verify.js';
import { NUM_COMPONENTS, NUM_METERS, NUM_STEPS, OBSERVATION_SIZE } from '../../src/world/fields.js';
import { NATIVE, reportAbsentEngines } from '../support/engines.js';

reportAbsentEngines();

type OpenRig = plays.OpenRig;
type Setting = plays.Setting;
const { rowsOf, sequenceOf, stepsOf } = plays;

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
const time = (...cases: Case[]) => measure(cases, { rounds: 1, plays: 1, ms: 0, warmMs: 0 }, null);

describe('measure refuses to time', () => {
  test('outputs with one wrong bit in one episode', async () => {
    let played = 0;
    const faulty: OpenRig = (setting) => {
      const rig = plays.random(setting);
      const play = (onOutputs?: () => void) => {
        played++;
        rig.play(onOutputs);
      };
      const outputs = () => {
        const copies = rig.outputs();
        new Uint32Array(copies.get('finalScores')!.buffer)[EPISODES - 1] ^= 1;
        return copies;
      };
      return { ...rig, play, outputs };
    };
    const timed = time(caseOf(faulty, plays.random));
    await expect(timed).rejects.toThrow(Mismatch);
    await expect(timed).rejects.toThrow(`finalScores[${EPISODES - 1}]`);
    // Verification plays twice and compares the second play, because the bench times repeated plays.
    expect(played).toBe(2);
  });

  /** A play that continues the previous play. */
  const continuing: OpenRig = (setting) => {
    const rig = plays.random(setting);
    rig.begin();
    return { ...rig, begin() {} };
  };
  test.each([
    ['outputs of another policy', plays.sequence, plays.random, 'Expected'],
    ['a play that continues the previous play', continuing, plays.random, 'Expected'],
    ['too few results', plays.sequence, plays.steps, `Expected ${NUM_STEPS} results`],
    ['results with other arrays', plays.sequence, plays.recordedSequence, 'trajectory.rewards'],
  ])('%s', async (_, open, openExpected, message) => {
    const timed = time(caseOf(open, openExpected));
    await expect(timed).rejects.toThrow(Mismatch);
    await expect(timed).rejects.toThrow(message);
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
    const { batch, outputs, reset } = plays.openEpisodes(setting);
    const rows = rowsOf(stepsOf(sequenceOf(EPISODES)));
    const written = (actions: Uint8Array): string[] => {
      for (const name of [...STEP_ARRAYS, ...GRADE_ARRAYS]) outputs[name]!.fill(UNWRITTEN);
      batch.submit({ actions, ...plays.NO_INPUTS });
      return Array.from(plays.copyOutputs(outputs))
        .filter(([, array]) => array.some((value) => value !== UNWRITTEN))
        .map(([name]) => name);
    };
    reset();
    const byStep = rows.map((actions) => written(actions).sort());
    for (const names of byStep.slice(0, -1)) expect(names).toEqual([...STEP_ARRAYS].sort());
    expect(byStep.at(-1)).toEqual([...STEP_ARRAYS, ...GRADE_ARRAYS].sort());
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

test('action sequences begin with the same rows at any size, repeat them, and are the same if stored by step', () => {
  const long = sequenceOf(plays.SEQUENCE_ROWS + 3);
  const rowAt = (i: number) => long.subarray(i * NUM_STEPS, (i + 1) * NUM_STEPS);
  expect(sequenceOf(2)).toEqual(long.subarray(0, 2 * NUM_STEPS));
  expect(rowAt(plays.SEQUENCE_ROWS + 2)).toEqual(rowAt(2));
  expect(rowAt(1)).not.toEqual(rowAt(2));
  rowsOf(stepsOf(sequenceOf(3))).forEach((actions, t) => {
    expect(Array.from(actions)).toEqual([0, 1, 2].map((i) => rowAt(i)[t]));
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

test('prompts made in batches take less memory than all their texts together', async () => {
  const { prompts, bytes, startBytes, peakBytes } = await measurePromptMemory(2 ** 18);
  expect(prompts).toBe(2 ** 18);
  // The texts have 191 MB. Both bounds are chosen by hand.
  expect(bytes).toBeGreaterThan(160e6);
  expect(peakBytes - startBytes).toBeLessThan(120e6);
});

// `bench --smoke` compares all peers with the golden values.
test('compareOutputs refuses values that differ by more than the tolerance, and another number of values', () => {
  const wanted = goldenOutputs();
  const got = wanted.slice();
  got[got.length - 1] += 1e-6;
  compareOutputs('a player that fuses multiplications and additions', got, wanted, 2e-6);
  expect(() => compareOutputs('an exact player', got, wanted, 0)).toThrow(Mismatch);
  expect(() =>
    compareOutputs('a player that fuses multiplications and additions', got, wanted, 1e-7),
  ).toThrow(Mismatch);
  expect(() => compareOutputs('a short player', got.subarray(1), wanted, 0)).toThrow(`${wanted.length}`);
});

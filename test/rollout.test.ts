/** Whole episodes: a fused run equals the same actions step by step, and the reference's, with every step recorded. */
import { describe, expect, it } from 'vitest';
import type { RunRequest } from '../src/backends/backend.js';
import { allocateTrajectory } from '../src/backends/outputs.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../src/world/fields.js';
import { type Columns, copies, expectEqual, lasting } from './support/bits.js';
import { ENGINES, NATIVE } from './support/engines.js';
import { forAll, type Random } from './support/random.js';
import { type Opened, openBatch } from './support/seam.js';

const SIZES = [1, 15, 16, 17, 50];

/** All that a run leaves behind; its rewards are the trajectory's. */
function runWith(opened: Opened, request: RunRequest): Columns {
  const trajectory = allocateTrajectory(opened.outputs.rewards.length);
  expect(opened.batch.run({ ...request, trajectory })).toBeNull();
  return { ...opened.see(), ...copies(trajectory) };
}

/** The same actions and beliefs, one step of the slots that are not at their stop at a time. */
function stepWith(opened: Opened, request: RunRequest, tape: Int8Array): Columns {
  const n = opened.outputs.rewards.length;
  const trajectory = allocateTrajectory(n);
  for (let pass = 0; pass < NUM_STEPS; pass++) {
    const at = Array.from(
      { length: n },
      (_, i) => i * NUM_STEPS + opened.outputs.observations[i * OBSERVATION_SIZE],
    );
    const stepMask = Uint8Array.from(at, (row, i) =>
      Number(row - i * NUM_STEPS < (request.stops?.[i] ?? NUM_STEPS)),
    );
    const actions = Uint8Array.from(at, (row, i) => (stepMask[i] ? tape[row] : 0));
    const believed = beliefsAt(request, at);
    expect(
      opened.batch.submit({ actions, ...believed, stepMask, resetMask: null, resetSeeds: null }),
    ).toBeNull();
    at.forEach((row, i) => {
      if (stepMask[i]) note(trajectory, row, opened.outputs.observations.subarray(i * OBSERVATION_SIZE));
    });
  }
  return { ...opened.see(), ...copies(trajectory) };
}

function beliefsAt(
  { beliefs }: RunRequest,
  at: number[],
): { beliefs: Float32Array | null; given: Uint8Array | null } {
  if (beliefs === null) return { beliefs: null, given: null };
  const rows = at.map((row) =>
    beliefs.kind === 'constant' ? beliefs.belief : beliefs.beliefs.subarray(row * 3, row * 3 + 3),
  );
  return {
    beliefs: Float32Array.from(rows.flatMap((row) => (row.length === 3 ? Array.from(row) : [0, 0, 0]))),
    given: Uint8Array.from(at, (row) => (beliefs.kind === 'constant' ? 1 : (beliefs.given[row] ?? 0))),
  };
}

function note(to: ReturnType<typeof allocateTrajectory>, at: number, seen: Float32Array): void {
  to.actions[at] = seen[OBSERVATION.lastAction];
  to.events[at] = seen[OBSERVATION.event];
  to.rewards[at] = seen[OBSERVATION.reward];
  const five = (offset: number) => seen.subarray(offset, offset + NUM_METERS);
  to.meters.set(five(OBSERVATION.meters), at * NUM_METERS);
  to.deltas.set(five(OBSERVATION.deltas), at * NUM_METERS);
  to.anomalies.set(five(OBSERVATION.anomalies), at * NUM_METERS);
}

/** A batch that has begun, its slots perhaps at different steps; and a run to make from there. */
function scenario(random: Random): {
  numEnvs: number;
  begin: (opened: Opened) => Opened;
  request: RunRequest;
} {
  const numEnvs = random.pick(SIZES);
  const reset = random.reset(numEnvs);
  const prefix = random.chance(0.5) ? random.run(numEnvs) : null;
  const start = openBatch(ENGINES[0], numEnvs);
  start.batch.reset(reset);
  if (prefix !== null) start.batch.run(prefix);
  const words = start.batch.save();
  const begin = (opened: Opened) => {
    opened.batch.load(words);
    return opened;
  };
  return { numEnvs, begin, request: random.run(numEnvs) };
}

describe.each(ENGINES)('$name', (engine) => {
  it('a fused run equals its steps', () => {
    forAll(80, (random) => {
      const { numEnvs, begin, request } = scenario(random);
      const fused = runWith(begin(openBatch(engine, numEnvs)), request);
      const tape = fused.actions as Int8Array;
      const stepped = stepWith(begin(openBatch(engine, numEnvs)), request, tape);
      expectEqual(lasting(fused), lasting(stepped));
    });
  });
});

describe.each(NATIVE)('$name', (engine) => {
  it('a fused run equals the reference, recorded or not', () => {
    forAll(120, (random) => {
      const { numEnvs, begin, request } = scenario(random);
      const [expected, recorded, plain] = [ENGINES[0], engine, engine].map((each) =>
        begin(openBatch(each, numEnvs)),
      );
      expectEqual(runWith(expected, request), runWith(recorded, request));
      expect(plain.batch.run({ ...request, trajectory: null })).toBeNull();
      expectEqual(expected.see(), plain.see());
    });
  });
});

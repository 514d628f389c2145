/** A run has the results of the same actions step by step, and those of the reference. Its trajectory records every step. */
import { describe, expect, it } from 'vitest';
import type { RunRequest } from '../../../src/engine/backends/backend.js';
import { allocateTrajectory, TRAJECTORY_FIELDS } from '../../../src/engine/backends/outputs.js';
import { NUM_METERS, NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../../src/world/fields.js';
import {
  ASYNC_ENGINES,
  type AsyncEngine,
  OTHERS,
  REFERENCE,
  reportAbsentEngines,
  runsOn,
} from '../../support/async-engines.js';
import {
  type Columns,
  copyColumns,
  expectEqual,
  rowsOfTrajectory,
  withoutFinalMask,
} from '../../support/bits.js';
import { forAllAsync, type OpenedAsyncBatch, openAsyncBatch } from '../../support/open-async-batch.js';
import { Random } from '../../support/random.js';

reportAbsentEngines();

/** Numbers of environments around 16, a tile: kernels store the states of a tile together. */
const SIZES = [1, 15, 16, 17, 50];

/** Runs a batch. Returns copies of outputs, states and trajectory, with the trajectory's rewards in place of the outputs'. */
async function runWith({ batch, numEnvs, columns }: OpenedAsyncBatch, request: RunRequest): Promise<Columns> {
  const trajectory = allocateTrajectory(numEnvs);
  expect(await batch.run({ ...request, trajectory })).toBeNull();
  return { ...(await columns()), ...copyColumns(trajectory) };
}

/** Plays the same actions and beliefs step by step, each environment up to the step at which it stops. */
async function stepWith(
  { batch, numEnvs, readOutputs, columns }: OpenedAsyncBatch,
  request: RunRequest,
  sequence: Int8Array,
): Promise<Columns> {
  const trajectory = allocateTrajectory(numEnvs);
  let { observations } = await readOutputs();
  for (let pass = 0; pass < NUM_STEPS; pass++) {
    const at = Array.from({ length: numEnvs }, (_, i) => i * NUM_STEPS + observations[i * OBSERVATION_SIZE]);
    const stepMask = Uint8Array.from(at, (row, i) =>
      Number(row - i * NUM_STEPS < (request.stops?.[i] ?? NUM_STEPS)),
    );
    const actions = Uint8Array.from(at, (row, i) => (stepMask[i] ? sequence[row] : 0));
    const beliefs = beliefsAt(request, at);
    expect(batch.submit({ actions, ...beliefs, stepMask, resetMask: null, resetSeeds: null })).toBeNull();
    ({ observations } = await readOutputs());
    at.forEach((row, i) => {
      if (stepMask[i]) recordStep(trajectory, row, observations.subarray(i * OBSERVATION_SIZE));
    });
  }
  return { ...(await columns()), ...copyColumns(trajectory) };
}

/** Returns a run's beliefs in the form of a step's. @param at the row of each environment in arrays [numEnvs x 28]. */
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

function recordStep(to: ReturnType<typeof allocateTrajectory>, at: number, observation: Float32Array): void {
  to.actions[at] = observation[OBSERVATION.lastAction];
  to.events[at] = observation[OBSERVATION.event];
  to.rewards[at] = observation[OBSERVATION.reward];
  const meterValues = (offset: number) => observation.subarray(offset, offset + NUM_METERS);
  to.meters.set(meterValues(OBSERVATION.meters), at * NUM_METERS);
  to.deltas.set(meterValues(OBSERVATION.deltas), at * NUM_METERS);
  to.anomalies.set(meterValues(OBSERVATION.anomalies), at * NUM_METERS);
}

interface Scenario {
  /** Opens a batch and loads states of episodes at equal or different steps. */
  readonly begin: (engine: AsyncEngine) => Promise<OpenedAsyncBatch>;
  /** A run that continues these episodes. */
  readonly request: RunRequest;
}

/** Draws a scenario. */
async function scenario(random: Random): Promise<Scenario> {
  const numEnvs = random.pick(SIZES);
  const reset = random.resetAtAnyStep(numEnvs);
  const prefix = random.chance(0.5) ? random.run(numEnvs) : null;
  const start = await openAsyncBatch(REFERENCE, numEnvs);
  start.batch.reset(reset);
  if (prefix !== null) await start.batch.run(prefix);
  const words = await start.batch.save();
  const begin = async (engine: AsyncEngine) => {
    const opened = await openAsyncBatch(engine, numEnvs);
    opened.batch.load(words);
    return opened;
  };
  return { begin, request: random.run(numEnvs) };
}

/** Runs in slices of 16 environments, the smallest that `RunRequest.slice` allows; the last slice may have fewer. */
async function runParts(
  { batch, numEnvs, columns }: OpenedAsyncBatch,
  request: RunRequest,
): Promise<Columns> {
  const trajectory = allocateTrajectory(numEnvs);
  for (let first = 0; first < numEnvs; first += 16) {
    const slice = { first, end: Math.min(first + 16, numEnvs) };
    expect(await batch.run({ ...request, trajectory, slice })).toBeNull();
  }
  return { ...(await columns()), ...copyColumns(trajectory) };
}

/** Opens 40 environments. @returns them, and a run of action sequences: the last action of the last one is illegal. */
async function withWrongSequence(
  engine: AsyncEngine,
): Promise<{ opened: OpenedAsyncBatch; request: RunRequest }> {
  const n = 40;
  const random = new Random('wrong action sequence');
  const opened = await openAsyncBatch(engine, n);
  opened.batch.reset(random.resetAtAnyStep(n));
  const actions = new Uint8Array(n * NUM_STEPS).fill(10, n * NUM_STEPS - 1);
  const policy = { kind: 'sequence', actions } as const;
  return { opened, request: { policy, beliefs: null, stops: null, trajectory: null } };
}

describe.each(ASYNC_ENGINES)('$name', (engine) => {
  it('a run equals the same actions step by step', () =>
    forAllAsync(runsOn(engine, 80), async (random) => {
      const { begin, request } = await scenario(random);
      const expected = await runWith(await begin(engine), request);
      const stepped = await stepWith(await begin(engine), request, expected.actions as Int8Array);
      expectEqual(withoutFinalMask(expected), withoutFinalMask(stepped));
    }));

  it('a run records the requested fields, in either layout', () =>
    forAllAsync(runsOn(engine, 80), async (random) => {
      const { begin, request } = await scenario(random);
      const expected = await runWith(await begin(engine), request);
      const { batch, numEnvs, columns } = await begin(engine);
      const fields = TRAJECTORY_FIELDS.filter(() => random.chance(0.6));
      const columnMajor = random.chance(0.7);
      const trajectory = allocateTrajectory(numEnvs, fields, columnMajor);
      expect(await batch.run({ ...request, trajectory })).toBeNull();
      const rows = rowsOfTrajectory(trajectory, numEnvs);
      expect(Object.keys(rows)).toEqual(fields);
      expectEqual({ ...expected, ...rows }, expected);
      const { rewards: _, ...others } = await columns();
      expectEqual(others, Object.fromEntries(Object.keys(others).map((name) => [name, expected[name]])));
    }));

  it('a run in parts equals a whole run', () =>
    forAllAsync(runsOn(engine, 20), async (random) => {
      const { begin, request } = await scenario(random);
      expectEqual(await runWith(await begin(engine), request), await runParts(await begin(engine), request));
    }));

  it('the first slice of a run checks the actions of all slices', async () => {
    const { opened, request } = await withWrongSequence(engine);
    const before = await opened.columns();
    const refusal = await opened.batch.run({ ...request, slice: { first: 0, end: 16 } });
    expect(refusal).toEqual({ code: 'illegal_action', index: 39, step: NUM_STEPS - 1, value: 10 });
    expectEqual(before, await opened.columns());
  });
});

describe.each(OTHERS)('$name', (engine) => {
  it('a run equals the reference, with and without a trajectory', () =>
    forAllAsync(runsOn(engine, 120), async (random) => {
      const { begin, request } = await scenario(random);
      const [expected, recorded, plain] = await Promise.all([REFERENCE, engine, engine].map(begin));
      expectEqual(await runWith(expected, request), await runWith(recorded, request));
      expect(await plain.batch.run({ ...request, trajectory: null })).toBeNull();
      expectEqual(await expected.columns(), await plain.columns());
    }));
});

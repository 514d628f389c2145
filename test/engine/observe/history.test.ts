/** Histories: recorded steps, steps replayed from the state, and a plain list of steps must be equal. */
import { describe, expect, it } from 'vitest';
import type { Batch, Outputs, Trajectory } from '../../../src/engine/backends/backend.js';
import { allocateTrajectory } from '../../../src/engine/backends/outputs.js';
import { HISTORY_SIZE, HistoryRows } from '../../../src/engine/observe/history.js';
import { type HistoryStep, RECORD_SIZE } from '../../../src/engine/observe/past-step.js';
import { replayHistory } from '../../../src/engine/observe/replay-history.js';
import { NUM_STEPS, OBSERVATION, OBSERVATION_SIZE, STATE, STATE_WORDS } from '../../../src/world/fields.js';
import { createWorld, type World } from '../../../src/world/world.js';
import { type Engine, TWO_ENGINES } from '../../support/engines.js';
import { readHistory } from '../../support/naive-encoder.js';
import { openBatch } from '../../support/open-batch.js';
import { forAll, Random } from '../../support/random.js';
import { changedWorld } from '../../support/worlds.js';

/** A batch, its history, and a plain list of the steps of each current episode. */
interface Recorded {
  readonly batch: Batch;
  readonly outputs: Outputs;
  readonly history: HistoryRows;
  readonly lists: HistoryStep[][];
}

function open(engine: Engine, n: number, world: World, imagination: boolean): Recorded {
  const { batch, outputs } = openBatch(engine, n, { world, imagination });
  return { batch, outputs, history: new HistoryRows(n), lists: Array.from({ length: n }, () => []) };
}

/** Reads the last step from a row of observations. */
function observedStep(row: Float32Array): HistoryStep {
  const part = (from: number) => row.slice(from, from + 5);
  return {
    step: row[OBSERVATION.step] - 1,
    action: row[OBSERVATION.lastAction],
    event: row[OBSERVATION.event],
    reward: row[OBSERVATION.reward],
    meters: part(OBSERVATION.meters),
    deltas: part(OBSERVATION.deltas),
    anomalies: part(OBSERVATION.anomalies),
  };
}

const rowOf = (outputs: Outputs, i: number): Float32Array =>
  outputs.observations.subarray(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE);

function reset(random: Random, { batch, history, lists }: Recorded): void {
  const n = lists.length;
  const mask = random.chance(0.5) ? null : random.mask(n, 0.4);
  batch.reset({ ...random.resetAtAnyStep(n), mask });
  history.clear(mask);
  lists.forEach((list, i) => {
    if (mask === null || mask[i] !== 0) list.length = 0;
  });
}

function step(random: Random, { batch, outputs, history, lists }: Recorded): void {
  const request = random.step(outputs.terminated);
  expect(batch.submit(request)).toBeNull();
  const { stepMask, resetMask } = request;
  history.push(outputs.observations, stepMask);
  if (resetMask !== null) history.clear(resetMask);
  lists.forEach((list, i) => {
    if (stepMask === null || stepMask[i] !== 0) list.push(observedStep(rowOf(outputs, i)));
    if (resetMask !== null && resetMask[i] !== 0) list.length = 0;
  });
}

function trajectoryStep(trajectory: Trajectory, at: number): HistoryStep {
  const part = (values: Float32Array) => values.slice(at * 5, at * 5 + 5);
  return {
    step: at % NUM_STEPS,
    action: trajectory.actions[at],
    event: trajectory.events[at],
    reward: trajectory.rewards[at],
    meters: part(trajectory.meters),
    deltas: part(trajectory.deltas),
    anomalies: part(trajectory.anomalies),
  };
}

function run(random: Random, { batch, history, lists }: Recorded): void {
  const trajectory = allocateTrajectory(lists.length);
  expect(batch.run(random.run(lists.length, trajectory))).toBeNull();
  history.append(trajectory);
  lists.forEach((list, i) => {
    for (let at = i * NUM_STEPS; at < (i + 1) * NUM_STEPS; at++) {
      if (trajectory.actions[at] >= 0) list.push(trajectoryStep(trajectory, at));
    }
  });
}

/** Copies environments of `source`, which may be the same batch. */
function gather(random: Random, target: Recorded, source: Recorded): void {
  const indices = Uint32Array.from(target.lists, () => random.integer(0, source.lists.length - 1));
  target.batch.gather(source.batch, indices);
  target.history.gather(source.history, indices);
  const lists = source.lists.map((list) => list.slice());
  target.lists.forEach((list, i) => {
    list.splice(0, list.length, ...lists[indices[i]]);
  });
}

/** Returns the last steps in the form of `readHistory`. */
function records(steps: readonly HistoryStep[]): Float32Array {
  const rows = new Float32Array(HISTORY_SIZE);
  for (let at = 0; at < HISTORY_SIZE; at += RECORD_SIZE) rows[at] = -1;
  steps.slice(-7).forEach(({ action, reward, deltas, anomalies }, k, last) => {
    rows.set([action, reward, ...deltas, ...anomalies], (7 - last.length + k) * RECORD_SIZE);
  });
  return rows;
}

const bits = (rows: Float32Array): Uint32Array => new Uint32Array(rows.slice().buffer);

/** Expects that recorded steps, replayed steps and the list are equal. */
function expectAgreement({ batch, history, lists }: Recorded, world: World, imagination: boolean): void {
  const words = batch.save();
  lists.forEach((list, i) => {
    const state = words.subarray(i * STATE_WORDS, (i + 1) * STATE_WORDS);
    expect(state[STATE.step] - state[STATE.began]).toBe(list.length);
    expect(replayHistory(world, imagination, state, NUM_STEPS)).toEqual(list);
    const last = replayHistory(world, imagination, state);
    expect(last).toEqual(list.slice(-7));
    expect(bits(readHistory(history, i))).toEqual(bits(records(list)));
    const replaced = new HistoryRows(1);
    replaced.replace(0, replayHistory(world, imagination, state, NUM_STEPS));
    replaced.replace(0, last);
    expect(bits(readHistory(replaced, 0))).toEqual(bits(readHistory(history, i)));
  });
}

describe.each(TWO_ENGINES)('$name', (engine) => {
  it('the histories agree after random masked steps, resets, runs and copies', () => {
    forAll(25, (random) => {
      const n = random.pick([1, 5, 17, 33]);
      const imagination = random.chance(0.3);
      const world = createWorld(random.chance(0.5) ? undefined : changedWorld(random));
      const [first, second] = [n, 9].map((size) => open(engine, size, world, imagination));
      for (const each of [first, second]) each.batch.reset(random.resetAtAnyStep(each.lists.length, world));
      for (let calls = 0; calls < 25; calls++) {
        const call = random.pick([step, step, step, step, step, step, run, reset]);
        call(random, random.chance(0.7) ? first : second);
        if (random.chance(0.1)) gather(random, first, random.pick([first, second]));
      }
      for (const each of [first, second]) {
        expectAgreement(each, world, imagination);
        each.batch.close();
      }
    });
  });

  it('the histories agree at every step of whole episodes', () => {
    const random = new Random('whole');
    const recorded = open(engine, 20, createWorld(), false);
    recorded.batch.reset(random.reset(20));
    expectAgreement(recorded, createWorld(), false);
    for (let t = 0; t < NUM_STEPS; t++) {
      const request = { ...random.step(new Uint8Array(20), false), stepMask: null };
      expect(recorded.batch.submit({ ...request, actions: random.bytes(20, 0, 9) })).toBeNull();
      recorded.history.push(recorded.outputs.observations, null);
      recorded.lists.forEach((list, i) => {
        list.push(observedStep(rowOf(recorded.outputs, i)));
      });
      expectAgreement(recorded, createWorld(), false);
    }
    expect(recorded.outputs.terminated).toEqual(new Uint8Array(20).fill(1));
  });
});

describe('a history', () => {
  /** Number k of the observation is `first` + k. A record (past-step.ts) has the numbers from 10, the last action, on. */
  const observation = (first: number) => Float32Array.from({ length: OBSERVATION_SIZE }, (_, k) => first + k);

  it('begins with empty records', () => {
    expect(readHistory(new HistoryRows(2), 1)).toEqual(records([]));
  });

  it('keeps seven steps of each environment, the oldest first', () => {
    const history = new HistoryRows(2);
    for (let t = 0; t < 9; t++) {
      const rows = Float32Array.from([...observation(1000 + 100 * t), ...observation(5000 + 100 * t)]);
      history.push(rows, t < 2 ? null : Uint8Array.of(1, 0));
    }
    const [many, few] = [0, 1].map((i) => readHistory(history, i));
    expect(Array.from({ length: 7 }, (_, k) => many[k * RECORD_SIZE])).toEqual(
      [2, 3, 4, 5, 6, 7, 8].map((t) => 1010 + 100 * t),
    );
    expect([...many.subarray(6 * RECORD_SIZE)]).toEqual(
      Array.from({ length: RECORD_SIZE }, (_, k) => 1810 + k),
    );
    expect(Array.from({ length: 7 }, (_, k) => few[k * RECORD_SIZE])).toEqual([
      -1, -1, -1, -1, -1, 5010, 5110,
    ]);
  });

  it('clears the environments of a mask, and no others', () => {
    const history = new HistoryRows(3);
    history.push(Float32Array.from([...observation(0), ...observation(100), ...observation(200)]), null);
    const before = [0, 1, 2].map((i) => readHistory(history, i));
    history.clear(Uint8Array.of(0, 255, 0));
    expect([0, 1, 2].map((i) => readHistory(history, i))).toEqual([before[0], records([]), before[2]]);
    history.clear(null);
    expect([0, 1, 2].map((i) => readHistory(history, i))).toEqual([records([]), records([]), records([])]);
  });
});

it('replayHistory returns at most the requested number of steps', () => {
  const world = createWorld();
  const { batch } = openBatch(TWO_ENGINES[0], 1);
  batch.reset({ ...new Random(3).reset(1), mask: null });
  const steps = (last?: number) => replayHistory(world, false, batch.save(), last).map((past) => past.step);
  expect([steps(), steps(0)]).toEqual([[], []]);
  const policy = { kind: 'heuristic' } as const;
  batch.run({ policy, beliefs: null, stops: Uint8Array.of(9), trajectory: null });
  expect(steps()).toEqual([2, 3, 4, 5, 6, 7, 8]);
  expect([steps(0), steps(1), steps(28)]).toEqual([[], [8], [0, 1, 2, 3, 4, 5, 6, 7, 8]]);
});

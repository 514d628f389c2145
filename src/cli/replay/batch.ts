/** Rows of stored episodes, lived again together. */
import { EnvOfSize } from '../../evaluate/env-of-size.js';
import type { RunResult } from '../../vec-env/options.js';
import {
  ACTION_NAMES,
  COMPONENT_NAMES,
  EVENT_NAMES,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_METERS,
  NUM_STEPS,
} from '../../world/fields.js';
import type { EngineOptions } from '../options.js';
import type { ReplayRow } from './row.js';

const MAX_F32 = (2 - 2 ** -23) * 2 ** 127;

/** Replays batches of rows on one engine. */
export class Replayer implements Disposable {
  readonly #envs: EnvOfSize;

  constructor({ backend, kernel, threads }: EngineOptions) {
    this.#envs = new EnvOfSize({ backend, kernel, threads });
    // At once, so that a backend that is not there is known before the input is read.
    this.#envs.of(1);
  }

  /** The rows re-scored, one JSON text each, in their order. */
  *replay(rows: readonly ReplayRow[]): Generator<string> {
    const env = this.#envs.of(rows.length);
    env.reset({
      seed: Uint32Array.from(rows, ({ seed }) => seed),
      profiles: rows.map(({ profile }) => profile),
      graders: gradersOf(rows),
    });
    const targets = env.beliefTargets();
    const result = env.run(tapeOf(rows), {
      beliefs: beliefsOf(rows),
      stops: rows.map(({ actions }) => actions.length),
      trajectory: true,
    });
    for (const [i, row] of rows.entries()) yield JSON.stringify(scored(row, i, targets, result));
  }

  [Symbol.dispose](): void {
    this.#envs[Symbol.dispose]();
  }
}

function gradersOf(rows: readonly ReplayRow[]): Float32Array {
  const graders = new Float32Array(rows.length * NUM_COMPONENTS);
  rows.forEach(({ grader }, i) => {
    graders.set(grader, i * NUM_COMPONENTS);
  });
  return graders;
}

/** u8 [rows, 28]; zeros after a row's last action, where it stops. */
function tapeOf(rows: readonly ReplayRow[]): Uint8Array {
  const tape = new Uint8Array(rows.length * NUM_STEPS);
  rows.forEach(({ actions }, i) => {
    tape.set(
      actions.map((name) => ACTION_NAMES.indexOf(name)),
      i * NUM_STEPS,
    );
  });
  return tape;
}

/** f32 [rows, 28, 3]; NaN where no belief is given. */
function beliefsOf(rows: readonly ReplayRow[]): Float32Array {
  const tape = new Float32Array(rows.length * NUM_STEPS * NUM_BELIEFS).fill(Number.NaN);
  rows.forEach(({ beliefs }, i) => {
    beliefs?.forEach((belief, t) => {
      // A float64 beyond float32 would turn infinite; it is clamped to [0, 1] afterwards either way.
      const finite = belief?.map((value) => Math.min(Math.max(value, -MAX_F32), MAX_F32));
      if (finite) tape.set(finite, (i * NUM_STEPS + t) * NUM_BELIEFS);
    });
  });
  return tape;
}

function scored({ seed, profile, actions }: ReplayRow, i: number, targets: Float32Array, result: RunResult) {
  return {
    seed,
    profile,
    belief_target: floats(targets, i, NUM_BELIEFS),
    steps: actions.map((action, t) => step(action, i * NUM_STEPS + t, result)),
    final: actions.length === NUM_STEPS ? final(i, result) : null,
  };
}

/** A step as the golden episodes write it. A float32 is printed as the float64 that equals it. */
function step(action: string, at: number, { trajectory }: RunResult) {
  const { events, rewards, meters, deltas, anomalies } = trajectory!;
  return {
    action,
    event: EVENT_NAMES[events[at]] ?? null,
    reward: rewards[at],
    meters: floats(meters, at, NUM_METERS),
    delta: floats(deltas, at, NUM_METERS),
    anomaly: floats(anomalies, at, NUM_METERS),
  };
}

function final(i: number, { components, beliefMae, finalScores }: RunResult) {
  const graded = floats(components, i, NUM_COMPONENTS);
  return {
    ...Object.fromEntries(COMPONENT_NAMES.map((name, k) => [name, graded[k]])),
    belief_mae: beliefMae[i],
    final_score: finalScores[i],
  };
}

const floats = (from: Float32Array, row: number, size: number): number[] =>
  Array.from(from.subarray(row * size, (row + 1) * size));

/** Replays batches of stored episodes. */

import { clampBelief } from '../../engine/reference/grade.js';
import type { RunResult } from '../../engine/vec-env/vec-env-options.js';
import { ResizableAnyEnv } from '../../rollouts/resizable-env.js';
import { float32Decimal, float32Decimals } from '../../shared/float32-decimal.js';
import {
  ACTION_NAMES,
  COMPONENT_NAMES,
  EVENT_NAMES,
  MIN_MAGNITUDE,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_METERS,
  NUM_STEPS,
} from '../../world/fields.js';
import type { EngineOptions } from '../shared-options.js';
import type { ReplayRow } from './replay-row.js';

export class Replayer implements AsyncDisposable {
  readonly #envs: ResizableAnyEnv;

  private constructor(envs: ResizableAnyEnv) {
    this.#envs = envs;
  }

  /** Opens an environment, so that a missing backend is reported before any row is read. @throws as `createVecEnv`. */
  static async open({ backend, kernel, threads }: EngineOptions): Promise<Replayer> {
    const envs = new ResizableAnyEnv({ backend, kernel, threads });
    await envs.of(1);
    return new Replayer(envs);
  }

  /** Replays rows. @returns the results as JSON texts, in the order of the rows. Read them before the next call. */
  async replay(rows: readonly ReplayRow[]): Promise<Iterable<string>> {
    const env = await this.#envs.of(rows.length);
    await env.reset({
      seed: Uint32Array.from(rows, ({ seed }) => seed),
      profiles: rows.map(({ profile }) => profile),
      graders: gradersOf(rows),
    });
    const targets = await env.beliefTargets();
    const result = await env.run(sequenceOf(rows), {
      beliefs: beliefsOf(rows),
      stops: rows.map(({ actions }) => actions.length),
      trajectory: true,
    });
    return textsOf(rows, targets, result);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#envs[Symbol.asyncDispose]();
  }
}

function* textsOf(rows: readonly ReplayRow[], targets: Float32Array, result: RunResult): Generator<string> {
  for (const [i, row] of rows.entries()) yield JSON.stringify(scoredRow(row, i, targets, result));
}

function gradersOf(rows: readonly ReplayRow[]): Float32Array {
  const graders = new Float32Array(rows.length * NUM_COMPONENTS);
  rows.forEach(({ grader }, i) => {
    graders.set(grader, i * NUM_COMPONENTS);
  });
  return graders;
}

/** Returns the actions, u8 [rows, 28], with zeros after a row's last action. */
function sequenceOf(rows: readonly ReplayRow[]): Uint8Array {
  const sequence = new Uint8Array(rows.length * NUM_STEPS);
  rows.forEach(({ actions }, i) => {
    sequence.set(
      actions.map((name) => ACTION_NAMES.indexOf(name)),
      i * NUM_STEPS,
    );
  });
  return sequence;
}

/** Returns the beliefs, f32 [rows, 28, 3], with NaN for no belief. */
function beliefsOf(rows: readonly ReplayRow[]): Float32Array {
  const sequence = new Float32Array(rows.length * NUM_STEPS * NUM_BELIEFS).fill(Number.NaN);
  rows.forEach(({ beliefs }, i) => {
    beliefs?.forEach((belief, t) => {
      // Clamped here, because a number beyond the range of float32 would become infinite.
      if (belief)
        sequence.set(
          belief.map((value) => clampBelief(value, MIN_MAGNITUDE)),
          (i * NUM_STEPS + t) * NUM_BELIEFS,
        );
    });
  });
  return sequence;
}

function scoredRow(
  { seed, profile, actions }: ReplayRow,
  i: number,
  targets: Float32Array,
  result: RunResult,
) {
  return {
    seed,
    profile,
    belief_target: floats(targets, i, NUM_BELIEFS),
    steps: actions.map((action, t) => step(action, i * NUM_STEPS + t, result)),
    final: actions.length === NUM_STEPS ? final(i, result) : null,
  };
}

/** Returns a step of the output. Float32 numbers are written as shortest decimals. @param at row * 28 + step. */
function step(action: string, at: number, { trajectory }: RunResult) {
  const { events, rewards, meters, deltas, anomalies } = trajectory!;
  return {
    action,
    event: EVENT_NAMES[events[at]] ?? null,
    reward: float32Decimal(rewards[at]),
    meters: floats(meters, at, NUM_METERS),
    delta: floats(deltas, at, NUM_METERS),
    anomaly: floats(anomalies, at, NUM_METERS),
  };
}

function final(i: number, { components, beliefMae, finalScores }: RunResult) {
  const graded = floats(components, i, NUM_COMPONENTS);
  return {
    ...Object.fromEntries(COMPONENT_NAMES.map((name, k) => [name, graded[k]])),
    belief_mae: float32Decimal(beliefMae[i]),
    final_score: float32Decimal(finalScores[i]),
  };
}

const floats = (from: Float32Array, row: number, size: number): number[] =>
  float32Decimals(from.subarray(row * size, (row + 1) * size));

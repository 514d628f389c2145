/** Draws rows to replay, converts them to columns, and scores them. */
import { NODE } from '../../src/engine/backends/node.js';
import type { ReplayInput } from '../../src/rollouts/replay/check-rows.js';
import type { ReplayColumns } from '../../src/rollouts/replay/row-columns.js';
import type { ReplayRow } from '../../src/rollouts/replay/row-objects.js';
import { type ReplayOptions, scoreReplayOn } from '../../src/rollouts/replay/score-replay.js';
import { NUM_BELIEFS, NUM_STEPS, PROFILE_NAMES } from '../../src/world/fields.js';
import type { Random } from './random.js';

/** Scores rows on Node's backends. */
export const score = (rows: ReplayInput, options: ReplayOptions = {}) => scoreReplayOn(NODE, rows, options);

/** Draws a belief, or null for none. Numbers may lie outside [0, 1] or be tiny. */
const anyBelief = (random: Random): number[] | null =>
  random.chance(0.2) ? null : [random.real(-0.2, 1.2), random.real(), random.pick([0, 1, 2 ** -41])];

/**
 * Draws rows. Some differ only in action and belief, as the completions of one prompt do. About half of the histories give
 * beliefs.
 */
export function anyRows(random: Random, count: number): ReplayRow[] {
  const rows: ReplayRow[] = [];
  while (rows.length < count) {
    const length = random.integer(0, NUM_STEPS - 1);
    const state = {
      seed: random.seeds(1)[0],
      profileMode: random.pick(['sampled', 'discrete', ...PROFILE_NAMES]),
      actionHistory: Array.from({ length }, () => random.integer(0, 9)),
      ...(random.chance(0.5) && { beliefHistory: Array.from({ length }, () => anyBelief(random)) }),
    };
    for (let k = random.pick([1, 1, 4]); k > 0; k--) {
      const action = random.chance(0.1) ? null : random.integer(0, 9);
      rows.push({ ...state, action, belief: anyBelief(random) });
    }
  }
  return rows.slice(0, count);
}

const NO_BELIEF = Array<number>(NUM_BELIEFS).fill(Number.NaN);
/** A belief after the end of a history, which must be ignored. */
const IGNORED = Array<number>(NUM_BELIEFS).fill(Number.POSITIVE_INFINITY);

/** Converts rows to columns. */
export const toColumns = (rows: readonly ReplayRow[]): ReplayColumns => ({
  seeds: Uint32Array.from(rows, ({ seed }) => seed),
  profiles: rows.map(({ profileMode = 'sampled' }) => profileMode),
  stepIndices: Uint8Array.from(rows, ({ actionHistory }) => actionHistory.length),
  histories: Uint8Array.from(
    rows.flatMap(({ actionHistory }) =>
      Array.from({ length: NUM_STEPS }, (_, t) => (actionHistory[t] as number) ?? 255),
    ),
  ),
  actions: Int8Array.from(rows, ({ action }) => (action as number | null) ?? -1),
  beliefs: Float32Array.from(rows.flatMap(({ belief }) => Array.from(belief ?? NO_BELIEF))),
  beliefHistories: Float32Array.from(
    rows.flatMap(({ actionHistory: { length }, beliefHistory }) =>
      Array.from({ length: NUM_STEPS }, (_, t) =>
        t < length ? Array.from(beliefHistory?.[t] ?? NO_BELIEF) : IGNORED,
      ).flat(),
    ),
  ),
});

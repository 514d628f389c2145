/** Draws rows to replay, converts them to columns, and scores them. */
import { NODE } from '../../src/engine/backends/node.js';
import type { ReplayColumns } from '../../src/rollouts/replay/row-columns.js';
import type { ReplayRow } from '../../src/rollouts/replay/row-objects.js';
import { type ReplayOptions, scoreReplayOn } from '../../src/rollouts/replay/score-replay.js';
import { NUM_STEPS, PROFILE_NAMES } from '../../src/world/fields.js';
import type { Random } from './random.js';

export const score = (rows: ReplayColumns | readonly ReplayRow[], options: ReplayOptions = {}) =>
  scoreReplayOn(NODE, rows, options);

/** Draws rows. Some differ only in action and belief, as the completions of one prompt do. */
export function anyRows(random: Random, count: number): ReplayRow[] {
  const rows: ReplayRow[] = [];
  while (rows.length < count) {
    const length = random.integer(0, NUM_STEPS - 1);
    const state = {
      seed: random.seeds(1)[0],
      profileMode: random.pick(['sampled', 'discrete', ...PROFILE_NAMES]),
      actionHistory: Array.from({ length }, () => random.integer(0, 9)),
    };
    for (let k = random.pick([1, 1, 4]); k > 0; k--) {
      const action = random.chance(0.1) ? null : random.integer(0, 9);
      const belief = random.chance(0.2)
        ? null
        : [random.real(-0.2, 1.2), random.real(), random.pick([0, 1, 2 ** -41])];
      rows.push({ ...state, action, belief });
    }
  }
  return rows.slice(0, count);
}

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
  beliefs: Float32Array.from(
    rows.flatMap(({ belief }) => Array.from(belief ?? [Number.NaN, Number.NaN, Number.NaN])),
  ),
});

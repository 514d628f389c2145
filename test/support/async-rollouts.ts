/** Comparisons of rollouts and replay scores on an asynchronous backend with those of the reference. */
import { expect } from 'vitest';
import type { Platform } from '../../src/engine/backends/open-batch.js';
import { openAsyncVecEnv } from '../../src/engine/vec-env/async-vec-env.js';
import {
  createVecEnv,
  type HistoryStep,
  type RolloutOptions,
  type RolloutPolicy,
  rolloutGroups,
} from '../../src/index.js';
import { rolloutGroupsOn } from '../../src/rollouts/groups/rollout-groups.js';
import { scoreReplayAsyncOn } from '../../src/rollouts/replay/score-replay.js';
import { Random } from './random.js';
import { anyRows, score, toColumns } from './replays.js';

/** A platform, and its backend that only the asynchronous API has. */
export interface AsyncOnly {
  readonly platform: Platform;
  readonly backend: string;
}

/** Expects the scores and faults of the reference: for columns, and for a list of rows, two of them invalid. */
export async function expectSameReplays({ platform, backend }: AsyncOnly, count: number): Promise<void> {
  const rows = anyRows(new Random('replays'), count);
  const columns = toColumns(rows);
  expect(await scoreReplayAsyncOn(platform, columns, { grader: 'v3', backend })).toEqual(
    score(columns, { grader: 'v3', backend: 'reference' }),
  );
  const faulty = [...rows.slice(0, 3), { ...rows[3], actionHistory: [10] }, { ...rows[4], seed: -1 }];
  const scores = await scoreReplayAsyncOn(platform, faulty, { backend });
  expect(scores).toEqual(score(faulty, { backend: 'reference' }));
  expect(scores.faults.map(({ index }) => index)).toEqual([3, 4]);
}

/** Returns a policy that reads every history, and the histories that it has read. */
function recordingPolicy(): { policy: RolloutPolicy; histories: HistoryStep[][] } {
  const histories: HistoryStep[][] = [];
  const random = new Random('policy');
  const policy: RolloutPolicy = ({ steps, history }) => {
    for (const i of steps.keys()) histories.push(history(i, 28 - (i % 3)));
    const { beliefs } = random.beliefs(steps.length, 0.6);
    return { actions: Uint8Array.from(steps, () => random.integer(0, 9)), beliefs };
  };
  return { policy, histories };
}

/** Expects the rollouts of the reference: from seeds, from a snapshot, and from an environment. */
export async function expectSameGroups({ platform, backend }: AsyncOnly): Promise<void> {
  using reference = createVecEnv({ numEnvs: 3, backend: 'reference' });
  await using env = await openAsyncVecEnv(platform, { numEnvs: 3, backend });
  const seed = [5, 6, 7];
  // One episode near its beginning, one at its end, one before its last step.
  const stops = [3, 28, 27];
  reference.reset({ seed });
  reference.run('heuristic', { stops });
  await env.reset({ seed });
  await env.run('heuristic', { stops });
  const indices = [2, 0, 1];
  const groups = { groupSize: 2 };
  const cases: [Partial<RolloutOptions>, Partial<RolloutOptions>][] = [
    [
      { seeds: seed, grader: 'v3', backend: 'reference' },
      { seeds: seed, grader: 'v3', backend },
    ],
    [
      { from: reference.snapshot(), backend: 'reference' },
      { from: await env.snapshot(), backend },
    ],
    [{ from: { source: reference, indices } }, { from: { source: env, indices } }],
  ];
  for (const [expected, got] of cases) {
    for (const policy of ['random', 'heuristic'] as const) {
      expect(await rolloutGroupsOn(platform, { ...groups, ...got, policy })).toEqual(
        await rolloutGroups({ ...groups, ...expected, policy }),
      );
    }
    const [one, other] = [recordingPolicy(), recordingPolicy()];
    expect(await rolloutGroupsOn(platform, { ...groups, ...got, policy: one.policy })).toEqual(
      await rolloutGroups({ ...groups, ...expected, policy: other.policy }),
    );
    expect(one.histories).toEqual(other.histories);
  }
}

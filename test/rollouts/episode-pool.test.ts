/** Tests of the episode pool: episodes share a batch, and each has the results of a single episode. */
import { afterEach, expect, it } from 'vitest';
import { yieldTurn } from '../../src/engine/engine-calls.js';
import { Episode, prompt } from '../../src/index.js';
import { EpisodePool, type EpisodePoolOptions } from '../../src/rollouts/episode-pool.js';
import { ROW_SIZE } from '../../src/rollouts/text/observation-row.js';
import { toEpisodeRequest } from '../../src/server/protocol/messages.js';

const opened: EpisodePool[] = [];
afterEach(() => {
  for (const pool of opened.splice(0)) pool.close();
});

function open(options: Partial<EpisodePoolOptions> = {}): { pool: EpisodePool; stepCounts: number[] } {
  const stepCounts: number[] = [];
  const pool = new EpisodePool({ capacity: 1000, onStepped: (count) => stepCounts.push(count), ...options });
  opened.push(pool);
  return { pool, stepCounts };
}

const rewardOf = ({ rewards }: { readonly rewards: Float32Array }, env: number): number => rewards[env];

it('an episode pool runs the requests of one turn of the event loop as one step, for episodes at different steps', async () => {
  const { pool, stepCounts } = open();
  const taken = Array.from({ length: 10 }, () => pool.claim()!);
  const starts = taken.map((_, k) => ({
    seed: 50 + k,
    profile: ['sampled', 'discrete', 'workaholic_stoic'][k % 3],
    grader: ['v1', 'v2'][k % 2],
  }));
  const episodes = starts.map(({ seed, ...options }) => new Episode().reset(seed, options));
  await Promise.all(taken.map((env, k) => pool.reset(env, toEpisodeRequest(starts[k]), () => null)));
  const expectedCounts: number[] = [];
  for (let t = 0; t < 28; t++) {
    // Environments 0 and 1 step in every turn. Environment k > 1 skips every k-th turn.
    const stepping = taken.filter((_, k) => k < 2 || t % k !== 0);
    expectedCounts.push(stepping.length);
    const rewards = await Promise.all(
      stepping.map((env) => {
        const belief = env % 2 === 0 ? [0.25, 0.5, 0.75] : null;
        return pool.step(env, { code: (env + t) % 10, belief }, rewardOf);
      }),
    );
    const expected = stepping.map((env) =>
      episodes[taken.indexOf(env)].step((env + t) % 10, env % 2 === 0 ? [0.25, 0.5, 0.75] : null),
    );
    expect(rewards).toEqual(expected);
  }
  expect(stepCounts).toEqual(expectedCounts);
});

it('an episode pool continues episodes when the batch grows and when other environments are released', async () => {
  const { pool } = open();
  const first = pool.claim()!;
  const episode = new Episode().reset(3);
  await pool.reset(first, toEpisodeRequest({ seed: 3 }), () => null);
  for (let t = 0; t < 28; t++) {
    if (t === 5) for (let k = 0; k < 300; k++) pool.claim();
    if (t === 15) for (let k = 1; k <= 300; k++) pool.release(k);
    expect(await pool.step(first, { code: t % 10, belief: null }, rewardOf)).toBe(episode.step(t % 10));
  }
  expect(pool.taken).toBe(1);
});

it('an episode pool drops the pending calls of a released environment, which can be claimed again', async () => {
  const { pool, stepCounts } = open();
  const [released, other] = [pool.claim()!, pool.claim()!];
  await Promise.all(
    [released, other].map((env) => pool.reset(env, toEpisodeRequest({ seed: 1 }), () => null)),
  );
  let settled = false;
  void pool.step(released, { code: 1, belief: null }, rewardOf).then(() => {
    settled = true;
  });
  pool.release(released);
  await pool.step(other, { code: 1, belief: null }, rewardOf);
  await yieldTurn();
  expect([settled, stepCounts]).toEqual([false, [1]]);
  expect(pool.claim()).toBe(released);
  void pool.reset(released, toEpisodeRequest({ seed: 3 }), () => {
    settled = true;
  });
  pool.release(released);
  await pool.step(other, { code: 1, belief: null }, rewardOf);
  expect(settled).toBe(false);
  const claimed = pool.claim()!;
  expect(claimed).toBe(released);
  await pool.reset(claimed, toEpisodeRequest({ seed: 2 }), () => null);
  const reward = await pool.step(claimed, { code: 4, belief: null }, rewardOf);
  expect(reward).toBe(new Episode().reset(2).step(4));
});

it('an episode pool has as many environments as its capacity, and reuses all of them', () => {
  const { pool } = open({ capacity: 150 });
  const claimAll = () => Array.from({ length: 150 }, () => pool.claim());
  for (let round = 0; round < 3; round++) {
    const all = claimAll();
    expect([...new Set(all)].sort((a, b) => a! - b!)).toEqual(Array.from({ length: 150 }, (_, k) => k));
    expect(pool.claim()).toBeNull();
    for (const env of all) pool.release(env!);
    expect(pool.taken).toBe(0);
  }
});

it('an episode pool returns the history with the observation if observation.history is true', async () => {
  const { pool } = open({ observation: { history: true } });
  const env = pool.claim()!;
  const rowOf = ({ observations }: { readonly observations: Float32Array }, at: number) =>
    observations.slice(at * ROW_SIZE, (at + 1) * ROW_SIZE);
  await pool.reset(env, toEpisodeRequest({ seed: 9 }), rowOf);
  /** The first step of the episode, as the prompts after each step write it. */
  const firstSteps = new Set<string>();
  for (let t = 0; t < 3; t++) {
    const [, { content }] = prompt(await pool.step(env, { code: 4 + t, belief: null }, rowOf));
    firstSteps.add(/^day 1 morning:(.*)$/m.exec(content)![1]);
  }
  expect(firstSteps.size).toBe(1);
});

it('an episode pool returns to the initial size when no environment is in use', async () => {
  const { pool } = open();
  // The batch has 64 environments at first, and doubles when it needs more.
  const sizeOf = ({ rewards }: { readonly rewards: Float32Array }) => rewards.length;
  const taken = Array.from({ length: 200 }, () => pool.claim()!);
  expect(await pool.reset(taken[0], toEpisodeRequest({ seed: 1 }), sizeOf)).toBe(256);
  for (const env of taken) pool.release(env);
  expect(await pool.reset(pool.claim()!, toEpisodeRequest({ seed: 1 }), sizeOf)).toBe(64);
});

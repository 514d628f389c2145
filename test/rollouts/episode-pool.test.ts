/** Players as slots of one batch: stepped together, each as if it were alone. */
import { afterEach, expect, it } from 'vitest';
import { yieldTurn } from '../../src/engine/vec-env/yield-turn.js';
import { Episode, prompt } from '../../src/index.js';
import { EpisodePool, type EpisodePoolOptions } from '../../src/rollouts/episode-pool.js';
import { toEpisodeRequest } from '../../src/server/protocol/reset-request.js';

const opened: EpisodePool[] = [];
afterEach(() => {
  for (const slots of opened.splice(0)) slots.close();
});

function open(options: Partial<EpisodePoolOptions> = {}): { slots: EpisodePool; together: number[] } {
  const together: number[] = [];
  const slots = new EpisodePool({ capacity: 1000, onStepped: (count) => together.push(count), ...options });
  opened.push(slots);
  return { slots, together };
}

const rewardOf = ({ rewards }: { readonly rewards: Float32Array }, slot: number): number => rewards[slot];

it('what is asked for within a turn is one step, whatever step each slot is at', async () => {
  const { slots, together } = open();
  const taken = Array.from({ length: 10 }, () => slots.claim()!);
  const asked = taken.map((_, k) => ({
    seed: 50 + k,
    profile: ['sampled', 'discrete', 'workaholic_stoic'][k % 3],
    grader: ['v1', 'v2'][k % 2],
  }));
  const episodes = asked.map(({ seed, ...options }) => new Episode().reset(seed, options));
  await Promise.all(taken.map((slot, k) => slots.reset(slot, toEpisodeRequest(asked[k]), () => null)));
  const moved: number[] = [];
  for (let t = 0; t < 28; t++) {
    // Slot k sits out every k-th turn.
    const moving = taken.filter((_, k) => k < 2 || t % k !== 0);
    moved.push(moving.length);
    const rewards = await Promise.all(
      moving.map((slot) => {
        const belief = slot % 2 === 0 ? [0.25, 0.5, 0.75] : null;
        return slots.step(slot, { code: (slot + t) % 10, belief }, rewardOf);
      }),
    );
    const expected = moving.map((slot) =>
      episodes[taken.indexOf(slot)].step((slot + t) % 10, slot % 2 === 0 ? [0.25, 0.5, 0.75] : null),
    );
    expect(rewards).toEqual(expected);
  }
  expect(together).toEqual(moved);
});

it('episodes go on where they were when the batch grows, and when others leave', async () => {
  const { slots } = open();
  const first = slots.claim()!;
  const episode = new Episode().reset(3);
  await slots.reset(first, toEpisodeRequest({ seed: 3 }), () => null);
  for (let t = 0; t < 28; t++) {
    if (t === 5) for (let k = 0; k < 300; k++) slots.claim();
    if (t === 15) for (let k = 1; k <= 300; k++) slots.release(k);
    expect(await slots.step(first, { code: t % 10, belief: null }, rewardOf)).toBe(episode.step(t % 10));
  }
  expect(slots.taken).toBe(1);
});

it('a slot that is given back while it waits is not stepped, and is whole for whoever takes it', async () => {
  const { slots, together } = open();
  const [mine, other] = [slots.claim()!, slots.claim()!];
  await Promise.all(
    [mine, other].map((slot) => slots.reset(slot, toEpisodeRequest({ seed: 1 }), () => null)),
  );
  let settled = false;
  void slots.step(mine, { code: 1, belief: null }, rewardOf).then(() => {
    settled = true;
  });
  slots.release(mine);
  await slots.step(other, { code: 1, belief: null }, rewardOf);
  await yieldTurn();
  expect([settled, together]).toEqual([false, [1]]);
  expect(slots.claim()).toBe(mine);
  void slots.reset(mine, toEpisodeRequest({ seed: 3 }), () => {
    settled = true;
  });
  slots.release(mine);
  await slots.step(other, { code: 1, belief: null }, rewardOf);
  expect(settled).toBe(false);
  const again = slots.claim()!;
  expect(again).toBe(mine);
  await slots.reset(again, toEpisodeRequest({ seed: 2 }), () => null);
  const reward = await slots.step(again, { code: 4, belief: null }, rewardOf);
  expect(reward).toBe(new Episode().reset(2).step(4));
});

it('there are as many as its capacity, and none is lost', () => {
  const { slots } = open({ capacity: 150 });
  const taken = () => Array.from({ length: 150 }, () => slots.claim());
  for (let round = 0; round < 3; round++) {
    const all = taken();
    expect([...new Set(all)].sort((a, b) => a! - b!)).toEqual(Array.from({ length: 150 }, (_, k) => k));
    expect(slots.claim()).toBeNull();
    for (const slot of all) slots.release(slot!);
    expect(slots.taken).toBe(0);
  }
});

it('shows the past where it is asked for, so that a prompt is made of a row alone', async () => {
  const { slots } = open({ observation: { history: true } });
  const slot = slots.claim()!;
  const rowOf = ({ observations }: { readonly observations: Float32Array }, at: number) =>
    observations.slice(at * 106, at * 106 + 106);
  await slots.reset(slot, toEpisodeRequest({ seed: 9 }), rowOf);
  const past: string[] = [];
  for (let t = 0; t < 3; t++) {
    const [, user] = prompt(await slots.step(slot, { code: 4 + t, belief: null }, rowOf));
    past.push(
      user.content
        .split('\n')
        .find((line) => line.startsWith('day 1 morning'))!
        .split(':')[1],
    );
  }
  expect(new Set(past).size).toBe(1);
});

it('an empty batch is as small as the first, whatever it grew to', async () => {
  const { slots } = open();
  const sizeOf = ({ rewards }: { readonly rewards: Float32Array }) => rewards.length;
  const taken = Array.from({ length: 200 }, () => slots.claim()!);
  expect(await slots.reset(taken[0], toEpisodeRequest({ seed: 1 }), sizeOf)).toBe(256);
  for (const slot of taken) slots.release(slot);
  expect(await slots.reset(slots.claim()!, toEpisodeRequest({ seed: 1 }), sizeOf)).toBe(64);
});

/** Rollouts in groups, lived again one by one as single episodes. */
import { expect } from 'vitest';
import { Episode, type RolloutGroups, type VecEnv } from '../../src/index.js';
import {
  NUM_ACTIONS,
  NUM_BELIEFS,
  NUM_COMPONENTS,
  NUM_STEPS,
  OBSERVATION_SIZE,
} from '../../src/world/fields.js';
import { Random } from './random.js';

const { NaN: nan } = Number;

/** An episode as it is where a group begins. */
export type Beginning = () => Episode;

/** Row `at` of an array, copied. */
export const rowOf = <T extends Float32Array | Int8Array>(array: T, at: number, width: number): T =>
  array.slice(at * width, (at + 1) * width) as T;

/** Lives a rollout again by its actions and beliefs, and expects what is recorded of it. */
function expectLived(rollouts: RolloutGroups, i: number, episode: Episode): void {
  expect(rollouts.firstSteps[i]).toBe(episode.stepCount);
  expect(rollouts.seeds[i]).toBe(episode.seed);
  const seen = new Float32Array(OBSERVATION_SIZE);
  for (let t = 0; t < NUM_STEPS; t++) {
    const at = i * NUM_STEPS + t;
    const belief = rowOf(rollouts.beliefs, at, NUM_BELIEFS);
    if (t < rollouts.firstSteps[i]) {
      expect([rollouts.actions[at], rollouts.rewards[at], rollouts.returns[at]]).toEqual([-1, 0, 0]);
      expect([rollouts.stateHashes[at], ...belief]).toEqual([0n, nan, nan, nan]);
      expect(rowOf(rollouts.observations, at, OBSERVATION_SIZE)).toEqual(new Float32Array(OBSERVATION_SIZE));
      continue;
    }
    episode.observe(seen);
    expect(rowOf(rollouts.observations, at, OBSERVATION_SIZE)).toEqual(seen);
    expect(rollouts.stateHashes[at]).toBe(episode.stateHash());
    const reward = episode.step(rollouts.actions[at], Number.isNaN(belief[0]) ? null : belief);
    expect(rollouts.rewards[at]).toBe(reward);
  }
  expectEnded(rollouts, i, episode);
}

function expectEnded(rollouts: RolloutGroups, i: number, episode: Episode): void {
  const { finalScores, beliefMae, episodeReturns, earlyMeans, lateMeans, components } = rollouts;
  const columns = [finalScores, beliefMae, episodeReturns, earlyMeans, lateMeans];
  const { finalScore, beliefMae: mae, return: sum, earlyMean, lateMean } = episode;
  expect(columns.map((column) => column[i])).toEqual([finalScore, mae, sum, earlyMean, lateMean]);
  expect(rowOf(components, i, NUM_COMPONENTS)).toEqual(episode.components);
}

/** Expects every rollout to be what the episodes of its group come to by its actions and beliefs. */
export function expectAllLived(rollouts: RolloutGroups, beginnings: readonly Beginning[]): void {
  expect(rollouts.groups).toBe(beginnings.length);
  for (let i = 0; i < rollouts.seeds.length; i++) {
    expectLived(rollouts, i, beginnings[Math.floor(i / rollouts.groupSize)]());
  }
}

/** Takes slots to steps 0, 27, 5 and 28, by other actions. @returns how they were lived. */
export function wander(env: VecEnv): Beginning[] {
  const stops = [0, 27, 5, NUM_STEPS];
  const seeds = [90, 91, 92, 93];
  const tape = new Random('wander').bytes(4 * NUM_STEPS, 0, NUM_ACTIONS - 1);
  env.reset({ seed: seeds });
  env.run(tape, { stops, beliefs: [0.1, 0.9, 0.3] });
  return stops.map((stop, slot) => () => {
    const episode = new Episode().reset(seeds[slot]);
    for (let t = 0; t < stop; t++) episode.step(tape[slot * NUM_STEPS + t], [0.1, 0.9, 0.3]);
    return episode;
  });
}

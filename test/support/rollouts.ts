/** Compares rollouts with replays of single episodes, and plays environments to different steps. */
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

/** Creates an episode in the initial state of the rollouts of a group. */
export type EpisodeStart = () => Episode;

/** Copies row `at` of an array. */
export const rowOf = <T extends Float32Array | Int8Array>(array: T, at: number, width: number): T =>
  array.slice(at * width, (at + 1) * width) as T;

/** Replays a rollout, and compares its observations, hashes, rewards and grade. */
function expectReplayed(rollouts: RolloutGroups, i: number, episode: Episode): void {
  expect(rollouts.firstSteps[i]).toBe(episode.stepCount);
  expect(rollouts.seeds[i]).toBe(episode.seed);
  const observation = new Float32Array(OBSERVATION_SIZE);
  for (let t = 0; t < NUM_STEPS; t++) {
    const at = i * NUM_STEPS + t;
    const belief = rowOf(rollouts.beliefs, at, NUM_BELIEFS);
    if (t < rollouts.firstSteps[i]) {
      expect([rollouts.actions[at], rollouts.rewards[at], rollouts.returns[at]]).toEqual([-1, 0, 0]);
      expect([rollouts.stateHashes[at], ...belief]).toEqual([0n, Number.NaN, Number.NaN, Number.NaN]);
      expect(rowOf(rollouts.observations, at, OBSERVATION_SIZE)).toEqual(new Float32Array(OBSERVATION_SIZE));
      continue;
    }
    episode.observe(observation);
    expect(rowOf(rollouts.observations, at, OBSERVATION_SIZE)).toEqual(observation);
    expect(rollouts.stateHashes[at]).toBe(episode.stateHash());
    const reward = episode.step(rollouts.actions[at], Number.isNaN(belief[0]) ? null : belief);
    expect(rollouts.rewards[at]).toBe(reward);
  }
  expectGrade(rollouts, i, episode);
}

function expectGrade(rollouts: RolloutGroups, i: number, episode: Episode): void {
  const { finalScores, beliefMae, episodeReturns, firstHalfMeans, secondHalfMeans, components } = rollouts;
  const columns = [finalScores, beliefMae, episodeReturns, firstHalfMeans, secondHalfMeans];
  const { finalScore, beliefMae: mae, return: sum, firstHalfMean, secondHalfMean } = episode;
  expect(columns.map((column) => column[i])).toEqual([finalScore, mae, sum, firstHalfMean, secondHalfMean]);
  expect(rowOf(components, i, NUM_COMPONENTS)).toEqual(episode.components);
}

/** Compares every rollout with a replay from the start of its group. */
export function expectAllReplayed(rollouts: RolloutGroups, starts: readonly EpisodeStart[]): void {
  expect(rollouts.groups).toBe(starts.length);
  for (let i = 0; i < rollouts.seeds.length; i++) {
    expectReplayed(rollouts, i, starts[Math.floor(i / rollouts.groupSize)]());
  }
}

/**
 * Plays four environments to steps 0, 27, 5 and 28.
 * @returns for each environment a function that plays the same episode alone, to the same step.
 */
export function advanceToStops(env: VecEnv): EpisodeStart[] {
  const stops = [0, 27, 5, NUM_STEPS];
  const seeds = [90, 91, 92, 93];
  const sequence = new Random('wander').bytes(4 * NUM_STEPS, 0, NUM_ACTIONS - 1);
  env.reset({ seed: seeds });
  env.run(sequence, { stops, beliefs: [0.1, 0.9, 0.3] });
  return stops.map((stop, envIndex) => () => {
    const episode = new Episode().reset(seeds[envIndex]);
    for (let t = 0; t < stop; t++) episode.step(sequence[envIndex * NUM_STEPS + t], [0.1, 0.9, 0.3]);
    return episode;
  });
}

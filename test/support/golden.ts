/** Reads the golden values, which an independent float32 implementation of docs/world.md computed. */
import { readFileSync } from 'node:fs';
import type { TextEnvOptions, TextInfo } from '../../src/index.js';

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../golden/${name}.json`, import.meta.url), 'utf8'));

export interface GoldenStep {
  /** The hash of the state before the step: 16 hexadecimal digits. */
  state_hash: string;
  action: string;
  belief: [number, number, number] | null;
  event: string | null;
  delta: number[];
  anomaly: number[];
  meters: number[];
  reward: number;
  /** The sums `well` and `skill` of the state after the step. Only episodes of grader v3 have them. */
  well?: number;
  skill?: number;
}

export interface GoldenObservation {
  step: number;
  day: number;
  slot: number;
  remaining: number;
  meters: number[];
  event: number;
  last_action: number;
  reward: number;
  deltas: number[];
  anomalies: number[];
}

export interface GoldenEpisode {
  name: string;
  seed: number;
  profile: string;
  imagination: boolean;
  grader: string;
  /** 'tape' is a fixed action sequence. */
  policy: 'random' | 'heuristic' | 'tape';
  traits: Record<string, number>;
  weights: Record<string, number>;
  belief_target: number[];
  observations: GoldenObservation[];
  steps: GoldenStep[];
  final: Record<string, number>;
}

export interface GoldenProfile {
  seed: number;
  traits: Record<string, number>;
  weights: Record<string, number>;
  belief_target: number[];
  discrete_profile: string;
  /** [28]: the code of each step's event; -1 for no event. */
  events: number[];
}

/** Words as hexadecimal texts, such as '0x6b200159'. */
export const threefryVectors = read('threefry').vectors as {
  key: string[];
  counter: string[];
  output: string[];
}[];
export const profiles = read('profiles') as {
  crash_free_by_crashes: number[];
  random_policies: { seed: number; policy_seed: number; actions: number[] }[];
  profiles: GoldenProfile[];
};
export const episodes = read('episodes').episodes as GoldenEpisode[];
/**
 * Means over n episodes, by name, such as 'in-distribution/random/none/v1': condition, policy, belief and grader. The digests
 * are the first 16 digits of the SHA-256 of the final scores, and of the components, as float32s.
 */
export const tables = read('tables').tables as Record<
  string,
  Record<string, number> & { digest: string; component_digest?: string; n: number }
>;

/** Episodes in text. TypeScript and Python play them; test/rollouts/text compares them with `prompt` and `step`. */
export const textEpisodes = read('text-env') as {
  options: TextEnvOptions;
  seed: number;
  answers: string[];
  /** What `reset` returns. */
  messages: unknown;
  steps: { message: string; reward: number; done: boolean; info: TextInfo }[];
  /** What `finish` returns after the answers. */
  finished: unknown;
}[];

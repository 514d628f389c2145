/** The type of an episode as a line of JSON: player, observations, texts, actions, rewards. Keys are the file's. */
import type { GraderWeights } from '../../engine/graders/grader.js';
import type { Schema } from '../../shared/schemas.js';

/** The player of an episode. Tables have a row for each player and condition. */
export interface Player {
  /** What chose the actions: "planner", "llm", "heuristic", ... */
  readonly teacher: string;
  /** The name of a language model or of a variant; null for none. */
  readonly model: string | null;
  /** The teacher's objective: "score" or "wellbeing"; null for none. */
  readonly objective: string | null;
  /** Whether the player used hidden state. It is then not a valid agent, and every table says so. */
  readonly oracle: boolean;
}

/** Three float32 values in [0, 1], by BELIEF_NAMES. */
export type StoredBelief = readonly [social: number, morning: number, work: number];

/** The reward stack of one step, without shaping (REWARD_NAMES, in snake_case). */
export interface StoredRewards {
  readonly format_valid: number;
  readonly action_legal: number;
  /** `reward`, which depends on the beliefs stated before; -3 if no action parsed. */
  readonly env_reward: number;
  readonly belief_accuracy: number;
}

/** One step of an episode, as files of trajectories have it: docs/trajectories.md. */
export interface TrajectoryStep {
  /** Steps taken before, 0 to 27. */
  readonly step: number;
  /** f32 [22], by OBSERVATION_FIELDS: the observation before the action. */
  readonly observation: readonly number[];
  /** The user message; null for players without text. The episode holds the system message. */
  readonly prompt: string | null;
  /** The whole completion; null for players without text. */
  readonly completion: string | null;
  /** The reasoning, from the completion's tags or returned apart from it. */
  readonly reasoning: string | null;
  /** The belief stated with the action; null for none. */
  readonly belief: StoredBelief | null;
  /** The action that was played, by name. */
  readonly action: string;
  /** Whether the player chose the action. Otherwise none was parsed, and FALLBACK_ACTION was played. */
  readonly parsed: boolean;
  /** f32: the reward that the agent received, with noise, and in the last step with the grade's part. */
  readonly reward: number;
  readonly reward_components: StoredRewards;
}

/** f32 each: the grade's components by COMPONENT_NAMES, and other results at the end. */
export interface StoredFinal {
  readonly crash_free: number;
  readonly progress: number;
  readonly connection: number;
  readonly adaptation: number;
  readonly efficiency: number;
  readonly belief_accuracy: number;
  /** Of the last belief, or of 0.5 each if none was given. */
  readonly belief_mae: number;
  /** Mean reward of the first and of the second half, without noise. */
  readonly early_mean: number;
  readonly late_mean: number;
  /** The score under the episode's grader. */
  readonly final_score: number;
}

/** What an episode used of a paid service. Keys that do not apply are left out. */
export interface Usage {
  /** Including retries. */
  readonly requests?: number;
  readonly prompt_tokens?: number;
  /** Prompt tokens that the service had cached. */
  readonly cached_tokens?: number;
  readonly completion_tokens?: number;
  readonly cost_usd?: number;
  /** Answers that reached their token limit. */
  readonly cut_off?: number;
  /** Answers that the service refused. */
  readonly refused?: number;
}

/** Sampling parameters of a language model, named as in requests. Those left out were the service's defaults. */
export interface Sampling {
  readonly max_tokens: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly seed?: number;
}

/** Hidden state, which no agent may see. */
export interface Hidden {
  /** f32 [16]: 11 traits, 5 reward weights. */
  readonly profile: readonly number[];
  /** f32 [3]. */
  readonly belief_target: readonly number[];
}

/** A whole episode. */
export interface TrajectoryEpisode extends Player {
  readonly schema: Schema;
  /** The package's version. */
  readonly version: string;
  readonly world_digest: string;
  /** A name of CONDITIONS, "custom", or any other label. */
  readonly condition: string;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile_mode: string;
  readonly seed: number;
  /** The grader under which it was played: the last step's reward contains its grade. */
  readonly grader: { readonly name: string; readonly weights: GraderWeights };
  /** The system message of all prompts; null for players without text. */
  readonly system: string | null;
  /** [28]. */
  readonly steps: readonly TrajectoryStep[];
  readonly final: StoredFinal;
  readonly usage?: Usage;
  readonly sampling?: Sampling;
  readonly hidden?: Hidden;
}

/**
 * The action played for a completion without one. It is fixed: it costs a step and uses nothing known of the profile.
 * The heuristic's action would earn reward that the model did not.
 */
export const FALLBACK_ACTION = 'sleep';

/** An episode as a line of JSON holds it: who played, what was seen, said, done and earned. Keys are those of the file. */
import type { GraderWeights } from '../graders/grader.js';
import type { Schema } from '../schemas.js';

/** Who played. Episodes of the same player and condition are a row of a table. */
export interface Player {
  /** What chose the actions: "planner", "llm", "heuristic", ... */
  readonly teacher: string;
  /** The language model's name, or a variant's; null where there is none. */
  readonly model: string | null;
  /** What the teacher wanted: "score", "wellbeing"; null for one that wants nothing. */
  readonly objective: string | null;
  /** Whether it was shown hidden numbers: then its results are no agent's, and every table says so. */
  readonly oracle: boolean;
}

/** Three float32 values in [0, 1], by BELIEF_NAMES. */
export type StoredBelief = readonly [social: number, morning: number, work: number];

/** The reward stack of one step, without shaping (REWARD_NAMES, in snake_case). */
export interface StoredRewards {
  readonly format_valid: number;
  readonly action_legal: number;
  /** `reward`, which knows the beliefs before; -3 where no action parsed. */
  readonly env_reward: number;
  readonly belief_accuracy: number;
}

export interface TrajectoryStep {
  /** Steps taken before, 0 to 27. */
  readonly step: number;
  /** f32 [22], by OBSERVATION_FIELDS: what the agent saw before it acted. */
  readonly observation: readonly number[];
  /** The user message that was asked with; null where nobody was asked in words. The system message is the episode's. */
  readonly prompt: string | null;
  /** What was answered, whole; null where nobody answered in words. */
  readonly completion: string | null;
  /** What was thought: from the completion's tags, or told apart from it. */
  readonly reasoning: string | null;
  /** The belief that was given with the action; null for none. */
  readonly belief: StoredBelief | null;
  /** The action that was played, by name. */
  readonly action: string;
  /** Whether the player chose it; if not, no action was read, and it is FALLBACK_ACTION. */
  readonly parsed: boolean;
  /** f32: as the agent was given it, luck included, and in the last step the grade's part. */
  readonly reward: number;
  readonly reward_components: StoredRewards;
}

/** f32 each: the grade's components by COMPONENT_NAMES, and what else is known at the end. */
export interface StoredFinal {
  readonly crash_free: number;
  readonly progress: number;
  readonly connection: number;
  readonly adaptation: number;
  readonly efficiency: number;
  readonly belief_accuracy: number;
  /** Of the last belief; of 0.5 each where none was given. */
  readonly belief_mae: number;
  /** Mean reward of each half week, without luck. */
  readonly early_mean: number;
  readonly late_mean: number;
  /** Under the episode's grader. */
  readonly final_score: number;
}

/** What an episode took of a service that is paid for. Keys that do not apply are left out. */
export interface Usage {
  /** With those that had to be made again. */
  readonly requests?: number;
  readonly prompt_tokens?: number;
  /** Of the prompts', those that the service had in its cache. */
  readonly cached_tokens?: number;
  readonly completion_tokens?: number;
  readonly cost_usd?: number;
  /** Answers that came to their limit of tokens. */
  readonly cut_off?: number;
  /** Answers that were refused. */
  readonly refused?: number;
}

/** How a language model's words were drawn, as requests call it; what is left out was left to the service. */
export interface Sampling {
  readonly max_tokens: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly seed?: number;
}

/** What no agent may see. */
export interface Hidden {
  /** f32 [16]: 11 traits, 5 reward weights. */
  readonly profile: readonly number[];
  /** f32 [3]. */
  readonly belief_target: readonly number[];
}

/** A whole week. */
export interface TrajectoryEpisode extends Player {
  readonly schema: Schema;
  /** The package's. */
  readonly version: string;
  readonly world_digest: string;
  /** A name of CONDITIONS, "custom", or another that results are told apart by. */
  readonly condition: string;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile_mode: string;
  readonly seed: number;
  /** Under which it was played: the last step's reward holds its grade. */
  readonly grader: { readonly name: string; readonly weights: GraderWeights };
  /** The system message of all prompts; null where nobody was asked in words. */
  readonly system: string | null;
  /** [28]. */
  readonly steps: readonly TrajectoryStep[];
  readonly final: StoredFinal;
  readonly usage?: Usage;
  readonly sampling?: Sampling;
  readonly hidden?: Hidden;
}

/**
 * What is played where a completion names no action: it costs its step without knowing the person, as a fixed action
 * does; the heuristic's would be earned by nobody.
 */
export const FALLBACK_ACTION = 'sleep';

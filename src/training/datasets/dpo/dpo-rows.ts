/** Rows of a dataset for DPO: a prompt, a better and a worse answer, as TRL's DPOTrainer reads them. */
import type { ChatMessage } from '../../../rollouts/text/prompt.js';
import { float32Decimal } from '../../../shared/float32-decimal.js';
import type { Columns } from '../../../shared/row-files/row-encoder.js';
import { checkBoolean, checkName } from '../../../shared/values.js';
import {
  checkBetween,
  type EpisodeSelection,
  type SelectionOptions,
  toSelection,
} from '../episode-selection.js';

/** What decides which answer is better: the episode's final score, or the sum of rewards from the state on. */
export const CRITERIA = ['score', 'return'] as const;
export type Criterion = (typeof CRITERIA)[number];

interface PairOptions {
  /** What decides which answer is better. Default 'score'. */
  readonly by?: Criterion;
  /** The smallest difference between the values of a pair, at least 0. Default 0: any difference. */
  readonly minMargin?: number;
  /** Whether to pair each answer with each worse one, instead of only the best with the worst. Default false. */
  readonly allPairs?: boolean;
}

export interface DpoOptions extends SelectionOptions, PairOptions {}

/** Options with all defaults filled in. */
export interface DpoPlan extends EpisodeSelection, Required<PairOptions> {}

/** Validates options. @throws InputError `unknown_name`, or as `toSelection`. */
export const toDpoPlan = (options: DpoOptions): DpoPlan => ({
  ...toSelection(options),
  by: checkName('by', options.by ?? CRITERIA[0], CRITERIA),
  minMargin: checkBetween('--min-margin', options.minMargin ?? 0, 0, Number.MAX_VALUE),
  allPairs: checkBoolean('allPairs', options.allPairs ?? false),
});

/** A row: two answers to the same state. Fields are columns. */
export interface DpoRow {
  /** System and user: the rules and the observation. */
  readonly prompt: readonly ChatMessage[];
  /** The better answer. */
  readonly chosen: readonly ChatMessage[];
  /** The worse answer. */
  readonly rejected: readonly ChatMessage[];
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile_mode: string;
  /** The number of steps before the state. */
  readonly step_index: number;
  readonly chosen_action: string;
  readonly rejected_action: string;
  /** Of the better answer's episode: the final score, or with the criterion 'return' the sum of rewards from the state on. */
  readonly chosen_value: number;
  /** The same of the worse answer's episode. */
  readonly rejected_value: number;
  readonly chosen_teacher: string;
  readonly rejected_teacher: string;
  readonly chosen_model: string | null;
  readonly rejected_model: string | null;
}

export const DPO_COLUMNS: Columns<DpoRow> = {
  prompt: { type: 'messages' },
  chosen: { type: 'messages' },
  rejected: { type: 'messages' },
  seed: { type: 'integer' },
  profile_mode: { type: 'text' },
  step_index: { type: 'integer' },
  chosen_action: { type: 'text' },
  rejected_action: { type: 'text' },
  chosen_value: { type: 'number' },
  rejected_value: { type: 'number' },
  chosen_teacher: { type: 'text' },
  rejected_teacher: { type: 'text' },
  chosen_model: { type: 'text', nullable: true },
  rejected_model: { type: 'text', nullable: true },
};

/** Returns the row of two candidates that share the state of a step. @param by the meaning of their values. */
export function dpoRowOf(step: number, chosen: Candidate, rejected: Candidate, by: Criterion): DpoRow {
  // A score is a float32, a return a float64.
  const valueAt = ({ values }: Candidate) => (by === 'score' ? float32Decimal(values[step]) : values[step]);
  const [better, worse] = [chosen.answers[step]!, rejected.answers[step]!];
  return {
    prompt: [
      { role: 'system', content: chosen.system },
      { role: 'user', content: better.prompt },
    ],
    chosen: [{ role: 'assistant', content: better.completion }],
    rejected: [{ role: 'assistant', content: worse.completion }],
    seed: chosen.seed,
    profile_mode: chosen.profileMode,
    step_index: step,
    chosen_action: chosen.actions[step],
    rejected_action: rejected.actions[step],
    chosen_value: valueAt(chosen),
    rejected_value: valueAt(rejected),
    chosen_teacher: chosen.teacher,
    rejected_teacher: rejected.teacher,
    chosen_model: chosen.model,
    rejected_model: rejected.model,
  };
}

/** The prompt and the answer of a step. */
interface AnswerText {
  readonly prompt: string;
  readonly completion: string;
}

/** An episode whose answers may become pairs. */
export interface Candidate {
  readonly seed: number;
  readonly profileMode: string;
  readonly teacher: string;
  readonly model: string | null;
  /** The system message of its prompts. */
  readonly system: string;
  /** A key of the episode's start: seed, profile, grader and system message. */
  readonly start: string;
  /** [28]: names of actions. */
  readonly actions: readonly string[];
  /** [28]: the answer of each step; null for an answer that is not usable as a row (see `isUsableAnswer`). */
  readonly answers: readonly (AnswerText | null)[];
  /** f64 [28]: by the criterion 'score' the final score at every step, else the sum of rewards from each step on. */
  readonly values: Float64Array;
}

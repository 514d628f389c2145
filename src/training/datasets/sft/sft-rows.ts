/** Rows of a dataset for SFT: a prompt and the teacher's answer. */
import type { ChatMessage } from '../../../rollouts/text/prompt.js';
import type { TrajectoryEpisode } from '../../../rollouts/trajectories/trajectory-episode.js';
import { isUsableAnswer } from '../../../rollouts/trajectories/usable-answer.js';
import { float32Decimal } from '../../../shared/float32-decimal.js';
import type { Columns } from '../../../shared/row-files/row-encoder.js';
import type { SftPlan } from './sft-options.js';

/** A row: the answer to a state. Fields are columns. */
export interface SftRow {
  /** System, user, assistant: the rules, the observation, and the full completion. */
  readonly messages: readonly ChatMessage[];
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile_mode: string;
  readonly condition: string;
  /** The number of steps before the state. */
  readonly step_index: number;
  readonly teacher: string;
  readonly model: string | null;
  readonly objective: string | null;
  /** The episode's final score under the plan's grader: the shortest decimal of the float32. */
  readonly final_score: number;
}

export const SFT_COLUMNS: Columns<SftRow> = {
  messages: { type: 'messages' },
  seed: { type: 'integer' },
  profile_mode: { type: 'text' },
  condition: { type: 'text' },
  step_index: { type: 'integer' },
  teacher: { type: 'text' },
  model: { type: 'text', nullable: true },
  objective: { type: 'text', nullable: true },
  final_score: { type: 'number' },
};

/** Returns a row for each usable answer at the plan's steps. @param score the episode's final score. */
export function sftRowsOf({ steps }: SftPlan, episode: TrajectoryEpisode, score: number): SftRow[] {
  const { seed, profile_mode, condition, teacher, model, objective, system } = episode;
  const final_score = float32Decimal(score);
  return episode.steps
    .slice(steps.first, steps.last + 1)
    .filter(isUsableAnswer)
    .map(({ step, prompt, completion }) => ({
      messages: [
        { role: 'system', content: system! },
        { role: 'user', content: prompt! },
        { role: 'assistant', content: completion! },
      ],
      seed,
      profile_mode,
      condition,
      step_index: step,
      teacher,
      model,
      objective,
      final_score,
    }));
}

/** Rows for SFT: what was asked, and what the teacher answered. */
import type { ChatMessage } from '../../../rollouts/text/prompt.js';
import type { TrajectoryEpisode, TrajectoryStep } from '../../../rollouts/trajectories/trajectory-episode.js';
import type { Columns } from '../encoder.js';
import type { SftPlan } from './sft-options.js';

export interface SftRow {
  /** System, user, assistant: the rules, the state, and the completion, whole. */
  readonly messages: readonly ChatMessage[];
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile_mode: string;
  readonly condition: string;
  /** Steps taken before. */
  readonly step_index: number;
  readonly teacher: string;
  readonly model: string | null;
  readonly objective: string | null;
  /** The week's, under the plan's grader. */
  readonly final_score: number;
}

export const SFT_COLUMNS: Columns<SftRow> = {
  messages: { holds: 'messages' },
  seed: { holds: 'integer' },
  profile_mode: { holds: 'text' },
  condition: { holds: 'text' },
  step_index: { holds: 'integer' },
  teacher: { holds: 'text' },
  model: { holds: 'text', nullable: true },
  objective: { holds: 'text', nullable: true },
  final_score: { holds: 'number' },
};

/** Half a character, which no file of UTF-8 can hold: readers of JSON lines refuse all of a file for one. */
const HALF = /\p{Cs}/u;

/** Whether an answer may be learned from: it was asked in words, is text, and names an action and a belief. */
const isWhole = ({ prompt, completion, parsed, belief }: TrajectoryStep): boolean =>
  prompt !== null && completion !== null && parsed && belief !== null && !HALF.test(completion);

/** The rows of a week, which was replayed as recorded. */
export function sftRowsOf({ steps }: SftPlan, episode: TrajectoryEpisode, score: number): SftRow[] {
  const { seed, profile_mode, condition, teacher, model, objective, system } = episode;
  return episode.steps
    .slice(steps.first, steps.last + 1)
    .filter(isWhole)
    .map(({ step, prompt, completion }) => ({
      messages: [
        { role: 'system', content: system! },
        { role: 'user', content: prompt! },
        { role: 'assistant', content: completion! },
      ],
      ...{ seed, profile_mode, condition, step_index: step, teacher, model, objective, final_score: score },
    }));
}

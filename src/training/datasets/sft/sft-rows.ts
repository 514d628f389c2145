/** Rows of a dataset for SFT: a prompt and the teacher's answer. */
import type { Objective as PlannerObjective } from '../../../agents/planner/objectives.js';
import { ACT_TOOL, Chat, type ChatTurn } from '../../../rollouts/text/chat.js';
import { isUsableAnswer } from '../../../rollouts/trajectories/move.js';
import {
  CHAT_FORMS,
  type ChatForm,
  type TrajectoryEpisode,
  type TrajectoryStep,
} from '../../../rollouts/trajectories/trajectory-episode.js';
import { InputError } from '../../../shared/errors.js';
import { float32Decimal } from '../../../shared/float32-decimal.js';
import type { Columns } from '../../../shared/row-files/row-encoder.js';
import { checkBoolean, checkName } from '../../../shared/values.js';
import { COMPONENT_NAMES } from '../../../world/fields.js';
import {
  checkBetween,
  type EpisodeSelection,
  type SelectionOptions,
  toSelection,
} from '../episode-selection.js';

/** Objectives of teachers. 'none' stands for teachers without an objective, such as language models. */
export const OBJECTIVES = ['wellbeing', 'score', 'none'] as const satisfies readonly (
  | PlannerObjective
  | 'none'
)[];
export type Objective = (typeof OBJECTIVES)[number];

export interface SftOptions extends SelectionOptions {
  /** Only episodes of teachers with this objective. Default wellbeing. */
  readonly objective?: Objective;
  /** The form of rows: 'single' (default) a step each; 'conversation' and 'tools' an episode each, as `ChatForm` describes. */
  readonly form?: ChatForm;
  /** Only episodes in which every completion names an action. Default false. */
  readonly onlyParsed?: boolean;
  /** The minimum final score, in [0, 1]. Default: no minimum. */
  readonly minScore?: number;
  /**
   * The minimum margin, in [-1, 1]: the final score minus the score of heuristic+constant, which infers nothing, in the same
   * episode. Default: no minimum.
   */
  readonly minMargin?: number;
  /** The maximum mean absolute error of the last belief, in [0, 1]. Uses hidden state. Default: no maximum. */
  readonly maxBeliefError?: number;
}

/** Options with all defaults filled in. Unused filters are null. */
export interface SftPlan extends EpisodeSelection {
  readonly objective: Objective;
  readonly form: ChatForm;
  readonly onlyParsed: boolean;
  readonly minScore: number | null;
  readonly minMargin: number | null;
  readonly maxBeliefError: number | null;
}

/** Validates options. @throws InputError. */
export const toSftPlan = (options: SftOptions): SftPlan => ({
  ...toSelection(options),
  form: toForm(options),
  objective: checkName('objective', options.objective ?? 'wellbeing', OBJECTIVES),
  onlyParsed: checkBoolean('onlyParsed', options.onlyParsed ?? false),
  minScore: checkBound('--min-score', options.minScore, 0),
  minMargin: checkBound('--min-margin', options.minMargin, -1),
  maxBeliefError: checkBound('--max-belief-error', options.maxBeliefError, 0),
});

function toForm({ form = 'single', steps }: SftOptions): ChatForm {
  const name = checkName('form', form, CHAT_FORMS);
  const first = steps?.first ?? 0;
  if (name === 'single' || first === 0) return name;
  throw new InputError('out_of_range', {
    expected: `steps from 0 on with the form ${name}, which begins with the first step`,
    got: `steps from ${first} on`,
    remedy: 'Pass --steps 0-27, or a smaller last step.',
  });
}

const checkBound = (what: string, value: number | undefined, low: number): number | null =>
  value === undefined ? null : checkBetween(what, value, low, 1);

/** A row: the answer to a state, or an episode's chat. Fields are columns. */
export interface SftRow {
  /** The rules, the observation and the full completion; in a chat further observations and completions. */
  readonly messages: readonly ChatTurn[];
  readonly seed: number;
  /** 'sampled', 'discrete' or a profile's name. */
  readonly profile_mode: string;
  readonly condition: string;
  /** The number of steps before the first state. */
  readonly step_index: number;
  readonly teacher: string;
  readonly model: string | null;
  readonly objective: string | null;
  /** The episode's final score under the plan's grader: the shortest decimal of the float32. */
  readonly final_score: number;
}

/** The columns of rows. Rows of the form 'tools' also have `tools`, and are written as JSON lines only. */
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

/** The rows of an episode, and the number of answers in them. */
export interface EpisodeRows {
  readonly rows: SftRow[];
  readonly answers: number;
}

/**
 * Returns a row for each usable answer at the plan's steps, or one with the chat up to the plan's last step. A chat ends before an
 * answer that is not usable, and the plan's first step is 0. @param score the episode's final score.
 */
export function sftRowsOf(plan: SftPlan, episode: TrajectoryEpisode, score: number): EpisodeRows {
  const { seed, profile_mode, condition, teacher, model, objective, system } = episode;
  const about = { seed, profile_mode, condition };
  const from = { teacher, model, objective, final_score: float32Decimal(score) };
  const steps = episode.steps.slice(plan.steps.first, plan.steps.last + 1);
  if (plan.form !== 'single') {
    const { messages, answers } = chatOf(plan.form, episode, steps);
    const tools = plan.form === 'tools' ? { tools: [ACT_TOOL] } : {};
    const row = { messages, ...tools, ...about, step_index: 0, ...from };
    return { rows: answers === 0 ? [] : [row], answers };
  }
  const rows = steps.filter(isUsableAnswer).map(({ step, prompt, completion }) => ({
    messages: [
      { role: 'system', content: system! },
      { role: 'user', content: prompt! },
      { role: 'assistant', content: completion! },
    ] as const,
    ...about,
    step_index: step,
    ...from,
  }));
  return { rows, answers: rows.length };
}

/** Returns the chat of the steps before the first answer that is not usable, and its number of answers. */
function chatOf(
  form: Exclude<ChatForm, 'single'>,
  { grader }: TrajectoryEpisode,
  steps: readonly TrajectoryStep[],
) {
  const chat = new Chat(
    form,
    COMPONENT_NAMES.map((name) => grader.weights[name]),
  );
  let [messages, answers]: [readonly ChatTurn[], number] = [[], 0];
  for (const step of steps) {
    if (!isUsableAnswer(step)) break;
    messages = chat.ask(Float32Array.from(step.observation));
    chat.answer(step.completion!);
    answers++;
  }
  return { messages, answers };
}

/** Episodes in text: observations are messages for a language model, and actions are its answers. */
import type { Platform } from '../../engine/backends/open-batch.js';
import { openVecEnv, type VecEnv } from '../../engine/vec-env/vec-env.js';
import type { StepResult, VecEnvOptions } from '../../engine/vec-env/vec-env-options.js';
import { checkName, readOptions, wrongType } from '../../shared/values.js';
import { ACTION_NAMES, COMPONENT_NAMES } from '../../world/fields.js';
import { FALLBACK_ACTION } from '../trajectories/move.js';
import { beginsInThought, type ParseOptions, parseText, type Triple } from './parse-completions.js';
import { type ChatMessage, type Prompt, type PromptOptions, systemMessage } from './prompt.js';
import { HISTORY_FORMS, type HistoryForm, userText } from './prompt-text.js';

export const TEXT_REWARDS = ['final', 'step', 'both'] as const;
/** What a step pays. 'final': the final score, at the last step; 'step': each step's reward; 'both': their sum. */
export type TextReward = (typeof TEXT_REWARDS)[number];

/** Options of `createTextEnv`. */
export interface TextEnvOptions
  extends Pick<VecEnvOptions, 'backend' | 'kernel' | 'profiles' | 'world'>,
    Pick<PromptOptions, 'grader'>,
    Pick<ParseOptions, 'thought'> {
  /** 'final' (default): the final score, at the last step; 'step': each step's reward; 'both': their sum. */
  readonly reward?: TextReward;
  /**
   * 'whole' (default): each message shows the last seven steps, as `prompt` writes it. 'new': only the last step, for chats
   * that keep the earlier messages.
   */
  readonly history?: HistoryForm;
}

const OPTIONS: readonly (keyof TextEnvOptions)[] = [
  ...(['backend', 'kernel', 'profiles', 'grader', 'world', 'thought', 'reward', 'history'] as const),
];

/** What is known of a step beside its message. */
export interface TextInfo {
  /** The episode's seed, u32. */
  readonly seed: number;
  /** The steps that the episode has taken, 1 to 28. */
  readonly step: number;
  /** The action that was played: `sleep` if the answer had none. */
  readonly action: string;
  /** Whether the answer had an action. */
  readonly parsed: boolean;
  /** The belief in the answer, each in [0, 1]; null if it had none, which leaves the episode's belief as it was. */
  readonly belief: Triple | null;
  /** The results of the episode; null before its last step. */
  readonly end: TextEnd | null;
}

/** The results of an episode. */
export interface TextEnd {
  readonly finalScore: number;
  readonly components: Readonly<Record<string, number>>;
  /** The mean absolute error of the last belief. */
  readonly beliefMae: number;
  /** The sum of the steps' rewards. */
  readonly episodeReturn: number;
}

/** What a step returns. */
export interface TextStep {
  /** The state after the step. */
  readonly message: ChatMessage<'user'>;
  readonly reward: number;
  /** Whether the episode is over. */
  readonly done: boolean;
  readonly info: TextInfo;
}

/** Opens an environment of texts on a platform's backends. @throws InputError, BackendError: as `createVecEnv`. */
export function createTextEnvOn(platform: Platform, options: TextEnvOptions): TextEnv {
  const { thought, reward = 'final', history = 'whole', ...rest } = readOptions('options', options, OPTIONS);
  const form = checkName('history', history, HISTORY_FORMS);
  const settings = {
    inThought: beginsInThought(thought),
    reward: checkName('reward', reward, TEXT_REWARDS),
    history: form,
    system: systemMessage(rest),
  };
  const observation = { history: form === 'whole' };
  return new TextEnv(openVecEnv(platform, { ...rest, numEnvs: 1, threads: 1, observation }), settings);
}

/** The validated options of a TextEnv. @internal */
export interface TextSettings {
  readonly inThought: boolean;
  readonly reward: TextReward;
  readonly history: HistoryForm;
  readonly system: ChatMessage<'system'>;
}

const FALLBACK = ACTION_NAMES.indexOf(FALLBACK_ACTION);

/** One episode at a time, in text. `createTextEnv` opens it. */
export class TextEnv implements Disposable {
  readonly #env: VecEnv;
  readonly #settings: TextSettings;
  #last: TextInfo | null = null;

  /** @internal */
  constructor(env: VecEnv, settings: TextSettings) {
    this.#env = env;
    this.#settings = settings;
  }

  /**
   * Begins an episode.
   * @param seed u32.
   * @returns the system message with the rules, and the first user message.
   * @throws InputError `bad_seed`; StateError `closed`.
   */
  reset(seed: number): Prompt {
    const outputs = this.#env.reset({ seed });
    this.#last = null;
    return [this.#settings.system, this.#messageOf(outputs)];
  }

  /**
   * Takes the step that an answer chooses. An answer without an action plays `sleep`, and one without a belief changes none.
   * @param text a completion, as `parseCompletion` reads it.
   * @throws InputError `wrong_type`; StateError `not_reset`, `episode_over`, `closed`. An error changes nothing.
   */
  step(text: string): TextStep {
    if (typeof text !== 'string')
      throw wrongType('text', 'a string', text, 'Pass the completion alone, without its role.');
    const { action, belief, given } = parseText(text, this.#settings.inThought);
    return this.#play(action, given ? belief : null);
  }

  /**
   * Plays `sleep` until the episode is over, without further beliefs, so that an episode that ends early has its score.
   * @returns the sum of the rewards of these steps, and the last info; after the episode's end 0 and the same info again.
   * @throws StateError `not_reset`, or `closed` with steps left.
   */
  finish(): Pick<TextStep, 'reward' | 'info'> {
    let reward = 0;
    while (this.#last?.end == null) reward += this.#play(null, null).reward;
    return { reward, info: this.#last };
  }

  /** Frees the environment. Later calls throw StateError `closed`. */
  close(): void {
    this.#env.close();
  }

  /** Closes the environment at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  #play(action: number | null, belief: Triple | null): TextStep {
    const code = action ?? FALLBACK;
    const outputs = this.#env.step([code], belief === null ? {} : { beliefs: belief });
    const end = outputs.finalMask[0] === 0 ? null : endOf(outputs);
    const step = (this.#last?.step ?? 0) + 1;
    const info = {
      ...{ seed: this.#env.seeds[0], step, action: ACTION_NAMES[code] },
      ...{ parsed: action !== null, belief, end },
    };
    this.#last = info;
    return {
      message: this.#messageOf(outputs),
      reward: this.#rewardOf(outputs, end),
      done: end !== null,
      info,
    };
  }

  #rewardOf(outputs: StepResult, end: TextEnd | null): number {
    const { reward } = this.#settings;
    const ofStep = reward === 'final' ? 0 : outputs.rewards[0];
    return ofStep + (reward === 'step' || end === null ? 0 : end.finalScore);
  }

  #messageOf({ observations }: StepResult): ChatMessage<'user'> {
    return { role: 'user', content: userText(observations, 0, this.#settings.history) };
  }
}

function endOf({ finalScores, components, beliefMae, episodeReturns }: StepResult): TextEnd {
  const byName = COMPONENT_NAMES.map((name, k) => [name, components[k]] as const);
  return {
    finalScore: finalScores[0],
    components: Object.fromEntries(byName),
    beliefMae: beliefMae[0],
    episodeReturn: episodeReturns[0],
  };
}

/** The interface of a language model. */

import type { ChatTurns } from '../../rollouts/text/chat.js';
import type { Player, Sampling, Usage } from '../../rollouts/trajectories/trajectory-episode.js';
import { InputError, RhythmError } from '../../shared/errors.js';
import { isModelName, MODEL_NAME } from '../../shared/names.js';
import { describe } from '../../shared/values.js';
import type { CostLedger } from './ledger.js';

/** A model's answer. */
export interface Answer {
  /** The answer's text; '' if it has none. */
  readonly completion: string;
  /** The reasoning, if the endpoint returns it separately. */
  readonly reasoning?: string;
  /** Why the answer ended, in the endpoint's words: "stop", "length" if it was cut off, "content_filter", ... */
  readonly finish: string;
  /** Whether the model or a content filter refused to answer. */
  readonly refused: boolean;
  /** The usage of all requests for the answer. */
  readonly usage: Usage;
}

/** The answers of unfinished episodes, so that no answer is paid for twice. */
export interface AnswerLog {
  /** Returns the stored answer at a step of an episode; undefined if there is none. @param key names the model and the episode. */
  get(key: string, step: number): Answer | undefined;
  /** Stores an answer. Once the promise resolves, no crash can lose it. */
  add(key: string, step: number, answer: Answer): Promise<void>;
}

/** Answers prompts. The policy "llm:NAME" calls it before every step. */
export interface LanguageModel {
  /** The name in files. */
  readonly name: string;
  /** The sampling parameters, which files record. */
  readonly sampling?: Sampling;
  /** The ledger, which decides whether the budget allows another episode. */
  readonly ledger?: CostLedger;
  /**
   * Answers a chat, whose last message is of the user or a tool. With the sampling's form 'tools' the model may call the tool
   * `act`; the completion is then the line that the call stands for. @throws EndpointError; BudgetError if the budget does not suffice; the signal's reason.
   */
  complete(chat: ChatTurns, signal: AbortSignal): Promise<Answer>;
}

/** Returns the player (trajectory-episode.ts) of a model's episodes, which has no objective. */
export const modelPlayer = (model: string): Player => ({
  teacher: 'llm',
  model,
  objective: null,
  oracle: false,
});

/** Thrown if the endpoint failed, after all retries or because no retry can help. */
export class EndpointError extends RhythmError {
  /** Whether all other requests would fail too. */
  readonly lasting: boolean;

  constructor(message: string, { lasting }: { readonly lasting: boolean }) {
    super('endpoint_failed', message);
    this.lasting = lasting;
  }
}

/**
 * Checks that files with this model's name can be read again. Call it before the first request.
 * @param where the place of the name for the error text, such as "after llm:". @throws InputError `unknown_name`.
 */
export function checkModelName(name: string, where: string): void {
  if (isModelName(name)) return;
  throw new InputError('unknown_name', {
    expected: `a model name of ${MODEL_NAME} ${where}`,
    got: describe(name),
    remedy: 'Serve the model under such a name, and pass that name.',
  });
}

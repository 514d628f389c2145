/** Summarises the requests, tokens, cost and answers of a language model at the end of a run. */

import { type CostLedger, dollars, type UsageTally } from '../../agents/llm/ledger.js';
import { grouped } from '../../evaluation/format-results.js';
import type { TrajectoryEpisode } from '../../rollouts/trajectories/trajectory-episode.js';

/** Above this share of answers without an action, the summary has a note. Chosen by hand: a few such answers need none. */
const MANY_UNPARSED = 0.05;

/** The summary of one model's run. */
export class LlmSummary {
  readonly #tally: UsageTally;
  readonly #ledger: CostLedger;
  readonly #before: number;
  #answers = 0;
  #unparsed = 0;
  #cost = 0;

  /** @param before dollars spent by earlier runs. */
  constructor(tally: UsageTally, ledger: CostLedger, before: number) {
    this.#tally = tally;
    this.#ledger = ledger;
    this.#before = before;
  }

  /** Counts a finished episode. */
  add({ steps, usage }: Pick<TrajectoryEpisode, 'steps' | 'usage'>): void {
    this.#answers += steps.length;
    this.#unparsed += steps.filter(({ parsed }) => !parsed).length;
    this.#cost += usage?.cost_usd ?? 0;
  }

  /** Returns the amount that this and earlier runs spent, for the progress bar; '' without prices. */
  spentText(): string {
    const { prices, spent, budget } = this.#ledger;
    if (prices === null) return '';
    return budget === null ? dollars(spent) : `${dollars(spent)} of ${dollars(budget)}`;
  }

  /** Returns the summary as lines with line ends; '' if there were no requests. */
  text(): string {
    const { requests, unanswered, promptTokens, completionTokens } = this.#tally;
    if (requests === 0) return '';
    const unansweredText = unanswered === 0 ? '' : `, ${grouped(unanswered)} of them retries or failures`;
    const tokens = `${grouped(promptTokens)} prompt and ${grouped(completionTokens)} completion tokens`;
    return `${grouped(requests)} requests${unansweredText}; ${tokens}${this.#costText()}.\n${this.#shares()}${this.#hint()}`;
  }

  #costText(): string {
    const { prices, spent } = this.#ledger;
    if (prices === null) return '';
    const spentNow = spent - this.#before;
    const earlier = this.#before === 0 ? '' : `, after ${dollars(this.#before)} in earlier runs`;
    return `; ${dollars(spentNow)}, ${dollars(this.#cost)} of it for whole episodes${earlier}`;
  }

  #shares(): string {
    const { answers, cutOff, refused } = this.#tally;
    if (answers === 0) return '';
    const unparsed = this.#answers === 0 ? '' : `${share(this.#unparsed, this.#answers)} without an action, `;
    return `Of the answers ${unparsed}${share(cutOff, answers)} cut off, ${share(refused, answers)} refused.\n`;
  }

  #hint(): string {
    if (this.#unparsed <= MANY_UNPARSED * this.#answers) return '';
    const { answers, cutOff } = this.#tally;
    // If more than MANY_UNPARSED / 2 of all answers were cut off, the note names this cause. The half is chosen by hand.
    const remedy =
      cutOff > (MANY_UNPARSED / 2) * answers
        ? 'Many were cut off: raise --max-tokens.'
        : 'See the completions in the output: an answer must end with a line such as 4 6 5 SLEEP.';
    return `note: ${share(this.#unparsed, this.#answers)} of the answers named no action; sleep was played instead. ${remedy}\n`;
  }
}

const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

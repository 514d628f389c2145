/** What a run of a language model took, for its last lines. */
import { grouped } from '../../evaluate/figures.js';
import { dollars, type Ledger } from '../../llm/ledger.js';
import type { Tally } from '../../llm/tally.js';
import type { TrajectoryEpisode } from '../../trajectory/episode.js';

/** More answers without an action than this are worth a word. */
const MANY_UNPARSED = 0.05;

export class LlmSummary {
  readonly #tally: Tally;
  readonly #ledger: Ledger;
  readonly #before: number;
  #answers = 0;
  #unparsed = 0;
  #cost = 0;

  /** @param before dollars that earlier runs have spent. */
  constructor(tally: Tally, ledger: Ledger, before: number) {
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

  /** What was spent, for a line of progress; '' where nothing is known to cost anything. */
  money(): string {
    const { prices, spent, budget } = this.#ledger;
    if (prices === null) return '';
    return budget === null ? dollars(spent) : `${dollars(spent)} of ${dollars(budget)}`;
  }

  /** Lines with their ends; '' where nothing was asked. */
  text(): string {
    const { requests, retries, promptTokens, completionTokens } = this.#tally;
    if (requests === 0) return '';
    const again = retries === 0 ? '' : `, ${grouped(retries)} of them again or in vain`;
    const tokens = `${grouped(promptTokens)} prompt and ${grouped(completionTokens)} completion tokens`;
    return `${grouped(requests)} requests${again}; ${tokens}${this.#costText()}.\n${this.#shares()}${this.#hint()}`;
  }

  #costText(): string {
    const { prices, spent } = this.#ledger;
    if (prices === null) return '';
    const now = spent - this.#before;
    const before = this.#before === 0 ? '' : `, after ${dollars(this.#before)} before`;
    return `; ${dollars(now)}${before}, ${dollars(this.#cost)} of it for whole episodes`;
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
    const remedy =
      cutOff > (MANY_UNPARSED / 2) * answers
        ? 'Many were cut off: raise --max-tokens.'
        : 'Look at their completions in the output: a model must end with a line such as 4 6 5 SLEEP.';
    return `note: ${share(this.#unparsed, this.#answers)} of the answers named no action, and sleep was played. ${remedy}\n`;
  }
}

const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

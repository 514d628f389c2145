/** How endpoints call the limit of an answer: some refuse the newer name, some the older one, and some heed but one. */

const OTHER = { max_completion_tokens: 'max_tokens', max_tokens: 'max_completion_tokens' } as const;

export type LimitName = keyof typeof OTHER;

/** The name that an endpoint is asked by, as far as it has shown which it wants. */
export class LimitNames {
  #current: LimitName = 'max_completion_tokens';
  readonly #refused = new Set<LimitName>();

  get current(): LimitName {
    return this.#current;
  }

  /** @returns whether there is another to ask by. */
  refuse(name: LimitName): boolean {
    this.#refused.add(name);
    const other = OTHER[name];
    if (this.#refused.has(other)) return false;
    this.#current = other;
    return true;
  }

  /** Servers that do not know the newer name, and do not say so, answer at greater length. */
  exceeded(): void {
    if (!this.#refused.has('max_tokens')) this.#current = 'max_tokens';
  }
}

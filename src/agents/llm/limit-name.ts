/** Finds the parameter that limits an answer's tokens at an endpoint: `max_completion_tokens` or `max_tokens`. */

/** The other name for each name. */
const OTHER = { max_completion_tokens: 'max_tokens', max_tokens: 'max_completion_tokens' } as const;

/** A name of the parameter. */
export type LimitName = keyof typeof OTHER;

/** The name in use for an endpoint. It changes when the endpoint refuses or ignores a name. */
export class LimitNames {
  #current: LimitName = 'max_completion_tokens';
  readonly #refused = new Set<LimitName>();

  get current(): LimitName {
    return this.#current;
  }

  /** Records a refused name. @returns whether the other name can still be tried. */
  refuse(name: LimitName): boolean {
    this.#refused.add(name);
    const other = OTHER[name];
    if (this.#refused.has(other)) return false;
    this.#current = other;
    return true;
  }

  /** Records an answer longer than its limit. Older servers ignore `max_completion_tokens` without an error. */
  exceeded(): void {
    if (!this.#refused.has('max_tokens')) this.#current = 'max_tokens';
  }
}

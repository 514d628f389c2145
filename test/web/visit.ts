/** A visit to the page in a browser: what it asked for and said is kept, and what leaves its origin is stopped. */
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Site } from './site.js';

/** As people have them. */
export const SIZES = {
  laptop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
};

export const TONES = ['light', 'dark'] as const;

export interface VisitOptions {
  readonly size?: keyof typeof SIZES;
  readonly tone?: (typeof TONES)[number];
}

/** Milliseconds until a crowd has lived its week on a processor that others use, too. */
export const LIMIT = 90_000;

export class Visit {
  readonly page: Page;
  /** Addresses outside the page's origin that it asked for. */
  readonly foreign: string[] = [];
  /** Errors and warnings that it printed, and what it threw. */
  readonly said: string[] = [];
  readonly #context: BrowserContext;

  private constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.page = page;
    page.setDefaultTimeout(LIMIT);
  }

  /** @param fragment of the address, from the `#` on. */
  static async begin(
    browser: Browser,
    site: Site,
    fragment = '',
    { size = 'laptop', tone = 'light' }: VisitOptions = {},
  ): Promise<Visit> {
    const context = await browser.newContext({
      viewport: SIZES[size],
      colorScheme: tone,
      reducedMotion: 'reduce',
    });
    const visit = new Visit(context, await context.newPage());
    await visit.#watch(site.origin);
    await visit.page.goto(site.at(fragment));
    return visit;
  }

  async #watch(origin: string): Promise<void> {
    await this.#context.route(
      (url) => url.origin !== origin && url.protocol !== 'data:' && url.protocol !== 'blob:',
      async (route) => {
        this.foreign.push(route.request().url());
        await route.abort();
      },
    );
    this.page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.said.push(message.text());
    });
    this.page.on('pageerror', (error) => this.said.push(String(error)));
  }

  /** What axe-core finds wrong for people who read otherwise: a line a rule. */
  async barriers(): Promise<string[]> {
    await this.page.evaluate(axe.source);
    const { violations } = (await this.page.evaluate('axe.run()')) as axe.AxeResults;
    return violations.map(
      ({ id, help, nodes }) =>
        `${id}: ${help}: ${nodes
          .map(({ html }) => html.slice(0, 200))
          .slice(0, 3)
          .join(' | ')}`,
    );
  }

  /** By how many pixels the page is wider than its window. */
  async overhang(): Promise<number> {
    return this.page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    ) as Promise<number>;
  }

  end(): Promise<void> {
    return this.#context.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}

/**
 * Opens the page in a browser. Records console messages, and requests to other origins. Requests to other hosts fail (see
 * chromium.ts).
 */
import axe from 'axe-core';
import type { Browser, BrowserContext, CDPSession, ConsoleMessage, Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import { screenshot } from './screenshots.js';
import type { Site } from './site.js';

/** Window sizes: one for each layout of the page. */
export const SIZES = {
  laptop: { width: 1440, height: 900 },
  tablet: { width: 768, height: 1024 },
  phone: { width: 360, height: 740 },
};

const COLOR_SCHEMES = ['light', 'dark'] as const;

export interface VisitOptions {
  readonly size?: keyof typeof SIZES;
  readonly colorScheme?: (typeof COLOR_SCHEMES)[number];
  /** Scripts that run in the page before its own. */
  readonly scripts?: readonly string[];
  /** Files that cannot be loaded. */
  readonly missing?: RegExp;
  /** Console messages that the page may print. Default: any if files are missing, else none. */
  readonly allowed?: RegExp;
}

/** The time limit of a wait, in milliseconds: long enough for the crowd view on a busy processor. */
export const LIMIT = 90_000;

/**
 * The contexts of each browser, with touch and without it. Visits share them, and with them the cache of the page's files,
 * which halves the time of a visit.
 */
const contexts = new WeakMap<Browser, Map<boolean, Promise<BrowserContext>>>();

function contextOf(browser: Browser, hasTouch: boolean): Promise<BrowserContext> {
  const opened = contexts.get(browser) ?? new Map<boolean, Promise<BrowserContext>>();
  contexts.set(browser, opened);
  const context = opened.get(hasTouch) ?? browser.newContext({ hasTouch, reducedMotion: 'reduce' });
  opened.set(hasTouch, context);
  return context;
}

/** Pages of ended visits, which later visits use again: an open page takes half of the processor time of a new one. */
const idlePages = new WeakMap<BrowserContext, Page[]>();

async function pageOf(context: BrowserContext): Promise<Page> {
  const idle = idlePages.get(context)?.pop() ?? null;
  if (idle === null) return context.newPage();
  // Else the pointer could hover over a part of the next page.
  await idle.mouse.move(0, 0);
  return idle;
}

export class Visit {
  readonly page: Page;
  /** Its scripts run in the page until it is detached. */
  readonly #session: CDPSession;
  #unwatch: (() => void) | null = null;
  /** Requests to other origins. */
  readonly foreignRequests: string[] = [];
  /** Errors and warnings of the console, and uncaught errors. */
  readonly messages: string[] = [];

  readonly #allowed: RegExp | undefined;

  private constructor(page: Page, session: CDPSession, allowed?: RegExp) {
    this.page = page;
    this.#session = session;
    this.#allowed = allowed;
    page.setDefaultTimeout(LIMIT);
  }

  /**
   * Opens the page with an empty local storage, which all pages of the context share.
   * @param fragment of the address, from the `#` on.
   */
  static async begin(
    browser: Browser,
    site: Site,
    fragment = '',
    {
      size = 'laptop',
      colorScheme = 'light',
      scripts = [],
      missing,
      allowed = missing && /^/,
    }: VisitOptions = {},
  ): Promise<Visit> {
    const context = await contextOf(browser, size === 'phone');
    const page = await pageOf(context);
    const session = await context.newCDPSession(page);
    const visit = new Visit(page, session, allowed);
    visit.#watch(site.origin);
    // Chromium draws one frame a second of a page that is behind another one.
    await page.bringToFront();
    await page.setViewportSize(SIZES[size]);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce', forcedColors: 'none' });
    await session.send('Storage.clearDataForOrigin', { origin: site.origin, storageTypes: 'local_storage' });
    // The history holds 50 entries. A full one would hide that an entry is added.
    await session.send('Page.resetNavigationHistory');
    if (scripts.length > 0) await session.send('Page.enable');
    for (const source of scripts) await session.send('Page.addScriptToEvaluateOnNewDocument', { source });
    if (missing !== undefined) await page.route(missing, (route) => route.abort());
    await page.goto(site.at(fragment));
    return visit;
  }

  /** Shows another address in the open page, as links do, which is faster than another visit. Workers keep their state. */
  async follow(fragment: string): Promise<void> {
    await this.page.evaluate(`new Promise((shown) => {
      const before = location.hash;
      addEventListener('hashchange', () => requestAnimationFrame(() => setTimeout(shown)), { once: true });
      location.hash = ${JSON.stringify(fragment)};
      if (location.hash === before) shown();
    })`);
  }

  /** Shows an address in the open page, after another view, so that the view begins anew. */
  async show(fragment: string): Promise<this> {
    await this.page.bringToFront();
    await this.follow('#train');
    await this.follow(fragment);
    return this;
  }

  #watch(origin: string): void {
    const { page } = this;
    const onRequest = (request: Request): void => {
      if (/^https?:/.test(request.url()) && !request.url().startsWith(`${origin}/`))
        this.foreignRequests.push(request.url());
    };
    const onMessage = (message: ConsoleMessage): void => {
      if (message.type() === 'error' || message.type() === 'warning') this.messages.push(message.text());
    };
    const onError = (error: Error): void => void this.messages.push(String(error));
    page.on('request', onRequest).on('console', onMessage).on('pageerror', onError);
    this.#unwatch = () => page.off('request', onRequest).off('console', onMessage).off('pageerror', onError);
  }

  /**
   * Expects no accessibility violations and no overflow, in light and dark. The schemes differ only in colours, so the second
   * is checked by the rule of colours alone. @param name of the screenshots.
   */
  async expectAccessible(name: string): Promise<void> {
    for (const colorScheme of COLOR_SCHEMES) {
      await this.page.emulateMedia({ colorScheme });
      const rules = colorScheme === 'light' ? undefined : ['color-contrast'];
      expect(await this.accessibilityViolations(rules), colorScheme).toEqual([]);
      await expect.poll(() => this.overflowWidth()).toBeLessThanOrEqual(0);
      await screenshot(this.page, `${name}-${colorScheme}`);
    }
    await this.page.emulateMedia({ colorScheme: 'light' });
  }

  /**
   * Does the same on a phone. A media query on width applies to all smaller or to all larger widths, and a larger window hides
   * nothing, so in other sizes this checks only overflow and the rule that depends on the width. web-sequence.test.ts checks all
   * rules on a laptop, with the links in the header that smaller windows hide.
   * @param name of the screenshots.
   */
  async expectAccessibleInAllSizes(name: string): Promise<void> {
    for (const [size, window] of Object.entries(SIZES)) {
      await this.page.setViewportSize(window);
      // Until the charts have the new width.
      await expect.poll(() => this.overflowWidth()).toBeLessThanOrEqual(0);
      if (size === 'phone') await this.expectAccessible(`${name}-${size}`);
      else {
        expect(await this.accessibilityViolations(['scrollable-region-focusable'])).toEqual([]);
        await screenshot(this.page, `${name}-${size}`);
      }
    }
  }

  /** Returns the accessibility violations that axe-core finds, one line per rule. @param rules by default all. */
  async accessibilityViolations(rules?: readonly string[]): Promise<string[]> {
    if (await this.page.evaluate('globalThis.axe === undefined')) await this.page.evaluate(axe.source);
    // Without the details of passed rules, which take half of the time.
    const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
    const { violations } = (await this.page.evaluate(
      `axe.run(${JSON.stringify(options)})`,
    )) as axe.AxeResults;
    return violations.map(
      ({ id, help, nodes }) =>
        `${id}: ${help}: ${nodes
          .map(({ html }) => html.slice(0, 200))
          .slice(0, 3)
          .join(' | ')}`,
    );
  }

  /** Returns by how many pixels the page is wider than its window. */
  async overflowWidth(): Promise<number> {
    return this.page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    ) as Promise<number>;
  }

  /** Ends the visit. Expects no requests to other origins, and no console messages except allowed ones. */
  async end(): Promise<void> {
    const { page } = this;
    if (page.isClosed()) return;
    await this.#session.detach();
    this.#unwatch?.();
    await page.unrouteAll();
    const context = page.context();
    const idle = idlePages.get(context) ?? [];
    idlePages.set(context, idle);
    // Ends the workers of the page.
    await page.goto('about:blank');
    idle.push(page);
    expect(this.foreignRequests).toEqual([]);
    expect(this.messages.filter((message) => !this.#allowed?.test(message))).toEqual([]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}

/** Waits until the view of one person shows that so many slots are played. */
export const slots = (page: Page, count: number): Promise<void> =>
  page.getByText(`${count} of 28 slots`, { exact: true }).waitFor();

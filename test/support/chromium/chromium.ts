/** Starts Chromium, with WebGPU on SwiftShader or without WebGPU, and calls functions of a page in Chromium. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stripVTControlCharacters } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';
import { isRequired } from '../required.js';

/** Paths of Chromium: only `RHYTHM_CHROMIUM` if it is set. */
const PATHS = process.env.RHYTHM_CHROMIUM
  ? [process.env.RHYTHM_CHROMIUM]
  : ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'].map(
      (name) => `/usr/bin/${name}`,
    );

/** Flags that turn off Chromium's background traffic, and requests to other hosts. */
const QUIET = [
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--no-first-run',
];

/** Flags with WebGPU on SwiftShader, or without WebGPU. */
const FLAGS = {
  webgpu: ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-unsafe-swiftshader'],
  'no webgpu': ['--disable-blink-features=WebGPU'],
};

/**
 * Time limits in milliseconds: to start a browser or open a page, and for a call. Chosen by hand: with longer limits a
 * Chromium that hangs is reported later.
 */
const START_LIMIT = 30_000;
const CALL_LIMIT = 90_000;

type Arguments<F> = F extends (...args: infer Args) => unknown ? Args : never;
type Answer<F> = F extends (...args: never[]) => infer Result ? Awaited<Result> : never;

/** A page whose script has set `globalThis.page` to an object of functions. */
export class ChromiumPage<Api> {
  readonly #browser: Browser;
  readonly #server: Server;
  #page!: Page;
  /** Console messages and uncaught errors of the page. */
  readonly #messages: string[] = [];

  private constructor(browser: Browser, server: Server) {
    this.#browser = browser;
    this.#server = server;
  }

  /** Opens a page. @param script a module's text. @throws Error if no Chromium starts or the page does not open. */
  static async open<Api>(script: string): Promise<ChromiumPage<Api>> {
    const browser = await launch();
    const page = new ChromiumPage<Api>(browser, serverOf(script));
    try {
      await page.#open();
      return page;
    } catch (cause) {
      await page.close();
      throw page.#failed('opening the page', cause);
    }
  }

  async #open(): Promise<void> {
    this.#server.listen(0, 'localhost');
    await once(this.#server, 'listening');
    this.#page = await this.#browser.newPage();
    this.#page.on('console', (message) => this.#messages.push(message.text()));
    this.#page.on('pageerror', (error) => this.#messages.push(String(error)));
    const { port } = this.#server.address() as AddressInfo;
    await this.#page.goto(`http://localhost:${port}/`, { timeout: START_LIMIT });
  }

  /** Calls a function of the page. Without an answer in CALL_LIMIT, closes the browser. */
  async call<Name extends keyof Api & string>(
    name: Name,
    ...args: Arguments<Api[Name]>
  ): Promise<Answer<Api[Name]>> {
    const limit = setTimeout(() => {
      this.#messages.push(`no answer within ${CALL_LIMIT / 1000} s: the browser was closed`);
      void this.#browser.close();
    }, CALL_LIMIT);
    try {
      return await this.#page.evaluate(callInPage<Answer<Api[Name]>>, [name, args] as [string, unknown[]]);
    } catch (cause) {
      throw this.#failed(name, cause);
    } finally {
      clearTimeout(limit);
    }
  }

  #failed(what: string, cause: unknown): Error {
    const printed = this.#messages.join('\n') || 'nothing';
    return new Error(`Chromium, ${what}: ${(cause as Error).message}\nThe page printed: ${printed}`, {
      cause,
    });
  }

  /** Ends the browser and the server. Idempotent. */
  async close(): Promise<void> {
    await this.#browser.close();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Calls a function of the page. Runs in the page. */
const callInPage = <Result>([name, args]: [string, unknown[]]): Result =>
  (globalThis as unknown as { page: Record<string, (...args: unknown[]) => Result> }).page[name](...args);

/** Starts Chromium. @throws Error if Chromium is not installed or does not start. */
export async function launch(kind: keyof typeof FLAGS = 'webgpu'): Promise<Browser> {
  const executablePath = PATHS.find(existsSync);
  if (executablePath === undefined) {
    throw new Error(`no Chromium at ${PATHS.join(', ')}; install it, or set RHYTHM_CHROMIUM to its path`);
  }
  try {
    return await chromium.launch({ executablePath, args: [...QUIET, ...FLAGS[kind]], timeout: START_LIMIT });
  } catch (cause) {
    const lines = stripVTControlCharacters((cause as Error).message).matchAll(/\[err\] (.*)/g);
    const lastLine = [...lines].pop()?.[1] ?? 'it printed nothing';
    throw new Error(`${executablePath} does not start: ${lastLine}`, { cause });
  }
}

/** Serves the page and its script. */
function serverOf(script: string): Server {
  const files: Record<string, readonly [type: string, text: string]> = {
    '/': [
      'text/html',
      '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
    ],
    '/page.js': ['text/javascript', script],
  };
  return createServer(({ url }, response) => {
    const [type, text] = files[url ?? ''] ?? ['text/plain', ''];
    response.writeHead(text === '' ? 404 : 200, { 'content-type': `${type}; charset=utf-8` }).end(text);
  });
}

/** The script of a page that requests an adapter, and returns the reason if it gets none. */
const PROBE = `globalThis.page = {
  async whyNoAdapter() {
    if (!navigator.gpu) return 'it has no navigator.gpu';
    return (await navigator.gpu.requestAdapter()) ? null : 'it has no WebGPU adapter';
  },
};`;

/**
 * Returns the reason why pages have no WebGPU here, or null if they have it.
 * @throws Error, instead of returning the reason, if `RHYTHM_REQUIRE` names chromium.
 */
export async function whyAbsent(): Promise<string | null> {
  try {
    await using page = await ChromiumPage.open<{ whyNoAdapter(): Promise<string | null> }>(PROBE);
    const why = await page.call('whyNoAdapter');
    if (why !== null) throw new Error(why);
    return null;
  } catch (cause) {
    const { message } = cause as Error;
    if (isRequired('chromium')) throw new Error(`Expected a Chromium with WebGPU: ${message}`, { cause });
    return message.split('\n')[0];
  }
}

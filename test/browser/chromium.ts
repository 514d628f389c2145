/** A real Chromium with WebGPU on SwiftShader, and a page in it that answers calls. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stripVTControlCharacters } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';
import { isRequired } from '../support/required.js';

/** Where Chromium is looked for: `RHYTHM_CHROMIUM` alone if it is set. */
const PLACES = process.env.RHYTHM_CHROMIUM
  ? [process.env.RHYTHM_CHROMIUM]
  : ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'].map(
      (name) => `/usr/bin/${name}`,
    );

/** What a Chromium that is tested does not do by itself. */
const QUIET = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--no-first-run',
];

/** With WebGPU on SwiftShader, or without any. */
const FLAGS = {
  webgpu: ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-unsafe-swiftshader'],
  'no webgpu': ['--disable-blink-features=WebGPU'],
};

/** Milliseconds until a browser has started, and until a page has answered a call. */
const START_LIMIT = 30_000;
const CALL_LIMIT = 90_000;

type Arguments<F> = F extends (...args: infer Args) => unknown ? Args : never;
type Answer<F> = F extends (...args: never[]) => infer Result ? Awaited<Result> : never;

/** A page whose script has set `globalThis.page` to an object of functions. */
export class ChromiumPage<Api> {
  readonly #browser: Browser;
  readonly #server: Server;
  #page!: Page;
  /** What the page printed and threw. */
  readonly #said: string[] = [];

  private constructor(browser: Browser, server: Server) {
    this.#browser = browser;
    this.#server = server;
  }

  /** @param script a module's text. @throws Error if there is no Chromium, or none that starts. */
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
    this.#page.on('console', (message) => this.#said.push(message.text()));
    this.#page.on('pageerror', (error) => this.#said.push(String(error)));
    const { port } = this.#server.address() as AddressInfo;
    await this.#page.goto(`http://localhost:${port}/`, { timeout: START_LIMIT });
  }

  /** Calls one of them. @throws Error with what it threw, and what the page printed. */
  async call<Name extends keyof Api & string>(
    name: Name,
    ...args: Arguments<Api[Name]>
  ): Promise<Answer<Api[Name]>> {
    const limit = setTimeout(() => {
      this.#said.push(`no answer within ${CALL_LIMIT / 1000} s: the browser was closed`);
      void this.#browser.close();
    }, CALL_LIMIT);
    try {
      return await this.#page.evaluate(answer<Answer<Api[Name]>>, [name, args] as [string, unknown[]]);
    } catch (cause) {
      throw this.#failed(name, cause);
    } finally {
      clearTimeout(limit);
    }
  }

  #failed(what: string, cause: unknown): Error {
    const said = this.#said.join('\n') || 'nothing';
    return new Error(`Chromium, ${what}: ${(cause as Error).message}\nThe page printed: ${said}`, { cause });
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

/** Runs in the page. */
const answer = <Result>([name, args]: [string, unknown[]]): Result =>
  (globalThis as unknown as { page: Record<string, (...args: unknown[]) => Result> }).page[name](...args);

/** Starts one. @throws Error if there is none here, or none that starts. */
export async function launch(kind: keyof typeof FLAGS = 'webgpu'): Promise<Browser> {
  const executablePath = PLACES.find(existsSync);
  if (executablePath === undefined) {
    throw new Error(`no Chromium at ${PLACES.join(', ')}; install it, or let RHYTHM_CHROMIUM name it`);
  }
  try {
    return await chromium.launch({ executablePath, args: [...QUIET, ...FLAGS[kind]], timeout: START_LIMIT });
  } catch (cause) {
    const lines = stripVTControlCharacters((cause as Error).message).matchAll(/\[err\] (.*)/g);
    const said = [...lines].pop()?.[1] ?? 'it said nothing';
    throw new Error(`${executablePath} does not start: ${said}`, { cause });
  }
}

/** The page and its script. */
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

/** Asks for an adapter and says why there is none. */
const PROBE = `globalThis.page = {
  async whyNoAdapter() {
    if (!navigator.gpu) return 'it has no navigator.gpu';
    return (await navigator.gpu.requestAdapter()) ? null : 'it has no WebGPU adapter';
  },
};`;

/** Why no page with WebGPU can be opened here; null if one can. @throws if `RHYTHM_REQUIRE` names chromium. */
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

/** Builds the demo page (web/) and serves it below a path, because the page must work in any folder of a server. */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The path of the page on the server. Its space is escaped in URLs. */
const PAGE_PATH = '/some where/weeks/';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};

export interface SiteOptions {
  /** Whether browsers may cache the files. Default false. */
  readonly cached?: boolean;
  /** Whether small-sizes.ts replaces the page's sizes.ts. Default false. */
  readonly isShort?: boolean;
}

/** Builds the page at the first request, and serves it. */
export class SiteServer {
  readonly #folder: string;
  readonly #server: Server;
  readonly #isShort: boolean;
  #built: Promise<void> | null = null;

  private constructor(folder: string, { cached = false, isShort = false }: SiteOptions) {
    this.#folder = folder;
    this.#isShort = isShort;
    const control = cached ? { 'cache-control': 'max-age=3600' } : {};
    this.#server = createServer(async ({ url }, response) => {
      try {
        const [type, bytes] = await this.#find(url ?? '');
        response.writeHead(bytes === null ? 404 : 200, { 'content-type': type, ...control }).end(bytes);
      } catch (error) {
        response.writeHead(500, { 'content-type': 'text/plain' }).end(`The page is not built: ${error}`);
      }
    });
  }

  static async open(options: SiteOptions = {}): Promise<SiteServer> {
    const site = new SiteServer(await mkdtemp(join(tmpdir(), 'rhythm-vec-web-')), options);
    site.#server.listen(0, 'localhost');
    await once(site.#server, 'listening');
    return site;
  }

  get origin(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  async #find(url: string): Promise<readonly [type: string, bytes: Buffer | null]> {
    this.#built ??= build(this.#folder, this.#isShort);
    await this.#built;
    const file = fileOf(url);
    const bytes = file === null ? null : await readFile(join(this.#folder, file)).catch(() => null);
    return [TYPES[extname(file ?? '')] ?? 'text/plain', bytes];
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await rm(this.#folder, { recursive: true });
  }
}

const SMALLER = {
  find: /^(\.\.?\/)+sizes\.js$/,
  replacement: fileURLToPath(new URL('small-sizes.ts', import.meta.url)),
};

async function build(folder: string, isShort: boolean): Promise<void> {
  const vite = await import('vite');
  const root = fileURLToPath(new URL('../../../web/', import.meta.url));
  await vite.build({
    root,
    configFile: join(root, 'vite.config.ts'),
    logLevel: 'silent',
    resolve: { alias: isShort ? [SMALLER] : [] },
    build: { outDir: folder, emptyOutDir: true },
  });
}

/** Returns the requested file, relative to the folder; null for paths outside the page. */
function fileOf(url: string): string | null {
  const path = normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname));
  if (!path.startsWith(PAGE_PATH)) return null;
  return path === PAGE_PATH ? 'index.html' : path.slice(PAGE_PATH.length);
}

/** The page on a server. */
export class Site {
  readonly origin: string;

  private constructor(origin: string) {
    this.origin = origin;
  }

  /** Waits for the build. @param origin of a SiteServer. @throws Error with the build's message if it fails. */
  static async at(origin: string): Promise<Site> {
    const site = new Site(origin);
    await site.read('index.html');
    return site;
  }

  /** Returns the address of the page. @param fragment from the `#` on, or a file of the page. */
  at(fragment = ''): string {
    return new URL(`${encodeURI(PAGE_PATH)}${fragment}`, this.origin).href;
  }

  /** Returns a file of the page as text. @param file relative to its folder. */
  async read(file: string): Promise<string> {
    const response = await fetch(this.at(file));
    const text = await response.text();
    if (!response.ok) throw new Error(`Expected ${file} of the page, got ${response.status}: ${text}`);
    return text;
  }
}

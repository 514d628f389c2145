/** The page as it is built, in a folder of a server of files: its address is no server's root. */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/** Where the page lies on the server: deep, and with a character that addresses escape. */
const PLACE = '/some where/weeks/';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
};

export class Site {
  readonly #folder: string;
  readonly #server: Server;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#server = createServer(async ({ url }, response) => {
      const file = fileOf(url ?? '');
      const bytes = file === null ? null : await readFile(join(folder, file)).catch(() => null);
      if (bytes === null) response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': TYPES[extname(file!)] ?? 'text/plain' }).end(bytes);
    });
  }

  /** Builds the page and serves it. */
  static async open(): Promise<Site> {
    const folder = await mkdtemp(join(tmpdir(), 'rhythm-vec-web-'));
    const site = new Site(folder);
    const root = fileURLToPath(new URL('../../web/', import.meta.url));
    await build({
      root,
      configFile: join(root, 'vite.config.ts'),
      logLevel: 'silent',
      build: { outDir: folder, emptyOutDir: true },
    });
    site.#server.listen(0, 'localhost');
    await once(site.#server, 'listening');
    return site;
  }

  get origin(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The page's address. @param fragment from the `#` on. */
  at(fragment = ''): string {
    return new URL(`${encodeURI(PLACE)}${fragment}`, this.origin).href;
  }

  /** A file of the page, as text. @param file relative to its folder. */
  read(file: string): Promise<string> {
    return readFile(join(this.#folder, file), 'utf8');
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await rm(this.#folder, { recursive: true });
  }
}

/** The file that is asked for, below the folder; null for what lies elsewhere. */
function fileOf(url: string): string | null {
  const path = normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname));
  if (!path.startsWith(PLACE)) return null;
  return path === PLACE ? 'index.html' : path.slice(PLACE.length);
}

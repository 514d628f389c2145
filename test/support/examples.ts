/** Compiles and runs the examples of a documentation page in a project that has the package installed. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const COMPILER_OPTIONS = {
  outDir: 'out',
  rootDir: '.',
  noEmit: false,
  noEmitOnError: true,
  declaration: false,
};

export interface Example {
  /** The heading above the example, and the example's number below that heading. */
  readonly name: string;
  readonly code: string;
  /** The expected output: the text block after the example, or the empty string. */
  readonly prints: string;
}

/** Returns the ts blocks of a page, each with the text block after it. */
export function examplesOf(page: string): Example[] {
  return page.split(/^#+ /m).flatMap((section) => {
    const title = section.split('\n')[0];
    const blocks = section.matchAll(/^```ts\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms);
    return Array.from(blocks, ([, code, prints = ''], k) => ({ name: `${title}, ${k + 1}`, code, prints }));
  });
}

/** A project that has this checkout installed as a package. Each example is one of its programs. */
export class Consumer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'rhythm-vec-'));

  /**
   * Compiles examples. @param options of the compiler that differ from this checkout's.
   * @throws Error with the compiler's messages.
   */
  constructor(examples: readonly Example[], options: object = {}) {
    this.#write('package.json', JSON.stringify({ type: 'module' }));
    this.#link('rhythm-vec', ROOT);
    for (const name of ['@types', 'seedrandom']) this.#link(name, join(ROOT, 'node_modules', name));
    const config = {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: { ...COMPILER_OPTIONS, ...options },
      include: ['*.ts'],
    };
    this.#write('tsconfig.json', JSON.stringify(config));
    for (const [k, { code }] of examples.entries()) this.#write(`${k}.ts`, code);
    try {
      // The working directory is the project's folder, because messages name files relative to it.
      execFileSync(process.execPath, [TSC], { cwd: this.#folder, encoding: 'utf8' });
    } catch (error) {
      this.remove();
      const messages = (error as { stdout?: string }).stdout ?? String(error);
      const message = messages.replace(/^(\d+)\.ts/gm, (_, k) => `example "${examples[Number(k)].name}"`);
      throw new Error(message, { cause: error });
    }
  }

  /** Runs an example, by its index. @returns its output. */
  run(k: number): string {
    const path = join(this.#folder, 'out', `${k}.js`);
    return execFileSync(process.execPath, [path], { encoding: 'utf8', timeout: 100_000 });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), text);
  }

  #link(name: string, target: string): void {
    const modules = join(this.#folder, 'node_modules');
    mkdirSync(modules, { recursive: true });
    symlinkSync(target, join(modules, name), 'junction');
  }
}

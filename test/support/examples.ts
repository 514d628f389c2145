/** Compiles and runs the examples of a documentation page in a project that has the package installed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
/** Options beyond those of this repository and of `tsc --init`. Node 20 does not run the `using` of a later target. */
const COMPILER_OPTIONS = {
  outDir: 'out',
  rootDir: '.',
  noEmit: false,
  noEmitOnError: true,
  declaration: false,
  declarationMap: false,
  sourceMap: false,
  target: 'ES2022',
  types: ['node'],
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

interface Outcome {
  readonly output: string;
  /** The stack of the error, if the example fails. */
  readonly error?: string;
}

/** Returns a program that runs examples one after another and prints the outcome of each as a line of JSON. */
const programOf = (count: number): string => `
const { write } = process.stdout;
for (let k = 0; k < ${count}; k++) {
  const outcome = { output: '' };
  process.stdout.write = (text) => {
    outcome.output += text;
    return true;
  };
  await import(\`./\${k}.js\`).catch((error) => {
    outcome.error = String(error?.stack ?? error);
  });
  process.stdout.write = write;
  console.log(JSON.stringify(outcome));
}
`;

/** The file that `tsc --init` writes. */
let initialConfig: string | undefined;

/**
 * A project that has this checkout installed as a package. Each example is one of its programs. They compile under the options
 * of this repository and those that `tsc --init` writes for a new project.
 */
export class Consumer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'rhythm-vec-'));
  readonly #count: number;
  #outcomes?: readonly Outcome[];

  /**
   * Compiles examples. @param options more options of the compiler.
   * @throws Error with the compiler's messages.
   */
  constructor(examples: readonly Example[], options: object = {}) {
    this.#count = examples.length;
    this.#write('package.json', JSON.stringify({ type: 'module' }));
    this.#link('rhythm-vec', ROOT);
    for (const name of ['@types', 'seedrandom']) this.#link(name, join(ROOT, 'node_modules', name));
    initialConfig ??= this.#initialConfig();
    this.#write('init.json', initialConfig);
    const config = {
      extends: [join(ROOT, 'tsconfig.json'), './init.json'],
      compilerOptions: { ...COMPILER_OPTIONS, ...options },
      include: ['*.ts'],
    };
    this.#write('tsconfig.json', JSON.stringify(config));
    for (const [k, { code }] of examples.entries()) this.#write(`${k}.ts`, code);
    try {
      this.#compile();
    } catch (error) {
      this.remove();
      const messages = (error as { stdout?: string }).stdout ?? String(error);
      const message = messages.replace(/^(\d+)\.ts/gm, (_, k) => `example "${examples[Number(k)].name}"`);
      throw new Error(message, { cause: error });
    }
  }

  /** Returns the output of an example, by its index. The first call runs all. @throws Error if the example fails. */
  run(k: number): string {
    this.#outcomes ??= this.#runAll();
    const outcome = this.#outcomes[k];
    if (outcome === undefined)
      throw new Error('Expected an outcome, got none: an earlier example ended the process, or hangs.');
    if (outcome.error !== undefined) throw new Error(outcome.error);
    return outcome.output;
  }

  /**
   * Runs the examples one after another in one process, which loads the package once. The outcomes end at an example that ends
   * the process or hangs: its outcome is the error of the process.
   */
  #runAll(): readonly Outcome[] {
    this.#write('out/all.js', programOf(this.#count));
    const path = join(this.#folder, 'out/all.js');
    const { stdout, stderr, status, signal } = spawnSync(process.execPath, [path], {
      encoding: 'utf8',
      // Chosen by hand: ends a process that hangs.
      timeout: 100_000,
    });
    const outcomes = stdout
      .split('\n')
      .slice(0, -1)
      .map((line): Outcome => JSON.parse(line));
    if (status === 0 && outcomes.length === this.#count) return outcomes;
    return [
      ...outcomes.slice(0, this.#count - 1),
      { output: '', error: `exit ${status ?? signal}: ${stderr}` },
    ];
  }

  #initialConfig(): string {
    this.#compile('--init');
    return readFileSync(join(this.#folder, 'tsconfig.json'), 'utf8');
  }

  /** Runs the compiler in the project's folder, because messages name files relative to it. */
  #compile(...args: string[]): void {
    execFileSync(process.execPath, [TSC, ...args], { cwd: this.#folder, encoding: 'utf8' });
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

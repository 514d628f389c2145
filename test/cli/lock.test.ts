/** The lock of an output: exactly one of several processes that request it at once gets it, and a killed process loses it. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lock } from '../../src/cli/store/lock.js';
import { temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
/** Chosen by hand: more processes and rounds would find rarer races, and take longer. */
const PROCESSES = 4;
const ROUNDS = 200;

/**
 * A program that locks or releases PATH for each line "+PATH" or "-PATH", and prints "1" if it then holds the lock, else "0".
 */
const CONTENDER = `
  const { lock } = await import(process.argv[1]);
  const held = new Map();
  async function act(line) {
    const path = line.slice(1);
    if (line[0] === '-') {
      held.get(path)();
      return 0;
    }
    try {
      held.set(path, await lock(path));
      return 1;
    } catch (error) {
      if (!error.message.startsWith('Expected no other command to work on')) throw error;
      return 0;
    }
  }
  for await (const chunk of process.stdin) {
    for (const line of chunk.toString().split('\\n').filter(Boolean)) process.stdout.write(await act(line) + '\\n');
  }
`;

/** Runs CONTENDER in a child process. */
class Contender {
  readonly #answers: AsyncGenerator<string>;
  readonly child: ChildProcessWithoutNullStreams;

  constructor() {
    const module = fileURLToPath(new URL('../../dist/cli/store/lock.js', import.meta.url));
    const args = ['--input-type=module', '-e', CONTENDER, module];
    this.child = spawn(process.execPath, args, { stdio: 'pipe' });
    this.#answers = linesOf(this.child.stdout);
  }

  /** Sends a line. Resolves to whether the process now holds the lock. */
  async request(line: string): Promise<boolean> {
    this.child.stdin.write(`${line}\n`);
    return (await this.#answers.next()).value === '1';
  }
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield* chunk.toString().split('\n').filter(Boolean);
}

let contenders: Contender[] = [];
beforeAll(() => {
  contenders = Array.from({ length: PROCESSES }, () => new Contender());
});
afterAll(() => {
  for (const { child } of contenders) child.kill();
});

/** Makes every process request the lock. Returns the index of the only process that got it. */
async function winnerOf(path: string): Promise<number> {
  const granted = await Promise.all(contenders.map((contender) => contender.request(`+${path}`)));
  expect(granted.filter(Boolean), path).toHaveLength(1);
  return granted.indexOf(true);
}

it('a lock is granted to exactly one of several processes, even if a killed process left a lock file', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const path = pathOf(`${round}`);
    if (round % 2 === 0) writeFileSync(`${path}.lock`, 'process 7 on a host\n');
    const winner = contenders[await winnerOf(path)];
    expect(readFileSync(`${path}.lock`, 'utf8')).toContain(`process ${winner.child.pid} on `);
  }
});

it('a lock is never held by two processes while it is released and locked again', async () => {
  const path = pathOf('again');
  for (let round = 0; round < ROUNDS; round++) {
    const winner = await winnerOf(path);
    const others = contenders.filter((_, index) => index !== winner);
    const [, ...granted] = await Promise.all([
      contenders[winner].request(`-${path}`),
      ...others.map((other) => other.request(`+${path}`)),
    ]);
    const holders = others.filter((_, index) => granted[index]);
    expect(holders.length, `round ${round}`).toBeLessThanOrEqual(1);
    for (const holder of holders) await holder.request(`-${path}`);
    expect(existsSync(`${path}.lock`)).toBe(false);
  }
});

it('a lock is released at once when its process is killed', async () => {
  for (let round = 0; round < 3; round++) {
    const path = pathOf('killed');
    const winner = await winnerOf(path);
    const { child } = contenders[winner];
    child.kill('SIGKILL');
    await once(child, 'exit');
    contenders[winner] = new Contender();
    const unlock = await lock(path);
    await expect(lock(path)).rejects.toThrow(`got process ${process.pid} on `);
    unlock();
  }
});

it('a lock stays with its process while the process is stopped', async () => {
  const path = pathOf('stopped');
  const { child } = contenders[await winnerOf(path)];
  child.kill('SIGSTOP');
  await expect(lock(path)).rejects.toThrow(`got process ${child.pid} on `);
  child.kill('SIGCONT');
  const winner = contenders.find((contender) => contender.child === child)!;
  await winner.request(`-${path}`);
  (await lock(path))();
});

it('a second release leaves the lock file of another process', async () => {
  const unlock = await lock(pathOf('own'));
  unlock();
  writeFileSync(pathOf('own.lock'), 'of another');
  unlock();
  expect(readFileSync(pathOf('own.lock'), 'utf8')).toBe('of another');
});

/** Kills workers, collectors and Redis at random moments. Every collected file equals the file of one process. */
import seedrandom from 'seedrandom';
import { expect, it } from 'vitest';
import { type Running, temporaryDirectory } from '../../support/cli.js';
import { linesOf, read, startCollector, startWorker, stop, submit } from '../../support/queue.js';
import { drawsOf } from '../../support/random.js';
import { describeWithRedis, until } from '../../support/redis.js';

const pathOf = temporaryDirectory();
/** The number of kills: 10 in a quick run, 200 in vitest's project `soak`. */
const KILLS = Math.max(10, drawsOf(50));
const SHARDS = 6;
const SHARD_SIZE = 8;
const EPISODES = SHARDS * SHARD_SIZE;
const random = seedrandom('kills');

describeWithRedis('a file', (server) => {
  /** A job that two workers compute and a collector collects. */
  class Run {
    readonly #name: string;
    readonly #path: string;
    readonly workers: Running[];
    #collector: Running;

    constructor(name: string, path: string, workers: Running[]) {
      this.#name = name;
      this.#path = path;
      this.workers = workers;
      this.#collector = startCollector(server, name, path);
    }

    /** Kills a worker, the collector or Redis, and starts it again. */
    async kill(): Promise<void> {
      const victim = Math.floor(random() * 4);
      if (victim < 2) {
        await stop(this.workers[victim]);
        this.workers[victim] = startWorker(server);
      } else if (victim === 2) {
        await stop(this.#collector);
        this.#collector = startCollector(server, this.#name, this.#path);
      } else {
        await server.kill();
        await server.restart();
      }
    }

    get isCollected(): boolean {
      return this.#collector.child.exitCode !== null;
    }

    /** Waits until the file is complete, and returns its text. */
    async file(): Promise<string> {
      const { code, stderr } = await this.#collector.finished;
      expect(stderr).toMatch(
        new RegExp(`^(${EPISODES} rows of ${SHARDS} shards in|.* is complete in) `, 'm'),
      );
      expect(code).toBe(0);
      return read(this.#path);
    }
  }

  it(`equals the file of one process after ${KILLS} kills`, async () => {
    const client = server.client();
    const workers = [startWorker(server), startWorker(server)];
    for (let kills = 0, seed = 100; kills < KILLS; seed += EPISODES) {
      const args = ['teach', '--policy', 'heuristic+inference', '--seeds', `${seed}-${seed + EPISODES - 1}`];
      const name = await submit(server, ...args, '--shard-size', String(SHARD_SIZE));
      const run = new Run(name, pathOf(`${seed}.jsonl`), workers);
      for (; kills < KILLS && !run.isCollected; kills++) {
        const submission = await client.hget(`rhythm-vec:job:${name}`, 'submission');
        const results = `rhythm-vec:results:${name}:${submission}`;
        const before = await client.hlen(results);
        const grown = Math.floor(random() * 3);
        // Waits until 0 to 2 more shards have results and one is being computed, or until all have results.
        await until(async () => {
          const count = await client.hlen(results);
          const isActive = (await client.llen('rhythm-vec:shards:active')) > 0;
          return (isActive && count >= before + grown) || count === SHARDS || run.isCollected;
        });
        await run.kill();
      }
      expect(await run.file()).toBe(await linesOf(args));
    }
    client.disconnect();
    await stop(...workers);
  }, 3_600_000);
});

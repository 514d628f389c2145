/** `serve --workers`: worker processes that share limits and metrics, and are replaced when they die. */

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Running, runCli, runCliProcess, startCli } from '../support/cli.js';
import {
  CheckedSession,
  type Client,
  connect,
  type HttpResponse,
  metric,
  metricBecomes,
  sendRequest,
  startServer,
} from '../support/server.js';

const WORKERS = 2;
const absent = availableParallelism() < WORKERS ? `: NOT TESTED here: needs ${WORKERS} processor cores` : '';

interface Cluster {
  readonly url: string;
  readonly port: number;
  readonly running: Running;
  /** The standard error so far. */
  readonly log: () => string;
}

async function startCluster(...args: string[]): Promise<Cluster> {
  const running = startCli(['serve', '--port', '0', '--workers', String(WORKERS), ...args]);
  let log = '';
  running.child.stderr.on('data', (text) => {
    log += text;
  });
  onTestFinished(async () => {
    running.child.kill('SIGTERM');
    await running.finished;
  });
  const [line] = (await once(running.child.stdout, 'data')) as [string];
  const [url] = /http:\S+/.exec(line)!;
  return { url, port: Number(new URL(url).port), running, log: () => log };
}

/** Returns the process ids of the workers, which are the children of the command's process. */
async function workersOf(cluster: Cluster): Promise<number[]> {
  const { pid } = cluster.running.child;
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.trim().split(' ').map(Number);
}

const RESET = { type: 'reset', data: { seed: 1 } };
const columns = (rows: number) => ({
  seeds: Array.from({ length: rows }, (_, k) => k),
  action_histories: Array.from({ length: rows }, (_, k) =>
    Array.from({ length: k % 28 }, (_, t) => (k + t) % 10),
  ),
  actions: Array.from({ length: rows }, (_, k) => k % 10),
  scores: ['total'],
});

describe.skipIf(absent !== '')(`a server of ${WORKERS} workers${absent}`, () => {
  it('gives each worker a part of the sessions and environments, and adds up the metrics', async () => {
    const cluster = await startCluster('--capacity', '6', '--vec-envs', '10');
    const clients: Client[] = [];
    for (let k = 0; k < 6; k++) {
      clients.push(await connect(cluster));
      expect((await clients[k].request(RESET)).type).toBe('observation');
    }
    const full = await connect(cluster);
    expect((await full.request(RESET)).data).toMatchObject({
      code: 'CAPACITY_REACHED',
      active_sessions: 3,
      max_sessions: 3,
    });
    await full.closed;
    const vecs = [await connect(cluster, '/v1/vec'), await connect(cluster, '/v1/vec')];
    const refused = await vecs[0].request({ type: 'create', data: { num_envs: 7 } });
    expect(refused.data).toMatchObject({ code: 'CAPACITY_REACHED', taken: 0, capacity: 5 });
    expect((await vecs[0].request({ type: 'create', data: { num_envs: 5 } })).type).toBe('created');
    expect((await vecs[1].request({ type: 'create', data: { num_envs: 2 } })).type).toBe('created');
    const names = ['sessions', 'session_capacity', 'sockets', 'vec_slots'].map(
      (name) => `rhythm_vec_${name}`,
    );
    expect(await Promise.all(names.map((name) => metric(cluster, name)))).toEqual([6, 6, 8, 7]);
    for (const { socket } of [...clients, ...vecs]) socket.close();
    for (const name of ['rhythm_vec_sessions', 'rhythm_vec_vec_slots']) await metricBecomes(cluster, name, 0);
    const again = await connect(cluster, '/v1/vec');
    expect((await again.request({ type: 'create', data: { num_envs: 5 } })).type).toBe('created');
  });

  it('replaces a killed worker, and changes no other answer', async () => {
    const cluster = await startCluster();
    const before = await workersOf(cluster);
    const { body: expected } = await sendRequest(cluster, 'POST', '/v1/score', columns(200));
    const clients = await Promise.all(Array.from({ length: 8 }, () => connect(cluster)));
    const sessions = await Promise.all(
      clients.map((client, k) => new CheckedSession(client, 10 + k).begin()),
    );
    const codes: number[] = [];
    for (const client of clients) void client.closed.then(({ code }) => codes.push(code));
    // A request that loses its connection is sent again, and so is one without an answer: the worker was about to accept it.
    const score = (): Promise<HttpResponse> =>
      Promise.race([
        sendRequest(cluster, 'POST', '/v1/score', columns(200)),
        sleep(20_000).then(() => Promise.reject(new Error('no answer'))),
      ]).catch(score);
    const scoreAll = () => Promise.all(Array.from({ length: 16 }, score));
    await scoreAll();
    const scored = scoreAll();
    process.kill(before[0], 'SIGKILL');
    for (const { body } of await scored) expect(body).toEqual(expected);
    await expect
      .poll(cluster.log)
      .toMatch(/Worker \d ended with SIGKILL. Its clients must connect again.\nWorker \d was replaced/);
    const alive = sessions.filter((_, k) => clients[k].socket.readyState === clients[k].socket.OPEN);
    // The connections were spread over the workers.
    expect(alive.length).toBeGreaterThan(0);
    expect(codes).toEqual(Array(clients.length - alive.length).fill(1006));
    expect(codes.length).toBeGreaterThan(0);
    for (let step = 0; step < 40; step++) await Promise.all(alive.map((session) => session.step()));
    // The rows that the killed worker counted are gone with it.
    const rows = await metric(cluster, 'rhythm_vec_scored_rows_total');
    expect((await sendRequest(cluster, 'POST', '/v1/score', columns(200))).body).toEqual(expected);
    expect(await metric(cluster, 'rhythm_vec_scored_rows_total')).toBe(rows + 200);
    const after = await workersOf(cluster);
    expect(after).toHaveLength(WORKERS);
    expect(after).not.toContain(before[0]);
    await metricBecomes(cluster, 'rhythm_vec_sessions', alive.length);
    expect((await (await connect(cluster)).request(RESET)).type).toBe('observation');
    for (const { socket } of clients) socket.terminate();
  });

  it('finishes requests after SIGTERM, closes sockets with 1001, and exits with 0', async () => {
    const cluster = await startCluster();
    const clients = await Promise.all(Array.from({ length: 4 }, () => connect(cluster)));
    for (const client of clients) await client.request(RESET);
    const { body: expected } = await sendRequest(cluster, 'POST', '/v1/score', columns(10_000));
    const scored = Array.from({ length: 4 }, () =>
      sendRequest(cluster, 'POST', '/v1/score', columns(10_000)),
    );
    await expect.poll(async () => (await metric(cluster, 'rhythm_vec_batch_requests')) > 0).toBe(true);
    cluster.running.child.kill('SIGTERM');
    for (const { closed } of clients) expect((await closed).code).toBe(1001);
    for (const { status, body } of await Promise.all(scored)) expect([status, body]).toEqual([200, expected]);
    expect(await cluster.running.finished).toMatchObject({ code: 0, stderr: '' });
  });

  it('divides the processor cores only for a backend with threads, and refuses threads given to another', async () => {
    const code =
      "import os from 'node:os'; os.availableParallelism = () => 8; process.getBuiltinModule('module').syncBuiltinESMExports();";
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
    const args = ['serve', '--port', '0', '--workers', String(WORKERS), '--backend', 'wasm'];
    const { child, finished, until } = startCli(args, env);
    await until('stdout', 'Listening');
    child.kill('SIGTERM');
    expect(await finished).toMatchObject({ code: 0, stderr: '' });
    const refused = await runCliProcess([...args, '--threads', '4'], '', env);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('got 4. Leave out threads')]);
  });
});

it('the command refuses too many workers, and reports a worker that cannot start, with the remedy', async () => {
  const { port } = await startServer();
  const { code, stderr } = await runCliProcess(['serve', '--port', String(port), '--workers', '2']);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: .*EADDRINUSE.*Pass another --port/)]);
  const many = await runCli(['serve', '--port', '0', '--workers', '200']);
  expect(many.code).toBe(2);
  expect(many.stderr).toMatch(/^error: Expected at most \d+ workers, one for each processor core, got 200/);
});

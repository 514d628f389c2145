/** `--serve`: measures the server in a child process, with this process as its client. */
import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { scoreReplay } from '../dist/index.js';
import { startServer } from './child.js';
import { measureLoad, measurePlayers } from './clients.js';
import { columnsOf, framesOf, jsonOf } from './replay-rows.js';
import { atLeast, atMost, digits, reportOf, type Section, table } from './report.js';
import { inTurn, median, progress, timeOf } from './runner.js';
import { Mismatch } from './verify.js';

/** The sizes are chosen by hand: larger ones take longer. */
const FULL = {
  /** The number of rows of a request, and the number of timed requests. */
  rows: 25_000,
  rounds: 7,
  /** The number of clients that play at the same time, and the number of episodes that each plays. */
  clients: 64,
  episodes: 50,
  /** The number of clients in a second measurement. They play at the same time, one episode each. */
  sessions: 2000,
  /** Clients that each send requests of LOAD_ROWS rows, one after the other. */
  loads: [
    { clients: 64, requests: 12 },
    { clients: 200, requests: 4 },
  ],
};
const SMALL: typeof FULL = {
  ...{ rows: 3000, rounds: 1, clients: 4, episodes: 1, sessions: 100 },
  loads: [{ clients: 9, requests: 1 }],
};
const LOAD_ROWS = 1000;
/** The cores that server and client share. */
const cores = availableParallelism();

interface Scored {
  readonly scores: { readonly total: readonly number[] };
  readonly faults: readonly unknown[];
}

/**
 * Times a request to /v1/score, from writing the request to parsing the answer, both JSON.
 * @throws Mismatch if it fails or its scores are wrong.
 */
async function timeScore(url: string, { rows, rounds }: typeof FULL) {
  const columns = columnsOf(rows);
  const data = JSON.parse(jsonOf(columns).body.toString());
  const score = async (): Promise<Scored> => {
    const response = await fetch(`${url}/v1/score`, { method: 'POST', body: JSON.stringify(data) });
    if (!response.ok) throw new Mismatch(`Expected scores, got ${response.status}: ${await response.text()}`);
    return (await response.json()) as Scored;
  };
  await progress('scores, verifying');
  const { scores, faults } = await score();
  const expected = scoreReplay(columns).rewards.total;
  if (faults.length > 0 || !isDeepStrictEqual(Float32Array.from(scores.total), expected)) {
    throw new Mismatch('/v1/score: Expected the scores of scoreReplay, got different scores.');
  }
  const [times] = await inTurn([score], rounds, () => 'scores', timeOf);
  const requestMegabytes = Buffer.byteLength(JSON.stringify(data)) / 1e6;
  return { scoreSeconds: median(times) / 1e9, requestMegabytes };
}

export const serve: Section = {
  help: 'the server, with a client in another process',
  /** @throws Mismatch as `timeScore`, `measurePlayers` and `measureLoad`. */
  async measure(small) {
    const plan = small ? SMALL : FULL;
    await using server = await startServer();
    const { scoreSeconds, requestMegabytes } = await timeScore(server.url, plan);
    await progress(`${plan.clients} clients`);
    const clients = await measurePlayers(server.url, plan.clients, plan.episodes);
    await progress(`${plan.sessions} sessions`);
    const sessions = await measurePlayers(server.url, plan.sessions, 1);
    const loads = [];
    const columns = columnsOf(LOAD_ROWS);
    // Frames of texts have `completions`; frames of actions have `actions` and `beliefs`.
    for (const body of [jsonOf(columns), ...framesOf(columns)]) {
      for (const load of plan.loads) {
        await progress(`${load.clients} clients, ${body.form}`);
        loads.push(await measureLoad(server, body, load.clients, load.requests));
      }
    }
    const playerLine = (what: string, { stepsPerSecond, p50, p99 }: typeof clients) => [
      what,
      `${digits(stepsPerSecond, 0)} steps`,
      ...[digits(p50, 2), digits(p99, 2)],
    ];
    const scored = `POST /v1/score, ${plan.rows} rows, ${digits(requestMegabytes, 1)} MB`;
    const lines = [
      [scored, `${digits(plan.rows / scoreSeconds, 0)} rows`, digits(scoreSeconds * 1000, 0), '-'],
      playerLine(`/ws, ${plan.clients} clients`, clients),
      playerLine(`/ws, ${plan.sessions} sessions, all at once`, sessions),
      ...loads.map((load) => [
        `/v1/score, ${load.clients} clients, ${load.form}, ${load.failed} failed`,
        `${digits(load.rowsPerSecond, 0)} rows`,
        ...[digits(load.p50, 0), digits(load.p99, 0)],
      ]),
    ];
    const text = table([`server and client on ${cores} cores`, 'per second', 'median ms', 'p99 ms'], lines);
    // The targets are chosen by hand.
    const ratios = [
      { name: 'score_seconds', value: scoreSeconds, target: atMost(0.5) },
      { name: 'session_steps_per_second', value: clients.stepsPerSecond, target: atLeast(10_000) },
    ];
    const figures = { plan, cores, scoreSeconds, requestMegabytes, clients, sessions, loads };
    return reportOf(figures, [text], ratios, small);
  },
};

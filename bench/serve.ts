/** `--serve`: measures the server in a child process, with this process as its client. */
import { Agent } from 'node:http';
import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { now } from './clock.js';
import { type OnProgress, yieldToEventLoop } from './measure.js';
import type { Ratio } from './ratios.js';
import { digits, ratiosToJson, renderRatios, table } from './report.js';
import { median } from './rows.js';
import { ServerChild } from './serving/child.js';
import { type LoadFigures, type LoadPlan, measureLoad, post } from './serving/load.js';
import { measurePlayers, type PlayerFigures } from './serving/players.js';
import { actionFrame, type Columns, columnsOf, textFrame, totalsOf } from './serving/rows.js';
import { Mismatch } from './verify.js';

export interface ServePlan {
  /** `rows` is the number of rows of a request, `rounds` the number of timed requests. */
  readonly rows: number;
  readonly rounds: number;
  /** The number of clients that play at the same time, and the number of episodes that each plays. */
  readonly clients: number;
  readonly episodes: number;
  /** The number of clients in a second measurement. They play at the same time, one episode each. */
  readonly sessions: number;
  /** Clients that each send requests of LOAD_ROWS rows, one after the other. */
  readonly loads: readonly LoadPlan[];
}
/** The numbers here and in both plans are chosen by hand: larger ones take longer. */
const LOAD_ROWS = 1000;
export const FULL_SERVE: ServePlan = {
  rows: 100_000,
  rounds: 7,
  clients: 64,
  episodes: 50,
  sessions: 2000,
  loads: [
    { clients: 64, requests: 12 },
    { clients: 200, requests: 4 },
  ],
};
/** For `--smoke`, which verifies the benchmark without measuring speed. */
export const SMALL_SERVE: ServePlan = {
  rows: 3000,
  rounds: 1,
  clients: 4,
  episodes: 1,
  sessions: 100,
  loads: [{ clients: 9, requests: 1 }],
};

export interface ServeFigures {
  readonly plan: ServePlan;
  /** The number of cores that server and client share. */
  readonly cores: number;
  /** The median time from writing the request to parsing the answer, both JSON. */
  readonly scoreSeconds: number;
  readonly requestMegabytes: number;
  readonly clients: PlayerFigures;
  readonly sessions: PlayerFigures;
  readonly loads: readonly NamedLoad[];
}

/** The figures of a load, and the form of its rows. */
type NamedLoad = LoadFigures & { readonly form: string };

interface Scored {
  readonly rows: number;
  readonly scores: { readonly total: readonly number[] };
  readonly faults: readonly unknown[];
}

async function score(url: string, columns: Columns): Promise<Scored> {
  const response = await fetch(`${url}/v1/score`, { method: 'POST', body: JSON.stringify(columns) });
  if (!response.ok) throw new Mismatch(`Expected scores, got ${response.status}: ${await response.text()}`);
  return (await response.json()) as Scored;
}

/** Returns the median time of a request to /v1/score, in seconds. @throws Mismatch if it fails or its scores are wrong. */
async function timeScore(url: string, { rows, rounds }: ServePlan, onProgress: OnProgress): Promise<number> {
  const columns = columnsOf(rows);
  onProgress('scores, verifying');
  const { scores, faults } = await score(url, columns);
  if (faults.length > 0 || !isDeepStrictEqual(Float32Array.from(scores.total), totalsOf(columns))) {
    throw new Mismatch('/v1/score: Expected the scores of scoreReplay, got different scores.');
  }
  const times: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    onProgress(`scores, round ${round} of ${rounds}`);
    await yieldToEventLoop();
    const start = now();
    await score(url, columns);
    times.push(now() - start);
  }
  return median(times) / 1e9;
}

/**
 * Measures many clients at once, with rows in each form: JSON, frames of texts, and frames of actions. Does not verify the
 * first answer to a form.
 * @throws Mismatch if a later successful answer to the form differs from the first.
 */
async function measureLoads(
  server: ServerChild,
  plan: ServePlan,
  onProgress: OnProgress,
): Promise<NamedLoad[]> {
  const columns = columnsOf(LOAD_ROWS);
  // Frames of texts have `completions`; frames of actions have `actions` and `beliefs`.
  const forms: [form: string, body: Buffer, contentType: string][] = [
    ['JSON', Buffer.from(JSON.stringify(columns)), 'application/json'],
    ['frames of texts', textFrame(columns), 'application/octet-stream'],
    ['frames of actions', actionFrame(columns), 'application/octet-stream'],
  ];
  const loads: NamedLoad[] = [];
  for (const [form, body, contentType] of forms) {
    const { body: answer } = await post(server.url, body, contentType, new Agent(), 'first');
    for (const each of plan.loads) {
      onProgress(`${each.clients} clients, ${form}`);
      const load = { body, contentType, answer, rows: LOAD_ROWS };
      loads.push({ form, ...(await measureLoad(server.url, load, each, () => [server.pid])) });
    }
  }
  return loads;
}

/** Measures the server. @throws Mismatch as `timeScore`, `measurePlayers` and `measureLoads`. */
export async function measureServe(plan: ServePlan, onProgress: OnProgress): Promise<ServeFigures> {
  await using server = await ServerChild.start();
  const { url } = server;
  const scoreSeconds = await timeScore(url, plan, onProgress);
  onProgress(`${plan.clients} clients`);
  const clients = await measurePlayers(url, plan.clients, plan.episodes);
  onProgress(`${plan.sessions} sessions`);
  const sessions = await measurePlayers(url, plan.sessions, 1);
  const loads = await measureLoads(server, plan, onProgress);
  const requestMegabytes = Buffer.byteLength(JSON.stringify(columnsOf(plan.rows))) / 1e6;
  return { plan, cores: availableParallelism(), scoreSeconds, requestMegabytes, clients, sessions, loads };
}

/** The targets are chosen by hand. */
const ratiosOf = ({ scoreSeconds, clients }: ServeFigures): readonly Ratio[] => [
  { name: 'score_seconds', value: scoreSeconds, target: { bound: 'at most', value: 2 } },
  {
    name: 'session_steps_per_second',
    value: clients.stepsPerSecond,
    target: { bound: 'at least', value: 10_000 },
  },
];

export const serveToJson = (figures: ServeFigures) => ({
  ...figures,
  ...ratiosToJson({ ratios: ratiosOf(figures), leftOut: [] }),
});

/** Renders the figures as a table. @param showsTargets whether the targets are shown. */
export function renderServe(figures: ServeFigures, showsTargets: boolean): string {
  const { plan, cores, scoreSeconds, requestMegabytes, clients, sessions, loads } = figures;
  const scored = `POST /v1/score, ${plan.rows} rows, ${digits(requestMegabytes, 1)} MB`;
  const lines = [
    [scored, `${digits(plan.rows / scoreSeconds, 0)} rows`, digits(scoreSeconds * 1000, 0), '-'],
    playerLine(`/ws, ${plan.clients} clients`, clients),
    playerLine(`/ws, ${plan.sessions} sessions, all at once`, sessions),
    ...loads.map(loadLine),
  ];
  const head = [`server and client on ${cores} cores`, 'per second', 'median ms', 'p99 ms'];
  const rendered = table(head, lines);
  return showsTargets ? `${rendered}\n${renderRatios({ ratios: ratiosOf(figures), leftOut: [] })}` : rendered;
}

const loadLine = ({ form, clients, failed, rowsPerSecond, p50, p99 }: NamedLoad): string[] => [
  `/v1/score, ${clients} clients, ${form}, ${failed} failed`,
  `${digits(rowsPerSecond, 0)} rows`,
  digits(p50, 0),
  digits(p99, 0),
];

const playerLine = (what: string, { stepsPerSecond, p50, p99 }: PlayerFigures): string[] => [
  what,
  `${digits(stepsPerSecond, 0)} steps`,
  digits(p50, 2),
  digits(p99, 2),
];

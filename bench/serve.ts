/** `--serve`: measures the server in a child process, with this process as its client. */
import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { ACTION_NAMES, parseCompletion, type ReplayRow, scoreReplay } from '../dist/index.js';
import { now } from './clock.js';
import { type OnProgress, yieldToEventLoop } from './measure.js';
import type { Ratio } from './ratios.js';
import { digits, ratiosToJson, renderRatios, table } from './report.js';
import { median } from './rows.js';
import { ServerChild } from './serving/child.js';
import { measurePlayers, type PlayerFigures } from './serving/players.js';
import { Mismatch } from './verify.js';

export interface ServePlan {
  /** The rows of a request, and the number of requests. */
  readonly rows: number;
  readonly rounds: number;
  /** The number of clients, and the number of episodes that each plays. */
  readonly clients: number;
  readonly episodes: number;
  readonly sessions: number;
}
export const FULL_SERVE: ServePlan = { rows: 100_000, rounds: 7, clients: 64, episodes: 50, sessions: 2000 };
export const SMALL_SERVE: ServePlan = { rows: 3000, rounds: 1, clients: 4, episodes: 1, sessions: 100 };

export interface ServeFigures {
  readonly plan: ServePlan;
  /** The cores that server and client share. */
  readonly cores: number;
  /** The median time from writing the request to parsing the answer, both JSON. */
  readonly scoreSeconds: number;
  readonly requestMegabytes: number;
  readonly clients: PlayerFigures;
  readonly sessions: PlayerFigures;
}

/** Returns a pseudo-random integer below `n`, the same in every run. */
const pseudoRandom = (k: number, n: number): number => (Math.imul(k + 1, 0x9e3779b1) >>> 8) % n;

/** Returns columns as a trainer sends them: histories of all lengths, completions of 150 characters. */
function columnsOf(rows: number) {
  const seeds = Array.from({ length: rows }, (_, i) => 100 + pseudoRandom(i, 9900));
  const names = (i: number, length: number) =>
    Array.from({ length }, (_, t) => ACTION_NAMES[pseudoRandom(i * 28 + t, ACTION_NAMES.length)]);
  const reasoning =
    'Socializing in the evening cost vitality, so company is not what this person lives for; rest comes first.';
  const answer = (i: number) =>
    `${pseudoRandom(i, 10)} ${pseudoRandom(i + 1, 10)} ${pseudoRandom(i + 2, 10)} ${ACTION_NAMES[pseudoRandom(i + 3, ACTION_NAMES.length)].toUpperCase()}`;
  return {
    seeds,
    action_histories: seeds.map((_, i) => names(i, pseudoRandom(i + 5, 28))),
    completions: seeds.map((_, i) => `<reasoning>${reasoning}</reasoning>\n${answer(i)}`),
  };
}
type Columns = ReturnType<typeof columnsOf>;

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

function totalsOf({ seeds, action_histories, completions }: Columns): Float32Array {
  const rows = seeds.map((seed, i): ReplayRow => {
    const { action, belief, given } = parseCompletion(completions[i]);
    return { seed, actionHistory: action_histories[i], action, belief: given ? belief : null };
  });
  return scoreReplay(rows).rewards.total;
}

async function timeScore(url: string, { rows, rounds }: ServePlan, onProgress: OnProgress): Promise<number> {
  const columns = columnsOf(rows);
  onProgress('scores, verifying');
  const { scores, faults } = await score(url, columns);
  if (faults.length > 0 || !isDeepStrictEqual(Float32Array.from(scores.total), totalsOf(columns))) {
    throw new Mismatch('/v1/score: Expected the scores of scoreReplay, got others.');
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

/** Measures the server. @throws Mismatch if a score or an episode differs from the reference. */
export async function measureServe(plan: ServePlan, onProgress: OnProgress): Promise<ServeFigures> {
  await using server = await ServerChild.start();
  const { url } = server;
  const scoreSeconds = await timeScore(url, plan, onProgress);
  onProgress(`${plan.clients} clients`);
  const clients = await measurePlayers(url, plan.clients, plan.episodes);
  onProgress(`${plan.sessions} sessions`);
  const sessions = await measurePlayers(url, plan.sessions, 1);
  const requestMegabytes = Buffer.byteLength(JSON.stringify(columnsOf(plan.rows))) / 1e6;
  return { plan, cores: availableParallelism(), scoreSeconds, requestMegabytes, clients, sessions };
}

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

/** Renders the figures as a table. @param judged whether the targets are shown. */
export function renderServe(figures: ServeFigures, judged: boolean): string {
  const { plan, cores, scoreSeconds, requestMegabytes, clients, sessions } = figures;
  const scored = `POST /v1/score, ${plan.rows} rows, ${digits(requestMegabytes, 1)} MB`;
  const lines = [
    [scored, `${digits(plan.rows / scoreSeconds, 0)} rows`, digits(scoreSeconds * 1000, 0), '-'],
    playerLine(`/ws, ${plan.clients} clients`, clients),
    playerLine(`/ws, ${plan.sessions} sessions, all at once`, sessions),
  ];
  const head = [`server and client on ${cores} cores`, 'per second', 'median ms', 'p99 ms'];
  const rendered = table(head, lines);
  return judged ? `${rendered}\n${renderRatios({ ratios: ratiosOf(figures), leftOut: [] })}` : rendered;
}

const playerLine = (what: string, { stepsPerSecond, p50, p99 }: PlayerFigures): string[] => [
  what,
  `${digits(stepsPerSecond, 0)} steps`,
  digits(p50, 2),
  digits(p99, 2),
];

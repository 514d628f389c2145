/** `--language`: measures functions for training language models, validation included, in rows per second on one thread. */
import { isDeepStrictEqual } from 'node:util';
import {
  ACTION_NAMES,
  createVecEnv,
  parseCompletion,
  parseCompletions,
  prompt,
  prompts,
  type ReplayColumns,
  type ReplayRow,
  scoreReplay,
} from '../dist/index.js';
import { NUM_ACTIONS, NUM_STEPS } from '../dist/world/fields.js';
import { now } from './clock.js';
import { type OnProgress, yieldToEventLoop } from './measure.js';
import type { Ratio } from './ratios.js';
import { digits, ratiosToJson, renderRatios, table } from './report.js';
import { median } from './rows.js';
import { Mismatch } from './verify.js';

export interface LanguagePlan {
  /** Rows of each case. */
  readonly rows: number;
  readonly rounds: number;
}
/** The rows and rounds of both plans are chosen by hand: more take longer. */
export const FULL_LANGUAGE: LanguagePlan = { rows: 2 ** 17, rounds: 15 };
export const SMALL_LANGUAGE: LanguagePlan = { rows: 500, rounds: 1 };

interface Case {
  /** The name in the JSON file. */
  readonly name: string;
  /** The label in the table. */
  readonly what: string;
  /** The project's target in rows per second, chosen by hand. docs/speed.md has measurements. */
  readonly target: number;
  readonly rows: number;
  play(): unknown;
  /** Checks a part of the rows, or all. Returns whether these have the expected results. Called before anything is timed. */
  check(): boolean;
}

/** Returns a pseudo-random integer below `n` for the index k, by multiplicative hashing. It is the same in every run. */
const pseudoRandom = (k: number, n: number): number => (Math.imul(k + 1, 0x9e3779b1) >>> 8) % n;

/** Returns rows with distinct seeds and histories of 0 to 27 actions. */
function columnsOf(rows: number): Required<Omit<ReplayColumns, 'profiles' | 'beliefHistories'>> {
  return {
    seeds: Uint32Array.from({ length: rows }, (_, i) => 100 + i),
    stepIndices: Uint8Array.from({ length: rows }, (_, i) => pseudoRandom(i, NUM_STEPS)),
    histories: Uint8Array.from({ length: rows * NUM_STEPS }, (_, k) => pseudoRandom(k, NUM_ACTIONS)),
    actions: Int8Array.from({ length: rows }, (_, i) => pseudoRandom(i + 7, NUM_ACTIONS)),
    beliefs: Float32Array.from({ length: rows * 3 }, (_, k) => pseudoRandom(k, 10) / 9),
  };
}

function objectsOf({
  seeds,
  stepIndices,
  histories,
  actions,
  beliefs,
}: ReturnType<typeof columnsOf>): ReplayRow[] {
  return Array.from(seeds, (seed, i) => ({
    seed,
    profileMode: 'sampled',
    actionHistory: Array.from(
      { length: stepIndices[i] },
      (_, t) => ACTION_NAMES[histories[i * NUM_STEPS + t]],
    ),
    action: ACTION_NAMES[actions[i]],
    belief: Array.from(beliefs.subarray(3 * i, 3 * i + 3)),
  }));
}

/** Returns completions with reasoning and an answer. */
const completionsOf = (rows: number): string[] =>
  Array.from({ length: rows }, (_, i) => {
    const answer = `${pseudoRandom(i, 10)} ${pseudoRandom(i + 1, 10)} ${pseudoRandom(i + 2, 10)} ${ACTION_NAMES[pseudoRandom(i, NUM_ACTIONS)].toUpperCase()}`;
    const reasoning =
      'Socializing in the evening cost vitality, so company is not what this person lives for; ';
    return `<reasoning>${reasoning.repeat(1 + (i % 5))}</reasoning>\n${answer}`;
  });

/** Returns observations after eight steps, each with a history of seven steps. */
function observationsOf(rows: number): Float32Array {
  const env = createVecEnv({ numEnvs: rows, observation: { history: true }, threads: 1 });
  env.reset({ seed: 100 });
  const { observations } = env.run('random', { stops: new Uint8Array(rows).fill(8) });
  env.close();
  return observations;
}

function casesOf(rows: number): Case[] {
  const columns = columnsOf(rows);
  // At most 500 rows of scoreReplay are checked. Chosen by hand, because the reference is slow.
  const checkedColumns = columnsOf(Math.min(rows, 500));
  const objects = objectsOf(columns);
  const texts = completionsOf(rows);
  const observations = observationsOf(rows);
  const width = observations.length / rows;
  return [
    {
      name: 'score_replay_columns',
      what: 'scoreReplay, typed arrays',
      target: 8e6,
      rows,
      play: () => scoreReplay(columns, { threads: 1 }),
      check: () =>
        isDeepStrictEqual(scoreReplay(checkedColumns), scoreReplay(checkedColumns, { backend: 'reference' })),
    },
    {
      name: 'score_replay_objects',
      what: 'scoreReplay, objects with names',
      target: 5e5,
      rows,
      play: () => scoreReplay(objects, { threads: 1 }),
      check: () => isDeepStrictEqual(scoreReplay(objectsOf(checkedColumns)), scoreReplay(checkedColumns)),
    },
    {
      name: 'prompts',
      what: 'prompts, seven steps each',
      target: 3e5,
      rows,
      // Reads the texts, because Node builds a concatenated string only when it is read.
      play: () =>
        prompts(observations).reduce((length, [, user]) => length + Buffer.byteLength(user.content), 0),
      check: () => isDeepStrictEqual(prompts(observations)[rows - 1], prompt(observations.slice(-width))),
    },
    {
      name: 'parsing',
      what: 'parseCompletions, 88 to 440 characters of reasoning',
      target: 5e5,
      rows,
      play: () => parseCompletions(texts),
      check: () => {
        const { actions } = parseCompletions(texts);
        return texts.every(
          (text, i) => parseCompletion(text).action === actions[i] && text.endsWith(nameOf(actions[i])),
        );
      },
    },
  ];
}

const nameOf = (code: number): string => ACTION_NAMES[code].toUpperCase();

export interface LanguageFigures {
  readonly rows: readonly {
    readonly name: string;
    readonly what: string;
    readonly rows: number;
    readonly rowsPerSecond: number;
  }[];
  readonly ratios: readonly Ratio[];
}

/** Times all cases. @throws Mismatch if a case has wrong results, before anything is timed. */
export async function measureLanguage(
  { rows, rounds }: LanguagePlan,
  onProgress: OnProgress,
): Promise<LanguageFigures> {
  const cases = casesOf(rows);
  await verify(cases, onProgress);
  const times = await timesOf(cases, rounds, onProgress);
  const rates = cases.map((each, k) => each.rows / (median(times[k]) / 1e9));
  return {
    rows: cases.map(({ name, what, rows }, k) => ({ name, what, rows, rowsPerSecond: rates[k] })),
    ratios: cases.map(({ name, target }, k) => ({
      name: `${name}_per_second`,
      value: rates[k],
      target: { bound: 'at least', value: target } as const,
    })),
  };
}

async function verify(cases: readonly Case[], onProgress: OnProgress): Promise<void> {
  for (const { what, check } of cases) {
    onProgress(`verifying ${what}`);
    await yieldToEventLoop();
    if (!check())
      throw new Mismatch(
        `${what}: Expected the results of a second, different computation, got other results.`,
      );
  }
}

/** Returns the nanoseconds of each round, per case. */
async function timesOf(
  cases: readonly Case[],
  rounds: number,
  onProgress: OnProgress,
): Promise<readonly number[][]> {
  const times: number[][] = cases.map(() => []);
  for (let round = 1; round <= rounds; round++) {
    for (const [k, { what, play }] of cases.entries()) {
      onProgress(`${what}, round ${round} of ${rounds}`);
      await yieldToEventLoop();
      const start = now();
      play();
      times[k].push(now() - start);
    }
  }
  return times;
}

/** Returns the figures for the JSON file: rows per second, and the targets with their verdicts. */
export const languageToJson = ({ rows, ratios }: LanguageFigures) => ({
  rows,
  ...ratiosToJson({ ratios, leftOut: [] }),
});

/** Renders the figures as a table. @param showsTargets whether the targets are shown. */
export function renderLanguage({ rows, ratios }: LanguageFigures, showsTargets: boolean): string {
  const lines = rows.map(({ what, rows: count, rowsPerSecond }) => [what, count, digits(rowsPerSecond, 0)]);
  const rendered = table(['language models, one thread', 'rows', 'rows/s'], lines);
  return showsTargets ? `${rendered}\n${renderRatios({ ratios, leftOut: [] })}` : rendered;
}

/** `--language`: measures functions for training language models, validation included, in rows per second on one thread. */
import { isDeepStrictEqual } from 'node:util';
import * as rhythm from '../dist/index.js';
import { columnsOf, completionsOf, objectsOf, REASONING } from './replay-rows.js';
import { atLeast, digits, reportOf, type Section, table } from './report.js';
import { inTurn, median, progress, timeOf } from './runner.js';
import { Mismatch } from './verify.js';

const { createVecEnv, parseCompletion, parseCompletions, prompt, prompts, scoreReplay } = rhythm;

interface Case {
  /** The name in the JSON file. */
  readonly name: string;
  /** The label in the table. */
  readonly what: string;
  /** The project's target in rows per second, chosen by hand. docs/speed.md has measurements. */
  readonly target: number;
  play(): unknown;
  /** Checks a part of the rows, or all. Returns whether these have the expected results. Called before anything is timed. */
  check(): boolean;
}

/** Returns observations after eight steps, each with a history of seven steps. */
function observationsOf(rows: number): Float32Array {
  using env = createVecEnv({ numEnvs: rows, observation: { history: true }, threads: 1 });
  env.reset({ seed: 100 });
  return env.run('random', { stops: new Uint8Array(rows).fill(8) }).observations;
}

function casesOf(rows: number): Case[] {
  const columns = columnsOf(rows);
  // At most 500 rows of scoreReplay are checked. Chosen by hand, because the reference is slow.
  const checked = columnsOf(Math.min(rows, 500));
  const objects = objectsOf(columns);
  const texts = completionsOf(columns, (i) => REASONING.repeat(1 + (i % 5)));
  const observations = observationsOf(rows);
  const width = observations.length / rows;
  return [
    {
      name: 'score_replay_columns',
      what: 'scoreReplay, typed arrays',
      target: 8e6,
      play: () => scoreReplay(columns, { threads: 1 }),
      check: () => isDeepStrictEqual(scoreReplay(checked), scoreReplay(checked, { backend: 'reference' })),
    },
    {
      name: 'score_replay_objects',
      what: 'scoreReplay, objects with names',
      target: 5e5,
      play: () => scoreReplay(objects, { threads: 1 }),
      check: () => isDeepStrictEqual(scoreReplay(objectsOf(checked)), scoreReplay(checked)),
    },
    {
      name: 'prompts',
      what: 'prompts, seven steps each',
      target: 1e5,
      // Reads the texts, because Node builds a concatenated string only when it is read.
      play: () =>
        prompts(observations).reduce((length, [, user]) => length + Buffer.byteLength(user.content), 0),
      check: () => isDeepStrictEqual(prompts(observations)[rows - 1], prompt(observations.slice(-width))),
    },
    {
      name: 'parsing',
      what: 'parseCompletions, 88 to 440 characters of reasoning',
      target: 5e5,
      play: () => parseCompletions(texts),
      check: () => {
        const { actions } = parseCompletions(texts);
        return texts.every(
          (text, i) => parseCompletion(text).action === actions[i] && actions[i] === columns.actions[i],
        );
      },
    },
  ];
}

export const language: Section = {
  help: 'replay scoring, prompts and parsing, in rows per second on one thread',
  /** @throws Mismatch if a case has wrong results, before anything is timed. */
  async measure(small) {
    // Chosen by hand: more rows and rounds take longer.
    const [rows, rounds] = small ? [500, 1] : [2 ** 17, 15];
    const cases = casesOf(rows);
    for (const { what, check } of cases) {
      await progress(`verifying ${what}`);
      if (check()) continue;
      throw new Mismatch(
        `${what}: Expected the results of a second, different computation, got other results.`,
      );
    }
    const times = await inTurn(
      cases,
      rounds,
      ({ what }) => what,
      ({ play }) => timeOf(play),
    );
    const rates = times.map((samples) => rows / (median(samples) / 1e9));
    const figures = cases.map(({ name, what }, k) => ({ name, what, rows, rowsPerSecond: rates[k] }));
    const ratios = cases.map(({ name, target }, k) => ({
      name: `${name}_per_second`,
      value: rates[k],
      target: atLeast(target),
    }));
    const lines = cases.map(({ what }, k) => [what, rows, digits(rates[k], 0)]);
    const text = table(['language models, one thread', 'rows', 'rows/s'], lines);
    return reportOf({ rows: figures }, [text], ratios, small);
  },
};

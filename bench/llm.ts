/** `--llm`: times `teach` with a fake language model that answers slowly. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NUM_STEPS } from '../dist/world/fields.js';
import { FakeOpenAi } from '../test/fakes/openai.js';
import { now } from './clock.js';
import type { OnProgress } from './measure.js';
import type { Ratio } from './ratios.js';
import { digits, ratiosToJson, renderRatios, table } from './report.js';
import { Mismatch } from './verify.js';

export interface LlmPlan {
  readonly episodes: number;
  readonly concurrency: number;
  /** The time of an answer, in milliseconds. */
  readonly delayMs: number;
}
/** Chosen by hand: the answers alone take 14 seconds. */
export const FULL_LLM: LlmPlan = { episodes: 150, concurrency: 16, delayMs: 50 };
export const SMALL_LLM: LlmPlan = { episodes: 2, concurrency: 2, delayMs: 0 };

export interface LlmFigures {
  readonly plan: LlmPlan;
  /** The time of the whole process, in seconds. */
  readonly seconds: number;
  /** The time of the answers alone at this concurrency, in seconds. */
  readonly leastSeconds: number;
}

const MAIN = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

/**
 * Times `teach`. @throws Mismatch if the command fails, the numbers of episodes or requests are wrong, or more requests
 * run at once than `concurrency`.
 */
export async function measureLlm(plan: LlmPlan, onProgress: OnProgress): Promise<LlmFigures> {
  const { episodes, concurrency, delayMs } = plan;
  onProgress(`${episodes} episodes of a model`);
  const fake = await FakeOpenAi.open({ delay: delayMs });
  const folder = mkdtempSync(join(tmpdir(), 'rhythm-vec-'));
  try {
    const start = now();
    await teach(plan, join(folder, 'llm.jsonl'), fake.environment);
    const seconds = (now() - start) / 1e9;
    const written = readFileSync(join(folder, 'llm.jsonl'), 'utf8').split('\n').length - 1;
    if (
      written !== episodes ||
      fake.requests.length !== episodes * NUM_STEPS ||
      fake.maxConcurrent > concurrency
    ) {
      throw new Mismatch(
        `teach: Expected ${episodes} episodes of ${NUM_STEPS} requests, at most ${concurrency} at once, got ` +
          `${written} episodes, ${fake.requests.length} requests, at most ${fake.maxConcurrent} at once.`,
      );
    }
    return { plan, seconds, leastSeconds: answerSeconds(plan) };
  } finally {
    rmSync(folder, { recursive: true });
    await fake.close();
  }
}

async function teach({ episodes, concurrency }: LlmPlan, output: string, environment: object): Promise<void> {
  const args = ['--policy', 'llm:fake', '--seeds', `100-${99 + episodes}`];
  const child = spawn(
    process.execPath,
    [MAIN, 'teach', ...args, '--concurrency', String(concurrency), '--output', output],
    { env: { ...process.env, ...environment }, stdio: 'ignore' },
  );
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Mismatch(`teach: Expected exit code 0, got ${code}.`);
}

/** Returns the time of the answers alone, in seconds. */
const answerSeconds = ({ episodes, concurrency, delayMs }: LlmPlan): number =>
  (Math.ceil(episodes / concurrency) * NUM_STEPS * delayMs) / 1000;

/** The target is chosen by hand: the time of the answers alone (14 s) and 11 s for all else. */
const ratiosOf = ({ seconds }: LlmFigures): readonly Ratio[] => [
  { name: 'llm_episodes_seconds', value: seconds, target: { bound: 'at most', value: 25 } },
];

export const llmToJson = (figures: LlmFigures) => ({
  ...figures,
  ...ratiosToJson({ ratios: ratiosOf(figures), leftOut: [] }),
});

/** Renders the figures as a table. @param showsTarget whether the target is shown. */
export function renderLlm(figures: LlmFigures, showsTarget: boolean): string {
  const { plan, seconds, leastSeconds } = figures;
  const what = `${plan.episodes} episodes, ${plan.concurrency} at once, answers in ${plan.delayMs} ms`;
  const text = table(
    ['teach --policy llm:MODEL', 'seconds', 'seconds of answers alone'],
    [[what, digits(seconds, 1), digits(leastSeconds, 1)]],
  );
  return showsTarget ? `${text}\n${renderRatios({ ratios: ratiosOf(figures), leftOut: [] })}` : text;
}

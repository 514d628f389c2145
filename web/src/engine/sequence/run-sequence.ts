/** Plays one action sequence with many people in the worker, and grades it by every grader. */

import { CONSTANT_BELIEF } from '../../../../src/agents/policies/fixed-policies.js';
import { repeatActions } from '../../../../src/agents/policies/open-loop.js';
import { type AsyncVecEnv, createAsyncVecEnv } from '../../../../src/browser.js';
import { yieldTurn } from '../../../../src/engine/engine-calls.js';
import { regrade } from '../../../../src/engine/graders/regrade.js';
import { Moments } from '../../../../src/shared/statistics.js';
import { GRADER_NAMES } from '../../../../src/world/fields.js';
import { knownBackend, processorBackend } from '../backend.js';
import { BINS } from '../crowd/crowd-request.js';
import type { Report } from '../jobs.js';
import { PEOPLE, type SequenceScores } from './sequence-scores.js';

/**
 * The number of people who are played in one call: all on a graphics device, unless software emulates it. Otherwise 1000,
 * chosen by hand: the first scores come soon, and a new sequence waits for one call only.
 */
const PART = { device: PEOPLE.count, others: 1000 };

/** `initial` holds all people after reset; `running` plays copies of `part` of them in one call. */
interface People extends AsyncDisposable {
  readonly key: string;
  readonly part: number;
  readonly initial: AsyncVecEnv;
  readonly running: AsyncVecEnv;
}

/** The people of the last call, who are the same for every sequence; null if none are open. */
let opened: People | null = null;
/** Resolves when the last call has ended. The next call waits for this, because all calls use the same environments. */
let last: Promise<void> = Promise.resolve();

/**
 * Returns the scores of an action sequence with the belief 0.5 about everybody. Reports the scores of the people so far.
 * @param actions 28 digits. @throws BackendError; the signal's reason.
 */
export function runSequence(
  actions: string,
  report: Report<SequenceScores>,
  signal: AbortSignal,
): Promise<SequenceScores> {
  const call = last.then(() => run(actions, report, signal));
  last = call.then(
    () => {},
    () => (signal.aborted ? undefined : closePeople()),
  );
  return call;
}

/** Closes the environments after a failure, such as the loss of a device. The next call opens others. */
async function closePeople(): Promise<void> {
  const people = opened;
  opened = null;
  await people?.[Symbol.asyncDispose]().then(
    () => {},
    () => {},
  );
}

async function run(
  actions: string,
  report: Report<SequenceScores>,
  signal: AbortSignal,
): Promise<SequenceScores> {
  signal.throwIfAborted();
  const { part, initial, running } = await openPeople();
  const sequence = repeatActions(Array.from(actions, Number), part);
  const tallies = GRADER_NAMES.map((grader) => new Tally(grader));
  for (let done = 0; ; ) {
    signal.throwIfAborted();
    const indices = Uint32Array.from({ length: part }, (_, i) => done + i);
    const { components } = await running.run(sequence, {
      beliefs: CONSTANT_BELIEF,
      outputs: ['components'],
      from: { source: initial, indices },
    });
    for (const tally of tallies) tally.add(components);
    done += part;
    const scores: SequenceScores = {
      actions,
      numPeople: done,
      byGrader: Object.fromEntries(tallies.map((tally) => [tally.grader, tally.scores()])),
    };
    if (done === PEOPLE.count) return scores;
    report({ done, total: PEOPLE.count }, scores);
    await yieldTurn();
  }
}

/** Returns the people, on the backend in use. Opens them if none are open on it. */
async function openPeople(): Promise<People> {
  const chosen = knownBackend();
  const backend = chosen?.name ?? processorBackend();
  const part = chosen?.name === 'webgpu' && !chosen.software ? PART.device : PART.others;
  const key = `${backend} ${part}`;
  if (opened?.key === key) return opened;
  await opened?.[Symbol.asyncDispose]();
  const initial = await createAsyncVecEnv({ backend, numEnvs: PEOPLE.count });
  const running = await createAsyncVecEnv({ backend, numEnvs: part });
  await initial.reset({ seed: PEOPLE.first });
  opened = {
    key,
    part,
    initial,
    running,
    async [Symbol.asyncDispose]() {
      await running.close();
      await initial.close();
    },
  };
  return opened;
}

/** Collects the scores under one grader. */
class Tally {
  readonly grader: string;
  readonly #moments = new Moments();
  readonly #counts = new Uint32Array(BINS);

  constructor(grader: string) {
    this.grader = grader;
  }

  /** Adds the scores of n episodes. @param components f32 [n, 8]. */
  add(components: Float32Array): void {
    const scores = regrade(components, this.grader);
    this.#moments.addAll(scores);
    for (const score of scores) this.#counts[Math.min(BINS - 1, Math.floor(score * BINS))] += 1;
  }

  scores = () => ({ score: this.#moments.interval(), counts: this.#counts.slice() });
}

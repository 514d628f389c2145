/** Writes and reads logs of trainings (docs/students.md): the student's scores at checkpoints, and the seconds until then. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { Network } from '../src/agents/student/network.js';
import { Student } from '../src/agents/student/student.js';
import { toGrader } from '../src/engine/graders/grader.js';
import { evaluate } from '../src/index.js';
import type { Checkpoint } from '../src/training/student/checkpoint.js';
import { createWorld } from '../src/world/world.js';

/** A line of a log, written at each checkpoint of the training. */
export interface LogLine {
  /** Epochs of cloning and of the rounds of DAgger, and episodes of the refinement (docs/students.md), so far. */
  readonly epochs: number;
  readonly refined: number;
  /** Seconds since the training began, without the measurements: by the clock, and summed over all cores. */
  readonly seconds: number;
  readonly coreSeconds: number;
  /** Only at checkpoints that are measured. */
  readonly scores?: Scores;
}

/** Mean results of the student at a checkpoint. */
export interface Scores {
  /** The final score in the 100 episodes of in-distribution. */
  readonly inDistribution: number;
  /** In the episodes of MEASURED. */
  readonly finalScore: number;
  readonly beliefMae: number;
}

/** Seeds that no training uses, and no condition of `eval`. */
export const MEASURED = { first: 30_000, last: 30_999 };
/**
 * The number of epochs (of cloning and DAgger), and of episodes of the refinement, between two measurements. Chosen by hand:
 * each measurement plays 1,100 episodes.
 */
const EPOCHS = 4;
const REFINED = 4096;

/** Returns the lines of a student's log, in order. @param file the path of the student's file. */
export function readLog(file: string): LogLine[] {
  const path = logOf(file);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const logOf = (file: string): string => file.replace(/\.safetensors$/, '.log.jsonl');

/** Begins or continues a student's log. @returns a function that adds a line at each checkpoint. */
export function openTrainingLog(file: string, grader: string): (checkpoint: Checkpoint) => Promise<void> {
  const last = readLog(file).at(-1) ?? { epochs: 0, refined: 0, seconds: 0, coreSeconds: 0 };
  let { epochs, refined, seconds, coreSeconds } = last;
  let start = now();
  return async (checkpoint) => {
    const { figures, refinement, learner } = checkpoint;
    seconds += now().seconds - start.seconds;
    coreSeconds += now().coreSeconds - start.coreSeconds;
    const before = { epochs, refined };
    epochs = figures.length;
    refined = refinement?.figures.at(-1)?.episodes ?? 0;
    const isMeasured =
      (epochs !== before.epochs && epochs % EPOCHS === 0) ||
      (refined !== before.refined && refined % REFINED === 0);
    const layers = refinement?.actor.layers ?? learner.layers;
    const scores = isMeasured ? await measure(new Network(layers), grader) : undefined;
    const line: LogLine = { epochs, refined, seconds, coreSeconds, scores };
    appendFileSync(logOf(file), `${JSON.stringify(line)}\n`);
    start = now();
  };
}

function now(): Pick<LogLine, 'seconds' | 'coreSeconds'> {
  const { user, system } = process.cpuUsage();
  return { seconds: performance.now() / 1000, coreSeconds: (user + system) / 1e6 };
}

async function measure(network: Network, name: string): Promise<Scores> {
  const grader = toGrader(name);
  const worldDigest = createWorld().digest;
  // Of these fields, a student that plays reads only worldDigest.
  const manifest = { version: '', worldDigest, featuresVersion: 0, grader, training: {}, evaluation: {} };
  const policies = { student: new Student(manifest, network) };
  const settings = { policies, grader, threads: 1 };
  const [{ finalScore: inDistribution }] = (await evaluate({ ...settings, conditions: ['in-distribution'] }))
    .rows;
  const [{ finalScore, beliefMae }] = (await evaluate({ ...settings, seeds: MEASURED })).rows;
  return { inDistribution: inDistribution.mean, finalScore: finalScore.mean, beliefMae };
}

/** The engine's worker. It plays the episodes of crowds (many people) and the visitor's sequence, so that the page responds. */
import { expose, type ProxyMethods, releaseProxy } from 'comlink';
import type { StudentFile } from '../students/student-files.js';
import { findBackend, forgetBackend } from './backend.js';
import type { Crowd, CrowdRequest } from './crowd/crowd-request.js';
import { runCrowd } from './crowd/run-crowd.js';
import { beginJob, type Report, stopJob } from './jobs.js';
import { type Outcome, outcomeOf } from './outcome.js';
import { runSequence } from './sequence/run-sequence.js';
import type { SequenceScores } from './sequence/sequence-scores.js';

/** Runs work, and returns its outcome. After a lost device or an unexpected error, the next `findBackend` chooses again. */
async function answer<T>(work: () => T | Promise<T>): Promise<Outcome<T>> {
  const outcome = await outcomeOf(work);
  if (!outcome.ok && (outcome.failure.kind === 'lost' || outcome.failure.kind === 'failed')) forgetBackend();
  return outcome;
}

/** Runs work that reports its progress. */
async function reported<T>(report: Report<T>, work: () => Promise<T>): Promise<Outcome<T>> {
  const outcome = await answer(work);
  // Without this call, the page would keep the callback in memory until the worker collects its proxy as garbage.
  (report as Report<T> & ProxyMethods)[releaseProxy]();
  return outcome;
}

/** The calls of the page. */
const api = {
  findBackend: () => answer(findBackend),
  stop: () => answer(stopJob),
  /** Computes a crowd. @param students the requested students that were trained on the page. */
  crowd: (request: CrowdRequest, students: readonly StudentFile[], report: Report<Crowd>) =>
    reported(report, () => runCrowd(request, students, report, beginJob())),
  /** Scores an action sequence of 28 digits. */
  sequence: (actions: string, report: Report<SequenceScores>) =>
    reported(report, () => runSequence(actions, report, beginJob())),
};

export type EngineApi = typeof api;

expose(api);

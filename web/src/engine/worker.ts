/** The engine's worker: all that steps episodes runs here, so that the page answers meanwhile. */
import { expose, type ProxyMethods, releaseProxy } from 'comlink';
import { engine, forgetEngine } from './backend.js';
import { liveCrowd } from './crowd/crowd.js';
import type { CrowdRequest } from './crowd/request.js';
import { beginJob, type Report, stopJob } from './jobs.js';
import { type Outcome, outcomeOf } from './outcome.js';

/** Answers, and forgets a device that failed: the next question looks for another. */
async function answer<T>(work: () => T | Promise<T>): Promise<Outcome<T>> {
  const outcome = await outcomeOf(work);
  if (!outcome.ok && (outcome.failure.kind === 'lost' || outcome.failure.kind === 'failed')) forgetEngine();
  return outcome;
}

/** One line a question that a view may ask; what answers it has a file of its own. */
const api = {
  engine: () => answer(engine),
  stop: () => answer(stopJob),
  async crowd(request: CrowdRequest, report: Report) {
    const outcome = await answer(() => liveCrowd(request, report, beginJob()));
    // Else the page keeps its side of it until this one is tidied up.
    (report as Report & ProxyMethods)[releaseProxy]();
    return outcome;
  },
};

export type EngineApi = typeof api;

expose(api);

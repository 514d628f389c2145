/** The page's side of the engine's worker. */
import { signal } from '@preact/signals';
import { type Remote, wrap } from 'comlink';
import type { Engine } from './backend.js';
import { CallFailed, type Failure, type Outcome, toFailure } from './outcome.js';
import type { EngineApi } from './worker.js';

/** What computes; null until it is known. */
export const shownEngine = signal<Engine | null>(null);
/** Why nothing can be computed, if that is so. */
export const engineFailure = signal<Failure | null>(null);

let worker: Worker | null = null;
let remote: Remote<EngineApi> | null = null;
/** Rejects when the worker itself breaks: else its answers would be waited for in vain. */
let broken: Promise<never>;

/**
 * Asks the engine's worker: `ask((engine) => engine.crowd(...))`.
 * @throws CallFailed, whose `failure` says of what kind.
 */
export async function ask<T>(question: (engine: Remote<EngineApi>) => Promise<Outcome<T>>): Promise<T> {
  const outcome = await Promise.race([question(opened()), broken]);
  if (outcome.ok) return outcome.value;
  // What computes from now on may be another device, or none.
  if (outcome.failure.kind === 'lost') void findEngine();
  throw new CallFailed(outcome.failure);
}

function opened(): Remote<EngineApi> {
  if (remote !== null) return remote;
  worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'engine' });
  broken = failing(worker);
  broken.catch(() => {});
  remote = wrap<EngineApi>(worker);
  return remote;
}

const failing = (started: Worker): Promise<never> =>
  new Promise((_, reject) => {
    started.addEventListener('error', ({ message }) => {
      closeEngine();
      const reason = message || 'its script could not be loaded';
      reject(new CallFailed({ kind: 'failed', message: `The engine's worker stopped: ${reason}.` }));
    });
  });

/** Ends the worker, whatever it is doing; the next question starts another. */
export function closeEngine(): void {
  worker?.terminate();
  worker = null;
  remote = null;
}

/** Looks what this browser computes with, and shows it. */
export function lookForEngine(): Promise<void> {
  engineFailure.value = null;
  shownEngine.value = null;
  return findEngine();
}

async function findEngine(): Promise<void> {
  try {
    shownEngine.value = await ask((engine) => engine.engine());
  } catch (error) {
    engineFailure.value = toFailure(error);
  }
}

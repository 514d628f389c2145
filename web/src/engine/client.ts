/** The page's side of the engine's worker. */
import { signal } from '@preact/signals';
import type { Remote } from 'comlink';
import { WorkerLine } from '../workers/line.js';
import type { Engine } from './backend.js';
import { type Failure, type Outcome, toFailure } from './outcome.js';
import type { EngineApi } from './worker.js';

/** What computes; null until it is known. */
export const shownEngine = signal<Engine | null>(null);
/** Why nothing can be computed, if that is so. */
export const engineFailure = signal<Failure | null>(null);

const line = new WorkerLine<EngineApi>(
  'The engine’s worker',
  () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'engine' }),
);

/**
 * Asks the engine's worker: `ask((engine) => engine.crowd(...))`.
 * @throws CallFailed, whose `failure` says of what kind.
 */
export async function ask<T>(question: (engine: Remote<EngineApi>) => Promise<Outcome<T>>): Promise<T> {
  try {
    return await line.ask(question);
  } catch (error) {
    // What computes from now on may be another device, or none.
    if (toFailure(error).kind === 'lost') void findEngine();
    throw error;
  }
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

/** Calls the engine's worker from the page. */
import { signal } from '@preact/signals';
import type { Remote } from 'comlink';
import { WorkerClient } from '../workers/worker-client.js';
import type { ChosenBackend } from './backend.js';
import { type Failure, type Outcome, toFailure } from './outcome.js';
import type { EngineApi } from './worker.js';

/** The backend in use; null until it is found. */
export const currentBackend = signal<ChosenBackend | null>(null);
/** The failure of the search for a backend, if it failed. */
export const backendFailure = signal<Failure | null>(null);

const client = new WorkerClient<EngineApi>(
  'The engine’s worker',
  () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'engine' }),
);

/**
 * Calls the engine's worker: `callEngine((engine) => engine.crowd(...))`.
 * @throws CallFailed.
 */
export async function callEngine<T>(call: (engine: Remote<EngineApi>) => Promise<Outcome<T>>): Promise<T> {
  try {
    return await client.call(call);
  } catch (error) {
    // The device is lost: further calls use another device, or another backend.
    if (toFailure(error).kind === 'lost') void findBackend();
    throw error;
  }
}

/** Finds the backend of this browser, and shows it. */
export function showBackend(): Promise<void> {
  backendFailure.value = null;
  currentBackend.value = null;
  return findBackend();
}

async function findBackend(): Promise<void> {
  try {
    currentBackend.value = await callEngine((engine) => engine.findBackend());
  } catch (error) {
    backendFailure.value = toFailure(error);
  }
}

/** The engine's worker: all that steps episodes runs here, so that the page answers meanwhile. */
import { expose } from 'comlink';
import { engine } from './backend.js';
import { type Outcome, outcomeOf } from './outcome.js';

/** One line a question that a view may ask; what answers it has a file of its own. */
const api = {
  engine: () => outcomeOf(engine),
};

export type EngineApi = typeof api;
export type { Outcome };

expose(api);

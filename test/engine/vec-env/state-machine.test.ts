/**
 * The state machine of an environment as a table: every public method in every state. A cell is the state after a call,
 * or, with !, the code of its refusal, which must change nothing. `BY_MODE` has the values of STEP and MIDDLE.
 */
import { describe, expect, it } from 'vitest';
import type { VecEnv } from '../../../src/engine/node.js';
import type { AutoresetMode } from '../../../src/engine/validate/autoreset-modes.js';
import type { StepResult } from '../../../src/engine/vec-env/vec-env-options.js';
import { type ErrorCode, RhythmError } from '../../../src/shared/errors.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { type Columns, expectEqual } from '../../support/bits.js';
import { ENGINES, type Engine, openOn } from '../../support/engines.js';
import { detached } from '../../support/fuzz.js';
import { expectRefusal } from '../../support/refusals.js';
import { outputColumns } from '../../support/unchanged.js';

const N = 3;
type State =
  | 'before reset'
  | 'running'
  | 'some ended'
  | 'all ended'
  /** During a run's `onProgress`. */
  | 'within a run'
  | 'closed'
  /** A view was transferred. */
  | 'detached';

/** An environment in a state, its last result, and the arguments of calls. */
interface Setup {
  readonly env: VecEnv;
  readonly result: StepResult | null;
  readonly state: State;
  /** Another environment with running episodes. */
  readonly other: VecEnv;
  readonly snapshot: Uint8Array;
}

function prepare(engine: Engine, autoreset: AutoresetMode, state: State): Setup {
  const [env, other] = [1, 2].map(() => openOn(engine, { numEnvs: N, autoreset }));
  other.reset({ seed: 5 });
  other.run('heuristic', { stops: [3, 4, 5] });
  const snapshot = other.snapshot();
  if (state === 'before reset') return { env, result: null, state, other, snapshot };
  env.reset({ seed: 9 });
  const last = state === 'some ended' || state === 'all ended' ? NUM_STEPS : 6;
  const result = env.run('random', { stops: [last, state === 'all ended' ? NUM_STEPS : 2, last] });
  if (state === 'closed') env.close();
  if (state === 'detached') detached(result.truncated);
  return { env, result, state, other, snapshot };
}

const actions = new Uint8Array(N);
/** A mask of the middle environment, whose episode has ended only in the state 'all ended'. */
const middle = [false, true, false];

const METHODS: Record<string, (setup: Setup) => unknown> = {
  reset: ({ env }) => env.reset({ seed: 1 }),
  'reset, random seeds': ({ env }) => env.reset(),
  'reset of the middle environment': ({ env }) => env.reset({ seed: 1, mask: middle }),
  step: ({ env }) => env.step(actions),
  'step of the middle environment': ({ env }) => env.step(actions, { mask: middle }),
  'step of no environment': ({ env }) => env.step(actions, { mask: new Uint8Array(N) }),
  run: ({ env }) => env.run('heuristic'),
  'run to step 6': ({ env }) => env.run('heuristic', { stops: [6, 6, 6] }),
  'run from another': ({ env, other }) =>
    env.run('heuristic', { from: { source: other, indices: [0, 1, 2] } }),
  'run of another from it': ({ env, other }) =>
    other.run('heuristic', { from: { source: env, indices: [0, 1, 2] } }),
  fork: ({ env }) => env.fork([0]).close(),
  'assign from another': ({ env, other }) => env.assign(other, [0, 1, 2]),
  'assign to another': ({ env, other }) => other.assign(env, [0, 1, 2]),
  'assign to itself': ({ env }) => env.assign(env, [2, 1, 0]),
  snapshot: ({ env }) => env.snapshot(),
  restore: ({ env, snapshot }) => env.restore(snapshot),
  history: ({ env }) => env.history(0),
  beliefTargets: ({ env }) => env.beliefTargets(),
  stateHash: ({ env }) => env.stateHash(),
  counters: ({ env }) => env.counters,
  close: ({ env }) => env.close(),
  'Symbol.dispose': ({ env }) => env[Symbol.dispose](),
  'step with an unknown option': ({ env }) => env.step(actions, { belief: 1 } as object),
};

const TABLE = `
                                  | before reset | running         | some ended      | all ended       | within a run | closed  | detached
  reset                           | running      | running         | running         | running         | !busy        | !closed | !outputs_detached
  reset, random seeds             | running      | running         | running         | running         | !busy        | !closed | !outputs_detached
  reset of the middle environment | !not_reset   | running         | some ended      | some ended      | !busy        | !closed | !outputs_detached
  step                            | !not_reset   | running         | STEP            | STEP            | !busy        | !closed | !outputs_detached
  step of the middle environment  | !not_reset   | running         | some ended      | MIDDLE          | !busy        | !closed | !outputs_detached
  step of no environment          | !not_reset   | running         | some ended      | all ended       | !busy        | !closed | !outputs_detached
  run                             | !not_reset   | all ended       | all ended       | all ended       | !busy        | !closed | !outputs_detached
  run to step 6                   | !not_reset   | running         | some ended      | all ended       | !busy        | !closed | !outputs_detached
  run from another                | all ended    | all ended       | all ended       | all ended       | !busy        | !closed | !outputs_detached
  run of another from it          | !not_reset   | running         | some ended      | all ended       | !busy        | !closed | !outputs_detached
  fork                            | !not_reset   | running         | some ended      | all ended       | !busy        | !closed | !outputs_detached
  assign from another             | running      | running         | running         | running         | !busy        | !closed | !outputs_detached
  assign to another               | !not_reset   | running         | some ended      | all ended       | !busy        | !closed | !outputs_detached
  assign to itself                | !not_reset   | running         | some ended      | all ended       | !busy        | !closed | !outputs_detached
  snapshot                        | !not_reset   | running         | some ended      | all ended       | !busy        | !closed | !outputs_detached
  restore                         | running      | running         | running         | running         | !busy        | !closed | !outputs_detached
  history                         | !not_reset   | running         | some ended      | all ended       | !busy        | !closed | !outputs_detached
  beliefTargets                   | !not_reset   | running         | some ended      | all ended       | !busy        | !closed | !outputs_detached
  stateHash                       | !not_reset   | running         | some ended      | all ended       | !busy        | !closed | !outputs_detached
  counters                        | before reset | running         | some ended      | all ended       | within a run | closed  | detached
  close                           | closed       | closed          | closed          | closed          | !busy        | closed  | closed
  Symbol.dispose                  | closed       | closed          | closed          | closed          | !busy        | closed  | closed
  step with an unknown option     | !not_reset   | !unknown_option | !unknown_option | !unknown_option | !busy        | !closed | !outputs_detached`;

/** The difference between the modes: a step of environments whose episodes have ended. */
const BY_MODE: Record<AutoresetMode, { STEP: string; MIDDLE: string }> = {
  disabled: { STEP: '!episode_over', MIDDLE: '!episode_over' },
  // A run does not reset, so environments whose episodes a run ended need a reset.
  'same-step': { STEP: '!episode_over', MIDDLE: '!episode_over' },
  'next-step': { STEP: 'running', MIDDLE: 'some ended' },
};

type Row = [method: string, expected: Record<string, string>];

function rowsIn(mode: AutoresetMode): Row[] {
  const cellsOf = (line: string) => line.split('|').map((cell) => cell.trim());
  const [[, ...states], ...rows] = TABLE.slice(1).split('\n').map(cellsOf);
  return rows.map(([method, ...cells]) => [
    method,
    Object.fromEntries(states.map((state, k) => [state, BY_MODE[mode][cells[k] as 'STEP'] ?? cells[k]])),
  ]);
}

/** Determines the state of an environment from the error code of an empty step and from the lengths of the histories. */
function stateOf(env: VecEnv): State {
  const code = codeOf(() => env.step(actions, { mask: new Uint8Array(N) }));
  if (code === 'closed') return 'closed';
  if (code === 'not_reset') return 'before reset';
  if (code === 'busy') return 'within a run';
  if (code === 'outputs_detached') return 'detached';
  const ended = Array.from(env.stateHash().keys()).filter(
    (i) => env.history(i, NUM_STEPS).length === NUM_STEPS,
  );
  return ended.length === 0 ? 'running' : ended.length === N ? 'all ended' : 'some ended';
}

/** Returns the code of a call's error, or null if the call succeeds. */
function codeOf(call: () => unknown): ErrorCode | null {
  try {
    call();
    return null;
  } catch (error) {
    if (error instanceof RhythmError) return error.code;
    throw error;
  }
}

/** Returns copies of the outputs and states of `env`, as far as they can be read, and of the states of `other`. */
function visibleIn({ env, result, state, other }: Setup): Columns {
  const columns = { ...outputColumns(env, state === 'detached' ? null : result), other: other.snapshot() };
  if (['before reset', 'within a run', 'closed', 'detached'].includes(state)) return columns;
  return { ...columns, hash: env.stateHash(), snapshot: env.snapshot() };
}

/** Calls `body`. In the state 'within a run', `onProgress` calls it. */
function within({ env, state }: Setup, body: () => void): void {
  if (state === 'within a run') env.run('heuristic', { stops: [0, 0, 0], onProgress: body });
  else body();
}

/** Makes a call in a state. @returns the cell of the table. */
function outcome(engine: Engine, mode: AutoresetMode, state: State, method: string): string {
  const setup = prepare(engine, mode, state);
  const call = () => METHODS[method](setup);
  let cell = '';
  within(setup, () => {
    const before = visibleIn(setup);
    const code = codeOf(call);
    cell = code === null ? stateOf(setup.env) : `!${code}`;
    if (code === null) return;
    expectRefusal(call, code);
    expectEqual(before, visibleIn(setup), `${method}, ${state}:`);
  });
  setup.env.close();
  setup.other.close();
  return cell;
}

/** The reference and one kernel: the state machine is above the backend interface, so it is the same for all kernels. */
const TESTED_ENGINES = ENGINES.slice(0, 2);

describe.each(TESTED_ENGINES)('$name', (engine) => {
  describe.each(Object.keys(BY_MODE) as AutoresetMode[])('%s', (mode) => {
    it.each(rowsIn(mode))('%s follows the table in every state', (method, expected) => {
      const got = Object.keys(expected).map((state) => [
        state,
        outcome(engine, mode, state as State, method),
      ]);
      expect(Object.fromEntries(got)).toEqual(expected);
    });
  });
});

it('the table has every public method', () => {
  const env = openOn(ENGINES[0], { numEnvs: 1 });
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(env)).filter(
    (name) => name !== 'constructor',
  );
  const rows = Object.keys(METHODS).map((row) => row.split(/[ ,]/)[0]);
  expect([...new Set(rows)].filter((row) => !row.startsWith('Symbol')).sort()).toEqual(names.sort());
  expect(rowsIn('disabled').map(([method]) => method)).toEqual(Object.keys(METHODS));
});

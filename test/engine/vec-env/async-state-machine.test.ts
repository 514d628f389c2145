/**
 * The state machine of an asynchronous environment as a table. A cell is the state after a call, or, with !, the code of
 * its rejection, which must change nothing. STEP and MIDDLE depend on the autoreset mode (BY_MODE). Calls that are made
 * during a run begin after the run.
 */
import { describe, expect, it } from 'vitest';
import type { AsyncVecEnv } from '../../../src/engine/node.js';
import type { AutoresetMode } from '../../../src/engine/validate/autoreset-modes.js';
import type { StepResult } from '../../../src/engine/vec-env/vec-env-options.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { API_PAIRS, type ApiPair, asyncOutputColumns, codeOf } from '../../support/async-envs.js';
import { type Columns, expectEqual } from '../../support/bits.js';
import { detached } from '../../support/fuzz.js';
import { expectRejection } from '../../support/refusals.js';

const N = 3;
type State =
  | 'before reset'
  | 'running'
  | 'some ended'
  | 'all ended'
  /** During `onProgress` of a run that ends some episodes. */
  | 'within a run'
  | 'closed'
  /** `close` was called and not awaited. */
  | 'closing'
  /** A view was transferred. */
  | 'detached';

/** An environment in a state, its last result, and the arguments of calls. */
interface Setup {
  readonly env: AsyncVecEnv;
  readonly result: StepResult | null;
  readonly state: State;
  /** Another environment with running episodes. */
  readonly other: AsyncVecEnv;
  readonly bytes: Uint8Array;
}

async function prepare({ open }: ApiPair, autoreset: AutoresetMode, state: State): Promise<Setup> {
  const [env, other] = await Promise.all([1, 2].map(() => open({ numEnvs: N, autoreset })));
  void other.reset({ seed: 5 });
  void other.run('heuristic', { stops: [3, 4, 5] });
  const bytes = await other.snapshot();
  if (state === 'before reset') return { env, result: null, state, other, bytes };
  void env.reset({ seed: 9 });
  const last = state === 'some ended' || state === 'all ended' ? NUM_STEPS : 6;
  const result = await env.run('random', { stops: [last, state === 'all ended' ? NUM_STEPS : 2, last] });
  await env.snapshot();
  if (state === 'closed') await env.close();
  if (state === 'closing') void env.close();
  if (state === 'detached') detached(result.truncated);
  return { env, result, state, other, bytes };
}

const actions = new Uint8Array(N);
/** A mask of the middle environment, whose episode has ended only in the state 'all ended'. */
const middle = [false, true, false];

const METHODS: Record<string, (setup: Setup) => Promise<unknown>> = {
  reset: ({ env }) => env.reset({ seed: 1 }),
  'reset of the middle environment': ({ env }) => env.reset({ seed: 1, mask: middle }),
  step: ({ env }) => env.step(actions),
  'step of the middle environment': ({ env }) => env.step(actions, { mask: middle }),
  submit: ({ env }) => env.submit(actions),
  'submit of the middle environment': ({ env }) => env.submit(actions, { mask: middle }),
  read: ({ env }) => env.read(),
  'read of rewards': ({ env }) => env.read(['rewards']),
  run: ({ env }) => env.run('heuristic'),
  'run from another': ({ env, other }) =>
    env.run('heuristic', { from: { source: other, indices: [0, 1, 2] } }),
  'run of another from it': ({ env, other }) =>
    other.run('heuristic', { from: { source: env, indices: [0, 1, 2] } }),
  fork: ({ env }) => env.fork([0]).then((fork) => fork.close()),
  'assign from another': ({ env, other }) => env.assign(other, [0, 1, 2]),
  'assign to another': ({ env, other }) => other.assign(env, [0, 1, 2]),
  'assign to itself': ({ env }) => env.assign(env, [2, 1, 0]),
  snapshot: ({ env }) => env.snapshot(),
  restore: ({ env, bytes }) => env.restore(bytes),
  reopen: ({ env }) => env.reopen(),
  history: ({ env }) => env.history(0),
  beliefTargets: ({ env }) => env.beliefTargets(),
  stateHash: ({ env }) => env.stateHash(),
  counters: async ({ env }) => env.counters,
  device: async ({ env }) => env.device,
  close: ({ env }) => env.close(),
  'Symbol.asyncDispose': ({ env }) => env[Symbol.asyncDispose](),
  'step with an unknown option': ({ env }) => env.step(actions, { belief: 1 } as object),
};

const TABLE = `
                                   | before reset | running         | some ended      | all ended       | within a run    | closed  | closing | detached
  reset                            | running      | running         | running         | running         | running         | !closed | !closed | !outputs_detached
  reset of the middle environment  | !not_reset   | running         | some ended      | some ended      | some ended      | !closed | !closed | !outputs_detached
  step                             | !not_reset   | running         | STEP            | STEP            | STEP            | !closed | !closed | !outputs_detached
  step of the middle environment   | !not_reset   | running         | some ended      | MIDDLE          | some ended      | !closed | !closed | !outputs_detached
  submit                           | !not_reset   | running         | STEP            | STEP            | STEP            | !closed | !closed | !outputs_detached
  submit of the middle environment | !not_reset   | running         | some ended      | MIDDLE          | some ended      | !closed | !closed | !outputs_detached
  read                             | !not_reset   | running         | some ended      | all ended       | some ended      | !closed | !closed | !outputs_detached
  read of rewards                  | !not_reset   | running         | some ended      | all ended       | some ended      | !closed | !closed | !outputs_detached
  run                              | !not_reset   | all ended       | all ended       | all ended       | all ended       | !closed | !closed | !outputs_detached
  run from another                 | all ended    | all ended       | all ended       | all ended       | all ended       | !closed | !closed | !outputs_detached
  run of another from it           | !not_reset   | running         | some ended      | all ended       | some ended      | !closed | !closed | !outputs_detached
  fork                             | !not_reset   | running         | some ended      | all ended       | some ended      | !closed | !closed | !outputs_detached
  assign from another              | running      | running         | running         | running         | running         | !closed | !closed | !outputs_detached
  assign to another                | !not_reset   | running         | some ended      | all ended       | some ended      | !closed | !closed | !outputs_detached
  assign to itself                 | !not_reset   | running         | some ended      | all ended       | some ended      | !closed | !closed | !outputs_detached
  snapshot                         | !not_reset   | running         | some ended      | all ended       | some ended      | !closed | !closed | !outputs_detached
  restore                          | running      | running         | running         | running         | running         | !closed | !closed | !outputs_detached
  reopen                           | !no_snapshot | running         | some ended      | all ended       | running         | !closed | !closed | !outputs_detached
  history                          | !not_reset   | running         | some ended      | all ended       | some ended      | !closed | !closed | !outputs_detached
  beliefTargets                    | !not_reset   | running         | some ended      | all ended       | some ended      | !closed | !closed | !outputs_detached
  stateHash                        | !not_reset   | running         | some ended      | all ended       | some ended      | !closed | !closed | !outputs_detached
  counters                         | before reset | running         | some ended      | all ended       | some ended      | closed  | closed  | detached
  device                           | before reset | running         | some ended      | all ended       | some ended      | closed  | closed  | detached
  close                            | closed       | closed          | closed          | closed          | closed          | closed  | closed  | closed
  Symbol.asyncDispose              | closed       | closed          | closed          | closed          | closed          | closed  | closed  | closed
  step with an unknown option      | !not_reset   | !unknown_option | !unknown_option | !unknown_option | !unknown_option | !closed | !closed | !outputs_detached`;

/** The difference between the modes: a step of environments whose episodes have ended. */
const BY_MODE: Record<AutoresetMode, { STEP: string; MIDDLE: string }> = {
  disabled: { STEP: '!episode_over', MIDDLE: '!episode_over' },
  // A run does not reset, so an environment whose episode ended in a run needs a reset.
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
async function stateOf(env: AsyncVecEnv): Promise<State> {
  const code = await codeOf(env.step(actions, { mask: new Uint8Array(N) }));
  if (code === 'closed') return 'closed';
  if (code === 'not_reset') return 'before reset';
  if (code === 'outputs_detached') return 'detached';
  const histories = await Promise.all([0, 1, 2].map((i) => env.history(i, NUM_STEPS)));
  const ended = histories.filter(({ length }) => length === NUM_STEPS).length;
  return ended === 0 ? 'running' : ended === N ? 'all ended' : 'some ended';
}

/** Returns copies of everything that a caller can read of both environments. */
async function visibleIn({ env, result, state, other }: Setup): Promise<Columns> {
  const columns = {
    ...asyncOutputColumns(env, state === 'detached' ? null : result),
    other: await other.snapshot(),
  };
  if (['before reset', 'closed', 'closing', 'detached'].includes(state)) return columns;
  return { ...columns, hash: await env.stateHash(), snapshot: await env.snapshot() };
}

/** Makes the call. In the state 'within a run', `onProgress` makes it. */
function makeCall(setup: Setup, method: string): Promise<unknown> {
  const call = () => METHODS[method](setup);
  if (setup.state !== 'within a run') return call();
  return new Promise((resolve, reject) => {
    const onProgress = () => void call().then(resolve, reject);
    setup.env.run('random', { stops: [NUM_STEPS, 2, 6], onProgress }).catch(reject);
  });
}

/** Makes a call in a state. @returns the cell of the table. */
async function outcome(pair: ApiPair, mode: AutoresetMode, state: State, method: string): Promise<string> {
  const setup = await prepare(pair, mode, state);
  const within = state === 'within a run';
  const before = within ? null : await visibleIn(setup);
  const code = await codeOf(makeCall(setup, method));
  const cell = code === null ? await stateOf(setup.env) : `!${code}`;
  if (code !== null && before !== null) {
    await expectRejection(METHODS[method](setup), code as never);
    expectEqual(before, await visibleIn(setup), `${method}, ${state}:`);
  }
  await setup.env.close();
  await setup.other.close();
  return cell;
}

describe.each(API_PAIRS)('$name', (pair) => {
  describe.each(Object.keys(BY_MODE) as AutoresetMode[])('%s', (mode) => {
    it.each(rowsIn(mode))('%s follows the table in every state', async (method, expected) => {
      const got: [string, string][] = [];
      for (const state of Object.keys(expected)) {
        got.push([state, await outcome(pair, mode, state as State, method)]);
      }
      expect(Object.fromEntries(got)).toEqual(expected);
    });
  });
});

it('the table has every public method', async () => {
  const env = await API_PAIRS[0].open({ numEnvs: 1 });
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(env)).filter(
    (name) => name !== 'constructor',
  );
  const rows = Object.keys(METHODS).map((row) => row.split(/[ ,]/)[0]);
  expect([...new Set(rows)].filter((row) => !row.startsWith('Symbol')).sort()).toEqual(names.sort());
  expect(rowsIn('disabled').map(([method]) => method)).toEqual(Object.keys(METHODS));
});

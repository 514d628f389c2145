/**
 * The state machine of an environment as a table: every public method of both APIs in every state. A cell is the state after
 * a call, or, with !, the code of its refusal, which must change nothing. STEP and MIDDLE depend on the autoreset mode
 * (BY_MODE). In `onProgress`, the synchronous API refuses calls; calls of the asynchronous API begin after the run.
 */
import { describe, expect, it } from 'vitest';
import type { AsyncVecEnv, VecEnv } from '../../../src/engine/node.js';
import type { AutoresetMode } from '../../../src/engine/vec-env/autoreset.js';
import type { StepResult } from '../../../src/engine/vec-env/vec-env-options.js';
import { NUM_STEPS } from '../../../src/world/fields.js';
import { APIS, type Api, attempt, codeOf } from '../../support/async-envs.js';
import { type Columns, expectEqual } from '../../support/bits.js';
import { detached } from '../../support/fuzz.js';
import { expectRejection } from '../../support/refusals.js';
import { outputColumns } from '../../support/unchanged.js';

const N = 3;
type State =
  | 'before reset'
  | 'running'
  | 'some ended'
  | 'all ended'
  /** During `onProgress` of a run. */
  | 'in a sync run'
  /** During `onProgress` of a run that ends some episodes. */
  | 'in an async run'
  | 'closed'
  /** `close` of the asynchronous API was called and not awaited. */
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

async function prepare({ open }: Api, autoreset: AutoresetMode, state: State): Promise<Setup> {
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
const NONE = new Uint8Array(N);
/** A mask of the middle environment, whose episode has ended only in the state 'all ended'. */
const middle = [false, true, false];

/** The methods of both APIs, those of the asynchronous API alone, and those of the synchronous API alone. */
const METHODS: Record<string, (setup: Setup) => unknown> = {
  reset: ({ env }) => env.reset({ seed: 1 }),
  'reset, random seeds': ({ env }) => env.reset(),
  'reset of the middle environment': ({ env }) => env.reset({ seed: 1, mask: middle }),
  step: ({ env }) => env.step(actions),
  'step of the middle environment': ({ env }) => env.step(actions, { mask: middle }),
  'step of no environment': ({ env }) => env.step(actions, { mask: NONE }),
  'step with an unknown option': ({ env }) => env.step(actions, { belief: 1 } as object),
  run: ({ env }) => env.run('heuristic'),
  'run to step 6': ({ env }) => env.run('heuristic', { stops: [6, 6, 6] }),
  'run from another': ({ env, other }) =>
    env.run('heuristic', { from: { source: other, indices: [0, 1, 2] } }),
  'run of another from it': ({ env, other }) =>
    other.run('heuristic', { from: { source: env, indices: [0, 1, 2] } }),
  fork: async ({ env }) => (await env.fork([0])).close(),
  'assign from another': ({ env, other }) => env.assign(other, [0, 1, 2]),
  'assign to another': ({ env, other }) => other.assign(env, [0, 1, 2]),
  'assign to itself': ({ env }) => env.assign(env, [2, 1, 0]),
  snapshot: ({ env }) => env.snapshot(),
  restore: ({ env, bytes }) => env.restore(bytes),
  history: ({ env }) => env.history(0),
  beliefTargets: ({ env }) => env.beliefTargets(),
  stateHash: ({ env }) => env.stateHash(),
  counters: ({ env }) => env.counters,
  close: ({ env }) => env.close(),
  'Symbol.asyncDispose': ({ env }) => env[Symbol.asyncDispose](),
  submit: ({ env }) => env.submit(actions),
  'submit of the middle environment': ({ env }) => env.submit(actions, { mask: middle }),
  read: ({ env }) => env.read(),
  'read of rewards': ({ env }) => env.read(['rewards']),
  reopen: ({ env }) => env.reopen(),
  device: ({ env }) => env.device,
  'Symbol.dispose': ({ env }) => (env as unknown as VecEnv)[Symbol.dispose](),
};

const TABLE = `
                                   | before reset | running         | some ended      | all ended       | in a sync run | in an async run | closed  | closing | detached
  reset                            | running      | running         | running         | running         | !busy         | running         | !closed | !closed | !outputs_detached
  reset, random seeds              | running      | running         | running         | running         | !busy         | running         | !closed | !closed | !outputs_detached
  reset of the middle environment  | !not_reset   | running         | some ended      | some ended      | !busy         | some ended      | !closed | !closed | !outputs_detached
  step                             | !not_reset   | running         | STEP            | STEP            | !busy         | STEP            | !closed | !closed | !outputs_detached
  step of the middle environment   | !not_reset   | running         | some ended      | MIDDLE          | !busy         | some ended      | !closed | !closed | !outputs_detached
  step of no environment           | !not_reset   | running         | some ended      | all ended       | !busy         | some ended      | !closed | !closed | !outputs_detached
  step with an unknown option      | !not_reset   | !unknown_option | !unknown_option | !unknown_option | !busy         | !unknown_option | !closed | !closed | !outputs_detached
  run                              | !not_reset   | all ended       | all ended       | all ended       | !busy         | all ended       | !closed | !closed | !outputs_detached
  run to step 6                    | !not_reset   | running         | some ended      | all ended       | !busy         | some ended      | !closed | !closed | !outputs_detached
  run from another                 | all ended    | all ended       | all ended       | all ended       | !busy         | all ended       | !closed | !closed | !outputs_detached
  run of another from it           | !not_reset   | running         | some ended      | all ended       | !busy         | some ended      | !closed | !closed | !outputs_detached
  fork                             | !not_reset   | running         | some ended      | all ended       | !busy         | some ended      | !closed | !closed | !outputs_detached
  assign from another              | running      | running         | running         | running         | !busy         | running         | !closed | !closed | !outputs_detached
  assign to another                | !not_reset   | running         | some ended      | all ended       | !busy         | some ended      | !closed | !closed | !outputs_detached
  assign to itself                 | !not_reset   | running         | some ended      | all ended       | !busy         | some ended      | !closed | !closed | !outputs_detached
  snapshot                         | !not_reset   | running         | some ended      | all ended       | !busy         | some ended      | !closed | !closed | !outputs_detached
  restore                          | running      | running         | running         | running         | !busy         | running         | !closed | !closed | !outputs_detached
  history                          | !not_reset   | running         | some ended      | all ended       | !busy         | some ended      | !closed | !closed | !outputs_detached
  beliefTargets                    | !not_reset   | running         | some ended      | all ended       | !busy         | some ended      | !closed | !closed | !outputs_detached
  stateHash                        | !not_reset   | running         | some ended      | all ended       | !busy         | some ended      | !closed | !closed | !outputs_detached
  counters                         | before reset | running         | some ended      | all ended       | in a sync run | some ended      | closed  | closed  | detached
  close                            | closed       | closed          | closed          | closed          | !busy         | closed          | closed  | closed  | closed
  Symbol.asyncDispose              | closed       | closed          | closed          | closed          | !busy         | closed          | closed  | closed  | closed
  submit                           | !not_reset   | running         | STEP            | STEP            |               | STEP            | !closed | !closed | !outputs_detached
  submit of the middle environment | !not_reset   | running         | some ended      | MIDDLE          |               | some ended      | !closed | !closed | !outputs_detached
  read                             | !not_reset   | running         | some ended      | all ended       |               | some ended      | !closed | !closed | !outputs_detached
  read of rewards                  | !not_reset   | running         | some ended      | all ended       |               | some ended      | !closed | !closed | !outputs_detached
  reopen                           | !no_snapshot | running         | some ended      | all ended       |               | running         | !closed | !closed | !outputs_detached
  device                           | before reset | running         | some ended      | all ended       |               | some ended      | closed  | closed  | detached
  Symbol.dispose                   | closed       | closed          | closed          | closed          | !busy         |                 | closed  |         | closed`;

/** The difference between the modes: a step of environments whose episodes have ended. */
const BY_MODE: Record<AutoresetMode, { STEP: string; MIDDLE: string }> = {
  disabled: { STEP: '!episode_over', MIDDLE: '!episode_over' },
  // A run does not reset, so an environment whose episode ended in a run needs a reset.
  'same-step': { STEP: '!episode_over', MIDDLE: '!episode_over' },
  'next-step': { STEP: 'running', MIDDLE: 'some ended' },
};

type Row = [method: string, expected: Record<string, string>];

/** Returns the rows of an API in an autoreset mode, with the states that the API has. */
function rowsIn(mode: AutoresetMode, isSync: boolean): Row[] {
  const cellsOf = (line: string) => line.split('|').map((cell) => cell.trim());
  const [[, ...states], ...rows] = TABLE.slice(1).split('\n').map(cellsOf);
  const missing = isSync ? ['in an async run', 'closing'] : ['in a sync run'];
  const absent = states.indexOf(isSync ? 'in a sync run' : 'in an async run');
  return rows
    .filter(([, ...cells]) => cells[absent] !== '')
    .map(([method, ...cells]) => {
      const entries = states.map((state, k) => [state, BY_MODE[mode][cells[k] as 'STEP'] ?? cells[k]]);
      return [method, Object.fromEntries(entries.filter(([state]) => !missing.includes(state)))];
    });
}

/** Determines the state of an environment from the error code of an empty step and from the lengths of the histories. */
async function stateOf(env: AsyncVecEnv): Promise<State> {
  const code = await codeOf(attempt(() => env.step(actions, { mask: NONE })));
  if (code === 'closed') return 'closed';
  if (code === 'not_reset') return 'before reset';
  if (code === 'busy') return 'in a sync run';
  if (code === 'outputs_detached') return 'detached';
  const histories = await Promise.all([0, 1, 2].map((i) => env.history(i, NUM_STEPS)));
  const ended = histories.filter(({ length }) => length === NUM_STEPS).length;
  return ended === 0 ? 'running' : ended === N ? 'all ended' : 'some ended';
}

/** Returns copies of everything that a caller can read of both environments. */
async function visibleIn({ env, result, state, other }: Setup): Promise<Columns> {
  const columns = {
    ...outputColumns(env, state === 'detached' ? null : result),
    other: await other.snapshot(),
  };
  if (!['running', 'some ended', 'all ended'].includes(state)) return columns;
  return { ...columns, hash: await env.stateHash(), snapshot: await env.snapshot() };
}

/** Makes a call in a state that is not within a run. @returns the cell of the table. */
async function outcomeOutside(setup: Setup, method: string): Promise<string> {
  const before = await visibleIn(setup);
  const code = await codeOf(attempt(() => METHODS[method](setup)));
  if (code === null) return stateOf(setup.env);
  await expectRejection(
    attempt(() => METHODS[method](setup)),
    code as never,
  );
  expectEqual(before, await visibleIn(setup), `${method}, ${setup.state}:`);
  return `!${code}`;
}

/** Lets `onProgress` of a run make a call. @returns the cell of the table. */
async function outcomeWithin(setup: Setup, method: string): Promise<string> {
  const { env, state } = setup;
  const isSync = state === 'in a sync run';
  let code: Promise<string | null> | undefined;
  let within: Promise<State> | undefined;
  const onProgress = () => {
    code = codeOf(attempt(() => METHODS[method](setup)));
    if (isSync) within = stateOf(env);
  };
  await env.run('random', { stops: isSync ? NONE : [NUM_STEPS, 2, 6], onProgress });
  const refusal = await code;
  return refusal === null ? ((await within) ?? stateOf(env)) : `!${refusal}`;
}

describe.each(APIS)('$name', (api) => {
  describe.each(Object.keys(BY_MODE) as AutoresetMode[])('%s', (mode) => {
    it.each(rowsIn(mode, api.isSync))('%s follows the table in every state', async (method, expected) => {
      const got: [string, string][] = [];
      for (const state of Object.keys(expected)) {
        const setup = await prepare(api, mode, state as State);
        const outcome = state.startsWith('in ') ? outcomeWithin : outcomeOutside;
        got.push([state, await outcome(setup, method)]);
        await setup.env.close();
        await setup.other.close();
      }
      expect(Object.fromEntries(got)).toEqual(expected);
    });
  });
});

it.each([APIS[0], APIS.at(-1)!])('the table has every public method: $name', async ({ open, isSync }) => {
  const prototype = Object.getPrototypeOf(await open({ numEnvs: 1 }));
  const names = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  const rows = rowsIn('disabled', isSync).map(([row]) => row.split(/[ ,]/)[0]);
  expect([...new Set(rows)].filter((row) => !row.startsWith('Symbol')).sort()).toEqual(
    [...names, 'counters'].sort(),
  );
});

it('the table has a row for each call', () => {
  const rows = TABLE.slice(1).split('\n').slice(1);
  expect(rows.map((row) => row.split('|')[0].trim())).toEqual(Object.keys(METHODS));
});

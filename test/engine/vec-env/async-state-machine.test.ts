/**
 * The state machine of an asynchronous environment as a table. A cell is the state after a call, or, with !, the code of
 * its rejection, which must change nothing. Calls made during a run wait for its end.
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
  | 'under way'
  | 'some over'
  | 'all over'
  /** During `onProgress` of a run that ends some episodes. */
  | 'within a run'
  | 'closed'
  /** `close` was called and not awaited. */
  | 'closing'
  /** A view was transferred. */
  | 'detached';

interface Stage {
  readonly env: AsyncVecEnv;
  readonly result: StepResult | null;
  readonly state: State;
  /** Another environment with running episodes. */
  readonly other: AsyncVecEnv;
  readonly bytes: Uint8Array;
}

async function stage({ open }: ApiPair, autoreset: AutoresetMode, state: State): Promise<Stage> {
  const [env, other] = await Promise.all([1, 2].map(() => open({ numEnvs: N, autoreset })));
  void other.reset({ seed: 5 });
  void other.run('heuristic', { stops: [3, 4, 5] });
  const bytes = await other.snapshot();
  if (state === 'before reset') return { env, result: null, state, other, bytes };
  void env.reset({ seed: 9 });
  const last = state === 'some over' || state === 'all over' ? NUM_STEPS : 6;
  const result = await env.run('random', { stops: [last, state === 'all over' ? NUM_STEPS : 2, last] });
  await env.snapshot();
  if (state === 'closed') await env.close();
  if (state === 'closing') void env.close();
  if (state === 'detached') detached(result.truncated);
  return { env, result, state, other, bytes };
}

const actions = new Uint8Array(N);
const middle = [false, true, false];

const METHODS: Record<string, (stage: Stage) => Promise<unknown>> = {
  reset: ({ env }) => env.reset({ seed: 1 }),
  'reset of the middle slot': ({ env }) => env.reset({ seed: 1, mask: middle }),
  step: ({ env }) => env.step(actions),
  'step of the middle slot': ({ env }) => env.step(actions, { mask: middle }),
  submit: ({ env }) => env.submit(actions),
  'submit of the middle slot': ({ env }) => env.submit(actions, { mask: middle }),
  read: ({ env }) => env.read(),
  'read of rewards': ({ env }) => env.read(['rewards']),
  run: ({ env }) => env.run('heuristic'),
  'run from another': ({ env, other }) =>
    env.run('heuristic', { from: { source: other, indices: [0, 1, 2] } }),
  'run of another': ({ env, other }) => other.run('heuristic', { from: { source: env, indices: [0, 1, 2] } }),
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
  'step with an option that is none': ({ env }) => env.step(actions, { belief: 1 } as object),
};

const TABLE = `
                                   | before reset | under way       | some over       | all over        | within a run    | closed  | closing | detached
  reset                            | under way    | under way       | under way       | under way       | under way       | !closed | !closed | !outputs_detached
  reset of the middle slot         | !not_reset   | under way       | some over       | some over       | some over       | !closed | !closed | !outputs_detached
  step                             | !not_reset   | under way       | STEP            | STEP            | STEP            | !closed | !closed | !outputs_detached
  step of the middle slot          | !not_reset   | under way       | some over       | MIDDLE          | some over       | !closed | !closed | !outputs_detached
  submit                           | !not_reset   | under way       | STEP            | STEP            | STEP            | !closed | !closed | !outputs_detached
  submit of the middle slot        | !not_reset   | under way       | some over       | MIDDLE          | some over       | !closed | !closed | !outputs_detached
  read                             | !not_reset   | under way       | some over       | all over        | some over       | !closed | !closed | !outputs_detached
  read of rewards                  | !not_reset   | under way       | some over       | all over        | some over       | !closed | !closed | !outputs_detached
  run                              | !not_reset   | all over        | all over        | all over        | all over        | !closed | !closed | !outputs_detached
  run from another                 | all over     | all over        | all over        | all over        | all over        | !closed | !closed | !outputs_detached
  run of another                   | !not_reset   | under way       | some over       | all over        | some over       | !closed | !closed | !outputs_detached
  fork                             | !not_reset   | under way       | some over       | all over        | some over       | !closed | !closed | !outputs_detached
  assign from another              | under way    | under way       | under way       | under way       | under way       | !closed | !closed | !outputs_detached
  assign to another                | !not_reset   | under way       | some over       | all over        | some over       | !closed | !closed | !outputs_detached
  assign to itself                 | !not_reset   | under way       | some over       | all over        | some over       | !closed | !closed | !outputs_detached
  snapshot                         | !not_reset   | under way       | some over       | all over        | some over       | !closed | !closed | !outputs_detached
  restore                          | under way    | under way       | under way       | under way       | under way       | !closed | !closed | !outputs_detached
  reopen                           | !no_snapshot | under way       | some over       | all over        | under way       | !closed | !closed | !outputs_detached
  history                          | !not_reset   | under way       | some over       | all over        | some over       | !closed | !closed | !outputs_detached
  beliefTargets                    | !not_reset   | under way       | some over       | all over        | some over       | !closed | !closed | !outputs_detached
  stateHash                        | !not_reset   | under way       | some over       | all over        | some over       | !closed | !closed | !outputs_detached
  counters                         | before reset | under way       | some over       | all over        | some over       | closed  | closed  | detached
  device                           | before reset | under way       | some over       | all over        | some over       | closed  | closed  | detached
  close                            | closed       | closed          | closed          | closed          | closed          | closed  | closed  | closed
  Symbol.asyncDispose              | closed       | closed          | closed          | closed          | closed          | closed  | closed  | closed
  step with an option that is none | !not_reset   | !unknown_option | !unknown_option | !unknown_option | !unknown_option | !closed | !closed | !outputs_detached`;

/** The difference between the modes: a step of environments whose episodes have ended. */
const BY_MODE: Record<AutoresetMode, { STEP: string; MIDDLE: string }> = {
  disabled: { STEP: '!episode_over', MIDDLE: '!episode_over' },
  'same-step': { STEP: '!episode_over', MIDDLE: '!episode_over' },
  'next-step': { STEP: 'under way', MIDDLE: 'some over' },
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

/** Returns the state that the outputs of an environment show. */
async function stateOf(env: AsyncVecEnv): Promise<State> {
  const code = await codeOf(env.step(actions, { mask: new Uint8Array(N) }));
  if (code === 'closed') return 'closed';
  if (code === 'not_reset') return 'before reset';
  if (code === 'outputs_detached') return 'detached';
  const histories = await Promise.all([0, 1, 2].map((i) => env.history(i, NUM_STEPS)));
  const over = histories.filter(({ length }) => length === NUM_STEPS).length;
  return over === 0 ? 'under way' : over === N ? 'all over' : 'some over';
}

/** Copies all outputs of an environment in a state, and of the other. */
async function visibleIn({ env, result, state, other }: Stage): Promise<Columns> {
  const shown = {
    ...asyncOutputColumns(env, state === 'detached' ? null : result),
    other: await other.snapshot(),
  };
  if (['before reset', 'closed', 'closing', 'detached'].includes(state)) return shown;
  return { ...shown, hash: await env.stateHash(), snapshot: await env.snapshot() };
}

/** Makes the call; in the state of a run, from `onProgress`. */
function called(set: Stage, method: string): Promise<unknown> {
  const call = () => METHODS[method](set);
  if (set.state !== 'within a run') return call();
  return new Promise((resolve, reject) => {
    const onProgress = () => void call().then(resolve, reject);
    set.env.run('random', { stops: [NUM_STEPS, 2, 6], onProgress }).catch(reject);
  });
}

/** Makes the call. @returns the cell of the table. */
async function outcome(faces: ApiPair, mode: AutoresetMode, state: State, method: string): Promise<string> {
  const set = await stage(faces, mode, state);
  const within = state === 'within a run';
  const before = within ? null : await visibleIn(set);
  const code = await codeOf(called(set, method));
  const cell = code === null ? await stateOf(set.env) : `!${code}`;
  if (code !== null && before !== null) {
    await expectRejection(METHODS[method](set), code as never);
    expectEqual(before, await visibleIn(set), `${method}, ${state}:`);
  }
  await set.env.close();
  await set.other.close();
  return cell;
}

describe.each(API_PAIRS)('$name', (faces) => {
  describe.each(Object.keys(BY_MODE) as AutoresetMode[])('%s', (mode) => {
    it.each(rowsIn(mode))('%s', async (method, expected) => {
      const got: [string, string][] = [];
      for (const state of Object.keys(expected)) {
        got.push([state, await outcome(faces, mode, state as State, method)]);
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

/** RemoteVectorEnv returns the outputs of VecEnv bit for bit, in the form of Gymnasium's vector environments. */
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { AUTORESET_MODES, type AutoresetMode } from '../../src/engine/validate/autoreset-modes.js';
import { createVecEnv, type StepResult, type VecEnv, type VecEnvOptions } from '../../src/index.js';
import { NUM_ACTIONS, NUM_STEPS } from '../../src/world/fields.js';
import { startCli } from '../support/cli.js';
import { askPythonAsync, whyAbsent } from '../support/python.js';
import { Random } from '../support/random.js';
import { startServer } from '../support/server.js';

const SCRIPT = 'gymnasium/remote_vec_env.py';
const absent = whyAbsent('websockets', '15 or later, and gymnasium 1.1 or later,', SCRIPT, null);
if (absent !== null) test.skip(`RemoteVectorEnv: NOT TESTED here: ${absent}`, () => {});

const N = 5;
const CALLS = 120;

interface Reset {
  readonly reset: number | readonly number[];
  readonly options?: { reset_mask?: readonly boolean[]; profiles?: string; graders?: string };
}
interface Step {
  readonly step: readonly number[];
  readonly beliefs?: readonly number[] | null;
}
type Call = Reset | Step;

const pascal = (mode: AutoresetMode): string =>
  mode.replace(/(?:^|-)(.)/g, (_, letter) => letter.toUpperCase());

/** Returns a reset, then random steps and masked resets. Without autoreset, finished environments are reset at once. */
function randomCalls(mode: AutoresetMode, beliefs: boolean): Call[] {
  const random = new Random(`${mode} ${beliefs}`);
  const steps = Array<number>(N).fill(0);
  const calls: Call[] = [{ reset: 100 }];
  while (calls.length < CALLS) {
    const over = steps.map((step) => mode === 'disabled' && step === NUM_STEPS);
    if (over.includes(true) || random.chance(0.05)) {
      const reset_mask = over.map((must, i) => must || i === calls.length % N || random.chance(0.1));
      const options = { reset_mask, ...random.pick([{}, { profiles: 'discrete' }, { graders: 'v3' }]) };
      const seeds = Array.from({ length: N }, () => random.integer(0, 1000));
      calls.push({ reset: random.pick([seeds, seeds[0]]), options });
      for (const i of steps.keys()) if (reset_mask[i]) steps[i] = 0;
    } else {
      const given = Array.from({ length: 3 * N }, () => Math.fround(random.real()));
      calls.push({
        step: steps.map(() => random.integer(0, NUM_ACTIONS - 1)),
        beliefs: beliefs ? given : null,
      });
      for (const i of steps.keys()) steps[i]++;
    }
  }
  return calls;
}

/** Makes a call on a VecEnv. */
function make(env: VecEnv, call: Call): StepResult {
  if ('step' in call) {
    return env.step(call.step, { beliefs: call.beliefs ? Float32Array.from(call.beliefs) : undefined });
  }
  const { reset_mask, ...names } = call.options ?? {};
  return env.reset({ seed: call.reset, ...names, ...(reset_mask && { mask: reset_mask }) });
}

const flags = (bytes: Uint8Array): boolean[] => Array.from(bytes, (byte) => byte !== 0);

type Infos = Record<string, unknown>;

/** Returns values and their mask in the form of Gymnasium's infos: 0 outside the mask, and rows of several numbers as lists. */
function masked(name: string, values: ArrayLike<number>, mask: readonly boolean[]): Infos {
  const width = values.length / N;
  const rows = mask.map((isSet, i) => {
    const row = Array.from({ length: width }, (_, k) => (isSet ? values[i * width + k] : 0));
    return width === 1 ? row[0] : row;
  });
  return { [name]: rows, [`_${name}`]: mask };
}

const currentInfos = (
  seeds: ArrayLike<number>,
  numbers: ArrayLike<number>,
  mask: readonly boolean[],
): Infos => ({
  ...masked('seed', seeds, mask),
  ...masked('episode_number', numbers, mask),
});

const finalInfos = (result: StepResult, ended: readonly boolean[]): Infos => ({
  ...masked('final_score', result.finalScores, ended),
  ...masked('components', result.components, ended),
  ...masked('belief_mae', result.beliefMae, ended),
  ...masked('early_mean', result.firstHalfMeans, ended),
  ...masked('late_mean', result.secondHalfMeans, ended),
  ...masked('episode_return', result.episodeReturns, ended),
  ...masked('episode_length', result.episodeLengths, ended),
});

/** Makes a call, and returns its result in the form of Gymnasium. */
function rowOf(env: VecEnv, call: Call): object {
  const before = [Array.from(env.seeds), Array.from(env.episodeNumbers)] as const;
  const result = make(env, call);
  const observations = Array.from(result.observations);
  if ('reset' in call) {
    const mask = [...(call.options?.reset_mask ?? Array<boolean>(N).fill(true))];
    return { observations, infos: currentInfos(env.seeds, env.episodeNumbers, mask) };
  }
  const ended = flags(result.finalMask);
  const current = currentInfos(env.seeds, env.episodeNumbers, Array(N).fill(true));
  const final = ended.includes(true) ? finalInfos(result, ended) : {};
  const last = result.finalObservations;
  const sameStep = last !== null && {
    final_obs: ended.map((isEnded, i) => {
      const size = last.length / N;
      return isEnded ? Array.from(last.subarray(i * size, (i + 1) * size)) : null;
    }),
    _final_obs: ended,
    final_info: { ...currentInfos(...before, ended), ...final },
    _final_info: ended,
  };
  const ends = ended.includes(true) && sameStep ? sameStep : last === null ? final : {};
  return {
    observations,
    rewards: Array.from(result.rewards),
    terminated: flags(result.terminated),
    truncated: flags(result.truncated),
    infos: { ...current, ...ends },
  };
}

interface Answer {
  readonly mode: string;
  readonly rows: readonly object[];
}

describe.runIf(absent === null)('RemoteVectorEnv returns the outputs of VecEnv', () => {
  const cases = AUTORESET_MODES.flatMap((mode) => [false, true].map((beliefs) => ({ mode, beliefs })));
  it.each(cases)('$mode, with beliefs: $beliefs', async ({ mode, beliefs }) => {
    const { url } = await startServer();
    const calls = randomCalls(mode, beliefs);
    const options = { num_envs: N, url, autoreset_mode: pascal(mode), beliefs };
    const answer = await askPythonAsync<Answer>(SCRIPT, { options, calls });
    expect(answer.mode).toBe(pascal(mode));
    using env = createVecEnv({ numEnvs: N, autoreset: mode });
    expect(answer.rows).toEqual(calls.map((call) => rowOf(env, call)));
    expect(env.counters.episodes).toBeGreaterThan(0);
  });

  it('with profiles, grader, seed range, observation options and a token', async () => {
    const token = 'token-of-this-test';
    const { url } = await startServer({ token });
    const observation = {
      fields: ['step', 'meters', 'anomalies'],
      one_hot: true,
      scale: true,
      history: true,
    };
    const settings = { profiles: 'discrete', grader: 'v3', seed_range: [50, 200], observation };
    const calls: Call[] = [
      { reset: 60 },
      ...Array.from({ length: 40 }, (_, t) => ({ step: Array<number>(N).fill(t % 10) })),
    ];
    const options = { ...settings, num_envs: N, url, token, autoreset_mode: 'SameStep' };
    const { rows } = await askPythonAsync<Answer>(SCRIPT, { options, calls });
    using env = createVecEnv({
      numEnvs: N,
      autoreset: 'same-step',
      profiles: 'discrete',
      grader: 'v3',
      seedRange: [50, 200],
      observation: { fields: observation.fields, oneHot: true, scale: true, history: true },
    } as VecEnvOptions);
    expect(rows).toEqual(calls.map((call) => rowOf(env, call)));
  });
});

const refusals: [call: string, error: string, message: RegExp][] = [
  ['an action above 9', 'InputError', /actions from 0 to 9, got 10 at actions\[1\]/],
  ['a negative action', 'InputError', /got -1 at actions\[0\]/],
  ['actions of another shape', 'InputError', /integers \[2\], got int64 \[1\]/],
  ['actions that are not integers', 'InputError', /got float64 \[2\]/],
  ['a seed out of range', 'InputError', /10 to 14, got 15 for environment 1/],
  ['a negative seed', 'InputError', /u32 at seed\[0\], got -1/],
  ['too few seeds', 'InputError', /Expected seed to be u32 \[2\], got int64 \[1\]/],
  ['an unknown option', 'InputError', /reset_mask.*got \['mask'\]/],
  ['a mask of numbers', 'InputError', /bool \[2\], got int64 \[2\]/],
  ['an unknown profile', 'RequestError', /profiles/],
  ['no environments', 'InputError', /num_envs to be an integer from 1 to .*got 0/],
  ['an unknown field', 'RequestError', /observation\.fields\.0/],
  ['a closed environment', 'ClosedEnvironmentError', /closed/],
  [
    'no server',
    'ServerUnavailableError',
    /http:\/\/127\.0\.0\.1:9, got ConnectionRefused.*npx rhythm-vec serve/,
  ],
  ['another path', 'ServerUnavailableError', /got InvalidStatus.*404/],
  ['an invalid URL', 'ValueError', /Expected url to be like http/],
  [
    'a call after an interrupted one',
    'ServerUnavailableError',
    /ConnectionClosed.*The episodes are lost\. Open another/,
  ],
  ['a step after the end', 'StateError', /environment 0, whose episode has ended/],
];

describe.runIf(absent === null)('RemoteVectorEnv', () => {
  it("passes Gymnasium's check_env, gives equal results for equal calls, works with wrappers and refuses invalid calls", async () => {
    const { url } = await startServer();
    const answer = await askPythonAsync<{ refusals: Record<string, [string, string] | null> }>(
      'gymnasium/checks.py',
      { url },
    );
    expect(Object.keys(answer.refusals)).toEqual(refusals.map(([call]) => call));
    for (const [call, error, message] of refusals) {
      expect(answer.refusals[call]?.[0], call).toBe(error);
      expect(answer.refusals[call]?.[1], call).toMatch(message);
    }
  });

  it('raises an error when the server closes the socket', async () => {
    const { url } = await startServer({ bodyLimit: 1024 });
    const calls: Call[] = [{ reset: Array<number>(1000).fill(7) }];
    const lost = askPythonAsync(SCRIPT, { options: { num_envs: 1000, url }, calls });
    await expect(lost).rejects.toThrow(
      /ServerUnavailableError: Expected an answer from http.*1009.*Open another/,
    );
  });

  it('waits as long as timeout_s for a server that is stopped, and no longer', async () => {
    const { child, until } = startCli(['serve', '--port', '0']);
    onTestFinished(() => void child.kill('SIGKILL'));
    const [, url] = await until('stdout', /Listening on (\S+)/);
    const actions = [3, 0, 7];
    const answer = await askPythonAsync('gymnasium/stopped_server.py', {
      url,
      pid: child.pid,
      seed: 100,
      actions,
    });
    using env = createVecEnv({ numEnvs: actions.length });
    env.reset({ seed: 100 });
    const late = `ServerUnavailableError: Expected an answer from ${url}, got none within 0.2 s. The episodes are lost. Raise timeout_s, or open another environment.`;
    expect(answer).toEqual({ rewards: Array.from(env.step(actions).rewards), late: [late, late] });
  });
});

/** python/rhythm_vec_env: OpenEnv's client plays an episode, and OpenEnv's own code validates the server and the folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, it, test } from 'vitest';
import { ACTION_NAMES, createTextEnv, Episode } from '../../src/index.js';
import { systemText } from '../../src/rollouts/text/prompt-text.js';
import { ACTION_SCHEMA, STATE_SCHEMA } from '../../src/server/protocol/messages.js';
import { OBSERVATION_SCHEMA, TEXT_SCHEMA } from '../../src/server/protocol/observation.js';
import { float32Decimal, float32Decimals } from '../../src/shared/float32-decimal.js';
import { packageVersion } from '../../src/shared/version.js';
import { COMPONENT_NAMES } from '../../src/world/fields.js';
import { askPythonAsync, startPython, whyAbsent } from '../support/python.js';
import { whyAbsent as whyAbsentPython } from '../support/python-client.js';
import { startServer } from '../support/server.js';

const SCRIPT = 'openenv/play.py';
const absent = whyAbsent('openenv', '0.3 or later', SCRIPT, {});
if (absent !== null) test.skip(`the client of OpenEnv: NOT TESTED here: ${absent}`, () => {});

interface Result {
  readonly observation: Readonly<Record<string, unknown>>;
  readonly reward: number | null;
  readonly done: boolean;
}
interface Answer {
  readonly played: {
    readonly results: readonly Result[];
    readonly states: readonly object[];
    readonly refused: string;
  };
  readonly called: Readonly<Record<'socket' | 'http', readonly unknown[]>>;
  readonly environment: readonly [steps: number, ...Readonly<Record<string, unknown>>[]];
  readonly harness: { readonly messages: readonly string[]; readonly reward: number };
  readonly validated: object;
}

describe.runIf(absent === null)('with OpenEnv', () => {
  it('the client plays an episode as the reference does', async () => {
    const { url } = await startServer();
    const actions = Array.from({ length: 28 }, (_, t) => ({
      action_type: ACTION_NAMES[(3 * t) % 10],
      ...(t % 2 === 0 ? { belief: [0.1 * (t % 10), 0.5, 0.25] } : {}),
    }));
    const reset = { seed: 42, episode_id: 'e', profile: 'workaholic_stoic', grader: 'v3' };
    const { played } = await askPythonAsync<Answer>(SCRIPT, { play: { url, reset, actions } });
    const episode = new Episode().reset(42, { profile: 'workaholic_stoic', grader: 'v3' });
    expect(played.results[0]).toMatchObject({
      reward: null,
      done: false,
      observation: { step: 0, last_action: null },
    });
    for (const [t, { action_type, belief = null }] of actions.entries()) {
      const reward = float32Decimal(episode.step(ACTION_NAMES.indexOf(action_type), belief));
      const done = t === 27;
      expect(played.results[t + 1]).toMatchObject({
        reward,
        done,
        observation: {
          reward,
          done,
          step: t + 1,
          remaining: 27 - t,
          last_action: action_type,
          meters: float32Decimals(episode.meters),
          anomalies: float32Decimals(episode.anomalies),
          final_score: done ? float32Decimal(episode.finalScore) : null,
        },
      });
    }
    const components = float32Decimals(episode.components);
    expect(played.results[28].observation.components).toEqual(
      Object.fromEntries(COMPONENT_NAMES.map((name, k) => [name, components[k]])),
    );
    expect(played.states).toEqual([
      { episode_id: null, step_count: 0, seed: null, profile: null, grader: null },
      { episode_id: 'e', step_count: 28, seed: 42, profile: 'workaholic_stoic', grader: 'v3' },
    ]);
    expect(played.refused).toContain('EXECUTION_ERROR');
  });

  it('the client for tools lists and calls them, over a socket and over HTTP', async () => {
    const { url } = await startServer();
    const calls = [
      ['act', { action: 'SLEEP', social: 3, morning: 6, work: 5 }],
      ['grade', {}],
    ];
    const { called } = await askPythonAsync<Answer>(SCRIPT, { tools: { url, reset: { seed: 7 }, calls } });
    using env = createTextEnv({ history: 'new' });
    env.reset(7);
    const [act] = env.step('3 6 5 SLEEP').message.content.split('\n\n');
    const grade = expect.stringContaining(
      `"final_score":${float32Decimal(env.finish().info.end!.finalScore)},`,
    );
    const expected = [['start', 'act', 'grade'], act, grade];
    expect(called).toEqual({ socket: expected, http: expected });
  });

  it('the validation reports as missing only the lock file that uv writes and a recommended folder', async () => {
    const { url } = await startServer();
    const { validated } = await askPythonAsync<Answer>(SCRIPT, { validate: url });
    expect(validated).toEqual({
      passed: true,
      failed: [],
      docker: true,
      warnings: ['Recommended directory missing: outputs/'],
      issues: ["Missing uv.lock - run 'uv lock' to generate it"],
    });
  });
});

const noPackage =
  absent ?? whyAbsent('rhythm-vec', 'from python/', SCRIPT, { environment: { seed: 0, answers: [] } });
describe.runIf(noPackage === null)('with OpenEnv and the Python package', () => {
  const answers = Array.from({ length: 28 }, (_, t) => `${t % 10} 5 3 ${ACTION_NAMES[t % 10].toUpperCase()}`);

  it('the environment plays an episode in text, in the process', async () => {
    const { environment } = await askPythonAsync<Answer>(SCRIPT, { environment: { seed: 7, answers } });
    using env = createTextEnv({ reward: 'both', history: 'new' });
    const [rules, first] = env.reset(7);
    const expected = answers.map((answer) => {
      const { message, reward, done, info } = env.step(answer);
      return { prompt: message.content, reward, done, final_score: info.end?.finalScore ?? null };
    });
    const begin = { rules: rules.content, prompt: first.content, reward: null, done: false };
    expect(environment).toMatchObject([28, begin, ...expected]);
  });

  it('the harness plays an episode by tool calls on a server', async () => {
    const { url } = await startServer();
    const calls = answers.map((answer) => {
      const [social, morning, work, action] = answer.split(' ');
      return { action, social: Number(social), morning: Number(morning), work: Number(work) };
    });
    const { harness } = await askPythonAsync<Answer>(SCRIPT, { harness: { url, seed: 7, calls } });
    using env = createTextEnv({ history: 'new' });
    const [, first] = env.reset(7);
    const shown = [first, ...answers.map((answer) => env.step(answer).message)];
    const texts = shown.map(({ content }) => content.split('\n\n')[0]);
    expect(harness.messages[0]).toBe(systemText('v2', 'tools'));
    expect(
      harness.messages.slice(1).map((text) => text.replace(/^"|"$/g, '').replaceAll('\\n', '\n')),
    ).toEqual(texts);
    expect(Math.fround(harness.reward)).toBe(env.finish().info.end!.finalScore);
  });
});

describe('the folder python/rhythm_vec_env', () => {
  const read = (name: string): string =>
    readFileSync(new URL(`../../python/rhythm_vec_env/${name}`, import.meta.url), 'utf8');
  /** Returns the fields of a class of models.py. */
  const fieldsOf = (name: string): string[] => {
    const [, body] = new RegExp(`^class ${name}\\b.*\\n((?:    .*\\n|\\n)+)`, 'm').exec(read('models.py'))!;
    return Array.from(body.matchAll(/^ {4}(\w+): /gm), ([, field]) => field);
  };

  it('has models with the fields of the protocol, and the version of this package', () => {
    const without = (keys: readonly string[], others: readonly string[]) =>
      keys.filter((key) => !others.includes(key));
    expect(fieldsOf('RhythmVecAction')).toEqual(without(Object.keys(ACTION_SCHEMA.shape), ['metadata']));
    expect(fieldsOf('RhythmVecObservation')).toEqual(Object.keys(OBSERVATION_SCHEMA.shape));
    expect(fieldsOf('RhythmVecTextObservation')).toEqual(Object.keys(TEXT_SCHEMA.shape));
    const inherited = ['episode_id', 'step_count'];
    expect(fieldsOf('RhythmVecState')).toEqual(without(Object.keys(STATE_SCHEMA.shape), inherited));
    expect(read('pyproject.toml')).toContain(`version = "${packageVersion()}"`);
  });

  const noPython = whyAbsentPython();
  it.skipIf(noPython !== null)(
    'has a command that runs the server, with a token if there is one',
    async () => {
      const started = async (settings: Record<string, string>): Promise<string> => {
        const options = ['--port', '9', '--workers', '4'];
        const own = { RHYTHM_COMMAND: 'echo program', RHYTHM_TOKEN: '', ...settings };
        return text(startPython('python/rhythm_vec_env/server/app.py', options, own).stdout);
      };
      expect(await started({})).toBe('program serve --host 0.0.0.0 --port 9 --insecure\n');
      expect(await started({ RHYTHM_TOKEN: 'a-token-of-16-letters' })).toBe(
        'program serve --host 0.0.0.0 --port 9\n',
      );
    },
  );

  it('has a Dockerfile that runs the server, and a health check that sends the server a request', async () => {
    const lines = read('server/Dockerfile').replaceAll('\\\n', ' ').split('\n');
    const commandOf = (instruction: string): string[] =>
      JSON.parse(/\[.*\]$/.exec(lines.find((line) => line.startsWith(instruction))!)![0]);
    const [, ...options] = commandOf('CMD');
    expect(options).toEqual(['serve', '--host', '0.0.0.0', '--port', '8000', '--insecure']);
    expect(lines.indexOf('USER node')).toBeGreaterThan(lines.indexOf('FROM node:22-bookworm-slim'));
    const [program, ...args] = commandOf('HEALTHCHECK');
    const statusAt = async (url: string): Promise<number | null> => {
      const addressed = args.map((arg) => arg.replace('http://127.0.0.1:8000', url));
      const [status] = await once(spawn(program, addressed), 'close');
      return status;
    };
    expect(await statusAt((await startServer()).url)).toBe(0);
    expect(await statusAt('http://127.0.0.1:9')).toBe(1);
  });
});

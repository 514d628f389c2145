/** RemoteVectorEnv returns the results of RhythmVectorEnv bit for bit, which python/tests compares with VecEnv and Gymnasium. */
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { createVecEnv } from '../../src/index.js';
import { startCli } from '../support/cli.js';
import { askPythonAsync, whyAbsent } from '../support/python.js';
import { startServer } from '../support/server.js';

const SCRIPT = 'gymnasium/remote.py';
const absent =
  whyAbsent('websockets', '15 or later, and gymnasium 1.1 or later,', 'gymnasium/stopped_server.py', null) ??
  whyAbsent('rhythm-vec', '(npm run test:python-package)', SCRIPT, null);
if (absent !== null) test.skip(`RemoteVectorEnv: NOT TESTED here: ${absent}`, () => {});

const ERRORS: Record<string, [error: string, message: RegExp]> = {
  'an unknown profile': ['RequestError', /profiles/],
  'an unknown field': ['RequestError', /observation\.fields\.0/],
  'no environments': ['InputError', /num_envs/],
  'no server': ['ServerUnavailableError', /ConnectionRefused.*npx rhythm-vec serve/],
  'another path': ['ServerUnavailableError', /404/],
  'an invalid URL': ['ValueError', /url/],
  'a call after an interrupted one': ['ServerUnavailableError', /episodes are lost\. Open another/],
  'a message above the limit': ['ServerUnavailableError', /1009.*Open another/],
};

describe.runIf(absent === null)('RemoteVectorEnv', () => {
  it('equals RhythmVectorEnv in every autoreset mode, with any options, and refuses the same calls', async () => {
    const token = 'token-of-this-test';
    const { url } = await startServer({ token, bodyLimit: 2 ** 15 });
    const { episodes, errors } = await askPythonAsync<{
      episodes: number[];
      errors: Record<string, [string, string]>;
    }>(SCRIPT, { url, token });
    expect(episodes).toHaveLength(7);
    expect(Math.min(...episodes)).toBeGreaterThan(0);
    const matching = Object.entries(ERRORS).map(([call, [error, message]]) => [
      call,
      [error, expect.stringMatching(message)],
    ]);
    expect(errors).toEqual(Object.fromEntries(matching));
  });

  it('waits as long as timeout_s for a server that is stopped, and no longer', async () => {
    const { child, until } = startCli(['serve', '--port', '0']);
    onTestFinished(() => void child.kill('SIGKILL'));
    const [, url] = await until('stdout', /Listening on (\S+)/);
    const actions = [3, 0, 7];
    const question = { url, pid: child.pid, seed: 100, actions };
    const answer = await askPythonAsync('gymnasium/stopped_server.py', question);
    using env = createVecEnv({ numEnvs: actions.length });
    env.reset({ seed: 100 });
    const late = expect.stringMatching(/^ServerUnavailableError: .* none within 0\.2 s.*Raise timeout_s/);
    expect(answer).toEqual({ rewards: Array.from(env.step(actions).rewards), late: [late, late] });
  });
});

/** python/examples/score_frames.py, which sends binary frames, gets the scores of the JSON route. */
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { ACTION_NAMES } from '../../src/index.js';
import { startPython, whyAbsent } from '../support/python.js';
import { sendRequest, startServer } from '../support/server.js';

// Without cases, serving.py only imports rhythm_vec.
const absent = whyAbsent('python', '3.9 or later', 'client/serving.py', { task: 'failures', cases: [] });

it.skipIf(absent !== null)(
  `prints the scores of the JSON route${absent ? `: NOT TESTED here: ${absent}` : ''}`,
  async () => {
    const server = await startServer();
    const child = startPython('python/examples/score_frames.py', [server.url]);
    const [[code], stdout, stderr] = await Promise.all([
      once(child, 'exit'),
      text(child.stdout),
      text(child.stderr),
    ]);
    expect([code, stderr]).toEqual([0, '']);
    const { body } = await sendRequest(server, 'POST', '/v1/score', {
      seeds: [4242, 4242],
      action_histories: [
        [ACTION_NAMES[3], ACTION_NAMES[0]],
        [3, 0],
      ],
      completions: ['<reasoning>Tired.</reasoning>\n3 6 5 EXERCISE', 'I would rather not.'],
      parsed: true,
    });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => /^(-?\d+) \[(.*)\] (\S+) (\w+)$/.exec(line)!.slice(1));
    expect(lines.map(([action]) => Number(action))).toEqual(body.parsed.codes);
    expect(lines.map(([, , total]) => Math.fround(Number(total)))).toEqual(
      body.scores.total.map(Math.fround),
    );
    expect(lines.map(([, , , hash]) => hash)).toEqual(body.scores.state_hash);
    expect(lines.map(([, belief]) => belief.includes('nan'))).toEqual([false, true]);
  },
);

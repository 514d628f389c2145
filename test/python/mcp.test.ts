/** The tools of the server, called by clients of the Model Context Protocol. */
import { describe, expect, it } from 'vitest';
import { createTextEnv } from '../../src/index.js';
import { systemText } from '../../src/rollouts/text/prompt-text.js';
import { askPythonAsync, whyAbsent } from '../support/python.js';
import { startServer } from '../support/server.js';

const SCRIPT = 'mcp/play.py';

describe.each([
  ['mcp', '(mcp 2 or later)'],
  ['fastmcp', '(fastmcp 4 or later)'],
] as const)('the client of %s', (client, version) => {
  const absent = whyAbsent(client, version, SCRIPT, { client });
  const name = absent === null ? 'lists the tools and plays an episode' : `NOT TESTED here: ${absent}`;
  it.skipIf(absent !== null)(name, async () => {
    const { url } = await startServer();
    const calls = [
      ['act', { action: 'EXERCISE', social: 3, morning: 6, work: 5 }],
      ['grade', {}],
    ];
    const answer = await askPythonAsync<{ tools: string[]; texts: string[] }>(SCRIPT, {
      ...{ url, client, seed: 7, calls },
    });
    using env = createTextEnv({ history: 'new' });
    const withoutRequest = (text: string) => text.split('\n\n')[0];
    const [, first] = env.reset(7);
    const { message } = env.step('3 6 5 EXERCISE');
    const { end } = env.finish().info;
    expect(answer.tools).toEqual(['start', 'act', 'grade']);
    expect(answer.texts.slice(0, 2)).toEqual([
      `${systemText('v2', 'tools')}\n\n${withoutRequest(first.content)}`,
      withoutRequest(message.content),
    ]);
    expect(Math.fround(JSON.parse(answer.texts[2]).final_score)).toBe(end?.finalScore);
  });
});

/** Compares the options, routes, metrics, fields, scores and arrays in docs/server.md with the server. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.js';
import { sendRequest, startServer } from '../support/server.js';

const page = readFileSync(new URL('../../docs/server.md', import.meta.url), 'utf8');

/** Returns the texts in backquotes in the first column of the table whose header begins with `head`. */
function cellsOf(head: string): string[] {
  const [, table] = page.split(`\n| ${head} | `);
  const lines = table.split('\n\n')[0].split('\n').slice(2);
  return lines.flatMap((line) => Array.from(line.split(' | ')[0].matchAll(/`([^`]+)`/g), ([, text]) => text));
}

it('docs/server.md lists the options of serve, and their numeric defaults', async () => {
  const stdout = (await runCli(['serve', '--help'])).stdout.split('\nGlobal Options:')[0];
  const expected = Array.from(stdout.matchAll(/^ {2}(--[a-z-]+)/gm), ([, name]) => name);
  expect(cellsOf('option')).toEqual(expected);
  const numbers = stdout.split(/\n {2}(?=-)/).flatMap((option) => {
    const value = /\(default:\s+(\d+)\)/.exec(option)?.[1];
    return value === undefined ? [] : [[option.split(' ')[0], value]];
  });
  expect(numbers).toHaveLength(12);
  for (const [name, value] of numbers) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` |`));
    expect(row?.replaceAll(',', '')).toMatch(new RegExp(`\\| ${value} \\|$`));
  }
});

describe('docs/server.md agrees with the running server on', () => {
  it('routes of openapi.json and WebSockets', async () => {
    const { body } = await sendRequest(await startServer(), 'GET', '/openapi.json');
    const expected = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(cellsOf('route').sort()).toEqual([...expected, 'GET /ws', 'GET /mcp', 'GET /v1/vec'].sort());
  });

  it('metrics of /metrics', async () => {
    const { body } = await sendRequest(await startServer(), 'GET', '/metrics');
    const expected = Array.from((body as string).matchAll(/^# TYPE (rhythm_vec_\w+)/gm), ([, name]) => name);
    expect(cellsOf('metric').sort()).toEqual(expected.sort());
  });

  it('fields of requests, and names of scores and arrays', async () => {
    const { body } = await sendRequest(await startServer(), 'GET', '/openapi.json');
    const propertiesOf = (path: string) =>
      body.paths[path].post.requestBody.content['application/json'].schema.properties;
    const score = propertiesOf('/v1/score');
    expect(Object.keys(score)).toEqual(expect.arrayContaining(cellsOf('column')));
    for (const path of ['/v1/score', '/v1/rollout', '/v1/prompts', '/v1/parse']) {
      for (const name of Object.keys(propertiesOf(path))) expect(page).toContain(`\`${name}\``);
    }
    for (const { anyOf } of [score.scores, propertiesOf('/v1/rollout').arrays]) {
      for (const name of anyOf[0].items.enum) expect(page).toContain(`\`${name}\``);
    }
  });
});

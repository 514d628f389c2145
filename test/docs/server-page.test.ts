/** Compares the routes and arrays in docs/server.md with the server. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sendRequest, startServer } from '../support/server.js';

const page = readFileSync(new URL('../../docs/server.md', import.meta.url), 'utf8');

it('docs/server.md has the routes of openapi.json and the WebSockets', async () => {
  const { body } = await sendRequest(await startServer(), 'GET', '/openapi.json');
  const expected = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const [, table] = page.split('\n| route | what it does |\n');
  const cells = table
    .split('\n\n')[0]
    .split('\n')
    .map((line) => line.split(' | ')[0]);
  const listed = cells.flatMap((cell) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, route]) => route));
  expect(listed.sort()).toEqual([...expected, 'GET /ws', 'GET /mcp', 'GET /v1/vec'].sort());
});

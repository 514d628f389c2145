/** boundedFetch returns a response within the limits unchanged, however it is split. Reading a response beyond them fails. */
import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BoundsError, boundedFetch, MAX_DEPTH } from '../../../src/shared/http/bounded-fetch.js';
import { LocalServer } from '../../fakes/local-server.js';
import { DRAWS, drawsOf } from '../../support/random.js';

const MAX_BYTES = 2000;

let answer: (response: ServerResponse) => void;
const server = new LocalServer((_, response) => answer(response));
beforeAll(() => server.listen());
afterAll(() => server.close());

/** Reads a response that arrives in these pieces. */
async function read(...pieces: readonly (string | Uint8Array)[]): Promise<string> {
  answer = (response) => {
    for (const piece of pieces) response.write(piece);
    response.end();
  };
  return (await boundedFetch(MAX_BYTES)(server.url)).text();
}

const nested = (depth: number, inside = ''): string => '['.repeat(depth) + inside + ']'.repeat(depth);

it('boundedFetch accepts a response of maxBytes bytes and MAX_DEPTH levels, and fails beyond', async () => {
  const longest = 'x'.repeat(MAX_BYTES);
  expect(await read(longest)).toBe(longest);
  await expect(read(longest, 'x')).rejects.toThrow(new BoundsError('more than 2000 bytes of a response'));
  for (const text of [nested(MAX_DEPTH), '{"a":'.repeat(MAX_DEPTH), nested(MAX_DEPTH).repeat(9)])
    expect(await read(text)).toBe(text);
  const error = new BoundsError(`more than ${MAX_DEPTH} levels of nesting in a response`);
  for (const text of [
    nested(MAX_DEPTH + 1),
    '{"a":'.repeat(MAX_DEPTH + 1),
    '[{"a":'.repeat(MAX_DEPTH / 2 + 1),
  ])
    await expect(read(text)).rejects.toThrow(error);
});

it.each([
  ['in a string', `"${'['.repeat(99)}"`],
  ['after an escaped quote', `"\\"${'{'.repeat(99)}"`],
  ['after escaped backslashes', `["\\\\\\"${'['.repeat(99)}"]`],
])('boundedFetch does not count brackets %s', async (_, text) => {
  expect(await read(text)).toBe(text);
  await expect(read(text, nested(MAX_DEPTH + 1))).rejects.toThrow('levels of nesting');
});

it('boundedFetch keeps the status and headers of a response, and a response without a body', async () => {
  answer = (response) => void response.writeHead(418, 'tea', { 'x-tea': 'green' }).end('[]');
  const { status, statusText, headers } = await boundedFetch(MAX_BYTES)(server.url);
  expect([status, statusText, headers.get('x-tea')]).toEqual([418, 'tea', 'green']);
  answer = (response) => void response.writeHead(204).end();
  expect((await boundedFetch(MAX_BYTES)(server.url)).body).toBeNull();
});

it('boundedFetch gives the same result however a response is split', async () => {
  const text = nested(MAX_DEPTH - 2, '{"a \\"[[[ \\\\":["\u00e9\u6f22\\u005b"]}');
  const tooDeep = nested(MAX_DEPTH - 1, '{"a \\"[[[ \\\\":["\u00e9\u6f22\\u005b"]}');
  const cuts = fc.uniqueArray(fc.nat(Buffer.byteLength(text)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(cuts, async (offsets) => {
      const pieces = (whole: string) => {
        const [bytes, sorted] = [Buffer.from(whole), [...offsets].sort((a, b) => a - b)];
        return [0, ...sorted]
          .map((from, k) => bytes.subarray(from, sorted[k]))
          .filter(({ length }) => length > 0);
      };
      expect(await read(...pieces(text))).toBe(text);
      await expect(read(...pieces(tooDeep))).rejects.toThrow('levels of nesting');
    }),
    { ...DRAWS, numRuns: drawsOf(60) },
  );
});

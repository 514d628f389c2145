/** Tests the planner's stored episodes, from which the students of the page learn: their digests, and the planner's own actions. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { labelEpisodes } from '../../src/training/student/episodes.js';
import { toTrainRequest } from '../../src/training/student/train-options.js';
import { MEASURED, SCHEDULES } from '../../web/src/sizes.js';
import { EPISODES, pack, unpack } from '../../web/src/training/episodes.js';

/** The first 16 digits of the SHA-256 of each file. `npm run planner-episodes` writes the files. */
const DIGESTS = { v1: '12548ec24289206e', v2: '0208c1238f46e43d', v3: 'cc587a6e5d287dd2' };

const read = (name: string): Buffer =>
  readFileSync(new URL(`../../web/src/training/generated/planner-${name}`, import.meta.url));

describe.each(Object.entries(DIGESTS))('under %s', (name, digest) => {
  const file = read(`${name}.bin`);

  it('the file is small, has its digest, and holds the episodes of a training', () => {
    expect(createHash('sha256').update(file).digest('hex').slice(0, 16)).toBe(digest);
    const { seeds, actions } = unpack(file, EPISODES.count);
    expect(Buffer.from(pack(actions))).toEqual(file);
    expect(seeds.at(-1)).toBe(EPISODES.first + EPISODES.count - 1);
    expect(SCHEDULES.stored.episodes).toBeLessThanOrEqual(EPISODES.count);
  });

  it('the planner still plays these episodes, and its first measured one', async () => {
    const { teacher, grader } = toTrainRequest({ teacher: 'planner', grader: name });
    const { signal } = new AbortController();
    const seeds = Uint32Array.of(EPISODES.first, EPISODES.first + 1, MEASURED.first);
    const { actions } = await labelEpisodes(seeds, { teacher, grader, signal, student: null, engine: {} });
    const { week } = JSON.parse(read(`${name}.json`).toString()) as { week: number[] };
    expect(Array.from(actions)).toEqual([...unpack(file, 2).actions, ...week]);
  });
});

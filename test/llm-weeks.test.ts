/** Weeks that a language model plays: many at once, each at its own pace, and as recorded. */
import { afterEach, describe, expect, it } from 'vitest';
import { toGrader } from '../src/graders/grader.js';
import { type AskOptions, askWeeks } from '../src/llm/weeks.js';
import type { TrajectoryEpisode } from '../src/trajectory/episode.js';
import { episodeLine } from '../src/trajectory/line.js';
import { parseEpisode } from '../src/trajectory/read.js';
import { type Exchange, FakeOpenAi, type FakeOptions } from './fakes/openai.js';
import { type ModelOptions, modelOf, PLAYER, weeksFrom } from './support/llm.js';

const open: FakeOpenAi[] = [];
afterEach(async () => {
  for (const fake of open.splice(0)) await fake.close();
});

/** Answers are held back until so many have been asked for. */
function together(count: number): FakeOptions {
  let release = () => {};
  const all = new Promise<void>((resolve) => {
    release = resolve;
  });
  const hold = async ({ response, good }: Exchange) => {
    await all;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(good));
  };
  return {
    misbehave: ({ index }) => {
      if (index === count - 1) release();
      return index < count ? hold : null;
    },
  };
}

async function fakeOf(options: FakeOptions = {}): Promise<FakeOpenAi> {
  const fake = await FakeOpenAi.open(options);
  open.push(fake);
  return fake;
}

async function ask(
  fake: FakeOpenAi,
  count: number,
  options: Partial<AskOptions> = {},
  of: ModelOptions = {},
) {
  const asked = await modelOf(fake, of);
  const episodes: TrajectoryEpisode[] = [];
  const all = { model: asked.model, grader: toGrader('v2'), concurrency: 3, player: PLAYER, ...options };
  let error: unknown = null;
  try {
    for await (const episode of askWeeks(weeksFrom(100, count), all)) episodes.push(episode);
  } catch (thrown) {
    error = thrown;
  }
  return { ...asked, episodes, error };
}

describe('weeks', () => {
  it('are all played, at most so many at once, one request under way for each', async () => {
    const fake = await fakeOf(together(3));
    let steps = 0;
    const { episodes, error } = await ask(fake, 7, { onStep: () => steps++ });
    expect(error).toBeNull();
    expect(episodes.map(({ seed }) => seed).sort()).toEqual([100, 101, 102, 103, 104, 105, 106]);
    expect([fake.requests.length, fake.most, steps]).toEqual([196, 3, 196]);
    for (const episode of episodes) {
      expect(parseEpisode(episodeLine(episode).trimEnd())).toEqual(episode);
      expect(episode.steps.every(({ parsed, reasoning }) => parsed && reasoning !== null)).toBe(true);
      expect([episode.usage!.requests, episode.sampling]).toEqual([28, { max_tokens: 64 }]);
    }
  });
});

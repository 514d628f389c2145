/** Episodes played by a language model: concurrency, recording, failures and budgets. */
import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PlayOptions, playEpisodes } from '../../../src/agents/llm/play-episodes.js';
import { yieldTurn } from '../../../src/engine/engine-calls.js';
import { toGrader } from '../../../src/engine/graders/grader.js';
import { TrajectoryReplayer } from '../../../src/evaluation/reevaluation/trajectory-replayer.js';
import { createTextEnv } from '../../../src/index.js';
import { ACT_TOOL, type ChatTurn } from '../../../src/rollouts/text/chat.js';
import { systemText } from '../../../src/rollouts/text/prompt-text.js';
import type { TrajectoryEpisode } from '../../../src/rollouts/trajectories/trajectory-episode.js';
import { episodeLine, parseEpisode } from '../../../src/rollouts/trajectories/trajectory-lines.js';
import type { FakeOpenAi, FakeOptions } from '../../fakes/openai.js';
import { type Exchange, FAULTS } from '../../fakes/openai-faults.js';
import {
  askOnce,
  billedFor,
  firstPrompt,
  type ModelOptions,
  modelOf,
  type OpenModel,
  PLAYER,
  PRICES,
  requestsFrom,
  startModel,
} from '../../support/llm.js';
import { DRAWS, drawsOf } from '../../support/random.js';

/** Delays the first `count` answers until `count` requests have arrived. */
function answerTogether(count: number): FakeOptions {
  let release = () => {};
  const all = new Promise<void>((resolve) => {
    release = resolve;
  });
  const answerWhenReleased = async ({ response, correctReply }: Exchange) => {
    await all;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(correctReply));
  };
  return {
    faultOf: ({ index }) => {
      if (index === count - 1) release();
      return index < count ? answerWhenReleased : null;
    },
  };
}

/** Plays `count` episodes with a model. */
const play = ({ model }: OpenModel, count: number, options: Partial<PlayOptions> = {}) =>
  playEpisodes(requestsFrom(100, count), {
    ...{ model, grader: toGrader('v2'), concurrency: 3, player: PLAYER },
    ...options,
  });

/** Plays `count` episodes at a fake endpoint. @returns the played episodes, the error if one was thrown, and the model. */
async function playWith(
  fake: FakeOpenAi,
  count: number,
  options: Partial<PlayOptions> = {},
  modelOptions: ModelOptions = {},
) {
  const setup = await modelOf(fake, modelOptions);
  const episodes: TrajectoryEpisode[] = [];
  let error: unknown = null;
  try {
    for await (const episode of play(setup, count, options)) episodes.push(episode);
  } catch (thrown) {
    error = thrown;
  }
  return { ...setup, episodes, error };
}

/** Returns the number of steps left that each request states, in order. */
const stepsLeft = ({ requests }: FakeOpenAi): number[] =>
  requests.map(({ user }) => Number(/(\d+) of 28 \w+ left/.exec(user)![1]));
const ONE_EPISODE = Array.from({ length: 28 }, (_, step) => 28 - step);

/** Faults that do not end a run, and correct answers (null). */
const HARMLESS = [
  null,
  '429',
  'cut-off',
  null,
  '500',
  'refusal',
  'malformed',
  'content-filter',
  null,
  'null-content',
];
/** Failures that end a run at once. */
const LASTING = ['400', '401', '403', '404', '429-no-money', 'redirect'];

/** Returns the mismatches between the episodes' lines and their replay. */
async function mismatchesIn(episodes: readonly TrajectoryEpisode[]): Promise<unknown[]> {
  if (episodes.length === 0) return [];
  await using replayer = await TrajectoryReplayer.open({});
  const { mismatches } = await replayer.replay(episodes.map((each) => parseEpisode(episodeLine(each))));
  return mismatches.flat();
}

describe('episodes', () => {
  it('are all played, with limited concurrency and one pending request each, whatever the order in which they end', async () => {
    const fake = await startModel(answerTogether(2));
    let steps = 0;
    const { episodes, error } = await playWith(fake, 3, { concurrency: 2, onStep: () => steps++ });
    expect(error).toBeNull();
    episodes.sort((a, b) => a.seed - b.seed);
    expect([fake.requests.length, fake.maxConcurrent, steps]).toEqual([84, 2, 84]);
    const alone = await playWith(await startModel(), 3, { concurrency: 1 });
    expect(alone.episodes.map(({ seed }) => seed)).toEqual([100, 101, 102]);
    expect(episodes.map(episodeLine)).toEqual(alone.episodes.map(episodeLine));
    for (const episode of episodes) {
      expect(parseEpisode(episodeLine(episode).trimEnd())).toEqual(episode);
      expect(episode.steps.every(({ parsed, reasoning }) => parsed && reasoning !== null)).toBe(true);
      expect([episode.usage!.requests, episode.sampling]).toEqual([28, { max_tokens: 64 }]);
    }
  });

  it('replay as recorded, despite temporary failures', async () => {
    const fake = await startModel({ faultOf: ({ index }) => HARMLESS[index % HARMLESS.length] });
    const { episodes, error } = await playWith(fake, 2, {}, { retries: 3 });
    expect(error).toBeNull();
    expect(episodes.length).toBe(2);
    expect(await mismatchesIn(episodes)).toEqual([]);
    const steps = episodes.flatMap((episode) => episode.steps);
    expect(steps.some(({ parsed, action }) => !parsed && action === 'sleep')).toBe(true);
    const counts = episodes.map(({ usage }) => [
      usage!.cut_off! > 0,
      usage!.refused! > 0,
      usage!.requests! > 28,
    ]);
    expect(counts.flat()).not.toContain(false);
  });

  it('begin as soon as another episode ends', async () => {
    // The first episode never gets an answer. The other three play one after another.
    const fake = await startModel({ faultOf: ({ index }) => (index === 0 ? 'silence' : null) });
    const stop = new AbortController();
    const endedSeeds: number[] = [];
    const setup = await modelOf(fake, { timeoutMs: 290_000 });
    const playing = async () => {
      for await (const { seed } of play(setup, 4, { concurrency: 2, signal: stop.signal })) {
        if (endedSeeds.push(seed) === 3) stop.abort(new Error('enough'));
      }
    };
    await expect(playing()).rejects.toThrow('enough');
    // One request of the first episode, and 28 of each other episode.
    expect([endedSeeds.length, fake.requests.length]).toEqual([3, 85]);
  });
});

describe('at the end of a run', () => {
  it('no request follows a lasting failure of the endpoint', async () => {
    const fake = await startModel({ faultOf: ({ index }) => (index >= 10 ? '401' : null) });
    const { episodes, error } = await playWith(fake, 9);
    expect(error).toMatchObject({ code: 'endpoint_failed', lasting: true });
    expect(episodes.length).toBe(0);
    // Ten requests were answered, and at most three were in progress.
    expect(fake.requests.length).toBeLessThan(10 + 4);
  });

  it('unfinished episodes do not go on after a lasting failure of another episode', async () => {
    const fake = await startModel({ faultOf: ({ index }) => (index === 10 ? '401' : null) });
    const { episodes, error } = await playWith(fake, 3);
    expect(error).toMatchObject({ code: 'endpoint_failed', lasting: true });
    expect(episodes).toEqual([]);
  });

  it('unfinished episodes go on after another episode fails, and no new episode begins', async () => {
    const fake = await startModel({ faultOf: ({ index }) => (index === 50 ? '500' : null) });
    const { episodes, error } = await playWith(fake, 9);
    expect(error).toMatchObject({ code: 'endpoint_failed', lasting: false });
    expect(episodes.length).toBe(2);
    expect(fake.requests.length).toBeLessThan(3 * 28);
  });

  it('no listener stays on the signal, and no request is sent with an aborted signal', async () => {
    const { signal } = new AbortController();
    const fake = await startModel();
    const setup = await modelOf(fake);
    for await (const _ of play(setup, 2, { concurrency: 2, signal })) {
      expect(getEventListeners(signal, 'abort').length).toBe(1);
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    const aborted = play(setup, 2, { signal: AbortSignal.abort(new Error('enough')) });
    await expect(aborted.next()).rejects.toThrow('enough');
    expect(fake.requests.length).toBe(56);
  });

  it('no request follows after the caller leaves the loop', async () => {
    const fake = await startModel();
    for await (const _ of play(await modelOf(fake), 9)) break;
    const count = fake.requests.length;
    await yieldTurn();
    expect(fake.requests.length).toBe(count);
    // Four episodes have begun: three at first, and one when an episode ended.
    expect(count).toBeLessThanOrEqual(4 * 28);
  });
});

describe('a run with a budget', () => {
  it('plays one episode alone if two may exceed the budget and no cost is known', async () => {
    const fake = await startModel();
    // Only completions cost: 28 completions of at most 64 tokens an episode. The budget is enough for 1.5 episodes.
    const prices = { prompt: 0, completion: 10, cached: 0 };
    const budget = (1.5 * 28 * 64 * 10) / 1e6;
    const { episodes } = await playWith(fake, 2, {}, { ledger: { prices, budget } });
    expect(stepsLeft(fake).slice(0, 28)).toEqual(ONE_EPISODE);
    expect(episodes.length).toBe(2);
  });

  it('assumes the longest prompts before the first request', async () => {
    const fake = await startModel();
    const prices = { prompt: 10, completion: 0, cached: 0 };
    // Enough for two episodes with user messages of 1,024 bytes. A run assumes messages of 2,048 bytes.
    const budget = (2 * 28 * (Buffer.byteLength(systemText('v2')) + 1024) * 10) / 1e6;
    const { episodes } = await playWith(fake, 2, {}, { ledger: { prices, budget } });
    expect(stepsLeft(fake).slice(0, 28)).toEqual(ONE_EPISODE);
    expect(episodes.length).toBe(2);
  });

  it('ends with whole episodes before the budget is exceeded, and counts the cost of earlier runs', async () => {
    const fake = await startModel();
    const first = await playWith(fake, 9, {}, { ledger: { prices: PRICES, budget: 0.15 } });
    expect(first.error).toMatchObject({ code: 'over_budget' });
    const costs = first.episodes.map(({ usage }) => usage!.cost_usd!);
    const cost = costs.reduce((sum, each) => sum + each, 0);
    // Nothing was spent on unfinished episodes.
    expect(first.ledger.spent).toBeCloseTo(cost, 12);
    expect(first.episodes.length).toBe(Math.floor(0.15 / (cost / costs.length)));
    const finished = { episodes: costs.length, cost };
    const second = await playWith(
      fake,
      9,
      {},
      { ledger: { prices: PRICES, budget: 0.15, spent: cost, finished } },
    );
    expect([second.episodes.length, second.ledger.spent]).toEqual([0, cost]);
  });

  it('never exceeds the budget, with random faults', async () => {
    const names = Object.keys(FAULTS).filter((name) => !LASTING.includes(name));
    const fault = fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, fc.constantFrom(...names));
    const runs = fc.record({
      faults: fc.array(fault, { minLength: 1, maxLength: 40 }),
      budget: fc.double({ min: 0.005, max: 0.12, noNaN: true }),
      concurrency: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(runs, async ({ faults, budget, concurrency }) => {
        const fake = await startModel({ faultOf: ({ index }) => faults[index % faults.length] });
        const settings = { retries: 1, timeoutMs: 40, ledger: { prices: PRICES, budget } };
        const { ledger, episodes } = await playWith(fake, 4, { concurrency }, settings);
        await fake.close();
        expect(billedFor(fake)).toBeLessThanOrEqual(budget + 1e-9);
        expect(ledger.spent).toBeLessThanOrEqual(budget + 1e-9);
        expect(billedFor(fake)).toBeLessThanOrEqual(ledger.spent + 1e-9);
        expect(await mismatchesIn(episodes)).toEqual([]);
      }),
      { ...DRAWS, numRuns: drawsOf(25) },
    );
  });
});

describe('an episode in another form', () => {
  it.each([undefined, 'conversation', 'tools'] as const)(
    '%s has the same texts in files, and asks in its own',
    async (form) => {
      const fake = await startModel();
      const { episodes, error } = await playWith(
        fake,
        1,
        {},
        { sampling: { max_tokens: 64, ...(form && { form }) } },
      );
      expect(error).toBeNull();
      expect(await mismatchesIn(episodes)).toEqual([]);
      const [{ steps, system, sampling }] = episodes;
      expect([system, sampling?.form]).toEqual([systemText('v2'), form]);
      expect(
        steps.every(({ parsed, belief, reasoning }) => parsed && belief !== null && reasoning !== null),
      ).toBe(true);
      const bodies = fake.requests.map(({ body }) => body as { messages: ChatTurn[]; tools?: unknown });
      const roles = bodies.map(({ messages }) => messages.map(({ role }) => role).join(' '));
      const turns = { conversation: ' assistant user', tools: ' assistant tool' };
      expect(roles[27]).toBe(`system user${form === undefined ? '' : turns[form].repeat(27)}`);
      expect(bodies[0].tools).toEqual(form === 'tools' ? [ACT_TOOL] : undefined);
      const text = createTextEnv({ history: form === undefined ? 'whole' : 'new' });
      const [, first] = text.reset(100);
      const contents = steps.slice(0, 27).map(({ completion }) => text.step(completion!).message.content);
      text.close();
      // A tool returns no request for a line.
      const expected = [first.content, ...contents].map((content) =>
        form === 'tools' ? content.split('\n\n')[0] : content,
      );
      expect(bodies.map(({ messages }) => messages.at(-1)!.content)).toEqual(expected);
    },
  );

  it('answers with JSON in place of a call, or with a line, count too', async () => {
    const answers = [
      '<tool_call>{"name": "act", "arguments": {"action": "LEARN", "social": 1, "morning": "2", "work": 3}}</tool_call>',
      'Rest first. {"action": "sleep"}',
      '4 5 6 EXERCISE now',
      '7 8 9 MEDITATE',
      '{"action": 3}',
    ];
    const fake = await startModel({ answer: ({ index }) => answers[index % answers.length] });
    const { episodes } = await playWith(fake, 1, {}, { sampling: { max_tokens: 64, form: 'tools' } });
    const played = episodes[0].steps.slice(0, 5).map(({ completion, parsed }) => [completion, parsed]);
    expect(played).toEqual([
      ['1 2 3 LEARN', true],
      ['sleep', true],
      ['4 5 6 EXERCISE now', false],
      ['7 8 9 MEDITATE', true],
      ['{"action": 3}', false],
    ]);
    expect(episodes[0].steps[1].reasoning).toBe('Rest first.');
  });
});

it.each([undefined, 'tools'] as const)(
  'answers in the form %s are streamed with a long time limit',
  async (form) => {
    const sampling = { max_tokens: 64, ...(form && { form }) };
    const atOnce = await playWith(await startModel(), 1, {}, { sampling });
    const fake = await startModel();
    const streamed = await playWith(fake, 1, {}, { sampling, timeoutMs: 3_600_000 });
    expect(fake.requests[0].body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(streamed.episodes.map(episodeLine)).toEqual(atOnce.episodes.map(episodeLine));
  },
);

describe('with a long time limit', () => {
  const LONG = { timeoutMs: 3_600_000 };
  const PART = `data: ${JSON.stringify({ choices: [{ delta: { content: '3 6 5 SL' } }] })}\n\n`;
  const head = { 'content-type': 'text/event-stream' };

  it('an answer that comes at once is read like a stream', async () => {
    const atOnce = async ({ response, correctReply }: Exchange) => {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      response.end(JSON.stringify(correctReply, null, 2));
    };
    const { answer } = await askOnce({ faultOf: () => atOnce }, LONG);
    expect(answer).toEqual((await askOnce({})).answer);
  });

  it('part of an answer is none: of a stream that was cut off, or that the caller aborted', async () => {
    const cutOff = async ({ response }: Exchange) => void response.writeHead(200, head).end(PART);
    const { error } = await askOnce({ faultOf: () => cutOff }, LONG);
    expect(error?.message).toContain('not a chat completion');

    const abort = new AbortController();
    const stalled = async ({ response }: Exchange) => {
      response.writeHead(200, head).write(PART);
      setTimeout(() => abort.abort(new Error('stopped')), 50);
    };
    const { model } = await modelOf(await startModel({ faultOf: () => stalled }), LONG);
    await expect(model.complete(firstPrompt(), abort.signal)).rejects.toThrow('stopped');
  });
});

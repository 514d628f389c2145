/** `evaluate` with language models: each episode is played once, and the rows have the form of other policies' rows. */
import { describe, expect, it } from 'vitest';
import type { LanguageModel } from '../../src/agents/llm/language-model.js';
import { openLoopActions } from '../../src/agents/policies/open-loop.js';
import { toGrader } from '../../src/engine/graders/grader.js';
import type { EvaluateOptions } from '../../src/evaluation/evaluate-options.js';
import { evaluate } from '../../src/evaluation/on-first-use.js';
import { Reevaluation } from '../../src/evaluation/reevaluation/reevaluation.js';
import { InputError, PROFILE_NAMES } from '../../src/index.js';
import type { TrajectoryEpisode } from '../../src/rollouts/trajectories/trajectory-episode.js';
import { episodeKey, episodeLine, parseEpisode } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { modelOf, PRICES, startModel } from '../support/llm.js';

/** Evaluates a model, by default one in this process. Returns the rows, the trajectories and the prompts. */
async function evaluateModel(options: EvaluateOptions, played?: LanguageModel) {
  const prompts: string[] = [];
  const answer = (prompt: string): string => {
    prompts.push(prompt);
    return `5 5 5 ${prompt.includes('night') ? 'SLEEP' : 'LEARN'}`;
  };
  const model = played ?? localModel('fake', answer);
  const episodes: TrajectoryEpisode[] = [];
  const { rows } = await evaluate({
    policies: [`llm:${model.name}`],
    onTrajectories: (batch) => void episodes.push(...batch),
    ...options,
    llm: { ...options.llm, models: [model] },
  });
  return { rows, episodes, prompts };
}

/** A model in this process. @param answer returns the completion of a prompt. */
const localModel = (name: string, answer: (prompt: string) => string): LanguageModel => ({
  name,
  complete: async ([, user]) => ({
    completion: answer(user.content),
    finish: 'stop',
    refused: false,
    usage: { requests: 1 },
  }),
});

/** Answers with the open-loop sequence. It reads the step from the prompt. */
function openLoopAnswer(prompt: string): string {
  const step = 28 - Number(/(\d+) of 28 slots left/.exec(prompt)![1]);
  return ACTION_NAMES[openLoopActions('v2')[step]].toUpperCase();
}

describe('a model', () => {
  it('plays each episode of all conditions once, and its recorded episodes replay without mismatches', async () => {
    const { rows, episodes, prompts } = await evaluateModel({ episodes: 1 });
    // One episode of each of two conditions and three profiles; `discrete` pools the episodes of these profiles.
    expect(prompts).toHaveLength((1 + 1 + PROFILE_NAMES.length) * 28);
    const conditions = ['in-distribution', 'ood', ...PROFILE_NAMES.map((name) => `discrete:${name}`)];
    const expected = { policy: 'llm:fake', belief: 'own', unparsed: 0 };
    expect(rows).toMatchObject([
      ...conditions.map((condition) => ({ ...expected, condition, episodes: 1 })),
      { ...expected, condition: 'discrete', episodes: 3 },
    ]);
    // Each pooled episode is recorded under the condition of its profile and under `discrete`.
    expect(new Set(episodes.map(episodeKey)).size).toBe(8);
    await using reevaluation = await Reevaluation.open({}, [toGrader('v2')]);
    const read = episodes.map((episode) => parseEpisode(episodeLine(episode).trimEnd()));
    expect((await reevaluation.add(read)).flat()).toEqual([]);
    for (const { condition, graders } of reevaluation.sections()) {
      const own = graders[0].rows.find(({ player }) => player?.teacher === 'llm' && player.model === 'fake');
      const row = rows.find((candidate) => candidate.condition === condition)!;
      expect(own!.finalScore.mean).toBeCloseTo(row.finalScore.mean, 12);
    }
  });

  it('has the scores, and the wins over the heuristic, of a policy that plays the same actions', async () => {
    const same = {
      seeds: { first: 100, last: 104 },
      llm: { models: [localModel('open-loop', openLoopAnswer)] },
    };
    const { rows } = await evaluate({ ...same, policies: ['heuristic', 'llm:open-loop', 'open-loop'] });
    const [heuristic, model, sequence] = rows;
    expect(heuristic.wins.tied).toBe(5);
    const { finalScore, wins, digest, components } = sequence;
    expect(model).toMatchObject({ finalScore, wins, digest, components, unparsed: 0 });
    expect(wins.won).toBeGreaterThan(0);
    const alone = await evaluate({ ...same, policies: ['llm:open-loop'] });
    expect(alone.rows).toEqual([model]);
    expect([heuristic.unparsed, heuristic.usage, sequence.unparsed]).toEqual([null, null, null]);
  });
});

it('usage is counted once, in the row of the first condition of an episode', async () => {
  const options = { conditions: ['discrete'], episodes: 1 };
  const { model } = await modelOf(await startModel(), { ledger: { prices: PRICES } });
  const { rows, episodes } = await evaluateModel(options, model);
  const tokens = ['promptTokens', 'cachedTokens', 'completionTokens'];
  expect(Object.keys(rows[0].usage!).sort()).toEqual(
    ['requests', ...tokens, 'costUsd', 'cutOff', 'refused'].sort(),
  );
  expect([rows[0].usage!.requests, rows[3].usage]).toEqual([28, null]);
  expect(rows[0].usage!.costUsd).toBeGreaterThan(0);
  expect(episodes.flatMap(({ usage }) => usage?.requests ?? [])).toEqual([28, 28, 28]);
});

describe('earlier episodes', () => {
  const options: EvaluateOptions = { conditions: ['ood', 'discrete'], episodes: 2 };
  let shared: Awaited<ReturnType<typeof evaluateModel>> | undefined;
  const wholeRun = async () => {
    shared ??= await evaluateModel(options);
    return shared;
  };

  it('are not played again, and the rows equal those of a whole run', async () => {
    const whole = await wholeRun();
    const played = whole.episodes.filter(({ seed }) => seed % 2 === 0);
    const rest = await evaluateModel({ ...options, llm: { models: [], played } });
    expect(rest.rows).toEqual(whole.rows);
    expect(rest.prompts).toHaveLength(4 * 28);
    const keys = [...played, ...rest.episodes].map(episodeKey).sort();
    expect(keys).toEqual(whole.episodes.map(episodeKey).sort());
    const all = await evaluateModel({ ...options, llm: { models: [], played: whole.episodes } });
    expect([all.rows, all.prompts, all.episodes]).toEqual([whole.rows, [], []]);
  });

  it('of named profiles are reused for `discrete`, without counting usage twice', async () => {
    const whole = await wholeRun();
    const played = whole.episodes.filter(({ condition }) => condition.startsWith('discrete:'));
    const rest = await evaluateModel({ ...options, llm: { models: [], played } });
    expect(rest.prompts).toHaveLength(2 * 28);
    expect(rest.rows).toEqual(whole.rows);
    const pool = rest.episodes.filter(({ condition }) => condition === 'discrete');
    expect(pool.map(({ usage }) => usage)).toEqual(Array(6).fill(undefined));
  });

  it('of another player, grader, seed or profile are ignored', async () => {
    const options = { conditions: ['ood'], episodes: 1 };
    const [episode] = (await evaluateModel(options)).episodes;
    const played = [
      ...[{ model: 'other' }, { teacher: 'planner' }, { oracle: true }, { objective: 'score' }],
      ...[{ grader: toGrader('v1') }, { seed: 10001 }, { profile_mode: 'discrete' }],
    ].map((changes) => ({ ...episode, ...changes }));
    const { prompts } = await evaluateModel({ ...options, llm: { models: [], played } });
    expect(prompts).toHaveLength(28);
  });
});

it('evaluate reports progress in episodes of all policies and conditions together', async () => {
  const calls: string[] = [];
  const onProgress = (done: number, total: number) => void calls.push(`${done}/${total}`);
  await evaluateModel({
    policies: ['random', 'llm:fake'],
    conditions: ['discrete'],
    episodes: 1,
    onProgress,
    llm: { models: [], concurrency: 1 },
  });
  // Each policy has three episodes of the named profiles, which `discrete` counts again.
  expect(calls).toEqual(['2/12', '4/12', '6/12', '7/12', '8/12', '9/12', '10/12', '11/12', '12/12']);
});

it('evaluate rejects with the reason of its signal, and with the error of a model', async () => {
  const controller = new AbortController();
  const stopping = localModel('stopping', () => {
    controller.abort(new Error('enough'));
    return 'SLEEP';
  });
  const failing = localModel('failing', () => {
    throw new Error('no such model');
  });
  const options = { seeds: { first: 0, last: 9 }, llm: { models: [stopping, failing] } };
  const stopped = evaluate({ ...options, policies: ['llm:stopping'], signal: controller.signal });
  await expect(stopped).rejects.toThrow('enough');
  await expect(evaluate({ ...options, policies: ['llm:failing'] })).rejects.toThrow('no such model');
});

describe('names and options of models:', () => {
  it.each(['Qwen/Qwen2.5-3B-Instruct', 'a, b', 'llm:llm:', '+constant', 'модель ü'])(
    'a model may be called %s',
    async (name) => {
      const models = [localModel('other', () => 'SLEEP'), localModel(name, () => 'LEARN')];
      const options = { policies: [`llm:${name}`], seeds: { first: 1, last: 1 }, llm: { models } };
      const episodes: TrajectoryEpisode[] = [];
      const { rows } = await evaluate({
        ...options,
        onTrajectories: (batch) => void episodes.push(...batch),
      });
      expect(rows[0].policy).toBe(`llm:${name}`);
      expect([episodes[0].teacher, episodes[0].model, episodes[0].steps[0].action]).toEqual([
        'llm',
        name,
        'learn',
      ]);
    },
  );

  const models = [localModel('Qwen', () => 'SLEEP')];
  const policies = ['llm:Qwen'];
  it.each<[string, object, RegExp]>([
    ['a policy without a model', { policies }, /llm\.models \(it is empty\) for the policy "llm:Qwen"/],
    ['a model of another name', { policies: ['llm:qwen'], llm: { models } }, /Did you mean "Qwen"\?/],
    ['an empty name', { policies: ['llm:'], llm: { models } }, /a model name of 1 to 200 printable/],
    [
      'a name with a line break',
      { policies: ['llm:a\nb'], llm: { models } },
      /printable characters after llm:/,
    ],
    [
      'too many episodes',
      { policies, llm: { models }, seeds: { first: 0, last: 1e6 } },
      /at most 100000 episodes/,
    ],
    ['models that are not a list', { llm: { models: models[0] } }, /llm\.models to be a list of models/],
    ['a model without a method complete', { llm: { models: [{ name: 'x' }] } }, /\{ name, complete \}/],
    ['an unknown option', { llm: { models, concurency: 3 } }, /concurrency/],
    ['a concurrency of 0', { policies, llm: { models, concurrency: 0 }, episodes: 1 }, /concurrency/],
    [
      'earlier episodes that are not iterable',
      { llm: { models, played: 3 } },
      /llm\.played to be an iterable/,
    ],
  ])('%s is refused', async (_, options, message) => {
    const refusal = evaluate(options);
    await expect(refusal).rejects.toThrow(message);
    await expect(refusal).rejects.toBeInstanceOf(InputError);
  });
});

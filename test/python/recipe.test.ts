/** python/recipe/train.py on small data: SFT and GRPO with TRL and a server, invalid settings, and a resumed run. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { createTextEnv, createVecEnv, type ParsedCompletion, parseCompletion } from '../../src/index.js';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { fromLines, temporaryDirectory } from '../support/cli.js';
import { askPython, askPythonAsync, TRL, whyAbsent } from '../support/python.js';
import { faultyServer, whyNoEngine } from '../support/python-client.js';
import { type Line, PARTS, runRecipe, runTwoRanks, startRecipe, waitForRecipe } from '../support/recipe.js';
import { startServer } from '../support/server.js';

const pathOf = temporaryDirectory();
const absent = whyAbsent('trl', '1.13 or later, and peft', PARTS, {});
if (absent !== null) test.skip(`the recipe with TRL: NOT RUN here: ${absent}`, () => {});
const noEngine = absent ?? whyNoEngine();
if (noEngine !== null) test.skip(`episodes by tool calls: NOT RUN here: ${noEngine}`, () => {});

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
using env = createVecEnv({ numEnvs: 1, backend: 'reference' });
const ORIGIN = { world_digest: env.spec.worldDigest, version };

const LIMIT_MS = 600_000;
const RANKS = 2;
const EPISODES = 2;
const EPOCHS = 8;
/** Rows per step and process. */
const SFT_BATCH = 4;
const SMALL = [
  ...['--episodes', `${EPISODES}`, '--rows', '40'],
  ...['--sft-epochs', `${EPOCHS}`, '--sft-learning-rate', '0.02', '--sft-batch', `${SFT_BATCH}`],
  // At the preset's temperature of 1, most completions would be answers only after many more steps of SFT.
  ...['--grpo-temperature', '0.3', '--grpo-batch', '16'],
];

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const valuesOf = (lines: readonly Line[], name: string): number[] => lines.map((line) => line[name]);

/** Expects that the engine replays episodes of grader v3 with the recorded results. @param episodes lines of episodes.jsonl. */
function expectReplays(episodes: ReturnType<typeof fromLines>): void {
  using played = createVecEnv({ numEnvs: 1, grader: 'v3', backend: 'reference' });
  for (const { seed, answers, actions, beliefs, parsed, ...episode } of episodes) {
    const read = answers.map((answer: string) => parseCompletion(answer));
    expect(read.map(({ action }: ParsedCompletion) => action !== null)).toEqual(parsed);
    played.reset({ seed, profiles: 'discrete' });
    for (const [t, name] of actions.entries()) {
      expect(name).toBe(ACTION_NAMES[read[t].action ?? ACTION_NAMES.indexOf('sleep')]);
      expect(beliefs[t]?.map(Math.fround) ?? null).toEqual(read[t].given ? Array.from(read[t].belief) : null);
      const belief = beliefs[t] ?? [Number.NaN, Number.NaN, Number.NaN];
      const { finalScores, episodeReturns } = played.step([ACTION_NAMES.indexOf(name)], { beliefs: belief });
      if (t < 27) continue;
      expect(Math.fround(episode.final_score)).toBe(finalScores[0]);
      expect(Math.fround(episode.episode_return)).toBe(episodeReturns[0]);
    }
  }
}

describe.runIf(absent === null)('the recipe with TRL', () => {
  it(
    'in two processes, SFT lowers the loss, and GRPO starts from its result',
    async () => {
      const output = pathOf('all');
      const { code, stderr, record, watched } = await runTwoRanks(
        output,
        ...['all', ...SMALL, '--grpo-steps', '3'],
      );
      expect(code, stderr).toBe(0);

      const sft = record('sft');
      const losses = valuesOf(sft.log, 'loss');
      expect(losses).toHaveLength(Math.ceil((EPISODES * 28) / (RANKS * SFT_BATCH)) * EPOCHS);
      // The loss of a uniform guess among the tiny model's 23 words is ln 23 = 3.14.
      // The bounds on means, here and below, are chosen by hand.
      expect(mean(losses.slice(0, 3))).toBeGreaterThan(2.5);
      expect(mean(losses.slice(-3))).toBeLessThan(1.7);
      expect(sft.rhythm_vec).toMatchObject(ORIGIN);

      const grpo = record('grpo');
      expect(grpo).toMatchObject({ stage: 'grpo', start: 'sft', base: 'tiny', stopped_on: [], rows: 40 });
      expect(grpo.rhythm_vec).toEqual({ ...ORIGIN, seeds: '100-9999' });
      expect(grpo.settings.grpo).toMatchObject({ steps: 3, generations: 8, beta: 0.04, temperature: 0.3 });
      expect(grpo.packages.trl).toMatch(/^1\./);
      expect(grpo.machine.cores).toBeGreaterThan(0);
      expect(grpo.machine.processes).toBe(RANKS);

      const lines = watched();
      expect(valuesOf(lines, 'step')).toEqual([1, 2, 3]);
      // Many completions are answers, unlike those of an untrained model.
      expect(mean(valuesOf(lines, 'format_valid'))).toBeGreaterThan(-1);
      expect(mean(valuesOf(lines, 'unparsed'))).toBeLessThan(0.6);
      // The KL is to the model at the start of the stage, so it begins at 0.
      expect(lines[0].kl).toBeCloseTo(0, 6);
      expect(lines[2].kl).toBeGreaterThan(0);
      for (const [k, line] of lines.entries()) {
        const parts = ['format_valid', 'action_legal', 'env_reward', 'belief_accuracy'].map(
          (name) => line[name],
        );
        expect(line.reward).toBeCloseTo(4 * mean(parts), 4);
        expect(grpo.log[k].reward).toBe(line.reward);
      }

      // Finished stages are skipped.
      const resumed = await runRecipe(output, 'all', ...SMALL, '--resume');
      expect(resumed.stderr).toContain('sft is finished');
      expect(resumed.stderr).toContain('grpo is finished');
      expect(resumed.code).toBe(0);
    },
    LIMIT_MS,
  );

  it(
    'in two processes, the model plays whole episodes, which the engine replays with the same results, and the watch ends the run',
    async () => {
      const output = pathOf('episodes');
      const { url } = await startServer();
      const rows = pathOf('episodes.jsonl');
      const seeds = [4242, 4243];
      const lines = seeds.map((seed) => `${JSON.stringify({ seed, profile_mode: 'discrete' })}\n`);
      writeFileSync(rows, lines.join(''));
      const args = ['--start-from', 'base', '--url', url, '--grpo-rows', rows, '--grpo-grader', 'v3'];
      const size = ['--grpo-rollout', 'episode', '--grpo-batch', '1', '--grpo-generations', '2'];
      const stop = ['--grpo-steps', '6', '--watch-window', '2', '--watch-stop-on', 'unparsed'];
      const { code, stderr, record, watched } = await runTwoRanks(output, 'grpo', ...args, ...size, ...stop);
      expect(code, stderr).toBe(0);
      expect(stderr).toMatch(/!! step 2: unparsed: \d+% of the answers have no action/);
      expect(stderr).toContain('!! stopped because of --watch-stop-on unparsed.');
      expect(record('grpo')).toMatchObject({ start: 'base', stopped_on: ['unparsed'] });
      expect(record('grpo').pitfalls.unparsed).toMatchObject({ first_step: 2, steps: 1 });

      expect(watched()).toHaveLength(2);
      const episodes = fromLines(readFileSync(join(output, 'grpo/episodes.jsonl'), 'utf8'));
      expect(episodes.map(({ seed }) => seed).sort()).toEqual([
        ...Array(RANKS).fill(4242),
        ...Array(RANKS).fill(4243),
      ]);
      expectReplays(episodes);
      for (const [k, line] of watched().entries()) {
        const played = episodes.slice(RANKS * k, RANKS * (k + 1));
        expect(line.final_score).toBeCloseTo(mean(played.map((episode) => episode.final_score)), 6);
        expect(line.unparsed).toBeCloseTo(1 - mean(played.flatMap(({ parsed }) => parsed.map(Number))), 6);
        expect(line.reward).toBeCloseTo(line.final_score + line.format_valid + line.action_legal, 4);
      }
    },
    LIMIT_MS,
  );

  it(
    'plays several episodes side by side, each with its own answers',
    async () => {
      const { url } = await startServer();
      const seeds = [4242, 4243, 4244];
      const answers = seeds.map((_, k) =>
        Array.from({ length: 28 }, (_, t) => {
          const action = ACTION_NAMES[(3 * k + t) % 10].toUpperCase();
          // Every fifth answer is no action, and has no end token.
          return (t + k) % 5 === 0 ? `${k} ${t % 10}` : `${k} ${t % 10} 5 ${action} <end>`;
        }),
      );
      const templates = ['', '<think>\n', '<think>\n\n</think>\n\n', '<Reasoning>'];
      const rules = ['Think inside <think> first. ', 'Close it with </think>. '];
      const question = { url, folder: pathOf('rollouts'), grader: 'v3', seeds, answers, templates, rules };
      const { lines, opened, rewards, generated, thoughts } = await askPythonAsync<{
        lines: ReturnType<typeof fromLines>;
        opened: ReturnType<typeof fromLines>;
        thoughts: string[];
        rewards: Record<string, number[]>;
        generated: string[];
      }>('recipe/rollouts.py', question, TRL);
      expect(lines.map(({ seed }) => seed)).toEqual(seeds);
      expect(lines.map((line) => line.answers)).toEqual(
        answers.map((texts) => texts.map((text) => text.replace(' <end>', ''))),
      );
      expect(generated).toEqual(answers.map((texts) => texts.join(' ')));
      expect(thoughts).toEqual(['closed', 'open', 'closed', 'open', 'closed', 'closed']);
      // No answer ends the thought that the template opened.
      expect(opened.flatMap(({ parsed }) => parsed)).toEqual(new Array(3 * 28).fill(false));
      expectReplays(lines);
      expect(new Set(opened.flatMap(({ actions }) => actions))).toEqual(new Set(['sleep']));
      expect(rewards.final_score).toEqual(lines.map((line) => line.final_score));
      for (const [k, { parsed }] of lines.entries()) {
        const legal = mean(parsed.map(Number));
        expect(legal).toBeCloseTo(mean(answers[k].map((text) => Number(text.includes('<end>')))), 12);
        expect(rewards.format_valid[k]).toBeCloseTo(legal - 2 * (1 - legal), 12);
        expect(rewards.action_legal[k]).toBeCloseTo(0.5 * legal - (1 - legal), 12);
      }
    },
    LIMIT_MS,
  );

  it.runIf(noEngine === null)(
    'plays episodes by tool calls in the trainer of TRL, which the environment of texts replays with the same results',
    async () => {
      const turn = (k: number) => `${k % 10} ${(3 * k) % 10} 5 ${ACTION_NAMES[k % 10].toUpperCase()}`;
      const turns = Array.from({ length: 30 }, (_, k) => turn(k));
      const whole = turns.slice(0, 28).map((answer) => `${answer} <end>`);
      // Answers with two calls each, the last of them after the end; an end without a call; calls that end early.
      const twice = Array.from({ length: 15 }, (_, k) => `${turn(2 * k)} ${turn(2 * k + 1)} <end>`);
      const answers = [
        [...whole, '5 <end>'],
        ['5 <end>'],
        [...twice, '<end>'],
        [...whole.slice(0, 3), 'LEARN <end>'],
      ];
      const calls = [28, 0, 30, 3].map((count) => turns.slice(0, count));
      const seeds = [4242, 7];
      const question = { folder: pathOf('tools'), grader: 'v3', seeds, answers };
      const { rewards, actions, results, completions, generated } = await askPythonAsync<{
        rewards: Record<string, number[]>;
        actions: string[][];
        results: Record<string, number>[];
        completions: { role: string; content: string }[][];
        generated: string[];
      }>('recipe/tools.py', question, TRL);
      // Only the model's own tokens are trained.
      expect(generated).toEqual(answers.map((texts) => texts.join(' ')));
      for (const [k, texts] of calls.entries()) {
        using text = createTextEnv({ grader: 'v3', history: 'new' });
        text.reset(seeds[k >> 1]);
        const steps = texts.slice(0, 28).map((answer) => text.step(answer));
        const { info } = text.finish();
        expect(actions[k]).toEqual(steps.map((step) => step.info.action));
        expect(rewards.slots_played[k]).toBeCloseTo(steps.length / 28, 6);
        expect(rewards.RhythmEnvironment[k]).toBe(info.end!.finalScore);
        expect(results[k].belief_mae).toBe(info.end!.beliefMae);
        const shown = completions[k].flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
        const expected = steps.map(({ message }) => message.content.replace(/\n\nAnswer with .*$/, ''));
        expect(shown.slice(0, 28)).toEqual(expected);
        expect(shown.slice(28)).toEqual(
          texts.slice(28).map(() => expect.stringMatching(/error.*The week is over: call act no more/)),
        );
      }
    },
    LIMIT_MS,
  );

  it.runIf(noEngine === null)(
    'trains on episodes by tool calls',
    async () => {
      const size = ['--grpo-batch', '4', '--grpo-generations', '2', '--grpo-steps', '2', '--rows', '8'];
      const args = ['--start-from', 'base', '--grpo-rollout', 'tools', '--grpo-grader', 'v3', ...size];
      const { code, stderr, record, watched } = await runRecipe(pathOf('by-tools'), 'grpo', ...args);
      expect(code, stderr).toBe(0);
      expect(record('grpo').settings.grpo.rollout).toBe('tools');
      expect(watched()).toHaveLength(2);
      for (const line of watched()) {
        expect(line.reward).toBeCloseTo(line.final_score + line.slots_played, 4);
        expect(line.unparsed).toBeCloseTo(1 - line.slots_played, 4);
      }
    },
    LIMIT_MS,
  );

  it(
    'a run that resumes after SIGKILL ends with the same adapter as an uninterrupted run, bit for bit',
    async () => {
      const whole = pathOf('whole');
      const server = await startServer();
      const sizes = ['--episodes', '1', '--rows', '8', '--grpo-batch', '8'];
      const options = ['--lora-rank', '4', '--save-steps', '2', '--grpo-steps', '4', ...sizes];
      const all = await runRecipe(whole, 'all', ...options, '--sft-epochs', '1', '--url', server.url);
      expect(all.code, all.stderr).toBe(0);

      // The same GRPO stage, killed when it requests the rewards of step 4, after saving step 2 and logging step 3.
      const killed = pathOf('killed');
      const rows = ['--grpo-rows', join(whole, 'grpo-rows/train.jsonl')];
      const args = [...options, '--sft-epochs', '1', '--start-from', join(whole, 'sft'), ...rows];
      let child: ReturnType<typeof startRecipe> | undefined;
      const kill = () => void child!.kill('SIGKILL');
      const proxy = await faultyServer(server, null, null, null, null, kill);
      child = startRecipe(killed, 'grpo', ...args, '--url', proxy.url);
      expect((await waitForRecipe(child, killed)).code).toBeNull();
      // The first request reads the server's world digest, the other four the rewards of steps 1 to 4.
      expect(proxy.requests()).toBe(5);

      const resumed = await runRecipe(killed, 'grpo', ...args, '--url', server.url, '--resume');
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(resumed.watched()).toEqual(all.watched());
      const adapter = (output: string) => readFileSync(join(output, 'grpo/adapter_model.safetensors'));
      expect(adapter(killed).equals(adapter(whole))).toBe(true);
      const sftAdapter = readFileSync(join(whole, 'sft/adapter_model.safetensors'));
      expect(adapter(whole).equals(sftAdapter)).toBe(false);
    },
    LIMIT_MS,
  );

  it('passes the published settings to TRL, and refuses invalid settings and rows', () => {
    const { nf4, configs, options, conversations, refused, refused_options } = askPython<
      Record<string, Record<string, unknown>>
    >(PARTS, { folder: pathOf('parts') }, TRL);
    expect(nf4).toMatchObject({ load_in_4bit: true, bnb_4bit_quant_type: 'nf4' });
    // The settings of RhythmEnv's published runs are written out here, not read from the presets `later` and `first`.
    expect(configs.later).toEqual({
      sft: { max_length: null, completion_only_loss: true },
      grpo: {
        generation_batch_size: 32,
        num_generations: 8,
        max_completion_length: 256,
        temperature: 1.5,
        beta: 0.04,
        learning_rate: 2e-4,
        max_steps: 500,
      },
      lora: { r: 8, lora_alpha: 32, lora_dropout: 0.05 },
    });
    expect(configs.first).toMatchObject({
      grpo: { generation_batch_size: 4, num_generations: 4, max_completion_length: 16, beta: 0.01 },
      lora: { r: 4 },
    });
    // The model's tokens have the mask 1. A missing end token is added, with the mask 0.
    expect(conversations).toEqual({
      text: ['0 0 1 2 5 5 5 SLEEP <end> 1 1 2 LEARN <end>', '0 0 1 2 5 5 <end> 1 1 2 7'],
      mask: [
        [1, 1, 1, 1, 1, 0, 0, 0, 1, 1],
        [1, 1, 0, 0, 0, 0, 1],
      ],
      logprobs_fit: [true, true],
      cut_off: [
        [false, false],
        [true, true],
      ],
      last_answers: ['LEARN', '7'],
      context: expect.stringContaining('Expected conversations of at most 12 tokens'),
      template: expect.stringContaining('Expected a chat template that ends answers'),
    });
    // The file has beta: 1e-3, which a later option changes.
    expect(options).toEqual({
      beta: 0.5,
      loss_type: 'dr_grpo',
      generation_kwargs: { top_k: 5 },
      vllm_mode: 'server',
      report_to: ['trackio'],
      max_completion_length: null,
      learning_rate: 1e-5,
      run_name: '7',
      temperature: 1,
    });
    expect(refused_options).toEqual({
      unknown: "Expected an option of TRL's GRPOConfig, got lerning_rate. Did you mean learning_rate?",
      no_idea: expect.stringMatching(/got wvvvq\. Its documentation lists all \d+\.$/),
      type: expect.stringContaining("Expected beta of TRL's GRPOConfig to be float, got 'small'."),
      decided: "Expected no option output_dir, got 'here'. Pass --output instead.",
      missing: expect.stringContaining('got none.yaml, which is not a file'),
      list: expect.stringContaining('to have options by name, got [1]'),
      yaml: expect.stringContaining('Expected YAML in beta=[, got an error'),
      trl: expect.stringContaining('num_generations'),
    });
    expect(refused).toEqual({
      nf4: expect.stringMatching(/^Expected a CUDA GPU.* for --quantize nf4.*--quantize none/),
      nf4_whole: expect.stringContaining('weights in 4 bits cannot be trained'),
      lengths: expect.stringContaining('got 1 of 2 rows longer than that, the longest with 8 tokens.'),
      long_enough: null,
      world: expect.stringContaining("of the server's world this, got rows of another"),
      line: expect.stringMatching(/^Expected a JSON object in .*train\.jsonl, line 3, got '\{"seed": '/),
      empty: expect.stringContaining('Expected rows in'),
      begun: expect.stringContaining('got one that was started'),
      resumed: null,
      other: expect.stringContaining('got others: grpo.beta: 0.04, now 0.01'),
      logged: null,
      other_loss: expect.stringContaining("got others: grpo.config.loss_type: None, now 'dr_grpo'"),
      start: expect.stringContaining('Run the stage sft first'),
    });
  });
});

/** Binary frames of /v1/score: answers equal scoreReplay and the JSON answers bit for bit, and invalid frames are refused. */
import { expect, it } from 'vitest';
import {
  ACTION_NAMES,
  createWorld,
  PROFILE_NAMES,
  parseCompletion,
  type ReplayColumns,
  type ReplayScores,
  scoreReplay,
} from '../../src/index.js';
import { NUM_STEPS } from '../../src/world/fields.js';
import { type FrameArrays, postFrame, scoreFrame } from '../support/frames.js';
import { sendRequest, startServer } from '../support/server.js';

/** Returns a pseudorandom integer in [0, n) for each k, by multiplicative hashing. */
const pseudorandom = (k: number, n: number): number => (Math.imul(k + 1, 0x9e3779b1) >>> 8) % n;
/** The number of rows: more than two slices of score-slices.ts. */
const ROWS = 4200;

/** Returns pseudorandom columns. Some rows have no action or no belief, and some steps of the histories have no belief. */
function columnsOf(rows: number): ReplayColumns & { stepIndices: Uint8Array } {
  const index = Array.from({ length: rows }, (_, i) => i);
  const beliefs = Float32Array.from({ length: rows * 3 }, (_, k) =>
    Math.floor(k / 3) % 5 === 0 ? Number.NaN : pseudorandom(k, 100) / 100,
  );
  return {
    seeds: Uint32Array.from(index, (i) => 0xffff_0000 + pseudorandom(i, 60_000)),
    stepIndices: Uint8Array.from(index, (i) => i % NUM_STEPS),
    histories: Uint8Array.from({ length: rows * NUM_STEPS }, (_, k) => pseudorandom(k, 10)),
    actions: Int8Array.from(index, (i) => (i % 7 === 0 ? -1 : i % 10)),
    beliefs,
    beliefHistories: Float32Array.from({ length: rows * NUM_STEPS * 3 }, (_, k) =>
      Math.floor(k / 3) % 3 === 0 ? Number.NaN : pseudorandom(k, 1000) / 1000,
    ),
  };
}

function framesOf({ seeds, stepIndices, histories, ...others }: ReplayColumns): FrameArrays {
  const n = seeds.length;
  const { actions, beliefs, beliefHistories } = others;
  return {
    seeds,
    step_indices: stepIndices,
    histories: [histories, [n, NUM_STEPS]] as const,
    actions,
    ...(beliefs && { beliefs: [beliefs, [n, 3]] as const }),
    ...(beliefHistories && { belief_histories: [beliefHistories, [n, NUM_STEPS, 3]] as const }),
  };
}

const scoresOf = ({ rewards, stepRewards, beliefMae, stateHashes }: ReplayScores) => ({
  format_valid: rewards.formatValid,
  action_legal: rewards.actionLegal,
  env_reward: rewards.envReward,
  belief_accuracy: rewards.beliefAccuracy,
  belief_skill: rewards.beliefSkill,
  total: rewards.total,
  step_reward: stepRewards,
  belief_mae: beliefMae,
  state_hash: stateHashes,
});

it.each([0, 1, 5, ROWS])('scores %i rows as scoreReplay does, bit for bit', async (rows) => {
  const columns = columnsOf(rows);
  const names = ['sampled', 'discrete', ...PROFILE_NAMES];
  const profiles = Uint8Array.from({ length: rows }, (_, i) => i % names.length);
  const { data, arrays, headers } = await postFrame(
    await startServer(),
    scoreFrame(
      { ...framesOf(columns), profiles },
      { grader: 'v3', weights: { env_reward: 2 }, shaping: { repetition: true }, profiles: names },
    ),
  );
  const scores = scoreReplay(
    { ...columns, profiles: Array.from(profiles, (code) => names[code]) },
    { grader: 'v3', weights: { envReward: 2 }, shaping: { repetition: true } },
  );
  expect(arrays).toEqual(scoresOf(scores));
  expect(data).toEqual({ rows, world_digest: createWorld().digest, faults: [], fault_count: 0 });
  expect(headers.get('content-type')).toBe('application/octet-stream');
  expect(Number(headers.get('content-length'))).toBeGreaterThan(0);
});

it.each(['closed', 'open'] as const)(
  'scores and parses completions as the JSON answer does, thought: %s',
  async (thought) => {
    const server = await startServer();
    const { seeds, stepIndices, histories } = columnsOf(ROWS);
    const texts = Array.from(seeds, (_, i) => {
      const answer = `${i % 10} ${(i + 3) % 10} ${(i + 7) % 10} ${ACTION_NAMES[i % 10].toUpperCase()}`;
      return ['<reasoning>größer</reasoning>\n', '', '<reasoning>cut off '][i % 3] + answer;
    });
    const bytes = texts.map((text) => Buffer.from(text));
    let end = 0;
    const ends = Uint32Array.from(bytes, ({ length }) => {
      end += length;
      return end;
    });
    const completions = new Uint8Array(Buffer.concat(bytes));
    const binary = await postFrame(
      server,
      scoreFrame(
        {
          seeds,
          step_indices: stepIndices,
          histories: [histories, [ROWS, NUM_STEPS]],
          completions,
          completion_ends: ends,
        },
        { profiles: 'discrete', parsed: true, thought },
      ),
    );
    const past = (i: number) => Array.from(histories.subarray(i * NUM_STEPS, i * NUM_STEPS + stepIndices[i]));
    const { body } = await sendRequest(server, 'POST', '/v1/score', {
      seeds: [...seeds],
      action_histories: texts.map((_, i) => past(i)),
      completions: texts,
      profile_modes: 'discrete',
      parsed: true,
      thought,
    });
    for (const [name, values] of Object.entries(body.scores as Record<string, (number | string | null)[]>)) {
      const expected =
        name === 'state_hash'
          ? BigUint64Array.from(values, (hash) => BigInt(`0x${hash}`))
          : Float32Array.from(values, (value) => (value ?? Number.NaN) as number);
      expect([name, binary.arrays[name]]).toEqual([name, expected]);
    }
    expect(Array.from(binary.arrays.actions)).toEqual(body.parsed.codes);
    const parsed = texts.map((text) => parseCompletion(text, { thought }));
    expect(binary.arrays.beliefs).toEqual(
      Float32Array.from(
        parsed.flatMap(({ given, belief }) => (given ? belief : [Number.NaN, Number.NaN, Number.NaN])),
      ),
    );
    expect(binary.data.world_digest).toBe(body.world_digest);
  },
);

it('names the invalid rows, and scores the other rows', async () => {
  const columns = columnsOf(ROWS);
  columns.stepIndices[3000] = NUM_STEPS;
  columns.histories[3001 * NUM_STEPS] = 77;
  columns.stepIndices[3001] = 3;
  columns.actions[3002] = 10;
  // A row of three NaN is no belief, but a row with one NaN is invalid.
  columns.beliefs![3 * 3003] = 0.5;
  columns.beliefs![3 * 3003 + 1] = Number.NaN;
  const server = await startServer();
  const { data, arrays } = await postFrame(server, scoreFrame(framesOf(columns)));
  const scores = scoreReplay(columns);
  expect(arrays).toEqual(scoresOf(scores));
  expect([data.fault_count, data.faults.map(({ index }: { index: number }) => index)]).toEqual([
    4,
    [3000, 3001, 3002, 3003],
  ]);
  // The library's messages have the names of its own arrays.
  const withFrameNames = (message: string) =>
    message.replaceAll('stepIndices', 'step_indices').replaceAll('beliefHistories', 'belief_histories');
  expect(data.faults.map(({ message }: { message: string }) => message)).toEqual(
    scores.faults.map(({ message }) => withFrameNames(message)),
  );
});

it('lists at most 1,000 invalid rows, and counts all', async () => {
  const columns = columnsOf(ROWS);
  columns.actions.fill(99);
  const { data } = await postFrame(await startServer(), scoreFrame(framesOf(columns)));
  expect([data.fault_count, data.faults.length]).toEqual([ROWS, 1000]);
});

it('returns each requested score once', async () => {
  const frame = scoreFrame(framesOf(columnsOf(3)), { scores: ['total', 'total'] });
  expect(Object.keys((await postFrame(await startServer(), frame)).arrays)).toEqual(['total']);
});

const base = framesOf(columnsOf(4));
const text = { completions: new Uint8Array(8), completion_ends: Uint32Array.of(2, 4, 6, 8) };
const { actions: _, beliefs: __, ...state } = base;
const refused: [what: string, frame: Uint8Array<ArrayBuffer>, message: RegExp][] = [
  ['no bytes', new Uint8Array(), /binary frame with a header that ends within the frame/],
  ['JSON', new Uint8Array(Buffer.from('{"seeds":[1]}')), /binary frame/],
  ['a frame without its last bytes', scoreFrame(base).slice(0, -8), /bytes of belief_histories, got/],
  ['another type of message', scoreFrame(base, {}, 'step'), /type score, got step/],
  ['an unknown array', scoreFrame({ ...base, seed: new Uint8Array(4) }), /arrays among seeds, .*got "seed"/],
  ['no seeds', scoreFrame({ step_indices: new Uint8Array(0) }), /Expected the array seeds, got none/],
  [
    'seeds of another type',
    scoreFrame({ ...base, seeds: new Int32Array(4) }),
    /seeds of type uint32 .*got int32/,
  ],
  [
    'histories of another shape',
    scoreFrame({ ...base, histories: new Uint8Array(4 * NUM_STEPS) }),
    /histories of type uint8 and shape \[4, 28\], got uint8 and \[112\]/,
  ],
  ['too few rows', scoreFrame({ ...base, actions: new Int8Array(3) }), /shape \[4\], got int8 and \[3\]/],
  ['neither text nor actions', scoreFrame(state), /either completions or actions, got neither/],
  ['both text and actions', scoreFrame({ ...base, ...text }), /either completions or actions, got both/],
  ['text without ends', scoreFrame({ ...state, completions: new Uint8Array(8) }), /Send both/],
  [
    'an end before the end of the previous row',
    scoreFrame({ ...state, ...text, completion_ends: Uint32Array.of(2, 1, 6, 8) }),
    /at least the end of the previous row, 2, at completion_ends\[1\], got 1/,
  ],
  [
    'a last end beyond the text',
    scoreFrame({ ...state, ...text, completion_ends: Uint32Array.of(2, 4, 6, 9) }),
    /the length of completions, 8, at completion_ends\[3\], got 9/,
  ],
  ['a profile without names', scoreFrame({ ...base, profiles: new Uint8Array(4) }), /list of names in data/],
  [
    'a profile beyond the names',
    scoreFrame({ ...base, profiles: Uint8Array.of(0, 1, 2, 0) }, { profiles: ['sampled', 'discrete'] }),
    /below 2 .*got 2 at profiles\[2\]/,
  ],
  ['an unknown option', scoreFrame(base, { graders: 'v1' }), /not permitted/],
  ['parsed with actions', scoreFrame(base, { parsed: true }), /parsed with completions only/],
];
it.each(refused)('refuses %s', async (what, frame, message) => {
  const { status, data } = await postFrame(await startServer(), frame);
  expect([what, status]).toEqual([what, 422]);
  expect(data.detail[0].msg).toMatch(message);
});

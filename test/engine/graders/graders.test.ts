/** Grader files: valid files, and the error for each mistake, with field and reason. Also the weights of graders. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  COMPONENT_NAMES,
  createAsyncVecEnv,
  createVecEnv,
  Episode,
  GRADER_NAMES,
  type Grader,
  type GraderChoice,
  graderWeights,
  InputError,
  parseGrader,
  RHYTHM,
  scoreReplay,
  searchActionSequence,
  validateGrader,
} from '../../../src/index.js';
import { openOn, TWO_ENGINES } from '../../support/engines.js';
import { anyText, drawsOf, forAll } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';

const WEIGHTS = { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 };
const calm = { name: 'calm', weights: WEIGHTS };
const schema = { name: 'rhythm-vec/grader', version: 1 };
const text = (value: unknown) => JSON.stringify(value);
/** Returns the text of a grader file with these weights. */
const withWeights = (weights: string) => `{"name": "calm", "weights": ${weights}}`;

describe('parseGrader accepts', () => {
  const zeros = { progress: 0, connection: 0, adaptation: 0, wellbeing: 0, belief_skill: 0 };
  const allWeights = { ...zeros, ...WEIGHTS };

  it('a name and weights by component, with 0 for a missing weight', () => {
    const grader = parseGrader(text(calm));
    expect(grader).toEqual({ name: 'calm', weights: allWeights });
    expect(Object.keys(grader.weights)).toEqual(COMPONENT_NAMES);
    expect(parseGrader(text({ name: 'calm', weights: allWeights }))).toEqual(grader);
    expect(Object.isFrozen(grader) && Object.isFrozen(grader.weights)).toBe(true);
  });

  it('a schema', () => {
    expect(parseGrader(text({ schema, ...calm }))).toEqual(parseGrader(text(calm)));
  });

  it('negative weights, -0 as 0, and any order of keys', () => {
    const { weights } = parseGrader(withWeights('{"efficiency": -0.5, "crash_free": 1.5}'));
    expect(weights).toMatchObject({ crash_free: 1.5, efficiency: -0.5 });
    expect(
      Object.is(parseGrader(withWeights('{"progress": 1, "adaptation": -0}')).weights.adaptation, 0),
    ).toBe(true);
  });

  it('weights of the largest and the smallest magnitude, and a sum within 10^-6 of 1', () => {
    parseGrader(withWeights(`{"progress": ${2 ** 20}, "connection": ${1 - 2 ** 20}}`));
    parseGrader(withWeights(`{"progress": 1, "connection": ${2 ** -40}}`));
    parseGrader(withWeights('{"progress": 0.3333336, "connection": 0.3333336, "adaptation": 0.3333336}'));
  });

  it('the name of a built-in grader, if the weights are the same', () => {
    for (const name of GRADER_NAMES) {
      const weights = Object.fromEntries(
        COMPONENT_NAMES.map((component, k) => [component, RHYTHM.graders[name as 'v1'][k]]),
      );
      expect(graderWeights(parseGrader(text({ name, weights })))).toEqual(graderWeights(name));
    }
  });
});

describe.each(TWO_ENGINES)('$name', (engine) => {
  const finalScores = (grader: GraderChoice, graders?: GraderChoice): number[] => {
    using env = openOn(engine, { numEnvs: 3, grader });
    env.reset({ seed: 1, graders });
    return Array.from(env.run('heuristic', { beliefs: [0.5, 0.5, 0.5] }).finalScores);
  };

  it('plays under a Grader, for all environments or for each', () => {
    const grader = parseGrader(text(calm));
    const expected = finalScores(graderWeights(grader));
    expect(expected).not.toEqual(finalScores('v2'));
    expect(finalScores(grader)).toEqual(expected);
    expect(finalScores('v1', grader)).toEqual(expected);
    const v2 = finalScores('v2');
    expect(finalScores([grader, 'v2', grader])).toEqual([expected[0], v2[1], expected[2]]);
  });
});

it('an Episode, scoreReplay and searchActionSequence take a Grader', async () => {
  const grader = parseGrader(text(calm));
  const [first, second] = [grader, graderWeights(grader)].map((choice) => {
    const episode = new Episode().reset(1, { grader: choice });
    while (!episode.terminated) episode.step(3);
    return episode.finalScore;
  });
  expect(first).toBe(second);
  const rows = [{ seed: 1, actionHistory: Array(27).fill(3), action: 3 }];
  expect(scoreReplay(rows, { grader }).stepRewards).toEqual(
    scoreReplay(rows, { grader: graderWeights(grader) }).stepRewards,
  );
  const [one, other] = await Promise.all(
    [grader, graderWeights(grader)].map((choice) =>
      searchActionSequence({ seeds: [1, 2] }, { grader: choice, evaluations: 1000 }),
    ),
  );
  expect(one).toEqual(other);
});

it('reset of an AsyncVecEnv copies a Grader', async () => {
  await using env = await createAsyncVecEnv({ numEnvs: 1, backend: 'reference' });
  const grader = { name: 'calm', weights: { ...WEIGHTS } };
  const call = env.reset({ seed: 1, graders: [grader] });
  grader.weights.crash_free = 7;
  await call;
  expect((await env.run('heuristic')).finalScores[0]).toBeGreaterThan(0);
});

describe('parseGrader refuses', () => {
  const refused: [what: string, text: string, mention: string][] = [
    ['an empty text', '', 'an empty text'],
    ['white space', ' \n\t', 'an empty text'],
    ['half an object', '{"name": "calm"', 'invalid JSON'],
    ['a trailing comma', withWeights('{"progress": 1,}'), 'invalid JSON'],
    ['NaN', withWeights('{"progress": NaN}'), 'invalid JSON'],
    ['two objects', `${text(calm)}\n${text(calm)}`, 'invalid JSON'],
    ['an array that is nested too deeply', '['.repeat(60_000), 'invalid JSON'],
    ['a schema that is nested too deeply', `{"schema": ${'['.repeat(3000)}${']'.repeat(3000)}}`, 'got'],
    ['null', 'null', 'at bad.json, got null.'],
    ['only a name', '"v2"', 'at bad.json, got "v2".'],
    ['a list', text([0.5, 0.5]), 'at bad.json, got an array of 2.'],
    ['an unknown key', text({ ...calm, weight: {} }), 'Did you mean "weights"?'],
    ['no name', text({ weights: WEIGHTS }), 'at name of bad.json, got none.'],
    ['an empty name', text({ ...calm, name: '' }), 'at name of bad.json'],
    ['a blank name', text({ ...calm, name: '  ' }), 'at name of bad.json'],
    ['a number as name', text({ ...calm, name: 2 }), 'at name of bad.json, got 2.'],
    ['a name of two lines', text({ ...calm, name: 'a\nb' }), 'printable'],
    ['a name that colours a terminal', text({ ...calm, name: '\u001b[31m' }), 'printable'],
    ['a long name', text({ ...calm, name: 'x'.repeat(61) }), '1 to 60'],
    ['the name of another grader', text({ ...calm, name: 'v2' }), 'which has other weights'],
    ['no weights', text({ name: 'calm' }), 'at weights of bad.json, got none.'],
    ['a list of weights', withWeights('[0.15,0.2,0.1,0.25,0.1,0.2]'), 'at weights of bad.json'],
    ['an empty object of weights', withWeights('{}'), 'a sum of 0.'],
    ['an unknown component', withWeights('{"crash_fre": 1}'), 'Did you mean "crash_free"?'],
    ['a name that is not near a component', withWeights('{"happiness": 1}'), 'got "happiness". Remove it.'],
    [
      'a weight twice',
      withWeights('{"progress": 0.5,\n "progress": 1\n}'),
      'got "progress" again in line 2.',
    ],
    [
      'a weight twice, once escaped',
      withWeights('{"progress": 1, "\\u0070rogress": 1}'),
      'got "progress" again',
    ],
    ['a name twice', '{"name": "a", "name": "b", "weights": {"progress": 1}}', 'got "name" again in line 1.'],
    [
      'a weight that is null',
      withWeights('{"progress": null}'),
      'at weights.progress of bad.json, got null.',
    ],
    ['a weight as text', withWeights('{"progress": "1"}'), 'at weights.progress of bad.json'],
    ['a weight in a list', withWeights('{"progress": [1]}'), 'at weights.progress of bad.json'],
    ['an infinite weight', withWeights('{"progress": 1e999}'), 'got Infinity.'],
    ['a weight that is too large', withWeights('{"progress": 1048577}'), 'got 1048577.'],
    ['a weight that is too small', withWeights('{"progress": 1, "connection": 1e-13}'), 'weights.connection'],
    [
      'weights that sum to less than 1',
      withWeights('{"progress": 0.5, "connection": 0.4}'),
      'Divide each by 0.9.',
    ],
    ['weights that sum to nearly 1', withWeights('{"progress": 0.99999}'), 'got a sum of 0.99999.'],
    [
      'weights that sum to 0',
      withWeights('{"progress": 1, "connection": -1}'),
      'Pass weights with a positive sum.',
    ],
    ['an older schema', text({ schema: { ...schema, version: 0 }, ...calm }), 'version 0. Make it again'],
    ['a newer schema', text({ schema: { ...schema, version: 2 }, ...calm }), 'version 2.'],
    ['another schema', text({ schema: { ...schema, name: 'other' }, ...calm }), 'got "other" version 1.'],
    ['a schema that is only a name', text({ schema: schema.name, ...calm }), 'got "rhythm-vec/grader".'],
    ['a schema that is null', text({ schema: null, ...calm }), 'schema of bad.json'],
  ];
  it.each(refused)('%s', (_, content, mention) => {
    expectBadGrader(() => parseGrader(content, 'bad.json'), mention);
  });

  it('an invalid grader, and the error calls it "grader" or by the given name', () => {
    expectBadGrader(() => parseGrader(''), 'in grader, got');
    expectBadGrader(() => validateGrader({}, 'my grader'), 'at name of my grader');
  });
});

describe('random graders', () => {
  const randomText = fc.oneof(
    anyText(),
    fc.json(),
    fc.record({ name: fc.anything(), weights: fc.anything() }).map((value) => JSON.stringify(value) ?? ''),
    fc
      .dictionary(fc.constantFrom(...COMPONENT_NAMES, 'schema'), fc.oneof(fc.double(), fc.jsonValue()))
      .map((weights) => JSON.stringify({ name: 'junk', weights })),
  );

  it('are parsed, or refused with an InputError', () => {
    const outcomes = { read: 0, refused: 0 };
    const property = fc.property(fc.oneof(randomText, fc.constant(text(calm))), (content) => {
      try {
        parseGrader(content);
        outcomes.read++;
      } catch (error) {
        expect(error).toBeInstanceOf(InputError);
        outcomes.refused++;
      }
    });
    fc.assert(property, { seed: 7, numRuns: drawsOf(2000) });
    expect(Math.min(outcomes.read, outcomes.refused)).toBeGreaterThan(drawsOf(100));
  });

  it('are accepted by createVecEnv if validateGrader accepts them', () => {
    let accepted = 0;
    forAll(1400, (random) => {
      const scale = random.pick([1, 1000, 2 ** 20]);
      const [some, other] = [random.real(-scale, scale), random.real(0, 1)];
      const weights = { crash_free: some, progress: 1 - some - other, belief_accuracy: other };
      let grader: Grader;
      try {
        grader = validateGrader({ name: 'drawn', weights });
      } catch {
        return;
      }
      createVecEnv({ numEnvs: 1, grader: graderWeights(grader) }).close();
      accepted++;
    });
    expect(accepted).toBeGreaterThan(50);
  });
});

describe('graderWeights', () => {
  it('converts a name, a grader or a list to eight float32s in the order of COMPONENT_FIELDS', () => {
    const floats = Float32Array.of(0.5, 0, 0, 0, 0.3, 0.2, 0, 0);
    expect(graderWeights(calm)).toEqual(floats);
    expect(graderWeights([0.5, 0, 0, 0, 0.3, 0.2, 0, 0])).toEqual(floats);
    expect(graderWeights(floats)).toEqual(floats);
    for (const name of GRADER_NAMES) {
      expect(graderWeights(name)).toEqual(Float32Array.from(RHYTHM.graders[name as 'v1']));
    }
  });

  it('returns a new array each time', () => {
    graderWeights('v2').fill(0);
    expect(graderWeights('v2')[0]).toBe(Math.fround(0.15));
  });

  it('refuses invalid graders', () => {
    expectRefusal(() => parseGrader(calm as never), 'wrong_type', 'got an object', 'in place of its text');
    expectRefusal(() => graderWeights('v4'), 'unknown_name', 'v1, v2, v3', 'Use one of these names.');
    expectRefusal(() => graderWeights('toString'), 'unknown_name', 'got "toString"');
    for (const value of [3, null, undefined, true]) {
      expectRefusal(() => graderWeights(value as never), 'wrong_type', `got ${value}`);
    }
    expectBadGrader(() => graderWeights({} as Grader), 'at name of grader, got none');
    expectBadGrader(() => graderWeights([1, 0, 0]), 'eight weights');
    expectBadGrader(() => graderWeights([1, Number.NaN, 0, 0, 0, 0, 0, 0]), 'NaN');
  });
});

/** Expects an error with the code of an invalid grader and a complete message. */
function expectBadGrader(call: () => unknown, ...mentions: string[]): void {
  expectRefusal(call, 'bad_grader', ...mentions);
}

/** Tests the view of one action sequence for everybody: its scores, and the sequence in the page's address. */
import { describe, expect, it } from 'vitest';
import { CONSTANT_BELIEF } from '../../src/agents/policies/fixed-policies.js';
import { openLoopActions, repeatActions } from '../../src/agents/policies/open-loop.js';
import { createVecEnv } from '../../src/index.js';
import { intervalOf } from '../../src/shared/statistics.js';
import { GRADER_NAMES } from '../../src/world/fields.js';
import type { SequenceScores } from '../../web/src/engine/requests.js';
import { runSequence } from '../../web/src/engine/run-sequence.js';
import { digitsOf } from '../../web/src/person/episode.js';
import { PEOPLE } from '../../web/src/sizes.js';
import { SEQUENCE_FIELDS } from '../../web/src/views/fields.js';

const BEST = digitsOf(openLoopActions('v3'));

/** Returns the final scores of the first people, as the engine plays them. */
function finalScores(actions: string, grader: string, numEnvs: number): Float32Array {
  using env = createVecEnv({ numEnvs, grader });
  env.reset({ seed: PEOPLE.first });
  const sequence = repeatActions(Array.from(actions, Number), numEnvs);
  return env.run(sequence, { beliefs: CONSTANT_BELIEF }).finalScores.slice();
}

const run = (actions: string, parts: SequenceScores[] = [], signal = new AbortController().signal) =>
  runSequence(actions, (_, soFar) => parts.push(soFar!), signal);

describe('the scores of a sequence', () => {
  it("are reported after each thousand people but the last, and equal the engine's under all graders", async () => {
    const parts: SequenceScores[] = [];
    const complete = await run(BEST, parts);
    expect(parts.map(({ numPeople }) => numPeople)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((k) => k * 1000));
    for (const { numPeople, byGrader } of [parts[0], complete]) {
      expect(Object.keys(byGrader)).toEqual(GRADER_NAMES);
      for (const [grader, { score, counts }] of Object.entries(byGrader)) {
        const expected = finalScores(BEST, grader, numPeople);
        expect(score.mean).toBeCloseTo(intervalOf(expected).mean, 12);
        // Bin 55 has the scores from 0.55 to 0.56.
        const inBin = expected.filter((each) => Math.floor(each * 100) === 55).length;
        expect(counts[55]).toBe(inBin);
        expect(counts.reduce((sum, count) => sum + count)).toBe(numPeople);
      }
    }
    expect(complete).toMatchObject({ actions: BEST, numPeople: PEOPLE.count });
  });

  it('are those of its own call after an earlier call was stopped', async () => {
    const [earlier, later] = [new AbortController(), new AbortController()];
    const stopped = new DOMException('Stopped.', 'AbortError');
    const parts: SequenceScores[] = [];
    const first = run('3'.repeat(28), [], earlier.signal);
    const stopAfterPart: Parameters<typeof runSequence>[1] = (_, soFar) => {
      parts.push(soFar!);
      later.abort(stopped);
    };
    const second = runSequence(BEST, stopAfterPart, later.signal);
    earlier.abort(stopped);
    await expect(first).rejects.toThrow('Stopped.');
    await expect(second).rejects.toThrow('Stopped.');
    const { mean } = intervalOf(finalScores(BEST, 'v3', 1000));
    expect(parts.map(({ byGrader }) => byGrader.v3.score.mean)).toEqual([expect.closeTo(mean, 12)]);
  });
});

it('a sequence in the address is 28 digits', () => {
  const { actions } = SEQUENCE_FIELDS;
  expect(actions.read(actions.write(BEST))).toBe(BEST);
  // The last one has Arabic-Indic digits.
  for (const text of ['', '3'.repeat(27), '3'.repeat(29), 'x'.repeat(28), '٣'.repeat(28)])
    expect(actions.read(text)).toBeNull();
});

/** The interface of Episode, and the arguments that it refuses. test/engine/golden.test.ts checks its values. */
import { describe, expect, it } from 'vitest';
import { Episode } from '../../../src/engine/reference/episode.js';
import { loadEpisode, saveEpisode } from '../../../src/engine/reference/saved-states.js';
import type { ErrorCode } from '../../../src/shared/errors.js';
import {
  NUM_STEPS,
  OBSERVATION,
  OBSERVATION_SIZE,
  PROFILE_NAMES,
  STATE_WORDS,
} from '../../../src/world/fields.js';
import { RHYTHM } from '../../../src/world/numbers.js';
import { createWorld } from '../../../src/world/world.js';
import { forAll } from '../../support/random.js';
import { expectRefusal } from '../../support/refusals.js';
import { worldWith } from '../../support/worlds.js';

// biome-ignore lint/suspicious/noExplicitAny: cases pass values of wrong types.
const any = (value: unknown): any => value;
const newEpisode = () => new Episode().reset(7);

/** Returns the words of an episode's state. */
function words(episode: Episode): Uint32Array {
  const out = new Uint32Array(STATE_WORDS);
  saveEpisode(episode, out, 0);
  return out;
}

describe('an episode', () => {
  it('has 28 steps and one grade', () => {
    const episode = newEpisode();
    for (let t = 0; t < NUM_STEPS; t++) {
      expect([episode.stepCount, episode.terminated, episode.finalScore]).toEqual([t, false, 0]);
      expect(episode.step(t % 10)).toBe(episode.reward);
    }
    expect(episode.terminated).toBe(true);
    expect(episode.finalScore).toBeGreaterThan(0);
    expect(episode.components.every((x) => x >= 0 && x <= 1)).toBe(true);
  });

  it('begins again with reset, which returns the episode', () => {
    const episode = newEpisode();
    const first = words(episode);
    while (!episode.terminated) episode.step(3, [0.1, 0.2, 0.3]);
    expect(episode.reset(7)).toBe(episode);
    expect(words(episode)).toEqual(first);
    expect([episode.event, episode.lastAction, episode.reward, episode.finalScore]).toEqual([-1, -1, 0, 0]);
  });

  it('clamps beliefs, and keeps the last given belief', () => {
    const episode = newEpisode();
    episode.step(0);
    expect([episode.given, ...episode.belief]).toEqual([false, 0.5, 0.5, 0.5]);
    episode.step(0, [2, -1, 0.25]);
    episode.step(0);
    expect([episode.given, ...episode.belief]).toEqual([true, 1, 0, 0.25]);
  });

  it('writes its observation at an offset', () => {
    const out = new Float32Array(OBSERVATION_SIZE + 4).fill(9);
    const episode = newEpisode();
    episode.step(6);
    episode.observe(out, 2);
    expect([out[0], out[1], out[2 + OBSERVATION.step], out[2 + OBSERVATION.lastAction]]).toEqual([
      9, 9, 1, 6,
    ]);
    expect(Array.from(out.slice(-2))).toEqual([9, 9]);
  });

  it('with imagination has other noise and events, and the same profile', () => {
    const [real, imagined] = [newEpisode(), new Episode({ imagination: true }).reset(7)];
    expect(imagined.profile).toEqual(real.profile);
    expect(imagined.stateHash()).toBe(real.stateHash());
    real.step(0);
    imagined.step(0);
    expect(imagined.stateHash()).not.toBe(real.stateHash());
  });

  it('accepts a profile by name or by numbers; with discrete the seed draws a named profile', () => {
    for (const name of PROFILE_NAMES) {
      const named = new Episode().reset(1, { profile: name });
      const given = new Episode().reset(1, { profile: Array.from(named.profile) });
      expect(given.profile).toEqual(named.profile);
      expect(given.target).toEqual(named.target);
    }
    const firstTraits = Array.from(
      { length: 30 },
      (_, seed) => new Episode().reset(seed, { profile: 'discrete' }).profile[0],
    );
    expect(new Set(firstTraits).size).toBe(PROFILE_NAMES.length);
  });

  it('uses the numbers of a changed world', () => {
    const world = createWorld(worldWith(['initialMeters', 0], 0.25));
    expect(new Episode({ world }).reset(7).meters[0]).toBe(0.25);
    expect(newEpisode().meters[0]).toBe(Math.fround(RHYTHM.initialMeters[0]));
  });

  it('continues identically after saveEpisode and loadEpisode', () => {
    forAll(50, (random) => {
      const episode = new Episode().reset(random.integer(0, 2 ** 32 - 1));
      for (let t = random.integer(0, 27); t > 0; t--)
        episode.step(random.integer(0, 9), [random.real(), 0, 1]);
      const copy = new Episode();
      loadEpisode(copy, words(episode), 0);
      expect(words(copy)).toEqual(words(episode));
      expect([copy.reward, copy.event, ...copy.deltas]).toEqual([
        episode.reward,
        episode.event,
        ...episode.deltas,
      ]);
      expect(copy.step(5)).toBe(episode.step(5));
    });
  });
});

describe('an episode refuses', () => {
  const { NaN: nan, POSITIVE_INFINITY: infinity } = Number;
  /** Expects a refusal that changes no state. */
  function refuse(call: (episode: Episode) => unknown, code: ErrorCode, ...mentions: string[]): void {
    const episode = newEpisode();
    const before = words(episode);
    expectRefusal(() => call(episode), code, ...mentions);
    expect(words(episode)).toEqual(before);
  }

  it.each([[10], [-1], [1.5], [nan], ['3'], [null], [undefined], [3n], [[3]], [true]])(
    'action %s',
    (action) => {
      refuse((episode) => episode.step(any(action)), 'illegal_action', 'action');
    },
  );

  it.each([
    [[0.5, 0.5], 'wrong_length'],
    [[0.5, 0.5, 0.5, 0.5], 'wrong_length'],
    [[nan, 0.5, 0.5], 'bad_belief'],
    [[nan, nan, nan], 'bad_belief'],
    [[0.5, infinity, 0.5], 'bad_belief'],
    [[0.5, null, 0.5], 'bad_belief'],
    [0.5, 'wrong_type'],
    ['0.5', 'wrong_type'],
    [{ length: 3 }, 'wrong_type'],
  ] as const)('belief %j', (belief, code) => {
    refuse((episode) => episode.step(0, any(belief)), code, 'belief');
  });

  it.each([-1, 2 ** 32, 0.5, nan, '7', null, undefined, 7n])('seed %s', (seed) => {
    refuse((episode) => episode.reset(any(seed)), 'bad_seed', 'seed');
  });

  it.each([
    [{ profile: 'nobody' }, 'unknown_name'],
    [{ profile: [1, 2, 3] }, 'bad_profile'],
    [{ profile: new Array(16).fill(nan) }, 'bad_profile'],
    [{ profile: new Array(16).fill('1') }, 'bad_profile'],
    [{ profile: new Array(16).fill(1e-20) }, 'bad_profile'],
    [{ profile: 5 }, 'bad_profile'],
    [{ grader: 'v7' }, 'unknown_name'],
    [{ grader: [1, 1, 0, 0, 0, 0, 0, 0] }, 'bad_grader'],
    [{ grader: 7 }, 'wrong_type'],
    [{ profiles: 'sampled' }, 'unknown_option'],
    [null, 'wrong_type'],
    ['v1', 'wrong_type'],
  ] as const)('reset option %j', (options, code) => {
    refuse((episode) => episode.reset(1, any(options)), code);
  });

  it('a step before the first reset, and after the end', () => {
    const unbegun = new Episode();
    expectRefusal(() => unbegun.step(0), 'not_reset');
    expect([unbegun.event, unbegun.lastAction, unbegun.given]).toEqual([-1, -1, false]);
    const episode = newEpisode();
    while (!episode.terminated) episode.step(0);
    const before = words(episode);
    for (const action of [0, 99]) expectRefusal(() => episode.step(action), 'episode_over');
    expect(words(episode)).toEqual(before);
  });

  it('invalid options, and a world that createWorld did not return', () => {
    expectRefusal(() => new Episode(any({ wrold: createWorld() })), 'unknown_option', '"world"');
    expectRefusal(() => new Episode(any(null)), 'wrong_type');
    expectRefusal(() => new Episode({ world: any(RHYTHM) }), 'bad_world', 'createWorld');
    expectRefusal(() => new Episode({ imagination: any('yes') }), 'wrong_type', 'imagination');
  });
});

/** A checked player validates the outputs of a policy, and gives hidden profiles only to oracles. */
import { describe, expect, it } from 'vitest';
import { toGrader } from '../../../src/engine/graders/grader.js';
import { openChecked } from '../../../src/engine/policy/policy.js';
import {
  createWorld,
  type EpisodeStarts,
  InputError,
  type PolicyLike,
  type PolicyView,
} from '../../../src/index.js';
import { expectRejection } from '../../support/refusals.js';

const setting = { numEnvs: 2, grader: toGrader('v2'), world: createWorld() };
const view = {
  observations: new Float32Array(44),
  steps: Uint8Array.of(3, 3),
  playing: Uint8Array.of(1, 1),
};

const errorOf = async (policy: unknown, playing = view.playing): Promise<InputError> => {
  const player = await openChecked('mine', policy as PolicyLike, setting);
  return player.act({ ...view, playing }).then(
    () => expect.fail('Expected an error.'),
    (error) => error,
  );
};

describe('a checked player refuses a policy that returns', () => {
  const NAMED = /The policy "mine" returned it at step 3/;
  it.each([
    ['undefined', undefined, 'wrong_type', NAMED],
    ['no actions', {}, 'wrong_type', NAMED],
    ['a misspelt key', { actions: [0, 0], belief: [] }, 'unknown_option', /Did you mean "beliefs"/],
    ['too few actions', { actions: [0] }, 'wrong_length', /Expected 2 actions .* at step 3\.$/],
    ['an action out of range', { actions: [0, 10] }, 'illegal_action', /at step 3 for environment 1\./],
    ['a byte out of range', { actions: Uint8Array.of(0, 10) }, 'illegal_action', /for environment 1\./],
    ['an action that is not a number', { actions: [0, 'sleep'] }, 'illegal_action', /for environment 1\./],
    ['too few beliefs', { actions: [0, 0], beliefs: [0, 0, 0] }, 'wrong_length', /at step 3\.$/],
    ['a NaN', { actions: [0, 0], beliefs: [0, 0, 0, 1, Number.NaN, 1] }, 'bad_belief', /environment 1\./],
  ])('%s', async (_, output, code, message) => {
    for (const policy of [() => output, async () => output]) {
      const error = await errorOf(policy);
      expect(error).toBeInstanceOf(InputError);
      expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    }
  });
});

describe('a checked player', () => {
  it('rejects if the policy throws, with the thrown error as the cause', async () => {
    const cause = new RangeError('weights are missing');
    const policy = () => {
      throw cause;
    };
    const message = expect.stringMatching(/"mine" .* step 3, .* weights are missing/);
    expect(await errorOf(policy)).toMatchObject({ code: 'policy_failed', cause, message });
  });

  it('accepts an invalid action for an episode that has ended', async () => {
    const player = await openChecked('mine', () => ({ actions: [4, 99] }), setting);
    const { actions } = await player.act({ ...view, playing: Uint8Array.of(1, 0) });
    expect(actions[0]).toBe(4);
  });

  it('refuses a reason that is not a string', async () => {
    const open = () => ({
      act: () => ({ actions: [0, 0] }),
      reasons: (i: number) => (i === 0 ? 'Tired.' : 7),
    });
    const { reasons } = await openChecked('mine', { open } as never, setting);
    expect(await reasons!(0)).toBe('Tired.');
    await expectRejection(Promise.resolve(reasons!(1)), 'wrong_type', 'reasons(1) of the policy "mine"');
  });

  it('gives a policy observations without the rest of their buffer, which may hold hidden state', async () => {
    const got: Float32Array[] = [];
    const policy = ({ observations }: PolicyView) => {
      got.push(observations);
      return { actions: [0, 0] };
    };
    const player = await openChecked('mine', policy, setting);
    const part = new Float32Array(100).fill(7).subarray(10, 54);
    for (const observations of [view.observations, part]) await player.act({ ...view, observations });
    expect(got[0]).toBe(view.observations);
    expect([got[1], got[1].buffer.byteLength]).toEqual([part, part.byteLength]);
  });

  it.each([{}, undefined, null])('refuses a policy whose open() returns %o', async (player) => {
    const opened = openChecked('mine', { open: () => player } as never, setting);
    await expect(opened).rejects.toMatchObject({ code: 'wrong_type' });
  });
});

describe('hidden profiles', () => {
  const episodes = {
    mask: Uint8Array.of(1, 1),
    seeds: Uint32Array.of(1, 2),
    profiles: () => new Float32Array(32),
  };
  const profileReader = (usesHiddenState?: boolean): PolicyLike => ({
    usesHiddenState,
    open: () => ({ reset: ({ profiles }) => void profiles(), act: () => ({ actions: [0, 0] }) }),
  });

  it('cannot be read by an agent', async () => {
    const player = await openChecked('mine', profileReader(), setting);
    await expect(player.reset!(episodes)).rejects.toMatchObject({
      code: 'policy_failed',
      message: expect.stringMatching(/usesHiddenState: true/),
    });
  });

  it('cannot be computed from the seeds that an agent gets', async () => {
    const seedsOf = async (usesHiddenState: boolean) => {
      const got: number[] = [];
      const open = () => ({
        reset: ({ seeds }: EpisodeStarts) => void got.push(...seeds),
        act: () => ({ actions: [0, 0] }),
      });
      const player = await openChecked('mine', { usesHiddenState, open }, setting);
      await player.reset!(episodes);
      return got;
    };
    const own = await seedsOf(false);
    expect(own).toEqual(await seedsOf(false));
    // Both seeds that the agent gets differ from 1 and 2.
    expect(new Set([...own, 1, 2]).size).toBe(4);
    expect(await seedsOf(true)).toEqual([1, 2]);
  });

  it('can be read by an oracle', async () => {
    const player = await openChecked('mine', profileReader(true), setting);
    await player.reset!(episodes);
  });
});

it('act rejects with the reason of the signal if the signal aborts while the policy computes', async () => {
  const abort = new AbortController();
  const player = await openChecked('mine', () => new Promise<never>(() => {}), setting, abort.signal);
  const pending = player.act(view);
  abort.abort(new Error('enough'));
  await expect(pending).rejects.toThrow('enough');
});

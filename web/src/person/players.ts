/** Plays the policies of the engine step by step in one episode. */
import { type FixedPlayer, POLICY_NAMES } from '../../../src/agents/policies/fixed-policies.js';
import { findBuiltin } from '../../../src/agents/policies/stepped-policies.js';
import { readStudent } from '../../../src/agents/student/student.js';
import { yieldTurn } from '../../../src/engine/engine-calls.js';
import { toGrader } from '../../../src/engine/graders/grader.js';
import { NUM_STEPS, OBSERVATION, OBSERVATION_SIZE } from '../../../src/world/fields.js';
import { createWorld } from '../../../src/world/world.js';
// This import also sets the functions on arrays (engine/arrays.ts), which students need.
import { refuseProfiles } from '../workers/platform.js';
import {
  type Advice,
  type EpisodeSetting,
  keyOf,
  type Move,
  type Rival,
  type StudentFile,
} from './episode.js';
import { begin, livedIn } from './replay.js';

type EpisodePlayer = Awaited<ReturnType<typeof openPlayer>>;

/**
 * Opens a policy for one episode, which it plays from the observations. Loads the modules that play it.
 * @param students students that were trained on the page; `name` may be the name of one of them.
 * @throws InputError `unknown_name`, `bad_student`.
 */
async function openPlayer(name: string, setting: EpisodeSetting, students: readonly StudentFile[]) {
  const student = students.find((each) => each.name === name);
  const policy = student === undefined ? findBuiltin(name) : readStudent(student.file);
  const grader = toGrader(setting.grader);
  // Uses no device, so it returns no promises.
  const player = (await policy.open({ numEnvs: 1, grader, world: createWorld() })) as FixedPlayer;
  const playing = Uint8Array.of(1);
  player.reset({ mask: playing, seeds: Uint32Array.of(setting.seed), profiles: refuseProfiles });
  return {
    /** Decides a step. Must be called at every step, in order. @param observation f32 [22]. */
    decide(observations: Float32Array): Move {
      const steps = Uint8Array.of(observations[OBSERVATION.step]);
      const { actions, beliefs } = player.act({ observations, steps, playing });
      return { action: actions[0], belief: beliefs === null ? null : Array.from(beliefs) };
    },
    /** Returns the reasons of the last decision; null if the policy gives none. */
    reasons: (): string | null => player.reasons?.(0) ?? null,
    [Symbol.dispose]: () => player[Symbol.dispose](),
  };
}

/** Returns whether a policy computes in WebAssembly: planners and students do. */
export const needsWasm = (name: string): boolean =>
  !POLICY_NAMES.includes(name) && !name.endsWith('+inference');

/**
 * Returns the episode of a policy: its beliefs and its result. Other calls may run between two steps.
 * @param students students that were trained on the page. @param report called after each step with the number of steps.
 */
export async function playRival(
  name: string,
  setting: EpisodeSetting,
  students: readonly StudentFile[],
  report: (steps: number) => void,
): Promise<Rival> {
  const episode = begin(setting);
  using player = await openPlayer(name, setting, students);
  const observation = new Float32Array(OBSERVATION_SIZE);
  const beliefs: (readonly number[] | null)[] = [];
  while (!episode.terminated) {
    episode.observe(observation);
    const { action, belief } = player.decide(observation);
    beliefs.push(belief);
    episode.step(action, belief);
    report(episode.stepCount);
    await yieldTurn();
  }
  const { given, finalScore, beliefMae } = episode;
  const components = episode.components.slice();
  return { name, beliefs, given, finalScore, beliefMae, components, lived: livedIn(episode) };
}

/** The moves that an adviser keeps: those of four weeks. Chosen by hand. A move with reasons takes some kilobytes. */
const MAX_CACHED = 4 * NUM_STEPS;

/**
 * Returns the next moves of policies, and caches the last MAX_CACHED, so that a step that is undone and repeated is computed
 * once. The policy observes every step, including those that the user chose.
 */
export class Adviser {
  #player: EpisodePlayer | null = null;
  /** The policy and setting of the player, as text. */
  #playerKey = '';
  /** The moves before the player's last decision, and the decision. */
  #observed: readonly Move[] = [];
  #move: Move | null = null;
  readonly #cache = new Map<string, Advice>();
  /** The number of calls so far. A new call ends the previous one. */
  #calls = 0;

  /**
   * Returns the policy's next move after these moves. Other work may run between two observed steps, because some policies
   * take long. A new call ends this one.
   * @param observations f32 [moves + 1, 22]. @param students students that were trained on the page.
   * @throws InputError `unknown_name`, `bad_student`; DOMException `AbortError` after a new call.
   */
  async advise(
    name: string,
    setting: EpisodeSetting,
    moves: readonly Move[],
    observations: Float32Array,
    students: readonly StudentFile[] = [],
  ): Promise<Advice> {
    this.#calls += 1;
    const call = this.#calls;
    const studentKeys = students.filter((student) => student.name === name).map(keyOf);
    const playerKey = JSON.stringify([name, studentKeys, setting]);
    const key = JSON.stringify([playerKey, moves]);
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    let next = this.#observed.length + 1;
    if (!this.#continues(playerKey, moves)) {
      this.#playerKey = '';
      const player = await openPlayer(name, setting, students);
      if (call !== this.#calls) player[Symbol.dispose]();
      this.#throwUnlessLast(call);
      this.#player?.[Symbol.dispose]();
      this.#player = player;
      next = 0;
    }
    for (let i = next; i <= moves.length; i++) {
      if (i > next) await yieldTurn();
      this.#throwUnlessLast(call);
      // If the player throws, the next call opens a new one.
      this.#playerKey = '';
      const at = i * OBSERVATION_SIZE;
      this.#move = this.#player!.decide(observations.slice(at, at + OBSERVATION_SIZE));
      [this.#playerKey, this.#observed] = [playerKey, moves.slice(0, i)];
    }
    const advice = { ...this.#move!, reasons: this.#player!.reasons() };
    this.#cache.set(key, advice);
    // A Map iterates in the order of insertion, so the first key is that of the oldest advice.
    if (this.#cache.size > MAX_CACHED) this.#cache.delete(this.#cache.keys().next().value!);
    return advice;
  }

  /** Returns whether the player has this key, and these moves begin with the moves that it has observed. */
  #continues(playerKey: string, moves: readonly Move[]): boolean {
    const before = moves.slice(0, this.#observed.length);
    return playerKey === this.#playerKey && JSON.stringify(before) === JSON.stringify(this.#observed);
  }

  #throwUnlessLast(call: number): void {
    if (call !== this.#calls) throw new DOMException('Replaced by a new call.', 'AbortError');
  }
}

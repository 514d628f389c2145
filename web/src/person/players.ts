/** The policies of the engine, asked step by step for one week. */
import { toGrader } from '../../../src/graders/grader.js';
import { POLICIES, type Policy } from '../../../src/policies/policies.js';
import { findAnyPolicy, STEPPED_POLICIES, type SteppedPolicy } from '../../../src/policies/stepped.js';
import { heuristicAction, randomAction } from '../../../src/reference/baselines.js';
import { othersTurn } from '../../../src/vec-env/turns.js';
import { NUM_METERS, OBSERVATION, OBSERVATION_SIZE } from '../../../src/world/fields.js';
import { createWorld } from '../../../src/world/world.js';
import type { Advice, Move, WeekSetting } from './week.js';

/** Who may play: every policy but those who are shown who the person is. */
export const PLAYERS: readonly string[] = [
  ...POLICIES.map(({ name }) => name),
  ...STEPPED_POLICIES.filter(({ oracle }) => !oracle).map(({ name }) => name),
];

/** Plays one week from what it is shown of it. */
export interface WeekPlayer extends Disposable {
  /** @param seen f32 [22]: every step's, from the first on. */
  decide(seen: Float32Array): Move;
  /** Why it does what it last decided, in words; null where it has no reasons. */
  reasons(): string | null;
}

/** @throws InputError `unknown_name` for a policy that is none. */
export function playedBy(name: string, setting: WeekSetting): WeekPlayer {
  const policy = findAnyPolicy(name);
  return 'open' in policy ? asked(policy, setting) : fixed(policy, setting);
}

function asked(policy: SteppedPolicy, { grader }: WeekSetting): WeekPlayer {
  const player = policy.open({ numEnvs: 1, grader: toGrader(grader) }, refuseOracle);
  return {
    decide(seen) {
      const { actions, beliefs } = player.decide(seen);
      return { action: actions[0], belief: beliefs === null ? null : Array.from(beliefs) };
    },
    reasons: () => player.reasons(0),
    [Symbol.dispose]: () => player[Symbol.dispose](),
  };
}

function refuseOracle(): never {
  throw new Error('Expected a policy that is an agent, got an oracle. Choose one of PLAYERS.');
}

/** Plays as a whole week's call of the engine would. */
function fixed({ choice, options, ...policy }: Policy, { seed, grader }: WeekSetting): WeekPlayer {
  const { params } = createWorld();
  const chosen = choice(1, grader);
  const belief = policy.belief === 'constant' ? Array.from(options.beliefs as ArrayLike<number>) : null;
  const act = (seen: Float32Array): number => {
    const step = seen[OBSERVATION.step];
    if (chosen === 'random') return randomAction(params, seed, step, 0);
    if (chosen !== 'heuristic') return (chosen as Uint8Array)[step];
    const meters = seen.subarray(OBSERVATION.meters, OBSERVATION.meters + NUM_METERS);
    return heuristicAction(params, seen[OBSERVATION.slot], meters);
  };
  return {
    decide: (seen) => ({ action: act(seen), belief }),
    reasons: () => null,
    [Symbol.dispose]() {},
  };
}

/**
 * Asks one policy about one week after another, and remembers what it said: undoing a step and doing it again asks nobody
 * twice. Whoever watches sees every step, also those that somebody else has chosen.
 */
export class Adviser {
  #player: WeekPlayer | null = null;
  #of = '';
  /** The moves after which the player was asked last, and what it said. */
  #asked: readonly Move[] = [];
  #move: Move | null = null;
  readonly #said = new Map<string, Advice>();
  /** Whoever asks last is answered. */
  #turn = 0;

  /**
   * What a policy would do after these moves. Others have their turn between two steps that it watches: of some it thinks
   * for a while. Who asks meanwhile ends this, and goes on from where it was if the moves are the same up to there.
   * @param observations f32 [moves + 1, 22].
   * @throws InputError `unknown_name`; DOMException `AbortError` if somebody else asked meanwhile.
   */
  async ask(
    name: string,
    setting: WeekSetting,
    moves: readonly Move[],
    observations: Float32Array,
  ): Promise<Advice> {
    this.#turn += 1;
    const mine = this.#turn;
    const week = JSON.stringify([name, setting]);
    const key = JSON.stringify([week, moves]);
    const known = this.#said.get(key);
    if (known !== undefined) return known;
    const first = this.#follows(week, moves) ? this.#asked.length + 1 : this.#restart(name, setting);
    for (let i = first; i <= moves.length; i++) {
      if (i > first) await othersTurn();
      if (mine !== this.#turn) throw new DOMException('Something else was asked.', 'AbortError');
      this.#decide(week, moves.slice(0, i), observations);
    }
    const advice = { ...this.#move!, reasons: this.#player!.reasons() };
    this.#said.set(key, advice);
    return advice;
  }

  #decide(week: string, moves: readonly Move[], observations: Float32Array): void {
    // Whoever fails is begun anew.
    this.#of = '';
    const at = moves.length * OBSERVATION_SIZE;
    this.#move = this.#player!.decide(observations.slice(at, at + OBSERVATION_SIZE));
    [this.#of, this.#asked] = [week, moves];
  }

  /** Whether these moves go on where the player was asked last. */
  #follows(week: string, moves: readonly Move[]): boolean {
    const before = moves.slice(0, this.#asked.length);
    return (
      week === this.#of &&
      moves.length >= this.#asked.length &&
      JSON.stringify(before) === JSON.stringify(this.#asked)
    );
  }

  #restart(name: string, setting: WeekSetting): 0 {
    this.#player?.[Symbol.dispose]();
    this.#player = playedBy(name, setting);
    return 0;
  }
}

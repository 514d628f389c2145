/** One stored episode, compared with its replay step by step. */
import type { Prompt } from '../text/prompt.js';
import type { TrajectoryEpisode, TrajectoryStep } from '../trajectory/episode.js';
import { type EpisodeEnd, finalOf, hiddenOf } from '../trajectory/episode-recorder.js';
import { type Played, playedFor, reasoningIn } from '../trajectory/move.js';
import { type Person, personOf } from '../trajectory/person.js';
import { rewardsOf } from '../trajectory/rewards.js';
import { ACTION_NAMES, NUM_BELIEFS, OBSERVATION_FIELDS, PROFILE_SIZE } from '../world/fields.js';
import { createWorld } from '../world/world.js';
import { Comparison } from './mismatch.js';

const named = (name: string, size: number): string[] =>
  size === 1 ? [name] : Array.from({ length: size }, (_, k) => `${name}[${k}]`);
const OBSERVATION_NAMES = OBSERVATION_FIELDS.flatMap(({ name, size }) => named(`observation.${name}`, size));
const PROFILE_NAMES = named('hidden.profile', PROFILE_SIZE);
const TARGET_NAMES = named('hidden.belief_target', NUM_BELIEFS);
const world = createWorld();

/** The code of what a step played. */
export const codeOf = ({ action }: TrajectoryStep): number => ACTION_NAMES.indexOf(action);

export class EpisodeReplay {
  readonly comparison = new Comparison();
  readonly #episode: TrajectoryEpisode;
  readonly #person: Person;
  #system: string | null = null;
  /** Whether the step at hand has an action of the player's own. */
  #parsed = true;

  constructor(episode: TrajectoryEpisode) {
    this.#episode = episode;
    this.#person = personOf(world, episode.profile_mode, episode.seed);
  }

  /**
   * What is seen, and what was said to it.
   * @param rows of observations, of which this episode's begins at `base`. @param asked the prompt of that row, where
   *   any is compared.
   */
  sees(t: number, rows: Float32Array, base: number, asked: Prompt | null): void {
    const { comparison } = this;
    const step = this.#episode.steps[t];
    comparison.step = t;
    comparison.sameNumbers(OBSERVATION_NAMES, step.observation, rows, base);
    if (step.prompt !== null && asked !== null) {
      this.#system = asked[0].content;
      comparison.sameText('prompt', step.prompt, asked[1].content);
    }
    const said = saidIn(step);
    this.#parsed = said.parsed;
    comparison.same('action', step.action, ACTION_NAMES[said.action]);
    comparison.same('parsed', step.parsed, said.parsed);
    comparison.same('belief', textOf(step.belief), textOf(said.belief));
    const thought = step.completion === null ? null : reasoningIn(step.completion);
    if (thought !== null) comparison.sameText('reasoning', step.reasoning, thought);
  }

  /** @param reward of the step just seen, as played. */
  earns(t: number, reward: number): void {
    const step = this.#episode.steps[t];
    const belief = step.belief && Float32Array.from(step.belief);
    const played = { action: codeOf(step), parsed: this.#parsed, belief };
    const components = rewardsOf(world, played, reward, this.#person.target);
    this.comparison.same('reward', step.reward, reward);
    this.comparison.sameObject('reward_components', step.reward_components, components);
  }

  ends(end: EpisodeEnd): void {
    const { comparison } = this;
    const { final, hidden, system } = this.#episode;
    comparison.step = null;
    if (system !== this.#system) comparison.sameText('system', system, this.#system);
    comparison.sameObject('final', final, finalOf(end));
    if (hidden === undefined) return;
    const truth = hiddenOf(this.#person);
    comparison.sameNumbers(PROFILE_NAMES, hidden.profile, truth.profile);
    comparison.sameNumbers(TARGET_NAMES, hidden.belief_target, truth.belief_target);
  }
}

/** What a step says: its completion read again; without one what is recorded, as the world takes it. */
function saidIn(step: TrajectoryStep): Pick<Played, 'action' | 'parsed' | 'belief'> {
  const { completion, belief } = step;
  return playedFor(
    completion === null ? { action: codeOf(step), belief } : { prompt: NOT_ASKED, completion },
  );
}

const NOT_ASKED: Prompt = [
  { role: 'system', content: '' },
  { role: 'user', content: '' },
];

/** -0 shows as what it is. */
const textOf = (belief: ArrayLike<number> | null): string | null =>
  belief && `[${Array.from(belief, (value) => (Object.is(value, -0) ? '-0' : value)).join(', ')}]`;

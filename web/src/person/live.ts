/** Lives a week again from its seed: the only place of this page that knows who the person is. */
import { Episode } from '../../../src/reference/episode.js';
import { OBSERVATION_SIZE } from '../../../src/world/fields.js';
import { playedBy } from './players.js';
import type { Ending, Lived, Move, OtherWeek, WeekSetting } from './week.js';

/** Beside whom a finished week stands. The planners would take seconds each. */
export const COMPARED: readonly string[] = [
  'random',
  'heuristic',
  'blind-tape',
  'heuristic+constant',
  'blind-tape+constant',
  'heuristic+inference',
  'blind-tape+inference',
];

/**
 * What an agent sees of a week up to now; with its 28th move, how it ended too.
 * @throws InputError or StateError as `Episode` for what is no setting, no move, or one too many.
 */
export function liveWeek(setting: WeekSetting, moves: readonly Move[]): Lived {
  const episode = begin(setting);
  const observations = new Float32Array((moves.length + 1) * OBSERVATION_SIZE);
  episode.observe(observations);
  moves.forEach(({ action, belief }, i) => {
    episode.step(action, belief);
    episode.observe(observations, (i + 1) * OBSERVATION_SIZE);
  });
  return { observations, ending: episode.terminated ? endingOf(episode, setting) : null };
}

const begin = ({ seed, profile, grader }: WeekSetting): Episode =>
  new Episode().reset(seed, { profile, grader });

function endingOf(episode: Episode, setting: WeekSetting): Ending {
  const { given, beliefMae, finalScore, earlyMean, lateMean } = episode;
  return {
    ...{ given, beliefMae, finalScore, earlyMean, lateMean },
    profile: episode.profile.slice(),
    target: episode.target.slice(),
    belief: episode.belief.slice(),
    components: episode.components.slice(),
    weights: episode.grader.slice(),
    others: COMPARED.map((name) => otherWeek(name, setting)),
  };
}

function otherWeek(name: string, setting: WeekSetting): OtherWeek {
  const episode = begin(setting);
  using player = playedBy(name, setting);
  const seen = new Float32Array(OBSERVATION_SIZE);
  while (!episode.terminated) {
    episode.observe(seen);
    const { action, belief } = player.decide(seen);
    episode.step(action, belief);
  }
  const { finalScore, beliefMae, components } = episode;
  return { name, finalScore, beliefMae, components: components.slice() };
}

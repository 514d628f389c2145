/** Replays an episode from its seed in the worker, which sends the hidden profile to the page only after the last step. */
import { Episode } from '../../../src/engine/reference/episode.js';
import { OBSERVATION_SIZE } from '../../../src/world/fields.js';
import type { StudentFile } from '../students/student-files.js';
import type { EpisodeReplay, EpisodeResult, EpisodeSetting, Move, PolicyResult } from './episode-types.js';
import { type EpisodePlayer, openPlayer } from './players.js';

/** The policies that a finished episode is compared with. Planners are left out: each would take seconds. */
export const COMPARED: readonly string[] = [
  'random',
  'heuristic',
  'open-loop',
  'heuristic+constant',
  'open-loop+constant',
  'heuristic+inference',
  'open-loop+inference',
];

/**
 * Returns the first observation and that after each move; after the 28th move also the result.
 * @param students students that were trained on the page; the result is compared with theirs too.
 */
export async function replayEpisode(
  setting: EpisodeSetting,
  moves: readonly Move[],
  students: readonly StudentFile[] = [],
): Promise<EpisodeReplay> {
  const episode = begin(setting);
  const observations = new Float32Array((moves.length + 1) * OBSERVATION_SIZE);
  episode.observe(observations);
  moves.forEach(({ action, belief }, i) => {
    episode.step(action, belief);
    episode.observe(observations, (i + 1) * OBSERVATION_SIZE);
  });
  return { observations, result: episode.terminated ? await resultOf(episode, setting, students) : null };
}

const begin = ({ seed, profile, grader }: EpisodeSetting): Episode =>
  new Episode().reset(seed, { profile, grader });

async function resultOf(
  episode: Episode,
  setting: EpisodeSetting,
  students: readonly StudentFile[],
): Promise<EpisodeResult> {
  const others: PolicyResult[] = [];
  for (const name of [...COMPARED, ...students.map((student) => student.name)])
    others.push(playWhole(name, await openPlayer(name, setting, students), setting));
  const { given, beliefMae, finalScore, firstHalfMean, secondHalfMean } = episode;
  return {
    given,
    beliefMae,
    finalScore,
    firstHalfMean,
    secondHalfMean,
    profile: episode.profile.slice(),
    target: episode.target.slice(),
    belief: episode.belief.slice(),
    components: episode.components.slice(),
    weights: episode.grader.slice(),
    others,
  };
}

/** Plays an episode to its end, and closes the player. */
function playWhole(name: string, opened: EpisodePlayer, setting: EpisodeSetting): PolicyResult {
  const episode = begin(setting);
  using player = opened;
  const observation = new Float32Array(OBSERVATION_SIZE);
  while (!episode.terminated) {
    episode.observe(observation);
    const { action, belief } = player.decide(observation);
    episode.step(action, belief);
  }
  const { finalScore, beliefMae, components } = episode;
  return { name, finalScore, beliefMae, components: components.slice() };
}

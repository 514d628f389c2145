/** Episodes that begin later in the week go on exactly as those that were played up to there. */
import { expect, it } from 'vitest';
import { Episode } from '../src/reference/episode.js';
import { NUM_ACTIONS, NUM_METERS, NUM_STEPS, OBSERVATION_SIZE, PROFILE_SIZE } from '../src/world/fields.js';
import { ENGINES, nameAbsent, openOn } from './support/engines.js';
import { Random } from './support/random.js';

nameAbsent();

const N = 37;

/** Played by the reference up to a step of its own, with an action tape for all 28. */
function played(random: Random, imagination: boolean) {
  const episodes = Array.from({ length: N }, () =>
    new Episode({ imagination }).reset(random.integer(0, 2 ** 32 - 1)),
  );
  const stops = random.bytes(N, 0, NUM_STEPS - 1);
  const actions = random.bytes(N * NUM_STEPS, 0, NUM_ACTIONS - 1);
  episodes.forEach((episode, i) => {
    while (episode.stepCount < stops[i]) episode.step(actions[i * NUM_STEPS + episode.stepCount]);
  });
  return { episodes, stops, actions };
}

/** A reset that begins where those episodes stand. */
function resetTo(episodes: readonly Episode[]) {
  const flat = (width: number, of: (episode: Episode) => ArrayLike<number>) => {
    const rows = new Float32Array(N * width);
    episodes.forEach((episode, i) => {
      rows.set(of(episode), i * width);
    });
    return rows;
  };
  return {
    seed: episodes.map((episode) => episode.seed),
    profiles: flat(PROFILE_SIZE, (episode) => episode.profile),
    start: {
      steps: episodes.map((episode) => episode.stepCount),
      meters: flat(NUM_METERS, (episode) => episode.meters),
      early: flat(1, (episode) => [episode.early]),
      late: flat(1, (episode) => [episode.late]),
      returns: flat(1, (episode) => [episode.return]),
      crashes: Uint8Array.from(episodes, (episode) => episode.crashes),
    },
  };
}

for (const engine of ENGINES) {
  for (const imagination of [false, true]) {
    it(`goes on as what was played up to there: ${engine.name}${imagination ? ', imagined' : ''}`, () => {
      const random = new Random(`starts ${engine.name}`);
      const { episodes, actions } = played(random, imagination);
      using env = openOn(engine, { numEnvs: N, imagination });
      const shown = env.reset(resetTo(episodes));
      const hashes = () => expect(Array.from(env.stateHash())).toEqual(episodes.map((e) => e.stateHash()));
      hashes();
      while (episodes.some((episode) => !episode.terminated)) {
        const mask = Uint8Array.from(episodes, ({ terminated }) => Number(!terminated));
        const codes = Uint8Array.from(
          episodes,
          (episode, i) => actions[i * NUM_STEPS + episode.stepCount] ?? 0,
        );
        const belief = random.chance(0.5) ? random.beliefs(N, 1).beliefs : undefined;
        env.step(codes, { mask, beliefs: belief });
        episodes.forEach((episode, i) => {
          if (mask[i] === 0) return;
          const row = new Float32Array(OBSERVATION_SIZE);
          expect(shown.rewards[i]).toBe(episode.step(codes[i], belief?.subarray(i * 3, i * 3 + 3) ?? null));
          episode.observe(row);
          expect(shown.observations.slice(i * OBSERVATION_SIZE, (i + 1) * OBSERVATION_SIZE)).toEqual(row);
        });
      }
      hashes();
      episodes.forEach((episode, i) => {
        expect(shown.finalScores[i]).toBe(episode.finalScore);
        expect(shown.components.slice(i * 6, (i + 1) * 6)).toEqual(episode.components);
        expect(shown.beliefMae[i]).toBe(episode.beliefMae);
        expect(shown.earlyMeans[i]).toBe(episode.earlyMean);
        expect(shown.lateMeans[i]).toBe(episode.lateMean);
        expect(shown.episodeReturns[i]).toBe(episode.return);
        expect(shown.episodeLengths[i]).toBe(NUM_STEPS);
      });
    });
  }
}

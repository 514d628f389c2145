/** Replays episodes and plays policies in a worker, so that the page has no hidden profile before the last step. */
import { expose } from 'comlink';
import { outcomeOf } from '../engine/outcome.js';
import type { StudentFile } from '../students/student-files.js';
import type { EpisodeSetting, Move } from './episode-types.js';
import { Adviser } from './players.js';
import { replayEpisode } from './replay.js';
import { playRival } from './rivals.js';

const adviser = new Adviser();

type Students = readonly StudentFile[];

/** The calls of the page. `students` are the students trained on the page, which a call may play. */
const api = {
  replay: (setting: EpisodeSetting, moves: readonly Move[], students: Students) =>
    outcomeOf(() => replayEpisode(setting, moves, students)),
  /** Returns the next move of a policy. The policy gets the same observations as the page. */
  advise: (name: string, setting: EpisodeSetting, moves: readonly Move[], students: Students) =>
    outcomeOf(async () => {
      const { observations } = await replayEpisode(setting, moves);
      return adviser.advise(name, setting, moves, observations, students);
    }),
  rival: (name: string, setting: EpisodeSetting, students: Students) =>
    outcomeOf(() => playRival(name, setting, students)),
};

export type PersonApi = typeof api;

expose(api);

/** Replays episodes and plays policies in a worker, so that the page has no hidden profile before the last step. */
import { expose } from 'comlink';
import { outcomeOf } from '../engine/outcome.js';
import type { StudentFile } from '../students/student-files.js';
import { loadWasm } from '../workers/wasm.js';
import type { EpisodeSetting, Move } from './episode-types.js';
import { Adviser, needsWasm } from './players.js';
import { replayEpisode } from './replay.js';
import { playRival } from './rivals.js';

const adviser = new Adviser();

type Students = readonly StudentFile[];

/** The calls of the page. `students` are the students trained on the page, which a call may play. */
const api = {
  replay: (setting: EpisodeSetting, moves: readonly Move[], students: Students) =>
    outcomeOf(async () => {
      // The result of a finished episode has the scores of the students.
      if (students.length > 0) await loadWasm();
      return replayEpisode(setting, moves, students);
    }),
  /** Returns the next move of a policy. The policy gets the same observations as the page. */
  advise: (name: string, setting: EpisodeSetting, moves: readonly Move[], students: Students) =>
    outcomeOf(async () => {
      if (needsWasm(name)) await loadWasm();
      const { observations } = await replayEpisode(setting, moves);
      return adviser.advise(name, setting, moves, observations, students);
    }),
  rival: (name: string, setting: EpisodeSetting, students: Students) =>
    outcomeOf(async () => {
      if (needsWasm(name)) await loadWasm();
      return playRival(name, setting, students);
    }),
};

export type PersonApi = typeof api;

expose(api);

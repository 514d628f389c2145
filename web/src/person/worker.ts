/** Replays episodes and plays policies in a worker, so that the page has no hidden profile before the last step. */
import { expose } from 'comlink';
import { outcomeOf } from '../workers/calls.js';
import { loadWasm } from '../workers/wasm.js';
import type { EpisodeSetting, Move, StudentFile } from './episode.js';
import { Adviser, needsWasm, playRival } from './players.js';
import { Observer, replayEpisode } from './replay.js';

const adviser = new Adviser();
const observer = new Observer();

type Students = readonly StudentFile[];

/** The calls of the page. `students` are the students trained on the page, which a call may play. */
const api = {
  replay: (setting: EpisodeSetting, moves: readonly Move[]) => outcomeOf(() => replayEpisode(setting, moves)),
  /** Returns the belief inferred from each observation. */
  infer: (observations: Float32Array, grader: string) =>
    outcomeOf(() => observer.beliefs(observations, grader)),
  /** Returns the next move of a policy. The policy gets the same observations as the page. */
  advise: (name: string, setting: EpisodeSetting, moves: readonly Move[], students: Students) =>
    outcomeOf(async () => {
      if (needsWasm(name)) await loadWasm();
      return adviser.advise(name, setting, moves, replayEpisode(setting, moves).observations, students);
    }),
  rival: (name: string, setting: EpisodeSetting, students: Students, report: (steps: number) => void) =>
    outcomeOf(async () => {
      if (needsWasm(name)) await loadWasm();
      return playRival(name, setting, students, report);
    }, report),
};

export type PersonApi = typeof api;

expose(api);

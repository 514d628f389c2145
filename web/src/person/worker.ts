/** Replays episodes in a worker, so that the page has no hidden profile before the last step. */
import { expose } from 'comlink';
import { outcomeOf } from '../engine/outcome.js';
import type { EpisodeSetting, Move } from './episode-types.js';
import { Adviser } from './players.js';
import { replayEpisode } from './replay.js';
import { playRival } from './rivals.js';

const adviser = new Adviser();

const api = {
  replay: (setting: EpisodeSetting, moves: readonly Move[]) => outcomeOf(() => replayEpisode(setting, moves)),
  /** Returns the next move of a policy, which gets the same observations as the page. */
  advise: (name: string, setting: EpisodeSetting, moves: readonly Move[]) =>
    outcomeOf(() => adviser.advise(name, setting, moves, replayEpisode(setting, moves).observations)),
  rival: (name: string, setting: EpisodeSetting) => outcomeOf(() => playRival(name, setting)),
};

export type PersonApi = typeof api;

expose(api);

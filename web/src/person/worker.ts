/** One person's week, lived in a worker: what it answers is all that the page can know of the person. */
import { expose } from 'comlink';
import { outcomeOf } from '../engine/outcome.js';
import { liveWeek } from './live.js';
import { Adviser } from './players.js';
import type { Move, WeekSetting } from './week.js';

const adviser = new Adviser();

const api = {
  live: (setting: WeekSetting, moves: readonly Move[]) => outcomeOf(() => liveWeek(setting, moves)),
  /** What a policy would do next: it is shown what the page is shown. */
  advise: (name: string, setting: WeekSetting, moves: readonly Move[]) =>
    outcomeOf(() => adviser.ask(name, setting, moves, liveWeek(setting, moves).observations)),
};

export type PersonApi = typeof api;

expose(api);

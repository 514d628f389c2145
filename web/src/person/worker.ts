/** One person's week, lived in a worker: what it answers is all that the page can know of the person. */
import { expose } from 'comlink';
import { liveWeek } from './live.js';
import { Adviser } from './players.js';
import type { Advice, Lived, Move, WeekSetting } from './week.js';

const adviser = new Adviser();

const api = {
  live: (setting: WeekSetting, moves: readonly Move[]): Lived => liveWeek(setting, moves),
  /** What a policy would do next: it is shown what the page is shown. */
  advise(name: string, setting: WeekSetting, moves: readonly Move[]): Advice {
    return adviser.ask(name, setting, moves, liveWeek(setting, moves).observations);
  },
};

export type PersonWorker = typeof api;

expose(api);

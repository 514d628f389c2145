/** Tests the schedules of trainings on the page: the published one, and the short one of the page's tests. */
import { expect, it } from 'vitest';
import { toTrainRequest } from '../../src/training/student/train-options.js';
import { SCHEDULE } from '../../web/src/training/schedule.js';
import { SCHEDULE as SHORT } from '../support/web/short-schedule.js';

it('the published schedule is accepted, and the short one sets the same options', () => {
  expect(toTrainRequest(SCHEDULE)).toMatchObject({
    episodes: 480,
    rounds: 1,
    roundEpisodes: 160,
    epochs: 30,
  });
  expect(Object.keys(SHORT)).toEqual(Object.keys(SCHEDULE));
});

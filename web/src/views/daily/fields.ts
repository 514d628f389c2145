/** The field of the daily episode's address. */
import type { Field } from '../../address.js';
import { isPlayableDay } from '../../daily/daily.js';

const day: Field<string> = {
  // An empty day means today, whenever the link is opened.
  initial: '',
  expected: 'a day from 2000-01-01 to today',
  read: (text) => (isPlayableDay(text) ? text : null),
  write: (text) => text,
};

export const DAILY_FIELDS = { day };

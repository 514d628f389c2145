/** The views, in the order of the navigation. The first one is the default. */
import { CROWD_FIELDS } from './crowd/fields.js';
import { DAILY_FIELDS } from './daily/fields.js';
import { GRADERS_FIELDS } from './graders/fields.js';
import { PERSON_FIELDS } from './person/fields.js';
import { PersonView } from './person/person.js';
import { SEQUENCE_FIELDS } from './sequence/fields.js';
import { TRAINING_FIELDS } from './training/fields.js';
import { type View, view } from './view.js';

export const VIEWS: readonly View[] = [
  // The code of this view is part of the page's first file.
  view({ name: 'person', title: 'One person', fields: PERSON_FIELDS, load: async () => PersonView }),
  view({
    ...{ name: 'crowd', title: 'Crowd', fields: CROWD_FIELDS },
    load: async () => (await import('./crowd/crowd.js')).CrowdView,
  }),
  view({
    ...{ name: 'daily', title: 'Daily', fields: DAILY_FIELDS },
    load: async () => (await import('./daily/daily.js')).DailyView,
  }),
  view({
    ...{ name: 'sequence', title: 'Sequence', fields: SEQUENCE_FIELDS },
    load: async () => (await import('./sequence/sequence.js')).SequenceView,
  }),
  view({
    ...{ name: 'train', title: 'Train', fields: TRAINING_FIELDS },
    load: async () => (await import('./training/training.js')).TrainingView,
  }),
  view({
    ...{ name: 'graders', title: 'Graders', fields: GRADERS_FIELDS },
    load: async () => (await import('./graders/graders.js')).GradersView,
  }),
];

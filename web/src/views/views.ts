/** The views, in the order of the navigation. The first one is the default. */
import { CrowdView } from './crowd/crowd.js';
import { CROWD_FIELDS } from './crowd/fields.js';
import { DailyView } from './daily/daily.js';
import { DAILY_FIELDS } from './daily/fields.js';
import { GRADERS_FIELDS } from './graders/fields.js';
import { GradersView } from './graders/graders.js';
import { PERSON_FIELDS } from './person/fields.js';
import { PersonView } from './person/person.js';
import { SEQUENCE_FIELDS } from './sequence/fields.js';
import { SequenceView } from './sequence/sequence.js';
import { TRAINING_FIELDS } from './training/fields.js';
import { TrainingView } from './training/training.js';
import { type View, view } from './view.js';

export const VIEWS: readonly View[] = [
  view({ name: 'crowd', title: 'Crowd', fields: CROWD_FIELDS, Component: CrowdView }),
  view({ name: 'person', title: 'One person', fields: PERSON_FIELDS, Component: PersonView }),
  view({ name: 'daily', title: 'Daily', fields: DAILY_FIELDS, Component: DailyView }),
  view({ name: 'sequence', title: 'Sequence', fields: SEQUENCE_FIELDS, Component: SequenceView }),
  view({ name: 'train', title: 'Train', fields: TRAINING_FIELDS, Component: TrainingView }),
  view({ name: 'graders', title: 'Graders', fields: GRADERS_FIELDS, Component: GradersView }),
];

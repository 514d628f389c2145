/** The views, in the order of the navigation. The first one is the default. */
import type { ComponentType } from 'preact';
import type { Fields, ViewProps } from '../address.js';
import {
  CROWD_FIELDS,
  DAILY_FIELDS,
  GRADERS_FIELDS,
  PERSON_FIELDS,
  SEQUENCE_FIELDS,
  TRAINING_FIELDS,
} from './fields.js';
import { PersonView } from './person/person.js';

export interface View {
  /** The name in the address. */
  readonly name: string;
  /** The title in the navigation and of the document. */
  readonly title: string;
  readonly fields: Fields;
  /** Loads the component, with its styles. */
  readonly load: () => Promise<ComponentType<ViewProps<Fields>>>;
}

/** Defines a view whose component takes the state of its fields. */
export const view = <F extends Fields>(
  parts: Omit<View, 'fields' | 'load'> & {
    readonly fields: F;
    readonly load: () => Promise<ComponentType<ViewProps<F>>>;
  },
): View => parts as unknown as View;

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

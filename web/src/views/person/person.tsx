/** The view. */
import type { ViewProps } from '../view.js';
import type { PERSON_FIELDS } from './fields.js';

export function PersonView(_: ViewProps<typeof PERSON_FIELDS>) {
  return <h1>Person</h1>;
}

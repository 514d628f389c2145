/** The view. */
import type { ViewProps } from '../view.js';
import type { GRADERS_FIELDS } from './fields.js';

export function GradersView(_: ViewProps<typeof GRADERS_FIELDS>) {
  return <h1>Graders</h1>;
}

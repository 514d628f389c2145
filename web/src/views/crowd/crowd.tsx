/** The crowd. */
import type { ViewProps } from '../view.js';
import type { CROWD_FIELDS } from './fields.js';

export function CrowdView(_: ViewProps<typeof CROWD_FIELDS>) {
  return <h1>Crowd</h1>;
}

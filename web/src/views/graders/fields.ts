/** What a link says of the view. */
import { whole } from '../../address.js';

export const GRADERS_FIELDS = { seed: whole(0, 0, 2 ** 32 - 1) };

/** Who plays, where a language model does. */
import type { Player } from '../trajectory/episode.js';

/** As files call it: nobody knows what a language model wants. */
export const modelPlayer = (model: string): Player => ({
  teacher: 'llm',
  model,
  objective: null,
  oracle: false,
});

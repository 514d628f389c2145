/** What tables and pages call who played. */
import type { Player } from './episode.js';

/** Beside a name: not a result of an agent. */
export const ORACLE_MARK = ' [oracle]';

/** "llm:MODEL"; a teacher without a model by its own name. */
export const teacherName = ({ teacher, model }: Pick<Player, 'teacher' | 'model'>): string =>
  model === null ? teacher : `${teacher}:${model}`;

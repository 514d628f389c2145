/** A player's name in tables and pages. */
import type { Player } from './trajectory-episode.js';

/** Follows a name in tables: the player used hidden state and is not a valid agent. */
export const ORACLE_MARK = ' [oracle]';

/** Returns "llm:MODEL", or the teacher's name if it has no model. */
export const teacherName = ({ teacher, model }: Pick<Player, 'teacher' | 'model'>): string =>
  model === null ? teacher : `${teacher}:${model}`;

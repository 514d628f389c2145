/** Names players in tables and pages. */
import type { Player } from './trajectory-episode.js';

/** The suffix of the name of a player that used hidden state. Such a player is not a valid agent. */
export const ORACLE_MARK = ' [oracle]';

/** Returns "TEACHER:MODEL", such as "llm:gpt-4o"; without a model "TEACHER". */
export const teacherName = ({ teacher, model }: Pick<Player, 'teacher' | 'model'>): string =>
  model === null ? teacher : `${teacher}:${model}`;

/** What a socket carries: one answer to each frame, in order. */

export interface Answer {
  /** A text frame, or a binary one; null sends nothing. */
  readonly frame: string | Uint8Array | null;
  /** Whether this ends the conversation: the socket is closed once it is sent. */
  readonly ends?: boolean;
}

/** One side of a conversation. Whatever happens, `end` is called once, when the socket is gone. */
export interface Talk {
  /** Frames are handed over one at a time, the next once this one is answered. */
  answer(data: Buffer, isBinary: boolean): Answer | Promise<Answer>;
  end(): void;
}

/** Codes that OpenEnv's clients know. */
export type ErrorName =
  | 'INVALID_JSON'
  | 'UNKNOWN_TYPE'
  | 'VALIDATION_ERROR'
  | 'EXECUTION_ERROR'
  | 'CAPACITY_REACHED'
  | 'SESSION_ERROR';

/** An `error` message. @param ends see `Answer`. */
export function errorAnswer(code: ErrorName, message: string, more: object = {}, ends = false): Answer {
  return { frame: JSON.stringify({ type: 'error', data: { message, code, ...more } }), ends };
}

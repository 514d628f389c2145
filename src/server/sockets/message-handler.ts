/** The interface of a socket's message handler: one answer per frame, in order. */

export interface Answer {
  /** A text or binary frame; null sends nothing. */
  readonly frame: string | Uint8Array | null;
  /** Whether the socket is closed after this answer. */
  readonly ends?: boolean;
}

export interface MessageHandler {
  /** Answers a frame. The next call waits for the answer. */
  answer(data: Buffer, isBinary: boolean): Answer | Promise<Answer>;
  /** Frees the handler's memory. Called exactly once, when the socket closes. */
  end(): void;
}

/** Error codes that OpenEnv's clients know. */
export type ErrorName =
  | 'INVALID_JSON'
  | 'UNKNOWN_TYPE'
  | 'VALIDATION_ERROR'
  | 'EXECUTION_ERROR'
  | 'CAPACITY_REACHED'
  | 'SESSION_ERROR';

/** Builds an `error` message. @param more further fields of its data. */
export const errorAnswer = (code: ErrorName, message: string, more: object = {}): Answer => ({
  frame: JSON.stringify({ type: 'error', data: { message, code, ...more } }),
});

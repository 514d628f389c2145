/** What a command gets besides its options. */
export interface Context {
  /** Aborted with an `Interruption` when the process is asked to stop. */
  readonly signal: AbortSignal;
}

/** The inputs of a command other than its options. */
export interface Context {
  /** Aborted with an `Interruption` when the process is asked to stop. */
  readonly signal: AbortSignal;
}

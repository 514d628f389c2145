/** The context of a command: its inputs other than options. */
export interface Context {
  /** Aborted with an `Interruption` when the process is asked to stop. */
  readonly signal: AbortSignal;
}

/** The few ways in which a call can fail. Every error has a stable `code`; its message may be reworded. */

/** What is common to all errors that rhythm-vec throws on purpose. */
export class RhythmError extends Error {
  /** Stable, machine-readable: see `ErrorCode`. */
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** An argument that breaks the rules of a call. Nothing has changed. */
export class InputError extends RhythmError {}

/** A call that the environment's present state does not allow. Nothing has changed. */
export class StateError extends RhythmError {}

/** A backend, kernel or addon that cannot be used here. */
export class BackendError extends RhythmError {}

/** An optional package that a call needs, and that cannot be loaded here. */
export class LibraryError extends RhythmError {}

export type ErrorCode =
  | 'wrong_type'
  | 'wrong_length'
  | 'out_of_range'
  | 'unknown_option'
  | 'unknown_name'
  | 'bad_seed'
  | 'bad_belief'
  | 'bad_profile'
  | 'bad_grader'
  | 'bad_world'
  | 'bad_snapshot'
  | 'illegal_action'
  | 'not_alike'
  | 'foreign_past'
  | 'not_reset'
  | 'no_snapshot'
  | 'episode_over'
  | 'busy'
  | 'closed'
  | 'outputs_detached'
  | 'backend_unavailable'
  | 'out_of_memory'
  | 'device_lost'
  | 'device_failed'
  | 'addon_missing'
  | 'addon_stale'
  | 'library_missing'
  | 'missing_setting'
  | 'endpoint_failed'
  | 'over_budget'
  | 'hub_failed';

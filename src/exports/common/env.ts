/** Exports of `rhythm-vec/env` for every platform: environments, graders, policies, worlds, errors. */

export type {
  Availability,
  BackendName,
  KernelName,
  OutputName,
  SyncBackendName,
  Trajectory,
  TrajectoryField,
  TrajectoryOf,
} from '../../engine/backends/backend.js';
export type { Device, WebGpuOptions } from '../../engine/backends/device-options.js';
export { useWasmModule, type WasmModule } from '../../engine/backends/wasm/instance.js';
export {
  type Grader,
  type GraderLike,
  type GraderWeights,
  graderWeights,
  validateGrader,
} from '../../engine/graders/grader.js';
export { parseGrader } from '../../engine/graders/parse-grader.js';
export { type ComponentLayout, regrade } from '../../engine/graders/regrade.js';
export type { EncodedField, ObservationOptions } from '../../engine/observe/encoding.js';
export type { HistoryStep } from '../../engine/observe/history.js';
export type {
  EpisodeStarts,
  Policy,
  PolicyActions,
  PolicyFunction,
  PolicyLike,
  PolicyPlayer,
  PolicySetting,
  PolicyView,
} from '../../engine/policy/policy.js';
export { Episode, type EpisodeOptions, type EpisodeReset } from '../../engine/reference/episode.js';
export type { GraderChoice, ProfileChoice } from '../../engine/validate/profiles.js';
export type { SeedChoice } from '../../engine/validate/seeds.js';
export type { StartStates } from '../../engine/validate/starts.js';
export type { Actions, Mask } from '../../engine/validate/steps.js';
export type { AsyncRunOptions, AsyncVecEnv } from '../../engine/vec-env/async-vec-env.js';
export { AUTORESET_MODES, type AutoresetMode } from '../../engine/vec-env/autoreset.js';
export type { ActionSpace, EnvSpec, ObservationSpace } from '../../engine/vec-env/properties.js';
export type { RunChoice } from '../../engine/vec-env/runs.js';
export type { RunOptions, VecEnv } from '../../engine/vec-env/vec-env.js';
export type {
  AsyncVecEnvOptions,
  EngineOptions,
  ForkOptions,
  ImaginedProfiles,
  LongCallOptions,
  ResetOptions,
  RunResult,
  StepOptions,
  StepResult,
  VecEnvOptions,
} from '../../engine/vec-env/vec-env-options.js';
export {
  BackendError,
  type ErrorCode,
  type Fault,
  InputError,
  LibraryError,
  RhythmError,
  StateError,
} from '../../shared/errors.js';
export { layoutDigest, worldDigest } from '../../world/block.js';
export {
  ACTION_NAMES,
  BELIEF_NAMES,
  COMPONENT_FIELDS,
  COMPONENT_NAMES,
  EVENT_NAMES,
  type Field,
  GRADER_NAMES,
  METER_NAMES,
  OBSERVATION,
  OBSERVATION_FIELDS,
  OBSERVATION_SIZE,
  PROFILE_NAMES,
  STATE_FIELDS,
  TRAIT_NAMES,
} from '../../world/fields.js';
export {
  type BeliefFactor,
  type GraderName,
  type ProfileName,
  RHYTHM,
  type WorldSpec,
} from '../../world/numbers.js';
export type { ProfileKindName } from '../../world/resolve-names.js';
export { validateWorld } from '../../world/validate-world.js';
export { createWorld, type World } from '../../world/world.js';

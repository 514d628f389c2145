/** Exports for every platform: everything that needs only the language. */

export { Inference, type InferenceOptions } from './agents/inference/inference.js';
export type {
  Estimate,
  Factor,
  Finding,
  InferenceReport,
  StepFindings,
  TargetEstimate,
} from './agents/inference/inference-report.js';
export { inferenceWords } from './agents/inference/inference-words.js';
export { openLoopActions } from './agents/policies/open-loop.js';
export type { Device, OutputName } from './engine/backends/async-backend.js';
export type { Availability, Trajectory } from './engine/backends/backend.js';
export {
  type Grader,
  type GraderLike,
  type GraderWeights,
  graderWeights,
  validateGrader,
} from './engine/graders/grader.js';
export { parseGrader } from './engine/graders/parse-grader.js';
export { type ComponentLayout, regrade } from './engine/graders/regrade.js';
export type { EncodedField } from './engine/observe/encoding.js';
export type { ObservationOptions } from './engine/observe/observation-options.js';
export type { HistoryStep } from './engine/observe/past-step.js';
export type { ActionSpace, ObservationSpace } from './engine/observe/spaces.js';
export { Episode, type EpisodeOptions, type EpisodeReset } from './engine/reference/episode.js';
export { AUTORESET_MODES, type AutoresetMode } from './engine/validate/autoreset-modes.js';
export type { Mask } from './engine/validate/masks.js';
export type { GraderChoice, ProfileChoice } from './engine/validate/profiles.js';
export type { SeedChoice } from './engine/validate/seeds.js';
export type { StartStates } from './engine/validate/starts.js';
export type { Actions } from './engine/validate/steps.js';
export type { AsyncRunOptions, AsyncVecEnv } from './engine/vec-env/async-vec-env.js';
export type { WebGpuOptions } from './engine/vec-env/device-options.js';
export type { EnvSpec } from './engine/vec-env/properties.js';
export type { RunChoice } from './engine/vec-env/run-requests.js';
export type { RunOptions, VecEnv } from './engine/vec-env/vec-env.js';
export type {
  AsyncVecEnvOptions,
  ForkOptions,
  LongCallOptions,
  ResetOptions,
  RunResult,
  StepOptions,
  StepResult,
  VecEnvOptions,
} from './engine/vec-env/vec-env-options.js';
export { type PolicyComponents, rankPolicies, type Standing } from './evaluation/ranking.js';
export {
  type Flip,
  type LeadSensitivity,
  type WeightSensitivity,
  weightSensitivity,
} from './evaluation/weight-sensitivity.js';
export { ADVANTAGE_METHODS, type AdvantageMethod } from './rollouts/advantages/advantage-methods.js';
export {
  type AdvantageOptions,
  type GroupAdvantages,
  groupAdvantages,
} from './rollouts/advantages/group-advantages.js';
export type { StepRollouts } from './rollouts/advantages/rollout-arguments.js';
export {
  type StepAdvantageOptions,
  type StepAdvantages,
  stepAdvantages,
} from './rollouts/advantages/step-advantages.js';
export type {
  RolloutActions,
  RolloutOptions,
  RolloutOrigin,
  RolloutPolicy,
  RolloutView,
} from './rollouts/groups/group-options.js';
export type { RolloutGroups } from './rollouts/groups/group-recorder.js';
export type { ReplayColumns } from './rollouts/replay/row-columns.js';
export type { RowFault } from './rollouts/replay/row-faults.js';
export type { ReplayRow } from './rollouts/replay/row-objects.js';
export type { ReplayOptions, ReplayScores } from './rollouts/replay/score-replay.js';
export {
  REWARD_NAMES,
  type RewardName,
  type RewardStack,
  type RewardStackOptions,
} from './rollouts/rewards/compute-rewards.js';
export type { RewardRows } from './rollouts/rewards/reward-rows.js';
export { rewardStack } from './rollouts/rewards/reward-stack.js';
export type { RewardShaping } from './rollouts/rewards/shaping.js';
export type { RewardList, Rewards } from './rollouts/rewards/totals.js';
export type { PastStep } from './rollouts/text/observation-row.js';
export {
  type ParsedCompletion,
  type ParsedCompletions,
  type ParseOptions,
  parseCompletion,
  parseCompletions,
} from './rollouts/text/parse.js';
export { type ChatMessage, type Prompt, prompt, prompts } from './rollouts/text/prompt.js';
export type { TrajectoryEpisode, TrajectoryStep } from './rollouts/trajectories/trajectory-episode.js';
export {
  BackendError,
  type ErrorCode,
  InputError,
  LibraryError,
  RhythmError,
  StateError,
} from './shared/errors.js';
export type { Interval } from './shared/statistics.js';
export { layoutDigest, worldDigest } from './world/digest.js';
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
} from './world/fields.js';
export { type BeliefFactor, RHYTHM, type WorldSpec } from './world/numbers.js';
export { validateWorld } from './world/validate-world.js';
export { createWorld, type World } from './world/world.js';

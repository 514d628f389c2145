/** What is exported on every platform: all that asks for nothing but the language. */
export type { Device, OutputName } from './backends/async-backend.js';
export type { Availability, Trajectory } from './backends/backend.js';
export {
  BackendError,
  type ErrorCode,
  InputError,
  LibraryError,
  RhythmError,
  StateError,
} from './errors.js';
export { type PolicyComponents, rankPolicies, type Standing } from './evaluate/ranking.js';
export {
  type Flip,
  type LeadSensitivity,
  type WeightSensitivity,
  weightSensitivity,
} from './evaluate/sensitivity.js';
export type { Interval } from './evaluate/statistics.js';
export {
  type Grader,
  type GraderLike,
  type GraderWeights,
  graderWeights,
  validateGrader,
} from './graders/grader.js';
export { parseGrader } from './graders/parse.js';
export { type ComponentLayout, regrade } from './graders/regrade.js';
export type { EncodedField } from './observe/fields.js';
export type { ObservationOptions } from './observe/options.js';
export type { HistoryStep } from './observe/record.js';
export type { ActionSpace, ObservationSpace } from './observe/spaces.js';
export { Inference, type InferenceOptions } from './policies/inference/inference.js';
export type {
  Estimate,
  Factor,
  Finding,
  InferenceReport,
  StepFindings,
  TargetEstimate,
} from './policies/inference/report.js';
export { inferenceWords } from './policies/inference/words.js';
export { blindTape } from './policies/tapes.js';
export { Episode, type EpisodeOptions, type EpisodeReset } from './reference/episode.js';
export type { GroupAdvantages } from './rollout/advantages/in-groups.js';
export { ADVANTAGE_METHODS, type AdvantageMethod } from './rollout/advantages/methods.js';
export type { StepRollouts } from './rollout/advantages/rollouts.js';
export { type AdvantageOptions, groupAdvantages } from './rollout/group-advantages.js';
export type {
  RolloutActions,
  RolloutOptions,
  RolloutOrigin,
  RolloutPolicy,
  RolloutView,
} from './rollout/groups/options.js';
export type { RolloutGroups } from './rollout/groups/recording.js';
export type { ReplayColumns } from './rollout/replay/columns.js';
export type { RowFault } from './rollout/replay/faults.js';
export type { ReplayRow } from './rollout/replay/objects.js';
export { rewardStack } from './rollout/reward-stack.js';
export type { RewardRows } from './rollout/rewards/rows.js';
export type { RewardShaping } from './rollout/rewards/shaping.js';
export {
  REWARD_NAMES,
  type RewardName,
  type RewardStack,
  type RewardStackOptions,
} from './rollout/rewards/stack.js';
export type { RewardList, Rewards } from './rollout/rewards/totals.js';
export type { ReplayOptions, ReplayScores } from './rollout/score-replay.js';
export {
  type StepAdvantageOptions,
  type StepAdvantages,
  stepAdvantages,
} from './rollout/step-advantages.js';
export {
  type ParsedCompletion,
  type ParsedCompletions,
  type ParseOptions,
  parseCompletion,
  parseCompletions,
} from './text/parse.js';
export { type ChatMessage, type Prompt, prompt, prompts } from './text/prompt.js';
export type { PastStep } from './text/seen.js';
export type { TrajectoryEpisode, TrajectoryStep } from './trajectory/episode.js';
export { AUTORESET_MODES, type AutoresetMode } from './validate/autoreset-modes.js';
export type { Mask } from './validate/masks.js';
export type { GraderChoice, ProfileChoice } from './validate/persons.js';
export type { SeedChoice } from './validate/seeds.js';
export type { StartStates } from './validate/starts.js';
export type { Actions } from './validate/steps.js';
export type { AsyncRunOptions, AsyncVecEnv } from './vec-env/async-vec-env.js';
export type { WebGpuOptions } from './vec-env/device-options.js';
export type {
  AsyncVecEnvOptions,
  ForkOptions,
  LongCallOptions,
  ResetOptions,
  RunResult,
  StepOptions,
  StepResult,
  VecEnvOptions,
} from './vec-env/options.js';
export type { EnvSpec } from './vec-env/properties.js';
export type { RunChoice } from './vec-env/requests.js';
export type { RunOptions, VecEnv } from './vec-env/vec-env.js';
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
export { type BeliefFactor, RHYTHM, type WorldSpec } from './world/spec.js';
export { validateWorld } from './world/validate.js';
export { createWorld, type World } from './world/world.js';

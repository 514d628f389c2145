/** Exports of `rhythm-vec/rollouts` for every platform. */

export type { ValueRollouts } from '../../rollouts/advantages/generalised-advantages.js';
export {
  type GeneralisedAdvantageOptions,
  type GeneralisedAdvantages,
  generalisedAdvantages,
} from '../../rollouts/advantages/generalised-advantages.js';
export {
  ADVANTAGE_METHODS,
  type AdvantageMethod,
  type AdvantageOptions,
  type GroupAdvantages,
  groupAdvantages,
} from '../../rollouts/advantages/group-advantages.js';
export type { StepRollouts } from '../../rollouts/advantages/rollout-arguments.js';
export {
  type StepAdvantageOptions,
  type StepAdvantages,
  stepAdvantages,
} from '../../rollouts/advantages/step-advantages.js';
export type { RolloutGroups } from '../../rollouts/groups/group-recorder.js';
export type {
  RolloutOptions,
  RolloutOrigin,
  RolloutPolicy,
  RolloutView,
} from '../../rollouts/groups/group-start.js';
export type { ReplayInput } from '../../rollouts/replay/check-rows.js';
export type { CompletionColumns, ReplayColumns } from '../../rollouts/replay/row-columns.js';
export type { RowFault } from '../../rollouts/replay/row-faults.js';
export type { CompletionRow, ReplayRow } from '../../rollouts/replay/row-objects.js';
export type { ReplayOptions, ReplayScores } from '../../rollouts/replay/score-replay.js';
export type { RewardShaping } from '../../rollouts/rewards/compute-rewards.js';
export {
  REWARD_NAMES,
  type RewardName,
  type RewardStack,
  type RewardStackOptions,
  rewardStack,
} from '../../rollouts/rewards/compute-rewards.js';
export type { RewardRows } from '../../rollouts/rewards/reward-rows.js';
export type { RewardList, Rewards } from '../../rollouts/rewards/weighted-totals.js';
export type { FollowedEnv, FollowedStep } from '../../rollouts/running/episode-statistics.js';
export {
  type EndedEpisode,
  EpisodeStatistics,
  type EpisodeStatisticsOptions,
} from '../../rollouts/running/episode-statistics.js';
export {
  type NormaliseOptions,
  ObservationNormaliser,
  type ObservationNormaliserOptions,
  RewardNormaliser,
  type RewardNormaliserOptions,
} from '../../rollouts/running/normalisers.js';
export type { NormaliserState } from '../../rollouts/running/running-moments.js';
export type { PastStep } from '../../rollouts/text/observation-row.js';
export {
  type ParsedCompletion,
  type ParsedCompletions,
  type ParseOptions,
  parseCompletion,
  parseCompletions,
} from '../../rollouts/text/parse-completions.js';
export {
  type ChatMessage,
  type Prompt,
  type PromptBatchOptions,
  type PromptOptions,
  prompt,
  promptBatches,
  prompts,
} from '../../rollouts/text/prompt.js';
export type { HistoryForm } from '../../rollouts/text/prompt-text.js';
export type {
  TextEnv,
  TextEnvOptions,
  TextInfo,
  TextReward,
  TextStep,
} from '../../rollouts/text/text-env.js';
export type { TrajectoryEpisode, TrajectoryStep } from '../../rollouts/trajectories/trajectory-episode.js';

/** How workers run the shards of a language model's job. These settings change no result, and are not part of the job. */
import type { Sampling } from '../../rollouts/trajectories/trajectory-episode.js';
import type { ModelFlags } from '../llm/llm-options.js';

export type RunSettings = Pick<ModelFlags, 'baseUrl' | 'concurrency' | 'timeout' | 'retries'>;

/** Returns the settings among the options of a command. */
export const settingsOf = ({ baseUrl, concurrency, timeout, retries }: ModelFlags): RunSettings => ({
  baseUrl,
  concurrency,
  timeout,
  retries,
});

/** Returns the options with which a worker opens the model. */
export const flagsOf = (settings: RunSettings, sampling: Sampling): ModelFlags => ({
  ...settings,
  maxTokens: sampling.max_tokens,
  temperature: sampling.temperature,
  topP: sampling.top_p,
  samplingSeed: sampling.seed,
});

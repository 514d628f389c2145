/**
 * `npx tsx examples/replay-scoring.ts`: scores completions of a language model, as a reward function for GRPO does. All
 * completions answer the same prompt, which describes one state. The seed and the earlier actions determine this state.
 */
import { groupAdvantages, parseCompletions, type ReplayRow, scoreReplay } from 'rhythm-vec';

const state = { seed: 4242, actionHistory: ['sleep', 'deep_work', 'meditate'] };
const completions = [
  '<reasoning>Company tires this person.</reasoning>\n3 6 5 EXERCISE',
  '8 6 5 SOCIALIZE',
  'SLEEP', // no belief
  'I would rather not.', // no action
];

const { actions, beliefs, given } = parseCompletions(completions);
const rows = completions.map(
  (_, i): ReplayRow => ({
    ...state,
    action: actions[i] < 0 ? null : actions[i],
    belief: given[i] ? beliefs.slice(3 * i, 3 * i + 3) : null,
  }),
);
const { rewards } = scoreReplay(rows);
const { advantages } = groupAdvantages(rewards.total, completions.length);
completions.forEach((completion, i) => {
  const numbers = [rewards.envReward[i], rewards.total[i], advantages[i]];
  const line = completion.split('\n').at(-1)!;
  console.log(line.padEnd(20), numbers.map((number) => number.toFixed(2).padStart(6)).join(' '));
});

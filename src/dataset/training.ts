/** The section of a card that says how to train on the rows. */

export const TRAINING = `## Training on it

With TRL the prompt is called \`prompt\`; every other column reaches the reward functions, one entry a completion:

\`\`\`python
import json, subprocess
from datasets import load_dataset

dataset = load_dataset(".", split="train").rename_column("messages", "prompt")

def env_reward(completions, seed, profile_mode, action_history, **_):
    rows = [
        {"seed": s, "profileMode": p, "actionHistory": h, "completion": c[-1]["content"]}
        for s, p, h, c in zip(seed, profile_mode, action_history, completions)
    ]
    scored = subprocess.run(["node", "score.mjs"], input=json.dumps(rows), capture_output=True, text=True, check=True)
    return json.loads(scored.stdout)

# GRPOTrainer(..., train_dataset=dataset, reward_funcs=[env_reward])
\`\`\`

\`score.mjs\` replays each row and takes the step that its completion names:

\`\`\`js
import { readFileSync } from 'node:fs';
import { parseCompletion, scoreReplay } from 'rhythm-vec';

const rows = JSON.parse(readFileSync(0, 'utf8')).map(({ completion, ...row }) => {
  const { action, belief, given } = parseCompletion(completion);
  return { ...row, action, belief: given ? belief : null };
});
const { rewards } = scoreReplay(rows);
console.log(JSON.stringify(Array.from(rewards.total)));
\`\`\`

\`rewards\` also has each reward of the stack on its own, for a reward function each. A process that stays saves its start.
`;

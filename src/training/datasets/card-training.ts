/** The section of the card on training with the rows. */

export const TRAINING = `## Training on it

TRL expects the prompt in the column \`prompt\`. It passes the other columns to the reward functions, with one entry per
completion. The reward functions are in \`python/rhythm_vec.py\` of the package. They call a server, which
\`npx rhythm-vec serve\` starts:

\`\`\`python
from datasets import load_dataset
from rhythm_vec import Client, reward_funcs

# The directory of this card. datasets does not accept ".".
dataset = load_dataset("path/to/this/folder", split="train").rename_column("messages", "prompt")
rewards = reward_funcs(Client("http://127.0.0.1:8000"))

# GRPOTrainer(..., train_dataset=dataset, reward_funcs=rewards)
\`\`\`

In TypeScript, \`scoreReplay\` takes the same rows, and \`parseCompletions\` parses completions.
`;

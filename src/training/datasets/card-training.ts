/** The card's section on training with the rows. */

export const TRAINING = `## Training on it

With TRL the prompt is called \`prompt\`; every other column reaches the reward functions, one entry a completion. A server
scores these (\`npx rhythm-vec serve\`), and \`python/rhythm_vec.py\` of the package has the functions:

\`\`\`python
from datasets import load_dataset
from rhythm_vec import Client, reward_funcs

# Where this card lies; "." has no name, which datasets asks for.
dataset = load_dataset("path/to/this/folder", split="train").rename_column("messages", "prompt")
rewards = reward_funcs(Client("http://127.0.0.1:8000"))

# GRPOTrainer(..., train_dataset=dataset, reward_funcs=rewards)
\`\`\`

In TypeScript \`scoreReplay\` takes the same rows, and \`parseCompletions\` reads what the model said.
`;

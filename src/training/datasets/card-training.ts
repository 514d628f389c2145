/** The section "Training on it" of the card of a GRPO dataset. */

import type { Grader } from '../../engine/graders/grader.js';
import { GRADER_NAMES } from '../../world/fields.js';

/** Returns a grader as a Python expression. */
const pythonOf = ({ name, weights }: Grader): string =>
  JSON.stringify(GRADER_NAMES.includes(name) ? name : { name, weights });

/** Returns the section. @param grader the grader of the reward functions. */
export const trainingText = (grader: Grader): string => `## Training on it

TRL reads the column \`prompt\` and passes the other columns to the reward functions, with one entry per
completion. The reward functions are in \`python/rhythm_vec\` of the package. They call a server, which
\`npx rhythm-vec serve\` starts:

\`\`\`python
from datasets import load_dataset
from rhythm_vec import Client, reward_funcs

# The directory of this card. datasets does not accept ".".
dataset = load_dataset("path/to/this/folder", split="train")
rewards = reward_funcs(Client("http://127.0.0.1:8000"), grader=${pythonOf(grader)})

# GRPOTrainer(..., train_dataset=dataset, reward_funcs=rewards)
\`\`\`

In TypeScript, \`scoreReplay\` takes the same rows, and \`parseCompletions\` parses completions.
`;

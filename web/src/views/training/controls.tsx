/** The settings of a training, its buttons and its progress. */
import { GRADER_NAMES } from '../../../../src/world/fields.js';
import { Button, Select, TextField } from '../../parts/controls.js';
import { TEACHERS } from '../../training/training-types.js';
import { GRADER_WORDS, policyLabels, policyWords } from '../../words.js';
import type { ViewProps } from '../view.js';
import { TRAINING_FIELDS } from './fields.js';
import { stopTraining, training } from './training-store.js';

interface Props extends ViewProps<typeof TRAINING_FIELDS> {
  readonly start: () => void;
}

export function TrainingControls({ state, change, start }: Props) {
  const progress = training.value?.progress ?? null;
  return (
    <section class="panel" aria-labelledby="training-settings">
      <h2 id="training-settings">Settings</h2>
      <div class="controls">
        <Select
          label="Teacher"
          hint={policyWords(state.teacher)}
          value={state.teacher}
          names={TEACHERS}
          labels={policyLabels(TEACHERS)}
          onChange={(teacher) => change({ teacher })}
        />
        <Select
          label="Grader"
          hint={GRADER_WORDS[state.grader]}
          value={state.grader}
          names={GRADER_NAMES}
          onChange={(grader) => change({ grader })}
        />
      </div>
      <details>
        <summary>Seed</summary>
        <TextField
          label="Seed"
          hint="Determines the initial parameters, the episodes and their order."
          field={TRAINING_FIELDS.seed}
          value={state.seed}
          onChange={(seed) => change({ seed })}
        />
      </details>
      <div class="actions">
        {progress === null ? (
          <Button main onClick={start}>
            {training.value === null ? 'Start training' : 'Train another student'}
          </Button>
        ) : (
          // A double click on the previous button must not stop the new training.
          <Button onClick={({ detail }) => detail < 2 && stopTraining()}>Stop</Button>
        )}
        {progress !== null && (
          <div class="progress">
            <progress aria-label="Training" max={progress.total} value={progress.done} />
            <small>{progress.stage} …</small>
          </div>
        )}
      </div>
    </section>
  );
}

/** The sequence editor: the visitor paints one action sequence for everybody, and sees the final scores of 10,000 people. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { openLoopActions } from '../../../../src/agents/policies/open-loop.js';
import { ACTION_STYLES } from '../../../../src/figures/action-sequences.js';
import { NUM_STEPS } from '../../../../src/world/fields.js';
import { Button, Choices } from '../../parts/controls.js';
import { CopyLink } from '../../parts/copy-button.js';
import { title } from '../../person/descriptions.js';
import { FailureMessage } from '../../states/messages.js';
import { keyOf, useShortcuts } from '../person/keys.js';
import { ActionKeys, KeysChoice } from '../person/keys-choice.js';
import type { ViewProps } from '../view.js';
import { Comparison } from './comparison.js';
import { digitsOf, SEQUENCE_FIELDS } from './fields.js';
import { type Painting, usePainting } from './painting.js';
import { failure, scoreSequence, scores, stopScoring } from './scores-store.js';
import { ScoresPanel } from './sequence-scores.js';
import { Palette, WeekGrid } from './week-grid.js';
import '../../charts/charts.css';
import '../../parts/marks.css';
import './sequence.css';

/** The action that the visitor paints with at first: sleep. */
const FIRST_BRUSH = ACTION_STYLES.findIndex(({ action }) => action === 'sleep');

export function SequenceView(props: ViewProps<typeof SEQUENCE_FIELDS>) {
  const { actions, grader } = props.state;
  const painting = usePainting(props);
  const brush = useSignal(FIRST_BRUSH);
  useLayoutEffect(() => scoreSequence(actions), [actions]);
  useLayoutEffect(() => stopScoring, []);
  const brushKeys = ACTION_STYLES.map((_, code) => [
    keyOf(code),
    () => {
      brush.value = code;
    },
  ]);
  useShortcuts({ ...Object.fromEntries(brushKeys), u: painting.undo });
  return (
    <div class="sequence">
      <h1>One week for everybody</h1>
      <p class="lead">
        Find out how far one week for everybody gets: paint its 28 actions, and see the scores of 10,000
        people.
      </p>
      <div class="editor">
        {failure.value !== null ? (
          <FailureMessage failure={failure.value} retry={() => scoreSequence(actions)} />
        ) : (
          <ScoresPanel
            scores={scores.value}
            isCurrent={scores.value?.actions === actions}
            grader={grader}
            choose={(name) => props.change({ grader: name })}
          />
        )}
        <section class="panel" aria-labelledby="week">
          <div class="head">
            <h2 id="week">The week</h2>
            <Button onClick={painting.undo} disabled={!painting.canUndo}>
              Undo
            </Button>
          </div>
          <Palette brush={brush} />
          <WeekGrid painting={painting} brush={brush} />
          <Presets painting={painting} brush={brush.value} />
          <KeysChoice>
            <ActionKeys /> choose what to paint with, <kbd>u</kbd> undoes
          </KeysChoice>
          <p class="fine" id="how-to-paint">
            Drag over squares to paint them. Keys in the week: arrows move, <kbd>1</kbd> to <kbd>9</kbd> and{' '}
            <kbd>0</kbd> set an action, Shift with an arrow copies the action to the next square, <kbd>u</kbd>{' '}
            undoes.
          </p>
          <div class="actions">
            <CopyLink view={{ name: 'sequence', fields: SEQUENCE_FIELDS }} />
          </div>
        </section>
      </div>
      <Comparison scores={scores.value} />
    </div>
  );
}

/** Sequences to begin with: the best sequences that a search found, and one action all week. */
function Presets({ painting, brush }: { readonly painting: Painting; readonly brush: number }) {
  const stored = ['v2', 'v3'].map((grader) => ({
    name: `Best found for ${grader}`,
    actions: digitsOf(openLoopActions(grader)),
  }));
  const constant = {
    name: `Only ${title(ACTION_STYLES[brush].action).toLowerCase()}`,
    actions: String(brush).repeat(NUM_STEPS),
  };
  return (
    <Choices
      legend="Presets"
      choices={[...stored, constant].map(({ name, actions }) => [
        name,
        actions === painting.actions,
        () => painting.replace(actions),
      ])}
    />
  );
}

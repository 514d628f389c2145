/** The sequence editor: the visitor paints one action sequence for everybody, and sees the final scores of 10,000 people. */
import { signal, useSignal } from '@preact/signals';
import { proxy } from 'comlink';
import { useLayoutEffect } from 'preact/hooks';
import { openLoopActions } from '../../../../src/agents/policies/open-loop.js';
import { ACTION_STYLES } from '../../../../src/figures/action-sequences.js';
import { NUM_STEPS } from '../../../../src/world/fields.js';
import type { ViewProps } from '../../address.js';
import { callEngine, stopEngine } from '../../engine/client.js';
import type { SequenceScores } from '../../engine/requests.js';
import { FailureMessage } from '../../parts/content.js';
import { Button, Choices, CopyLink } from '../../parts/controls.js';
import { title } from '../../person/descriptions.js';
import { digitsOf } from '../../person/episode.js';
import { type Failure, type Progress, toFailure } from '../../workers/calls.js';
import { SEQUENCE_FIELDS } from '../fields.js';
import { ActionKeys, KeysChoice, keyOf, useShortcuts } from '../person/keys.js';
import { Comparison, ScoresPanel } from './scores.js';
import { type Painting, Palette, usePainting, WeekGrid } from './week-grid.js';
import './sequence.css';

/** The last scores, which may be those of an earlier sequence; null before the first scores. */
const scores = signal<SequenceScores | null>(null);
const failure = signal<Failure | null>(null);

/** The sequence to send next; null for none. */
let next: string | null = null;
/** Whether a call is in progress whose first scores are not shown yet. */
let isWaiting = false;
/** Rises with each call and each stop. Scores of calls with an earlier number are dropped. */
let calls = 0;

/** Scores a sequence of 28 digits in place of the previous sequence. */
function scoreSequence(actions: string): void {
  next = actions;
  if (!isWaiting) void send();
}

/** Ends the current call, when the view is left. The scores are kept. */
function stopScoring(): void {
  calls += 1;
  [next, isWaiting] = [null, false];
  stopEngine();
}

async function send(): Promise<void> {
  const actions = next!;
  calls += 1;
  const call = calls;
  [next, isWaiting, failure.value] = [null, true, null];
  /** Runs work, unless there was a later call or a stop. Then sends the next sequence, if there is one. */
  const ifLast = (work: () => void): void => {
    if (call !== calls) return;
    work();
    isWaiting = false;
    if (next !== null) void send();
  };
  const report = (_: Progress, soFar: SequenceScores | null): void =>
    ifLast(() => {
      scores.value = soFar;
    });
  try {
    const complete = await callEngine((engine) => engine.sequence(actions, proxy(report)));
    ifLast(() => {
      scores.value = complete;
      // Drops the last report, which may arrive after the result.
      calls += 1;
    });
  } catch (error) {
    ifLast(() => {
      failure.value = toFailure(error);
    });
  }
}

/** The action that the visitor paints with at first: sleep. */
const FIRST_BRUSH = ACTION_STYLES.findIndex(({ action }) => action === 'sleep');

export function View(props: ViewProps<typeof SEQUENCE_FIELDS>) {
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
  const only = title(ACTION_STYLES[brush].action).toLowerCase();
  const presets = [
    ...['v2', 'v3'].map((grader) => [`Best found for ${grader}`, digitsOf(openLoopActions(grader))]),
    [`Only ${only}`, String(brush).repeat(NUM_STEPS)],
  ];
  return (
    <Choices
      legend="Presets"
      choices={presets.map(([name, actions]) => [
        name,
        actions === painting.actions,
        () => painting.replace(actions),
      ])}
    />
  );
}

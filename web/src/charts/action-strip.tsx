/** The actions of a week as coloured squares, with their names where there is room. */
import { ACTION_STYLES } from '../../../src/figures/action-sequences.js';
import { plain } from '../person/descriptions.js';
import { Legend } from './figure.js';

interface ActionStripProps {
  /** Codes of ACTION_NAMES, one for each step. */
  readonly actions: readonly number[];
  readonly description: string;
}

export function ActionStrip({ actions, description }: ActionStripProps) {
  const taken = ACTION_STYLES.filter((_, code) => actions.includes(code));
  return (
    <div class="action-strip">
      <div role="img" aria-label={description}>
        {actions.map((code, step) => (
          <span key={step} style={{ background: ACTION_STYLES[code].colour }}>
            <b>{plain(ACTION_STYLES[code].action)}</b>
          </span>
        ))}
      </div>
      <Legend names={taken.map(({ action }) => plain(action))} colours={taken.map(({ colour }) => colour)} />
    </div>
  );
}

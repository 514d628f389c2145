/** The button that takes the last move back. */
import { Button } from '../../parts/controls.js';
import type { EpisodeActions } from './episode-actions.js';

export const UndoButton = ({ actions }: { readonly actions: EpisodeActions }) => (
  <Button onClick={actions.undo} disabled={!actions.canUndo}>
    Undo
  </Button>
);

/** The button that undoes the last move. */
import { Button } from '../../parts/controls.js';
import type { EpisodeActions } from './episode-actions.js';

export const UndoButton = ({ actions }: { readonly actions: EpisodeActions }) => (
  <Button onClick={actions.undo} disabled={!actions.canUndo}>
    Undo
  </Button>
);

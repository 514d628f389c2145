/** The choice whether keyboard shortcuts act. Users of speech input turn them off, because spoken words arrive as keys. */
import type { ComponentChildren } from 'preact';
import { shortcutsOn } from './keys.js';

/** @param children what the keys do. */
export const KeysChoice = ({ children }: { readonly children: ComponentChildren }) => (
  <label class="check keys">
    <input
      type="checkbox"
      checked={shortcutsOn.value}
      onChange={({ currentTarget }) => {
        shortcutsOn.value = currentTarget.checked;
      }}
    />
    <span>Keys: {children}</span>
  </label>
);

/** The keys of the ten actions. */
export const ActionKeys = () => (
  <>
    <kbd>1</kbd> to <kbd>9</kbd> and <kbd>0</kbd>
  </>
);

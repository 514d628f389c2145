/** The type of a view. */
import type { ComponentType } from 'preact';
import type { Fields, StateOf } from '../address.js';

export interface ViewProps<F extends Fields> {
  /** The state from the address; always valid. */
  readonly state: StateOf<F>;
  /**
   * Changes part of the state, and the address.
   * @param mode 'push' (default) adds an entry to the history; 'replace' does not, for changes while a slider is dragged.
   */
  readonly change: (patch: Partial<StateOf<F>>, mode?: 'push' | 'replace') => void;
}

export interface View {
  /** The name in the address. */
  readonly name: string;
  /** The title in the navigation and of the document. */
  readonly title: string;
  readonly fields: Fields;
  /** Loads the component, with its styles. */
  readonly load: () => Promise<ComponentType<ViewProps<Fields>>>;
}

/** Defines a view whose component takes the state of its fields. */
export const view = <F extends Fields>(
  parts: Omit<View, 'fields' | 'load'> & {
    readonly fields: F;
    readonly load: () => Promise<ComponentType<ViewProps<F>>>;
  },
): View => parts as unknown as View;

/** What a view is to the page. */
import type { ComponentType } from 'preact';
import type { Fields, StateOf } from '../address.js';

export interface ViewProps<F extends Fields> {
  /** What the address says: legal, whatever the link was. */
  readonly state: StateOf<F>;
  /**
   * Changes some of it, and the address with it.
   * @param how 'push' (default) can be gone back from; 'replace' for what changes while a finger is down.
   */
  readonly change: (patch: Partial<StateOf<F>>, how?: 'push' | 'replace') => void;
}

export interface View {
  /** In the address. */
  readonly name: string;
  /** In the navigation, and the document's title. */
  readonly title: string;
  readonly fields: Fields;
  readonly Component: ComponentType<ViewProps<Fields>>;
}

/** A view whose component takes the state of its own fields. */
export const view = <F extends Fields>(
  parts: Omit<View, 'fields' | 'Component'> & {
    readonly fields: F;
    readonly Component: ComponentType<ViewProps<F>>;
  },
): View => parts as unknown as View;

/** Shows a view. Its code is loaded when it is shown for the first time. */
import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { changeOf } from '../current-address.js';
import { type Failure, toFailure } from '../engine/outcome.js';
import { FailureMessage } from '../states/messages.js';
import type { View, ViewProps } from './view.js';

/** The loaded components, and the failures to load one, by view. */
const loaded = signal<Readonly<Record<string, Awaited<ReturnType<View['load']>> | Failure>>>({});

const load = ({ name, load }: View): Promise<void> =>
  load()
    .catch(toFailure)
    .then((found) => {
      loaded.value = { ...loaded.value, [name]: found };
    });

export function LoadedView({
  view,
  state,
}: { readonly view: View } & Pick<ViewProps<View['fields']>, 'state'>) {
  const found = loaded.value[view.name];
  useLayoutEffect(() => {
    if (found === undefined) void load(view);
  }, [view, found]);
  if (found === undefined) return null;
  if (typeof found === 'object')
    return <FailureMessage failure={found as Failure} retry={() => location.reload()} />;
  const Component = found;
  return <Component state={state} change={changeOf(view.name)} />;
}

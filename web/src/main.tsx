/** The page: header, navigation, the current view, footer. */
import { signal } from '@preact/signals';
import { render } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import {
  changeOf,
  dismissProblems,
  flushAddress,
  followAddress,
  linkTo,
  parsedAddress,
  type ViewProps,
} from './address.js';
import { COLOUR_SCHEMES, colourScheme, followScheme } from './colour-scheme.js';
import { computedBy, whyNoGpu } from './engine/client.js';
import type { ComputedBy } from './engine/requests.js';
import { FailureMessage, Notice } from './parts/content.js';
import { Choices } from './parts/controls.js';
import { VIEWS, type View } from './views/views.js';
import { type Failure, toFailure } from './workers/calls.js';
import './styles/main.css';

/** Links to the documentation and the sources. vite.config.ts takes their addresses from the environment of the build. */
declare const DOCS_URL: string | null;
declare const SOURCE_URL: string | null;

const LINKS = [
  { name: 'Documentation', url: DOCS_URL },
  { name: 'Source', url: SOURCE_URL },
].filter((link): link is { name: string; url: string } => link.url !== null);

const OutsideLinks = () =>
  LINKS.length === 0 ? null : (
    <p class="outside">
      {LINKS.map(({ name, url }) => (
        <a key={name} href={url}>
          {name}
        </a>
      ))}
    </p>
  );

function EngineStatus() {
  const last = computedBy.value;
  if (last === null) return <p class="engine">Everything is computed in this browser.</p>;
  return (
    <div class="engine">
      <p>
        Computed in this browser by <strong>{wordsOf(last)}</strong>. <span class="exact">bit-exact</span>
      </p>
      {whyNoGpu.value !== null && (
        <details>
          <summary>Why not WebGPU?</summary>
          <p class="fine">{whyNoGpu.value} The digests are the same on every backend.</p>
        </details>
      )}
    </div>
  );
}

function wordsOf({ backend, adapter, lanes }: ComputedBy): string {
  if (adapter !== null) return `WebGPU on ${adapter}`;
  return `${backend === 'wasm' ? 'WebAssembly' : 'the reference'} in ${lanes === 1 ? 'a worker' : `${lanes} workers`}`;
}

/** The loaded components, and the failures to load one, by view. */
const loaded = signal<Readonly<Record<string, Awaited<ReturnType<View['load']>> | Failure>>>({});

const load = ({ name, load }: View): Promise<void> =>
  load()
    .catch(toFailure)
    .then((found) => {
      loaded.value = { ...loaded.value, [name]: found };
    });

function LoadedView({ view, state }: { readonly view: View } & Pick<ViewProps<View['fields']>, 'state'>) {
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

function App() {
  const { view: name, state, problems } = parsedAddress.value;
  const view = VIEWS.find((each) => each.name === name)!;
  const { title } = view;
  const shownView = useRef(name);
  useLayoutEffect(() => {
    document.title = `${title} · rhythm-vec`;
    // A view that the user opens is shown from its top.
    if (shownView.current !== name) scrollTo(0, 0);
    shownView.current = name;
  }, [name, title]);
  return (
    <>
      <button type="button" class="skip" onClick={toContent}>
        Skip to the view
      </button>
      <Header currentView={name} />
      <main id="content" tabIndex={-1}>
        {problems.length > 0 && (
          <Notice onClose={dismissProblems}>
            {problems.map((problem) => (
              <p key={problem}>{problem}</p>
            ))}
          </Notice>
        )}
        <LoadedView key={name} view={view} state={state} />
      </main>
      <footer>
        <EngineStatus />
        <OutsideLinks />
      </footer>
    </>
  );
}

/** Moves the focus to the view. A link to `#content` would replace the state of the view, which the address has after `#`. */
const toContent = (): void => document.getElementById('content')!.focus();

function Header({ currentView }: { readonly currentView: string }) {
  return (
    <header>
      <p class="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path d="M2 18h6l4-12 7 21 5-14 2 5h4" />
        </svg>
        rhythm-vec
      </p>
      <nav aria-label="Views">
        {VIEWS.map((view) => (
          <a
            key={view.name}
            href={linkTo(view)}
            aria-current={view.name === currentView ? 'page' : undefined}
            onClick={flushAddress}
          >
            {view.title}
          </a>
        ))}
      </nav>
      <OutsideLinks />
      <ColourSchemeChoice />
    </header>
  );
}

const ColourSchemeChoice = () => (
  <Choices
    legend="Colours"
    choices={COLOUR_SCHEMES.map((name) => [
      name,
      colourScheme.value === name,
      () => {
        colourScheme.value = name;
      },
    ])}
  />
);

followScheme();
followAddress(VIEWS);
// Draws the page in a task of its own, because loading the modules is a long task already.
setTimeout(() => {
  const page = document.getElementById('page')!;
  page.replaceChildren();
  render(<App />, page);
});

/** The page: header, navigation, the current view, footer. */
import './styles/main.css';
import { signal } from '@preact/signals';
import { type ComponentType, render } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import {
  type Addressed,
  changeOf,
  dismissProblems,
  type Fields,
  flushAddress,
  followAddress,
  linkTo,
  parsedAddress,
  type ViewProps,
} from './address.js';
import { COLOUR_SCHEMES, colourScheme, followScheme } from './colour-scheme.js';
import { computedBy, whyNoGpu } from './engine/client.js';
import type { ComputedBy } from './engine/requests.js';
import { FailureMessage, Fold, Notice } from './parts/content.js';
import { Choices } from './parts/controls.js';
import {
  CROWD_FIELDS,
  DAILY_FIELDS,
  GRADERS_FIELDS,
  PERSON_FIELDS,
  SEQUENCE_FIELDS,
  TRAINING_FIELDS,
} from './views/fields.js';
import * as person from './views/person/person.js';
import { type Failure, toFailure } from './workers/calls.js';

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
        <Fold title="Why not WebGPU?">
          <p class="fine">{whyNoGpu.value} The digests are the same on every backend.</p>
        </Fold>
      )}
    </div>
  );
}

function wordsOf({ backend, adapter, lanes }: ComputedBy): string {
  if (adapter !== null) return `WebGPU on ${adapter}`;
  return `${backend === 'wasm' ? 'WebAssembly' : 'the reference'} in ${lanes === 1 ? 'a worker' : `${lanes} workers`}`;
}

interface Loaded {
  readonly View: ComponentType<ViewProps<Fields>>;
}

interface View extends Addressed {
  /** The title in the navigation and of the document. */
  readonly title: string;
  /** Loads the module with the component and its styles. */
  readonly load: () => Promise<Loaded>;
}

/** Defines a view. @param load loads the module with its component, which takes the state of its fields. */
const view = <F extends Fields>(
  name: string,
  title: string,
  fields: F,
  load: () => Promise<{ readonly View: ComponentType<ViewProps<F>> }>,
): View => ({ name, title, fields, load: load as unknown as View['load'] });

/** The views, in the order of the navigation. The first one is the default, and is part of the page's first file. */
const VIEWS: readonly View[] = [
  view('person', 'One person', PERSON_FIELDS, async () => person),
  view('crowd', 'Crowd', CROWD_FIELDS, () => import('./views/crowd/crowd.js')),
  view('daily', 'Daily', DAILY_FIELDS, () => import('./views/daily/daily.js')),
  view('sequence', 'Sequence', SEQUENCE_FIELDS, () => import('./views/sequence/sequence.js')),
  view('train', 'Train', TRAINING_FIELDS, () => import('./views/training/training.js')),
  view('graders', 'Graders', GRADERS_FIELDS, () => import('./views/graders/graders.js')),
];

/** The loaded modules, and the failures to load one, by view. */
const loaded = signal<Readonly<Record<string, Loaded | Failure>>>({});

function App() {
  const { view: name, state, problems } = parsedAddress.value;
  const view = VIEWS.find((each) => each.name === name)!;
  const { title } = view;
  const found = loaded.value[name];
  useLayoutEffect(() => {
    if (found !== undefined) return;
    view
      .load()
      .catch(toFailure)
      .then((result) => {
        loaded.value = { ...loaded.value, [name]: result };
      });
  }, [name, found]);
  const shownView = useRef(name);
  useLayoutEffect(() => {
    document.title = `${title} · rhythm-vec`;
    // A view that the user opens is shown from its top.
    if (shownView.current !== name) scrollTo(0, 0);
    shownView.current = name;
  }, [name, title]);
  return (
    <>
      {/* A link to `#content` would replace the state of the view, which the address has after `#`. */}
      <button type="button" class="main skip" onClick={() => document.getElementById('content')!.focus()}>
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
        {found !== undefined &&
          ('kind' in found ? (
            <FailureMessage failure={found} retry={() => location.reload()} />
          ) : (
            <found.View key={name} state={state} change={changeOf(name)} />
          ))}
      </main>
      <footer>
        <EngineStatus />
        <OutsideLinks />
      </footer>
    </>
  );
}

const Header = ({ currentView }: { readonly currentView: string }) => (
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
  </header>
);

followScheme();
followAddress(VIEWS);
// Draws the page in a task of its own, because loading the modules is a long task already.
setTimeout(() => {
  const page = document.getElementById('page')!;
  page.replaceChildren();
  render(<App />, page);
});

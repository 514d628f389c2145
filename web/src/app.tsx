/** The page: header, navigation, the current view, footer. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { COLOUR_SCHEMES, colourScheme } from './colour-scheme.js';
import { dismissProblems, flushAddress, linkTo, parsedAddress } from './current-address.js';
import { EngineStatus } from './engine/engine-status.js';
import { OutsideLinks } from './outside-links.js';
import { Choices } from './parts/controls.js';
import { Notice } from './states/messages.js';
import { LoadedView } from './views/loaded-view.js';
import { VIEWS } from './views/views.js';

export function App() {
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

/** The page: what stands around the views. */
import { useLayoutEffect } from 'preact/hooks';
import { lookForEngine } from './engine/client.js';
import { EngineLine } from './engine/line.js';
import { changeOf, dismissComplaints, linkTo, place, settle } from './location.js';
import { Notice } from './states/faces.js';
import { TONES, tone } from './tone.js';
import { VIEWS } from './views/table.js';

export function App() {
  const { view: name, state, complaints } = place.value;
  const { title, Component } = VIEWS.find((view) => view.name === name)!;
  useLayoutEffect(() => {
    void lookForEngine();
  }, []);
  useLayoutEffect(() => {
    document.title = `${title} · rhythm-vec`;
  }, [title]);
  return (
    <>
      <button type="button" class="skip" onClick={toContent}>
        Skip to the view
      </button>
      <Header shown={name} />
      <main id="content" tabIndex={-1}>
        {complaints.length > 0 && (
          <Notice onClose={dismissComplaints}>
            {complaints.map((complaint) => (
              <p key={complaint}>{complaint}</p>
            ))}
          </Notice>
        )}
        <Component key={name} state={state} change={changeOf(name)} />
      </main>
      <footer>
        <EngineLine />
      </footer>
    </>
  );
}

/** A button, since the address is the view's: it must not become that of a place in the page. */
const toContent = (): void => document.getElementById('content')!.focus();

function Header({ shown }: { readonly shown: string }) {
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
            aria-current={view.name === shown ? 'page' : undefined}
            onClick={settle}
          >
            {view.title}
          </a>
        ))}
      </nav>
      <ToneChoice />
    </header>
  );
}

function ToneChoice() {
  return (
    <fieldset class="tones">
      <legend>Colours</legend>
      {TONES.map((name) => (
        <label key={name}>
          <input
            type="radio"
            name="tone"
            value={name}
            checked={tone.value === name}
            onChange={() => {
              tone.value = name;
            }}
          />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}

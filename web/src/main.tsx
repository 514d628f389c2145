/** Starts the page. */
import { render } from 'preact';
import { App } from './app.js';
import { followAddress } from './current-address.js';
import './styles/main.css';
import { followScheme } from './colour-scheme.js';
import { VIEWS } from './views/views.js';

followScheme();
followAddress(VIEWS);
// Draws the page in a task of its own, because loading the modules is a long task already.
setTimeout(() => {
  const page = document.getElementById('page')!;
  page.replaceChildren();
  render(<App />, page);
});

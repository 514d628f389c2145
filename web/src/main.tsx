/** Starts the page. */
import { render } from 'preact';
import { App } from './app.js';
import { followAddress } from './location.js';
import './styles/main.css';
import { followTone } from './tone.js';
import { VIEWS } from './views/views.js';

followTone();
followAddress(VIEWS);
const page = document.getElementById('page')!;
page.replaceChildren();
render(<App />, page);

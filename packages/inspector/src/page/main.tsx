/** The page: draws itself, and keeps the connection to the command that served it. */

import { render } from 'preact';
import { App } from './app.tsx';
import { keepLinked } from './link.ts';
import { applyEvents, loadAll } from './state.ts';

const page = document.getElementById('page');
if (page) render(<App />, page);
void keepLinked({ onOpen: loadAll, onEvents: applyEvents });

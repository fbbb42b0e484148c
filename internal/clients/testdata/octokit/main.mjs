// Runs every story against the server that standard input describes:
// {"baseUrl": URL, "tokens": {LOGIN: TOKEN}, "operations": ["METHOD /path/{name}", ...]}.
// It fails when a story does, and when the client has a method for one of the
// operations that no story calls.
import { readFileSync } from 'node:fs';
import { open } from './hub.mjs';
import { people } from './people.mjs';
import { stars } from './stars.mjs';
import { feeds } from './feeds.mjs';
import { tracker } from './tracker.mjs';
import { lists } from './lists.mjs';
import { events } from './events.mjs';
import { files } from './files.mjs';
import { objects } from './objects.mjs';
import { pulls } from './pulls.mjs';
import { merges } from './merges.mjs';
import { reviews } from './reviews.mjs';
import { protocol } from './protocol.mjs';

const server = JSON.parse(readFileSync(0, 'utf8'));
const hub = open(server);

for (const story of [people, stars, feeds, tracker, lists, events, files, objects, pulls, merges, reviews, protocol]) {
  try {
    await story(hub);
  } catch (error) {
    console.log(`${story.name}: ${error.stack}`);
    process.exitCode = 1;
  }
}

// shape is an operation without the names of its placeholders, by which the
// client's templates and the server's differ.
const shape = (operation) => operation.replace(/\{[^}]*\}/g, '{}').replace('{}...{}', '{}');

const served = new Set(server.operations.map(shape));
for (const [scope, methods] of Object.entries(hub.as().rest)) {
  for (const [name, method] of Object.entries(methods)) {
    const operation = `${method.endpoint.DEFAULTS.method} ${method.endpoint.DEFAULTS.url}`;
    if (served.has(shape(operation)) && !hub.called.has(operation)) {
      console.log(`no story calls octokit.rest.${scope}.${name}: ${operation}`);
      process.exitCode = 1;
    }
  }
}

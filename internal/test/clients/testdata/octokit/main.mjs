// Runs every story against the server that standard input describes:
// {"baseUrl": URL, "tokens": {LOGIN: TOKEN}, "operations": ["METHOD /path/{name}", ...]}.
// It fails when a story does, and when the client has a method that no story calls for an operation that
// another method is called for. Operations that no story asks for are others.mjs's.
import { readFileSync } from 'node:fs';
import { methods, open, shape } from './hub.mjs';
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
import { rules } from './rules.mjs';
import { protocol } from './protocol.mjs';
import { releases } from './releases.mjs';
import { graphql } from './graphql.mjs';

const server = JSON.parse(readFileSync(0, 'utf8'));
const hub = open(server);

for (const story of [people, stars, feeds, tracker, lists, events, files, objects, pulls, merges, reviews, rules, protocol, releases, graphql]) {
  try {
    await story(hub);
  } catch (error) {
    console.log(`${story.name}: ${error.stack}`);
    process.exitCode = 1;
  }
}

const served = new Set(server.operations.map(shape));
// asked tells whether a story asked for an operation, by whatever method; octokit.paginate fills in addresses.
const asked = (operation) => {
  const address = new RegExp(`^${shape(operation).replaceAll('{}', '[^/]+')}$`);
  return [...hub.called].some((call) => shape(call) === shape(operation) || (!served.has(shape(call)) && address.test(call)));
};
for (const { name, operation } of methods(hub.as())) {
  if (served.has(shape(operation)) && asked(operation) && !hub.called.has(operation)) {
    console.log(`no story calls ${name}: ${operation}`);
    process.exitCode = 1;
  }
}

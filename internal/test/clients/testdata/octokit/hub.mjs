// What the stories share: clients of the people of a server, and the checks
// that they make of answers.
import assert from 'node:assert/strict';
import { Octokit } from '@octokit/rest';
import { RequestError } from '@octokit/request-error';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

// open gives clients of the server at baseUrl. called collects what their methods
// ask for by the client's own templates, as METHOD /path/{placeholder}; but for
// octokit.paginate, which fills in the template first.
export function open({ baseUrl, tokens }) {
  const called = new Set();
  const by = (auth) => {
    const client = new Octokit({ baseUrl, auth, log: silent });
    client.hook.before('request', ({ method, url }) => called.add(`${method} ${url}`));
    return client;
  };
  return { by, as: (login) => by(tokens[login]), called, baseUrl };
}

// shape is an operation without the names of its placeholders, by which the
// client's templates and the server's differ.
export const shape = (operation) => operation.replace(/\{[^}]*\}/g, '{}').replace('{}...{}', '{}');

// methods are all that a client has, each with its operation by the client's own template.
export function methods(client) {
  return Object.entries(client.rest).flatMap(([scope, named]) => Object.entries(named).map(([name, call]) => {
    const { method, url } = call.endpoint.DEFAULTS;
    return { name: `octokit.rest.${scope}.${name}`, call, operation: `${method} ${url}` };
  }));
}

// refused holds an error against what the client must make of it: the status,
// a message with its documentation and, for a validation failure, its field.
export async function refused(request, status, { message, field, code } = {}) {
  const error = await request.then(
    ({ url }) => assert.fail(`${url} was not refused`),
    (error) => error,
  );
  assert.ok(error instanceof RequestError, error.stack);
  assert.equal(error.status, status, error.message);
  const { data } = error.response;
  assert.ok(data.message && data.documentation_url, JSON.stringify(data));
  if (message) assert.match(data.message, message);
  if (field) assert.deepEqual(data.errors.map((e) => [e.field, e.code]), [[field, code]]);
}

// absent is a 404, with or without a body: those of the checks have none.
export async function absent(request) {
  await assert.rejects(request, (error) => error instanceof RequestError && error.status === 404);
}

// empty is a 204, which has no body.
export async function empty(request) {
  const answer = await request;
  assert.equal(answer.status, 204, answer.url);
  assert.ok(answer.data === undefined || answer.data === '', JSON.stringify(answer.data));
}

// data is the body of an answer that must have the status.
export async function data(request, status = 200) {
  const answer = await request;
  assert.equal(answer.status, status, answer.url);
  return answer.data;
}

// created is data of a 201 with the address of what is new.
export async function created(request) {
  const answer = await request;
  assert.equal(answer.status, 201, answer.url);
  if (answer.headers.location) assert.equal(answer.headers.location, answer.data.url);
  return answer.data;
}

// has holds the named fields of an answer against what they must be.
export function has(have, want) {
  const picked = Object.fromEntries(Object.keys(want).map((key) => [key, have[key]]));
  assert.deepEqual(picked, want);
}

// of gives one field of each element.
export const of = (list, field) => list.map((element) => element[field]);

// base64 is text as the API carries the bytes of files.
export const base64 = (text) => Buffer.from(text).toString('base64');

// plot makes a repository of the organization garden, in which will writes, and
// gives its address as parameters.
export async function plot(hub, name, options = {}) {
  const alice = hub.as('alice');
  await created(alice.rest.repos.createInOrg({ org: 'garden', name, ...options }));
  await alice.rest.repos.addCollaborator({ owner: 'garden', repo: name, username: 'will', permission: 'push' });
  return { owner: 'garden', repo: name };
}

// Makes the requests that standard input names, each by every method that the client has for it, or by its
// route where it has none: {"baseUrl": URL, "requests": [{"operation": "METHOD /path/{name}",
// "values": [of its placeholders], "token": TOKEN, "basic": CREDENTIALS, "body": {}}, ...]}.
import { readFileSync } from 'node:fs';
import { methods, open, shape } from './hub.mjs';

const { baseUrl, requests } = JSON.parse(readFileSync(0, 'utf8'));
const hub = open({ baseUrl, tokens: {} });

for (const { operation, values, token, basic, body } of requests) {
  const client = hub.by(basic ? undefined : token);
  if (basic) { // of an OAuth App
    client.hook.before('request', (options) => { options.headers.authorization = basic; });
  }
  const calls = methods(client).filter((method) => shape(method.operation) === shape(operation));
  if (calls.length === 0) {
    const route = operation.replaceAll('...}', '}');
    calls.push({ name: 'octokit.request', operation: route, call: (parameters) => client.request(route, parameters) });
  }
  let done = false;
  for (const { name, call, operation: template } of calls) {
    if (done && !operation.startsWith('GET ')) break; // an older name of the same write, which may be there once only
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, placeholder]) => placeholder);
    const placeholders = template.includes('}...{') ? values.flatMap((value) => value.split('...')) : values;
    const parameters = Object.fromEntries(names.map((placeholder, n) => [placeholder, placeholders[n]]));
    try {
      // Of a body that is a list, some methods take the elements by the name of what they belong to.
      const list = { data: body, [template.split('/').pop()]: body };
      await call(Array.isArray(body) ? { ...parameters, ...list } : { ...parameters, ...body });
      done = true;
    } catch (error) {
      console.log(`${name}: ${operation} with ${values}: ${error.stack}`);
      process.exitCode = 1;
    }
  }
}

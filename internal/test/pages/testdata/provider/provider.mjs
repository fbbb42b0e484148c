// An OpenID provider (oidc-provider, which is certified) for one client. Standard input: {"port", "redirect", "secret"}. Whoever signs in
// by the login LOGIN has the subject "subject of LOGIN", and the groups that follow a "+": ann+dev+ops. It prints a line when it listens.
import { readFileSync } from 'node:fs';
import Provider from 'oidc-provider';

const { port, redirect, secret } = JSON.parse(readFileSync(0, 'utf8'));
const provider = new Provider(`http://localhost:${port}`, {
  clients: [{ client_id: 'arbor', client_secret: secret, redirect_uris: [redirect],
    grant_types: ['authorization_code'], response_types: ['code'],
    backchannel_logout_uri: redirect.replace('callback', 'back-channel-logout'), backchannel_logout_session_required: true }],
  claims: { openid: ['sub'], profile: ['name', 'preferred_username'], email: ['email', 'email_verified'], groups: ['groups'] },
  fetch: (url, options) => globalThis.fetch(url, { ...options, dispatcher: undefined }), // the site is on this machine
  pkce: { required: () => true },
  features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true } },
  findAccount: (_, id) => {
    const [login, ...groups] = id.split('+');
    return { accountId: id, claims: () => ({ sub: id, name: `Name of ${login}`, preferred_username: login,
      email: `${login}@example.org`, email_verified: true, groups }) };
  },
});
provider.listen(port, '127.0.0.1', () => console.log('listening'));

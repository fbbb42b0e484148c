-- Identities of other servers (OpenID Connect) with which people sign in to their accounts.
CREATE TABLE identities (
    id           {{id}},
    account_id   BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    provider     {{text}} NOT NULL, -- its name in the file of providers
    issuer       {{text}} NOT NULL,
    subject      {{text}} NOT NULL,
    name         {{text}} NOT NULL, -- what the provider calls it, to show
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT,
    UNIQUE (issuer, subject),
    UNIQUE (account_id, issuer)
);

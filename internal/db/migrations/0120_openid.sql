-- Sign-in by OpenID Connect (package oauth and its room openid): what the ID token of a code says besides the account.
ALTER TABLE oauth_codes ADD COLUMN nonce {{text}} NOT NULL DEFAULT '';      -- the client's; empty: it sent none
ALTER TABLE oauth_codes ADD COLUMN shown_at BIGINT;                         -- when the user last showed who it is
ALTER TABLE oauth_codes ADD COLUMN shown_with {{text}} NOT NULL DEFAULT ''; -- how, as tokens.made_with; empty: not known

-- The keys that sign ID tokens. The newest that is not retired signs; retired ones are published until the last token
-- that they signed has ended.
CREATE TABLE openid_keys (
    id         {{text}} NOT NULL PRIMARY KEY, -- the key id in tokens: the thumbprint of the public key
    private    {{bytes}} NOT NULL,            -- PKCS #8
    created_at BIGINT NOT NULL,
    retired_at BIGINT                         -- NULL: it signs
);

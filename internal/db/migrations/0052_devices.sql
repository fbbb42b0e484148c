-- Programs that ask for a token by OAuth's device flow, until the token was given or the codes have expired.
CREATE TABLE device_requests (
    id         {{id}},
    device     {{bytes}} NOT NULL UNIQUE,       -- SHA-256 of the program's code
    user_code  {{bytes}} NOT NULL UNIQUE,       -- SHA-256 of the person's code, without its hyphen
    client     {{text}} NOT NULL,               -- id of the OAuth App
    scopes     {{text}} NOT NULL,
    network    {{text}} NOT NULL,               -- from where the program asked
    pause      BIGINT NOT NULL,                 -- seconds between two questions of the program
    asked_at   BIGINT NOT NULL DEFAULT 0,       -- when it last asked for the token
    account_id BIGINT REFERENCES accounts (id) ON DELETE CASCADE, -- who decided; NULL: nobody yet
    allowed    BOOLEAN NOT NULL DEFAULT FALSE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX device_requests_expiry ON device_requests (expires_at);
CREATE INDEX device_requests_of_network ON device_requests (network, expires_at);
CREATE INDEX device_requests_of_account ON device_requests (account_id) WHERE account_id IS NOT NULL;

-- How often somebody gave a code that is none.
CREATE TABLE device_misses (
    account_id BIGINT NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    misses     BIGINT NOT NULL,
    since      BIGINT NOT NULL
);

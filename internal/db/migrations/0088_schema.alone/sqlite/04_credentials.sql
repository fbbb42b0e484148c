-- Tokens, sessions, keys, and the log of who changed access.

-- Personal access tokens, tokens of installations, and sessions of browsers.
CREATE TABLE tokens (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id      BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    digest          BLOB NOT NULL UNIQUE,                  -- SHA-256 of the token
    hint            TEXT NOT NULL,                         -- its first characters, to recognize it
    note            TEXT NOT NULL,
    created_at      BIGINT NOT NULL,
    expires_at      BIGINT,
    last_used_at    BIGINT,
    revoked_at      BIGINT,

    -- What it is limited to. A classic token whose scopes are NULL has all rights of its account.
    scopes          TEXT,                                  -- of a classic token, as in X-OAuth-Scopes
    -- Of a fine-grained token: 1 read, 2 write; 0: a classic token.
    permission      SMALLINT NOT NULL DEFAULT 0,

    -- The token of an installation belongs to the bot.
    installation_id BIGINT REFERENCES installations (id) ON DELETE CASCADE, -- NULL: not the token of an installation
    narrowed        BOOLEAN NOT NULL DEFAULT FALSE,        -- only for the repositories in token_repos
    permissions     TEXT,                                  -- of an installation, as in apps

    -- The session of a browser is a token that pages alone accept.
    agent           TEXT,                                  -- the User-Agent of the browser; NULL: not a session
    address         TEXT,                                  -- from which the session began
    begun_with      BIGINT                                 -- the token that was used to sign in; NULL: a password
);
CREATE INDEX tokens_of_account ON tokens (account_id, id);
CREATE INDEX tokens_of_installation ON tokens (installation_id, id) WHERE installation_id IS NOT NULL;
CREATE INDEX tokens_begun_with ON tokens (begun_with) WHERE begun_with IS NOT NULL;

-- The repositories of a narrowed or fine-grained token: the only private ones that it sees, and all that it
-- changes.
CREATE TABLE token_repos (
    token_id BIGINT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    repo_id  BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    PRIMARY KEY (token_id, repo_id)
);
CREATE INDEX token_repos_of_repo ON token_repos (repo_id);

-- OAuth's device flow: programs that ask for a token, until it was handed out or the codes have expired.
CREATE TABLE device_requests (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    device     BLOB NOT NULL UNIQUE,                       -- SHA-256 of the program's code
    user_code  BLOB NOT NULL UNIQUE,                       -- SHA-256 of the person's code, without its hyphen
    client     TEXT NOT NULL,                              -- id of the OAuth App
    scopes     TEXT NOT NULL,
    network    TEXT NOT NULL,                              -- from which the program asked
    -- Seconds that the program has to wait between two requests.
    pause      BIGINT NOT NULL,
    asked_at   BIGINT NOT NULL DEFAULT 0,                  -- when it last asked for the token
    account_id BIGINT REFERENCES accounts (id) ON DELETE CASCADE, -- who decided; NULL: nobody yet
    allowed    BOOLEAN NOT NULL DEFAULT FALSE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX device_requests_expiry ON device_requests (expires_at);
CREATE INDEX device_requests_of_network ON device_requests (network, expires_at);
CREATE INDEX device_requests_of_account ON device_requests (account_id) WHERE account_id IS NOT NULL;

-- How often an account entered a wrong code.
CREATE TABLE device_misses (
    account_id BIGINT NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    misses     BIGINT NOT NULL,
    since      BIGINT NOT NULL -- when it began to count
);

-- Public SSH keys. Each belongs to one user, or as a deploy key to one repository.
CREATE TABLE ssh_keys (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id   BIGINT REFERENCES accounts (id) ON DELETE CASCADE, -- its user; NULL: a deploy key
    repo_id      BIGINT REFERENCES repos (id) ON DELETE CASCADE, -- of a deploy key
    added_by     BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the account as which a deploy key acts
    title        TEXT NOT NULL,
    public_key   TEXT NOT NULL,                            -- type and base64
    fingerprint  TEXT NOT NULL UNIQUE,                     -- SHA256:...
    read_only    BOOLEAN NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT,                                   -- up to an hour late
    CHECK ((account_id IS NULL) <> (repo_id IS NULL))
);
CREATE INDEX ssh_keys_of_account ON ssh_keys (account_id, id);
CREATE INDEX ssh_keys_of_repo ON ssh_keys (repo_id, id);
CREATE INDEX ssh_keys_added_by ON ssh_keys (added_by);

-- Changes of accounts, access, membership, visibility, ownership and tokens (package audit). A row outlives
-- what it names, so names are as they were then, and ids are numbers without foreign keys.
CREATE TABLE audit (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    created_at BIGINT NOT NULL,
    action     TEXT NOT NULL, -- in GitHub's words: repo.create
    actor_id   BIGINT,        -- NULL: the operator, or the process itself
    actor      TEXT,
    address    TEXT,          -- of the client; of the operator the name in the system
    token_id   BIGINT,
    allowed    TEXT NOT NULL, -- the right by which it was allowed
    request    TEXT,          -- the id of the request, as in the log
    org_id     BIGINT,        -- the organization concerned
    org        TEXT,
    user_id    BIGINT,        -- the user concerned
    user_login TEXT,
    repo_id    BIGINT,
    repo       TEXT,          -- OWNER/NAME
    changes    TEXT NOT NULL  -- a JSON object
);
CREATE INDEX audit_by_time ON audit (created_at, id);
CREATE INDEX audit_by_action ON audit (action, created_at, id);
CREATE INDEX audit_by_actor ON audit ((lower(actor)), created_at, id);
CREATE INDEX audit_by_repo ON audit ((lower(repo)), created_at, id);
CREATE INDEX audit_of_org ON audit (org_id, created_at, id);
CREATE INDEX audit_of_org_by_action ON audit (org_id, action, created_at, id);
CREATE INDEX audit_of_org_by_actor ON audit (org_id, (lower(actor)), created_at, id);
CREATE INDEX audit_of_org_by_repo ON audit (org_id, (lower(repo)), created_at, id);

-- Job: remove old rows of audit. One row, once that has begun (db.Jobs).
CREATE TABLE audit_pruning (
    id     BIGINT PRIMARY KEY CHECK (id = 1),
    due_at BIGINT NOT NULL,
    tries  BIGINT NOT NULL DEFAULT 0
);

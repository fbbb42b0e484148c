-- Mails that wait to be sent (package mail), each a job. A row says what a mail is about, not its text: that is
-- rendered when it is sent, with the rights of that moment.
CREATE TABLE mails (
    id         {{id}},
    kind       {{text}} NOT NULL,
    account_id BIGINT REFERENCES accounts (id) ON DELETE CASCADE, -- whose mail it is; NULL: of nobody with an account
    address    {{text}} NOT NULL,             -- folded; empty: that of the account when the mail is sent
    about      {{text}} NOT NULL,             -- of its kind, in JSON
    created_at BIGINT NOT NULL,               -- by the database's clock
    due_at     BIGINT NOT NULL DEFAULT 0,     -- see db.Jobs
    tries      SMALLINT NOT NULL DEFAULT 0
);
CREATE INDEX mails_due ON mails (due_at, id);
CREATE INDEX mails_of_account ON mails (account_id, kind) WHERE account_id IS NOT NULL;
CREATE INDEX mails_of_nobody ON mails (id) WHERE account_id IS NULL;

-- One row while a server of this database sends mail; without it no mails are written.
CREATE TABLE mail_sites (
    id       BIGINT NOT NULL PRIMARY KEY, -- 1
    base_url {{text}} NOT NULL            -- of the links in mails
);

-- Links in mails that do something once: set a password, verify an address.
CREATE TABLE mail_links (
    digest     {{bytes}} NOT NULL PRIMARY KEY, -- SHA-256 of the secret in the link
    kind       {{text}} NOT NULL,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    address    {{text}} NOT NULL,              -- to which it was sent, folded
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX mail_links_of_account ON mail_links (account_id, kind, created_at);
CREATE INDEX mail_links_expiry ON mail_links (expires_at);

-- How often something that sends mail was asked for within a time, by whom or for whom.
CREATE TABLE mail_counts (
    name    {{text}} NOT NULL PRIMARY KEY, -- what is counted; of addresses a digest
    n       BIGINT NOT NULL,
    ends_at BIGINT NOT NULL                -- when it begins anew
);
CREATE INDEX mail_counts_end ON mail_counts (ends_at);

-- The addresses that people claim. One counts for commits once it is verified,
-- which it is for one account at most.
CREATE TABLE emails (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    address    {{text}} NOT NULL,               -- folded
    verified   BOOLEAN NOT NULL DEFAULT FALSE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, address)
);
CREATE UNIQUE INDEX emails_verified ON emails (address) WHERE verified = TRUE;

-- Nobody verified those that are there.
INSERT INTO emails (account_id, address, verified, created_at)
    SELECT id, lower(email), FALSE, created_at FROM accounts WHERE kind = 1 AND email IS NOT NULL;

DROP INDEX accounts_by_email;

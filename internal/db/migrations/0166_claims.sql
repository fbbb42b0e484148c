-- Users who ask to be given what an import brought of somebody who had no account here (package claim).
CREATE TABLE claims (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    mannequin  {{text}} NOT NULL, -- its login in lower case; there may be no such mannequin
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, mannequin)
);
CREATE INDEX claims_of_mannequin ON claims (mannequin);
CREATE INDEX claims_by_time ON claims (created_at, account_id);

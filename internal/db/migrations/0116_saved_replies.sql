-- Texts that a person keeps to insert into comments (package savedreply).
CREATE TABLE saved_replies (
    id         {{id}},
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    title      {{text}} NOT NULL,
    body       {{text}} NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX saved_replies_of_account ON saved_replies (account_id, updated_at, id);

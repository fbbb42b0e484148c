-- Who follows whom: people follow people and organizations.
CREATE TABLE followers (
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- who follows
    target_id  BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- whom
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, target_id)
) {{clustered}};
CREATE INDEX followers_in_time ON followers (target_id, created_at, user_id);
CREATE INDEX following_in_time ON followers (user_id, created_at, target_id);

-- How many there are on either side, so that nobody counts them.
ALTER TABLE accounts ADD COLUMN followers BIGINT NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN following BIGINT NOT NULL DEFAULT 0;

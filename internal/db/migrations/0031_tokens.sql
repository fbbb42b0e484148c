-- What a token is limited to. A token without scopes of its own may do all that its account
-- may: so may those that were made before there were any.
ALTER TABLE tokens ADD COLUMN scopes {{text}};                        -- of a classic token, as X-OAuth-Scopes has them
ALTER TABLE tokens ADD COLUMN permission SMALLINT NOT NULL DEFAULT 0; -- of a fine-grained token: 1 read, 2 write; 0: it is classic

-- The private repositories that a fine-grained token may see, and all that it may change.
CREATE TABLE token_repos (
    token_id BIGINT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    repo_id  BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    PRIMARY KEY (token_id, repo_id)
);
CREATE INDEX token_repos_of_repo ON token_repos (repo_id);

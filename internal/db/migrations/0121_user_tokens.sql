-- GitHub Apps that sign people in (packages oauth and app): an App that does has a row of oauth_apps, too, under its own
-- client id. Its tokens are rows of tokens whose permission is 3.
ALTER TABLE oauth_apps ADD COLUMN github_app_id BIGINT REFERENCES apps (id) ON DELETE CASCADE; -- NULL: an OAuth App
ALTER TABLE oauth_apps ADD COLUMN keeps_tokens BOOLEAN NOT NULL DEFAULT FALSE; -- of a GitHub App: they do not expire
ALTER TABLE oauth_apps ADD COLUMN on_install BOOLEAN NOT NULL DEFAULT FALSE;   -- who installs it authorizes it
CREATE UNIQUE INDEX oauth_apps_of_github_app ON oauth_apps (github_app_id) WHERE github_app_id IS NOT NULL;

-- The permissions on the user's own account that a GitHub App was allowed, as in apps.
ALTER TABLE oauth_grants ADD COLUMN permissions {{text}} NOT NULL DEFAULT '';

-- Tokens by which a GitHub App gets the next pair of tokens, once. Used ones stay as long as the token that they are for:
-- if somebody brings one again, all that the user allowed the App ends.
CREATE TABLE refresh_tokens (
    digest     {{bytes}} NOT NULL PRIMARY KEY,  -- SHA-256
    token_id   BIGINT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    by_device  BOOLEAN NOT NULL,                -- of the device flow: its client needs no secret
    expires_at BIGINT NOT NULL,
    used_at    BIGINT                           -- NULL: not yet
);
CREATE INDEX refresh_tokens_of_token ON refresh_tokens (token_id, expires_at);

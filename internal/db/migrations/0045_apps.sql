-- GitHub Apps: programs with rights of their own, which act as a bot where they are installed.
CREATE TABLE apps (
    id           {{id}},
    owner_id     BIGINT NOT NULL REFERENCES accounts (id),
    bot_id       BIGINT NOT NULL REFERENCES accounts (id), -- as whom it acts: an account of kind 3, SLUG[bot]
    slug         {{text}} NOT NULL UNIQUE,
    client_id    {{text}} NOT NULL UNIQUE,
    name         {{text}} NOT NULL,
    description  {{text}},
    external_url {{text}} NOT NULL,
    public       BOOLEAN NOT NULL,            -- everybody may read of it, also where it is not installed
    public_key   {{bytes}} NOT NULL,          -- PKIX; of the private half nothing is kept
    permissions  {{text}} NOT NULL,           -- "contents=write,metadata=read"
    events       {{text}} NOT NULL,           -- ",push,issues,"
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE INDEX apps_of_owner ON apps (owner_id);
CREATE INDEX apps_of_bot ON apps (bot_id);

-- Where an App is installed: on an account, for all of its repositories or for some.
CREATE TABLE installations (
    id           {{id}},
    app_id       BIGINT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    account_id   BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    every        BOOLEAN NOT NULL,            -- all repositories, also those to come
    permissions  {{text}} NOT NULL,           -- as they were granted
    events       {{text}} NOT NULL,
    suspended_at BIGINT,                      -- NULL: it is not
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    UNIQUE (app_id, account_id)
);
CREATE INDEX installations_of_account ON installations (account_id, id);

-- The repositories of an installation that is not for all. One that has another owner now is not in it.
CREATE TABLE installation_repos (
    installation_id BIGINT NOT NULL REFERENCES installations (id) ON DELETE CASCADE,
    repo_id         BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    PRIMARY KEY (installation_id, repo_id)
);
CREATE INDEX installation_repos_of_repo ON installation_repos (repo_id);

-- Tokens of installations are the bot's. They are for the repositories in token_repos if they are narrowed.
ALTER TABLE tokens ADD COLUMN installation_id BIGINT REFERENCES installations (id) ON DELETE CASCADE;
ALTER TABLE tokens ADD COLUMN narrowed BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE tokens ADD COLUMN permissions {{text}};
CREATE INDEX tokens_of_installation ON tokens (installation_id, id) WHERE installation_id IS NOT NULL;

-- An App's own hook is told of what happens where it is installed.
ALTER TABLE hooks ADD COLUMN app_id BIGINT REFERENCES apps (id) ON DELETE CASCADE;
CREATE INDEX hooks_of_app ON hooks (app_id) WHERE app_id IS NOT NULL;
ALTER TABLE hook_deliveries ADD COLUMN installation_id BIGINT; -- which may be gone

-- Stars are one statement, so triggers tell hooks of them (0041): those of Apps as well.
-- sqlite
CREATE TRIGGER stars_added_app_hooks AFTER INSERT ON stars WHEN EXISTS (SELECT 1 FROM installations) BEGIN
    INSERT INTO hook_deliveries (hook_id, repo_id, actor_id, event, action, about, created_at, installation_id)
    SELECT h.id, new.repo_id, new.user_id, e.column1, e.column2, '{"at":' || new.created_at || '}',
        CAST(unixepoch('subsec') * 1000000 AS INTEGER), i.id
    FROM (VALUES ('star', 'created'), ('watch', 'started')) e
        JOIN installations i ON i.account_id = (SELECT owner_id FROM repos WHERE id = new.repo_id)
            AND i.suspended_at IS NULL AND i.events LIKE '%,' || e.column1 || ',%'
            AND (i.every OR EXISTS (SELECT 1 FROM installation_repos x
                WHERE x.installation_id = i.id AND x.repo_id = new.repo_id))
        JOIN hooks h ON h.app_id = i.app_id AND h.active;
END;
CREATE TRIGGER stars_gone_app_hooks AFTER DELETE ON stars WHEN EXISTS (SELECT 1 FROM installations) BEGIN
    INSERT INTO hook_deliveries (hook_id, repo_id, actor_id, event, action, about, created_at, installation_id)
    SELECT h.id, old.repo_id, old.user_id, 'star', 'deleted', '{}',
        CAST(unixepoch('subsec') * 1000000 AS INTEGER), i.id
    FROM installations i JOIN hooks h ON h.app_id = i.app_id AND h.active
    WHERE i.account_id = (SELECT owner_id FROM repos WHERE id = old.repo_id)
        AND i.suspended_at IS NULL AND i.events LIKE '%,star,%'
        AND (i.every OR EXISTS (SELECT 1 FROM installation_repos x
            WHERE x.installation_id = i.id AND x.repo_id = old.repo_id));
END;

-- postgres
CREATE FUNCTION tell_app_hooks_of_stars() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO hook_deliveries (hook_id, repo_id, actor_id, event, action, about, created_at, installation_id)
    SELECT h.id, c.repo_id, c.user_id, e.event, e.action,
        CASE WHEN TG_OP = 'INSERT' THEN '{"at":' || c.created_at || '}' ELSE '{}' END,
        CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT), i.id
    FROM changed c JOIN repos r ON r.id = c.repo_id
        JOIN (VALUES ('INSERT', 'star', 'created'), ('INSERT', 'watch', 'started'), ('DELETE', 'star', 'deleted'))
            e (op, event, action) ON e.op = TG_OP
        JOIN installations i ON i.account_id = r.owner_id AND i.suspended_at IS NULL
            AND i.events LIKE '%,' || e.event || ',%'
            AND (i.every OR EXISTS (SELECT 1 FROM installation_repos x
                WHERE x.installation_id = i.id AND x.repo_id = c.repo_id))
        JOIN hooks h ON h.app_id = i.app_id AND h.active;
    RETURN NULL;
END $$;
CREATE TRIGGER stars_added_app_hooks AFTER INSERT ON stars REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION tell_app_hooks_of_stars();
CREATE TRIGGER stars_gone_app_hooks AFTER DELETE ON stars REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION tell_app_hooks_of_stars();

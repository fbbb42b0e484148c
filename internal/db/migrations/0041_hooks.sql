-- Who is told of what happens in a repository, or in all repositories of an organization.
CREATE TABLE hooks (
    id            {{id}},
    repo_id       BIGINT REFERENCES repos (id) ON DELETE CASCADE,    -- one of the two
    org_id        BIGINT REFERENCES accounts (id) ON DELETE CASCADE,
    url           {{text}} NOT NULL,
    form          BOOLEAN NOT NULL,            -- the body is a form with the JSON in it
    secret        {{text}},
    insecure      BOOLEAN NOT NULL,            -- whose certificate is not looked at
    active        BOOLEAN NOT NULL,
    events        {{text}} NOT NULL,           -- ",push,issues,", or ",*,"
    salt          {{text}} NOT NULL,           -- random: the GUIDs of deliveries are made of it
    site          {{text}} NOT NULL,           -- where addresses in payloads begin: as its maker reached the server
    prefix        {{text}} NOT NULL,           -- the same for addresses of the API
    last_code     BIGINT,                      -- of the newest delivery's answer
    last_status   {{text}} NOT NULL DEFAULT 'unused',
    last_message  {{text}},
    failures      BIGINT NOT NULL DEFAULT 0,   -- attempts that failed since one succeeded
    failing_since BIGINT,                      -- by the database's clock; NULL: it does not
    due_at        BIGINT NOT NULL DEFAULT 0,   -- not before: a worker has it until then, or it rests
    tries         BIGINT NOT NULL DEFAULT 0,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL
);
CREATE INDEX hooks_of_repo ON hooks (repo_id) WHERE repo_id IS NOT NULL;
CREATE INDEX hooks_of_org ON hooks (org_id) WHERE org_id IS NOT NULL;

-- What a hook is told. A row begins with what it names, and gets the payload when it is first sent. All
-- times are by the database's clock.
CREATE TABLE hook_deliveries (
    id           {{id}},
    hook_id      BIGINT NOT NULL REFERENCES hooks (id) ON DELETE CASCADE,
    repo_id      BIGINT,                       -- it happened in this one, which may be gone
    actor_id     BIGINT,                       -- by this account; NULL: by the operator
    event        {{text}} NOT NULL,
    action       {{text}} NOT NULL DEFAULT '',
    about        {{text}} NOT NULL,            -- JSON: ids, and values before and after
    origin       BIGINT,                       -- of a redelivery: which was delivered first
    created_at   BIGINT NOT NULL,
    state        SMALLINT NOT NULL DEFAULT 0,  -- 0 waits, 1 succeeded, 2 failed for good
    due_at       BIGINT NOT NULL DEFAULT 0,    -- not before
    tries        BIGINT NOT NULL DEFAULT 0,
    payload      {{bytes}},                    -- NULL: it was not rendered yet
    delivered_at BIGINT,                       -- when it was tried last; NULL: never
    duration     BIGINT NOT NULL DEFAULT 0,    -- of that, in microseconds
    code         BIGINT NOT NULL DEFAULT 0,    -- the status of the answer; 0: there was none
    status       {{text}} NOT NULL DEFAULT '', -- in words
    url          {{text}} NOT NULL DEFAULT '',
    sent         {{text}} NOT NULL DEFAULT '', -- headers, as JSON
    received     {{text}} NOT NULL DEFAULT '', -- the answer's, in the same form
    body         {{bytes}}                     -- the beginning of the answer
);
CREATE INDEX hook_deliveries_waiting ON hook_deliveries (hook_id, id) WHERE state = 0;
CREATE INDEX hook_deliveries_tried ON hook_deliveries (hook_id, id) WHERE delivered_at IS NOT NULL;
CREATE INDEX hook_deliveries_by_age ON hook_deliveries (created_at);

-- Stars are one statement, so triggers tell hooks of them.
-- sqlite
CREATE TRIGGER stars_added_hooks AFTER INSERT ON stars WHEN EXISTS (SELECT 1 FROM hooks) BEGIN
    INSERT INTO hook_deliveries (hook_id, repo_id, actor_id, event, action, about, created_at)
    SELECT h.id, new.repo_id, new.user_id, e.column1, e.column2, '{"at":' || new.created_at || '}',
        CAST(unixepoch('subsec') * 1000000 AS INTEGER)
    FROM (VALUES ('star', 'created'), ('watch', 'started')) e JOIN hooks h
        ON h.events LIKE '%,' || e.column1 || ',%' OR h.events = ',*,'
    WHERE h.active AND (h.repo_id = new.repo_id
        OR h.org_id = (SELECT owner_id FROM repos WHERE id = new.repo_id));
END;
CREATE TRIGGER stars_gone_hooks AFTER DELETE ON stars WHEN EXISTS (SELECT 1 FROM hooks) BEGIN
    INSERT INTO hook_deliveries (hook_id, repo_id, actor_id, event, action, about, created_at)
    SELECT h.id, old.repo_id, old.user_id, 'star', 'deleted', '{}', CAST(unixepoch('subsec') * 1000000 AS INTEGER)
    FROM hooks h WHERE h.active AND (h.events LIKE '%,star,%' OR h.events = ',*,') AND (h.repo_id = old.repo_id
        OR h.org_id = (SELECT owner_id FROM repos WHERE id = old.repo_id));
END;

-- postgres
CREATE FUNCTION tell_hooks_of_stars() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO hook_deliveries (hook_id, repo_id, actor_id, event, action, about, created_at)
    SELECT h.id, c.repo_id, c.user_id, e.event, e.action,
        CASE WHEN TG_OP = 'INSERT' THEN '{"at":' || c.created_at || '}' ELSE '{}' END,
        CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT)
    FROM changed c JOIN repos r ON r.id = c.repo_id JOIN hooks h ON h.repo_id = r.id OR h.org_id = r.owner_id
        JOIN (VALUES ('INSERT', 'star', 'created'), ('INSERT', 'watch', 'started'), ('DELETE', 'star', 'deleted'))
            e (op, event, action) ON e.op = TG_OP AND (h.events LIKE '%,' || e.event || ',%' OR h.events = ',*,')
    WHERE h.active;
    RETURN NULL;
END $$;
CREATE TRIGGER stars_added_hooks AFTER INSERT ON stars REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION tell_hooks_of_stars();
CREATE TRIGGER stars_gone_hooks AFTER DELETE ON stars REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION tell_hooks_of_stars();

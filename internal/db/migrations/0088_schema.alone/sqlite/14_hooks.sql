-- Webhooks and their deliveries.

-- Webhooks of repositories, organizations and Apps.
CREATE TABLE hooks (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id       BIGINT REFERENCES repos (id) ON DELETE CASCADE, -- one of repo_id, org_id and app_id is set
    org_id        BIGINT REFERENCES accounts (id) ON DELETE CASCADE,
    url           TEXT NOT NULL,
    form          BOOLEAN NOT NULL,                        -- the body is a form with the JSON in it
    secret        TEXT,
    insecure      BOOLEAN NOT NULL,                        -- certificates are not verified
    active        BOOLEAN NOT NULL,
    events        TEXT NOT NULL,                           -- ",push,issues,", or ",*,"
    salt          TEXT NOT NULL,                           -- random: GUIDs of deliveries are derived from it
    -- The beginning of addresses in payloads, as its creator reached the server.
    site          TEXT NOT NULL,
    prefix        TEXT NOT NULL,                           -- the same for addresses of the API
    last_code     BIGINT,                                  -- the status of the newest delivery
    last_status   TEXT NOT NULL DEFAULT 'unused',
    last_message  TEXT,
    failures      BIGINT NOT NULL DEFAULT 0,               -- attempts that failed since the last success
    failing_since BIGINT,                                  -- by the database's clock; NULL: it does not fail
    due_at        BIGINT NOT NULL DEFAULT 0,               -- see db.Jobs; also a pause after failures
    tries         BIGINT NOT NULL DEFAULT 0,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    app_id        BIGINT REFERENCES apps (id) ON DELETE CASCADE -- of an App: for events where that is installed
);
CREATE INDEX hooks_of_repo ON hooks (repo_id) WHERE repo_id IS NOT NULL;
CREATE INDEX hooks_of_org ON hooks (org_id) WHERE org_id IS NOT NULL;
CREATE INDEX hooks_of_app ON hooks (app_id) WHERE app_id IS NOT NULL;

-- Deliveries to hooks: a queue, and then a log. A row begins with ids; its payload is made at the end of the
-- transaction, or when it is first sent. All times are by the database's clock.
CREATE TABLE hook_deliveries (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    hook_id         BIGINT NOT NULL REFERENCES hooks (id) ON DELETE CASCADE,
    repo_id         BIGINT,                      -- where it happened; it may be gone
    actor_id        BIGINT,                      -- who did it; NULL: the operator
    event           TEXT NOT NULL,
    action          TEXT NOT NULL DEFAULT '',
    about           TEXT NOT NULL,               -- JSON: ids, and values before and after
    origin          BIGINT,                      -- of a redelivery: the first delivery
    created_at      BIGINT NOT NULL,
    state           SMALLINT NOT NULL DEFAULT 0, -- 0 waiting, 1 succeeded, 2 failed for good
    due_at          BIGINT NOT NULL DEFAULT 0,   -- see db.Jobs
    tries           BIGINT NOT NULL DEFAULT 0,
    payload         BLOB,                        -- NULL: not rendered yet
    delivered_at    BIGINT,                      -- the last attempt; NULL: none
    duration        BIGINT NOT NULL DEFAULT 0,   -- of that attempt, in microseconds
    code            BIGINT NOT NULL DEFAULT 0,   -- the status of the answer; 0: there was none
    status          TEXT NOT NULL DEFAULT '',    -- in words
    url             TEXT NOT NULL DEFAULT '',
    sent            TEXT NOT NULL DEFAULT '',    -- headers, as JSON
    received        TEXT NOT NULL DEFAULT '',    -- those of the answer, as JSON
    body            BLOB,                        -- the beginning of the answer
    installation_id BIGINT,                      -- of an App's hook; it may be gone
    -- The same for all deliveries of one event, until their payloads are made.
    mark            BIGINT
);
CREATE INDEX hook_deliveries_waiting ON hook_deliveries (hook_id, id) WHERE state = 0;
CREATE INDEX hook_deliveries_tried ON hook_deliveries (hook_id, id) WHERE delivered_at IS NOT NULL;
CREATE INDEX hook_deliveries_by_age ON hook_deliveries (created_at);
CREATE INDEX hook_deliveries_marked ON hook_deliveries (mark) WHERE mark IS NOT NULL;

-- The state of the database at an event, as far as its deliveries show it. It is written in the event's
-- transaction, once for all hooks, and goes when the payloads are made. Without it a payload shows the state
-- when it is made.
CREATE TABLE hook_told (
    mark BIGINT NOT NULL PRIMARY KEY, -- as in hook_deliveries
    told BLOB NOT NULL
);

-- Triggers add the deliveries of stars: to hooks of the repository and the organization, and to those of Apps. All
-- stars of an account that is deleted go by one statement, and hooks are told of each; only triggers see them.
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

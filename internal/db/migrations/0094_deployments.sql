-- What deploy tools say of commits. Nothing here runs anything.

-- Where deployments go. One is made for the first deployment to it.
CREATE TABLE environments (
    id                  {{id}},
    repo_id             BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    name                {{text}} NOT NULL,
    name_folded         {{text}} NOT NULL,          -- in lower case
    wait_timer          BIGINT NOT NULL DEFAULT 0,  -- minutes
    prevent_self_review BOOLEAN NOT NULL DEFAULT FALSE,
    reviewers           {{text}} NOT NULL DEFAULT '', -- ids of users, separated by commas
    branches            SMALLINT NOT NULL DEFAULT 0, -- which may be deployed: 0 all, 1 protected, 2 custom policies
    created_at          BIGINT NOT NULL,
    updated_at          BIGINT NOT NULL,
    UNIQUE (repo_id, name_folded)
);

CREATE TABLE deployments (
    id                   {{id}},
    repo_id              BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    sha                  {{text}} NOT NULL,
    ref                  {{text}} NOT NULL, -- as it was sent
    task                 {{text}} NOT NULL,
    environment          {{text}} NOT NULL,
    original_environment {{text}} NOT NULL,
    payload              {{text}} NOT NULL, -- JSON
    description          {{text}},
    transient            BOOLEAN NOT NULL,
    production           BOOLEAN NOT NULL,
    creator_id           BIGINT NOT NULL REFERENCES accounts (id),
    state                SMALLINT NOT NULL DEFAULT 0, -- of the latest status; 0: none
    statuses             BIGINT NOT NULL DEFAULT 0,   -- how many
    created_at           BIGINT NOT NULL,
    updated_at           BIGINT NOT NULL
);
CREATE INDEX deployments_of_repo ON deployments (repo_id, id);
CREATE INDEX deployments_of_commit ON deployments (repo_id, sha, id);
CREATE INDEX deployments_of_ref ON deployments (repo_id, ref, id);
CREATE INDEX deployments_of_environment ON deployments (repo_id, environment, id);
CREATE INDEX deployments_of_creator ON deployments (creator_id);

CREATE TABLE deployment_statuses (
    id              {{id}},
    repo_id         BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    deployment_id   BIGINT NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
    state           SMALLINT NOT NULL, -- 1 error, 2 failure, 3 inactive, 4 in progress, 5 queued, 6 pending, 7 success
    environment     {{text}} NOT NULL,
    description     {{text}} NOT NULL,
    log_url         {{text}} NOT NULL,
    environment_url {{text}} NOT NULL,
    creator_id      BIGINT NOT NULL REFERENCES accounts (id),
    created_at      BIGINT NOT NULL
);
CREATE INDEX deployment_statuses_of_deployment ON deployment_statuses (deployment_id, id);
CREATE INDEX deployment_statuses_of_repo ON deployment_statuses (repo_id);
CREATE INDEX deployment_statuses_of_creator ON deployment_statuses (creator_id);

-- Both count as texts of their creators, see the triggers of the schema. Neither is edited.
-- sqlite
CREATE TRIGGER deployments_text_added AFTER INSERT ON deployments BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.creator_id, n, n FROM (SELECT
        512 + octet_length(new.payload) + octet_length(new.ref) AS n);
END;
CREATE TRIGGER deployments_text_gone AFTER DELETE ON deployments BEGIN
    UPDATE text_counts SET bytes = bytes - (512 + octet_length(old.payload) + octet_length(old.ref))
    WHERE account_id = old.creator_id;
END;
CREATE TRIGGER deployment_statuses_text_added AFTER INSERT ON deployment_statuses BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.creator_id, n, n FROM (SELECT
        512 + octet_length(new.log_url) + octet_length(new.environment_url) AS n);
END;
CREATE TRIGGER deployment_statuses_text_gone AFTER DELETE ON deployment_statuses BEGIN
    UPDATE text_counts SET bytes = bytes - (512 + octet_length(old.log_url) + octet_length(old.environment_url))
    WHERE account_id = old.creator_id;
END;
-- postgres
DO $do$ DECLARE t RECORD; BEGIN
    FOR t IN SELECT * FROM (VALUES
        ('deployments', '512 + octet_length(r.payload) + octet_length(r.ref)'),
        ('deployment_statuses', '512 + octet_length(r.log_url) + octet_length(r.environment_url)')) AS v (name, bytes)
    LOOP
        EXECUTE format($f$
            CREATE OR REPLACE FUNCTION %1$s_text_added() RETURNS TRIGGER LANGUAGE plpgsql AS $b$ BEGIN
                PERFORM count_text(c.who, c.n, c.n) FROM (SELECT r.creator_id AS who, CAST(SUM(%2$s) AS BIGINT) AS n
                    FROM changed r GROUP BY r.creator_id ORDER BY r.creator_id) c;
                RETURN NULL;
            END $b$;
            CREATE TRIGGER %1$s_text_added AFTER INSERT ON %1$s REFERENCING NEW TABLE AS changed
                FOR EACH STATEMENT EXECUTE FUNCTION %1$s_text_added();
            CREATE OR REPLACE FUNCTION %1$s_text_gone() RETURNS TRIGGER LANGUAGE plpgsql AS $b$ BEGIN
                UPDATE text_counts x SET bytes = x.bytes - c.n
                FROM (SELECT r.creator_id AS who, CAST(SUM(%2$s) AS BIGINT) AS n FROM changed r GROUP BY r.creator_id) c
                WHERE x.account_id = c.who;
                RETURN NULL;
            END $b$;
            CREATE TRIGGER %1$s_text_gone AFTER DELETE ON %1$s REFERENCING OLD TABLE AS changed
                FOR EACH STATEMENT EXECUTE FUNCTION %1$s_text_gone();
        $f$, t.name, t.bytes);
    END LOOP;
END $do$;

-- Stars and watches.

-- Who starred which repository.
CREATE TABLE stars (
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    private    BOOLEAN NOT NULL, -- as the repository, so that a list walks one index
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, repo_id)
);
CREATE INDEX stars_of_repo ON stars (repo_id, created_at, user_id);
CREATE INDEX stars_of_user ON stars (user_id, created_at, repo_id, private);
CREATE INDEX stars_hidden ON stars (user_id, private, repo_id) WHERE private = TRUE;

-- Who watches which repository: gets notifications of all that happens there.
CREATE TABLE watches (
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    private    BOOLEAN NOT NULL, -- as in stars
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, repo_id)
);
CREATE INDEX watches_of_repo ON watches (repo_id, created_at, user_id);
CREATE INDEX watches_of_user ON watches (user_id, created_at, repo_id, private);
CREATE INDEX watches_hidden ON watches (user_id, private, repo_id) WHERE private = TRUE;

-- How many stars and watches a user has, so that no list counts rows.
CREATE TABLE mark_counts (
    user_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind    SMALLINT NOT NULL, -- 0 stars, 1 watches
    public  BIGINT NOT NULL,
    private BIGINT NOT NULL,
    PRIMARY KEY (user_id, kind)
);

-- Who ignores a repository: gets no notifications of it.
CREATE TABLE silences (
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, repo_id)
);
CREATE INDEX silences_of_repo ON silences (repo_id);

-- Triggers count stars and watches: only they see the rows that go with a repository or an account, by a cascade.
-- A repository that is hidden or shown moves its rows from one number to the other by itself (package star).
-- They count once for each statement, not for each row: a repository that is deleted takes all rows at once.
CREATE FUNCTION count_marks() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    of_kind SMALLINT := TG_ARGV[0];
    sign BIGINT := CASE WHEN TG_OP = 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    IF of_kind = 0 THEN
        UPDATE repos SET stars = stars + sign * c.n
        FROM (SELECT repo_id, count(*) AS n FROM changed GROUP BY repo_id) c WHERE id = c.repo_id;
    ELSE
        UPDATE repos SET watchers = watchers + sign * c.n
        FROM (SELECT repo_id, count(*) AS n FROM changed GROUP BY repo_id) c WHERE id = c.repo_id;
    END IF;
    IF TG_OP = 'INSERT' THEN
        INSERT INTO mark_counts AS m (user_id, kind, public, private)
        SELECT user_id, of_kind, count(*) FILTER (WHERE NOT c.private), count(*) FILTER (WHERE c.private)
        FROM changed c GROUP BY user_id ORDER BY user_id
        ON CONFLICT (user_id, kind) DO UPDATE SET public = m.public + excluded.public,
            private = m.private + excluded.private;
    ELSE
        UPDATE mark_counts m SET public = m.public - c.public, private = m.private - c.private
        FROM (SELECT user_id, count(*) FILTER (WHERE NOT d.private) AS public,
                count(*) FILTER (WHERE d.private) AS private
            FROM changed d GROUP BY user_id) c
        WHERE m.user_id = c.user_id AND m.kind = of_kind;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER stars_added AFTER INSERT ON stars REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_marks(0);
CREATE TRIGGER stars_gone AFTER DELETE ON stars REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_marks(0);
CREATE TRIGGER watches_added AFTER INSERT ON watches REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_marks(1);
CREATE TRIGGER watches_gone AFTER DELETE ON watches REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_marks(1);

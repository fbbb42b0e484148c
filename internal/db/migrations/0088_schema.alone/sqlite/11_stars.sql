-- Stars and watches.

-- Who starred which repository.
CREATE TABLE stars (
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    private    BOOLEAN NOT NULL, -- as the repository, so that a list walks one index
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, repo_id)
) WITHOUT ROWID;
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
) WITHOUT ROWID;
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
) WITHOUT ROWID;

-- Who ignores a repository: gets no notifications of it.
CREATE TABLE silences (
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, repo_id)
) WITHOUT ROWID;
CREATE INDEX silences_of_repo ON silences (repo_id);

-- Triggers count stars and watches: only they see the rows that go with a repository or an account, by a cascade.
-- A repository that is hidden or shown moves its rows from one number to the other by itself (package star).
CREATE TRIGGER stars_added AFTER INSERT ON stars BEGIN
    UPDATE repos SET stars = stars + 1 WHERE id = new.repo_id;
    INSERT INTO mark_counts (user_id, kind, public, private) VALUES (new.user_id, 0, NOT new.private, new.private)
    ON CONFLICT (user_id, kind) DO UPDATE SET public = public + excluded.public, private = private + excluded.private;
END;
CREATE TRIGGER stars_gone AFTER DELETE ON stars BEGIN
    UPDATE repos SET stars = stars - 1 WHERE id = old.repo_id;
    UPDATE mark_counts SET public = public - (NOT old.private), private = private - old.private
    WHERE user_id = old.user_id AND kind = 0;
END;
CREATE TRIGGER watches_added AFTER INSERT ON watches BEGIN
    UPDATE repos SET watchers = watchers + 1 WHERE id = new.repo_id;
    INSERT INTO mark_counts (user_id, kind, public, private) VALUES (new.user_id, 1, NOT new.private, new.private)
    ON CONFLICT (user_id, kind) DO UPDATE SET public = public + excluded.public, private = private + excluded.private;
END;
CREATE TRIGGER watches_gone AFTER DELETE ON watches BEGIN
    UPDATE repos SET watchers = watchers - 1 WHERE id = old.repo_id;
    UPDATE mark_counts SET public = public - (NOT old.private), private = private - old.private
    WHERE user_id = old.user_id AND kind = 1;
END;

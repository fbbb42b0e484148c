-- Lists of all organizations and of all public repositories go by id.
CREATE INDEX accounts_organizations ON accounts (id) WHERE kind = 2;
CREATE INDEX repos_public ON repos (id) WHERE NOT private;

-- What repositories are about: topics that people give them, and what is found out about
-- the code of their default branches.
ALTER TABLE repos ADD COLUMN topics {{text}} NOT NULL DEFAULT '';   -- parted by spaces
ALTER TABLE repos ADD COLUMN language {{text}};                     -- of most of the code
ALTER TABLE repos ADD COLUMN license {{text}};                      -- a key of package license

-- The topics once more, to find repositories by them.
CREATE TABLE repo_topics (
    repo_id BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    topic   {{text}} NOT NULL,
    PRIMARY KEY (repo_id, topic)
);
CREATE INDEX repo_topics_by_topic ON repo_topics (topic, repo_id);

-- How much code there is of each language.
CREATE TABLE repo_languages (
    repo_id   BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    tree_sha  {{text}} NOT NULL,                -- that was looked at
    languages {{text}} NOT NULL                 -- a JSON object: bytes by language, most first
);

-- Repositories whose default branch may have moved since. A trigger adds the row, so a push
-- waits for nothing.
CREATE TABLE detections (
    repo_id BIGINT NOT NULL PRIMARY KEY REFERENCES repos (id) ON DELETE CASCADE,
    due_at  BIGINT NOT NULL,                    -- see db.Jobs
    tries   BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX detections_due ON detections (due_at, repo_id);
INSERT INTO detections (repo_id, due_at) SELECT id, 0 FROM repos;

-- sqlite
CREATE TRIGGER repos_detection AFTER UPDATE OF refs_generation, default_branch ON repos
WHEN new.refs_generation <> old.refs_generation OR new.default_branch <> old.default_branch BEGIN
    INSERT INTO detections (repo_id, due_at) VALUES (new.id, 0)
    ON CONFLICT (repo_id) DO UPDATE SET due_at = 0, tries = 0;
END;

-- A fork begins with branches; what begins without any is noted when they come.
CREATE TRIGGER repos_first_detection AFTER INSERT ON repos WHEN new.parent_id IS NOT NULL BEGIN
    INSERT INTO detections (repo_id, due_at) VALUES (new.id, 0);
END;

-- postgres
CREATE FUNCTION note_detection() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO detections (repo_id, due_at) VALUES (NEW.id, 0)
    ON CONFLICT (repo_id) DO UPDATE SET due_at = 0, tries = 0;
    RETURN NULL;
END $$;
CREATE TRIGGER repos_detection AFTER UPDATE OF refs_generation, default_branch ON repos FOR EACH ROW
    WHEN (NEW.refs_generation <> OLD.refs_generation OR NEW.default_branch <> OLD.default_branch)
    EXECUTE FUNCTION note_detection();
CREATE TRIGGER repos_first_detection AFTER INSERT ON repos FOR EACH ROW WHEN (NEW.parent_id IS NOT NULL) EXECUTE FUNCTION note_detection();

-- Former texts of issues, comments and reviews: a row for each edit, the newest hundred of each text (package
-- revision). The text itself is not here.
CREATE TABLE text_edits (
    id         {{id}},
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    kind       SMALLINT NOT NULL, -- of the text: 1 of the issue itself, 2 a comment, 3 a review, 4 a review comment
    comment_id BIGINT REFERENCES issue_comments (id) ON DELETE CASCADE,  -- of kind 2
    review_id  BIGINT REFERENCES reviews (id) ON DELETE CASCADE,         -- of kind 3
    line_id    BIGINT REFERENCES review_comments (id) ON DELETE CASCADE, -- of kind 4
    n          BIGINT NOT NULL,   -- the number of the edit of this text, from 1
    editor_id  BIGINT NOT NULL REFERENCES accounts (id),
    edited_at  BIGINT NOT NULL,
    was        {{text}},          -- the text before the edit; NULL: deleted, or its editor had no room
    private    BOOLEAN NOT NULL,  -- the repository was private then
    deleted_by BIGINT,            -- who deleted the text before the edit
    deleted_at BIGINT
);
CREATE INDEX text_edits_of_issue ON text_edits (issue_id, kind, n);
CREATE INDEX text_edits_of_comment ON text_edits (comment_id, n) WHERE comment_id IS NOT NULL;
CREATE INDEX text_edits_of_review ON text_edits (review_id, n) WHERE review_id IS NOT NULL;
CREATE INDEX text_edits_of_line ON text_edits (line_id, n) WHERE line_id IS NOT NULL;
CREATE INDEX text_edits_of_repo ON text_edits (repo_id);
CREATE INDEX text_edits_of_editor ON text_edits (editor_id);
CREATE INDEX text_edits_deleted_by ON text_edits (deleted_by) WHERE deleted_by IS NOT NULL;

-- They count as texts of those who edited, see the triggers of the schema; not in the rate, where the new text counts.
-- sqlite
CREATE TRIGGER text_edits_text_added AFTER INSERT ON text_edits BEGIN
    INSERT INTO text_changes (account_id, bytes, written)
    SELECT new.editor_id, COALESCE(256 + octet_length(new.was), 0), 0;
END;
CREATE TRIGGER text_edits_text_gone AFTER DELETE ON text_edits BEGIN
    UPDATE text_counts SET bytes = bytes - COALESCE(256 + octet_length(old.was), 0)
    WHERE account_id = old.editor_id;
END;
CREATE TRIGGER text_edits_text_edited AFTER UPDATE OF was ON text_edits WHEN old.was IS NOT new.was BEGIN
    UPDATE text_counts SET bytes = bytes - COALESCE(256 + octet_length(old.was), 0) + COALESCE(256 + octet_length(new.was), 0)
    WHERE account_id = old.editor_id;
END;
-- postgres
CREATE OR REPLACE FUNCTION text_edits_text_added() RETURNS TRIGGER LANGUAGE plpgsql AS $b$ BEGIN
    PERFORM count_text(c.who, c.n, 0) FROM (SELECT r.editor_id AS who,
        CAST(COALESCE(SUM(256 + octet_length(r.was)), 0) AS BIGINT) AS n
        FROM changed r GROUP BY r.editor_id ORDER BY r.editor_id) c;
    RETURN NULL;
END $b$;
CREATE TRIGGER text_edits_text_added AFTER INSERT ON text_edits REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION text_edits_text_added();
CREATE OR REPLACE FUNCTION text_edits_text_gone() RETURNS TRIGGER LANGUAGE plpgsql AS $b$ BEGIN
    UPDATE text_counts x SET bytes = x.bytes - c.n
    FROM (SELECT r.editor_id AS who, CAST(COALESCE(SUM(256 + octet_length(r.was)), 0) AS BIGINT) AS n
        FROM changed r GROUP BY r.editor_id) c
    WHERE x.account_id = c.who;
    RETURN NULL;
END $b$;
CREATE TRIGGER text_edits_text_gone AFTER DELETE ON text_edits REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION text_edits_text_gone();
CREATE OR REPLACE FUNCTION text_edits_text_edited() RETURNS TRIGGER LANGUAGE plpgsql AS $b$ BEGIN
    UPDATE text_counts SET bytes = bytes - COALESCE(256 + octet_length(OLD.was), 0)
        + COALESCE(256 + octet_length(NEW.was), 0) WHERE account_id = OLD.editor_id;
    RETURN NULL;
END $b$;
CREATE TRIGGER text_edits_text_edited AFTER UPDATE OF was ON text_edits
    FOR EACH ROW WHEN (OLD.was IS DISTINCT FROM NEW.was) EXECUTE FUNCTION text_edits_text_edited();

-- Former texts of comments on commits (package revision), as text_edits has those of conversations: a row for each
-- edit, the newest hundred of each comment.
CREATE TABLE commit_comment_edits (
    id         {{id}},
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    comment_id BIGINT NOT NULL REFERENCES commit_comments (id) ON DELETE CASCADE,
    n          BIGINT NOT NULL,   -- the number of the edit of this comment, from 1
    editor_id  BIGINT NOT NULL REFERENCES accounts (id),
    edited_at  BIGINT NOT NULL,
    was        {{text}},          -- the text before the edit; NULL: its editor had no room
    private    BOOLEAN NOT NULL,  -- the repository was private then
    deleted_by BIGINT,            -- who deleted the text before the edit
    deleted_at BIGINT
);
CREATE UNIQUE INDEX commit_comment_edits_of_comment ON commit_comment_edits (comment_id, n);
CREATE INDEX commit_comment_edits_of_repo ON commit_comment_edits (repo_id);
CREATE INDEX commit_comment_edits_of_editor ON commit_comment_edits (editor_id);
CREATE INDEX commit_comment_edits_deleted_by ON commit_comment_edits (deleted_by) WHERE deleted_by IS NOT NULL;

-- They count as texts of those who edited, as text_edits do.
-- sqlite
CREATE TRIGGER commit_comment_edits_text_added AFTER INSERT ON commit_comment_edits BEGIN
    INSERT INTO text_changes (account_id, bytes, written)
    SELECT new.editor_id, COALESCE(256 + octet_length(new.was), 0), 0;
END;
CREATE TRIGGER commit_comment_edits_text_gone AFTER DELETE ON commit_comment_edits BEGIN
    UPDATE text_counts SET bytes = bytes - COALESCE(256 + octet_length(old.was), 0)
    WHERE account_id = old.editor_id;
END;
CREATE TRIGGER commit_comment_edits_text_edited AFTER UPDATE OF was ON commit_comment_edits
    WHEN old.was IS NOT new.was BEGIN
    UPDATE text_counts SET bytes = bytes - COALESCE(256 + octet_length(old.was), 0) + COALESCE(256 + octet_length(new.was), 0)
    WHERE account_id = old.editor_id;
END;
-- postgres
CREATE TRIGGER commit_comment_edits_text_added AFTER INSERT ON commit_comment_edits REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION text_edits_text_added();
CREATE TRIGGER commit_comment_edits_text_gone AFTER DELETE ON commit_comment_edits REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION text_edits_text_gone();
CREATE TRIGGER commit_comment_edits_text_edited AFTER UPDATE OF was ON commit_comment_edits
    FOR EACH ROW WHEN (OLD.was IS DISTINCT FROM NEW.was) EXECUTE FUNCTION text_edits_text_edited();

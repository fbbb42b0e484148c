-- How much text accounts have written.

-- How many bytes of text each account has written: titles, bodies and the like, and 256 for each row. It
-- counts in the account's quota, and what was written within an hour in its rate. Events 12 and 13
-- (mentioned, subscribed) count for nobody, since others cause them. Package account lists the same tables,
-- and arbor check compares.
CREATE TABLE text_counts (
    account_id BIGINT NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    bytes      BIGINT NOT NULL,
    hour       BIGINT NOT NULL, -- when the hour of the next column began, by the database's clock
    hour_bytes BIGINT NOT NULL  -- written since then
);

-- Triggers count. Ten tables have many writers each, cascades delete most rows, and a quota has to hold whatever
-- writes; so only the database can do it.
-- A row that is inserted into this view is counted.
CREATE VIEW text_changes AS SELECT account_id, bytes, hour_bytes AS written FROM text_counts;
CREATE TRIGGER text_changed INSTEAD OF INSERT ON text_changes BEGIN
    INSERT INTO text_counts (account_id, bytes, hour, hour_bytes)
    VALUES (new.account_id, new.bytes, CAST(unixepoch('subsec') * 1000000 AS INTEGER), new.written)
    ON CONFLICT (account_id) DO UPDATE SET bytes = bytes + excluded.bytes,
        hour_bytes = excluded.hour_bytes + CASE WHEN hour > excluded.hour - 3600000000 THEN hour_bytes ELSE 0 END,
        hour = CASE WHEN hour > excluded.hour - 3600000000 THEN hour ELSE excluded.hour END;
END;

CREATE TRIGGER issues_text_added AFTER INSERT ON issues BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.author_id, n, n FROM (SELECT
        256 + octet_length(new.title) + COALESCE(octet_length(new.body), 0) AS n);
END;
CREATE TRIGGER issues_text_gone AFTER DELETE ON issues BEGIN
    UPDATE text_counts SET bytes = bytes - (
        256 + octet_length(old.title) + COALESCE(octet_length(old.body), 0)) WHERE account_id = old.author_id;
END;
CREATE TRIGGER issues_text_edited AFTER UPDATE OF title, body ON issues
    WHEN old.title IS NOT new.title
        OR old.body IS NOT new.body BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.author_id, n - (
        256 + octet_length(old.title) + COALESCE(octet_length(old.body), 0)), n FROM (SELECT
        256 + octet_length(new.title) + COALESCE(octet_length(new.body), 0) AS n);
END;
CREATE TRIGGER issue_comments_text_added AFTER INSERT ON issue_comments BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.author_id, n, n FROM (SELECT
        256 + octet_length(new.body) AS n);
END;
CREATE TRIGGER issue_comments_text_gone AFTER DELETE ON issue_comments BEGIN
    UPDATE text_counts SET bytes = bytes - (
        256 + octet_length(old.body)) WHERE account_id = old.author_id;
END;
CREATE TRIGGER issue_comments_text_edited AFTER UPDATE OF body ON issue_comments
    WHEN old.body IS NOT new.body BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.author_id, n - (
        256 + octet_length(old.body)), n FROM (SELECT
        256 + octet_length(new.body) AS n);
END;
CREATE TRIGGER issue_events_text_added AFTER INSERT ON issue_events BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.actor_id, n, n FROM (SELECT
        CASE WHEN new.kind IN (12, 13) THEN 0 ELSE 256 + COALESCE(octet_length(new.detail), 0) END AS n);
END;
CREATE TRIGGER issue_events_text_gone AFTER DELETE ON issue_events BEGIN
    UPDATE text_counts SET bytes = bytes - (
        CASE WHEN old.kind IN (12, 13) THEN 0 ELSE 256 + COALESCE(octet_length(old.detail), 0) END) WHERE account_id = old.actor_id;
END;
CREATE TRIGGER reviews_text_added AFTER INSERT ON reviews BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.author_id, n, n FROM (SELECT
        256 + octet_length(new.body) AS n);
END;
CREATE TRIGGER reviews_text_gone AFTER DELETE ON reviews BEGIN
    UPDATE text_counts SET bytes = bytes - (
        256 + octet_length(old.body)) WHERE account_id = old.author_id;
END;
CREATE TRIGGER reviews_text_edited AFTER UPDATE OF body ON reviews
    WHEN old.body IS NOT new.body BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.author_id, n - (
        256 + octet_length(old.body)), n FROM (SELECT
        256 + octet_length(new.body) AS n);
END;
CREATE TRIGGER review_comments_text_added AFTER INSERT ON review_comments BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.author_id, n, n FROM (SELECT
        256 + octet_length(new.body) + octet_length(new.path) + octet_length(new.diff_hunk) AS n);
END;
CREATE TRIGGER review_comments_text_gone AFTER DELETE ON review_comments BEGIN
    UPDATE text_counts SET bytes = bytes - (
        256 + octet_length(old.body) + octet_length(old.path)
        + octet_length(old.diff_hunk)) WHERE account_id = old.author_id;
END;
CREATE TRIGGER review_comments_text_edited AFTER UPDATE OF body, diff_hunk ON review_comments
    WHEN old.body IS NOT new.body
        OR old.diff_hunk IS NOT new.diff_hunk BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.author_id, n - (
        256 + octet_length(old.body) + octet_length(old.path) + octet_length(old.diff_hunk)), n FROM (SELECT
        256 + octet_length(new.body) + octet_length(new.path) + octet_length(new.diff_hunk) AS n);
END;
CREATE TRIGGER commit_comments_text_added AFTER INSERT ON commit_comments BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.author_id, n, n FROM (SELECT
        256 + octet_length(new.body) + COALESCE(octet_length(new.path), 0) AS n);
END;
CREATE TRIGGER commit_comments_text_gone AFTER DELETE ON commit_comments BEGIN
    UPDATE text_counts SET bytes = bytes - (
        256 + octet_length(old.body) + COALESCE(octet_length(old.path), 0)) WHERE account_id = old.author_id;
END;
CREATE TRIGGER commit_comments_text_edited AFTER UPDATE OF body ON commit_comments
    WHEN old.body IS NOT new.body BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.author_id, n - (
        256 + octet_length(old.body) + COALESCE(octet_length(old.path), 0)), n FROM (SELECT
        256 + octet_length(new.body) + COALESCE(octet_length(new.path), 0) AS n);
END;
CREATE TRIGGER milestones_text_added AFTER INSERT ON milestones BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.creator_id, n, n FROM (SELECT
        256 + octet_length(new.title) + COALESCE(octet_length(new.description), 0) AS n);
END;
CREATE TRIGGER milestones_text_gone AFTER DELETE ON milestones BEGIN
    UPDATE text_counts SET bytes = bytes - (
        256 + octet_length(old.title) + COALESCE(octet_length(old.description), 0)) WHERE account_id = old.creator_id;
END;
CREATE TRIGGER milestones_text_edited AFTER UPDATE OF title, description ON milestones
    WHEN old.title IS NOT new.title
        OR old.description IS NOT new.description BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.creator_id, n - (
        256 + octet_length(old.title) + COALESCE(octet_length(old.description), 0)), n FROM (SELECT
        256 + octet_length(new.title) + COALESCE(octet_length(new.description), 0) AS n);
END;
CREATE TRIGGER releases_text_added AFTER INSERT ON releases BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.author_id, n, n FROM (SELECT
        256 + octet_length(new.tag) + octet_length(new.target) + COALESCE(octet_length(new.name), 0)
        + COALESCE(octet_length(new.body), 0) AS n);
END;
CREATE TRIGGER releases_text_gone AFTER DELETE ON releases BEGIN
    UPDATE text_counts SET bytes = bytes - (
        256 + octet_length(old.tag) + octet_length(old.target) + COALESCE(octet_length(old.name), 0)
        + COALESCE(octet_length(old.body), 0)) WHERE account_id = old.author_id;
END;
CREATE TRIGGER releases_text_edited AFTER UPDATE OF tag, target, name, body ON releases
    WHEN old.tag IS NOT new.tag
        OR old.target IS NOT new.target
        OR old.name IS NOT new.name
        OR old.body IS NOT new.body BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.author_id, n - (
        256 + octet_length(old.tag) + octet_length(old.target) + COALESCE(octet_length(old.name), 0)
        + COALESCE(octet_length(old.body), 0)), n FROM (SELECT
        256 + octet_length(new.tag) + octet_length(new.target) + COALESCE(octet_length(new.name), 0)
        + COALESCE(octet_length(new.body), 0) AS n);
END;
CREATE TRIGGER statuses_text_added AFTER INSERT ON statuses BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.creator_id, n, n FROM (SELECT
        256 + octet_length(new.context) + COALESCE(octet_length(new.target_url), 0)
        + COALESCE(octet_length(new.description), 0) AS n);
END;
CREATE TRIGGER statuses_text_gone AFTER DELETE ON statuses BEGIN
    UPDATE text_counts SET bytes = bytes - (
        256 + octet_length(old.context) + COALESCE(octet_length(old.target_url), 0)
        + COALESCE(octet_length(old.description), 0)) WHERE account_id = old.creator_id;
END;
CREATE TRIGGER plants_text_added AFTER INSERT ON plants BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.owner_id, n, n FROM (SELECT
        256 + octet_length(new.name) + COALESCE(octet_length(new.tag), 0) AS n);
END;
CREATE TRIGGER plants_text_gone AFTER DELETE ON plants BEGIN
    UPDATE text_counts SET bytes = bytes - (
        256 + octet_length(old.name) + COALESCE(octet_length(old.tag), 0)) WHERE account_id = old.owner_id;
END;
CREATE TRIGGER plants_text_edited AFTER UPDATE OF name, tag ON plants
    WHEN old.name IS NOT new.name
        OR old.tag IS NOT new.tag BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.owner_id, n - (
        256 + octet_length(old.name) + COALESCE(octet_length(old.tag), 0)), n FROM (SELECT
        256 + octet_length(new.name) + COALESCE(octet_length(new.tag), 0) AS n);
END;

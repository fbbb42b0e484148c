-- How many bytes of text each account has written: titles and bodies, and 256 for each row. It counts in the account's
-- quota, and what was written within an hour in its rate. Triggers count, so that what older nodes write and what a
-- cascade takes along counts as well. Nobody's are events of who was mentioned or subscribed (12, 13): others cause them. Package account lists the same tables; arbor check compares.
CREATE TABLE text_counts (
    account_id BIGINT NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    bytes      BIGINT NOT NULL,
    hour       BIGINT NOT NULL,                 -- when the hour of the next column began, by the database's clock
    hour_bytes BIGINT NOT NULL                  -- written since then
);
ALTER TABLE accounts ADD COLUMN quota_text_kb BIGINT; -- KiB of text; NULL: what the server says; -1: without a bound

-- sqlite
-- What is inserted here is counted.
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
        256 + octet_length(old.body) + octet_length(old.path) + octet_length(old.diff_hunk)) WHERE account_id = old.author_id;
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
        256 + octet_length(new.tag) + octet_length(new.target) + COALESCE(octet_length(new.name), 0) + COALESCE(octet_length(new.body), 0) AS n);
END;
CREATE TRIGGER releases_text_gone AFTER DELETE ON releases BEGIN
    UPDATE text_counts SET bytes = bytes - (
        256 + octet_length(old.tag) + octet_length(old.target) + COALESCE(octet_length(old.name), 0) + COALESCE(octet_length(old.body), 0)) WHERE account_id = old.author_id;
END;
CREATE TRIGGER releases_text_edited AFTER UPDATE OF tag, target, name, body ON releases
    WHEN old.tag IS NOT new.tag
        OR old.target IS NOT new.target
        OR old.name IS NOT new.name
        OR old.body IS NOT new.body BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.author_id, n - (
        256 + octet_length(old.tag) + octet_length(old.target) + COALESCE(octet_length(old.name), 0) + COALESCE(octet_length(old.body), 0)), n FROM (SELECT
        256 + octet_length(new.tag) + octet_length(new.target) + COALESCE(octet_length(new.name), 0) + COALESCE(octet_length(new.body), 0) AS n);
END;
CREATE TRIGGER statuses_text_added AFTER INSERT ON statuses BEGIN
    INSERT INTO text_changes (account_id, bytes, written) SELECT new.creator_id, n, n FROM (SELECT
        256 + octet_length(new.context) + COALESCE(octet_length(new.target_url), 0) + COALESCE(octet_length(new.description), 0) AS n);
END;
CREATE TRIGGER statuses_text_gone AFTER DELETE ON statuses BEGIN
    UPDATE text_counts SET bytes = bytes - (
        256 + octet_length(old.context) + COALESCE(octet_length(old.target_url), 0) + COALESCE(octet_length(old.description), 0)) WHERE account_id = old.creator_id;
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

-- postgres
-- Rows that are added and removed are counted once a statement, edits by themselves.
CREATE FUNCTION count_text(who BIGINT, n BIGINT, written BIGINT) RETURNS VOID LANGUAGE sql AS $$
    INSERT INTO text_counts AS t (account_id, bytes, hour, hour_bytes)
    VALUES (who, n, CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT), written)
    ON CONFLICT (account_id) DO UPDATE SET bytes = t.bytes + excluded.bytes,
        hour_bytes = excluded.hour_bytes + CASE WHEN t.hour > excluded.hour - 3600000000 THEN t.hour_bytes ELSE 0 END,
        hour = CASE WHEN t.hour > excluded.hour - 3600000000 THEN t.hour ELSE excluded.hour END
$$;
DO $do$
DECLARE
    t RECORD;
    edited TEXT;
BEGIN
    FOR t IN SELECT * FROM (VALUES
        ('issues', 'author_id', 'title, body',
            '256 + octet_length(r.title) + COALESCE(octet_length(r.body), 0)'),
        ('issue_comments', 'author_id', 'body',
            '256 + octet_length(r.body)'),
        ('issue_events', 'actor_id', '',
            'CASE WHEN r.kind IN (12, 13) THEN 0 ELSE 256 + COALESCE(octet_length(r.detail), 0) END'),
        ('reviews', 'author_id', 'body',
            '256 + octet_length(r.body)'),
        ('review_comments', 'author_id', 'body, diff_hunk',
            '256 + octet_length(r.body) + octet_length(r.path) + octet_length(r.diff_hunk)'),
        ('commit_comments', 'author_id', 'body',
            '256 + octet_length(r.body) + COALESCE(octet_length(r.path), 0)'),
        ('milestones', 'creator_id', 'title, description',
            '256 + octet_length(r.title) + COALESCE(octet_length(r.description), 0)'),
        ('releases', 'author_id', 'tag, target, name, body',
            '256 + octet_length(r.tag) + octet_length(r.target) + COALESCE(octet_length(r.name), 0) + COALESCE(octet_length(r.body), 0)'),
        ('statuses', 'creator_id', '',
            '256 + octet_length(r.context) + COALESCE(octet_length(r.target_url), 0) + COALESCE(octet_length(r.description), 0)'),
        ('plants', 'owner_id', 'name, tag',
            '256 + octet_length(r.name) + COALESCE(octet_length(r.tag), 0)')) AS v (name, who, columns, bytes)
    LOOP
        EXECUTE format($f$
            CREATE FUNCTION %1$s_text_added() RETURNS TRIGGER LANGUAGE plpgsql AS $b$ BEGIN
                PERFORM count_text(c.who, c.n, c.n) FROM (SELECT r.%2$s AS who, CAST(SUM(%3$s) AS BIGINT) AS n FROM changed r
                    GROUP BY r.%2$s ORDER BY r.%2$s) c;
                RETURN NULL;
            END $b$;
            CREATE TRIGGER %1$s_text_added AFTER INSERT ON %1$s REFERENCING NEW TABLE AS changed
                FOR EACH STATEMENT EXECUTE FUNCTION %1$s_text_added();
            CREATE FUNCTION %1$s_text_gone() RETURNS TRIGGER LANGUAGE plpgsql AS $b$ BEGIN
                UPDATE text_counts x SET bytes = x.bytes - c.n
                FROM (SELECT r.%2$s AS who, CAST(SUM(%3$s) AS BIGINT) AS n FROM changed r GROUP BY r.%2$s) c
                WHERE x.account_id = c.who;
                RETURN NULL;
            END $b$;
            CREATE TRIGGER %1$s_text_gone AFTER DELETE ON %1$s REFERENCING OLD TABLE AS changed
                FOR EACH STATEMENT EXECUTE FUNCTION %1$s_text_gone();
        $f$, t.name, t.who, t.bytes);
        IF t.columns <> '' THEN
            SELECT string_agg(format('OLD.%1$s IS DISTINCT FROM NEW.%1$s', c), ' OR ') INTO edited
            FROM unnest(string_to_array(t.columns, ', ')) c;
            EXECUTE format($f$
                CREATE FUNCTION %1$s_text_edited() RETURNS TRIGGER LANGUAGE plpgsql AS $b$ BEGIN
                    PERFORM count_text(NEW.%2$s, (%3$s) - (%4$s), %3$s);
                    RETURN NULL;
                END $b$;
                CREATE TRIGGER %1$s_text_edited AFTER UPDATE OF %5$s ON %1$s
                    FOR EACH ROW WHEN (%6$s) EXECUTE FUNCTION %1$s_text_edited();
            $f$, t.name, t.who, replace(t.bytes, 'r.', 'NEW.'), replace(t.bytes, 'r.', 'OLD.'), t.columns, edited);
        END IF;
    END LOOP;
END $do$;

-- both
-- What was written before.
INSERT INTO text_counts (account_id, bytes, hour, hour_bytes)
SELECT who, CAST(SUM(n) AS BIGINT), 0, 0 FROM (
    SELECT author_id AS who, 256 + octet_length(title) + COALESCE(octet_length(body), 0) AS n FROM issues
    UNION ALL
    SELECT author_id AS who, 256 + octet_length(body) AS n FROM issue_comments
    UNION ALL
    SELECT actor_id AS who, CASE WHEN kind IN (12, 13) THEN 0 ELSE 256 + COALESCE(octet_length(detail), 0) END AS n FROM issue_events
    UNION ALL
    SELECT author_id AS who, 256 + octet_length(body) AS n FROM reviews
    UNION ALL
    SELECT author_id AS who, 256 + octet_length(body) + octet_length(path) + octet_length(diff_hunk) AS n FROM review_comments
    UNION ALL
    SELECT author_id AS who, 256 + octet_length(body) + COALESCE(octet_length(path), 0) AS n FROM commit_comments
    UNION ALL
    SELECT creator_id AS who, 256 + octet_length(title) + COALESCE(octet_length(description), 0) AS n FROM milestones
    UNION ALL
    SELECT author_id AS who, 256 + octet_length(tag) + octet_length(target) + COALESCE(octet_length(name), 0) + COALESCE(octet_length(body), 0) AS n FROM releases
    UNION ALL
    SELECT creator_id AS who, 256 + octet_length(context) + COALESCE(octet_length(target_url), 0) + COALESCE(octet_length(description), 0) AS n FROM statuses
    UNION ALL
    SELECT owner_id AS who, 256 + octet_length(name) + COALESCE(octet_length(tag), 0) AS n FROM plants
) AS x GROUP BY who;

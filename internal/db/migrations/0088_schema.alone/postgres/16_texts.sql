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
-- Rows that are added and removed are counted once for each statement, edits one by one.
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

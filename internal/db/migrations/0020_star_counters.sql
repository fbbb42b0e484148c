-- Triggers count stars and watches, so that a mark is one statement, and what
-- goes with a deleted repository is counted like what somebody takes off. Who
-- hides or shows a repository moves its marks from one number to the other
-- himself.
-- sqlite
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

-- postgres
-- Once a statement, not once a row: a deleted repository takes all at once.
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
        ON CONFLICT (user_id, kind) DO UPDATE SET public = m.public + excluded.public, private = m.private + excluded.private;
    ELSE
        UPDATE mark_counts m SET public = m.public - c.public, private = m.private - c.private
        FROM (SELECT user_id, count(*) FILTER (WHERE NOT d.private) AS public, count(*) FILTER (WHERE d.private) AS private
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

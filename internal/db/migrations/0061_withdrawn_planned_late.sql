-- The view withdrawn_forks stands in most statements that read repositories, and decides nothing for nearly all of them.
-- PostgreSQL planned it with each of these statements: four of the five milliseconds that it took to plan how a
-- repository is found. A function in PL/pgSQL is planned when it is first called.
-- postgres
CREATE FUNCTION owner_sees(fork_owner BIGINT, root BIGINT) RETURNS BOOLEAN LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN EXISTS (
        SELECT 1 FROM repos s JOIN accounts so ON so.id = s.owner_id
        WHERE s.id = root AND (s.owner_id = fork_owner OR EXISTS (
            SELECT 1 FROM (SELECT fork_owner AS id
                UNION ALL SELECT x.user_id FROM members x WHERE x.org_id = fork_owner AND x.owner = TRUE) h
            JOIN accounts a ON a.id = h.id
            LEFT JOIN members m ON m.org_id = s.owner_id AND m.user_id = h.id
            LEFT JOIN collaborators c ON c.repo_id = s.id AND c.user_id = h.id
            WHERE h.id = s.owner_id OR a.site_admin = TRUE OR m.owner = TRUE
                OR (m.owner IS NOT NULL AND so.default_role > 0) OR c.role > 0)));
END $$;

CREATE OR REPLACE VIEW withdrawn_forks AS SELECT f.id, f.owner_id, f.root_id FROM repos f
WHERE (f.withdrawn = TRUE OR (f.private = TRUE AND f.root_id IS NOT NULL))
    AND (f.withdrawn = TRUE OR NOT owner_sees(f.owner_id, f.root_id));
-- both

-- The head repository of a pull request is in the network of its base, and the
-- author sees both, or it is gone (decision 61). What is across two repositories
-- is found from either side; an open one whose head is gone is closed soon.
CREATE INDEX pulls_across_from ON pulls (head_repo_id, repo_id) WHERE head_repo_id <> repo_id;
CREATE INDEX pulls_across_to ON pulls (repo_id, head_repo_id) WHERE head_repo_id <> repo_id;
CREATE INDEX pulls_headless ON pulls (issue_id) WHERE open = TRUE AND head_repo_id IS NULL;

-- A private fork is withdrawn while its owner does not see the root of its
-- network (decision 62): that is computed. The column is for one whose root was
-- deleted meanwhile, which is withdrawn for good.
ALTER TABLE repos ADD COLUMN withdrawn BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX repos_forked_in_private ON repos (owner_id, id) WHERE withdrawn = TRUE OR (private = TRUE AND root_id IS NOT NULL);

-- For an organization, one of its owners has to see the root.
CREATE VIEW withdrawn_forks AS SELECT f.id, f.owner_id, f.root_id FROM repos f
WHERE (f.withdrawn = TRUE OR (f.private = TRUE AND f.root_id IS NOT NULL))
    AND (f.withdrawn = TRUE OR NOT EXISTS (
        SELECT 1 FROM repos s JOIN accounts so ON so.id = s.owner_id
        WHERE s.id = f.root_id AND (s.owner_id = f.owner_id OR EXISTS (
            SELECT 1 FROM (SELECT f.owner_id AS id
                UNION ALL SELECT x.user_id FROM members x WHERE x.org_id = f.owner_id AND x.owner = TRUE) h
            JOIN accounts a ON a.id = h.id
            LEFT JOIN members m ON m.org_id = s.owner_id AND m.user_id = h.id
            LEFT JOIN collaborators c ON c.repo_id = s.id AND c.user_id = h.id
            WHERE h.id = s.owner_id OR a.site_admin = TRUE OR m.owner = TRUE
                OR (m.owner IS NOT NULL AND so.default_role > 0) OR c.role > 0))));

-- Of an organization: its private repositories may be forked.
ALTER TABLE accounts ADD COLUMN private_forks BOOLEAN NOT NULL DEFAULT FALSE;

-- What does not hold any more in stores of before: as package repo says it (crossing.go).
UPDATE pulls SET head_repo_id = NULL WHERE head_repo_id <> repo_id AND NOT EXISTS (
    SELECT 1 FROM issues i JOIN accounts u ON u.id = i.author_id
    JOIN repos f ON f.id = pulls.head_repo_id JOIN repos t ON t.id = pulls.repo_id
    WHERE i.id = pulls.issue_id AND COALESCE(f.root_id, f.id) = COALESCE(t.root_id, t.id)
        AND (f.private = FALSE OR u.site_admin = TRUE OR NOT EXISTS (
            SELECT 1 FROM repos r JOIN accounts o ON o.id = r.owner_id
            LEFT JOIN members m ON m.org_id = o.id AND m.user_id = u.id
            LEFT JOIN collaborators c ON c.repo_id = r.id AND c.user_id = u.id
            WHERE r.id IN (f.id, t.id) AND (EXISTS (SELECT 1 FROM withdrawn_forks w WHERE w.id = r.id)
                OR NOT (r.owner_id = u.id OR COALESCE(m.owner, FALSE) = TRUE
                    OR (m.owner IS NOT NULL AND o.default_role > 0) OR COALESCE(c.role, 0) > 0)))));

-- Teams of organizations, and what they may do in repositories.
CREATE TABLE teams (
    id          {{id}},
    org_id      BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    parent_id   BIGINT REFERENCES teams (id) ON DELETE CASCADE, -- of the same organization; NULL: none
    name        {{text}} NOT NULL,
    slug        {{text}} NOT NULL,                  -- of the name, as addresses have it
    description {{text}},
    secret      BOOLEAN NOT NULL DEFAULT FALSE,     -- seen by its members and owners alone; neither parent nor child
    quiet       BOOLEAN NOT NULL DEFAULT FALSE,     -- mentions notify nobody
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    UNIQUE (org_id, slug)
);
CREATE INDEX teams_of_parent ON teams (parent_id, slug);

-- The people of a team: its own members, and those of all teams below it, so that whose right a team gives is one
-- row. Everybody here is a member of the organization.
CREATE TABLE team_members (
    team_id    BIGINT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
    user_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    role       SMALLINT NOT NULL, -- 1 only a member of a team below, 2 member, 3 maintainer
    created_at BIGINT NOT NULL,
    PRIMARY KEY (team_id, user_id)
);
CREATE INDEX teams_of_user ON team_members (user_id, team_id, role);
CREATE INDEX team_members_by_role ON team_members (team_id, role, user_id);

-- Roles of teams in repositories of their organization. Teams below inherit them.
CREATE TABLE team_repos (
    team_id    BIGINT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
    repo_id    BIGINT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
    role       SMALLINT NOT NULL, -- as in collaborators
    created_at BIGINT NOT NULL,
    PRIMARY KEY (team_id, repo_id)
);
CREATE INDEX teams_of_repo ON team_repos (repo_id, team_id, role);

-- As in the schema, and the owners of forks may see the root of the network through teams.
DROP VIEW withdrawn_forks;
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
                OR (m.owner IS NOT NULL AND so.default_role > 0) OR c.role > 0
                OR EXISTS (SELECT 1 FROM team_repos gt JOIN team_members gm ON gm.team_id = gt.team_id
                    WHERE gt.repo_id = s.id AND gm.user_id = h.id)))));

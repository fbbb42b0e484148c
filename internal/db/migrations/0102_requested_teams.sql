-- Teams whose review is requested.
CREATE TABLE requested_teams (
    issue_id   BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    team_id    BIGINT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issue_id, team_id)
);
CREATE INDEX requested_teams_of_team ON requested_teams (team_id);

-- Teams that a person joins who accepts an invitation to their organization.
CREATE TABLE invited_teams (
    invitation_id BIGINT NOT NULL REFERENCES invitations (id) ON DELETE CASCADE,
    team_id       BIGINT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (invitation_id, team_id)
);
CREATE INDEX invited_teams_of_team ON invited_teams (team_id, invitation_id);

-- Invitations to collaborate on a repository, or to join an organization, see package invitation.

CREATE TABLE invitations (
    id         {{id}},
    repo_id    BIGINT REFERENCES repos (id) ON DELETE CASCADE, -- one of repo_id and org_id is set
    org_id     BIGINT REFERENCES accounts (id) ON DELETE CASCADE,
    invitee_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    inviter_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    role       SMALLINT NOT NULL, -- in the repository, as in collaborators; of an organization 0
    owner      BOOLEAN NOT NULL,  -- of the organization, else a member
    created_at BIGINT NOT NULL,   -- it can be accepted for seven days
    ended_at   BIGINT             -- when it was accepted, declined or cancelled; NULL: it was not
);
CREATE UNIQUE INDEX invitations_open_in_repo ON invitations (repo_id, invitee_id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX invitations_open_in_org ON invitations (org_id, invitee_id) WHERE ended_at IS NULL;
CREATE INDEX invitations_of_repo ON invitations (repo_id, created_at);
CREATE INDEX invitations_of_org ON invitations (org_id, created_at);
CREATE INDEX invitations_of_invitee ON invitations (invitee_id, created_at);
CREATE INDEX invitations_of_inviter ON invitations (inviter_id, created_at);
CREATE INDEX invitations_in_time ON invitations (created_at);

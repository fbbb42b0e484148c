-- Who is asked for a review as a code owner.
ALTER TABLE requested_reviewers ADD COLUMN code_owner BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE requested_teams ADD COLUMN code_owner BOOLEAN NOT NULL DEFAULT FALSE;

-- Teams whose review was requested and that a review answered: its author was in them then.
CREATE TABLE review_teams (
    review_id BIGINT NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    team_id   BIGINT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
    PRIMARY KEY (review_id, team_id)
);
CREATE INDEX review_teams_of_team ON review_teams (team_id);

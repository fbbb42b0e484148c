-- What members of an organization may not create, and where its bills go.
ALTER TABLE accounts ADD COLUMN no_new_repos BOOLEAN NOT NULL DEFAULT FALSE;     -- neither of the following
ALTER TABLE accounts ADD COLUMN no_public_repos BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE accounts ADD COLUMN no_private_repos BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE accounts ADD COLUMN billing_email {{text}};

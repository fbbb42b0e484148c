-- Lists of all organizations and of all public repositories go by id.
CREATE INDEX accounts_organizations ON accounts (id) WHERE kind = 2;
CREATE INDEX repos_public ON repos (id) WHERE NOT private;

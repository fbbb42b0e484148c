-- Passwords open pages and nothing else; NULL: there is none.
ALTER TABLE accounts ADD COLUMN password {{text}};

-- The session of a browser is a token that pages alone take. NULL: it is no session.
ALTER TABLE tokens ADD COLUMN agent {{text}};   -- what the browser calls itself
ALTER TABLE tokens ADD COLUMN address {{text}}; -- from where the session was begun
ALTER TABLE tokens ADD COLUMN begun_with BIGINT; -- the token with which somebody signed in; NULL: a password
CREATE INDEX tokens_begun_with ON tokens (begun_with) WHERE begun_with IS NOT NULL;
